"""What a user asks for: a sentinel, as the language reads it (004 §3.1).

A `Sentinel` holds the *effective* clauses: those inherited by `Using s1` and the defaults of its
tags are already copied in. All durations are µs. The parts of a clause are in `interest` (what, and
of which part), `timing` (when), `notifying` (whom to notify) and `asking` (how a page is
requested). Their names can be imported from here too. Urgency and Life are the worth of a captured
change (000 §2.3); `Scope` is a site that is discovered page by page, within a budget of its own.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from tidings.model.event_type import CreateEvent, DropEvent, EventSource
from tidings.model.interval import Duration
from tidings.model.watch.asking import PLAIN, Asking
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
from tidings.model.watch.notifying import Cap, Channel, Notify, Quiet, Rate
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
from tidings.record import dataclass

WHOLE: Final = "default"
"""The total budget, from which all polls take, and the class of sentinels that name none: nothing
else limits them.
"""


_SHARE = "user-"


def share_of(owner_id: int) -> str:
    """Return the class that pays for the checks of all sentinels of an owner who has a share."""
    return f"{_SHARE}{owner_id}"


def is_share_of_other(name: str, owner_id: int) -> bool:
    """Return whether a budget is the share of another owner."""
    return name.startswith(_SHARE) and name[len(_SHARE) :].isdecimal() and name != share_of(owner_id)


@dataclass(frozen=True, slots=True)
class Urgency:
    """The worth of a change by the delay t of its capture: `uniform` 1; `exponential` ½^(t/span),
    `span` the half-life (None: a day); `window` 1 up to `span`, then 0. A window of 0 is the
    scheduler's own instant.
    """

    mode: Literal["uniform", "exponential", "window"] = "exponential"
    span: Duration | None = None


@dataclass(frozen=True, slots=True)
class ChangeLife:
    """How long the information of a change stays on the page: `forever` (Unbounded-Append),
    `window` of `span` (Time-window-Append), `changes`: until that many further changes
    (Change-window-Append), `overwrite`: until the next one.
    """

    mode: Literal["forever", "overwrite", "window", "changes"] = "forever"
    span: Duration = 0
    changes: int = 0


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

    stated: tuple[tuple[str, Any], ...] = ()

    def __contains__(self, word: str) -> bool:
        """Return whether there is a clause of this word."""
        return any(word == other for other, _ in self.stated)


@dataclass(frozen=True, slots=True)
class Command:
    """A command to a sentinel: enable (`fresh`: the next version is a new baseline, instead of a
    comparison across the pause), disable, drop, or confirm: the newest version is the new reference
    of `Compare first`. `until` is when a disabled sentinel is enabled again (None: when a user
    enables it).
    """

    verb: Literal["enable", "disable", "drop", "confirm"]
    name: str
    fresh: bool = False
    until: Point | None = None


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


LISTING: Final = "pages"
"""What the list of a collection's pages is called in its sentinel: `Monitor new pages` is about it.
"""
SCHEME: Final = "collection:"
HOST: Final = "collection"
"""What stands for the host of all lists: it has no gap, since nobody is asked."""
DEEPEST: Final = 20
MOST_A_DAY: Final = 100_000.0


@dataclass(frozen=True, slots=True)
class Scope:
    """Which pages belong to a collection.

    `patterns` are paths with `*` for any letters, or whole addresses; one that begins with `!`
    leaves pages out. `depth` is how many links away from its first pages a page may be. `budget`
    is how many requests its pages may cost a day.
    """

    patterns: tuple[str, ...]
    depth: int = 3
    budget: float = 500.0


def is_listing(url: str) -> bool:
    """Return whether an address is that of a collection's list of pages."""
    return url[: len(SCHEME)].lower() == SCHEME


def listing_url(sentinel_id: int) -> str:
    """Return the address of the list of pages of a collection."""
    return f"{SCHEME}{sentinel_id}"


def id_of(url: str) -> int:
    """Return whose list an address is; raises `ValueError` for one that is none."""
    return int(url.removeprefix(SCHEME))


def budget_name(name: str) -> str:
    """Return the name of the budget of a collection; no class of the settings can have it."""
    return f"{SCHEME}{name}"
