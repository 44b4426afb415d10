"""Promise: every page of an overloaded host is polled."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.world import World, play
from tidings.clock import MINUTE, SECOND
from tidings.storage.observed import pages

GAP = 5


@pytest.mark.parametrize("left", ["between 10 s and 20 s", ""], ids=["with bounds", "without"])
def test_fixed_intervals_that_fill_a_host_starve_no_page(make_world: Callable[..., World], left: str):
    """Two pages at 10 s use the whole gap of 5 s. A third, on change, is polled too."""
    world = make_world(
        fetch__host_gap_seconds=str(GAP),
        fetch__page_floor_seconds="1",
        schedule__pace_seconds="20",
        detect__second_polls="false",
    )
    for path in ("/a", "/b", "/c"):
        world.page(path, "<p>still</p>")
    world.add(
        "Create Sentinel a Using {/a} Monitor any change Fetch every 10 s;"
        " Create Sentinel b Using {/b} Monitor any change Fetch every 10 s;"
        f" Create Sentinel c Using {{/c}} Monitor any change Fetch on change {left}"
    )

    play(world, lambda monitor: world.pass_time(monitor, 10 * MINUTE))

    asked = {path: sum(seen.path == path for seen in world.server.seen) for path in ("/a", "/b", "/c")}
    waits = {
        identity.url.rpartition("/")[2]: (world.clock.now() - (state.polled_at or 0)) // SECOND
        for identity, state in world.read(pages.listing)
    }
    assert min(asked["/a"], asked["/b"]) >= 30
    assert asked["/c"] >= 8
    assert max(waits.values()) <= 120
