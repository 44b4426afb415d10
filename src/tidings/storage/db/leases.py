"""Leases: who may poll and deliver, with an epoch that rises at each acquisition (contracts §2,
F-24).
"""

from __future__ import annotations

from tidings.errors import PollerBusyError, StaleEpochError
from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.storage.db.connection import Connection

POLLER = "poller"


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
