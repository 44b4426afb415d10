"""When in the week the pages of a host change, learned beside their rates (scheduling §7).

A host gets a profile once enough changes were found on its pages, over a week at least; it is
recomputed once a day, and old weeks fade. Without one, hours are ignored: a wrong profile costs
more than none. With one, rates are learned in operational time: a quiet night is no evidence that a
page that changes by day is slow.

A profile has mean 1. Operational time is its integral: an hour with twice the usual changes lasts
two. Instants are µs since 1970 UTC; the week begins on Thursday 00:00 UTC, as that epoch does.
Summer time blurs the profile of a host that observes it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.estimation.learner import NEVER_SEEN, Floats, GammaLearner, Instants, KnownRates, Mask, Rows, Spent
from tidings.model.interval import DAY, HOUR, WEEK
from tidings.record import dataclass, replace

HOURS = 168
_STRENGTH = 50.0
"""How many changes the profile that counts are shrunk to weighs."""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """168 weights of mean 1, one per hour."""

    weights: Floats
    _until: Floats = field(repr=False)

    @classmethod
    def of(cls, weights: ArrayLike) -> Profile:
        """Return the profile with these weights, scaled to mean 1. Raise ValueError unless they are
        168, finite, above 0.
        """
        w = np.asarray(weights, dtype=np.float64)
        if w.shape != (HOURS,) or not np.isfinite(w).all() or not (w > 0).all():
            message = "a profile has 168 finite weights above 0"
            raise ValueError(message)
        w = w / w.mean()
        return cls(w, np.concatenate([[0.0], np.cumsum(w)]) * HOUR)

    @classmethod
    def flat(cls) -> Profile:
        """Return the uniform profile."""
        return cls.of(np.ones(HOURS))

    def clock(self, instants: ArrayLike) -> Floats:
        """Return operational instants (µs): differences are operational durations."""
        at = np.asarray(instants, dtype=np.int64)
        weeks, within = np.divmod(at, WEEK)
        hour, rest = np.divmod(within, HOUR)
        return np.asarray(weeks * float(WEEK) + self._until[hour] + self.weights[hour] * rest)

    def measure_elapsed(self, begin: ArrayLike, end: ArrayLike) -> Floats:
        """Return how much operational time (µs) lies between instants."""
        return np.asarray(self.clock(end) - self.clock(begin))


@dataclass(frozen=True, slots=True, eq=False)
class HourCounts:
    """Counts by hour for a class of pages: changes found in each, and observed page-time
    (hours).
    """

    changes: Floats
    exposure: Floats

    @classmethod
    def none(cls) -> HourCounts:
        """Return empty counts."""
        return cls(np.zeros(HOURS), np.zeros(HOURS))

    def add(self, begin: int, end: int, changed: float, profile: Profile) -> HourCounts:
        """Return the counts after a poll at `end` that covers the time since `begin`.

        A change is distributed over the hours as `profile` so far expects (one EM step per poll).
        More than four weeks say nothing about hours and are left out.

        Args:
            begin: When the time begins (µs).
            end: When the poll was made (µs).
            changed: The probability that it found a change, from 0 to 1.
            profile: The profile so far.
        """
        if end <= begin or end - begin > 4 * WEEK:
            return self
        covered = _measure_cover(begin, end)
        likely = covered * profile.weights
        return HourCounts(self.changes + changed * likely / likely.sum(), self.exposure + covered)

    def profile(self, base: Profile) -> Profile:
        """Return the profile of these counts, smoothed over neighbouring hours and shrunk to
        `base`, which weighs `_STRENGTH` changes.
        """
        total, time = self.changes.sum(), self.exposure.sum()
        if not total or not time:
            return base
        expected = self.exposure * total / time + _STRENGTH / HOURS
        found = self.changes + _STRENGTH / HOURS * base.weights
        return Profile.of(_smooth(found) / _smooth(expected))


def _measure_cover(begin: int, end: int) -> Floats:
    """Return how many hours of each hour of the week lie in a period."""
    weeks, rest = divmod(end - begin, WEEK)
    hours = np.full(HOURS, float(weeks))
    first, last = begin % WEEK, begin % WEEK + rest
    edges = np.arange(2 * HOURS + 1) * float(HOUR)
    within = np.clip(np.minimum(edges[1:], last) - np.maximum(edges[:-1], first), 0, None) / HOUR
    return np.asarray(hours + within[:HOURS] + within[HOURS:])


def _smooth(values: Floats) -> Floats:
    return np.asarray((np.roll(values, 1) + 2 * values + np.roll(values, -1)) / 4)


FADES: Final = 0.99
"""The daily decay of a host's counts: half after ten weeks."""
MOST_HOSTS: Final = 2_000
"""The number of hosts whose hours are counted at a time (some 3 kB each)."""


