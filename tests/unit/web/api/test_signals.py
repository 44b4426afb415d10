"""Signals at the door: taken durably, once for each key, bounded, and what is unknown is said."""

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
    """Play a story before a service that watches two pages."""

    async def act():
        async with inside(tmp_path, clock=ManualClock(), **serve) as within:
            for name in ("shop", "board"):
                await watch(within, name)
            return await story(within, application(within))

    return asyncio.run(act())


async def tell(app, said, **headers):
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    return await ask(app, PATH, "POST", headers={"content-type": "application/json", **headers}, body=body)


def waiting(rows):
    return {(row.page_id, row.kind): row.waiting for row in rows[1]}


def test_a_signal_is_taken_and_waits_in_the_database(tmp_path):
    """202 says of how many pages it spoke, and the hints are there for whoever runs the service next."""

    async def story(within, app):
        answers = [
            await tell(app, {"url": SHOP}),
            await tell(app, {"urls": [SHOP, BOARD, "https://shop.example"], "kind": "cms"}),
            await tell(app, {"page": "1", "at": rfc3339(NOW - HOUR)}),
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


def test_what_has_no_effect_is_said(tmp_path):
    """A page of a fixed interval is looked at as it is: its hint is taken, and not counted among those that are weighed."""

    async def story(within, app):
        await watch(within, "prices", more="Fetch every 1 hour")
        return (await tell(app, {"urls": [SHOP, "https://prices.example/"]})).json()

    answer = run(tmp_path, story)

    assert (2, 1) == (answer["pages"], answer["weighed"])


def test_what_nobody_watches_is_said(tmp_path):
    """404 if that is all, else it is listed beside what was taken."""

    async def story(within, app):
        answers = [
            await tell(app, {"url": "https://other.example/"}),
            await tell(app, {"page": 77}),
            await tell(app, {"urls": [SHOP, "https://other.example/", "ftp://x"]}),
        ]
        return answers, await within.store.read(hints.load)

    answers, kept = run(tmp_path, story)

    assert [404, 404, 202] == [one.status for one in answers]
    assert answers[0].json()["hint"]
    assert ["https://other.example/", "ftp://x"] == answers[2].json()["unknown"]
    assert {(1, "api")} == set(waiting(kept))


def test_what_is_sent_again_is_taken_once(tmp_path):
    """The same key says that it is the same signal, over a restart too, whatever its body says."""

    async def story(within, app):
        first = await tell(app, {"url": SHOP}, **{"idempotency-key": "k1"})
        within.signals.hearing.begin(1, within.clock.advance(HOUR))
        again = await tell(app, {"url": SHOP}, **{"idempotency-key": "k1"})
        other = await tell(app, {"url": SHOP}, **{"idempotency-key": "k" * 201})
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
def test_what_cannot_be_read_is_refused_whole(tmp_path, said):
    """400, a problem that says what is wrong, and nothing is kept."""

    async def story(within, app):
        return await tell(app, said), await within.store.read(hints.load)

    answer, kept = run(tmp_path, story)

    assert 400 == answer.status
    assert "problem" == answer.json()["record"]
    assert ([], []) == kept


def test_too_many_are_put_off(tmp_path):
    """Who says more than is good is told when to come again; what is too large is not read."""

    async def story(within, app):
        within_burst = [(await tell(app, {"url": SHOP})).status for _ in range(BURST)]
        late = await tell(app, {"url": SHOP})
        within.clock.advance(SECOND)
        return within_burst, late, await tell(app, b'{"url": "' + b"x" * 70_000 + b'"}')

    taken, late, large = run(tmp_path, story)

    assert {202} == set(taken)
    assert (429, "1") == (late.status, late.headers["retry-after"])
    assert 413 == large.status


def test_what_cannot_be_kept_is_not_taken(tmp_path):
    """503, to be sent again, if the store refuses, or another process is the poller by now."""

    async def story(within, app):
        async def busy(*_, **__):
            raise StoreBusyError("busy")

        write, within.store.write = within.store.write, busy
        refused = await tell(app, {"url": SHOP})
        within.store.write = write
        now = within.clock.now()
        await within.store.write(leases.acquire, leases.POLLER, "other", at=now + HOUR, until=now + 2 * HOUR)
        within.clock.advance(2 * HOUR)
        return refused, await tell(app, {"url": BOARD})

    refused, stale = run(tmp_path, story)

    assert [503, 503] == [refused.status, stale.status]
    assert "retry-after" in refused.headers


def test_an_instant_that_has_not_come_is_now(tmp_path):
    """Clocks differ; a hint of the future would wait for it."""

    async def story(within, app):
        await tell(app, {"url": SHOP, "at": rfc3339(NOW + 5 * HOUR)})
        return await within.store.read(hints.load)

    assert {(1, "api"): (NOW,)} == waiting(run(tmp_path, story))


def test_a_signal_says_what_it_says():
    """Addresses once each, numbers as text or number, dates with any zone."""
    said = read_params(
        {"url": SHOP, "urls": [BOARD, SHOP], "page": 7, "at": "2023-11-14T23:13:20+01:00", "kind": "cms.v2"}
    )

    assert ((SHOP, BOARD), (7,), NOW, "cms.v2") == (said.urls, said.pages, said.at, said.kind)
