"""Planners that share the pages of one PostgreSQL database (docs/decisions/0090).

Pages are divided into shards by their host. A *run* of a planner has an epoch of its own and, as
long as it lasts, the same shards. Whatever changes them is a new run with a new epoch, in the same
transaction. So one test keeps all promises: a write is refused unless its epoch is that of a run
that lasts (`lock.check_epoch`). Two runs never have the same shard, since a shard is taken only
from a run that is ended in that transaction.

A run is a row of `lease`. It lasts as long as it is renewed, by the clock of the database's server.
Whoever has shard 0 leads: it does what is not divided.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from tidings.errors import PollerBusyError, StaleEpochError
from tidings.model.interval import Duration, Instant
from tidings.record import dataclass
from tidings.storage.db import lock
from tidings.storage.db.connection import Connection, from_json, to_json
from tidings.storage.db.lock import PLANNER, PLANNERS, POLLER, LeaseRow

SHARDS: Final = 64
"""More planners than that cannot work at a time."""


@dataclass(frozen=True, slots=True)
class PlannerRun:
    """One run of a planner: its process, epoch and end unless it is renewed, its shards, and its
    note to the other planners.
    """

    holder: str
    epoch: int
    until: Instant
    shards: frozenset[int] = frozenset()
    note: Mapping[str, Any] = field(default_factory=dict)

    @property
    def leads(self) -> bool:
        """Return whether it does what is not divided."""
        return 0 in self.shards


def listing(c: Connection) -> list[PlannerRun]:
    """Return the runs, those that are over and not taken over yet too, by epoch."""
    rows = c.rows("SELECT holder, epoch, until, note FROM lease WHERE name LIKE 'planner:%' ORDER BY epoch")
    return [_to_run(*row) for row in rows]


def begin(c: Connection, holder: str, *, seen: LeaseRow | None, length: Duration) -> PlannerRun:
    """Begin a run of a process in place of its last one, if any, with its part of the shards.

    Ends the runs that were not renewed. Takes no shard of a run that lasts: that one gives up what
    it has too many of. Raises `PollerBusyError` while one process has all pages to itself.

    Args:
        holder: The unique name of the process.
        seen: The lease of the poller as it was read, if it counts as over.
        length: How long the run lasts unless it is renewed (µs, > 0).
    """
    lease = lock.current_lease(c, POLLER)
    if lease is not None and lease.holder not in {"", PLANNERS} and lease != seen:
        message = f"{lease.holder} checks all pages here"
        raise PollerBusyError(message)
    if lease is not None and lease.holder not in {"", PLANNERS}:
        lock.retire(c, lease.holder)
    now = lock.server_time(c)
    c.execute("UPDATE lease SET until = :until WHERE until > :until", until=now + length)  # of a clock that was ahead
    others, own = [], frozenset[int]()
    for run in listing(c):
        if run.holder == holder:
            own |= run.shards
        elif run.until > now:
            others.append(run)
            continue
        else:
            lock.retire(c, run.holder)
        c.execute("DELETE FROM lease WHERE name = :name", name=_name(run))
    epoch: int = c.value(
        "INSERT INTO lease (name, holder, epoch, until) VALUES (:name, :holder, 1, :until)"
        " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, epoch = lease.epoch + 1, until = excluded.until RETURNING epoch",
        name=POLLER,
        holder=PLANNERS,
        until=now + length,
    )
    begun = PlannerRun(holder, epoch, now + length, choose_shards(own, others))
    c.execute(
        "INSERT INTO lease (name, holder, epoch, until, note) VALUES (:name, :holder, :epoch, :until, :note)",
        name=_name(begun),
        holder=holder,
        epoch=epoch,
        until=begun.until,
        note=_encode(begun, {}),
    )
    return begun


def choose_shards(own: Collection[int], others: Sequence[PlannerRun]) -> frozenset[int]:
    """Return the shards of a new run: as many as an even part, of its own first, then of those that
    nobody has.
    """
    most = _even_part(len(others) + 1)
    left = sorted(own)[:most]
    return frozenset([*left, *sorted(_find_free((*others, PlannerRun("", 0, 0, frozenset(own)))))[: most - len(left)]])


def renew(c: Connection, run: PlannerRun, note: Mapping[str, Any], *, length: Duration) -> list[PlannerRun]:
    """Prolong a run, leave the others a note, and return all runs that last. Raise
    `StaleEpochError` if it was ended.

    Args:
        run: The run.
        note: The note, as plain JSON.
        length: How long it lasts from now on (µs, > 0).
    """
    now = lock.server_time(c)
    is_there = c.execute(
        "UPDATE lease SET until = :until, note = :note WHERE name = :name AND holder = :holder",
        name=_name(run),
        holder=run.holder,
        until=now + length,
        note=_encode(run, note),
    )
    if not is_there:
        message = f"the run of {run.holder} (epoch {run.epoch}) was ended by another planner"
        raise StaleEpochError(message)
    c.execute(
        "UPDATE lease SET until = :until WHERE name = 'poller' AND holder = :holder",
        until=now + length,
        holder=PLANNERS,
    )
    return [each for each in listing(c) if each.until > now]


def is_uneven(run: PlannerRun, runs: Sequence[PlannerRun]) -> bool:
    """Return whether a run is to be followed by another one: it has more than its part of the
    shards, or can have more.

    Args:
        run: The run.
        runs: All that last, it among them.
    """
    most, has = _even_part(len(runs)), len(run.shards)
    return has > most or (has < most and bool(_find_free(runs)))


def end(c: Connection, run: PlannerRun) -> None:
    """End a run of a process that leaves; the last one releases the lease of the poller."""
    c.execute("DELETE FROM lease WHERE name = :name AND holder = :holder", name=_name(run), holder=run.holder)
    if not listing(c):
        c.execute("UPDATE lease SET holder = '', until = 0 WHERE name = 'poller' AND holder = :holder", holder=PLANNERS)


def end_others(c: Connection, epoch: int) -> None:
    """End all runs but that of an epoch: each of their processes begins another one, and loads its
    pages anew.
    """
    c.execute("DELETE FROM lease WHERE name LIKE 'planner:%' AND epoch <> :epoch", epoch=epoch)


def bury(c: Connection, holder: str) -> None:
    """End the run of a process that is known to be dead."""
    for run in listing(c):
        if run.holder == holder:
            end(c, run)
    lock.retire(c, holder)


def _even_part(planners: int) -> int:
    return -(-SHARDS // planners)


def _find_free(runs: Iterable[PlannerRun]) -> frozenset[int]:
    return frozenset(range(SHARDS)).difference(*(run.shards for run in runs))


def _name(run: PlannerRun) -> str:
    return f"{PLANNER}{run.epoch}"


def _encode(run: PlannerRun, note: Mapping[str, Any]) -> str:
    return to_json({"shards": sorted(run.shards), "note": dict(note)})


def _to_run(holder: str, epoch: int, until: Instant, note: str) -> PlannerRun:
    known = from_json(note)
    return PlannerRun(holder, epoch, until, frozenset(known["shards"]), known["note"])
