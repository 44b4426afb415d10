"""What a user asks for: a sentinel, as the language reads it (004 §3.1).

A `Sentinel` holds the *effective* clauses: what `Using s1` inherits is already copied in. All durations are µs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tidings.model.asking import PLAIN, Asking
from tidings.model.interval import Duration, Instant

Direction = Literal["inserted", "deleted", "updated"]
State = Literal["created", "waiting", "enabled", "disabled", "ended"]


@dataclass(frozen=True, slots=True)
class Selector:
    """A part of a page: CSS, XPath 1.0 or JSONPath."""

    language: Literal["css", "xpath", "jsonpath"]
    text: str


@dataclass(frozen=True, slots=True)
class Interest:
    """One change type (004 §3.4.2): `kind` is a name of `detection.kinds`: any, words, links, images, keywords, phrases.

    `terms` are the keywords or phrases, `direction` narrows to inserted, deleted or updated, `of` names a page of the sentinel.
    """

    kind: str
    terms: tuple[str, ...] = ()
    direction: Direction | None = None
    selector: Selector | None = None
    of: str | None = None


@dataclass(frozen=True, slots=True)
class AnyOf:
    """OR, also written as a comma: a change of any part."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """AND: every positive part changed in the same comparison; a `Not` part subtracts or vetoes."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """NOT, only inside AND."""

    part: Expression


Expression = Interest | AnyOf | AllOf | Not


@dataclass(frozen=True, slots=True)
class Watched:
    """A page of the sentinel: the URL as it was given and the name it has in this sentinel, if any."""

    url: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class FetchEvery:
    """A fixed interval (µs); `slack` is how late a poll may be (None: a tenth of the interval)."""

    interval: Duration
    slack: Duration | None = None

    @property
    def effective_slack(self) -> Duration:
        """Return the slack that holds: as given, else a tenth of the interval."""
        return self.interval // 10 if self.slack is None else self.slack


@dataclass(frozen=True, slots=True)
class FetchOnChange:
    """The system's own rate, within bounds if given (Pmin, Pmax of 004 §4.7)."""

    shortest: Duration | None = None
    longest: Duration | None = None


Fetch = FetchEvery | FetchOnChange


@dataclass(frozen=True, slots=True)
class Point:
    """A point in time: `now`, an absolute instant or the start or end of another sentinel, with an offset (µs).

    For `at`, `text` is the date or time as the user's zone writes it and `instant` what it means.
    """

    base: Literal["now", "at", "start", "end"]
    offset: Duration = 0
    text: str | None = None
    instant: Instant | None = None
    sentinel: str | None = None


@dataclass(frozen=True, slots=True)
class Channel:
    """Where news go: `email` and an address, `webhook` or `url` and a URL, `apprise` and the URL of one of Apprise's services,
    `console`, `dashboard`, `feed`, `stream`.
    """

    kind: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class Rate:
    """When news go: immediate, every (with `interval`), best_effort, at a clock, interactive."""

    mode: Literal["immediate", "every", "best_effort", "at", "interactive"]
    interval: Duration = 0
    clock: str | None = None


@dataclass(frozen=True, slots=True)
class Notify:
    """One Notify clause."""

    channels: tuple[Channel, ...]
    rate: Rate


@dataclass(frozen=True, slots=True)
class Compare:
    """Which versions are compared (004 §3.4.2): pairwise, moving n, every n, first."""

    mode: Literal["pairwise", "moving", "every", "first"] = "pairwise"
    n: int = 1


DEFAULT_NOTIFY = (Notify((Channel("dashboard"),), Rate("interactive")),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentinel:
    """A sentinel with all its effective clauses. `base` is the sentinel it was made from, if any.

    `start` is From, `end` is To; `span` is For (at most one of `end` and `span`). `correlated`: the life is that of `base`.
    """

    name: str
    pages: tuple[Watched, ...]
    monitor: Expression
    fetch: Fetch = FetchOnChange()
    start: Point = Point("now")
    end: Point | None = None
    span: Duration | None = None
    zone: str | None = None
    notify: tuple[Notify, ...] = DEFAULT_NOTIFY
    compare: Compare = Compare()
    asking: Asking = PLAIN
    tags: tuple[str, ...] = ()
    base: str | None = None
    correlated: bool = False
    importance: float = 0.5


@dataclass(frozen=True, slots=True)
class Command:
    """Enable, Disable or Drop of a sentinel."""

    verb: Literal["enable", "disable", "drop"]
    name: str


Statement = Sentinel | Command
