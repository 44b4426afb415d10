from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.stores import Products, World
from tests.tcp_proxy import End, TcpProxy
from tidings.errors import StoreBusyError, StoreLostError
from tidings.settings import Settings
from tidings.storage import secrets
from tidings.storage.db import postgres
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import Database, Patience, open_database
from tidings.storage.db.postgres import by_name, by_place

PID = "SELECT pg_backend_pid()"
END = "SELECT pg_terminate_backend(:pid, 5000)"


@pytest.fixture
def settings(products: Products, tmp_path: Path) -> Iterator[Settings]:
    with products.fresh("postgresql", tmp_path) as settings:
        yield settings


@pytest.fixture
def proxy(settings: Settings) -> Iterator[TcpProxy]:
    parts = urlsplit(settings.store.url)
    with TcpProxy((parts.hostname or "", parts.port or 5432)) as proxy:
        yield proxy


@pytest.fixture
def other(settings: Settings) -> Iterator[Database]:
    """Yield the database as another process has it."""
    database = open_database(settings)
    yield database
    database.close()


@pytest.fixture
def ours(settings: Settings, proxy: TcpProxy) -> Iterator[Database]:
    """Yield a database that is reached through the proxy."""
    database = open_database(through_proxy(settings, proxy))
    yield database
    proxy.cut()
    database.close()


def through_proxy(settings: Settings, proxy: TcpProxy) -> Settings:
    parts = urlsplit(settings.store.url)
    netloc = f"{parts.netloc.rpartition(':')[0]}:{proxy.port}"
    url = parts._replace(netloc=netloc, query="sslmode=disable").geturl()
    return replace(settings, store=replace(settings.store, url=url))


def count_up(c: Connection) -> int:
    """Add 1 to the stored count, which shows whether a transaction ran twice."""
    before = int(secrets.get(c, "count") or 0)
    secrets.put(c, "count", str(before + 1))
    return before + 1


def own_pid(database: Database) -> Any:
    return database.read(lambda c: c.value(PID))


def test_statements_are_rewritten_for_psycopg():
    """Names become psycopg's placeholders, and each % is doubled, within quotes too."""
    text = "SELECT a % :b, 'd%' FROM t WHERE c = :c"

    assert b"SELECT a %% %(b)s, 'd%%' FROM t WHERE c = %(c)s" == by_name(text)
    assert b"SELECT a %% %s, 'd%%' FROM t WHERE c = %s" == by_place(text)


@pytest.mark.parametrize("way", ["read", "write", "changed"])
def test_idle_connection_that_was_cut_is_opened_again(ours: Database, other: Database, way: str):
    """The next call gets its answer, and changes by others in the meantime are noticed."""
    ours.write(count_up)
    ours.has_changed()
    other.read(lambda c: c.value(END, pid=own_pid(ours)))
    if way == "changed":
        assert ours.has_changed()
    elif way == "read":
        assert "1" == ours.read(secrets.get, "count")
    else:
        assert 2 == ours.write(count_up)

    assert [1] == [len(ours.patience.take_ended())]
    assert ours.patience.outage is None


def test_transaction_that_was_cut_is_repeated_from_its_start(ours: Database, other: Database):
    """The writes before the cut are undone, so that they are stored once."""
    tries: list[Any] = []

    def cut_once(c: Connection) -> int:
        found = count_up(c)
        if not tries:
            tries.append(other.read(lambda o: o.value(END, pid=c.value(PID))))
        c.value("SELECT 1")
        return found

    assert 1 == ours.write(cut_once)
    assert "1" == other.read(secrets.get, "count")


@pytest.mark.parametrize("passes", [True, False], ids=["arrived", "lost"])
def test_commit_without_an_answer_is_applied_once(ours: Database, other: Database, proxy: TcpProxy, passes: bool):
    """The server knows whether it committed before the connection ended; in both cases the
    transaction is stored once.
    """
    proxy.end_at = End(b"COMMIT", passes=passes)

    assert 1 == ours.write(count_up)
    assert "1" == other.read(secrets.get, "count")
    assert 2 == ours.write(count_up)


def test_read_that_was_cut_is_repeated(ours: Database, proxy: TcpProxy):
    """The read sees one state from its start, on the new connection."""
    ours.write(count_up)
    proxy.end_at = End(b"SELECT 'here'", passes=True)

    assert ["here", "1"] == ours.read(lambda c: [c.value("SELECT 'here'"), secrets.get(c, "count")])


def test_blocked_connection_is_replaced(
    ours: Database, other: Database, proxy: TcpProxy, monkeypatch: pytest.MonkeyPatch
):
    """A network that drops all packets is noticed. The old session on the server, which has the
    lock of all writers, is ended.
    """
    monkeypatch.setattr(postgres, "_SILENT_WAITS", 2)
    monkeypatch.setattr(postgres, "_NETWORK", {"connect_timeout": 2})
    ours.patience = Patience(None)
    tries: list[int] = []

    def block_once(c: Connection) -> int:
        tries.append(count_up(c))
        if len(tries) == 1:
            proxy.block()
            mending = threading.Timer(0.5, _replace, (proxy,))
            mending.start()
        c.value("SELECT 1")
        return tries[-1]

    assert 1 == ours.write(block_once)
    assert [1, 1] == tries
    assert 2 == other.write(count_up)


def _replace(proxy: TcpProxy) -> None:
    """Let new connections through; the blocked ones stay blocked."""
    proxy.abandon()
    proxy.mend()


