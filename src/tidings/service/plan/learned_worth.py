"""Taught: what looks teach of the worth of a page's changes to a sentinel: how many it cares for, and how long they stay (bid §5).

It belongs to the subscription, is written with its cursor in the unit of the look that taught it,
and goes when what is compared is altered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import xxhash

from tidings.document.select.extraction import WHOLE, extraction_of
from tidings.estimation.interest import InterestShare
from tidings.estimation.life import Block, End, Survival
from tidings.model.watch.interest import Interest
from tidings.model.watch.weight import ChangeLife
from tidings.record import dataclass, replace
from tidings.service.show.records import spell_gap
from tidings.service.watch.subscription_memory import Remembered

if TYPE_CHECKING:
    from tidings.detection.job.contract import Examination
    from tidings.model.interval import Instant
    from tidings.model.observed.unit import ChangeRow, CursorMove
    from tidings.service.watch.watchlist import Subscription, WatchedPage

_EVERYTHING: Final = (Interest("any"), Interest("words"))


@dataclass(frozen=True, slots=True)
class LearnedWorth:
    """What is learned of the changes of one page for one sentinel: how many it cares for, and how long they stay (None: not clear, or for good)."""

    interest: InterestShare = InterestShare()
    survival: Survival = Survival()
    life: ChangeLife | None = None

    @staticmethod
    def of(text: str) -> LearnedWorth:
        """Read what is stored; what cannot be read is as if nothing were known."""
        return _read(text) if text else _NOTHING

    @property
    def text(self) -> str:
        """Return it as it is stored."""
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
    """Return what a text says; it is asked for at each look, and is the same until the page changes."""
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
    """Return cursors with what a look has taught of what its changes are worth; `is_visible`: the page's masked text is another one."""
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
    """Return what is known after a check that found these changes, None if that is nothing new."""
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
    """Return from when on (µs) which text was stored, of a subscription to which these checks with another text brought these changes.

    Of a feed, whose entries are not stored, it is the text of now at all times.
    """
    now = LearnedWorth.of(sub.row.learned)
    if any(len(block.key) == 1 for block in now.survival.blocks):
        return [(0, sub.row.learned)]
    known, told = LearnedWorth(), [(0, "")]
    for at, own in sorted(found.items()):
        if (after := _after(known, sub, own, (), is_visible=True, at=at)) is not None:
            known = after
            told.append((at, known.text))
    return told


def _number(mark: str) -> int:
    return xxhash.xxh3_64_intdigest(mark.encode()) >> 11  # exact in every reader of JSON


def tells_all(sub: Subscription) -> bool:
    """Say whether a sentinel tells each visible change of a page: it has nothing to choose by."""
    return extraction_of(sub.owner.sentinel) == WHOLE and any(
        asked.expression in _EVERYTHING and not asked.is_part for asked in sub.asked
    )


def spell(text: str) -> list[str]:
    """Return what is learned for a sentinel of the changes of a page, in plain words; nothing where nothing is."""
    learned = LearnedWorth.of(text)
    said = []
    if learned.interest.visible:
        reported, visible = learned.interest.reported, learned.interest.visible
        said.append(f"reports {reported:,} of {visible:,} changes of this page")
    if learned.life is not None:
        said.append(f"what a change brings is there {_stays(learned.life)}")
    return said


def _stays(life: ChangeLife) -> str:
    match life.mode:
        case "overwrite":
            return "until the next one"
        case "changes":
            return f"for about {life.changes} further ones"
        case "window":
            return f"for about {spell_gap(life.span)}"
    return "for good"


def record(text: str) -> dict[str, Any]:
    """Return it as a record shows it."""
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
