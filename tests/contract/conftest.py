"""The databases on which the contract of the store is tested."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stores import PRODUCTS, Products, World, products

__all__ = ["products", "world"]


@pytest.fixture(params=PRODUCTS)
def world(request: pytest.FixtureRequest, products: Products, tmp_path: Path) -> Iterator[World]:
    """Yield a fresh database of each product; PostgreSQL is skipped where no server answers."""
    with products.fresh(request.param, tmp_path / "data") as settings:
        world = World(settings)
        yield world
        world.database.close()