def test_slow_answer_is_waited_for(ours: Database, monkeypatch: pytest.MonkeyPatch):
    """The server reports on another connection that it is still busy, so the wait continues."""
    monkeypatch.setattr(postgres, "_SILENT_WAITS", 2)

    assert "done" == ours.read(lambda c: c.value("SELECT 'done' FROM pg_sleep(0.7)"))
    assert [] == ours.patience.take_ended()


def test_outage_is_retried_and_logged_once(ours: Database, proxy: TcpProxy, caplog: pytest.LogCaptureFixture):
    """Each reason is logged once, and at the end how long the outage was."""
    ours.patience = Patience(None)
    proxy.is_out = True
    proxy.cut()
    mending = threading.Timer(0.4, proxy.mend)
    mending.start()

    assert 1 == ours.write(count_up)
    text = [record.getMessage() for record in caplog.records]
    assert len(set(text)) == len(text)
    assert "Tidings tries again until it answers" in text[0]
    assert "answers again" in text[-1]


def test_command_gives_up_after_its_patience(ours: Database, proxy: TcpProxy, monkeypatch: pytest.MonkeyPatch):
    """The error names the setting and has no password."""
    ours.patience = Patience(0.2)
    proxy.is_out = True
    proxy.cut()
    with pytest.raises(StoreLostError, match=r"store\.url") as caught:
        ours.write(count_up)

    assert "postgres:postgres" not in str(caught.value)


def test_stopping_service_gives_up_soon(ours: Database, proxy: TcpProxy, monkeypatch: pytest.MonkeyPatch):
    """A service waits for its database without end, but only for seconds once it is stopped."""
    monkeypatch.setattr("tidings.storage.db.database.BRIEF_SECONDS", 0.3)
    ours.patience = Patience(None)
    proxy.is_out = True
    proxy.cut()
    hurry = threading.Timer(0.1, ours.patience.hurry)
    hurry.start()
    with pytest.raises(StoreLostError):
        ours.write(count_up)


def test_read_only_database_is_retried(ours: Database, settings: Settings):
    """Each attempt uses a new connection; the write succeeds once the database is writable."""
    name = urlsplit(settings.store.url).path[1:]
    ours.patience = Patience(None)
    with psycopg.connect(settings.store.url, autocommit=True) as server:
        server.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on".encode())

        def open_again() -> None:
            with psycopg.connect(settings.store.url, autocommit=True) as late:
                late.execute(b"SET default_transaction_read_only = off")
                late.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only".encode())

        ours._driver.close()  # the next connection is one of the read-only kind
        threading.Timer(0.3, open_again).start()
        assert 1 == ours.write(count_up)


def test_wrong_password_is_retried(products: Products, tmp_path: Path):
    """The write succeeds once the role's password is that of `store.url` again."""
    with products.fresh("postgresql", tmp_path) as settings, _role(settings) as (server, url):
        database = open_database(replace(settings, store=replace(settings.store, url=url)))
        database.patience = Patience(None)
        name = urlsplit(url).username
        server.execute(f"ALTER ROLE {name} PASSWORD 'other'".encode())
        database._driver.close()

        def put_right() -> None:
            with psycopg.connect(settings.store.url, autocommit=True) as late:
                late.execute(f"ALTER ROLE {name} PASSWORD 'first'".encode())

        threading.Timer(0.3, put_right).start()
        assert 1 == database.write(count_up)
        database.close()


def test_role_without_a_free_connection_is_retried(products: Products, tmp_path: Path):
    """The write succeeds once a connection is free."""
    with products.fresh("postgresql", tmp_path) as settings, _role(settings, limit=1) as (_, url):
        database = open_database(replace(settings, store=replace(settings.store, url=url)))
        database.patience = Patience(None)
        database._driver.close()
        greedy = _when_free(url)
        threading.Timer(0.3, greedy.close).start()

        assert 1 == database.write(count_up)
        database.close()


def _when_free(url: str) -> psycopg.Connection[Any]:
    """Connect as soon as the server has noticed that the other connection was closed."""
    while True:
        with contextlib.suppress(psycopg.OperationalError):
            return psycopg.connect(url)


@contextlib.contextmanager
def _role(settings: Settings, limit: int = -1) -> Iterator[tuple[psycopg.Connection[Any], str]]:
    """Yield the server and the URL of a role with all rights in this database."""
    parts = urlsplit(settings.store.url)
    name = f"guest_of_{parts.path[1:]}"[:60]
    with psycopg.connect(settings.store.url, autocommit=True) as server:
        server.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'first' CONNECTION LIMIT {limit}".encode())
        server.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {name}".encode())
        try:
            yield server, parts._replace(netloc=f"{name}:first@{parts.hostname}:{parts.port}").geturl()
        finally:
            server.execute(f"DROP OWNED BY {name}".encode())
            server.execute(f"DROP ROLE {name}".encode())


def test_idle_transaction_does_not_block_other_writers(
    ours: Database, other: Database, monkeypatch: pytest.MonkeyPatch
):
    """A writer that was stopped (SIGSTOP) loses its lock after a while, and repeats its transaction
    when it continues.
    """
    monkeypatch.setattr(postgres, "_TRANSACTION_SECONDS", 0.2)
    ours._driver.close()
    tries: list[int] = []

    def rest_once(c: Connection) -> int:
        tries.append(count_up(c))
        if len(tries) == 1:
            assert 1 == other.write(count_up)
        c.value("SELECT 1")
        return tries[-1]

    assert 2 == ours.write(rest_once)
    assert [1, 2] == tries


def test_write_waits_for_another_and_then_raises_busy(products: Products, tmp_path: Path):
    """The write waits for `store.busy_seconds`. The error means that the write can be repeated."""
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
