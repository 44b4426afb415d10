"""Promise: news are sent when the Notify clause says, across restarts and clock changes; none is
lost or sent twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.fakes import WebServer
from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, MINUTE, SECOND, ManualClock
from tidings.model.observed.unit import Timer
from tidings.service.run.monitor import Monitor
from tidings.storage.db.database import open_database
from tidings.storage.watches import events

PARIS = "Europe/Paris"
NEW_YORK = "America/New_York"


def _instant(local: str, zone: str = "UTC") -> int:
    return round(datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone)).timestamp()) * SECOND


def _local(instant: int, zone: str = "UTC") -> str:
    return datetime.fromtimestamp(instant / SECOND, ZoneInfo(zone)).strftime("%m-%d %H:%M")


def _watch(world: World, rate: str, *, start: str = "2024-01-15T09:00", zone: str = "UTC", more: str = "") -> None:
    """Watch a page hourly from a local time on, with one Notify clause to a webhook."""
    world.clock = ManualClock(_instant(start, zone))
    world.page("/a", "<p>count 0</p>")
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 1 hour slack 1 s Zone {zone} "
        f"Notify By webhook {world.receiver()} {rate} {more}"
    )


class Changes:
    """A page that changes on command."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.count = 0

    async def after(self, monitor: Monitor, *, hours: int = 1, times: int = 1) -> None:
        """Change the page and let this many hours pass, repeatedly."""
        for _ in range(times):
            self.count += 1
            self._world.page("/a", f"<p>count {self.count}</p>")
            await self._world.pass_time(monitor, hours * HOUR)


def _list_messages(world: World, zone: str = "UTC") -> list[tuple[str, list[str]]]:
    """Return the time of each message and the counts in it."""
    return [
        (_local(int(headers["webhook-timestamp"]) * SECOND, zone), _counts(message))
        for headers, message in world.received
    ]


def _counts(message: Any) -> list[str]:
    data = message["data"]
    found = data.get("changes", [data])
    return [pair["new"] for record in found for pair in record.get("updated", ())] + [
        record["event"] for record in found if "event" in record
    ]


@pytest.fixture
def other(tmp_path: Path) -> Iterator[World]:
    """Return a second world with a web of its own."""
    with WebServer() as server:
        yield World(tmp_path / "other", server)


def test_every_n_changes_are_one_message(world: World):
    """Fewer changes wait."""
    _watch(world, "every 3 changes")
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=5))
        service.pass_time(3 * DAY)
        service.run(page.after(service.monitor))

    assert [("01-15 12:00", ["1", "2", "3"]), ("01-18 15:00", ["4", "5", "6"])] == _list_messages(world)
    assert [] == world.violations()


def test_report_after_a_week_or_ten_changes(world: World):
    """Whichever comes first (W-138); the week counts from the sentinel's start."""
    _watch(world, "every 1 week or 10 changes")
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=12))
        service.pass_time(8 * DAY)

    assert [("01-15 19:00", [str(n) for n in range(1, 11)]), ("01-22 09:00", ["11", "12"])] == _list_messages(world)


def test_best_effort_has_one_pending_message_per_recipient(world: World):
    """Later news join the next message; recipients do not delay each other."""
    world.clock = ManualClock(_instant("2024-01-15T09:00"))
    down = world.receiver("/down", statuses=lambda n: 200)
    back_at = world.clock.now() + 5 * HOUR
    tried: list[int] = []

    def slow(seen: Any, wire: Any) -> None:
        status = 503 if world.clock.now() < back_at else 200
        if status == 200:
            tried.append(len(_counts(json.loads(seen.body))))
        wire.send(f"HTTP/1.1 {status} Said\r\nContent-Length: 0\r\n\r\n".encode())

    world.server.pages["/slow"] = slow
    world.page("/a", "<p>count 0</p>")
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 1 hour slack 1 s "
        f"Notify By webhook {world.server.url('/slow')}, webhook {down} best effort"
    )
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=4))
        service.pass_time(2 * DAY)
        service.run(page.after(service.monitor))

    text = [counts for _, counts in _list_messages(world)]

    assert [["1"], ["2"], ["3"], ["4"], ["5"]] == [
        counts for counts in text if counts not in (["endpoint.failing"], ["endpoint.ok"])
    ]
    assert 1 == text.count(["endpoint.ok"])
    assert 1 == text.count(["endpoint.failing"])  # of the one that takes nothing the other is notified
    assert [1, 3, 1] == tried
    assert [] == world.violations()


