"""The heartbeat bar: the checks of 30 days in 48 strokes, as one small picture of at most four
paths.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from tidings.clock import DAY
from tidings.storage.observed import polls
from tidings.storage.observed.polls import Beats
from tidings.web.markup.catalogue import say
from tidings.web.markup.spell import count

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.storage.db.connection import Connection

SLOTS: Final = 48
DAYS: Final = 30
SLOT: Final = DAYS * DAY // SLOTS
_STROKES: Final = {"hs": "7v4", "hc": "1v16", "hf": "1v6m0 4v6"}
NONE: Final = Beats({}, 0, 0, 0)


def read(c: Connection, page_ids: Collection[int], now: Instant) -> Mapping[int, Beats]:
    """Return the check results of the last 30 days, for each page that was checked."""
    return polls.beats(c, page_ids, since=now - DAYS * DAY, width=SLOT)


def merge(found: Collection[Beats]) -> Beats:
    """Return the merged beats of several pages."""
    slots: dict[int, str] = {}
    for beats in found:
        for slot, kind in beats.slots.items():
            if kind == "changed" or slot not in slots or (kind == "failed" and slots[slot] == "seen"):
                slots[slot] = kind
    return Beats(slots, sum(b.polls for b in found), sum(b.changes for b in found), sum(b.failures for b in found))


def picture(beats: Beats) -> Markup:
    """Return the bar; its label has the totals."""
    paths = {"hs": "", "hc": "", "hf": ""}
    for slot, kind in sorted(beats.slots.items()):
        if 0 <= slot < SLOTS:
            name = {"seen": "hs", "changed": "hc", "failed": "hf"}[kind]
            paths[name] += f"M{1 + 3 * slot} {_STROKES[name]}"
    said = say("{days} days: ", days=DAYS) + ", ".join(
        [
            count(beats.polls, "check"),
            count(beats.changes, "change"),
            *([say("{failures} failed", failures=f"{beats.failures:,}")] if beats.failures else []),
        ]
    )
    drawn = Markup("").join(
        Markup('<path class="{}" d="{}"/>').format(name, path) for name, path in paths.items() if path
    )
    return Markup('<svg class="beat" viewBox="0 0 144 18" role="img" aria-label="{}"><title>{}</title>{}</svg>').format(
        said, said, drawn
    )
