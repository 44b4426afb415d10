from __future__ import annotations

from pathlib import Path

import pytest

from tests.stores import Products, World
from tidings.errors import StoreBusyError, StoreError
from tidings.storage import secrets
from tidings.storage.database import open_database
from tidings.storage.postgres import by_name, by_place


def test_texts_are_rewritten_for_psycopg():
    """Names become psycopg's marks, and every % is doubled, in quotes too."""
    text = "SELECT a % :b, 'd%' FROM t WHERE c = :c"

    assert b"SELECT a %% %(b)s, 'd%%' FROM t WHERE c = %(c)s" == by_name(text)
    assert b"SELECT a %% %s, 'd%%' FROM t WHERE c = %s" == by_place(text)


def test_a_lost_connection_is_made_anew(products: Products, tmp_path: Path):
    """A write on a connection that the server closed is an error of the store; the next one works (trust.md F-11)."""
    with products.fresh("postgresql", tmp_path) as settings:
        world = World(settings)
        other = open_database(settings)
        pid = world.read(lambda c: c.value("SELECT pg_backend_pid()"))
        other.write(lambda c: c.value("SELECT pg_terminate_backend(:pid, 5000)", pid=pid))
        with pytest.raises(StoreError, match=r"store\.url"):
            world.write(secrets.put, "a", "b")
        world.write(secrets.put, "a", "c")

        assert "c" == other.read(secrets.get, "a")
        world.database.close()
        other.close()


def test_writers_take_turns(products: Products, tmp_path: Path):
    """A write waits `store.busy_seconds` for another's transaction, then raises an error that can be tried again."""
    with products.fresh("postgresql", tmp_path, busy_seconds=0.05) as settings:
        world = World(settings)
        other = open_database(settings)

        def while_held(c: object) -> None:
            with pytest.raises(StoreBusyError, match=r"0\.05 s"):
                other.write(secrets.put, "a", "b")

        world.write(while_held)
        other.write(secrets.put, "a", "c")
        assert "c" == world.read(secrets.get, "a")
        world.database.close()
        other.close()