def test_message_sent_before_its_rules_are_settled_delays_nothing(world: World):
    """The rules of other sentinels are still being stored; the end of the message is not missed."""
    _watch(world, "best effort")
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        monitor: Any = service.monitor
        write = monitor.rules._write

        async def write_slowly(group: Any, now: int) -> None:
            await write(group, now)
            for attempt in await monitor.sending.due(now):
                await attempt

        monitor.rules._write = write_slowly
        service.run(page.after(monitor, times=3))

    assert [["1"], ["2"], ["3"]] == [counts for _, counts in _list_messages(world)]


def test_dead_best_effort_message_delays_nothing(make_world):
    """The news behind it are sent."""
    world: World = make_world(notify__disable_days="30")
    _watch(world, "best effort")
    up_again, taken = world.clock.now() + 4 * DAY, []

    def status(number: int) -> int:
        is_up = world.clock.now() >= up_again
        taken.extend([number - 1] * is_up)
        return 200 if is_up else 500

    world.receiver("/hook", statuses=status)
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=3))
        service.pass_time(6 * DAY)

    assert [["2", "3"]] == [_list_messages(world)[place][1] for place in taken]
    assert ["dead", "delivered"] == sorted(d.status for d in world.deliveries())


def test_daily_time_on_weekdays(world: World):
    """At eight on working days in the sentinel's zone; without news there is no message."""
    _watch(world, "at 08:00 mon-fri", start="2024-01-18T12:00", zone=PARIS)  # a Thursday
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor))
        service.pass_time(DAY)
        service.run(page.after(service.monitor, hours=12, times=2))
        service.pass_time(4 * DAY)

    assert [("01-19 08:00", ["1"]), ("01-22 08:00", ["2", "3"])] == _list_messages(world, PARIS)


@pytest.mark.parametrize(
    ("rate", "start", "zone", "came"),
    [
        pytest.param("at 02:30", "2024-03-30T12:00", PARIS, ["03-31 03:00", "04-01 02:30"], id="at a time left out"),
        pytest.param(
            "at 02:30", "2024-10-26T12:00", PARIS, ["10-27 02:30", "10-28 02:30"], id="at a time that comes twice"
        ),
        pytest.param("at 01:30", "2024-11-02T12:00", NEW_YORK, ["11-03 01:30", "11-04 01:30"], id="twice in New York"),
        pytest.param("every 1 day", "2024-03-30T07:00", PARIS, ["03-31 07:00", "04-01 07:00"], id="a day of 23 hours"),
        pytest.param(
            "every 1 day", "2024-11-02T07:00", NEW_YORK, ["11-03 07:00", "11-04 07:00"], id="a day of 25 hours"
        ),
        pytest.param("every 12 hour", "2024-03-30T18:00", PARIS, ["03-31 07:00", "03-31 19:00"], id="hours are hours"),
    ],
)
def test_days_follow_local_time_across_clock_changes(world: World, rate: str, start: str, zone: str, came: list[str]):
    """A skipped time comes right after, a repeated one once (sentinels §2.4)."""
    _watch(world, rate, start=start, zone=zone)
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=50))

    assert came == [when for when, _ in _list_messages(world, zone)][:2]
    reported = [int(count) for _, counts in _list_messages(world) for count in counts]
    assert list(range(1, len(reported) + 1)) == reported


def test_quiet_hours_delay_news_into_one_message(world: World):
    """News from ten at night are sent at seven, over midnight and a clock change (sentinels §6.3)."""
    _watch(world, "immediate quiet 22:00 to 07:00", start="2024-03-30T19:30", zone=PARIS)
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=12))
    (*alone, (woken, held)), after = _list_messages(world, PARIS)[:3], _list_messages(world, PARIS)[3:]

    assert [("03-30 20:30", ["1"]), ("03-30 21:30", ["2"])] == alone
    assert ("03-31 07:00", [str(n) for n in range(3, 11)]) == (woken, held)
    assert [("03-31 07:30", ["11"]), ("03-31 08:30", ["12"])] == after
    assert [] == world.violations()


@pytest.mark.roles
def test_digest_waits_for_the_end_of_quiet_hours(world: World):
    """The rate says when there is something to tell, the quiet hours when it may be told."""
    _watch(world, "every 6 hour quiet 20:00 to 08:00", start="2024-01-15T17:00")
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=2))
        service.pass_time(DAY)

    assert [("01-16 08:00", ["1", "2"])] == _list_messages(world)


