"""What a page's changes are worth to the sentinels that leave its rate to the policy (bid §5), and
what is learned of it: the share of changes that a subscription reports, and how long they live.

Weight is a sentinel's importance times the share of the page's visible changes that it reports;
urgency is as it states; the life of a change is as it states or as learned from earlier changes.
What is learned belongs to the subscription and is written with its cursor.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import xxhash

from tidings.document.select.extraction import WHOLE, extraction_of
from tidings.estimation.worth import Block, End, InterestShare, Survival
from tidings.model.watch.interest import Interest
from tidings.model.watch.sentinel import ChangeLife, Urgency
from tidings.record import dataclass, replace
from tidings.service.show.records import spell_gap
from tidings.service.watch.subscription_memory import Remembered

if TYPE_CHECKING:
    from tidings.detection.job.contract import Examination
    from tidings.model.interval import Instant
    from tidings.model.observed.unit import ChangeRow, CursorMove
    from tidings.scheduling.population import LifeKind, UrgencyKind
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
        values = {
            "reports": (self.interest.visible, self.interest.reported),
            "life": None if self.life is None else (self.life.mode, self.life.span, self.life.changes),
            "version": self.survival.version,
            "blocks": self.survival.blocks,
            "ends": self.survival.ends,
        }
        return json.dumps(values, separators=(",", ":"))


_NOTHING: Final = LearnedWorth()


@lru_cache(maxsize=512)
def _read(text: str) -> LearnedWorth:
    """Return the parsed text; cached, since each poll asks and it only changes with the page."""
    try:
        values = json.loads(text)
        blocks = tuple(Block(tuple(key), since, changes) for key, since, changes in values["blocks"])
        survival = Survival(blocks, tuple(End(*end) for end in values["ends"]), values["version"])
        return LearnedWorth(
            InterestShare(*values["reports"]), survival, ChangeLife(*values["life"]) if values["life"] else None
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
    if is_visible and not reports_all(sub):
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


def reports_all(sub: Subscription) -> bool:
    """Return whether a sentinel reports every visible change of a page."""
    return extraction_of(sub.owner.sentinel) == WHOLE and any(
        asked.expression in _EVERYTHING and not asked.is_part for asked in sub.asked
    )


def spell(text: str) -> list[str]:
    """Return what is learned of a page's changes for a sentinel, in plain words; empty if
    nothing.
    """
    learned = LearnedWorth.of(text)
    parts = []
    if learned.interest.visible:
        reported, visible = learned.interest.reported, learned.interest.visible
        parts.append(f"reports {reported:,} of {visible:,} changes of this page")
    if learned.life is not None:
        parts.append(f"new content stays {_stays(learned.life)}")
    return parts


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


def weight(page: WatchedPage) -> float:
    """Return W, the weight of a page's changes to the sentinels that leave its rate to the policy.

    Each counts with its importance times the share of the page's visible changes that it reports;
    a collection also with what the page is worth to those who search.
    """
    return sum(
        s.owner.sentinel.importance
        * (1.0 if s.owner.sentinel.scope is None else page.worth)
        * (1.0 if reports_all(s) else LearnedWorth.of(s.row.learned).interest.share)
        for s in page.subscriptions.values()
        if s.is_on_change
    )


class Worth(NamedTuple):
    """How soon a change of a page is stale and how long it stays, as population columns."""

    urgency_kind: UrgencyKind
    urgency_scale: int
    life_kind: LifeKind
    life_scale: int

    @classmethod
    def of(cls, urgency: Urgency, life: ChangeLife) -> Worth:
        """Return the worth for an urgency and a life."""
        from tidings.scheduling.population import HALF_LIFE, LifeKind, UrgencyKind  # they load numpy

        half_life = HALF_LIFE if urgency.mode == "exponential" else 0
        return cls(
            UrgencyKind[urgency.mode.upper()],
            half_life if urgency.span is None else urgency.span,
            LifeKind[life.mode.upper()],
            life.changes if life.mode == "changes" else life.span,
        )

    @property
    def patience(self) -> float:
        """Return the longest delay that a change can bear, µs: the area under its urgency (∞ if
        uniform).
        """
        match self.urgency_kind.name:
            case "UNIFORM":
                return math.inf
            case "EXPONENTIAL":
                return self.urgency_scale / math.log(2)
        return self.urgency_scale


def worth(page: WatchedPage) -> Worth:
    """Return the worth of a change of a page to the sentinels that leave its rate to the policy.

    Taken from one sentinel, since urgency and life are one application's (000 §2.3): the most
    important; among equals the least patient, then the one whose changes live shortest.
    """
    first, *others = [s for s in page.subscriptions.values() if s.is_on_change]
    if not others:
        return _wish(first)
    most = max(sub.owner.sentinel.importance for sub in (first, *others))
    wishes = [_wish(sub) for sub in (first, *others) if sub.owner.sentinel.importance == most]
    return min(wishes, key=lambda wish: (wish.patience, -wish.life_kind, wish.life_scale))


def _wish(sub: Subscription) -> Worth:
    sentinel = sub.owner.sentinel
    life = sentinel.life if sentinel.life is not None else LearnedWorth.of(sub.row.learned).life
    return Worth.of(sentinel.urgency, life or FOREVER)
