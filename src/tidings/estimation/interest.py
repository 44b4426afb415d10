"""The share of a page's visible changes that a sentinel reports (bid §5): a keyword sentinel
reports few of them.
"""

from __future__ import annotations

from typing import Final

from tidings.record import dataclass

LEAST: Final = 0.2
"""The lowest assumed share: a sentinel that has reported nothing yet may be waiting for just
that.
"""


@dataclass(frozen=True, slots=True)
class InterestShare:
    """Counts of the visible changes of a page while a sentinel watched it, and of those that it
    reported.
    """

    visible: int = 0
    reported: int = 0

    def after(self, *, reported: bool) -> InterestShare:
        """Return the counts after one more visible change."""
        return InterestShare(self.visible + 1, self.reported + reported)

    @property
    def share(self) -> float:
        """Return P(report | visible change): the mean of a Beta(1, 1) posterior, `LEAST` at least."""
        return max(LEAST, (self.reported + 1) / (self.visible + 2))
