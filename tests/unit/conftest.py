"""A fresh SQLite database; what both products must do is in tests/contract/test_store.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stores import Products, World, products

__all__ = ["products", "world"]


@pytest.fixture
def world(products: Products, tmp_path: Path) -> Iterator[World]:
    """Yield a fresh database."""
    with products.fresh("sqlite", tmp_path / "data") as settings:
        world = World(settings)
        yield world
        world.database.close()
