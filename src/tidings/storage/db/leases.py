"""Leases: who may poll, and who may try an endpoint, with an epoch that rises at each acquisition
(contracts §2, F-24).

With PostgreSQL, rows also name the processes that work on one database (`enrol`). Leases of
endpoints and these rows are measured by the server's clock, so that clocks of machines may differ.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from tidings.clock import DAY
from tidings.errors import ClaimLostError, PollerBusyError, StaleEpochError
from tidings.model.interval import Duration, Instant
from tidings.model.observed.unit import Claim
from tidings.record import dataclass
from tidings.storage.db.connection import Connection

POLLER: Final = "poller"
ENDPOINT: Final = "endpoint:"
"""Begins the names of leases of endpoints; the number of the endpoint follows."""
ROLE: Final = "role:"
"""Begins the names of rows of processes; role and holder follow."""
REMEMBERED: Final[Duration] = DAY
"""How long a process that ended without notice is listed."""


@dataclass(frozen=True, slots=True)
class LeaseRow:
    """A lease; `holder` is empty once it was released."""

    name: str
    holder: str
    epoch: int
    until: Instant


def current(c: Connection, name: str) -> LeaseRow | None:
    """Return the current lease, or None if it was never acquired."""
    row = c.one("SELECT name, holder, epoch, until FROM lease WHERE name = :name", name=name)
    return None if row is None else LeaseRow(*row)


def acquire(c: Connection, name: str, holder: str, *, at: Instant, until: Instant) -> int:
    """Acquire the lease until `until` and return its new epoch. Raise `PollerBusyError` while
    another holder's lease runs.

    Args:
        name: The name of the lease.
        holder: The process that acquires it.
        at: The present (µs).
        until: When it ends unless it is renewed (µs).
    """
    lease = current(c, name)
    if lease is not None and lease.holder not in {"", holder} and lease.until > at:
        left = (lease.until - at) / 1_000_000
        raise PollerBusyError(
            f"{lease.holder} checks pages and sends messages here; its lease ends in {left:.1f} s if it is not "
            "renewed. Stop that process, or wait"
        )
    epoch: int = c.value(
        "INSERT INTO lease (name, holder, epoch, until) VALUES (:name, :holder, 1, :until)"
        " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, epoch = lease.epoch + 1, until = excluded.until RETURNING epoch",
        name=name,
        holder=holder,
        until=until,
    )
    return epoch


def shorten(c: Connection, name: str, *, until: Instant) -> None:
    """End a lease no later than `until`: a later end was written by a clock that was ahead. The
    holder renews it.
    """
    c.execute("UPDATE lease SET until = :until WHERE name = :name AND until > :until", name=name, until=until)


def renew(c: Connection, name: str, holder: str, epoch: int, *, until: Instant) -> None:
    """Prolong the lease. Raise `StaleEpochError` if another process has acquired it.

    Args:
        name: The name of the lease.
        holder: The process that holds it.
        epoch: The epoch with which it was acquired.
        until: The new end (µs).
    """
    text = "UPDATE lease SET until = :until WHERE name = :name AND holder = :holder AND epoch = :epoch"
    if not c.execute(text, name=name, holder=holder, epoch=epoch, until=until):
        raise StaleEpochError(f"the lease {name} of {holder} (epoch {epoch}) was taken over; this process stops")


def release(c: Connection, name: str, holder: str, epoch: int) -> None:
    """Release the lease if it is still held; its epoch stays, so that the next one is higher.

    Args:
        name: The name of the lease.
        holder: The process that holds it.
        epoch: The epoch with which it was acquired.
    """
    text = "UPDATE lease SET holder = '', until = 0 WHERE name = :name AND holder = :holder AND epoch = :epoch"
    c.execute(text, name=name, holder=holder, epoch=epoch)


def check_epoch(c: Connection, epoch: int) -> None:
    """Raise `StaleEpochError` unless `epoch` is the poller's newest (0 before the first poller)."""
    newest = c.value("SELECT epoch FROM lease WHERE name = 'poller'") or 0
    if epoch != newest:
        raise StaleEpochError(f"epoch {epoch} is stale, the current one is {newest}; this process stops")


