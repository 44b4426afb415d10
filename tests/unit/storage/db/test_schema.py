from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stores import PRODUCTS, TABLES, Products, own_postgres, shape
from tidings.settings import Settings, StoreSettings
from tidings.storage.db import schema
from tidings.storage.db.connection import Connection, DatabaseDriver
from tidings.storage.db.database import REVISIONS, open_database
from tidings.storage.db.postgres import PostgresDriver
from tidings.storage.db.schema import FOLDER, TableText, complete, run_steps, statements, steps, tables
from tidings.storage.db.sqlite import SqliteDriver


@pytest.mark.parametrize("product", PRODUCTS)
def test_steps_give_the_described_schema(
    products: Products, product: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A database after all steps is equal to one that `schema.sql` made."""
    with products.fresh(product, tmp_path / "made") as settings:
        made = _shape(settings)
    monkeypatch.setattr(schema, "make", schema.run_steps)
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


def test_every_table_of_the_contract_exists():
    """The tables are those of contracts §4, and those of tag defaults, outside events, marks of the
    inbox, values, pages of collections, and public pages.
    """
    expected = (
        "owner session token shared_tag published_tag sentinel sentinel_revision tag page page_member host subscription version version_member blob digest comparison"
        " quarantine change event endpoint delivery poll request estimate timer rule_state budget secret lease garbage instance tag_default event_source event_key trust hint signal_key websub inbox_mark watched_value"
        " collection collection_page"
    )

    assert set(expected.split()) == set(TABLES)


def test_ids_are_never_reused_and_times_are_bigint():
    """Ids are AUTOINCREMENT on SQLite; each column that ends in `at` is BIGINT."""
    numbered = [
        table.columns["id"] for table in TABLES.values() if table.columns.get("id", "").startswith("id INTEGER")
    ]
    times = [text for table in TABLES.values() for name, text in table.columns.items() if name.endswith("at")]

    assert 11 == len(numbered)
    assert all(text.endswith("AUTOINCREMENT") for text in numbered)
    assert len(times) > 40
    assert {"BIGINT"} == {text.split()[1] for text in times}


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.sql")))
def test_each_migration_is_split_into_whole_statements(name: str):
    """No file has a word of the other product."""
    texts = statements(name, "sqlite")
    made = [re.match(r"(CREATE TABLE|ALTER TABLE|CREATE INDEX) (\w+)", text) for text in texts]

    assert texts
    assert not [text for text in texts if re.search("BYTEA|IDENTITY|::|--", text)]
    assert not [
        text for text in statements(name, "postgresql") if re.search(r"AUTOINCREMENT|BLOB|ROWID|json_extract", text)
    ]
    assert any(made)


def test_parsed_tables_match_sqlite(tmp_path: Path):
    """SQLite reports the same tables, columns, primary keys and indexes that are parsed from the
    texts of the steps.
    """
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


@pytest.fixture(params=PRODUCTS)
def c(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connection]:
    """Yield a connection to an empty database, in a transaction that is rolled back at the end."""
    if request.param == "sqlite":
        yield from _begin(SqliteDriver(tmp_path, busy_seconds=1))
    else:
        with own_postgres() as url:
            yield from _begin(PostgresDriver(url, busy_seconds=1))


def _begin(driver: DatabaseDriver) -> Iterator[Connection]:
    driver.begin_write()
    yield driver.connection
    driver.rollback()
    driver.close()


@pytest.mark.parametrize("revision", REVISIONS)
def test_missing_parts_of_the_schema_are_added(c: Connection, revision: str):
    """All indexes, tables without references to them and independent columns are dropped; the
    completed schema is equal to the original.
    """
    run_steps(c, revision)
    whole = shape(c)

    lost = _drop_optional(c, revision)
    poor = shape(c)
    complete(c, revision)

    assert lost > 80
    assert poor != whole
    assert whole == shape(c)


def test_complete_schema_is_not_changed(c: Connection):
    """Nothing is added, and a column beyond the schema stays."""
    run_steps(c, "0003")
    c.execute("ALTER TABLE page ADD COLUMN own TEXT")

    assert [] == complete(c, "0003")
    assert [] == c.rows("SELECT own FROM page")


def test_added_columns_get_the_values_of_their_step(c: Connection):
    """An owner whose log has 77 events gets rules that need not read them. Other columns get their
    default, or an empty value of their type.
    """
    run_steps(c, "0003")
    c.execute("INSERT INTO owner (id, name, last_seq) VALUES (1, 'local', 77)")
    c.execute("INSERT INTO trust (host, kind, state, at) VALUES ('h', 'k', 's', 5)")
    for table, column in (("owner", "rules_seq"), ("trust", "at"), ("trust", "state")):
        c.execute(f"ALTER TABLE {table} DROP COLUMN {column}")

    added = complete(c, "0003")

    assert ["owner.rules_seq", "trust.state", "trust.at"] == added
    assert [(77, 77)] == _rows(c, "SELECT last_seq, rules_seq FROM owner")
    assert [("h", "k", "", 0)] == _rows(c, "SELECT host, kind, state, at FROM trust")


def test_secrets_from_before_owners_get_the_only_owner(c: Connection):
    """A table whose primary key lacks a column is made again with its rows: the first 0002 had
    secrets by name only.
    """
    run_steps(c, "0002")
    c.execute("INSERT INTO owner (id, name, last_seq) VALUES (1, 'local', 0)")
    c.execute("DROP TABLE secret")
    c.execute("CREATE TABLE secret (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    c.execute("INSERT INTO secret VALUES ('webhook', 'w'), ('mail', 'm')")

    complete(c, "0002")

    rows = _rows(c, "SELECT owner_id, name, kind, key_id, value, set_at FROM secret ORDER BY name")
    assert [(1, "mail", "text", "", "m", 0), (1, "webhook", "signing", "", "w", 0)] == rows


def test_steps_keep_secrets_and_the_newest_problem_of_each_page(c: Connection):
    """Secrets get their owner and kind. For a page with one version, the newest problem of the log
    is stored.
    """
    run_steps(c, "0001")
    c.execute("INSERT INTO owner (id, name, last_seq) VALUES (1, 'local', 7)")
    c.execute("INSERT INTO secret VALUES ('webhook', 'w'), ('mail', 'm')")
    for page, seq in ((1, 1), (2, 1), (3, 2), (4, 1)):
        c.execute(
            f"INSERT INTO page (id, key, url, given, host, last_seq) VALUES ({page}, '{page}', 'u', 'u', 'h', {seq})"
        )
    log = ((1, "too big"), (2, "too big"), (2, ""), (3, "too big"), (4, None))
    for seq, (page, problem) in enumerate(log, 1):
        data = "{}" if problem is None else f'{{"problem": "{problem}"}}'
        c.execute(
            "INSERT INTO event (owner_id, seq, type, at, page_id, data) VALUES (1, :seq, 'page.first', 1, :page, :data)",
            seq=seq,
            page=page,
            data=data,
        )

    run_steps(c, REVISIONS[-1], since="0001")

    assert [(1, "mail", "text", "m"), (1, "webhook", "signing", "w")] == _rows(
        c, "SELECT owner_id, name, kind, value FROM secret ORDER BY name"
    )
    assert [(1, "too big"), (2, ""), (3, ""), (4, "")] == _rows(c, "SELECT id, problem FROM page ORDER BY id")
    assert 7 == c.value("SELECT rules_seq FROM owner")


def _rows(c: Connection, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in c.rows(query)]


def _drop_optional(c: Connection, revision: str) -> int:
    """Drop all indexes, the tables without references to them, and columns that may be missing; count the last two."""
    wanted = tables(text for step, file in steps().items() if step <= revision for text in statements(file, c.dialect))
    referred = {name for table in wanted.values() for name in re.findall(r"REFERENCES (\w+)", table.statements[0])}
    lost = 0
    for name, table in wanted.items():
        for index in table.indexes:
            c.execute(f"DROP INDEX {index}")
        if name not in referred:
            c.execute(f"DROP TABLE {name}")
            lost += 1
            continue
        for column in _free(table):
            c.execute(f"ALTER TABLE {name} DROP COLUMN {column}")
            lost += 1
    return lost


def _free(table: TableText) -> list[str]:
    """Return the columns outside constraints that are nullable or have a default."""
    bound = set(re.findall(r"\w+", " ".join(re.findall(r"(?:UNIQUE|FOREIGN KEY) \((.*?)\)", table.statements[0]))))
    return [
        name
        for name, text in table.columns.items()
        if name not in bound | set(table.key) and ("DEFAULT" in text or "NOT NULL" not in text)
    ]
