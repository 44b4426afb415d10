"""The path of a body through the packages: each package is passed once."""

import asyncio
import sys

import pytest
from bench.walk import Room, look

from tests.fakes import WebServer
from tests.world import World

MOST_ROOMS = 8


def walk(folder, *, framed: bool) -> list[Room]:
    """Return the path from the fetch to the stored unit, and from there to the receiver."""
    before = sys.getprofile()
    try:
        with WebServer() as server:
            walks = asyncio.run(look(World(folder / "data", server), framed=framed, modules=False))
            return [each.root for each in walks.values() if each.root is not None]
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize("framed", [False, True])
def test_body_passes_at_most_eight_packages_and_none_twice(tmp_path, framed):
    """Pages with frames take the same path."""
    polled, sent = walk(tmp_path, framed=framed)
    rooms = [room.name for room in polled.all()]

    assert len(rooms) == len(set(rooms)), "\n".join(polled.lines())
    assert MOST_ROOMS >= len(rooms)
    assert ["service/notify", "notification", "fetching/http"] == [room.name for room in sent.all()]
