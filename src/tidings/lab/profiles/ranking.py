"""The policies of the paper and one that looks at all that a probe would serve (001 §4.2; scheduling §2.1, §2.4).

Each says of an open interval of a CEI how good it is to capture it now: the more the better. Ties go to the earlier deadline, then to the
CEI that was named first: without the deadlines Proposition 2 is false (scheduling §2.1).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from tidings.lab.profiles.cei import Cei, Interval
from tidings.record import dataclass


@dataclass(slots=True)
class Standing:
    """What has become of a CEI so far."""

    number: int
    cei: Cei
    open: list[Interval]
    captured: int = 0

    @property
    def residual(self) -> int:
        """Return how many intervals are still to be captured."""
        return max(0, self.cei.threshold - self.captured)

    @property
    def is_served(self) -> bool:
        """Say whether nothing more can be earned here."""
        return not self.open if self.cei.additive else self.residual == 0

    def is_alive(self, now: int) -> bool:
        """Say whether it can still be captured."""
        left = sum(interval.end >= now for interval in self.open)
        return left > 0 if self.cei.additive else left >= self.residual


class Ranking(Protocol):
    """How good it is to capture one open interval now."""

    @property
    def sums(self) -> bool:
        """Say whether a resource is as good as all its open intervals together, or as the best of them."""
        ...

    def score(self, standing: Standing, interval: Interval, now: int) -> float:
        """Return the score; the highest is probed first."""
        ...


@dataclass(frozen=True, slots=True)
class SEdf:
    """The earliest deadline first: f − T + 1 chronons left (S-EDF)."""

    sums: bool = False

    def score(self, standing: Standing, interval: Interval, now: int) -> float:  # noqa: ARG002 - one interval is all it sees
        """Return the chronons left, negated."""
        return -float(interval.end - now + 1)


@dataclass(frozen=True, slots=True)
class Mrsf:
    """The least number of intervals left first (MRSF). `by_profile` takes the rank of the profile, as printed, for |η|: it makes small
    CEIs of large profiles wait.
    """

    by_profile: bool = False
    sums: bool = False

    def score(self, standing: Standing, interval: Interval, now: int) -> float:  # noqa: ARG002 - it sees no time
        """Return the number of intervals left, negated."""
        if self.by_profile and standing.cei.rank is not None:
            return -float(standing.cei.rank - standing.captured)
        return -float(standing.residual)


@dataclass(frozen=True, slots=True)
class MEdf:
    """The least time left in all its intervals first (M-EDF): Σ f' − max(T, s') + 1, those to come with their full length."""

    sums: bool = False

    def score(self, standing: Standing, interval: Interval, now: int) -> float:  # noqa: ARG002 - it sees the whole CEI
        """Return the chronons left, of the shortest intervals that suffice, negated."""
        left = sorted(other.end - max(now, other.start) + 1 for other in standing.open if other.end >= now)
        return -float(sum(left[: max(standing.residual, 1)]))


@dataclass(frozen=True, slots=True)
class Aggregate:
    """All that a probe would serve: Σ w / (residual² · slack^urgency) over the open intervals of a resource (scheduling §2.4).

    `urgency` 1 is for overload; the higher, the more it is like S-EDF, which wins where nearly all can be served.
    """

    urgency: float = 1.0
    sums: bool = True

    def score(self, standing: Standing, interval: Interval, now: int) -> float:
        """Return what one interval adds."""
        slack: float = float(interval.end - now + 1) ** self.urgency
        if standing.cei.additive:
            return standing.cei.weight / len(standing.cei.intervals) / slack
        return standing.cei.weight / (standing.residual**2 * slack)


def urgency_at(load: float) -> float:
    """Return how much `Aggregate` should heed deadlines at a load (intervals asked for per probe there is): the less load, the more."""
    return 1.0 if load >= 1 else min(1.0 / max(load, 0.05), 8.0)


def by_resource(
    candidates: Iterable[tuple[Standing, Interval]], ranking: Ranking, now: int
) -> list[tuple[tuple[float, int, int], int]]:
    """Return resources with what decides between them, the best first."""
    best: dict[int, tuple[float, int, int]] = {}
    for standing, interval in candidates:
        score = ranking.score(standing, interval, now)
        found = (-score, interval.end, standing.number)
        known = best.get(interval.resource)
        if known is None:
            best[interval.resource] = found
        elif ranking.sums:
            best[interval.resource] = (known[0] + found[0], *min(known[1:], found[1:]))
        else:
            best[interval.resource] = min(known, found)
    return sorted((decides, resource) for resource, decides in best.items())
