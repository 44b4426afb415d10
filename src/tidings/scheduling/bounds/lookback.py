"""What became of the changes that were found, and whether their times fit the model.

A certificate relies on the model; this does not. It answers two questions from polls alone:

* **Value kept.** A found change happened between the poll that found it and the one before. With as
  many polls, the best schedule would have polled each page at its changes and kept all of their
  value. The share that was kept, with each change uniform in its gap, is
  Σ v·(1 − e^−κg)/(κg) over Σ v.
* **Times.** In a correct model, the time from one found change of a page to the next is exponential
  in units of its hazard, and no hour of the day finds more than expected. A page that changes daily
  at nine, one that changes in bursts, and one that sleeps at night each fail one of the two tests;
  a total that fits does not show this.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import Final

import numpy as np

from tidings.model.interval import DAY, HOUR
from tidings.record import dataclass
from tidings.scheduling.population import Floats, Ids, Instants, Mask, Rows

SIGNIFICANT: Final = 1e-3
"""The probability that a correct model fails a test in a window, over all hosts together."""
LEAST: Final = 20
"""Fewer expected or found changes than this are not tested."""
BINS: Final = 5
CLOCK: Final = 3 * HOUR
"""The hours of the day are tested in groups of this length."""
MATTERS: Final = 0.1
"""The model of all pages is off if it is off for hosts with this share of the found changes."""
CERTAINTY: Final = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class WindowPolls:
    """The polls of a window, each page's in order of time.

    For each: the `page` and its `host` (numbers), `at` (µs UTC), the `gap` since the page's
    previous poll (µs), whether it `changed`, the `hazard` of the gap in the model (the expected
    number of changes), and the page's `value` of a change and its `decay` (per µs).
    """

    page: Rows
    host: Ids
    at: Instants
    gap: Floats
    changed: Mask
    hazard: Floats
    value: Floats
    decay: Floats

    def of(self, mask: Mask) -> WindowPolls:
        """Return some of the polls."""
        return WindowPolls(*(getattr(self, name)[mask] for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class ValueShare:
    """The share of the value of `found` changes that was kept, with its 95 % interval (a jackknife
    over hosts or pages).
    """

    share: float
    low: float
    high: float
    found: int

    def __str__(self) -> str:
        return f"{self.share:.0%} [{self.low:.0%}, {self.high:.0%}] of the value of the {self.found} found changes was kept"


@dataclass(frozen=True, slots=True)
class Misfit:
    """A contradiction between the times of found changes and the model: `host` (None: all together)
    and the failed test, in words.
    """

    host: int | None
    why: str


def measure_value_share(polls: WindowPolls) -> ValueShare | None:
    """Return the share of the value of found changes that was kept; None if none was found."""
    found = polls.of(polls.changed)
    if not len(found.at):
        return None
    aged = found.decay * found.gap
    worth = found.value * np.where(aged > 1e-9, -np.expm1(-aged) / np.maximum(aged, 1e-9), 1.0)
    whole, part = float(found.value.sum()), float(worth.sum())
    if whole <= 0:
        return None
    groups = found.host if len(np.unique(found.host)) > 1 else found.page
    names, place = np.unique(groups, return_inverse=True)
    left_whole = whole - np.bincount(place, found.value)
    left_part = part - np.bincount(place, worth)
    share, number = part / whole, len(names)
    spread = 0.0
    if number > 1 and (left_whole > 0).all():
        without = left_part / left_whole
        spread = math.sqrt((number - 1) / number * float(((without - without.mean()) ** 2).sum()))
    reach = NormalDist().inv_cdf((1 + CERTAINTY) / 2) * spread
    return ValueShare(share, max(share - reach, 0.0), min(share + reach, 1.0), len(found.at))


def misfits(polls: WindowPolls) -> tuple[Misfit, ...]:
    """Return where the times of found changes contradict the model: for all pages together, and for
    each host.
    """
    hosts, found = np.unique(polls.host[polls.changed], return_counts=True)
    tested = [(int(host), int(number)) for host, number in zip(hosts, found, strict=True) if number >= LEAST]
    level = SIGNIFICANT / (2 * (len(tested) + 1))
    off = [Misfit(None, why) for why in _reasons(polls, level)]
    weight = 0
    for host, number in tested if len(hosts) > 1 else ():
        reasons = [Misfit(host, why) for why in _reasons(polls.of(polls.host == host), level)]
        off += reasons
        weight += number if reasons else 0
    if weight >= MATTERS * max(int(found.sum()), 1) and not any(each.host is None for each in off):
        off.insert(0, Misfit(None, "of hosts with a tenth or more of the changes"))
    return tuple(off)


def _reasons(polls: WindowPolls, level: float) -> Iterator[str]:
    """Yield which of the two tests fail at a level of significance."""
    mass = _spells(polls)
    number = float(mass.sum())
    if number >= LEAST:
        even = number / BINS
        if float(((mass - even) ** 2).sum()) / even > _chi_square(BINS - 1, level):
            closer = mass[0] + mass[-1] < 2 * even
            yield "changes come more regularly than expected" if closer else "changes come in bursts"
    by_clock = (polls.at % DAY // CLOCK).astype(np.int64)
    chance = -np.expm1(-polls.hazard)
    size = DAY // CLOCK
    expected = np.bincount(by_clock, chance, minlength=size)
    spread = np.bincount(by_clock, chance * (1 - chance), minlength=size)
    seen = np.bincount(by_clock[polls.changed], minlength=size)
    there = spread > 0.5
    if there.sum() > 1 and max(expected.sum(), seen.sum()) >= LEAST:
        scaled = expected * (seen[there].sum() / max(expected[there].sum(), 1e-12))
        statistic = float((((seen - scaled) ** 2)[there] / spread[there]).sum())
        if statistic > _chi_square(int(there.sum()) - 1, level):
            yield "changes come at certain hours of the day"


def _spells(polls: WindowPolls) -> Floats:
    """Return the distribution of the times between found changes of a page, over `BINS` equal parts
    of their expected distribution.

    Each time is known up to the gap of the poll that found its end: it is spread evenly over that
    range. The last one of a page has not ended: it is spread over the rest.
    """
    if not len(polls.at):
        return np.zeros(BINS)
    is_first = np.diff(polls.page, prepend=-1) != 0
    ends = np.append(is_first[1:], True)
    # The hazard since the last found change of the same page, before and after each poll.
    total = np.cumsum(polls.hazard)
    starts = is_first | np.concatenate([[False], polls.changed[:-1]])
    base = np.maximum.accumulate(np.where(starts, np.arange(len(total)), 0))
    begun = (total - polls.hazard)[base]
    before, after = total - polls.hazard - begun, total - begun
    low = -np.expm1(-before)
    high = np.where(polls.changed, -np.expm1(-after), 1.0)
    low = np.where(polls.changed, low, -np.expm1(-after))
    counted = polls.changed | (ends & ~polls.changed)
    return _spread(low[counted], high[counted])


def _spread(low: Floats, high: Floats) -> Floats:
    """Return a mass of 1 for each pair, evenly from `low` to `high`, summed in `BINS` equal bins of
    0 to 1.
    """
    edges = np.linspace(0, 1, BINS + 1)
    width = np.maximum(high - low, 1e-12)
    inside = np.minimum(high[:, None], edges[1:]) - np.maximum(low[:, None], edges[:-1])
    return np.asarray((np.maximum(inside, 0) / width[:, None]).sum(axis=0))


def _chi_square(degrees: int, level: float) -> float:
    """Return the value that a χ² of so many degrees exceeds with probability `level` (Wilson and
    Hilferty, 1931).
    """
    deviation = NormalDist().inv_cdf(1 - level)
    share = 2 / (9 * degrees)
    return degrees * (1 - share + deviation * math.sqrt(share)) ** 3
