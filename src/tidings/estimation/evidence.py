"""Trust in others: headers that date a change, and hints that something may have changed
(scheduling §6, §7).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tidings.record import dataclass, replace

TRUSTED = 0.02
"""Dates are exact evidence if both their error rates are below this."""
MEMORY = 200.0
"""How many polls each error rate remembers: a source that begins to lie is detected by the fourth
lie, however long it was honest.
"""


@dataclass(frozen=True, slots=True)
class Dates:
    """Counts of a host's Last-Modified dates: how often they moved with the content and stood still
    without, and how often not.
    """

    moved_with: float = 0.0
    moved_alone: float = 0.0
    still_with: float = 0.0
    still_alone: float = 0.0

    def observe(self, *, date_moved: bool, content_moved: bool) -> Dates:
        """Return the counts after a poll."""
        if content_moved:
            left = _compute_left_share(self.moved_with + self.still_alone)
            return replace(
                self,
                moved_with=self.moved_with * left + date_moved,
                still_alone=self.still_alone * left + (not date_moved),
            )
        left = _compute_left_share(self.moved_alone + self.still_with)
        return replace(
            self, moved_alone=self.moved_alone * left + date_moved, still_with=self.still_with * left + (not date_moved)
        )

    @property
    def false_alarm(self) -> float:
        """Return the probability that the date moves though nothing changed: the mean of a Beta(1,
        1) posterior.
        """
        return (self.moved_alone + 1) / (self.moved_alone + self.still_with + 2)

    @property
    def miss(self) -> float:
        """Return the probability that the date stands still though something changed."""
        return (self.still_alone + 1) / (self.still_alone + self.moved_with + 2)

    @property
    def are_exact(self) -> bool:
        """Return whether dates count as exact instants of change."""
        return self.false_alarm < TRUSTED and self.miss < TRUSTED


def _compute_left_share(known: float) -> float:
    """Return the factor by which old counts shrink at the next poll, so that about `MEMORY` polls
    count.
    """
    return min(1.0, (MEMORY - 1) / known) if known > 0 else 1.0


@dataclass(frozen=True, slots=True)
class Hints:
    """Signals of change: the share of changes that they report (`recall`), and the rate of false
    ones (`noise`, per unit of time).
    """

    recall: float
    noise: float

    def fresh(self, rate: float, gap: float, signals: int) -> float:
        """Return the probability that a page of this rate is unchanged after a gap with so many
        signals: e^{−αt}(ν/γ)^n.
        """
        missed, announced = rate * (1 - self.recall), rate * self.recall + self.noise
        return math.exp(-missed * gap) * (self.noise / announced if announced else 1.0) ** signals

    def effective_age(self, rate: float, gap: float, signals: int) -> float:
        """Return the age at which a page without signals would be as stale: −ln P/rate. A hint is
        weighed, never obeyed (scheduling §6).
        """
        return (1 - self.recall) * gap + (signals * self.extra_age(rate) if signals else 0.0)

    def extra_age(self, rate: float) -> float:
        """Return by how much each signal makes a page of this rate older: ln(γ/ν)/rate, which goes
        to ρ/ν for rates toward 0.
        """
        if not self.recall:
            return 0.0
        if not self.noise:
            return math.inf
        doubt = rate * self.recall / self.noise
        return self.recall / self.noise * (math.log1p(doubt) / doubt if doubt > 0 else 1.0)

    def genuine(self, rate: float) -> float:
        """Return the probability that a signal is a true one, before any poll: Δρ/γ."""
        announced = rate * self.recall
        return announced / (announced + self.noise) if announced else 0.0


@dataclass(frozen=True, slots=True)
class Trust:
    """What polls have shown of a source of hints: changes that it `announced` and `missed`, hints
    without a change (`false`), and in how many `days` of pages. These are expected numbers
    (`judge`), not necessarily whole.
    """

    announced: float = 0.0
    missed: float = 0.0
    false: float = 0.0
    days: float = 0.0

    @property
    def hints(self) -> Hints:
        """Return the estimated recall and noise: the recall's mean under a Beta(1, 1), and a prior
        of one false hint a day that weighs a day.
        """
        return Hints(self._recall, (self.false + 1) / (self.days + 1))

    def on(self, page: Trust) -> Hints:
        """Return the estimate for one page with the counts `page`: the noise is the page's own as
        far as it is known.
        """
        usual = self.hints
        return Hints(usual.recall, (page.false + 1) / (page.days + 1 / usual.noise))

    @property
    def sure(self) -> float:
        """Return a lower bound of the recall, two deviations below the mean: the value of the
        source's silence.
        """
        known = self.announced + self.missed + 2
        return max(0.0, self._recall - 2 * math.sqrt(self._recall * (1 - self._recall) / (known + 1)))

    @property
    def _recall(self) -> float:
        return (self.announced + 1) / (self.announced + self.missed + 2)

    def add(self, *, announced: float, missed: float, false: float, days: float) -> Trust:
        """Return the counts after a poll.

        Args:
            announced: Changes preceded by a hint.
            missed: Changes without one.
            false: Hints without a change.
            days: The time that passed.
        """
        return Trust(self.announced + announced, self.missed + missed, self.false + false, self.days + days)

    def fade(self, elapsed: float, half_life: float) -> Trust:
        """Return the counts after a time: they halve every `half_life`."""
        left = 0.5 ** (max(elapsed, 0.0) / half_life)
        return Trust(self.announced * left, self.missed * left, self.false * left, self.days * left)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a poll shows of the time before it: the expected number of changes, and how many each
    source reported.
    """

    changes: float
    announced: tuple[float, ...]


def judge(rate: float, gap: float, sources: Sequence[tuple[Hints, int]], *, changed: bool) -> Verdict:
    """Return what a poll after `gap` shows, before which each source had given so many hints.

    Without a change, all hints were false. Else each hint was genuine with its prior probability,
    over the probability that anything changed at all: P(genuine | changed) = w/(1 − P(fresh)); so
    of the unreported changes, α·gap/(1 − P(fresh)). It is the expectation step of an EM for Δ, ρ
    and ν. Sources may report the same change: the largest number counts.

    Args:
        rate: Changes a day.
        gap: Days since the poll before.
        sources: Each source's estimate, and how many hints it gave.
        changed: Whether the poll found a change.
    """
    if not changed:
        return Verdict(0.0, (0.0,) * len(sources))
    unreported = rate * gap * math.prod(1 - hints.recall for hints, _ in sources)
    genuine = [hints.genuine(rate) for hints, _ in sources]
    stale = unreported - sum(n * math.log1p(-min(w, 1 - 1e-12)) for w, (_, n) in zip(genuine, sources, strict=True))
    if stale <= 0:
        return Verdict(1.0, (0.0,) * len(sources))
    has_changed = -math.expm1(-stale)
    announced = tuple(w * n / has_changed for w, (_, n) in zip(genuine, sources, strict=True))
    return Verdict(unreported / has_changed + max(announced, default=0.0), announced)
