"""How a page is asked for beyond its address, and what of it is kept."""

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
