"""Whether what sentinels ask for is feasible, and the state of the budget classes: advice of
`doctor`, no trouble of a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tidings.clock import DAY, SECOND
from tidings.model.watch.sentinel import WHOLE, FetchEvery
from tidings.service.explain.plan_summary import list_budgets, render_cost
from tidings.service.health.intents import meaning_of
from tidings.service.show.finding import Finding, ok, shorten, spell_count, spell_length, warn
from tidings.service.watch.watchlist import Subscription, WatchedSentinel
from tidings.storage.observed import pages
from tidings.storage.watches import sentinels, subscriptions

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.scheduling.admission import Admission
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.storage.watches.subscriptions import SubscriptionRow


def promises(c: Connection, *, settings: Settings) -> Iterator[Finding]:
    """Yield whether all polls at fixed intervals can be made in time, within the budget and the
    hosts' limits.
    """
    asked = list(_list_promised(c, settings))
    if not asked:
        yield ok("intervals", "no page is checked at a fixed interval")
        return
    admissions = list(_admissions(asked, settings))
    found = [
        warn("intervals", f"{where} cannot have all checks in time: {_spell_load(admission)}", mend)
        for where, mend, admission in admissions
        if not admission.holds
    ]
    yield from shorten(found, mend="tidings plan")
    if not found:
        whole = admissions[0][2]
        yield ok("intervals", f"all can be kept: {spell_count(len(asked), 'page')}, {whole.load:.0%} of the budget")


def _list_promised(c: Connection, settings: Settings) -> Iterator[tuple[str, Duration, float]]:
    """Yield host, interval and cost of each page with a fixed interval, its shortest."""
    owners = {row.id: row for row in sentinels.listing(c)}
    identities = {state.page_id: identity for identity, state in pages.population(c)}
    floor = round(settings.fetch.page_floor_seconds * SECOND)
    shortest: dict[int, Duration] = {}
    for sub in subscriptions.listing(c, active=True):
        held = _load(sub, owners[sub.sentinel_id])
        if held is not None and isinstance(held.interval, FetchEvery) and sub.page_id in identities:
            interval = max(held.interval.interval, floor)
            shortest[sub.page_id] = min(interval, shortest.get(sub.page_id, interval))
    dear = render_cost(settings)
    for page_id, interval in shortest.items():
        identity = identities[page_id]
        yield identity.host, interval, dear if identity.render else 1.0


def _admissions(
    asked: Sequence[tuple[str, Duration, float]], settings: Settings
) -> Iterator[tuple[str, str, Admission]]:
    """Yield for the budget, and for each host with a gap, the remedy and whether its polls fit (bid
    §7).
    """
    import numpy as np  # only needed with such pages: doctor starts quickly

    from tidings.scheduling.admission import admit

    intervals, costs = np.array([i for _, i, _ in asked]), np.array([cost for *_, cost in asked])
    yield (
        "the budget",
        "raise budget.polls_per_day, or longer intervals",
        admit(intervals, costs, settings.budget.polls_per_day / DAY),
    )
    gap = round(settings.fetch.host_gap_seconds * SECOND)
    if not gap:
        return
    by_host: dict[str, list[Duration]] = {}
    for host, interval, _ in asked:
        by_host.setdefault(host, []).append(interval)
    for host, own in sorted(by_host.items()):
        yield (
            host,
            "longer intervals, or a smaller fetch.host_gap_seconds if the site is yours",
            admit(np.array(own), np.ones(len(own)), 1 / gap),
        )


def _spell_load(admission: Admission) -> str:
    if admission.load > 1:
        return f"they are {admission.load:.1f} times what it takes"
    return f"in {spell_length(admission.stretch)} they are {admission.worst:.1f} times what it takes"


def classes(c: Connection, *, settings: Settings, now: Instant) -> Iterator[Finding]:
    """Yield the state of the budget classes."""
    found = [state for state in list_budgets(c, settings, now=now) if state.name != WHOLE]
    yield from (ok("class", f"{state.name}: {state}") for state in found)
    if not found:
        yield ok("class", "none is defined: all checks share one budget")


def _load(sub: SubscriptionRow, owner: SentinelRow) -> Subscription | None:
    """Return a subscription with its parsed sentinel, None if its text cannot be read."""
    sentinel = meaning_of(owner)
    return None if sentinel is None else Subscription(sub, WatchedSentinel(owner, sentinel, {}))
