"""Plan summary: polls per day in all, what the pace asks for, and what the budget allows of it, in
plain words; and the state of the budgets.

The pace is the one number that users set: twice the pace is about half the polls. Whether the
budget is the limit is known to the running service, which stores it in an hourly event while it is.

Plan list: the next polls of all sentinels in order of time, each with its reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tidings.clock import DAY, HOUR, SECOND
from tidings.model.event_type import EventType
from tidings.model.interval import spell_duration
from tidings.model.watch.sentinel import WHOLE, is_share_of_other, share_of
from tidings.record import dataclass, replace
from tidings.service.explain.explain_sentinel import Prospect, list_polls
from tidings.service.plan import worth
from tidings.service.show.finding import Finding, ok, warn
from tidings.service.show.records import rfc3339
from tidings.service.watch import by_name
from tidings.storage.observed import estimates, pages
from tidings.storage.people import accounts
from tidings.storage.watches import events, sentinels
from tidings.storage.write import charge

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from tidings.model.interval import Duration, Instant
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.observed.pages import Expected


class ComingPoll(NamedTuple):
    """A coming poll of a page for a sentinel; `at` is None if it does not depend on time alone.
    `memories` are the policy's memories by page, `taught` is the stored worth of its changes to the
    sentinel.
    """

    sentinel: str
    page_id: int
    prospect: Prospect
    memories: Mapping[int, Mapping[str, Any]]
    taught: str = ""

    @property
    def learned(self) -> Mapping[str, Any]:
        """Return the policy's memory of the page."""
        return self.memories.get(self.page_id, {})

    def record(self, *, expert: bool) -> dict[str, Any]:
        """Return the JSON record."""
        known = {name: value for name, value in self.learned.items() if name in {"rate", "period", "saturated"}}
        return {
            "record": "plan",
            "kind": "check",
            "sentinel": self.sentinel,
            "page": str(self.page_id),
            "url": self.prospect.url,
            "at": rfc3339(self.prospect.at),
            "reason": self.prospect.why,
            **({"learned": {**known, **worth.record(self.taught)}} if expert else {}),
        }

    @property
    def changes_a_day(self) -> float | None:
        """Return the expected changes per day, None if no rate is known."""
        rate = self.learned.get("rate")
        if not isinstance(rate, Mapping) or not rate.get("scale"):
            return None
        return float(rate["shape"]) / float(rate["scale"])


def list_coming_polls(
    connection: Connection,
    settings: Settings,
    *,
    names: Collection[str],
    now: Instant,
    viewer: int | None = None,
    turns: Mapping[int, Instant] | None = None,
) -> list[ComingPoll]:
    """Return the next polls of these sentinels (of all, if none is named), the soonest first, those
    without a time last.

    Raises `UnknownNameError`.

    Args:
        settings: The settings in use.
        names: The sentinels; none for all.
        now: The present (µs).
        viewer: The owner who reads; None for one who sees all. Unused if sentinels are named.
        turns: When a turn-based policy would poll each page (µs), as for `list_polls`.
    """
    if names:
        rows = [by_name.find(connection, name) for name in names]
    else:
        rows = sentinels.listing(connection, viewer=viewer, is_brief=True)
    learned = estimates.read_later(connection, settings.schedule.policy)
    find = by_name.lives(connection, dropped=True)
    expected: dict[int, list[Expected]] = {}
    for page in pages.list_expected(connection, sentinel_id=rows[0].id if len(rows) == 1 else None):
        expected.setdefault(page.sentinel_id, []).append(page)
    taught = {
        (page.sentinel_id, page.page_id): page.learned for own in expected.values() for page in own if page.learned
    }
    found = [
        ComingPoll(
            row.name,
            prospect.page_id,
            prospect,
            learned,
            taught.get((row.id, prospect.page_id), ""),
        )
        for row in rows
        for prospect in list_polls(
            connection,
            row,
            find=find,
            settings=settings,
            now=now,
            learned=learned,
            turns=turns,
            expected=expected.get(row.id, ()),
        )
        if prospect.page_id is not None
    ]
    return sorted(
        found, key=lambda poll: (poll.prospect.at is None, poll.prospect.at or 0, poll.sentinel, poll.page_id)
    )


