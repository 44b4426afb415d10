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
"""Of the stories with PostgreSQL one in so many is played, 1: all of them; their names decide which."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if _is_left_out(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def _is_left_out(item: pytest.Item) -> bool:
    product = getattr(item, "callspec", None) and item.callspec.params.get("make_world")  # type: ignore[attr-defined]
    return product == "postgresql" and zlib.crc32(item.nodeid.encode()) % SAMPLE != 0


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
