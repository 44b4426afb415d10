"""How a page is asked for beyond its address, what of it is kept, and how long its server says that it stays fresh."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def _text(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Text(), server_default=sa.text("''"), nullable=False)


def upgrade() -> None:
    """Add the columns; a body's hash gives way to the body, or to the name of the secret that holds it."""
    op.drop_column("page", "body_sha256")
    for name in ("body", "trust", "proxy"):
        op.add_column("page", _text(name))
    op.add_column("version", _text("screenshot"))
    op.add_column("subscription", _text("missing"))
    op.add_column("page", sa.Column("fresh_until", sa.BigInteger()))
    op.add_column("page", sa.Column("fresh_doubt", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    op.add_column("page", sa.Column("moved_at", sa.BigInteger()))
    op.add_column("page", sa.Column("moved_sights", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    _frames()
    _windows()
    _lives()
    _rules()
    _own_secrets()


def _frames() -> None:
    """Say of a version how many frames are part of it, of a member which version it is, of a frame whether people know that it fails."""
    op.add_column("version", sa.Column("frames", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    op.add_column("version_member", sa.Column("seq", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    op.add_column("page_member", sa.Column("told", sa.SmallInteger(), server_default=sa.text("0"), nullable=False))
    op.create_index("ix_version_member_sha256", "version_member", ["sha256"])


def _rules() -> None:
    """Say how far the rules of sentinels have followed the log of events: what was before them they have no need to hear."""
    op.add_column("owner", sa.Column("rules_seq", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    op.execute("UPDATE owner SET rules_seq = last_seq")


def _lives() -> None:
    """Say since when a subscription is as it is, after what pause, and when it was altered or left its page; give tags defaults."""
    for name in ("since", "paused", "altered_at"):
        op.add_column("subscription", sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    op.add_column("subscription", sa.Column("left_at", sa.BigInteger()))
    op.create_table(
        "tag_default",
        sa.Column("owner_id", sa.BigInteger(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["owner.id"], name="fk_tag_default_owner_id"),
        sa.PrimaryKeyConstraint("owner_id", "tag", name="pk_tag_default"),
    )


def _windows() -> None:
    """Count the versions that a subscription has taken, and say which was the newest (0: as `taken` says); and those that a page has let go."""
    for name in ("number", "seen"):
        op.add_column("subscription", sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    op.add_column("page", sa.Column("collected", sa.BigInteger(), server_default=sa.text("0"), nullable=False))
    named = sa.text("screenshot <> ''")
    op.create_index("ix_version_screenshot", "version", ["screenshot"], sqlite_where=named, postgresql_where=named)


def _own_secrets() -> None:
    """Give secrets an owner and a key; values from before stay readable and are sealed when the service next starts."""
    kept = op.get_bind().execute(sa.text("SELECT name, value FROM secret")).fetchall()
    op.drop_table("secret")
    table = op.create_table(
        "secret",
        sa.Column("owner_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), server_default=sa.text("'text'"), nullable=False),
        sa.Column("key_id", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("set_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["owner.id"], name="fk_secret_owner_id"),
        sa.PrimaryKeyConstraint("owner_id", "name", name="pk_secret"),
    )
    for name, value in kept:
        kind = "signing" if name == "webhook" else "text"
        op.execute(table.insert().values(owner_id=1, name=name, kind=kind, value=value))
