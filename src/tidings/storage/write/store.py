"""The store: the database for the service's event loop, on one thread of its own (contracts §1).

Units of several callers share a transaction: up to 50, or those of 25 ms under load, which makes
durable writes cheap. Reads that wait while the thread is busy share a transaction too.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from tidings.errors import ClaimLostError, OvertakenError, StaleEpochError, StoreError, TidingsError, UnitError
from tidings.model.event_type import EventType
from tidings.model.interval import Instant
from tidings.model.observed.unit import Charged, Event, Grant, Unit
from tidings.record import dataclass
from tidings.storage.db import lock
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import Database, Outage
from tidings.storage.watches import events
from tidings.storage.write import charge
from tidings.storage.write.commit import Committed, Keep, commit

P = ParamSpec("P")
T = TypeVar("T")

MOST_UNITS = 50
GATHER_SECONDS = 0.025
"""How long units are collected under load."""
FEW_SECONDS = 0.001
"""How long otherwise."""
FEW_UNITS = 2

Result = Committed | Exception
_BROKEN = (TidingsError, TypeError, ValueError, OverflowError, LookupError, AttributeError)
"""What a faulty unit raises while it is written; anything else is a bug and not caught."""


@dataclass(slots=True)
class _Read:
    """A waiting read, and its result."""

    fn: Callable[[Connection], Any]
    given: asyncio.Future[Any]
    is_done: bool = False
    value: Any = None
    error: BaseException | None = None

    def run(self, c: Connection) -> None:
        self.value = self.fn(c)
        self.is_done = True

    def give(self) -> None:
        if self.given.done():
            return
        if self.error is not None:
            self.given.set_exception(self.error)
        else:
            self.given.set_result(self.value)


class Store:
    """The async interface of one `Database`, which it owns. `keep` plans how the new bodies of
    units are stored.
    """

    def __init__(self, database: Database, *, keep: Keep | None = None, gather_seconds: float = GATHER_SECONDS) -> None:
        self._database = database
        self._keep = keep
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._gather_seconds = gather_seconds
        self._epoch: int | None = None
        self._waiting: list[tuple[Unit, asyncio.Future[Result]]] = []
        self._flush: asyncio.TimerHandle | None = None
        self._last_units = 0
        self._flights: set[asyncio.Task[None]] = set()
        self._reads: list[_Read] = []
        self._lock = threading.Lock()  # the event loop adds reads, the thread takes them

    async def read(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kw: P.kwargs) -> T:
        """Return `fn(connection, ...)`, run on one snapshot of the database."""
        run = copy_context().run
        read = _Read(lambda c: run(fn, c, *args, **kw), asyncio.get_running_loop().create_future())
        with self._lock:
            self._reads.append(read)
            is_first = len(self._reads) == 1
        if is_first:
            self._fly(self._read_all())
        return cast("T", await read.given)

    async def write(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kw: P.kwargs) -> T:
        """Return `fn(connection, ...)` once all its writes are durable. Raise `StaleEpochError`
        once the epoch of `fence` is over.
        """

        def run_fenced(c: Connection) -> T:
            if self._epoch is not None:
                lock.check_epoch(c, self._epoch)
            return fn(c, *args, **kw)

        return await self._run(lambda: self._database.write(run_fenced))

    def fence(self, epoch: int) -> None:
        """Refuse writes from now on unless this is the poller's newest epoch: a process that was
        stopped may have been replaced.
        """
        self._epoch = epoch

    async def charge(
        self, grants: Sequence[Grant], *, at: Instant, epoch: int, in_turn: bool = False, starts: bool = True
    ) -> list[Charged | None]:
        """Pay for grants in one commit; None stands for one that the budget refuses; see
        `charge.charge`.

        Args:
            grants: At most 64.
            at: The instant of the step (µs).
            epoch: The poller's epoch.
            in_turn: Whether grants after a refused one wait too.
            starts: Whether the requests leave now.
        """
        return await self.write(charge.charge, grants, at=at, epoch=epoch, in_turn=in_turn, starts=starts)

    async def commit(self, units: Sequence[Unit]) -> list[Result]:
        """Return, once all are durable, the result of each unit, or the exception that kept it out.

        A unit that fails its group is tried alone and, if it fails again, recorded as an event
        `problem.unit`. If the store as a whole refuses (stale epoch, busy, full), every unit has
        that exception and nothing is recorded.
        """
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Result]] = [loop.create_future() for _ in units]
        self._waiting.extend(zip(units, futures, strict=True))
        if len(self._waiting) >= MOST_UNITS:
            self._send()
        elif self._waiting and self._flush is None:
            seconds = FEW_SECONDS if self._last_units <= FEW_UNITS else self._gather_seconds
            self._flush = loop.call_later(min(seconds, self._gather_seconds), self._send)
        return [await future for future in futures]

    async def has_changed(self) -> bool:
        """Return whether another connection has committed since the last call."""
        return await self._run(self._database.has_changed)

    async def clear_journal(self) -> None:
        """Remove deleted content from the database's journal, if that can be done at once."""
        await self._run(self._database.clear_journal)

    @property
    def outage(self) -> Outage | None:
        """Return the current outage of the database server, for which calls wait; None: it
        answers.
        """
        return self._database.patience.outage

    def take_outages(self) -> list[Outage]:
        """Return the outages that have ended since the last call."""
        return self._database.patience.take_ended()

    def hurry(self) -> None:
        """Limit all waiting for a silent server to a few seconds from now on, then raise
        `StoreLostError`.
        """
        self._database.patience.hurry()

    async def close(self) -> None:
        """Finish running calls and close the database."""
        self._send()
        await asyncio.gather(*self._flights)
        await self._run(self._database.close)
        self._thread.shutdown()

    async def _run(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def _send(self) -> None:
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        waiting, self._waiting = self._waiting, []
        self._last_units = len(waiting)
        for start in range(0, len(waiting), MOST_UNITS):
            self._fly(self._deliver(waiting[start : start + MOST_UNITS]))

    def _fly(self, work: Coroutine[None, None, None]) -> None:
        flight = asyncio.get_running_loop().create_task(work)
        self._flights.add(flight)
        flight.add_done_callback(self._land)

    def _land(self, flight: asyncio.Task[None]) -> None:
        self._flights.discard(flight)
        if not flight.cancelled():
            flight.exception()  # already passed to its callers

    async def _read_all(self) -> None:
        """Run the waiting reads when the thread is free; later ones form the next group."""
        taken: list[_Read] = []

        def run() -> None:
            taken.extend(self._take_reads())
            read_together(self._database, taken)

        try:
            await self._run(run)
        except BaseException as error:
            for read in taken or self._take_reads():
                read.error = error
                read.give()
            raise
        for read in taken:
            read.give()

    def _take_reads(self) -> list[_Read]:
        with self._lock:
            reads, self._reads = self._reads, []
        return reads

    async def _deliver(self, group: Sequence[tuple[Unit, asyncio.Future[Result]]]) -> None:
        try:
            results = await self._run(lambda: commit_group(self._database, [unit for unit, _ in group], self._keep))
        except BaseException as error:
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
            raise
        for (_, future), result in zip(group, results, strict=True):
            if not future.done():
                future.set_result(result)


def read_together(database: Database, reads: Sequence[_Read]) -> None:
    """Run reads in one transaction; if one fails, it and those after it run alone."""

    def run(c: Connection) -> None:
        for read in reads:
            read.run(c)

    if len(reads) > 1:
        with contextlib.suppress(Exception):
            database.read(run)
    for read in reads:
        if not read.is_done:
            try:
                database.read(read.run)
            except Exception as error:  # noqa: BLE001 - a read may raise anything; its caller gets it
                read.error = error


def commit_group(database: Database, units: Sequence[Unit], keep: Keep | None = None) -> list[Result]:
    """Commit units in one transaction; if that fails, each alone, recording the failed ones. If a
    unit lost its lease or claim, only the units of the same lease or claim fail with it.
    """
    try:
        return list(database.write(commit, units, keep))
    except _BROKEN as error:
        if _concerns_all(error, units):
            return [error] * len(units)
        if len(units) == 1:
            return [_record(database, units[0], error)]
    return [commit_group(database, [unit], keep)[0] for unit in units]


def _concerns_all(error: Exception, units: Sequence[Unit]) -> bool:
    """Return whether an error concerns the store or the whole process, not only one of units."""
    is_of_one = isinstance(error, ClaimLostError | StaleEpochError) and any(unit.claim is not None for unit in units)
    if is_of_one or isinstance(error, OvertakenError):
        return len(units) == 1
    return isinstance(error, StoreError) and not isinstance(error, UnitError)


def _record(database: Database, unit: Unit, error: Exception) -> Exception:
    """Record a failed unit as an event; return its error."""
    text = str(error) or type(error).__name__
    page_id = next((part.page_id for part in (unit.poll, unit.page, unit.version) if part is not None), None)
    problem = Event(type=EventType.PROBLEM_UNIT, at=unit.at, page_id=page_id, data={"error": text})
    try:
        database.write(events.append, [problem])
    except StoreError as worse:
        return worse
    return error
