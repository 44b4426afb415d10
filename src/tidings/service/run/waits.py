"""Describe what a check waits for: a paused host, the gap between two requests, the budget, an
answer, a receiver, another process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidings.clock import DAY, MINUTE, SECOND
from tidings.fetching.politeness import NEVER
from tidings.model.interval import spell_duration
from tidings.service.show.finding import spell_instant
from tidings.storage.db import leases
from tidings.storage.observed import polls

if TYPE_CHECKING:
    from collections.abc import Collection

    from tidings.model.interval import Duration, Instant
    from tidings.service.run.monitor import Monitor
    from tidings.storage.db.connection import Connection

SHORT: Final[Duration] = 2 * SECOND
"""A longer wait is explained to the user."""


def is_held(until: Instant | None, now: Instant) -> bool:
    """Return whether a host that is paused until `until` is paused for longer than a check waits
    without saying so.
    """
    return until is not None and until - now > SHORT


def spell_hold(c: Connection, host: str, until: Instant, now: Instant) -> str:
    """Return until when a host is paused, and why: it asked for that, or it fails."""
    failed = polls.last_failure(c, host)
    asked = failed is not None and failed.status in {429, 503}
    why = f"the host asked for that ({failed.status})" if failed is not None and asked else ""
    why = why or (f"the host fails ({failed.note or failed.kind})" if failed is not None else "the host asked for that")
    return f"held until {_spell_time(until, now)}: {why}"


def _spell_time(until: Instant, now: Instant) -> str:
    """Return an instant rounded up to the minute, without the date if it is today."""
    text = spell_instant(-(-until // MINUTE) * MINUTE)
    day, clock, zone = text.split(" ")
    return f"{clock[:5]} {zone}" if until // DAY == now // DAY else f"{day} {clock[:5]} {zone}"


def spell_wait(monitor: Monitor, waiting: Collection[int], now: Instant) -> str:
    """Return what a monitor waits for before it can check these pages."""
    pages = [monitor.watchlist.pages[page_id] for page_id in waiting if page_id in monitor.watchlist.pages]
    idle = [page for page in pages if not monitor.planner.is_busy(page.state.page_id)]
    busy = [page for page in pages if monitor.planner.is_busy(page.state.page_id)]
    held = [
        (until, page) for page in idle if is_held(until := monitor.gate.state(page.identity.host).paused_until, now)
    ]
    if held:
        until, page = min(held, key=lambda one: one[0] or 0)
        return f"{page.identity.host}, which is held until {_spell_time(until or 0, now)}"
    if busy:
        identity = busy[0].identity
        return f"{'the browser that renders' if identity.render else 'the answer of'} {identity.given}"
    if idle and monitor.polling.payer.pays_at > now:
        return f"the budget, which pays again in {spell_duration(_whole(monitor.polling.payer.pays_at - now))}"
    for page in idle:
        host = page.identity.host
        ready = monitor.gate.ready_at(host)
        if ready == NEVER:
            return f"other requests to {host}"
        if ready > now:
            return f"{host}, which is asked once in {spell_duration(_whole(monitor.gate.gap(host)))}"
    return "receivers of messages" if monitor.sending.is_busy else "what was found to be stored"


def _whole(duration: Duration) -> Duration:
    """Return a duration in whole seconds, at least one."""
    return max(1, -(-duration // SECOND)) * SECOND


def spell_poller(c: Connection) -> str:
    """Return the process that is asked to check."""
    lease = leases.current(c, leases.POLLER)
    return f"the process that polls ({lease.holder if lease is not None and lease.holder else 'it has just ended'})"
