"""Events of other origin, what pages of noise are known by, and what else sentinels may say since."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what sentinels may say and what is learned of pages."""
    _sources()
    _laid_out()
    _hints()
    _remembered()
    _saturated()


def _saturated() -> None:
    """Keep whether a page looks different each time."""
    for name in ("differing", "differing_soon", "saturated_quiet"):
        op.add_column("page", sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    op.add_column("page", sa.Column("saturated_at", sa.BigInteger()))


def _remembered() -> None:
    """Keep what a subscription knows beside versions: headers, entries of feeds, what its selectors found; and what its changes are worth."""
    for name in ("remembered", "learned"):
        op.add_column("subscription", sa.Column(name, sa.Text(), server_default=sa.text("''"), nullable=False))


def _laid_out() -> None:
    """Find what stands in a feed without reading all deliveries."""
    columns = ["endpoint_id", "finished_at", "sentinel_id", "id"]
    op.create_index("ix_delivery_endpoint_id_finished_at_sentinel_id_id", "delivery", columns)


def _sources() -> None:
    """Keep the sources of events that pages do not bring, and which of these events were taken."""
    op.create_table(
        "event_source",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), sa.Identity(), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("name", "origin", "text")),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("checked_at", sa.BigInteger()),
        sa.Column("state", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("happened", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("happened_at", sa.BigInteger()),
        sa.Column("problem", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["owner.id"], name="fk_event_source_owner_id"),
        sa.PrimaryKeyConstraint("id", name="pk_event_source"),
        sa.UniqueConstraint("owner_id", "name", name="uq_event_source_owner_id_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "event_key",
        sa.Column("source_id", sa.BigInteger(), nullable=False),
        sa.Column("taken_key", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["event_source.id"], name="fk_event_key_source_id"),
        sa.PrimaryKeyConstraint("source_id", "taken_key", name="pk_event_key"),
    )
    op.create_index("ix_event_key_at", "event_key", ["at"])


def _hints() -> None:
    """Keep hints that wait for a look, what their sources are worth, which were taken, and what hubs were asked for."""
    op.create_table(
        "trust",
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("host", "kind", "state")),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("host", "kind", name="pk_trust"),
    )
    op.create_table(
        "hint",
        sa.Column("page_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("waiting", sa.Text(), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("state", sa.Text(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name="fk_hint_page_id"),
        sa.PrimaryKeyConstraint("page_id", "kind", name="pk_hint"),
    )
    op.create_table(
        "signal_key",
        sa.Column("taken_key", sa.Text(), nullable=False),
        sa.Column("pages", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("taken_key", name="pk_signal_key"),
    )
    op.create_index("ix_signal_key_at", "signal_key", ["at"])
    op.create_table(
        "websub",
        sa.Column("page_id", sa.BigInteger(), autoincrement=False, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("hub", "topic", "token", "state")),
        *(sa.Column(name, sa.BigInteger()) for name in ("asked_at", "until", "due_at")),
        sa.Column("attempts", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("problem", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["page.id"], name="fk_websub_page_id"),
        sa.PrimaryKeyConstraint("page_id", name="pk_websub"),
        sa.UniqueConstraint("token", name="uq_websub_token"),
    )
