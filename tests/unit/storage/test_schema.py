from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import BigInteger, create_engine
from sqlalchemy.pool import StaticPool

from tests.stores import PRODUCTS, Products
from tidings.storage.database import open_database
from tidings.storage.schema import metadata


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_steps_make_the_schema_that_is_described(products: Products, product: str, tmp_path: Path):
    """A migrated database differs in nothing from the tables of `schema`."""
    with products.fresh(product, tmp_path / "data") as settings:
        database = open_database(settings)
        url, raw, arguments = database._driver.engine_arguments()
        engine = create_engine(url, poolclass=StaticPool, creator=lambda: raw, **arguments)
        with engine.connect() as connection:
            differences = compare_metadata(MigrationContext.configure(connection), metadata)
        engine.dispose()
        database.close()

    assert [] == differences


def test_every_table_of_the_contract_is_there():
    """The tables are those of contracts.md §4, what tags have by default, and events of other origin."""
    expected = (
        "owner sentinel sentinel_revision tag page page_member host subscription version version_member blob digest comparison"
        " quarantine change event endpoint delivery poll request estimate timer rule_state budget secret lease garbage instance tag_default event_source event_key"
    )

    assert set(expected.split()) == set(metadata.tables)


def test_ids_never_come_back_and_times_are_wide():
    """Ids are AUTOINCREMENT on SQLite; every column that ends in `at` is BIGINT."""
    numbered = [table for table in metadata.tables.values() if "id" in table.c and table.c["id"].identity]
    times = [column for table in metadata.tables.values() for column in table.c if column.name.endswith("at")]

    assert all(table.dialect_options["sqlite"]["autoincrement"] for table in numbered)
    assert 10 == len(numbered)
    assert all(isinstance(column.type, BigInteger) for column in times)
