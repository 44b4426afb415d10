"""Signals are stored once for each key and limited, and unknown pages are listed."""

import asyncio
import json
from urllib.parse import urlencode

import pytest

from tests.asgi import ask
from tests.unit.web.insides import inside, watch
from tidings.clock import HOUR, SECOND, ManualClock
from tidings.errors import StoreBusyError
from tidings.service.show.records import rfc3339
from tidings.storage.db import leases
from tidings.storage.observed import hints
from tidings.web.api.signals import BURST, MOST_URLS, read_params
from tidings.web.entrances import application

PATH = "/api/v1/signals"
SHOP, BOARD = "https://shop.example/", "https://board.example/"
NOW = ManualClock().now()


def run(tmp_path, story, **serve):
    """Run a story on the inside of a service that watches two pages."""

    async def act():
        async with inside(tmp_path, clock=ManualClock(), **serve) as within:
            for name in ("shop", "board"):
                await watch(within, name)
            return await story(within, application(within))

    return asyncio.run(act())


async def send_signal(app, said, **headers):
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    return await ask(app, PATH, "POST", headers={"content-type": "application/json", **headers}, body=body)


def waiting(rows):
    return {(row.page_id, row.kind): row.waiting for row in rows[1]}


def test_signal_is_stored_in_the_database(tmp_path):
    """202 counts the pages. The next poller finds the hints there."""

    async def story(within, app):
        answers = [
            await send_signal(app, {"url": SHOP}),
            await send_signal(app, {"urls": [SHOP, BOARD, "https://shop.example"], "kind": "cms"}),
            await send_signal(app, {"page": "1", "at": rfc3339(NOW - HOUR)}),
            await ask(
                app,
                PATH,
                "POST",
                headers={"content-type": "application/x-www-form-urlencoded"},
                body=urlencode([("urls", SHOP), ("urls", BOARD)]).encode(),
            ),
        ]
        return answers, await within.store.read(hints.load)

    answers, kept = run(tmp_path, story)

    assert [202] * 4 == [one.status for one in answers]
    plain = {"record": "signal", "pages": 1, "weighed": 1, "new": True, "unknown": []}
    assert plain == answers[0].json()
    assert [1, 2, 1, 2] == [one.json()["pages"] for one in answers]
    assert {
        (1, "api"): (NOW, NOW - HOUR),
        (2, "api"): (NOW,),
        (1, "cms"): (NOW,),
        (2, "cms"): (NOW,),
    } == waiting(kept)


def test_hint_without_effect_is_counted_separately(tmp_path):
    """A page with a fixed interval ignores hints: it is not counted as weighed."""

    async def story(within, app):
        await watch(within, "prices", more="Fetch every 1 hour")
        return (await send_signal(app, {"urls": [SHOP, "https://prices.example/"]})).json()

    answer = run(tmp_path, story)

    assert (2, 1) == (answer["pages"], answer["weighed"])


def test_unknown_page_is_listed(tmp_path):
    """The answer is 404 if all pages are unknown."""

    async def story(within, app):
        answers = [
            await send_signal(app, {"url": "https://other.example/"}),
            await send_signal(app, {"page": 77}),
            await send_signal(app, {"urls": [SHOP, "https://other.example/", "ftp://x"]}),
        ]
        return answers, await within.store.read(hints.load)

    answers, kept = run(tmp_path, story)

    assert [404, 404, 202] == [one.status for one in answers]
    assert answers[0].json()["hint"]
    assert ["https://other.example/", "ftp://x"] == answers[2].json()["unknown"]
    assert {(1, "api")} == set(waiting(kept))


def test_repeated_key_is_one_signal(tmp_path):
    """This holds after a restart too, whatever the body is."""

    async def story(within, app):
        first = await send_signal(app, {"url": SHOP}, **{"idempotency-key": "k1"})
        within.signals.hearing.begin(1, within.clock.advance(HOUR))
        again = await send_signal(app, {"url": SHOP}, **{"idempotency-key": "k1"})
        other = await send_signal(app, {"url": SHOP}, **{"idempotency-key": "k" * 201})
        return first, again, other, await within.store.read(hints.load)

    first, again, other, kept = run(tmp_path, story)

    assert [202, 202, 400] == [one.status for one in (first, again, other)]
    assert [True, False] == [one.json()["new"] for one in (first, again)]
    assert {(1, "api"): (NOW,)} == waiting(kept)


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"url": 5},
        {"urls": SHOP + "x" * 9000},
        {"urls": {"a": 1}},
        {"urls": [SHOP] * (MOST_URLS + 1)},
        {"page": "x"},
        {"page": True},
        {"page": "1" * 19},
        {"url": SHOP, "at": "yesterday"},
        {"url": SHOP, "at": "2026-05-01"},
        {"url": SHOP, "at": 5},
        {"url": SHOP, "kind": "websub"},
        {"url": SHOP, "kind": "Up"},
        {"url": SHOP, "kind": "a" * 41},
        {"url": SHOP, "look": "now"},
        b"[1]",
        b"{",
    ],
    ids=str,
)
def test_invalid_signal_is_refused_completely(tmp_path, said):
    """400 has the reason, and nothing is stored."""

    async def story(within, app):
        return await send_signal(app, said), await within.store.read(hints.load)

    answer, kept = run(tmp_path, story)

    assert 400 == answer.status
    assert "problem" == answer.json()["record"]
    assert ([], []) == kept


def test_too_many_signals_are_429(tmp_path):
    """`Retry-After` has the wait. A body that is too large is not read."""

    async def story(within, app):
        within_burst = [(await send_signal(app, {"url": SHOP})).status for _ in range(BURST)]
        late = await send_signal(app, {"url": SHOP})
        within.clock.advance(SECOND)
        return within_burst, late, await send_signal(app, b'{"url": "' + b"x" * 70_000 + b'"}')

    taken, late, large = run(tmp_path, story)

    assert {202} == set(taken)
    assert (429, "1") == (late.status, late.headers["retry-after"])
    assert 413 == large.status


def test_signal_that_cannot_be_stored_is_503(tmp_path):
    """The store is busy, or another process is the poller: the sender repeats it later."""

    async def story(within, app):
        async def busy(*_, **__):
            raise StoreBusyError("busy")

        write, within.store.write = within.store.write, busy
        refused = await send_signal(app, {"url": SHOP})
        within.store.write = write
        now = within.clock.now()
        await within.store.write(leases.acquire, leases.POLLER, "other", at=now + HOUR, until=now + 2 * HOUR)
        within.clock.advance(2 * HOUR)
        return refused, await send_signal(app, {"url": BOARD})

    refused, stale = run(tmp_path, story)

    assert [503, 503] == [refused.status, stale.status]
    assert "retry-after" in refused.headers


def test_instant_in_the_future_becomes_now(tmp_path):
    """Clocks differ, and a hint for the future would wait."""

    async def story(within, app):
        await send_signal(app, {"url": SHOP, "at": rfc3339(NOW + 5 * HOUR)})
        return await within.store.read(hints.load)

    assert {(1, "api"): (NOW,)} == waiting(run(tmp_path, story))


def test_parameters_of_a_signal_are_read():
    """Addresses count once, numbers may be text, and dates may have any time zone."""
    said = read_params(
        {"url": SHOP, "urls": [BOARD, SHOP], "page": 7, "at": "2023-11-14T23:13:20+01:00", "kind": "cms.v2"}
    )

    assert ((SHOP, BOARD), (7,), NOW, "cms.v2") == (said.urls, said.pages, said.at, said.kind)
