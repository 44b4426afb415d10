"""The one definition of health: what counts as trouble, and its words. `list`, `show`, `check`,
`doctor` and `/healthz` print it.

`SOURCES` is the one table. To add a kind of trouble, write a function of a `Reading` that yields
`Trouble`s, and name it there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from tidings.record import dataclass
from tidings.service.health import cluster, page_troubles, service_troubles
from tidings.service.health.trouble import Health, HealthReading, Trouble
from tidings.service.secrets import secrets
from tidings.service.show.finding import Finding, shorten, spell_count, spell_since
from tidings.storage.db import lock, planners
from tidings.storage.db.lock import PollerLock
from tidings.storage.secrets import Vault
from tidings.storage.watches import endpoints, outside

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Database


@dataclass(frozen=True, slots=True)
class Source:
    """A function that finds troubles of one kind, and `doctor`'s text while there are none."""

    find: Callable[[HealthReading], Iterator[Trouble]]
    well: Callable[[HealthReading], str]


def health_of(c: Connection, settings: Settings, *, now: Instant, is_polled: bool, viewer: int | None = None) -> Health:
    """Return the health of what an owner sees, without what concerns the whole installation;
    of everything for one who sees all.

    Args:
        settings: The settings in use.
        now: Wall time (µs).
        is_polled: Whether a process polls now.
        viewer: The owner who reads; None for one who sees all.
    """
    reading = HealthReading(c=c, settings=settings, now=now, is_polled=is_polled, viewer=viewer)
    found = [trouble for source in SOURCES.values() for trouble in source.find(reading)]
    return Health.of_all([one for one in found if viewer is None or one.sentinels])


def health_of_service(c: Connection, settings: Settings, *, now: Instant, viewer: int | None = None) -> Health:
    """Return the health as a running service shows it to an owner, None for one who sees all. It
    polls itself; with PostgreSQL another process may, or none.
    """
    is_polled = not settings.store.url or is_lease_valid(c, now)
    return health_of(c, settings, now=now, is_polled=is_polled, viewer=viewer)


def is_lease_valid(c: Connection, now: Instant) -> bool:
    """Return whether a process holds the lease of the poller (wall time in µs)."""
    lease = lock.current_lease(c, lock.POLLER)
    return lease is not None and bool(lease.holder) and lease.until >= now


def findings(c: Connection, name: str, settings: Settings, *, now: Instant, is_polled: bool) -> Iterator[Finding]:
    """Yield `doctor`'s findings of one source: its troubles, or that there are none.

    Args:
        name: The name of the source.
        settings: The settings in use.
        now: Wall time (µs).
        is_polled: Whether a process polls now.
    """
    source, reading = SOURCES[name], HealthReading(c=c, settings=settings, now=now, is_polled=is_polled)
    found = [_finding(name, trouble) for trouble in Health.of_all([*source.find(reading)]).troubles]
    yield from shorten(found, mend="tidings list")
    if not found:
        yield Finding("ok", name, source.well(reading))


def _finding(name: str, trouble: Trouble) -> Finding:
    status = trouble.severity
    return Finding("ok" if status == "note" else status, name, trouble.words, trouble.mend)


def is_polled(settings: Settings, database: Database, *, now: Instant) -> bool:
    """Return whether a process polls: by the lock on one machine, by the lease with PostgreSQL."""
    if database.dialect == "sqlite":
        return PollerLock(settings.data).holder() is not None
    return database.read(is_lease_valid, now)


def _find_stopped_poller(reading: HealthReading) -> Iterator[Trouble]:
    """Yield the process that holds the lock without a valid lease: it was stopped, it hangs, or the
    machine slept.
    """
    lease = lock.current_lease(reading.c, lock.POLLER)
    if lease is None or not lease.holder or not reading.is_polled or lease.until >= reading.now:
        return
    ended = spell_since(lease.until, reading.now)
    yield Trouble(
        brief="stopped",
        words=f"{lease.holder} has the lock, but its lease ended at {ended}: it hangs, or was suspended",
        mend="tidings serve  # or `tidings check`: it takes over",
        since=lease.until,
        is_general=True,
    )


