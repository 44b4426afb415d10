import asyncio
import random
from typing import Any

import pytest

from tests.asgi import ask, following
from tests.unit.presentation.records import record
from tests.unit.web.insides import inside, notify_by, watch
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event, Unit
from tidings.storage.watches import events
from tidings.storage.watches.events import OWNER
from tidings.web.api import stream
from tidings.web.api.stream import Batches, StreamFollower, batch_after, check_room
from tidings.web.inside import StreamRight
from tidings.web.problems import ProblemError
from tidings.web.routes import application

PATH = "/api/v1/stream"


async def _stand():
    return True


ADMITTED = StreamRight(OWNER, _stand)


def changes(count, start=0):
    """Return `count` different change records."""
    return [record(id=f"c{n}", summary=f"change {n}\nof a page\r\n\u2028") for n in range(start, start + count)]


def run(tmp_path, story, **serve):
    """Run a story on the inside of a service."""

    async def act():
        async with inside(tmp_path, **serve) as within:
            return await story(within, application(within))

    return asyncio.run(act())


def test_records_are_streamed_with_their_event_numbers(tmp_path):
    """Each record of a message is one event, equal to the change record of the command line."""
    reported = changes(3)

    async def story(within, app):
        number = await watch(within, "shop")
        async with following(app, PATH) as reader:
            first = await notify_by(within, "stream", number, reported[0])
            rest = await notify_by(within, "stream", number, *reported[1:])
            await reader.until(3)
        return reader.records, [*first, *rest]

    records, numbers = run(tmp_path, story)

    assert [(str(n), one) for n, one in zip(numbers, reported, strict=True)] == records


def test_new_follower_gets_only_later_records(tmp_path):
    """Without a number, the stream begins with the number of its start."""

    async def story(within, app):
        number = await watch(within, "shop")
        await notify_by(within, "stream", number, *changes(2))
        async with following(app, PATH) as reader:
            begun = reader.last_id
            await notify_by(within, "stream", number, *changes(1, start=2))
            await reader.until(1)
        return begun, reader.records

    begun, records = run(tmp_path, story)

    assert ["c2"] == [one["id"] for _, one in records]
    assert int(begun) < int(records[0][0])


def test_reconnecting_follower_gets_every_record_once(tmp_path):
    """The follower disconnects at random, comes back with its last number, and reads all in order."""
    rng = random.Random(7)
    reported = changes(60)

    async def story(within, app):
        number = await watch(within, "shop")
        had: list[tuple[str, Any]] = []
        last, left = "0", list(reported)
        while len(had) < len(reported):
            async with following(app, PATH, headers={"last-event-id": last}) as reader:
                for _ in range(rng.randint(0, 3)):
                    batch, left = left[:4], left[4:]
                    if batch:
                        await notify_by(within, "stream", number, *batch)
                waiting = len(reported) - len(left) - len(had)
                await reader.until(rng.randint(0, waiting))
            had += reader.records
            last = reader.last_id
        return had

    had = run(tmp_path, story)

    assert [one["id"] for one in reported] == [one["id"] for _, one in had]
    assert sorted({int(number) for number, _ in had}) == [int(number) for number, _ in had]


def test_long_past_is_read_in_limited_batches(tmp_path):
    """Records and events of a batch are limited, so that a follower from 0 does not fill the memory
    or block the database.
    """

    async def story(within, app):
        number = await watch(within, "shop")
        await notify_by(within, "stream", number, *changes(5))
        noise = tuple(Event(type=EventType.PAGE_OK, at=1) for _ in range(40))
        await within.store.commit([Unit(at=1, epoch=within.epoch, events=noise)])
        await notify_by(within, "stream", number, *changes(2, start=5))
        after, found = 0, []
        is_all = False
        while not is_all:
            batch = await within.store.read(batch_after, after, limit=3, span=10)
            assert len(batch.records) <= 3
            assert 0 < batch.upto - after <= 10
            after, is_all = batch.upto, batch.is_all
            found += batch.records
        return found, after, await within.store.read(events.last_seq)

    found, after, newest = run(tmp_path, story)

    assert 7 == len(found)
    assert newest == after


def test_followers_at_one_position_share_a_read(tmp_path):
    """Ten followers read the database once. One that asks after the next arrival starts a new read,
    even while the first one runs.
    """

    async def story(within, app):
        number = await watch(within, "shop")
        read, gate = within.store.read, asyncio.Event()
        readings: asyncio.Queue[int] = asyncio.Queue()
        batches, begun = Batches(), await read(events.last_seq)

        async def slow(*given):
            batch = await read(*given)
            readings.put_nowait(1)
            await gate.wait()
            return batch

        within.store.read = slow
        early = [asyncio.create_task(batches.after(begun, within)) for _ in range(10)]
        count = await readings.get()
        within.store.read = read
        await notify_by(within, "stream", number, *changes(1))
        within.store.read = slow
        late = asyncio.create_task(batches.after(begun, within))
        count += await readings.get()
        gate.set()
        found = await asyncio.gather(*early, late)
        return [len(one.records) for one in found], count + readings.qsize()

    found, readings = run(tmp_path, story)

    assert 2 == readings
    assert [0] * 10 + [1] == found


