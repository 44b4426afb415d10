from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.stores import PRODUCTS, TABLES, Products, own_postgres, shape
from tidings.settings import Settings, StoreSettings
from tidings.storage.db import migrate
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import open_database
from tidings.storage.db.schema import FOLDER, statements, steps, tables


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_steps_make_the_schema_that_is_described(
    products: Products, product: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A database that took every step differs in nothing from one that `schema.sql` made at once."""
    with products.fresh(product, tmp_path / "made") as settings:
        made = _shape(settings)
    monkeypatch.setattr(migrate, "make", migrate.run_steps)
    if product == "sqlite":
        stepped = _shape(Settings(data=tmp_path / "stepped"))
    else:
        with own_postgres() as url:
            stepped = _shape(Settings(store=StoreSettings(url=url)))

    assert len(made) > 400
    assert made == stepped


def _shape(settings: Settings) -> set[tuple[Any, ...]]:
    database = open_database(settings)
    found = database.read(shape)
    database.close()
    return found


def test_every_table_of_the_contract_is_there():
    """The tables are those of contracts §4, what tags have by default, events of other origin, marks of the inbox, and values."""
    expected = (
        "owner session token shared_tag sentinel sentinel_revision tag page page_member host subscription version version_member blob digest comparison"
        " quarantine change event endpoint delivery poll request estimate timer rule_state budget secret lease garbage instance tag_default event_source event_key trust hint signal_key websub inbox_mark watched_value"
    )

    assert set(expected.split()) == set(TABLES)


def test_ids_never_come_back_and_times_are_wide():
    """Ids are AUTOINCREMENT on SQLite; every column that ends in `at` is BIGINT."""
    numbered = [
        table.columns["id"] for table in TABLES.values() if table.columns.get("id", "").startswith("id INTEGER")
    ]
    times = [text for table in TABLES.values() for name, text in table.columns.items() if name.endswith("at")]

    assert 11 == len(numbered)
    assert all(text.endswith("AUTOINCREMENT") for text in numbered)
    assert len(times) > 40
    assert {"BIGINT"} == {text.split()[1] for text in times}


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.sql")))
def test_each_statement_is_read_whole(name: str):
    """No file has a word of the other product, and none a statement that the reader of tables takes for another."""
    texts = statements(name, "sqlite")
    made = [re.match(r"(CREATE TABLE|ALTER TABLE|CREATE INDEX) (\w+)", text) for text in texts]

    assert texts
    assert not [text for text in texts if re.search("BYTEA|IDENTITY|::|--", text)]
    assert not [
        text for text in statements(name, "postgresql") if re.search(r"AUTOINCREMENT|BLOB|ROWID|json_extract", text)
    ]
    assert any(made)


def test_tables_are_what_all_steps_leave(tmp_path: Path):
    """What is read of the texts is what SQLite says that they make: tables, columns, primary keys, indexes."""
    database = open_database(Settings(data=tmp_path))
    read = tables(text for file in steps().values() for text in statements(file, "sqlite"))

    assert set(TABLES) == set(read)
    for name, table in read.items():
        found = database.read(_columns, name)
        assert {row[0] for row in found} == set(table.columns)
        assert {row[0] for row in found if row[1]} == set(table.key)
        assert set(TABLES[name].indexes) == set(table.indexes)
    database.close()


def _columns(c: Connection, table: str) -> list[tuple[Any, ...]]:
    return c.rows("SELECT name, pk FROM pragma_table_info(:name)", name=table)
