"""When pages are polled, and when a sentinel lives: Fetch, During, From, To. Durations are µs, clocks are on the sentinel's wall."""

from __future__ import annotations

from typing import Literal

from tidings.model.interval import Duration, Instant
from tidings.record import dataclass

Clock = int
"""Minutes after midnight, 0 to 1439."""
Days = tuple[int, ...]
"""Days of the week, Monday is 0, in order, each once."""
DAILY: Days = (0, 1, 2, 3, 4, 5, 6)
AT_SLACK: Duration = 600_000_000
"""How late a poll at a time of day may be that does not say so (µs)."""


@dataclass(frozen=True, slots=True)
class FetchEvery:
    """A fixed interval (µs); `slack` is how late a poll may be (None: a tenth of the interval).

    `events`, here and in the others, are events of other origin (`model.outside`): when one happens a poll is due at once, beside.
    """

    interval: Duration
    slack: Duration | None = None
    events: tuple[str, ...] = ()

    @property
    def effective_slack(self) -> Duration:
        """Return the slack that holds: as given, else a tenth of the interval."""
        return self.interval // 10 if self.slack is None else self.slack


@dataclass(frozen=True, slots=True)
class FetchOnChange:
    """The system's own rate, within bounds if given (Pmin, Pmax of 004 §4.7).

    With `within` each predicted update opens an execution interval (001 §2.1): `window` ends it after that time, `overwrite` also with the
    next predicted update, if that comes first (001 §5.1).
    """

    shortest: Duration | None = None
    longest: Duration | None = None
    within: Duration | None = None
    until: Literal["window", "overwrite"] = "window"
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FetchAt:
    """Times of day, in order, on some days of the week (W-136); `slack` is how late a poll may be (None: ten minutes)."""

    clocks: tuple[Clock, ...]
    days: Days = DAILY
    slack: Duration | None = None
    events: tuple[str, ...] = ()

    @property
    def effective_slack(self) -> Duration:
        """Return the slack that holds: as given, else `AT_SLACK`."""
        return AT_SLACK if self.slack is None else self.slack


@dataclass(frozen=True, slots=True)
class FetchOnDemand:
    """Only when somebody asks: `tidings check NAME`, the dashboard, the API; or when one of `events` happens."""

    events: tuple[str, ...] = ()


Fetch = FetchEvery | FetchOnChange | FetchAt | FetchOnDemand


@dataclass(frozen=True, slots=True)
class Opening:
    """Hours in which a page may be polled, on some days of the week; `closes` before `opens` is on the next day."""

    days: Days
    opens: Clock
    closes: Clock


@dataclass(frozen=True, slots=True)
class Point:
    """A point in time: `now`, an absolute instant, the start or end of another sentinel or an event of other origin, with an offset (µs),
    or, as an end, the sentinel's own first report (`change`, W-136).

    For `at`, `text` is the date or time as the user's zone writes it and `instant` what it means. An `event` is the next one: as a start
    after the sentinel was made, as an end after it started.
    """

    base: Literal["now", "at", "start", "end", "event", "change"]
    offset: Duration = 0
    text: str | None = None
    instant: Instant | None = None
    sentinel: str | None = None
    event: str | None = None