def succeed(c: Connection, name: str, seen: LeaseRow | None, holder: str, *, until: Instant) -> int:
    """Acquire a lease that is over, and return its new epoch. Raise `PollerBusyError` if it was
    renewed or acquired since it was read.

    Args:
        name: The name of the lease.
        seen: The lease as it was read; None if there was none.
        holder: The process that acquires it.
        until: When it ends unless it is renewed (µs).
    """
    if current(c, name) != seen:
        raise PollerBusyError("another process was faster, or the holder has renewed its lease")
    return acquire(c, name, holder, at=0 if seen is None else seen.until, until=until)


def server_time(c: Connection) -> Instant:
    """Return the time of PostgreSQL's server (µs), one for all machines."""
    return int(c.value("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"))


def list_claimed(c: Connection, holder: str) -> set[int]:
    """Return the endpoints that other holders have claimed now."""
    rows = c.rows(
        "SELECT name FROM lease WHERE name LIKE 'endpoint:%' AND holder <> '' AND holder <> :holder AND until > :at",
        holder=holder,
        at=server_time(c),
    )
    return {int(name[len(ENDPOINT) :]) for (name,) in rows}


def claim(c: Connection, endpoint_ids: Collection[int], holder: str, *, length: Duration) -> dict[int, Claim]:
    """Claim those of these endpoints that no other holder has claimed; return each with its claim.

    Args:
        endpoint_ids: The endpoints.
        holder: The process that claims them.
        length: How long the claims last unless they are renewed (µs, > 0).
    """
    taken, until = list_claimed(c, holder), server_time(c) + length
    found = {}
    for endpoint_id in endpoint_ids:
        if endpoint_id not in taken:
            name = f"{ENDPOINT}{endpoint_id}"
            found[endpoint_id] = Claim(name, acquire(c, name, holder, at=until, until=until))
    return found


def drop_claim(c: Connection, held: Claim, holder: str) -> None:
    """Release a claim, if it is still held."""
    release(c, held.name, holder, held.epoch)


def is_claimed(c: Connection, held: Claim) -> bool:
    """Return whether a claim is still the newest of its endpoint."""
    return bool(c.value("SELECT epoch FROM lease WHERE name = :name", name=held.name) == held.epoch)


def check_claim(c: Connection, held: Claim) -> None:
    """Raise `ClaimLostError` unless a claim is still the newest of its endpoint."""
    if not is_claimed(c, held):
        message = f"{held.name} was taken over by another process, which sends its messages again"
        raise ClaimLostError(message)


def enrol(c: Connection, role: str, holder: str, *, length: Duration) -> None:
    """Note that a process works in a role, and prolong its claims. Rows of processes that ended
    long ago are deleted.

    Args:
        role: Its role.
        holder: Its unique name.
        length: For how long it counts as working without another note (µs, > 0).
    """
    at = server_time(c)
    c.execute(
        "INSERT INTO lease (name, holder, epoch, until) VALUES (:name, :holder, 0, :until)"
        " ON CONFLICT (name) DO UPDATE SET until = excluded.until",
        name=f"{ROLE}{role}:{holder}",
        holder=holder,
        until=at + length,
    )
    c.execute(
        "UPDATE lease SET until = :until WHERE holder = :holder AND name LIKE 'endpoint:%'",
        holder=holder,
        until=at + length,
    )
    c.execute("DELETE FROM lease WHERE name LIKE 'role:%' AND until < :before", before=at - REMEMBERED)


def retire(c: Connection, holder: str) -> None:
    """Release all claims of a process and delete its rows: it ends, or is known to be dead."""
    c.execute(
        "UPDATE lease SET holder = '', until = 0 WHERE holder = :holder AND name LIKE 'endpoint:%'", holder=holder
    )
    c.execute("DELETE FROM lease WHERE holder = :holder AND name LIKE 'role:%'", holder=holder)


def listing(c: Connection) -> list[LeaseRow]:
    """Return all leases and rows of processes, by name."""
    return [LeaseRow(*row) for row in c.rows("SELECT name, holder, epoch, until FROM lease ORDER BY name")]
