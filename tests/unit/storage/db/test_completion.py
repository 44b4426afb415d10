from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, inspect, text

from tests.stores import PRODUCTS, Products
from tidings.storage.db.completion import complete
from tidings.storage.db.database import REVISIONS
from tidings.storage.db.migrate import run_steps

Shape = dict[str, tuple[set[tuple[str, str, bool, str]], set[str]]]


@pytest.fixture(params=PRODUCTS)
def connection(request: pytest.FixtureRequest, products: Products, tmp_path: Path) -> Iterator[Connection]:
    """Give a connection to an empty place for tables, in a transaction that is undone at the end."""
    with products.fresh(request.param, tmp_path / "data") as settings:
        postgres = request.param == "postgresql"
        url = settings.store.url.replace("postgresql:", "postgresql+psycopg:") if postgres else "sqlite://"
        engine = create_engine(url)
        with engine.connect() as connection:
            if postgres:
                connection.execute(text("CREATE SCHEMA earlier"))
                connection.execute(text("SET LOCAL search_path = earlier"))
            yield connection
            connection.rollback()
        engine.dispose()


@pytest.mark.parametrize("revision", REVISIONS)
def test_what_a_database_lacks_of_its_schema_is_added(connection: Connection, revision: str):
    """Without all indexes, tables that no other refers to and columns that stand alone, a database gets these back as they were."""
    run_steps(connection, revision)
    whole = _shape(connection)

    lost = _drop_what_can_go(connection)
    poor = _shape(connection)
    complete(connection, revision, run_steps)

    assert lost > 80
    assert poor != whole
    assert whole == _shape(connection)


def test_a_whole_database_is_left_alone(connection: Connection):
    """Nothing is added where nothing is missing, and nothing that is there beyond the schema goes."""
    run_steps(connection, "0003")
    connection.execute(text("ALTER TABLE page ADD COLUMN own TEXT"))

    assert [] == complete(connection, "0003", run_steps)
    assert "own" in {column["name"] for column in inspect(connection).get_columns("page")}


def test_rows_keep_what_they_say_and_get_what_the_step_would_have_given_them(connection: Connection):
    """An owner whose log has 77 events has rules that need not hear them; other columns get their default, or nothing of their type."""
    run_steps(connection, "0003")
    connection.execute(text("INSERT INTO owner (id, name, last_seq) VALUES (1, 'local', 77)"))
    connection.execute(text("INSERT INTO trust (host, kind, state, at) VALUES ('h', 'k', 's', 5)"))
    for table, column in (("owner", "rules_seq"), ("trust", "at"), ("trust", "state")):
        connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {column}"))

    added = complete(connection, "0003", run_steps)

    assert ["owner.rules_seq", "trust.state", "trust.at"] == added
    assert (77, 77) == tuple(connection.execute(text("SELECT last_seq, rules_seq FROM owner")).one())
    assert ("h", "k", "", 0) == tuple(connection.execute(text("SELECT host, kind, state, at FROM trust")).one())


def test_secrets_of_before_owners_have_the_one_owner(connection: Connection):
    """A table whose primary key lacks a column is made anew, with its rows: the first 0002 knew secrets by their name alone."""
    run_steps(connection, "0002")
    connection.execute(text("INSERT INTO owner (id, name, last_seq) VALUES (1, 'local', 0)"))
    connection.execute(text("DROP TABLE secret"))
    connection.execute(text("CREATE TABLE secret (name TEXT PRIMARY KEY, value TEXT NOT NULL)"))
    connection.execute(text("INSERT INTO secret VALUES ('webhook', 'w'), ('mail', 'm')"))

    complete(connection, "0002", run_steps)

    rows = connection.execute(
        text("SELECT owner_id, name, kind, key_id, value, set_at FROM secret ORDER BY name")
    ).all()
    assert [(1, "mail", "text", "", "m", 0), (1, "webhook", "signing", "", "w", 0)] == [tuple(row) for row in rows]


def _shape(connection: Connection) -> Shape:
    """Return of each table its columns and its indexes."""
    found = inspect(connection)
    return {
        table: (
            {(c["name"], str(c["type"]), c["nullable"], str(c["default"])) for c in found.get_columns(table)},
            {str(index["name"]) for index in found.get_indexes(table)},
        )
        for table in found.get_table_names()
        if table != "alembic_version"
    }


def _drop_what_can_go(connection: Connection) -> int:
    """Drop all indexes, the tables that no other refers to and that have no number of their own, and free columns with a default or room for none."""
    found = inspect(connection)
    tables = [table for table in found.get_table_names() if table != "alembic_version"]
    referred = {key["referred_table"] for table in tables for key in found.get_foreign_keys(table)}
    lost = 0
    for table in tables:
        unique = {name for one in found.get_unique_constraints(table) for name in one["column_names"]}
        for index in found.get_indexes(table):
            if not index.get("duplicates_constraint"):
                connection.execute(text(f"DROP INDEX {index['name']}"))
        if table not in referred:
            connection.execute(text(f"DROP TABLE {table}"))
            lost += 1
            continue
        bound = unique | {name for key in found.get_foreign_keys(table) for name in key["constrained_columns"]}
        bound |= set(found.get_pk_constraint(table)["constrained_columns"])
        for column in found.get_columns(table):
            if column["name"] not in bound and (column["nullable"] or column["default"] is not None):
                connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {column['name']}"))
                lost += 1
    return lost
