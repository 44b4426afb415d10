"""What a user asks for: a sentinel, as the language reads it (004 §3.1).

A `Sentinel` holds the *effective* clauses: those inherited by `Using s1` and the defaults of its
tags are already copied in. All durations are µs. The parts of a clause are in `interest` (what, and
of which part), `timing` (when), `telling` (whom to notify), `weight` (how much it matters) and
`asking` (how a page is requested); their names can be imported from here too.
"""

from __future__ import annotations

from typing import Any, Literal

from tidings.model.event_type import CreateEvent, DropEvent, EventSource
from tidings.model.interval import Duration
from tidings.model.watch.asking import PLAIN, Asking
from tidings.model.watch.collection import Scope
from tidings.model.watch.interest import (
    AllOf,
    AnyOf,
    Condition,
    Direction,
    Exclusion,
    Expression,
    Interest,
    Kind,
    Measure,
    Not,
    Pattern,
    Relation,
    Selector,
    StopWords,
    Transform,
)
from tidings.model.watch.telling import Cap, Channel, Notify, Quiet, Rate
from tidings.model.watch.timing import (
    DAILY,
    Clock,
    Days,
    Fetch,
    FetchAt,
    FetchEvery,
    FetchOnChange,
    FetchOnDemand,
    Opening,
    Point,
)
from tidings.model.watch.weight import WHOLE, ChangeLife, Urgency
from tidings.record import dataclass

__all__ = [
    "DAILY",
    "DEFAULT_NOTIFY",
    "AllOf",
    "Alter",
    "AnyOf",
    "Cap",
    "ChangeLife",
    "Channel",
    "Clauses",
    "Clock",
    "Command",
    "Compare",
    "Condition",
    "CreateEvent",
    "Days",
    "Defaults",
    "Direction",
    "DropEvent",
    "EventSource",
    "Exclusion",
    "Expression",
    "Fetch",
    "FetchAt",
    "FetchEvery",
    "FetchOnChange",
    "FetchOnDemand",
    "History",
    "Interest",
    "Kind",
    "Lasting",
    "Measure",
    "Not",
    "Notify",
    "Opening",
    "Pattern",
    "Point",
    "Presentation",
    "Quiet",
    "Rate",
    "Relation",
    "Scope",
    "Selector",
    "Sentinel",
    "State",
    "Statement",
    "StopWords",
    "Then",
    "Transform",
    "Urgency",
    "Watched",
]

State = Literal["created", "waiting", "enabled", "disabled", "ended"]
Presentation = Literal["auto", "only_change", "single_frame", "dual_frame", "table"]


@dataclass(frozen=True, slots=True)
class Watched:
    """A page of the sentinel: the URL as given and its name in this sentinel, if any."""

    url: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Compare:
    """Which versions are compared (004 §3.4.2; the table of sentinels §4.4): pairwise, moving n,
    every n, first.

    `first` compares with the first version until the user confirms a newer one (`Confirm NAME`).
    """

    mode: Literal["pairwise", "moving", "every", "first"] = "pairwise"
    n: int = 1


@dataclass(frozen=True, slots=True)
class History:
    """Which changes are stored: the last `changes`, or those not older than `age` (µs); one of the
    two is not None.
    """

    changes: int | None = None
    age: Duration | None = None


@dataclass(frozen=True, slots=True)
class Then:
    """When the Monitor clause holds, `pages` (names of this sentinel) are polled too, each `within`
    (µs) of that poll: a complex execution interval (001 §2.1). `least` of them suffice (None: all
    are needed).
    """

    within: Duration
    pages: tuple[str, ...]
    least: int | None = None


@dataclass(frozen=True, slots=True)
class Lasting:
    """How long a change must last before anybody is notified: so many `checks` that find it, or so
    long (µs); one of the two is not 0.
    """

    checks: int = 0
    duration: Duration = 0


DEFAULT_NOTIFY = (Notify((Channel("dashboard"),), Rate("interactive")),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentinel:
    """A sentinel with all its effective clauses. `base` is the sentinel it was made from, if any.

    `window` is Monitor's `within`: how far apart changes of several pages may be (None: the longest
    interval of these pages). `lasting` is its `for at least` (None: changes are reported at once).
    `start` is From, `end` is To; `span` is For (at most one of `end` and `span`). `correlated`: the
    life is that of `base`. `during`: when its pages may be polled (empty: always). `errors`: who is
    notified of a page's errors (empty: the receivers of its changes). `history`: which changes are
    stored (None: the operator's setting). `life` is that of its changes (None: as learned,
    unbounded until then). `budget_class` is the Class clause: the budget that pays its polls.
    `scope` says which pages are discovered (None: only those named): it is a collection then.
    """

    name: str
    pages: tuple[Watched, ...]
    monitor: Expression
    window: Duration | None = None
    lasting: Lasting | None = None
    then: tuple[Then, ...] = ()
    select: Selector | None = None
    exclude: tuple[Exclusion, ...] = ()
    transform: tuple[Transform, ...] = ()
    fetch: Fetch = FetchOnChange()
    during: tuple[Opening, ...] = ()
    start: Point = Point("now")
    end: Point | None = None
    span: Duration | None = None
    zone: str | None = None
    notify: tuple[Notify, ...] = DEFAULT_NOTIFY
    errors: tuple[Channel, ...] = ()
    compare: Compare = Compare()
    history: History | None = None
    presentation: Presentation = "auto"
    asking: Asking = PLAIN
    importance: float = 0.5
    urgency: Urgency = Urgency()
    life: ChangeLife | None = None
    budget_class: str = WHOLE
    tags: tuple[str, ...] = ()
    base: str | None = None
    correlated: bool = False
    scope: Scope | None = None

    def __hash__(self) -> int:
        """Hash only what is short: a key of caches may name thousands of pages."""
        return hash((self.name, self.monitor, len(self.pages)))


@dataclass(frozen=True, slots=True)
class Clauses:
    """Clauses by themselves: (clause word in lower case, meaning), in canonical order, each word
    once.

    The meaning of a clause is the value of the field of `Sentinel` (or of `Asking`) that it sets;
    for `monitor` the expression and its window.
    """

    said: tuple[tuple[str, Any], ...] = ()

    def __contains__(self, word: str) -> bool:
        """Return whether there is a clause of this word."""
        return any(word == other for other, _ in self.said)


@dataclass(frozen=True, slots=True)
class Command:
    """A command to a sentinel: enable (`fresh`: the next version is a new baseline, instead of a
    comparison across the pause), disable, drop, or confirm: the newest version is the new reference
    of `Compare first`.
    """

    verb: Literal["enable", "disable", "drop", "confirm"]
    name: str
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Alter:
    """`Alter NAME …`: clauses that replace those of a sentinel (sentinels §2.2).

    `sentinel` is the result; None only if the sentinel was unknown when the text was read. `reach`
    is the highest class of the clauses: `A` takes effect at once, `B` registers the ticks anew, `C`
    changes what is compared: the reference is extracted anew and the switch itself is not reported.
    """

    name: str
    clauses: Clauses
    sentinel: Sentinel | None
    reach: Literal["A", "B", "C"]
    pages: tuple[Watched, ...] = ()
    """its pages with their new addresses (`Using`), empty if they stay"""


@dataclass(frozen=True, slots=True)
class Defaults:
    """`Defaults For Tags …`: clauses for sentinels with one of these tags that do not have them;
    they replace the tags' previous defaults, and without clauses they remove them.
    """

    tags: tuple[str, ...]
    clauses: Clauses = Clauses()


Statement = Sentinel | Command | Alter | Defaults | CreateEvent | DropEvent
