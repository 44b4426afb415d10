"""Databases for tests: a fresh one of each product, with a small world for which units are short to
write.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import shutil
import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import psycopg
import pytest

from tidings.model.event_type import EventType
from tidings.model.observed.change import ChangeSet, Edit, ObjectCount
from tidings.model.observed.page import PageIdentity, PageState
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import (
    ChangeRow,
    Charged,
    CursorMove,
    DeliveryDraft,
    Event,
    FrameRow,
    Grant,
    PollOutcome,
    PollRecord,
    Unit,
)
from tidings.model.observed.version import Blob, Member, Version, member_list
from tidings.model.watch.sentinel import FetchEvery, FetchOnChange, Interest, Sentinel, State, Watched
from tidings.settings import Settings, StoreSettings
from tidings.storage.db import lock
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import Database, open_database
from tidings.storage.db.schema import WHOLE, statements, tables
from tidings.storage.observed import pages, polls
from tidings.storage.watches import endpoints, sentinels
from tidings.storage.write import charge, invariants
from tidings.storage.write.commit import Committed, commit

POSTGRES = (
    os.environ.get("TESTS_POSTGRES_URL", "postgresql://postgres:postgres@127.0.0.1:5432/test").rpartition("/")[0] + "/"
)
"""The server; each test's database is made beside the one that the variable names."""
PRODUCTS = ("sqlite", "postgresql")
TABLES = tables(statements(WHOLE, "sqlite"))
"""Every table of the schema, as a new database is made."""
SECOND = 1_000_000
START = 1_700_000_000 * SECOND


class Products:
    """Gives out empty databases fast: a copy of one SQLite template, and one PostgreSQL database that is emptied each time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._template: Path | None = None
        self._name = ""
        self._emptying: psycopg.Connection[Any] | None = None

    @contextlib.contextmanager
    def fresh(self, product: str, data: Path, **store: Any) -> Iterator[Settings]:
        """Yield settings of an empty database."""
        if product == "sqlite":
            shutil.copytree(self._sqlite(), data)
            yield Settings(data=data, store=StoreSettings(**store))
        else:
            yield Settings(data=data, store=StoreSettings(url=POSTGRES + self._postgres(), **store))

    def close(self) -> None:
        """Drop the server's database."""
        if self._emptying is not None:
            self._emptying.close()
            with _server() as server:
                server.execute(f"DROP DATABASE IF EXISTS {self._name} WITH (FORCE)".encode())

    def _sqlite(self) -> Path:
        if self._template is None:
            self._template = self._folder / "template"
            open_database(Settings(data=self._template)).close()
        return self._template

    def _postgres(self) -> str:
        if self._emptying is None:
            name = f"tidings_test_{uuid.uuid4().hex}"
            with _server() as server:
                server.execute(f"CREATE DATABASE {name}".encode())
                server.execute(
                    f"ALTER DATABASE {name} SET synchronous_commit = off".encode()
                )  # tests end before machines do
            self._name = name
            open_database(Settings(store=StoreSettings(url=POSTGRES + name))).close()
            self._emptying = psycopg.connect(POSTGRES + name, autocommit=True)
        self._emptying.execute(_EMPTY.encode())
        return self._name


_EMPTY = "; ".join(
    [
        "SET session_replication_role = replica",
        *(f"DELETE FROM {name}" for name in TABLES if name not in {"owner", "instance"}),
        *(
            f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), 1, false)"  # quicker than to alter the column
            for name, table in TABLES.items()
            if name != "owner" and "AUTOINCREMENT" in table.columns.get("id", "")
        ),
        "DELETE FROM owner WHERE id <> 1",
        "UPDATE owner SET last_seq = 0, rules_seq = 0",
    ]
)


@pytest.fixture(scope="session")
def products(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Products]:
    """Yield the maker of databases."""
    made = Products(tmp_path_factory.mktemp("products"))
    yield made
    made.close()


