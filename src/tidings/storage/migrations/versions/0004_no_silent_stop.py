"""What is needed so that nothing stops without a word."""

from __future__ import annotations

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Take the steps below in their order; each is one subject."""
