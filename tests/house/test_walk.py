"""The ways of five things through the packages: a body passes each package once."""

import pytest
from bench.walk import Walk, walk

MOST_ROOMS = 8


def show(walks: list[Walk]) -> str:
    return "\n".join(line for each in walks if each.root is not None for line in each.root.lines())


@pytest.mark.parametrize("framed", [False, True])
def test_body_passes_at_most_eight_packages_and_none_twice(framed):
    """Pages with frames take the same path."""
    walks = walk("body", framed=framed)
    polled, sent = (each.rooms() for each in walks)

    assert len(polled) == len(set(polled)), show(walks)
    assert MOST_ROOMS >= len(polled)
    assert ["service/notify", "notification", "fetching/http"] == sent


@pytest.mark.parametrize(
    ("name", "rooms", "returns"), [("budget", 5, 0), ("importance", 6, 1), ("alter", 4, 2), ("add", 4, 1)]
)
def test_other_ways_are_as_short_as_recorded(name, rooms, returns):
    """Decision 0050 has these numbers. The returns are questions of `language` about other
    sentinels.
    """
    walks = walk(name)
    visits = [each.rooms() for each in walks]

    assert (rooms, returns) == (
        len({room for each in visits for room in each}),
        sum(len(each) - len(set(each)) for each in visits),
    ), show(walks)