def shape(c: Connection) -> set[tuple[Any, ...]]:
    """Return what a database has: each column, key, constraint and index of each table, whatever the order of columns."""
    if c.dialect == "postgresql":
        queries = (
            (
                "SELECT table_name, column_name, data_type, is_nullable, column_default, is_identity"
                " FROM information_schema.columns WHERE table_schema = current_schema()"
            ),
            (
                "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
                " WHERE connamespace = current_schema()::regnamespace AND contype <> 'n'"
            ),
            "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()",
        )
        return {tuple(row) for query in queries for row in c.rows(query)}
    master = c.rows("SELECT name, type, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
    found: set[tuple[Any, ...]] = {(name, table, sql) for name, kind, table, sql in master if kind == "index"}
    for name, kind, _, sql in master:
        if kind == "table":
            found |= {(name, *tuple(row)[1:]) for row in c.rows(f"PRAGMA table_info({name})")}
            found |= {(name, *tuple(row)[2:5]) for row in c.rows(f"PRAGMA foreign_key_list({name})")}
            found |= {(name, row[0]) for row in c.rows(f"SELECT group_concat(i.name) FROM pragma_index_list('{name}') AS l, pragma_index_info(l.name) AS i GROUP BY l.name")}  # fmt: skip
            found.add((name, "AUTOINCREMENT" in sql, "WITHOUT ROWID" in sql))
    return found


def _server() -> psycopg.Connection[Any]:
    try:
        return psycopg.connect(POSTGRES + "postgres", autocommit=True, connect_timeout=2)
    except psycopg.OperationalError as error:
        if "postgres" in os.environ.get("TESTS_REQUIRE", ""):
            pytest.fail(f"TESTS_REQUIRE asks for PostgreSQL, and {POSTGRES} does not answer: {error}")
        pytest.skip(f"no PostgreSQL answers at {POSTGRES}")


@contextlib.contextmanager
def own_postgres() -> Iterator[str]:
    """Yield the URL of an empty database that nobody else uses; it goes again."""
    name = f"tidings_test_{uuid.uuid4().hex}"
    with _server() as server:
        server.execute(f"CREATE DATABASE {name}".encode())
    try:
        yield POSTGRES + name
    finally:
        with _server() as server:
            server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())


def end_connections(url: str) -> None:
    """End all connections of Tidings to a database."""
    with _server() as server:
        server.execute(_END, (url.rpartition("/")[2],))


class Terminator:
    """Ends all connections of Tidings to one database, again and again; `cuts` counts them."""

    def __init__(self, url: str, every: float) -> None:
        self._name = url.rpartition("/")[2]
        self._every = every
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.cuts = 0
        self.rounds = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        with _server() as server:
            while not self._over.wait(self._every):
                self.cuts += server.execute(_END, (self._name,)).rowcount
                self.rounds += 1


_END = b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND application_name = 'tidings'"


def sha256(body: bytes) -> str:
    """Return the hash that names a body."""
    return hashlib.sha256(body).hexdigest()


