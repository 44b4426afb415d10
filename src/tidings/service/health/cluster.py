"""The processes that share one database: their roles, what they hold, and the work that waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tidings.record import dataclass
from tidings.service.health.trouble import Trouble
from tidings.service.show.finding import spell_count, spell_length
from tidings.service.show.records import rfc3339
from tidings.storage.db import lock, planners
from tidings.storage.watches import deliveries

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.service.health.trouble import HealthReading
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.lock import LeaseRow
    from tidings.storage.db.planners import PlannerRun

ROLES: Final = ("all", "planner", "stand-by", "notifier", "web", "poller")
"""The order of the list."""
SENDING: Final = frozenset({"all", "notifier"})


@dataclass(frozen=True, slots=True)
class ClusterProcess:
    """A process: its role and name, whether it has worked within the length of a lease, until when
    it counts as working, its epoch if it checks pages, how many of the shards these are and whether
    it leads (a process that does everything has all), and the endpoints that it has claimed.
    """

    role: str
    name: str
    is_working: bool
    until: Instant
    epoch: int | None = None
    endpoints: int = 0
    shards: int = 0
    leads: bool = False

    @property
    def holds(self) -> str:
        """Return what it holds, in words."""
        parts = [] if self.epoch is None else [f"all pages, epoch {self.epoch}"]
        if self.shards:
            parts = [f"{self.shards} of {planners.SHARDS} parts of the pages, epoch {self.epoch}"]
        if self.leads:
            parts.append("leads")
        return ", ".join([*parts, *([spell_count(self.endpoints, "endpoint")] if self.endpoints else [])])

    def record(self) -> dict[str, Any]:
        """Return the JSON record."""
        return {
            "record": "process",
            "role": self.role,
            "name": self.name,
            "working": self.is_working,
            "until": rfc3339(self.until),
            "epoch": self.epoch,
            "endpoints": self.endpoints,
            "shards": self.shards,
            "leads": self.leads,
        }


@dataclass(frozen=True, slots=True)
class Queue:
    """Messages that wait, those of them that are due, and for how long the first one has been due
    (µs).
    """

    waiting: int
    due: int
    late: Duration


def list_members(c: Connection) -> list[ClusterProcess]:
    """Return the processes by role, and after them those that have ended; with SQLite only the
    one that checks pages.
    """
    rows = lock.listing(c)
    lease = next((row for row in rows if row.name == lock.POLLER and row.holder not in {"", lock.PLANNERS}), None)
    if c.dialect == "sqlite":
        return (
            []
            if lease is None
            else [ClusterProcess("all", lease.holder, is_working=True, until=lease.until, epoch=lease.epoch)]
        )
    now = lock.server_time(c)
    claimed = Counter(row.holder for row in rows if row.name.startswith(lock.ENDPOINT) and row.until > now)
    runs = {run.holder: run for run in planners.listing(c)}
    found = [_member(row, lease, runs.get(row.holder), claimed, now) for row in rows if row.name.startswith(lock.ROLE)]
    place = {role: number for number, role in enumerate(ROLES)}
    return sorted(found, key=lambda one: (not one.is_working, place.get(one.role, len(place)), one.name))


def _member(
    row: LeaseRow, lease: LeaseRow | None, run: PlannerRun | None, claimed: Counter[str], now: Instant
) -> ClusterProcess:
    role = row.name.removeprefix(lock.ROLE).partition(":")[0]
    epoch = lease.epoch if lease is not None and lease.holder == row.holder and role == "all" else None
    if run is not None and run.shards:
        epoch = run.epoch
    return ClusterProcess(
        role,
        row.holder,
        is_working=row.until > now,
        until=row.until,
        epoch=epoch,
        endpoints=claimed[row.holder] if role in SENDING else 0,
        shards=0 if run is None else len(run.shards),
        leads=run is not None and run.leads,
    )


def list_counts(c: Connection) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Return role, name and counters of each working process that has noted some."""
    now = lock.server_time(c)
    noted = [(row, note) for row, note in lock.list_notes(c) if row.until > now]
    return [(row.name.removeprefix(lock.ROLE).partition(":")[0], row.holder, note) for row, note in noted]


def read_queue(c: Connection, now: Instant) -> Queue:
    """Return the messages that wait at an instant (µs)."""
    waiting, due, first = deliveries.count_waiting(c, now=now)
    return Queue(waiting, due, 0 if first is None else max(0, now - first))


def find_missing_role(reading: HealthReading) -> Iterator[Trouble]:
    """Yield a trouble if nobody sends the messages of a planner."""
    working = {one.role for one in _list_working(reading)}
    if "planner" in working and not working & SENDING:
        queue = read_queue(reading.c, reading.now)
        yield Trouble(
            brief="no notifier",
            words=f"a planner works, and no notifier sends its messages; {queue.waiting:,} wait",
            mend="tidings serve --role notifier",
            is_general=True,
        )


def spell_processes(reading: HealthReading) -> str:
    """Return how many processes work, by role."""
    if reading.c.dialect == "sqlite":
        return "one process does everything"
    return spell_roles(_list_working(reading)) or "none works"


def spell_roles(members: Sequence[ClusterProcess]) -> str:
    """Return the number of processes of each role."""
    counts = count_roles(members)
    return ", ".join(f"{counts[role]:,} {role}" for role in ROLES if counts[role])


def count_roles(members: Sequence[ClusterProcess]) -> Counter[str]:
    """Return the number of working processes by role."""
    return Counter(one.role for one in members if one.is_working)


def spell_queue(queue: Queue) -> str:
    """Return the messages that wait, in words."""
    if not queue.waiting:
        return "none waits"
    late = f", the first for {spell_length(queue.late)}" if queue.late else ""
    return f"{queue.waiting:,} wait, {queue.due:,} due{late}"


def _list_working(reading: HealthReading) -> list[ClusterProcess]:
    return [] if reading.c.dialect == "sqlite" else [one for one in list_members(reading.c) if one.is_working]
