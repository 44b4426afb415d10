"""What is needed so that nothing stops without a word."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Take the steps below in their order; each is one subject."""
    _problems()
    _receivers()
    _place()
    _hosts()


def _problems() -> None:
    """Store why a page's newest version cannot be compared; of pages with one version the log knows it."""
    op.add_column("page", sa.Column("problem", sa.Text(), server_default=sa.text("''"), nullable=False))
    connection = op.get_bind()
    first = sa.text(
        "SELECT e.page_id, e.data FROM event e JOIN page p ON p.id = e.page_id WHERE e.type = 'page.first' AND p.last_seq = 1 ORDER BY e.seq"
    )
    problems = {page_id: json.loads(data).get("problem", "") for page_id, data in connection.execute(first)}
    for page_id, problem in problems.items():
        if problem:
            given = {"problem": problem, "id": page_id}
            connection.execute(sa.text("UPDATE page SET problem = :problem WHERE id = :id"), given)


def _receivers() -> None:
    """Remember what an endpoint asked for, what its owner knows of it and which service it is, and which delivery lets nothing pass."""
    for name in ("held_until", "tried_at"):
        op.add_column("endpoint", sa.Column(name, sa.BigInteger()))
    op.add_column("endpoint", sa.Column("noticed", sa.SmallInteger(), server_default=sa.text("0"), nullable=False))
    op.add_column("endpoint", sa.Column("scheme", sa.Text(), server_default=sa.text("''"), nullable=False))
    op.add_column("delivery", sa.Column("holds", sa.SmallInteger(), server_default=sa.text("1"), nullable=False))


def _place() -> None:
    """Remember what tells the directory of this database from its copies."""
    op.add_column("instance", sa.Column("place", sa.Text(), server_default=sa.text("''"), nullable=False))


def _hosts() -> None:
    """Store since when a host is asked without validators, because its answers to conditional requests cannot be used."""
    op.add_column("host", sa.Column("unconditional_at", sa.BigInteger()))
