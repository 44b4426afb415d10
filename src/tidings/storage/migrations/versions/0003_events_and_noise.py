"""Events of other origin, what pages of noise are known by, and what else sentinels may say since."""

from __future__ import annotations

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what sentinels may say and what is learned of pages."""
