"""Worth of a page's changes to the sentinels that leave its rate to the policy, as population
columns (bid §5).

Weight is their importance times the share of the page's visible changes that they report; urgency
is as they state; the life of a change is as they state or as learned (`taught`) from earlier
changes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from tidings.model.watch.sentinel import ChangeLife, Urgency
from tidings.scheduling.population import HALF_LIFE, LifeKind, UrgencyKind
from tidings.service.plan.learned_worth import FOREVER, LearnedWorth, tells_all

if TYPE_CHECKING:
    from tidings.service.watch.watchlist import Subscription, WatchedPage


def weight(page: WatchedPage) -> float:
    """Return W, the weight of a page's changes to the sentinels that leave its rate to the policy.

    Each counts with its importance times the share of the page's visible changes that it reports;
    a collection also with what the page is worth to those who search.
    """
    return sum(
        s.owner.sentinel.importance
        * (1.0 if s.owner.sentinel.scope is None else page.worth)
        * (1.0 if tells_all(s) else LearnedWorth.of(s.row.learned).interest.share)
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
        match self.urgency_kind:
            case UrgencyKind.UNIFORM:
                return math.inf
            case UrgencyKind.EXPONENTIAL:
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