PRICED: Final = EventType.PLAN_PRICED
"""The event with the budget's effect on the pace."""
FRESH: Final[Duration] = 3 * HOUR
ONLY_FIRST: Final = frozenset({"best_effort", "best_effort_weighted"})
"""Policies that use the pace only for the first interval of a page."""


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """All per day: the polls `asked` for now, those wished for by the pace, and the requests that
    the budget allows. `stretch` is by how much pages wait longer than a day, or than their
    sentinels say, because the budget cannot pay for more.
    """

    asked: float
    wished: float
    budget: float
    pace: Duration
    stretch: float = 1.0
    is_paced: bool = True

    @property
    def binds(self) -> bool:
        """Return whether the budget, not the pace, limits polls."""
        return self.wished > self.asked

    def lines(self) -> list[str]:
        """Return the lines for users."""
        if not self.binds:
            seconds = self.pace / SECOND
            moves = (
                f"; schedule.pace_seconds = {2 * seconds:g} halves them, {seconds / 2:g} doubles them"
                if self.is_paced
                else ""
            )
            return [f"about {_number(self.asked)} checks a day (the budget allows {self.budget:,.0f}){moves}"]
        slower = self.wished / max(self.asked, 1e-9)
        pace, even = spell_duration(self.pace), round(self.pace * slower / SECOND)
        asked = f"about {_number(self.asked)} checks a day, which is the budget ({self.budget:,.0f})"
        wished = f"the pace of {pace} asks for {_number(self.wished)}, so pages wait about {slower:.2g} times as long"
        moves = (
            f"for more checks, raise budget.polls_per_day; from schedule.pace_seconds = {even} on, the pace is the "
            "limit"
        )
        return [f"{asked}; {wished}", moves, *([_too_small(self.stretch)] if self.stretch > 1 else [])]

    def record(self) -> dict[str, Any]:
        """Return the JSON record."""
        return {
            "record": "plan",
            "kind": "outline",
            "looks_a_day": round(self.asked, 3),
            "wished_a_day": round(self.wished, 3),
            "budget_a_day": self.budget,
            "pace_seconds": self.pace / SECOND,
            "stretch": round(self.stretch, 3),
        }


def summarize_plan(
    connection: Connection, settings: Settings, coming: Sequence[ComingPoll], *, now: Instant
) -> PlanSummary:
    """Return the summary of all coming polls.

    Args:
        settings: The settings in use.
        coming: The polls.
        now: The present (µs).
    """
    asked, stretch = _a_day(coming), 1.0
    wished = asked
    if (priced := get_last_prices(connection, now)) is not None:
        asked, wished, stretch = priced
    return PlanSummary(
        asked,
        wished,
        settings.budget.polls_per_day,
        round(settings.schedule.pace_seconds * SECOND),
        stretch,
        is_paced=settings.schedule.policy not in ONLY_FIRST,
    )


def findings(connection: Connection, *, now: Instant) -> Iterator[Finding]:
    """Yield whether the budget limits polls, and whether it is too small for the longest waits."""
    if (priced := get_last_prices(connection, now)) is None:
        yield ok("budget", "the pace limits the checks, not the budget")
        return
    asked, wished, stretch = priced
    if stretch > 1:
        yield warn("budget", _too_small(stretch), "raise budget.polls_per_day in tidings.toml, or watch fewer pages")
        return
    yield ok("budget", f"it allows {asked / max(wished, 1e-9):.0%} of the checks that the pace asks for (tidings plan)")


def get_last_prices(connection: Connection, now: Instant) -> tuple[float, float, float] | None:
    """Return the asked and wished polls per day and the stretch of waits, if the budget was the
    limit within the last hours.
    """
    event = events.newest(connection, PRICED)
    if event is None or now - event.at > FRESH:
        return None
    found = [event.data.get(name) for name in ("asked", "wished", "stretch")]
    known = [float(value) for value in found if isinstance(value, int | float)]
    return (known[0], known[1], known[2]) if len(known) == len(found) else None


