"""The world of each acceptance test, with each product as its database; PostgreSQL is skipped where no server answers."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes import WebServer
from tests.stores import PRODUCTS, Products, products
from tests.world import World

__all__ = ["products"]

SAMPLE = int(os.environ.get("TESTS_POSTGRES", "16"))
"""Of the stories with PostgreSQL one in so many is played, and one row of each, 1: all of them; their names decide which."""
IN_MEMORY = "appearing collections conditions crowded_hosts from_nothing learning limits_of_hosts manners needs other_types price rendered restless".split()
"""Stories of what is chosen, judged or compared in memory: they are played on PostgreSQL only where all are."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out, played = set(), set()
    for item in items:
        story = item.nodeid.partition("[")[0]
        if not _is_on_postgres(item) or SAMPLE == 1:
            continue
        if story in played or item.path.stem[5:] in IN_MEMORY or zlib.crc32(item.nodeid.encode()) % SAMPLE:
            left_out.add(item)
        else:
            played.add(story)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def _is_on_postgres(item: pytest.Item) -> bool:
    found = getattr(item, "callspec", None)
    return found is not None and found.params.get("make_world") == "postgresql"


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as running:
        yield running


@pytest.fixture(params=PRODUCTS)
def make_world(
    request: pytest.FixtureRequest, products: Products, tmp_path: Path, server: WebServer
) -> Iterator[Callable[..., World]]:
    """Give a maker of worlds that share one empty database."""
    with contextlib.ExitStack() as stack:
        settings = stack.enter_context(products.fresh(request.param, tmp_path / "unused"))
        if settings.store.url:  # verbs that a story runs find the same database
            stack.enter_context(pytest.MonkeyPatch.context()).setenv("TIDINGS_STORE_URL", settings.store.url)

        def make(directory: Path = tmp_path / "data", **flags: str) -> World:
            world = World(directory, server, settings.store.url, **flags)
            stack.callback(world.close)
            return world

        yield make


@pytest.fixture
def world(make_world: Callable[..., World]) -> World:
    return make_world()
