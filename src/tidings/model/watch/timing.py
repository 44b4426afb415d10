"""When pages are polled, and when a sentinel lives: Fetch, During, From, To. Durations are µs,
clocks are local to the sentinel's zone.
"""

from __future__ import annotations

from typing import Literal

from tidings.model.interval import Duration, Instant
from tidings.record import dataclass

Clock = int
"""Minutes after midnight, 0 to 1439."""
Days = tuple[int, ...]
"""Days of the week, Monday is 0, in order, without duplicates."""
DAILY: Days = (0, 1, 2, 3, 4, 5, 6)
AT_SLACK: Duration = 600_000_000
"""The default slack (µs) of a poll at a time of day."""


@dataclass(frozen=True, slots=True)
class FetchEvery:
    """A fixed interval (µs); `slack` is how late a poll may be (None: a tenth of the interval).

    `events`, here and in the others, are outside events (`Create Event`): when one happens, an
    extra poll is due at once.
    """

    interval: Duration
    slack: Duration | None = None
    events: tuple[str, ...] = ()

    @property
    def effective_slack(self) -> Duration:
        """Return the slack: as given, else a tenth of the interval."""
        return self.interval // 10 if self.slack is None else self.slack


@dataclass(frozen=True, slots=True)
class FetchOnChange:
    """A rate chosen by the system, within bounds if given (Pmin, Pmax of 004 §4.7).

    With `within`, each predicted update opens an execution interval (001 §2.1): `window` ends it
    after that time, `overwrite` also at the next predicted update, if that comes first (001 §5.1).
    """

    shortest: Duration | None = None
    longest: Duration | None = None
    within: Duration | None = None
    until: Literal["window", "overwrite"] = "window"
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FetchAt:
    """Times of day, in order, on some days of the week (W-136); `slack` is how late a poll may be
    (None: ten minutes).
    """

    clocks: tuple[Clock, ...]
    days: Days = DAILY
    slack: Duration | None = None
    events: tuple[str, ...] = ()

    @property
    def effective_slack(self) -> Duration:
        """Return the slack: as given, else `AT_SLACK`."""
        return AT_SLACK if self.slack is None else self.slack


@dataclass(frozen=True, slots=True)
class FetchOnDemand:
    """Only on request: `tidings check NAME`, the dashboard, the API, or one of `events`."""

    events: tuple[str, ...] = ()


Fetch = FetchEvery | FetchOnChange | FetchAt | FetchOnDemand


@dataclass(frozen=True, slots=True)
class Opening:
    """Hours in which a page may be polled, on some days of the week; `closes` before `opens` is on
    the next day.
    """

    days: Days
    opens: Clock
    closes: Clock


@dataclass(frozen=True, slots=True)
class Point:
    """A point in time: `now`, an absolute instant, the start or end of another sentinel or an
    outside event, with an offset (µs), or, as an end, the sentinel's own first report (`change`,
    W-136).

    For `at`, `text` is the date or time as written in the user's zone and `instant` its meaning. An
    `event` is the next occurrence: as a start, after the sentinel was made; as an end, after it
    started.
    """

    base: Literal["now", "at", "start", "end", "event", "change"]
    offset: Duration = 0
    text: str | None = None
    instant: Instant | None = None
    sentinel: str | None = None
    event: str | None = None