class World:
    """An open database with a poller's lease and a full budget; builds nouns with what a test does not care about filled in."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.database = open_database(settings)
        self.read = self.database.read
        self.write = self.database.write
        self.at = START
        self.numbers = itertools.count(1)
        self.epoch = self.write(lock.acquire_lease, "poller", "test", at=self.at, until=self.at + 10**15)
        self.write(charge.set_budget, "default", rate_per_second=1.0, burst=1e6, at=self.at)

    def reopen(self) -> Database:
        """Return another connection to the same database."""
        return open_database(self.settings)

    def page(self, key: str = "a") -> PageIdentity:
        """Return a page of its own host."""
        url = f"http://{key}.example/"
        return PageIdentity(key=f"key-{key}", url=url, given=url, host=f"{key}.example")

    def watch(
        self, name: str = "news", *keys: str, state: State = "enabled", every: int | None = None
    ) -> sentinels.SentinelRow:
        """Store a sentinel on pages."""
        urls = [self.page(key) for key in keys or ("a",)]
        watched = tuple(Watched(page.given) for page in urls)
        fetch = FetchOnChange() if every is None else FetchEvery(every)
        sentinel = Sentinel(name=name, pages=watched, monitor=Interest("any"), fetch=fetch, tags=("tag",))
        return self.write(
            sentinels.create,
            sentinel,
            text=f"Create Sentinel {name}",
            pages=list(zip(watched, urls, strict=True)),
            state=state,
            start_at=None,
            end_at=None,
            at=self.at,
        )

    def charge(self, page_id: int = 1, *, cost: float = 1.0) -> Charged:
        """Pay for one poll."""
        self.at += SECOND
        grant = Grant(page_id=page_id, host=f"{page_id}.example", cost=cost, reason=PollReason(Why.INTERVAL))
        (charged,) = self.write(charge.charge, [grant], at=self.at, epoch=self.epoch)
        assert charged is not None
        return charged

    def poll(self, charged: Charged, outcome: PollOutcome = "unchanged", **more: Any) -> PollRecord:
        """Return how a poll ended."""
        given = {"text_changed": outcome == "changed", "status": 200, "finished_at": self.at} | more
        return PollRecord(poll_id=charged.poll_id, page_id=charged.grant.page_id, outcome=outcome, **given)

    def unit(self, **parts: Any) -> Unit:
        """Return a unit of this world's epoch."""
        return Unit(at=self.at, epoch=self.epoch, **parts)

    def make_unchanged(self, page_id: int = 1) -> Unit:
        """Return a unit of a charged poll that found nothing new."""
        charged = self.charge(page_id)
        state = self.read(pages.state, page_id)
        return self.unit(
            poll=self.poll(charged), page=replace(state, polled_at=self.at, checked_at=self.at, polls=state.polls + 1)
        )

    def make_stored(self, body: bytes, page_id: int = 1, **parts: Any) -> Unit:
        """Return a unit of a charged poll that found a new version."""
        charged = self.charge(page_id)
        state = self.read(pages.state, page_id)
        seq = state.last_seq + 1
        given: dict[str, Any] = {
            "poll": self.poll(charged, "new" if seq == 1 else "changed", bytes=len(body)),
            "page": replace(state, last_seq=seq, changed_at=self.at),
            "version": Version(page_id=page_id, seq=seq, sha256=sha256(body), size=len(body), fetched_at=self.at),
            "blobs": (Blob(sha256(body), len(body), "", 0, body),),
        }
        return self.unit(**(given | parts))

    def make_framed(self, base: bytes, frames: dict[int, bytes], page_id: int = 1, **parts: Any) -> Unit:
        """Return a unit of a charged poll that found a version with frames; `frames` are the bodies of other pages' newest versions."""
        holder = self.read(pages.identity, page_id)
        made_of = [Member(holder.key, sha256(base))]
        for member_id, body in frames.items():
            identity, state = self.read(pages.identity, member_id), self.read(pages.state, member_id)
            made_of.append(Member(identity.key, sha256(body), state.last_seq))
        named = member_list(made_of)
        unit = self.make_stored(named, page_id)
        assert unit.version is not None
        given: dict[str, Any] = {
            "version": replace(unit.version, frames=len(frames)),
            "blobs": (*unit.blobs, Blob(sha256(base), len(base), "", 0, base)),
            "members": tuple(made_of),
            "frames": tuple(map(FrameRow, frames)),
        }
        return replace(unit, **(given | parts))

    def change(self, id: str = "change", **more: Any) -> ChangeRow:
        """Return a change of page 1 from version 1 to 2, with every part of a change set."""
        found = ChangeSet(
            kinds=("any", "links"),
            inserted=("new words", "\0 \ud800 ünïcode"),
            deleted=("old words",),
            updated=(("one", "two"),),
            moved=("elsewhere",),
            edits=(Edit("insert", 3, 3, 3, 5), Edit("replace", 7, 8, 9, 10)),
            objects=(ObjectCount("links", "http://a.example/x", 0, 2),),
        )
        given: dict[str, Any] = {
            "sentinel_id": 1, "subscription_id": 1, "page_id": 1, "revision": 1, "kind": "any", "from_seq": 1, "to_seq": 2,
            "rules_version": 3, "extraction": "all", "found": found, "summary": "2 words new \0", "quiet": False,
            "modified_at": None, "polled_at": self.at, "detected_at": self.at,
        }  # fmt: skip
        return ChangeRow(id=id, **(given | more))

    def news(self, change: ChangeRow, endpoint_id: int, body: bytes = b"news") -> dict[str, Any]:
        """Return the parts of a unit that report a change at once."""
        event = Event(
            type=EventType.CHANGE_FOUND,
            at=self.at,
            sentinel_id=change.sentinel_id,
            page_id=change.page_id,
            change_id=change.id,
        )
        draft = DeliveryDraft(
            endpoint_id=endpoint_id,
            sentinel_id=change.sentinel_id,
            content_type="application/json",
            body=body,
            due_at=self.at,
            events=(0,),
        )
        return {"changes": (change,), "events": (event,), "deliveries": (draft,)}

    def commit(self, *units: Unit) -> list[Committed]:
        """Commit units in one transaction."""
        return self.write(commit, units)

    def cursor(self, subscription_id: int = 1, **more: Any) -> CursorMove:
        """Return a cursor that has taken version 1."""
        given: dict[str, Any] = {"revision": 1, "base": 1, "taken": (1,)}
        return CursorMove(subscription_id=subscription_id, **(given | more))

    def endpoint(self) -> int:
        """Return the id of a webhook."""
        return self.write(endpoints.ensure, "webhook", "http://127.0.0.1/hook")

    def report_change(self, change: ChangeRow | None = None) -> Committed:
        """Watch page 1, store two versions and report the change between them."""
        change = change or self.change()
        self.watch()
        self.commit(self.make_stored(b"one"))
        unit = self.make_stored(b"two", **self.news(change, self.endpoint()), cursors=(self.cursor(taken=(2,)),))
        (committed,) = self.commit(unit)
        return committed

    def state(self, page_id: int = 1) -> PageState:
        """Return a page's state."""
        return self.read(pages.state, page_id)

    def open_polls(self) -> list[int]:
        """Return the ids of polls that were charged and not completed."""
        return [poll.id for poll in self.read(polls.open_polls)]

    def faults(self) -> list[str]:
        """Return which invariants do not hold."""
        return self.read(invariants.check, blob_bytes=lambda blob: blob.frame)
