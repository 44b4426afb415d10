"""What is learned of the worth of a subscription's changes: the share that it reports, and how long
they live. It belongs to the subscription and is written with its cursor.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import xxhash

from tidings.document.select.extraction import WHOLE, extraction_of
from tidings.estimation.worth import Block, End, InterestShare, Survival
from tidings.model.watch.interest import Interest
from tidings.model.watch.sentinel import ChangeLife
from tidings.record import dataclass, replace
from tidings.service.show.records import spell_gap
from tidings.service.watch.subscription_memory import Remembered

if TYPE_CHECKING:
    from tidings.detection.job.contract import Examination
    from tidings.model.interval import Instant
    from tidings.model.observed.unit import ChangeRow, CursorMove
    from tidings.service.watch.watchlist import Subscription, WatchedPage


FOREVER: Final = ChangeLife("forever")


_EVERYTHING: Final = (Interest("any"), Interest("words"))


@dataclass(frozen=True, slots=True)
class LearnedWorth:
    """What is learned of one page's changes for one sentinel: the share it reports, and how long
    they stay (None: unknown, or for good).
    """

    interest: InterestShare = InterestShare()
    survival: Survival = Survival()
    life: ChangeLife | None = None

    @staticmethod
    def of(text: str) -> LearnedWorth:
        """Parse the stored text; unreadable text counts as no knowledge."""
        return _read(text) if text else _NOTHING

    @property
    def text(self) -> str:
        """Return the text to store."""
        said = {
            "reports": (self.interest.visible, self.interest.reported),
            "life": None if self.life is None else (self.life.mode, self.life.span, self.life.changes),
            "version": self.survival.version,
            "blocks": self.survival.blocks,
            "ends": self.survival.ends,
        }
        return json.dumps(said, separators=(",", ":"))


_NOTHING: Final = LearnedWorth()


@lru_cache(maxsize=512)
def _read(text: str) -> LearnedWorth:
    """Return the parsed text; cached, since each poll asks and it only changes with the page."""
    try:
        said = json.loads(text)
        blocks = tuple(Block(tuple(key), since, changes) for key, since, changes in said["blocks"])
        survival = Survival(blocks, tuple(End(*end) for end in said["ends"]), said["version"])
        return LearnedWorth(
            InterestShare(*said["reports"]), survival, ChangeLife(*said["life"]) if said["life"] else None
        )
    except (KeyError, TypeError, ValueError):
        return _NOTHING


def teach(
    cursors: Sequence[CursorMove],
    page: WatchedPage,
    found: Sequence[ChangeRow],
    seen: Examination | None,
    *,
    is_visible: bool,
    at: Instant,
) -> tuple[CursorMove, ...]:
    """Return cursors updated with what a poll teaches of the worth of changes.

    Args:
        cursors: The cursors that the poll moves.
        page: The page.
        found: The changes that it found.
        seen: What the job says of the body; None if none ran.
        is_visible: Whether the masked text changed.
        at: When the poll ended (µs).
    """
    return tuple(
        _teach(cursor, page.subscriptions[cursor.subscription_id], found, seen, is_visible=is_visible, at=at)
        for cursor in cursors
    )


def _teach(
    cursor: CursorMove,
    sub: Subscription,
    found: Sequence[ChangeRow],
    seen: Examination | None,
    *,
    is_visible: bool,
    at: Instant,
) -> CursorMove:
    own = [row for row in found if row.subscription_id == sub.row.id]
    marks = [mark for some in (seen.marks if seen is not None else ()) if some.key == sub.row.id for mark in some.marks]
    if not sub.is_on_change or not sub.row.taken or not (is_visible or own or marks):
        return cursor
    after = _after(LearnedWorth.of(sub.row.learned), sub, own, [*map(_number, marks)], is_visible=is_visible, at=at)
    return cursor if after is None else replace(cursor, learned=after.text)


def _after(
    before: LearnedWorth,
    sub: Subscription,
    own: Sequence[ChangeRow],
    marks: Sequence[int],
    *,
    is_visible: bool,
    at: Instant,
) -> LearnedWorth | None:
    """Return the knowledge after a poll that found these changes, None if it is unchanged."""
    interest, survival = before.interest, before.survival
    if is_visible and not tells_all(sub):
        interest = interest.after(reported=any(not row.noise for row in own))
    if marks:
        known = map(_number, Remembered.of(sub.row.remembered).marks)
        survival = survival.after_entries(marks, known=[*known], at=at)
    elif len(own) == 1 and own[0].found.edits:
        (row,) = own
        survival = survival.after_edits(row.found.edits, old=row.from_seq, new=row.to_seq, at=at, is_news=not row.noise)
    after = LearnedWorth(interest, survival, before.life if survival == before.survival else survival.life(at))
    return None if after == before else after


def relearn(sub: Subscription, found: Mapping[Instant, Sequence[ChangeRow]]) -> list[tuple[Instant, str]]:
    """Return the texts and the instants (µs) from which they held, for a subscription to which
    these polls with changed text brought these changes.

    For a feed, whose entries are not stored, it is the present text at all times.
    """
    now = LearnedWorth.of(sub.row.learned)
    if any(len(block.key) == 1 for block in now.survival.blocks):
        return [(0, sub.row.learned)]
    known, history = LearnedWorth(), [(0, "")]
    for at, own in sorted(found.items()):
        if (after := _after(known, sub, own, (), is_visible=True, at=at)) is not None:
            known = after
            history.append((at, known.text))
    return history


def _number(mark: str) -> int:
    return xxhash.xxh3_64_intdigest(mark.encode()) >> 11  # exact in every JSON parser


def tells_all(sub: Subscription) -> bool:
    """Return whether a sentinel reports every visible change of a page."""
    return extraction_of(sub.owner.sentinel) == WHOLE and any(
        asked.expression in _EVERYTHING and not asked.is_part for asked in sub.asked
    )


def spell(text: str) -> list[str]:
    """Return what is learned of a page's changes for a sentinel, in plain words; empty if
    nothing.
    """
    learned = LearnedWorth.of(text)
    said = []
    if learned.interest.visible:
        reported, visible = learned.interest.reported, learned.interest.visible
        said.append(f"reports {reported:,} of {visible:,} changes of this page")
    if learned.life is not None:
        said.append(f"new content stays {_stays(learned.life)}")
    return said


def _stays(life: ChangeLife) -> str:
    match life.mode:
        case "overwrite":
            return "until the next change"
        case "changes":
            return f"for about {life.changes} further ones"
        case "window":
            return f"for about {spell_gap(life.span)}"
    return "for good"


def record(text: str) -> dict[str, Any]:
    """Return the knowledge as a record for display."""
    learned = LearnedWorth.of(text)
    life = (
        None
        if learned.life is None
        else {
            "mode": learned.life.mode,
            "changes": learned.life.changes or None,
            "seconds": learned.life.span / 1e6 or None,
        }
    )
    return {"changes": learned.interest.visible, "reported": learned.interest.reported, "life": life}
