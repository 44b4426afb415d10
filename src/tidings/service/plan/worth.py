"""Worth: what a change of a page is worth to those who leave its rate to the policy, in the terms of a population's columns (bid §5).

How much it matters to them is what their sentinels say, times how many of the page's visible changes they care for; how soon it is stale is
what they say; how long it stays on the page is what they say, or what was `taught` by the changes before.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from tidings.model.watch.weight import ChangeLife, Urgency
from tidings.scheduling.population import HALF_LIFE, LifeKind, UrgencyKind
from tidings.service.plan.learned_worth import LearnedWorth, tells_all

if TYPE_CHECKING:
    from tidings.service.watch.watchlist import Subscription, WatchedPage

FOREVER: Final = ChangeLife("forever")


def weight(page: WatchedPage) -> float:
    """Return W: how much the changes of a page matter to those who leave its rate to the policy, all sentinels taken together.

    Each counts with its importance times the share of the page's visible changes that it reports.
    """
    return sum(
        s.owner.sentinel.importance * (1.0 if tells_all(s) else LearnedWorth.of(s.row.learned).interest.share)
        for s in page.subscriptions.values()
        if s.is_on_change
    )


class Worth(NamedTuple):
    """How soon a change of a page is stale and how long it stays, in the terms of a population's columns."""

    urgency_kind: UrgencyKind
    urgency_scale: int
    life_kind: LifeKind
    life_scale: int

    @classmethod
    def of(cls, urgency: Urgency, life: ChangeLife) -> Worth:
        """Return what an Urgency and a Life say."""
        half_life = HALF_LIFE if urgency.mode == "exponential" else 0
        return cls(
            UrgencyKind[urgency.mode.upper()],
            half_life if urgency.span is None else urgency.span,
            LifeKind[life.mode.upper()],
            life.changes if life.mode == "changes" else life.span,
        )

    @property
    def patience(self) -> float:
        """Return the longest delay that a change can bear, µs: the area under its urgency (∞ where it is uniform)."""
        match self.urgency_kind:
            case UrgencyKind.UNIFORM:
                return math.inf
            case UrgencyKind.EXPONENTIAL:
                return self.urgency_scale / math.log(2)
        return self.urgency_scale


def worth(page: WatchedPage) -> Worth:
    """Return what a change of a page is worth to those who leave its rate to the policy.

    The wishes of one sentinel, taken together, since urgency and life are one application's (000 §2.3): of the most important; among
    equals of the least patient, then of the one whose changes live shortest.
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