def test_cap_merges_excess_messages(world: World):
    """At most two messages in any interval: later news are sent together when the cap permits."""
    _watch(world, "immediate max 2 per 230 min")
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=8))
        service.pass_time(DAY)

    assert [
        ("01-15 10:00", ["1"]),
        ("01-15 11:00", ["2"]),
        ("01-15 13:50", ["3", "4"]),
        ("01-15 14:50", ["5"]),
        ("01-15 17:40", ["6", "7", "8"]),
    ] == _list_messages(world)


def test_cap_and_quiet_hours_both_apply(world: World):
    """A message goes when neither forbids it."""
    _watch(world, "immediate quiet 15:00 to 20:00 max 1 per 6 hour")
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=8))
        service.pass_time(DAY)

    assert [("01-15 10:00", ["1"]), ("01-15 20:00", [str(n) for n in range(2, 9)])] == _list_messages(world)


def test_notify_clauses_are_independent(world: World):
    """Each of three recipients gets all news, at its own rate."""
    world.clock = ManualClock(_instant("2024-01-15T09:00"))
    world.page("/a", "<p>count 0</p>")
    received: dict[str, list[list[str]]] = {"/one": [], "/three": [], "/daily": []}
    for path, messages in received.items():

        def take(seen: Any, wire: Any, messages: list[list[str]] = messages) -> None:
            messages.append(_counts(json.loads(seen.body)))
            wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

        world.server.pages[path] = take
    world.add(
        "Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour slack 1 s"
        " Notify By webhook {/one} immediate Notify By webhook {/three} every 3 changes Notify By webhook {/daily} at 18:00"
    )
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=4))
        service.pass_time(DAY)

    assert {
        "/one": [["1"], ["2"], ["3"], ["4"]],
        "/three": [["1", "2", "3"]],
        "/daily": [["1", "2", "3", "4"]],
    } == received
    assert [] == world.violations()


def test_errors_go_to_the_errors_clause_only(world: World):
    """Changes go to the other recipients as usual."""
    _watch(world, "immediate", more="Errors to console")
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor))
        world.page("/a", "gone", status=404)
        service.pass_time(12 * HOUR)
        service.run(page.after(service.monitor, hours=12))
    lines = world.console.getvalue().splitlines()

    assert [["1"], ["2"]] == [counts for _, counts in _list_messages(world)]
    assert 2 == len(lines)
    assert "cannot be watched for now (404)" in lines[0]
    assert "can be watched again" in lines[1]


def test_errors_are_in_the_digest_without_an_errors_clause(world: World):
    """The recipient of a digest gets the errors in it."""
    _watch(world, "every 1 day")
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor))
        world.page("/a", "gone", status=404)
        service.pass_time(DAY)

    assert [("01-16 09:00", ["1", "page.error"])] == _list_messages(world)


def test_lasting_error_is_notified_again_after_a_day(world: World):
    """A page without a good answer for a day is reported as gone, once (sentinels §3.5)."""
    _watch(world, "immediate")

    with serve(world) as service:
        service.settle()
        world.page("/a", "gone", status=404)
        service.pass_time(10 * DAY)

    assert [["page.error"], ["page.gone"]] == [counts for _, counts in _list_messages(world)]
    assert "the page seems to be gone" in world.received[1][1]["data"]["summary"]


def test_interactive_news_are_not_sent(world: World):
    """They can be listed (W-117)."""
    world.page("/a", "<p>count 0</p>")
    world.add(
        "Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour slack 1 s Notify By dashboard interactive"
    )
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=2))

    assert 2 == len(world.changes())
    assert [] == world.deliveries()


@pytest.mark.parametrize("rate", ["every 5 changes", "at 08:00", "best effort", "every 4 day or 9 changes"])
def test_end_sends_the_gathered_news(world: World, rate: str):
    """At any rate nothing stays unsent (W-54)."""
    _watch(world, rate, more="For 5 hour")
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=8))
        assert (0, 0, 0) == service.rule_sizes

    assert ["1", "2", "3", "4"] == [count for _, counts in _list_messages(world) for count in counts][:4]
    assert [] == world.read(events.list_rule_states, "rules")
    assert [] == world.violations()


def test_end_in_quiet_hours_is_sent_after_them(world: World):
    """The final message is no exception."""
    _watch(world, "immediate quiet 10:30 to 20:00", more="For 4 hour")
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=3))
        service.pass_time(DAY)

    assert [("01-15 10:00", ["1"]), ("01-15 20:00", ["2", "3"])] == _list_messages(world)


