"""Every table, as SQLAlchemy Core describes it: what migrations are compared with (contracts §4).

Imported when a database is created or migrated and by tests, never on the way of a query (docs/decisions/0013). Ids are BIGINT and
never come back (AUTOINCREMENT on SQLite), times are BIGINT microseconds since 1970 UTC, truths are SMALLINT 0 or 1, structures are
JSON in TEXT.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMING)

BigId = BigInteger().with_variant(Integer(), "sqlite")


def _identity() -> Column[Any]:
    return Column("id", BigId, Identity(), primary_key=True)


def _number(name: str, *, default: int | None = None, null: bool = False, refers: str | None = None) -> Column[Any]:
    extra = [ForeignKey(refers)] if refers else []
    return Column(
        name, BigInteger, *extra, nullable=null, server_default=None if default is None else text(str(default))
    )


def _flag(name: str, *, default: int) -> Column[Any]:
    return Column(name, SmallInteger, nullable=False, server_default=text(str(default)))


def _text(name: str, *, default: str | None = None, null: bool = False, refers: str | None = None) -> Column[Any]:
    extra = [ForeignKey(refers)] if refers else []
    return Column(name, Text, *extra, nullable=null, server_default=None if default is None else text(f"'{default}'"))


def _real(name: str) -> Column[Any]:
    return Column(name, Double, nullable=False)


def _bytes(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, LargeBinary, nullable=null)


def _table(name: str, *parts: Any) -> Table:
    return Table(
        name,
        metadata,
        *parts,
        sqlite_autoincrement=any(isinstance(part, Column) and part.name == "id" and part.identity for part in parts),
    )


def _partial(table: Table, name: str, *columns: str, where: str) -> None:
    Index(name, *(table.c[column] for column in columns), sqlite_where=text(where), postgresql_where=text(where))


owner = _table("owner", _identity(), _text("name"), _number("last_seq", default=0), _number("rules_seq", default=0))

instance = _table(
    "instance",
    Column("id", Text, primary_key=True),
    _number("restore_epoch", default=0),
    _number("hash_seed"),
    _number("created_at"),
    _text("place", default=""),
)

sentinel = _table(
    "sentinel",
    _identity(),
    _number("owner_id", refers="owner.id"),
    _text("name"),
    _number("dropped", default=0),
    _text("state"),
    _text("reason", default=""),
    _number("revision", default=1),
    _number("start_at", null=True),
    _number("end_at", null=True),
    _number("created_at"),
    _number("started_at", null=True),
    _number("ended_at", null=True),
    _number("base_id", null=True, refers="sentinel.id"),
    UniqueConstraint("owner_id", "name", "dropped"),
)

sentinel_revision = _table(
    "sentinel_revision",
    _number("sentinel_id", refers="sentinel.id"),
    _number("number"),
    _text("text"),
    _number("created_at"),
    PrimaryKeyConstraint("sentinel_id", "number"),
)

tag = _table(
    "tag",
    _number("sentinel_id", refers="sentinel.id"),
    _text("name"),
    PrimaryKeyConstraint("sentinel_id", "name"),
    Index(None, "name"),
)

tag_default = _table(
    "tag_default",
    _number("owner_id", refers="owner.id"),
    _text("tag"),
    _text("text"),
    PrimaryKeyConstraint("owner_id", "tag"),
)

page = _table(
    "page",
    _identity(),
    _text("key"),
    _text("url"),
    _text("given"),
    _text("host"),
    _text("method", default="GET"),
    _text("render", default=""),
    _number("frames", default=0),
    _text("headers", default="[]"),
    _number("owner_id", null=True, refers="owner.id"),
    _number("last_seq", default=0),
    _number("body_size", default=-1),
    _text("body_xxh3", default=""),
    _text("text_digest", default=""),
    _text("charset", default=""),
    _text("title", default=""),
    _text("final_url", default=""),
    _bytes("etag", null=True),
    _bytes("last_modified", null=True),
    _number("polled_at", null=True),
    _number("checked_at", null=True),
    _number("changed_at", null=True),
    _number("text_changed_at", null=True),
    _text("health", default="ok"),
    _text("kind", default=""),
    _text("reason", default=""),
    _number("failures", default=0),
    _number("failing_since", null=True),
    _number("retry_at", null=True),
    _number("polls", default=0),
    _number("changes", default=0),
    _number("unconditional_in", default=0),
    _number("honest_streak", default=0),
    _number("audited_at", null=True),
    _text("suspect_kind", default=""),
    _text("suspect_sha256", default=""),
    _number("suspect_at", null=True),
    _text("moved_to", default=""),
    _number("moved_at", null=True),
    _number("moved_sights", default=0),
    _text("body", default=""),
    _text("trust", default=""),
    _text("proxy", default=""),
    _number("fresh_until", null=True),
    _number("fresh_doubt", default=0),
    _number("collected", default=0),
    _number("differing", default=0),
    _number("differing_soon", default=0),
    _number("saturated_quiet", default=0),
    _number("saturated_at", null=True),
    _text("problem", default=""),
    UniqueConstraint("key"),
    Index(None, "host"),
)

page_member = _table(
    "page_member",
    _number("page_id", refers="page.id"),
    _number("position"),
    _number("member_id", refers="page.id"),
    _flag("told", default=0),
    PrimaryKeyConstraint("page_id", "position"),
)

host = _table(
    "host",
    Column("name", Text, primary_key=True),
    _number("started_at", null=True),
    _number("paused_until", null=True),
    _number("failures", default=0),
    _bytes("robots", null=True),
    _text("robots_status", default=""),
    _number("robots_at", null=True),
    _number("unconditional_at", null=True),
)

subscription = _table(
    "subscription",
    _identity(),
    _number("sentinel_id", refers="sentinel.id"),
    _number("page_id", refers="page.id"),
    _text("label", default=""),
    _number("revision", default=1),
    _number("base", default=0),
    _text("taken", default="[]"),
    _number("next_tick", null=True),
    _number("ticked_at", null=True),
    _flag("active", default=0),
    _text("missing", default=""),
    _number("number", default=0),
    _number("seen", default=0),
    _number("since", default=0),
    _number("paused", default=0),
    _number("altered_at", default=0),
    _number("left_at", null=True),
    _text("remembered", default=""),
    _text("learned", default=""),
    UniqueConstraint("sentinel_id", "page_id", "label"),
    Index(None, "page_id"),
)

blob = _table(
    "blob",
    Column("sha256", Text, primary_key=True),
    _number("size"),
    _text("base", default=""),
    _number("height", default=0),
    _bytes("frame", null=True),
    _text("file", null=True),
)
_partial(blob, "ix_blob_base", "base", where="base <> ''")

version = _table(
    "version",
    _identity(),
    _number("page_id", refers="page.id"),
    _number("seq"),
    _text("sha256", refers="blob.sha256"),
    _number("size"),
    _number("fetched_at"),
    _number("modified_at", null=True),
    _text("charset", default=""),
    _text("charset_source", default=""),
    _text("content_type", default=""),
    _text("title", default=""),
    _text("final_url", default=""),
    _number("status", default=200),
    _text("headers", default="{}"),
    _flag("text_changed", default=1),
    _number("words", default=0),
    _text("screenshot", default=""),
    _number("frames", default=0),
    UniqueConstraint("page_id", "seq"),
    Index(None, "sha256"),
)
_partial(version, "ix_version_screenshot", "screenshot", where="screenshot <> ''")

version_member = _table(
    "version_member",
    _number("version_id", refers="version.id"),
    _number("position"),
    _text("key"),
    _text("sha256", refers="blob.sha256"),
    _number("seq", default=0),
    PrimaryKeyConstraint("version_id", "position"),
    Index(None, "sha256"),
)

digest = _table(
    "digest",
    _number("version_id", refers="version.id"),
    _text("extraction"),
    _number("rules_version"),
    _text("text"),
    _text("objects", default="{}"),
    PrimaryKeyConstraint("version_id", "extraction", "rules_version"),
)

comparison = _table(
    "comparison",
    _number("subscription_id", refers="subscription.id"),
    _number("page_id", refers="page.id"),
    _number("from_seq"),
    _number("to_seq"),
    _number("revision"),
    _text("status"),
    _number("attempt", default=0),
    _text("reason", default=""),
    _number("at"),
    PrimaryKeyConstraint("subscription_id", "from_seq", "to_seq", "revision"),
)
_partial(comparison, "ix_comparison_pending", "at", where="status = 'pending'")

quarantine = _table(
    "quarantine",
    _identity(),
    _number("page_id", refers="page.id"),
    _number("at"),
    _text("kind"),
    _text("sha256", refers="blob.sha256"),
    _text("reason", default=""),
    Index(None, "page_id"),
)

change = _table(
    "change",
    Column("id", Text, primary_key=True),
    _number("event_seq", null=True),
    _number("sentinel_id", refers="sentinel.id"),
    _number("subscription_id", refers="subscription.id"),
    _number("page_id", refers="page.id"),
    _number("revision"),
    _text("kind"),
    _number("from_seq"),
    _number("to_seq"),
    _number("rules_version"),
    _text("extraction"),
    _flag("quiet", default=0),
    _number("modified_at", null=True),
    _number("polled_at"),
    _number("detected_at"),
    _text("edits"),
    _text("objects"),
    _text("texts"),
    Index(None, "sentinel_id", "event_seq"),
    Index(None, "page_id"),
    Index(None, "detected_at"),
)

event = Table(
    "event",
    metadata,
    _number("owner_id", refers="owner.id"),
    _number("seq"),
    _text("type"),
    _number("at"),
    _number("sentinel_id", null=True),
    _number("page_id", null=True),
    _text("change_id", null=True),
    _text("data", default="{}"),
    PrimaryKeyConstraint("owner_id", "seq"),
    sqlite_with_rowid=False,
)
_partial(event, "ix_event_change_id", "change_id", where="change_id IS NOT NULL")

event_source = _table(
    "event_source",
    _identity(),
    _number("owner_id", refers="owner.id"),
    _text("name"),
    _text("origin"),
    _text("text"),
    _number("created_at"),
    _number("due_at", null=True),
    _number("checked_at", null=True),
    _text("state", default="{}"),
    _number("happened", default=0),
    _number("happened_at", null=True),
    _text("problem", default=""),
    UniqueConstraint("owner_id", "name"),
)

event_key = _table(
    "event_key",
    _number("source_id", refers="event_source.id"),
    _text("taken_key"),
    _number("seq"),
    _number("at"),
    PrimaryKeyConstraint("source_id", "taken_key"),
    Index(None, "at"),
)

trust = _table(
    "trust",
    _text("host"),
    _text("kind"),
    _text("state"),
    _number("at"),
    PrimaryKeyConstraint("host", "kind"),
)

hint = _table(
    "hint",
    _number("page_id", refers="page.id"),
    _text("kind"),
    _text("waiting", default="[]"),
    _text("state", default="{}"),
    _number("at"),
    PrimaryKeyConstraint("page_id", "kind"),
)

signal_key = _table(
    "signal_key",
    Column("taken_key", Text, primary_key=True),
    _number("pages"),
    _number("at"),
    Index(None, "at"),
)

websub = _table(
    "websub",
    Column("page_id", BigInteger, ForeignKey("page.id"), primary_key=True, autoincrement=False),
    _text("hub"),
    _text("topic"),
    _text("token"),
    _text("state"),
    _number("asked_at", null=True),
    _number("until", null=True),
    _number("due_at", null=True),
    _number("attempts", default=0),
    _text("problem", default=""),
    UniqueConstraint("token"),
)

endpoint = _table(
    "endpoint",
    _identity(),
    _number("owner_id", refers="owner.id"),
    _text("kind"),
    _text("address"),
    _flag("enabled", default=1),
    _number("failing_since", null=True),
    _text("reason", default=""),
    _number("held_until", null=True),
    _number("tried_at", null=True),
    _flag("noticed", default=0),
    _text("scheme", default=""),
    UniqueConstraint("owner_id", "kind", "address"),
)

delivery = _table(
    "delivery",
    Column("id", Text, primary_key=True),
    _number("endpoint_id", refers="endpoint.id"),
    _number("sentinel_id", refers="sentinel.id"),
    _number("first_seq"),
    _number("last_seq"),
    _number("changes", default=1),
    _text("subject", default=""),
    _text("content_type"),
    _bytes("body"),
    _text("status"),
    _number("attempt", default=0),
    _number("due_at"),
    _number("created_at"),
    _number("finished_at", null=True),
    _text("error", default=""),
    _flag("holds", default=1),
    Index(None, "sentinel_id"),
    Index(None, "created_at"),
    Index(None, "endpoint_id", "finished_at", "sentinel_id", "id"),
)
_partial(delivery, "ix_delivery_waiting", "due_at", where="status = 'waiting'")

poll = _table(
    "poll",
    _identity(),
    _number("page_id", refers="page.id"),
    _number("epoch"),
    _number("charged_at"),
    _real("cost"),
    _text("reason"),
    _text("budget"),
    _number("finished_at", null=True),
    _text("outcome", null=True),
    _flag("text_changed", default=0),
    _number("status", null=True),
    _text("kind", default=""),
    _number("bytes", default=0),
    _number("requests", default=1),
    _text("note", default=""),
    Index(None, "page_id"),
)
_partial(poll, "ix_poll_open", "id", where="outcome IS NULL")

request = _table(
    "request",
    _identity(),
    _number("page_id", refers="page.id"),
    _number("asked_at"),
    _number("sentinel_id", null=True, refers="sentinel.id"),
    _number("poll_id", null=True),
    _text("refused", default=""),
)
_partial(request, "ix_request_open", "id", where="poll_id IS NULL AND refused = ''")

estimate = _table(
    "estimate",
    _text("name"),
    _number("page_id", refers="page.id"),
    _text("state"),
    _number("at"),
    PrimaryKeyConstraint("name", "page_id"),
)

timer = _table(
    "timer",
    _text("kind"),
    _number("ref"),
    _number("due_at"),
    _text("data", default="{}"),
    PrimaryKeyConstraint("kind", "ref"),
    Index(None, "due_at"),
)

rule_state = _table(
    "rule_state",
    _number("sentinel_id", refers="sentinel.id"),
    _text("name"),
    _text("state"),
    PrimaryKeyConstraint("sentinel_id", "name"),
)

budget = _table(
    "budget",
    Column("name", Text, primary_key=True),
    _real("rate_per_second"),
    _real("burst"),
    _real("level"),
    _number("at"),
)

secret = _table(
    "secret",
    _number("owner_id", refers="owner.id"),
    _text("name"),
    _text("kind", default="text"),
    _text("key_id", default=""),
    _text("value"),
    _number("set_at", default=0),
    PrimaryKeyConstraint("owner_id", "name"),
)

lease = _table(
    "lease",
    Column("name", Text, primary_key=True),
    _text("holder", default=""),
    _number("epoch", default=0),
    _number("until", default=0),
)

garbage = _table("garbage", Column("path", Text, primary_key=True), _number("at"))