def _find_unopened_secrets(reading: HealthReading) -> Iterator[Trouble]:
    """Yield why secrets cannot be decrypted; whatever needs one is neither fetched nor sent
    meanwhile.
    """
    for finding in secrets.findings(reading.c, Vault(reading.settings.data)):
        if finding.status != "ok":
            yield Trouble(
                brief="secrets", words=finding.detail, mend=finding.mend, severity=finding.status, is_general=True
            )


def _spell_lease(reading: HealthReading) -> str:
    """Return the holder of the lease."""
    lease = lock.current_lease(reading.c, lock.POLLER)
    if lease is None:
        return "no check was made yet"
    if not lease.holder:
        return f"free; epoch {lease.epoch}"
    if lease.holder == lock.PLANNERS:
        return f"shared by {spell_count(len(planners.listing(reading.c)), 'planner')}, epoch {lease.epoch}"
    return f"{lease.holder}, epoch {lease.epoch}, until {spell_since(lease.until, reading.now)}"


def _constant(text: str) -> Callable[[HealthReading], str]:
    return lambda reading: text  # noqa: ARG005 - the same for all


def _spell_endpoints(reading: HealthReading) -> str:
    return f"{len(endpoints.listing(reading.c))} known, none fails"


def _spell_events(reading: HealthReading) -> str:
    count = len(outside.listing(reading.c))
    return f"{count} known, each can happen" if count else "none known"


SOURCES: Final[Mapping[str, Source]] = {
    "lease": Source(_find_stopped_poller, _spell_lease),
    "processes": Source(cluster.find_missing_role, cluster.spell_processes),
    "secrets": Source(_find_unopened_secrets, _constant("each opens")),
    "clock": Source(service_troubles.clock, _constant("no record is later than now")),
    "stalls": Source(service_troubles.stalls, _constant("all results of checks could be stored in the last 7 days")),
    "outages": Source(service_troubles.outages, _constant("the database was reachable in the last 7 days")),
    "checks": Source(page_troubles.overdue, page_troubles.on_time),
    "pages": Source(page_troubles.failing, page_troubles.none_fails),
    "comparable pages": Source(page_troubles.incomparable, _constant("every page can be compared")),
    "frames": Source(page_troubles.partial, _constant("every frame can be read")),
    "parts": Source(page_troubles.missing_parts, _constant("all selectors match")),
    "second checks": Source(page_troubles.list_unconfirmed, _constant("no change waits for a second check")),
    "healed parts": Source(page_troubles.list_healed_selectors, _constant("no selector was healed")),
    "masks": Source(service_troubles.list_silenced, _constant("no sentinel is silenced by what is ignored as noise")),
    "restless pages": Source(page_troubles.restless, _constant("no page is different each time")),
    "moved pages": Source(page_troubles.list_moved, _constant("no page has moved permanently")),
    "hosts": Source(page_troubles.failing_hosts, page_troubles.no_host_fails),
    "deliveries": Source(
        service_troubles.list_undelivered, _constant("none is dead, none waits longer than it should")
    ),
    "receivers": Source(service_troubles.failing_endpoints, _spell_endpoints),
    "events": Source(service_troubles.impossible_events, _spell_events),
    "classes": Source(service_troubles.list_lost_classes, _constant("every named class is defined")),
    "texts": Source(service_troubles.list_unreadable, _constant("every text that was used can be read")),
    "comparisons": Source(page_troubles.comparisons_owed, _constant("none is owed, none was given up")),
    "search index": Source(service_troubles.find_search_lag, _constant("no stored version waits for it")),
    "problems": Source(service_troubles.list_unstored, _constant("none was recorded in the last 7 days")),
}
"""Every kind of trouble, in the order of `doctor`'s output."""
