"""A page in figures: how often it changes and when, how late changes are seen, what other paces
bring.

Changes are assumed to be a Poisson process at the learned rate λ. Polls at intervals T see a change
T/2 after it on average, and 1 − (1 − e^(−λT))/(λT) of the changes are overwritten by a newer one
before the next poll.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import DAY, MINUTE
from tidings.estimation.learner import Gamma, GammaLearner, quantile
from tidings.language.times import zone_of
from tidings.record import dataclass
from tidings.service.explain.explain_sentinel import list_polls
from tidings.service.show.records import spell_gap
from tidings.service.watch import by_name, noise
from tidings.service.watch.watchlist import read_meaning
from tidings.storage.observed import estimates, pages, polls

if TYPE_CHECKING:
    from datetime import tzinfo

    from tidings.model.interval import Duration, Instant
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow

SURE: Final = 0.95
MANY: Final = 20
"""Checks a day of which one more makes no difference."""
WINDOW: Final[Duration] = 90 * DAY
"""Hours of the week are computed from the changes of this period."""
FEWEST: Final = 10
"""Fewest changes for which hours are meaningful."""
MOSTLY: Final = 0.75
LONGEST: Final = 10
"""Longest stretch of hours per day that counts as a pattern."""
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MOST_CHANGES: Final = 100
"""Most changes from which a rate is computed anew."""
LEAST_RATE: Final = 1e-3
"""A rate below once in three years (changes a day) is shown as none."""


@dataclass(frozen=True, slots=True)
class CheckPace:
    """A number of checks a day, with the median delay of a change (µs) and the share of hidden
    changes.
    """

    a_day: float
    delay: Duration
    missed: float
    is_now: bool = False


@dataclass(frozen=True, slots=True)
class PageReport:
    """What is known of one page.

    Its rate (changes a day, None while unknown) is between `low` and `high` with 95 % confidence.
    Then: the paces around the present one; the number of changes of the last 90 days by hour and
    day of the week (0: Monday), in words if meaningful; and what is masked as noise.
    """

    page_id: int
    url: str
    title: str
    rate: float | None
    low: float
    high: float
    paces: Sequence[CheckPace]
    hours: Mapping[tuple[int, int], int]
    when: str
    masked: Sequence[str]

    @property
    def now(self) -> CheckPace | None:
        """Return the present pace, None if no rate is known or no check is by time."""
        return next((pace for pace in self.paces if pace.is_now), None)

    def lines(self) -> Iterator[str]:
        """Yield the lines for users."""
        if self.rate is None:
            yield "its rate of change is not learned yet"
        else:
            bounds = f"{_show_rate(self.low)} to {_show_rate(self.high)} times a day, sure to 95 %"
            yield f"changes {_spell_rate(self.rate)} ({bounds})"
        if self.when:
            yield self.when
        if (now := self.now) is not None:
            seen = f"half of its changes are seen within {_spell(now.delay)}"
            yield f"{now.a_day:.3g} checks a day: {seen}, {now.missed:.1%} are missed because of a newer one"
            for pace in self.paces:
                if not pace.is_now:
                    yield f"    {pace.a_day:.3g} checks a day: within {_spell(pace.delay)}, {pace.missed:.1%} missed"
            if gain := self.gain():
                yield gain
        yield from (f"ignored as noise: {one}" for one in self.masked)

    def gain(self) -> str:
        """Return the gain of one more check a day; empty if unknown."""
        now = self.now
        more = next((pace for pace in self.paces if now is not None and pace.a_day > now.a_day), None)
        if now is None or more is None or now.delay - more.delay < MINUTE:
            return ""
        by = "one check" if abs(more.a_day - now.a_day - 1) < 0.01 else f"{more.a_day - now.a_day:.2g} checks"
        return f"with {by} more a day you would be notified {_spell(now.delay - more.delay)} sooner"

    def record(self) -> dict[str, Any]:
        """Return the JSON record; delays in seconds."""
        return {
            "page": str(self.page_id),
            "url": self.url,
            "changes_a_day": None if self.rate is None else {"mean": self.rate, "low": self.low, "high": self.high},
            "paces": [
                {
                    "checks_a_day": round(pace.a_day, 3),
                    "delay_median_seconds": round(pace.delay / 1e6, 1),
                    "hidden": round(pace.missed, 5),
                    "now": pace.is_now,
                }
                for pace in self.paces
            ],
            "hours": [[self.hours.get((day, hour), 0) for hour in range(24)] for day in range(7)],
            "when": self.when,
            "noise": list(self.masked),
        }


def reports(c: Connection, row: SentinelRow, settings: Settings, now: Instant, *, most: int = 20) -> list[PageReport]:
    """Return the reports of a sentinel's pages, at most `most`.

    Args:
        c: The database.
        row: The sentinel.
        settings: The settings in use.
        now: The present (µs).
        most: Most pages.
    """
    zone = zone_of(read_meaning(row).zone or settings.serve.zone) or UTC
    find = by_name.lives(c, dropped=True)
    coming = list(islice(list_polls(c, row, find=find, settings=settings, now=now), most))
    known = estimates.load(c, settings.schedule.policy, [one.page_id for one in coming if one.page_id is not None])
    found = []
    for one in coming:
        assert one.page_id is not None  # noqa: S101 - for the type checker
        made = polls.of_page(c, one.page_id, now - WINDOW)
        rate, low, high = _rate(known.get(one.page_id) or infer(made))
        hours = _hours(made, zone)
        masks = noise.masks(c, one.page_id)
        found.append(
            PageReport(
                one.page_id,
                one.url,
                pages.state(c, one.page_id).title,
                rate,
                low,
                high,
                () if rate is None or not one.every else list(paces(rate, DAY / one.every)),
                hours,
                when(hours),
                [
                    f"{noise.where(thing)}: {noise.why(thing)}"
                    for thing in masks.things
                    if thing.id not in masks.switched_off
                ],
            )
        )
    return found


def paces(rate: float, a_day: float) -> Iterator[CheckPace]:
    """Yield the results of fewer, as many and more checks a day.

    One fewer and more, half if there are fewer than two, a quarter if there are many; and twice as
    many.

    Args:
        rate: Changes a day (> 0).
        a_day: Checks a day (> 0).
    """
    step = a_day / 2 if a_day < 2 else 1.0 if a_day < MANY else float(round(a_day / 4))
    for checks in sorted({a_day - step, a_day, a_day + step, 2 * a_day}):
        gap = 1 / checks
        yield CheckPace(checks, round(gap * DAY / 2), 1 + math.expm1(-rate * gap) / (rate * gap), checks == a_day)


def when(hours: Mapping[tuple[int, int], int]) -> str:
    """Return the days and hours in which most changes are found, "" if not meaningful."""
    total = sum(hours.values())
    if total < FEWEST:
        return ""
    days, clock = Counter[int](), Counter[int]()
    for (day, hour), many in hours.items():
        days[day] += many
        clock[hour] += many
    parts = []
    if sum(days[day] for day in range(5)) >= 0.9 * total:
        parts.append("Monday to Friday")
    elif sum(days[day] for day in (5, 6)) >= MOSTLY * total:
        parts.append("Saturday and Sunday")
    elif (most := max(days, key=lambda day: days[day])) in days and days[most] >= MOSTLY * total:
        parts.append(DAYS[most])
    stretch = next(
        (
            (begin, length)
            for length in range(1, LONGEST + 1)
            for begin in sorted(range(24), key=lambda at: -sum(clock[(at + k) % 24] for k in range(length)))[:1]
            if sum(clock[(begin + k) % 24] for k in range(length)) >= MOSTLY * total
        ),
        None,
    )
    if stretch is not None:
        parts.append(f"{stretch[0]:02}:00 to {sum(stretch) % 24:02}:00")
    return f"changes mostly {', '.join(parts)} ({total} changes in 90 days)" if parts else ""


def infer(made: Sequence[tuple[Instant, bool]]) -> Mapping[str, Any]:
    """Return what polls at fixed times say of a page's rate, as a policy remembers it; nothing
    before the second poll. Policies learn only of pages whose times they choose.

    Args:
        made: Instant of each poll, in order, and whether it found a change. Of the newest changes,
            `MOST_CHANGES` are used.
    """
    gaps = [((at - before) / DAY, changed) for (before, _), (at, changed) in pairwise(made)]
    changed_at = [place for place, (_, changed) in enumerate(gaps) if changed]
    used = gaps[changed_at[-MOST_CHANGES] :] if len(changed_at) > MOST_CHANGES else gaps
    if not used:
        return {}
    learner = GammaLearner()
    rate = Gamma.prior(learner.mean, learner.shape, 1)
    rate = rate.observe(sum(gap for gap, changed in used if not changed), changed=False)
    for gap in (gap for gap, changed in used if changed):
        rate = rate.observe(gap, changed=True)
    return {"rate": {"shape": float(rate.shape[0]), "scale": float(rate.scale[0])}}


def _rate(memory: Mapping[str, Any]) -> tuple[float | None, float, float]:
    rate = memory.get("rate")
    if not isinstance(rate, Mapping) or not rate.get("scale") or not rate.get("shape"):
        return None, 0.0, 0.0
    shape, scale = float(rate["shape"]), float(rate["scale"])
    tail = (1 - SURE) / 2
    return shape / scale, quantile(shape, scale, tail), quantile(shape, scale, 1 - tail)


def _hours(polls: Sequence[tuple[Instant, bool]], zone: tzinfo) -> dict[tuple[int, int], int]:
    """Return the number of changes in each hour of each day, each midway between its two checks."""
    found = Counter[tuple[int, int]]()
    for (before, _), (at, changed) in pairwise(polls):
        if changed and at - before <= DAY / 2:
            local = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=(before + at) // 2)).astimezone(zone)
            found[local.weekday(), local.hour] += 1
    return dict(found)


def _spell_rate(rate: float) -> str:
    return f"{rate:.2g} times a day" if rate > 2 / 3 else f"once in {1 / max(rate, LEAST_RATE):,.0f} days"


def _show_rate(rate: float) -> str:
    return f"{rate:.2g}" if rate >= LEAST_RATE else "0"


def _spell(duration: Duration) -> str:
    return spell_gap(duration) if duration >= MINUTE else f"{duration / 1e6:.0f} s"