def _too_small(stretch: float) -> str:
    return (
        "the budget is too small for one check a day of each page:"
        f" pages that rarely change wait up to {stretch:.2g} times as long as they should"
    )


def _a_day(coming: Sequence[ComingPoll]) -> float:
    """Return the polls per day of all pages, each as often as its most demanding sentinel asks."""
    every: dict[int, Duration] = {}
    for poll in coming:
        if poll.prospect.every is not None and poll.prospect.at is not None:
            every[poll.page_id] = min(poll.prospect.every, every.get(poll.page_id, poll.prospect.every))
    return sum(DAY / gap for gap in every.values())


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


@dataclass(frozen=True, slots=True)
class BudgetState:
    """The state of a budget: what it `allows`, how many requests are `left` of its capacity
    (`burst`).

    It can pay again `at` (now, if it can already; None: never). `allows` is empty for a class that
    is not configured (any more).
    """

    name: str
    allows: str
    left: float = 0.0
    burst: float = 0.0
    at: Instant | None = None
    is_spent: bool = False

    @property
    def is_missing(self) -> bool:
        """Return whether there is no such class."""
        return not self.allows

    def __str__(self) -> str:
        if self.is_missing:
            return "is not defined (budget.classes); the budget of all checks is used"
        if self.is_spent:
            when = (
                "never again" if self.at is None else f"again at {(rfc3339(self.at) or '')[:19].replace('T', ' ')} UTC"
            )
            return f"{self.allows}; it is used up, and allowed {when}"
        return f"{self.allows}; {math.floor(self.left):,} can be used now"

    def record(self) -> dict[str, Any]:
        """Return it as a record."""
        return {
            "class": self.name,
            "allows": self.allows,
            "left": round(self.left, 3),
            "burst": self.burst,
            "pays_at": rfc3339(self.at),
        }


def get_budget(connection: Connection, settings: Settings, name: str, *, now: Instant) -> BudgetState:
    """Return the state of a class's budget; full if no process has used it.

    Args:
        settings: The settings in use.
        name: The name of the class.
        now: The present (µs).
    """
    wanted = settings.budget.map_names().get(name)
    if wanted is None and name != WHOLE:
        return BudgetState(name, "")
    allows = f"{settings.budget.polls_per_day:,.10g} per day" if wanted is None else str(wanted)
    known = charge.budgets(connection).get(name)
    if known is None:
        burst = settings.budget.capacity if wanted is None else wanted.burst
        return BudgetState(name, allows, burst, burst, now)
    row = known.refill(now)
    if row.level >= 1:
        return BudgetState(name, allows, row.level, row.burst, now)
    return BudgetState(name, allows, row.level, row.burst, row.available_at(1.0), is_spent=True)


def list_budgets(
    connection: Connection, settings: Settings, *, now: Instant, viewer: int | None = None
) -> list[BudgetState]:
    """Return all budgets: that of all polls, then classes and shares, the most generous first; of
    the shares only that of the owner `viewer`, all if it is None.
    """
    settings = accounts.add_shares(connection, settings)
    users = {share_of(owner): f"share of {name}" for owner, name in accounts.names(connection).items()}
    names = [one for one in settings.budget.map_names() if viewer is None or not is_share_of_other(one, viewer)]
    found = (get_budget(connection, settings, name, now=now) for name in (WHOLE, *names))
    return [replace(state, name=users.get(state.name, state.name)) for state in found]


def render_cost(settings: Settings, budget: str = WHOLE) -> float:
    """Return the cost of a rendered poll to a budget: the setting, at most what the budget of all
    polls, and its class, can save up.
    """
    dear = min(settings.fetch.browser_cost, settings.budget.capacity)
    paying = settings.budget.map_names().get(budget)
    return dear if paying is None else min(dear, paying.burst)
