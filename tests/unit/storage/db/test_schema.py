from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import BigInteger, create_engine
from sqlalchemy.pool import StaticPool

from tests.stores import PRODUCTS, Products
from tidings.settings import Settings
from tidings.storage.db import migrate
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import open_database
from tidings.storage.db.schema import metadata


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_steps_make_the_schema_that_is_described(
    products: Products, product: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A database that took every step differs in nothing from the tables of `schema`, from which new ones are made at once."""
    with products.fresh(product, tmp_path / "made") as settings:
        made = _columns(settings, product)
    monkeypatch.setattr(migrate, "_make", migrate.run_steps)
    with products.fresh(product, tmp_path / "data") as settings:
        database = open_database(settings)
        url, raw, arguments = database._driver.engine_arguments()
        engine = create_engine(url, poolclass=StaticPool, creator=lambda: raw, **arguments)
        with engine.connect() as connection:
            differences = compare_metadata(MigrationContext.configure(connection), metadata)
        engine.dispose()
        database.close()
        stepped = _columns(settings, product)

    assert [] == differences
    assert made == stepped


def _columns(settings: Settings, product: str) -> set[tuple[Any, ...]]:
    """Return what each column is: table, name, type, whether it may be null, default."""
    database = open_database(settings)
    tables = [*metadata.tables, "alembic_version"]
    found: set[tuple[Any, ...]] = set()
    if product == "postgresql":
        query = (
            "SELECT table_name, column_name, data_type, is_nullable, column_default, is_identity"
            " FROM information_schema.columns WHERE table_schema = current_schema()"
        )
        found = {tuple(row) for row in database.read(lambda c: c.rows(query))}
    else:
        for table in tables:
            found |= {(table, *tuple(row)[1:]) for row in database.read(_described, table)}
    database.close()
    assert len(tables) <= len({row[0] for row in found})
    return found


def _described(connection: Connection, table: str) -> list[tuple[Any, ...]]:
    return connection.rows(f"PRAGMA table_info({table})")


def test_every_table_of_the_contract_is_there():
    """The tables are those of contracts §4, what tags have by default, and events of other origin."""
    expected = (
        "owner sentinel sentinel_revision tag page page_member host subscription version version_member blob digest comparison"
        " quarantine change event endpoint delivery poll request estimate timer rule_state budget secret lease garbage instance tag_default event_source event_key trust hint signal_key websub"
    )

    assert set(expected.split()) == set(metadata.tables)


def test_ids_never_come_back_and_times_are_wide():
    """Ids are AUTOINCREMENT on SQLite; every column that ends in `at` is BIGINT."""
    numbered = [table for table in metadata.tables.values() if "id" in table.c and table.c["id"].identity]
    times = [column for table in metadata.tables.values() for column in table.c if column.name.endswith("at")]

    assert all(table.dialect_options["sqlite"]["autoincrement"] for table in numbered)
    assert 10 == len(numbered)
    assert all(isinstance(column.type, BigInteger) for column in times)
