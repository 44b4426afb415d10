"""The worth of a captured change, and how long it can be captured: Urgency and Life (000 §2.3).
Durations are µs.
"""

from __future__ import annotations

from typing import Final, Literal

from tidings.model.interval import Duration
from tidings.record import dataclass

WHOLE: Final = "default"
"""The total budget, from which all polls take, and the class of sentinels that name none: nothing
else limits them.
"""


def share_of(owner_id: int) -> str:
    """Return the class that pays for the checks of all sentinels of an owner who has a share."""
    return f"user-{owner_id}"


@dataclass(frozen=True, slots=True)
class Urgency:
    """The worth of a change by the delay t of its capture: `uniform` 1; `exponential` ½^(t/span),
    `span` the half-life (None: a day); `window` 1 up to `span`, then 0. A window of 0 is the
    scheduler's own instant.
    """

    mode: Literal["uniform", "exponential", "window"] = "exponential"
    span: Duration | None = None


@dataclass(frozen=True, slots=True)
class ChangeLife:
    """How long the information of a change stays on the page: `forever` (Unbounded-Append),
    `window` of `span` (Time-window-Append), `changes`: until that many further changes
    (Change-window-Append), `overwrite`: until the next one.
    """

    mode: Literal["forever", "overwrite", "window", "changes"] = "forever"
    span: Duration = 0
    changes: int = 0
