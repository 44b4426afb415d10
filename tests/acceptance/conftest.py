"""The world of each acceptance test, on each database; PostgreSQL is skipped without a server."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import WebServer
from tests.stores import PRODUCTS, Products, products
from tests.world import World
from tidings.service.watch.shards import shard_of
from tidings.storage.db import planners

__all__ = ["products"]

SAMPLE = int(os.environ.get("TESTS_POSTGRES", "16"))
"""Of the stories with PostgreSQL one in so many is played, with one of its rows; 1: all rows of all."""
ALL_ROLES = os.environ.get("TESTS_ROLES") == "1"
"""All stories are also played by the roles of a cluster (`tests.roles`), not only those with the
mark `roles`.
"""
IN_MEMORY = (
    "appearing bad_answers canary conditions crowded_hosts from_nothing learning limits_of_hosts manners "
    "needs other_types price rendered restless translated"
).split()
"""Stories of what is chosen, judged, compared or shown, whatever stores it: they are played on
PostgreSQL only where all are.
"""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect rows with PostgreSQL, but keep one in each file, or in every second one if few are
    played; the choice depends on names only.
    Of the rows with roles keep those of marked stories.
    """
    numbers = {item: zlib.crc32(item.nodeid.encode()) for item in items if _get_row(item) == "postgresql"}
    played = set()
    left_out = {
        item for item in items if _get_row(item) == "roles" and not (ALL_ROLES or item.get_closest_marker("roles"))
    }
    for item in sorted(numbers, key=lambda item: (numbers[item] % SAMPLE, numbers[item])):
        story = item.nodeid.partition("[")[0]
        is_first = item.path not in played and zlib.crc32(item.path.stem.encode()) % max(1, SAMPLE // 12) == 0
        is_next = is_first or (numbers[item] % SAMPLE == 0 and story not in played)
        if SAMPLE == 1 or (is_next and item.path.stem[5:] not in IN_MEMORY):
            played |= {story, item.path}
        else:
            left_out.add(item)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def _get_row(item: pytest.Item) -> Any:
    """Return the database of a story's world, or `roles`."""
    found = getattr(item, "callspec", None)
    return None if found is None else found.params.get("make_world")


@pytest.fixture
def server() -> Iterator[WebServer]:
    """Yield a web on one host; of two planners it belongs to the one that does not lead."""
    with contextlib.ExitStack() as stack:
        while shard_of((running := stack.enter_context(WebServer())).host, planners.SHARDS) < planners.SHARDS // 2:
            pass
        yield running


@pytest.fixture(params=(*PRODUCTS, "roles"))
def make_world(
    request: pytest.FixtureRequest, products: Products, tmp_path: Path, server: WebServer
) -> Iterator[Callable[..., World]]:
    """Return a function that makes worlds on one empty database."""
    with contextlib.ExitStack() as stack:
        product = "postgresql" if request.param == "roles" else request.param
        settings = stack.enter_context(products.fresh(product, tmp_path / "unused"))
        if settings.store.url:  # verbs that a story runs find the same database
            stack.enter_context(pytest.MonkeyPatch.context()).setenv("TIDINGS_STORE_URL", settings.store.url)

        def make(directory: Path = tmp_path / "data", **flags: str) -> World:
            world = World(directory, server, settings.store.url, **flags)
            world.has_roles = request.param == "roles"
            stack.callback(world.close)
            return world

        yield make


@pytest.fixture
def world(make_world: Callable[..., World]) -> World:
    return make_world()
