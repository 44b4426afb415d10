"""Troubles of pages and hosts, with their fixes."""

import pytest

from tests.health import lines, put, watch
from tidings.clock import HOUR
from tidings.model.observed.page import HostState
from tidings.service.show.finding import MOST_LINES
from tidings.storage.observed import hosts


def test_page_in_error_is_a_warning(world):
    """The line has address, kind, time and reason."""
    watch(world)
    put(world, health="error", kind="5xx", reason="503 Service Unavailable", failing_since=world.at)
    (line,) = lines(world, "pages")

    assert ("warn", "pages", "tidings check news-a") == (line.status, line.what, line.mend)
    assert (
        "http://a.example/: error(5xx) since 2023-11-14 22:13:21 UTC (60 min ago): 503 Service Unavailable"
        == line.detail
    )


@pytest.mark.parametrize(
    ("kind", "mend"), [("404", "tidings drop news-a"), ("robots", "fetch.robots"), ("address", "fetch.allow_networks")]
)
def test_fix_depends_on_the_kind_of_error(world, kind, mend):
    """Another check does not help if a page is gone, forbidden or refused."""
    watch(world)
    put(world, health="error", kind=kind)
    (line,) = lines(world, "pages")

    assert mend in line.mend


def test_shaky_page_is_ok(world):
    """The line says that it is polled again."""
    watch(world)
    put(world, health="shaky", kind="net", failures=1)
    (line,) = lines(world, "pages")

    assert ("ok", True) == (line.status, line.detail.endswith("(Tidings tries again)"))


def test_unwatched_page_is_not_reported(world):
    """No active sentinel watches it."""
    world.watch(state="disabled")
    put(world, health="error", kind="404")
    (line,) = lines(world, "pages")

    assert "ok" == line.status


def test_many_pages_in_error_are_counted(world):
    """The first are named."""
    world.watch("many", *(f"p{i}" for i in range(MOST_LINES + 2)))
    for page_id in range(1, MOST_LINES + 3):
        put(world, page_id, health="error", kind="net")
    found = lines(world, "pages")

    assert MOST_LINES + 1 == len(found)
    assert ("warn", "and 2 more", "tidings list") == (found[-1].status, found[-1].detail, found[-1].mend)


def test_failing_host_is_a_warning(world):
    """The line has its failures in a row and the end of its pause."""
    watch(world)
    world.write(hosts.put, [HostState(name="a.example", failures=3, paused_until=world.at + 2 * HOUR)])
    (line,) = lines(world, "hosts")

    assert ("warn", "a.example: 3 failures in a row, requests paused until 2023-11-15 00:13:21 UTC") == (
        line.status,
        line.detail,
    )


def test_past_pause_is_not_reported(world):
    """Nor is an unwatched host."""
    watch(world)
    states = [HostState(name="a.example", paused_until=world.at), HostState(name="elsewhere.example", failures=9)]
    world.write(hosts.put, states)
    (line,) = lines(world, "hosts")

    assert ("ok", "1 host watched, none fails") == (line.status, line.detail)
