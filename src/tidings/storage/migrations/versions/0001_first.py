"""The first schema: every table of contracts.md §4."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _identity() -> sa.Column[Any]:
    return sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), sa.Identity(), nullable=False)


def upgrade() -> None:
    """Create all tables and their indexes."""
    op.create_table(
        "blob",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("base", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("height", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("frame", sa.LargeBinary(), nullable=True),
        sa.Column("file", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("sha256", name="pk_blob"),
    )
    op.create_index(
        "ix_blob_base",
        "blob",
        ["base"],
        unique=False,
        sqlite_where=sa.text("base <> ''"),
        postgresql_where=sa.text("base <> ''"),
    )
    op.create_table(
        "budget",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("rate_per_second", sa.Double(), nullable=False),
        sa.Column("burst", sa.Double(), nullable=False),
        sa.Column("level", sa.Double(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_budget"),
    )
    op.create_table(
        "garbage",
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("path", name="pk_garbage"),
    )
    op.create_table(
        "host",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("paused_until", sa.BigInteger(), nullable=True),
        sa.Column("failures", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("robots", sa.LargeBinary(), nullable=True),
        sa.Column("robots_status", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("robots_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_host"),
    )
    op.create_table(
        "instance",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("restore_epoch", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("hash_seed", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_instance"),
    )
    op.create_table(
        "lease",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("epoch", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("until", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_lease"),
    )
    op.create_table(
        "owner",
        _identity(),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_owner"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "secret",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_secret"),
    )
    op.create_table(
        "timer",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("ref", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.PrimaryKeyConstraint("kind", "ref", name="pk_timer"),
    )
    op.create_index("ix_timer_due_at", "timer", ["due_at"], unique=False)
    op.create_table(
        "endpoint",
        _identity(),
        sa.Column("owner_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("enabled", sa.SmallInteger(), server_default=sa.text("1"), nullable=False),
        sa.Column("failing_since", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["owner.id"], name="fk_endpoint_owner_id"),
        sa.PrimaryKeyConstraint("id", name="pk_endpoint"),
        sa.UniqueConstraint("owner_id", "kind", "address", name="uq_endpoint_owner_id_kind_address"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "event",
        sa.Column("owner_id", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("sentinel_id", sa.BigInteger(), nullable=True),
        sa.Column("page_id", sa.BigInteger(), nullable=True),
        sa.Column("change_id", sa.Text(), nullable=True),
        sa.Column("data", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["owner.id"], name="fk_event_owner_id"),
        sa.PrimaryKeyConstraint("owner_id", "seq", name="pk_event"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_event_change_id",
        "event",
        ["change_id"],
        unique=False,
        sqlite_where=sa.text("change_id IS NOT NULL"),
        postgresql_where=sa.text("change_id IS NOT NULL"),
    )
    op.create_table(
        "page",
        _identity(),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("given", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), server_default=sa.text("'GET'"), nullable=False),
        sa.Column("body_sha256", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("render", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("frames", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("headers", sa.Text(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("last_seq", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("body_size", sa.BigInteger(), server_default=sa.text("-1"), nullable=False),
        sa.Column("body_xxh3", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("text_digest", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("charset", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("title", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("final_url", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("etag", sa.LargeBinary(), nullable=True),
        sa.Column("last_modified", sa.LargeBinary(), nullable=True),
        sa.Column("polled_at", sa.BigInteger(), nullable=True),
        sa.Column("checked_at", sa.BigInteger(), nullable=True),
        sa.Column("changed_at", sa.BigInteger(), nullable=True),
        sa.Column("text_changed_at", sa.BigInteger(), nullable=True),
        sa.Column("health", sa.Text(), server_default=sa.text("'ok'"), nullable=False),
        sa.Column("kind", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("reason", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("failures", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("failing_since", sa.BigInteger(), nullable=True),
        sa.Column("retry_at", sa.BigInteger(), nullable=True),
        sa.Column("polls", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("changes", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("unconditional_in", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("honest_streak", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("audited_at", sa.BigInteger(), nullable=True),
        sa.Column("suspect_kind", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("suspect_sha256", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("suspect_at", sa.BigInteger(), nullable=True),
        sa.Column("moved_to", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["owner.id"], name="fk_page_owner_id"),
        sa.PrimaryKeyConstraint("id", name="pk_page"),
        sa.UniqueConstraint("key", name="uq_page_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_page_host", "page", ["host"], unique=False)
    op.create_table(
        "sentinel",
        _identity(),
        sa.Column("owner_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("dropped", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("revision", sa.BigInteger(), server_default=sa.text("1"), nullable=False),
        sa.Column("start_at", sa.BigInteger(), nullable=True),
        sa.Column("end_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("base_id", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["base_id"], ["sentinel.id"], name="fk_sentinel_base_id"),
        sa.ForeignKeyConstraint(["owner_id"], ["owner.id"], name="fk_sentinel_owner_id"),
        sa.PrimaryKeyConstraint("id", name="pk_sentinel"),
        sa.UniqueConstraint("owner_id", "name", "dropped", name="uq_sentinel_owner_id_name_dropped"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "delivery",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("endpoint_id", sa.BigInteger(), nullable=False),
        sa.Column("sentinel_id", sa.BigInteger(), nullable=False),
        sa.Column("first_seq", sa.BigInteger(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.Column("changes", sa.BigInteger(), server_default=sa.text("1"), nullable=False),
        sa.Column("subject", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("content_type", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("attempt", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.ForeignKeyConstraint(["endpoint_id"], ["endpoint.id"], name="fk_delivery_endpoint_id"),
        sa.ForeignKeyConstraint(["sentinel_id"], ["sentinel.id"], name="fk_delivery_sentinel_id"),
        sa.PrimaryKeyConstraint("id", name="pk_delivery"),
    )
    op.create_index("ix_delivery_created_at", "delivery", ["created_at"], unique=False)
    op.create_index("ix_delivery_sentinel_id", "delivery", ["sentinel_id"], unique=False)
    op.create_index(
        "ix_delivery_waiting",
        "delivery",
        ["due_at"],
        unique=False,
        sqlite_where=sa.text("status = 'waiting'"),
        postgresql_where=sa.text("status = 'waiting'"),
    )
    op.create_table(
        "estimate",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name="fk_estimate_page_id"),
        sa.PrimaryKeyConstraint("name", "page_id", name="pk_estimate"),
    )
    op.create_table(
        "page_member",
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["member_id"], ["page.id"], name="fk_page_member_member_id"),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name="fk_page_member_page_id"),
        sa.PrimaryKeyConstraint("page_id", "position", name="pk_page_member"),
    )
    op.create_table(
        "poll",
        _identity(),
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("charged_at", sa.BigInteger(), nullable=False),
        sa.Column("cost", sa.Double(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("budget", sa.Text(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("text_changed", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("status", sa.BigInteger(), nullable=True),
        sa.Column("kind", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("bytes", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("requests", sa.BigInteger(), server_default=sa.text("1"), nullable=False),
        sa.Column("note", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name="fk_poll_page_id"),
        sa.PrimaryKeyConstraint("id", name="pk_poll"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_poll_open",
        "poll",
        ["id"],
        unique=False,
        sqlite_where=sa.text("outcome IS NULL"),
        postgresql_where=sa.text("outcome IS NULL"),
    )
    op.create_index("ix_poll_page_id", "poll", ["page_id"], unique=False)
    op.create_table(
        "quarantine",
        _identity(),
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name="fk_quarantine_page_id"),
        sa.ForeignKeyConstraint(["sha256"], ["blob.sha256"], name="fk_quarantine_sha256"),
        sa.PrimaryKeyConstraint("id", name="pk_quarantine"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_quarantine_page_id", "quarantine", ["page_id"], unique=False)
    op.create_table(
        "request",
        _identity(),
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("asked_at", sa.BigInteger(), nullable=False),
        sa.Column("sentinel_id", sa.BigInteger(), nullable=True),
        sa.Column("poll_id", sa.BigInteger(), nullable=True),
        sa.Column("refused", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name="fk_request_page_id"),
        sa.ForeignKeyConstraint(["sentinel_id"], ["sentinel.id"], name="fk_request_sentinel_id"),
        sa.PrimaryKeyConstraint("id", name="pk_request"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_request_open",
        "request",
        ["id"],
        unique=False,
        sqlite_where=sa.text("poll_id IS NULL AND refused = ''"),
        postgresql_where=sa.text("poll_id IS NULL AND refused = ''"),
    )
    op.create_table(
        "rule_state",
        sa.Column("sentinel_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["sentinel_id"], ["sentinel.id"], name="fk_rule_state_sentinel_id"),
        sa.PrimaryKeyConstraint("sentinel_id", "name", name="pk_rule_state"),
    )
    op.create_table(
        "sentinel_revision",
        sa.Column("sentinel_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["sentinel_id"], ["sentinel.id"], name="fk_sentinel_revision_sentinel_id"),
        sa.PrimaryKeyConstraint("sentinel_id", "number", name="pk_sentinel_revision"),
    )
    op.create_table(
        "subscription",
        _identity(),
        sa.Column("sentinel_id", sa.BigInteger(), nullable=False),
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("label", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("revision", sa.BigInteger(), server_default=sa.text("1"), nullable=False),
        sa.Column("base", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("taken", sa.Text(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("next_tick", sa.BigInteger(), nullable=True),
        sa.Column("ticked_at", sa.BigInteger(), nullable=True),
        sa.Column("active", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name="fk_subscription_page_id"),
        sa.ForeignKeyConstraint(["sentinel_id"], ["sentinel.id"], name="fk_subscription_sentinel_id"),
        sa.PrimaryKeyConstraint("id", name="pk_subscription"),
        sa.UniqueConstraint("sentinel_id", "page_id", "label", name="uq_subscription_sentinel_id_page_id_label"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_subscription_page_id", "subscription", ["page_id"], unique=False)
    op.create_table(
        "tag",
        sa.Column("sentinel_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["sentinel_id"], ["sentinel.id"], name="fk_tag_sentinel_id"),
        sa.PrimaryKeyConstraint("sentinel_id", "name", name="pk_tag"),
    )
    op.create_index("ix_tag_name", "tag", ["name"], unique=False)
    op.create_table(
        "version",
        _identity(),
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("fetched_at", sa.BigInteger(), nullable=False),
        sa.Column("modified_at", sa.BigInteger(), nullable=True),
        sa.Column("charset", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("charset_source", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("content_type", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("title", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("final_url", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("status", sa.BigInteger(), server_default=sa.text("200"), nullable=False),
        sa.Column("headers", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("text_changed", sa.SmallInteger(), server_default=sa.text("1"), nullable=False),
        sa.Column("words", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name="fk_version_page_id"),
        sa.ForeignKeyConstraint(["sha256"], ["blob.sha256"], name="fk_version_sha256"),
        sa.PrimaryKeyConstraint("id", name="pk_version"),
        sa.UniqueConstraint("page_id", "seq", name="uq_version_page_id_seq"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_version_sha256", "version", ["sha256"], unique=False)
    op.create_table(
        "change",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("event_seq", sa.BigInteger(), nullable=True),
        sa.Column("sentinel_id", sa.BigInteger(), nullable=False),
        sa.Column("subscription_id", sa.BigInteger(), nullable=False),
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("from_seq", sa.BigInteger(), nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("rules_version", sa.BigInteger(), nullable=False),
        sa.Column("extraction", sa.Text(), nullable=False),
        sa.Column("quiet", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("modified_at", sa.BigInteger(), nullable=True),
        sa.Column("polled_at", sa.BigInteger(), nullable=False),
        sa.Column("detected_at", sa.BigInteger(), nullable=False),
        sa.Column("edits", sa.Text(), nullable=False),
        sa.Column("objects", sa.Text(), nullable=False),
        sa.Column("texts", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name="fk_change_page_id"),
        sa.ForeignKeyConstraint(["sentinel_id"], ["sentinel.id"], name="fk_change_sentinel_id"),
        sa.ForeignKeyConstraint(["subscription_id"], ["subscription.id"], name="fk_change_subscription_id"),
        sa.PrimaryKeyConstraint("id", name="pk_change"),
    )
    op.create_index("ix_change_detected_at", "change", ["detected_at"], unique=False)
    op.create_index("ix_change_page_id", "change", ["page_id"], unique=False)
    op.create_index("ix_change_sentinel_id_event_seq", "change", ["sentinel_id", "event_seq"], unique=False)
    op.create_table(
        "comparison",
        sa.Column("subscription_id", sa.BigInteger(), nullable=False),
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("from_seq", sa.BigInteger(), nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("attempt", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("reason", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name="fk_comparison_page_id"),
        sa.ForeignKeyConstraint(["subscription_id"], ["subscription.id"], name="fk_comparison_subscription_id"),
        sa.PrimaryKeyConstraint("subscription_id", "from_seq", "to_seq", "revision", name="pk_comparison"),
    )
    op.create_index(
        "ix_comparison_pending",
        "comparison",
        ["at"],
        unique=False,
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_table(
        "digest",
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("extraction", sa.Text(), nullable=False),
        sa.Column("rules_version", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("objects", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["version.id"], name="fk_digest_version_id"),
        sa.PrimaryKeyConstraint("version_id", "extraction", "rules_version", name="pk_digest"),
    )
    op.create_table(
        "version_member",
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["sha256"], ["blob.sha256"], name="fk_version_member_sha256"),
        sa.ForeignKeyConstraint(["version_id"], ["version.id"], name="fk_version_member_version_id"),
        sa.PrimaryKeyConstraint("version_id", "position", name="pk_version_member"),
    )
