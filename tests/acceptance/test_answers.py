"""Promise: each kind of answer has one meaning for the page, its owner and the next check (W-86)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import pytest

from tests.fakes import Headers
from tests.world import World, serve
from tidings.clock import DAY, HOUR, MINUTE, Duration

GOOD = "<h1>Prices</h1><p>Tea costs 5 euro.</p>"
TOLERANCE = 0.2
"""by how much a wait may be longer, so that pages which failed together do not come back together"""


@dataclass(frozen=True)
class Row:
    """An answer without a version: its kind, whether the first one notifies the owner, the first
    wait, and the factor by which it grows.
    """

    status: int
    kind: str
    first: Duration
    growth: float = 2.0
    at_once: bool = False
    headers: Headers = ()


ROWS = [
    *(Row(status, "request", HOUR) for status in (206, 400, 405, 414)),
    *(Row(status, "denied", HOUR) for status in (401, 403, 451)),
    Row(404, "404", 5 * MINUTE),
    Row(410, "410", DAY, growth=1, at_once=True),
    *(Row(status, "busy", MINUTE) for status in (408, 425)),
    Row(429, "busy", 4 * HOUR, at_once=True),
    Row(503, "busy", 30 * MINUTE, growth=1, headers={"Retry-After": "1800"}),
    *(Row(status, "5xx", MINUTE) for status in (500, 520)),
    Row(301, "redirect", HOUR, at_once=True, headers={"Location": "ftp://127.0.0.1/a"}),
    Row(302, "redirect", HOUR, at_once=True, headers={"Location": "/a"}),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.status))
def test_answer_without_a_version_notifies_once_and_waits_longer(world: World, row: Row):
    """No version and no change; the owner is notified of the error and of its end, once each."""
    world.page("/a", GOOD)
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 4 hour")

    with serve(world) as service:
        service.settle()
        world.page("/a", "<h1>no</h1>", status=row.status, headers=row.headers)
        service.pass_time(9 * HOUR + 2 * row.first)
        world.page("/a", GOOD)
        service.pass_time(DAY + 5 * HOUR)
    failed = [p for p in world.polls() if p.outcome == "error"]
    reported = world.events("page.error", "page.ok")
    waits = [later.charged_at - sooner.charged_at for sooner, later in pairwise(failed)]

    assert ([], 1) == (world.changes(), len(world.versions()))
    assert {(row.kind, False)} == {(p.kind, p.text_changed) for p in failed}
    assert [("page.error", row.kind), ("page.ok", row.kind)] == [(e.type, e.data["kind"]) for e in reported]
    assert row.at_once == (reported[0].at < failed[1].charged_at)
    for number, waited in enumerate(waits[:3]):
        assert row.first * row.growth**number <= waited <= row.first * row.growth**number * (1 + TOLERANCE) + MINUTE
    assert "unchanged" == world.polls()[-1].outcome
    assert [] == world.violations()


def test_page_that_is_missing_from_the_start_has_no_baseline(world: World):
    """A page with 404 is in error until its first good answer, which is not reported as a change."""
    world.page("/a", "<h1>no</h1>", status=404)
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 1 hour Notify By webhook {world.receiver()} immediate"
    )

    with serve(world) as service:
        service.pass_time(5 * HOUR)
        assert [] == world.versions()
        world.page("/a", GOOD)
        service.pass_time(DAY)
        world.page("/a", GOOD.replace("5", "6"))
        service.pass_time(2 * HOUR)

    assert ["page.error", "page.ok"] == [e.type for e in world.events("page.error", "page.ok")]
    assert [("1.1", "1.2")] == [(c["from_version"], c["to_version"]) for c in world.changes()]
    assert [
        False,
        True,
        False,
    ] == ["the page now exists" in message["data"].get("summary", "") for _, message in world.received]


@pytest.mark.parametrize(("status", "reported"), [(308, 1), (302, 0)])
def test_permanent_redirect_is_notified_once(world: World, status: int, reported: int):
    """Three checks and a day must confirm it.

    The old address is still polled. Temporary redirects are not notified.
    """
    world.page("/b", GOOD)
    world.page("/a", "", status=status, headers={"Location": "/b"})
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 6 hour Notify By webhook {world.receiver()} immediate"
    )

    with serve(world) as service:
        service.pass_time(DAY - HOUR)
        assert [] == world.events("page.moved")
        service.pass_time(3 * DAY)

    assert [world.server.url("/b")] * reported == [e.data["to"] for e in world.events("page.moved")]
    assert reported == len(world.received)
    assert all("has moved permanently to" in message["data"]["summary"] for _, message in world.received)
    assert [] == world.changes()
    assert [] == world.violations()


def test_target_of_a_redirect_is_the_page(world: World):
    """A redirect that appears or disappears is no change; different content of the target is one."""
    world.page("/b", GOOD)
    world.page("/a", GOOD)
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.page("/a", "", status=302, headers={"Location": "/b"})
        service.pass_time(HOUR)
        assert ([], 1) == (world.changes(), len(world.versions()))
        world.page("/b", GOOD.replace("5", "6"))
        service.pass_time(HOUR)

    assert [[{"old": "5", "new": "6"}]] == [c["updated"] for c in world.changes()]
    assert [] == world.violations()
