"""What is wrong with pages and hosts is told with what mends it."""

import pytest

from tests.health import lines, put, watch
from tidings.clock import HOUR
from tidings.model.observed.page import HostState
from tidings.service.show.finding import MOST_LINES
from tidings.storage.observed import hosts


def test_a_page_in_error(world):
    """A page in error is told with its address, its kind, since when, and its reason."""
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
def test_the_kind_of_error_decides_what_mends_it(world, kind, mend):
    """Looking again does not help a page that is gone, forbidden or refused."""
    watch(world)
    put(world, health="error", kind=kind)
    (line,) = lines(world, "pages")

    assert mend in line.mend


def test_pages_that_failed_once_are_only_noted(world):
    """One failure is no error: that such a page is tried again is said, and is no warning."""
    watch(world)
    put(world, health="shaky", kind="net", failures=1)
    (line,) = lines(world, "pages")

    assert ("ok", True) == (line.status, line.detail.endswith("(Tidings tries again)"))


def test_pages_that_nobody_watches_are_not_told(world):
    """A page in error that no active sentinel watches is nobody's trouble."""
    world.watch(state="disabled")
    put(world, health="error", kind="404")
    (line,) = lines(world, "pages")

    assert "ok" == line.status


def test_many_pages_in_error_are_counted(world):
    """Of many pages in error the first are told and the rest is counted."""
    world.watch("many", *(f"p{i}" for i in range(MOST_LINES + 2)))
    for page_id in range(1, MOST_LINES + 3):
        put(world, page_id, health="error", kind="net")
    found = lines(world, "pages")

    assert MOST_LINES + 1 == len(found)
    assert ("warn", "and 2 more", "tidings list") == (found[-1].status, found[-1].detail, found[-1].mend)


def test_a_host_that_fails(world):
    """A host is told with its failures in a row and until when it is left alone."""
    watch(world)
    world.write(hosts.put, [HostState(name="a.example", failures=3, paused_until=world.at + 2 * HOUR)])
    (line,) = lines(world, "hosts")

    assert ("warn", "a.example: 3 failures in a row, requests paused until 2023-11-15 00:13:21 UTC") == (
        line.status,
        line.detail,
    )


def test_a_pause_that_is_over_is_not_told(world):
    """Once a host may be asked again there is nothing to tell; nor is there of a host that nobody watches."""
    watch(world)
    states = [HostState(name="a.example", paused_until=world.at), HostState(name="elsewhere.example", failures=9)]
    world.write(hosts.put, states)
    (line,) = lines(world, "hosts")

    assert ("ok", "1 host watched, none fails") == (line.status, line.detail)