def test_cancelled_follower_does_not_cancel_the_shared_read(tmp_path):
    """The others get its result."""

    async def story(within, app):
        read, gate = within.store.read, asyncio.Event()

        async def slow(*given):
            await gate.wait()
            return await read(*given)

        batches, within.store.read = Batches(), slow
        leaving, staying = (asyncio.create_task(batches.after(0, within)) for _ in range(2))
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.wait([leaving])
        gate.set()
        return leaving.cancelled(), await staying

    was_cut, batch = run(tmp_path, story)

    assert was_cut
    assert batch.is_all


@pytest.mark.parametrize(
    ("given", "status"),
    [("x", 400), ("-1", 400), ("1.5", 400), ("9" * 30, 400), ("٣", 400), ("999999", 409)],
)
def test_invalid_last_event_id_is_refused(tmp_path, given, status):
    """The number is not one, or of another service. The reader would otherwise wait forever."""

    async def story(within, app):
        return await ask(app, PATH, headers=[("last-event-id", given.encode().decode("latin-1"))])

    answer = run(tmp_path, story)

    assert status == answer.status
    assert "Last-Event-ID" in answer.json()["message"]


def test_idle_stream_sends_heartbeats(tmp_path, monkeypatch):
    """Readers skip these comments; they keep proxies from closing the connection."""
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.01)

    async def story(within, app):
        follower = StreamFollower(within, Batches(), 0, ADMITTED)
        return [piece async for piece in _first(follower.pieces(), 3)]

    assert [b":\n\n", b":\n\n"] == run(tmp_path, story)[1:]


def test_follower_waits_again_after_a_wakeup(tmp_path, monkeypatch):
    """One arrival is one more read, not an endless loop."""
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.01)

    async def story(within, app):
        pieces = StreamFollower(within, Batches(), 0, ADMITTED).pieces()
        await anext(pieces)
        within.arrivals.wake()
        async with asyncio.timeout(5):
            return [piece async for piece in _first(pieces, 2)]

    assert [b":\n\n", b":\n\n"] == run(tmp_path, story)


def test_a_follower_that_is_no_longer_admitted_is_sent_nothing_more(tmp_path, monkeypatch):
    """Its stream ends at the next heartbeat, and as soon if there is none because much arrives."""
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.01)

    async def story(within, app):
        counts = []
        for is_busy in (False, True):
            answers = iter([True, False])

            async def stands(answers=answers):
                return next(answers)

            follower = StreamFollower(within, Batches(), 0, StreamRight(OWNER, stands))
            count = 0
            async with asyncio.timeout(5):
                async for _ in follower.pieces():
                    count += 1
                    if is_busy:
                        within.arrivals.wake()
            counts.append(count)
        return counts, len(within.arrivals)

    (quiet, _), left = run(tmp_path, story)

    assert (3, 0) == (quiet, left)


def test_one_account_takes_a_tenth_of_the_places(tmp_path):
    """The others are free for all others."""

    async def story(within, app):
        for number in range(100):
            within.arrivals.join(7)
            if number == 98:
                check_room(within.arrivals, StreamRight(7, _stand))
        with pytest.raises(ProblemError, match="100 streams of yours"):
            check_room(within.arrivals, StreamRight(7, _stand))
        check_room(within.arrivals, StreamRight(8, _stand))

    run(tmp_path, story)


async def _first(pieces, count):
    for _ in range(count):
        yield await anext(pieces)
    await pieces.aclose()


def test_followers_are_limited(tmp_path, monkeypatch):
    """One follower too many gets 503; the place of one that leaves is free."""
    monkeypatch.setattr(stream, "MOST_FOLLOWERS", 1)

    async def story(within, app):
        async with following(app, PATH):
            late = await ask(app, PATH)
        counted = len(within.arrivals)
        async with following(app, PATH) as reader:
            pass
        return late, counted, reader.status

    late, counted, again = run(tmp_path, story)

    assert (503, "30") == (late.status, late.headers["retry-after"])
    assert (0, 200) == (counted, again)


def test_stream_ends_with_the_service(tmp_path):
    """Followers are disconnected at once, and new ones get 503."""

    async def story(within, app):
        async with following(app, PATH) as reader:
            within.arrivals.end()
            await reader.until(1)
        return reader, await ask(app, PATH)

    reader, late = run(tmp_path, story)

    assert reader.is_ended
    assert 503 == late.status


def test_head_request_is_answered_at_once(tmp_path):
    """The connection is not kept."""

    async def story(within, app):
        return await ask(app, PATH, "HEAD")

    answer = run(tmp_path, story)

    assert (200, b"") == (answer.status, answer.body)
    assert answer.headers["content-type"].startswith("text/event-stream")


def test_reader_learns_that_records_after_its_number_were_deleted(tmp_path):
    """With 0 it gets all that are stored."""

    async def story(within, app):
        await within.store.write(lambda c: c.execute("UPDATE owner SET last_seq = 9, stream_deleted = 5"))
        asked = [(n, await ask(app, PATH, method="HEAD", headers=[("last-event-id", n)])) for n in "0459"]
        return {number: answer.status for number, answer in asked}

    assert {"0": 200, "4": 410, "5": 200, "9": 200} == run(tmp_path, story)