@dataclass(frozen=True, slots=True, eq=False)
class Hourly:
    """The learned rates; the counts by hour of hosts, by number; the profiles, the profile of each
    page (−1: none), and when they were computed.
    """

    rates: KnownRates
    counts: Mapping[int, HourCounts]
    profiles: Floats
    which: NDArray[np.int64]
    made_at: int


@dataclass(frozen=True, slots=True)
class HourlyLearner:
    """Learns both. A host gets a profile from `changes` found in `hours` of page-time on."""

    gamma: GammaLearner = field(default_factory=GammaLearner)
    changes: float = 30.0
    hours: float = 168.0

    def begin(self, hosts: NDArray[np.int64]) -> Hourly:
        """Return the knowledge of pages that were never polled."""
        return Hourly(self.gamma.begin(hosts), {}, np.empty((0, HOURS)), _none(len(hosts)), NEVER_SEEN)

    def rates(self, known: Hourly, rows: Rows | slice = slice(None)) -> Floats:
        """Return the assumed rate of each page, changes a day."""
        return self.gamma.rates(known.rates, rows)

    def chances(self, known: Hourly, rows: Rows, days: Floats) -> Floats:
        """Return the probability that each page changes within so many days, whatever the hour."""
        return self.gamma.chances(known.rates, rows, days)

    def profiles(self, known: Hourly) -> tuple[Floats, NDArray[np.int64]]:
        """Return the profiles, 168 weights of mean 1 each, and the profile of each page, −1 for
        none.
        """
        return known.profiles, known.which

    def observe(
        self,
        known: Hourly,
        rows: Rows,
        at: Instants,
        changed: Mask,
        modified_at: Instants,
        interrupted: Mask,
        changes: Floats | None = None,
    ) -> Hourly:
        """Return the knowledge after polls of `rows`, each page once; see
        `GammaLearner.observe`.

        Args:
            known: The knowledge before.
            at: When each page was polled (µs).
            changed: Whether the poll found a change.
            modified_at: The trusted instant of the last change (µs), `NEVER_SEEN` if there is none.
            interrupted: Whether the time before was no interval.
            changes: How many changes there were, nan if unknown; None for all.
        """
        last = known.rates.seen[rows]
        is_known = (last != NEVER_SEEN) & ~interrupted & (at > last)
        counts = dict(known.counts)
        for row, begin, end, found in zip(
            rows[is_known].tolist(),
            last[is_known].tolist(),
            at[is_known].tolist(),
            changed[is_known].tolist(),
            strict=True,
        ):
            host = int(known.rates.hosts[row])
            if host in counts or (found and len(counts) < MOST_HOSTS):
                number = int(known.which[row])
                profile = Profile.flat() if number < 0 else Profile.of(known.profiles[number])
                counts[host] = counts.get(host, HourCounts.none()).add(begin, end, float(found), profile)
        rates = self.gamma.observe(
            known.rates, rows, at, changed, modified_at, interrupted, changes, spent=self._measure_time(known, rows)
        )
        after = replace(known, rates=rates, counts=counts)
        latest = int(at.max(initial=NEVER_SEEN))
        if latest == NEVER_SEEN or (known.made_at != NEVER_SEEN and latest - known.made_at < DAY):
            return after
        return self._make(after, latest)

    @staticmethod
    def _measure_time(known: Hourly, rows: Rows) -> Spent:
        """Return a function for the operational time (days) passed at each of some pages; calendar
        time if a page has no profile.
        """
        which = known.which[rows]

        def measure_spent(begin: Instants, end: Instants) -> Floats:
            days = (end - begin) / DAY
            for number in np.unique(which[which >= 0]).tolist():
                here = which == number
                days[here] = Profile.of(known.profiles[number]).measure_elapsed(begin[here], end[here]) / DAY
            return days

        return measure_spent

    def fit(self, known: Hourly, now: int) -> Hourly | None:
        """Return the knowledge with recomputed priors, None while that is not due."""
        rates = self.gamma.fit(known.rates, now)
        return None if rates is None else replace(known, rates=rates)

    def arrange(self, known: Hourly, rows: Rows, hosts: NDArray[np.int64]) -> Hourly:
        """Return the knowledge of other pages: those at `rows` of the old ones (−1: a new one, with
        the profile of its host).
        """
        rates = self.gamma.arrange(known.rates, rows, hosts)
        of_host = dict(zip(known.rates.hosts.tolist(), known.which.tolist(), strict=True))
        which = np.array([of_host.get(host, -1) for host in hosts.tolist()], dtype=np.int64)
        here = set(hosts.tolist())
        counts = {host: count for host, count in known.counts.items() if host in here}
        return replace(known, rates=rates, counts=counts, which=which)

    def remember(self, known: Hourly, row: int) -> dict[str, Any]:
        """Return the knowledge of one page, with the hours of its host if they suffice, as plain
        JSON.
        """
        plain = self.gamma.remember(known.rates, row)
        counts = known.counts.get(int(known.rates.hosts[row]))
        if counts is not None and self._suffices(counts):
            plain["hours"] = [_pack(counts.changes), _pack(counts.exposure)]
        return plain

    def recall(self, known: Hourly, rows: Rows, memories: Sequence[Mapping[str, Any]]) -> Hourly:
        """Return the knowledge with restored pages. A host's hours are those of its page that was
        polled last.
        """
        rates = self.gamma.recall(known.rates, rows, memories)
        counts = dict(known.counts)
        for row, memory in zip(rows.tolist(), memories, strict=True):
            host, read = int(rates.hosts[row]), _read_counts(memory.get("hours"))
            if read is not None and (host not in counts or counts[host].exposure.sum() < read.exposure.sum()):
                counts[host] = read
        is_same = all(counts[host] is known.counts.get(host) for host in counts)
        return replace(known, rates=rates, counts=counts, made_at=known.made_at if is_same else NEVER_SEEN)

    def _suffices(self, counts: HourCounts) -> bool:
        return bool(counts.changes.sum() >= self.changes and counts.exposure.sum() >= self.hours)

    def _make(self, known: Hourly, at: int) -> Hourly:
        """Return the knowledge with recomputed profiles, the counts faded by the days since the
        last ones.
        """
        days = 0.0 if known.made_at == NEVER_SEEN else (at - known.made_at) / DAY
        left = FADES**days
        counts = {host: HourCounts(c.changes * left, c.exposure * left) for host, c in known.counts.items()}
        enough = sorted(host for host, count in counts.items() if self._suffices(count))
        profiles = np.array([counts[host].profile(Profile.flat()).weights for host in enough]).reshape(-1, HOURS)
        number = {host: place for place, host in enumerate(enough)}
        which = np.array([number.get(host, -1) for host in known.rates.hosts.tolist()], dtype=np.int64)
        return replace(known, counts=counts, profiles=profiles, which=which, made_at=at)


def _none(size: int) -> NDArray[np.int64]:
    return np.full(size, -1, dtype=np.int64)


def _pack(counts: Floats) -> str:
    return base64.b64encode(counts.astype("<f4").tobytes()).decode("ascii")


def _read_counts(hours: object) -> HourCounts | None:
    """Return the counts, None if there are none or they cannot be read."""
    if not (isinstance(hours, list) and len(hours) == 2):
        return None
    changes, exposure = map(_unpack, hours)
    return None if changes is None or exposure is None else HourCounts(changes, exposure)


def _unpack(text: object) -> Floats | None:
    """Return unpacked counts, None for invalid text."""
    try:
        found = np.frombuffer(base64.b64decode(str(text), validate=True), dtype="<f4").astype(np.float64)
    except ValueError:
        return None
    return found if found.shape == (HOURS,) and np.isfinite(found).all() and (found >= 0).all() else None