def test_disabled_sentinel_sends_its_gathered_news_after_the_pause(world: World):
    """They are sent at the first daily time after it."""
    _watch(world, "at 18:00")
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=2))
        world.add("Disable s")
        service.pass_time(20 * HOUR)
        world.add("Enable s")
        service.pass_time(DAY)

    assert [("01-16 18:00", ["1", "2"])] == _list_messages(world)


def test_altered_clause_loses_no_news(world: World):
    """What the old clause had gathered is sent at once."""
    _watch(world, "at 18:00")
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=2))
        world.add(f"Alter s Notify By webhook {world.server.url('/hook')} immediate")
        service.run(page.after(service.monitor, times=2))

    assert [["1", "2"], ["3"], ["4"]] == [counts for _, counts in _list_messages(world)]
    assert [] == world.read(events.list_rule_states, "rules")


def test_too_many_changes_are_reported_as_noise(make_world):
    """The fourth change in an hour says so; then one message an hour is sent until there are fewer."""
    world: World = make_world(notify__noisy_changes="3", fetch__page_floor_seconds="60")
    world.clock = ManualClock(_instant("2024-01-15T09:00"))
    world.page("/a", "<p>count 0</p>")
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 10 min slack 1 s Notify By webhook {world.receiver()} immediate"
    )

    with serve(world) as service:
        service.settle()
        for count in range(1, 13):
            world.page("/a", f"<p>count {count}</p>")
            service.pass_time(10 * MINUTE)
        service.pass_time(3 * HOUR)
        world.page("/a", "<p>count 13</p>")
        service.pass_time(HOUR)

    assert [
        ("01-15 09:10", ["1"]),
        ("01-15 09:20", ["2"]),
        ("01-15 09:30", ["3"]),
        ("01-15 09:40", ["4", "sentinel.noisy"]),
        ("01-15 10:40", ["5", "6", "7", "8", "9"]),
        ("01-15 11:40", ["10", "11", "12"]),
        ("01-15 11:40", ["sentinel.calm"]),
        ("01-15 14:10", ["13"]),
    ] == _list_messages(world)


def test_digests_of_older_databases_are_continued(world: World):
    """The timer of an older version continues from its last event, in the sentinel's phase."""
    _watch(world, "every 1 day")
    page = Changes(world)

    with serve(world) as service:
        service.settle()
        service.run(page.after(service.monitor, times=2))
    database = open_database(world.settings)
    number, due_at = world.sentinel("s").id, _instant("2024-01-16T09:00")
    database.write(events.put_timers, [Timer(kind="digest.0", ref=number, due_at=due_at, data={"after": 0})])
    database.write(lambda c: c.execute("DELETE FROM rule_state"))
    database.close()

    with serve(world) as service:
        service.run(page.after(service.monitor, times=24))

    assert ("01-16 09:00", [str(n) for n in range(1, 24)]) == _list_messages(world)[0]
    assert [] == world.read(events.list_timers)


@pytest.mark.parametrize(
    "rate",
    [
        "immediate max 2 per 5 hour",
        "every 1 day or 5 changes",
        "best effort",
        "every 7 hour quiet 22:00 to 07:00 max 1 per 1 day",
    ],
)
def test_restarts_change_no_message(world: World, other: World, rate: str):
    """A restart each six hours gives the same messages at the same times (W-116)."""

    def list_messages(place: World, lives: int) -> list[tuple[str, list[str]]]:
        _watch(place, rate, start="2024-03-30T12:00", zone=PARIS)
        page, hours = Changes(place), iter(range(24))

        async def story(monitor: Monitor) -> None:
            await place.settle(monitor)
            for _, hour in zip(range(24 // lives), hours, strict=False):
                if hour % 3:
                    await page.after(monitor)
                else:
                    await place.pass_time(monitor, HOUR)

        for _ in range(lives):
            play(place, story)
        return _list_messages(place, PARIS)

    assert list_messages(world, 1) == list_messages(other, 4)
    assert world.received


def test_helpers_match_the_calendar():
    """The helpers of this file agree with the calendar."""
    assert "03-31 03:00" == _local(_instant("2024-03-31T01:00", "UTC"), PARIS)
    assert datetime(2024, 1, 15, 9, tzinfo=UTC).timestamp() * SECOND == _instant("2024-01-15T09:00")
