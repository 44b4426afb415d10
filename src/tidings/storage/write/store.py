"""The store: the database as the service sees it, from one event loop, on one thread of its own (contracts §1).

Units of several callers share a transaction: up to 50 of them, or those of 5 ms. That is what makes a durable record cheap.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

from tidings.errors import StoreError, TidingsError, UnitError
from tidings.model.interval import Instant
from tidings.model.unit import Charged, Event, Grant, Unit
from tidings.storage.db.connection import Connection
from tidings.storage.db.database import Database
from tidings.storage.db.patience import Outage
from tidings.storage.watches import events
from tidings.storage.write import charge, leases
from tidings.storage.write.commit import Committed, commit

P = ParamSpec("P")
T = TypeVar("T")

MOST_UNITS = 50
GATHER_SECONDS = 0.005

Result = Committed | Exception
_BROKEN = (TidingsError, TypeError, ValueError, OverflowError, LookupError, AttributeError)
"""What a unit that is wrong in itself raises while it is written; anything else is a fault of ours and not caught."""


class Store:
    """The async face of one `Database`, which belongs to it from now on."""

    def __init__(self, database: Database, *, gather_seconds: float = GATHER_SECONDS) -> None:
        self._database = database
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._gather_seconds = gather_seconds
        self._epoch: int | None = None
        self._waiting: list[tuple[Unit, asyncio.Future[Result]]] = []
        self._flush: asyncio.TimerHandle | None = None
        self._flights: set[asyncio.Task[None]] = set()

    async def read(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kw: P.kwargs) -> T:
        """Return `fn(connection, ...)`, run on one unmoving state of the database."""
        return await self._run(lambda: self._database.read(fn, *args, **kw))

    async def write(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kw: P.kwargs) -> T:
        """Return `fn(connection, ...)` once all it wrote is durable; `StaleEpochError` once the epoch of `fence` is over."""

        def fenced(c: Connection) -> T:
            if self._epoch is not None:
                leases.check_epoch(c, self._epoch)
            return fn(c, *args, **kw)

        return await self._run(lambda: self._database.write(fenced))

    def fence(self, epoch: int) -> None:
        """Write only while this is the poller's newest epoch, from now on: a process that was stopped for a while may have been replaced."""
        self._epoch = epoch

    async def charge(
        self, grants: Sequence[Grant], *, at: Instant, epoch: int, in_turn: bool = False
    ) -> list[Charged | None]:
        """Pay for grants in one commit; None stands for one that the budget does not allow; see `charge.charge`."""
        return await self.write(charge.charge, grants, at=at, epoch=epoch, in_turn=in_turn)

    async def commit(self, units: Sequence[Unit]) -> list[Result]:
        """Return, once all are durable, what each unit was given, or the exception that kept it out.

        A unit that breaks its group is tried alone and, if it breaks again, recorded as an event `problem.unit`. If the store as a
        whole refuses (stale epoch, busy, full), every unit has that exception and nothing is recorded.
        """
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Result]] = [loop.create_future() for _ in units]
        self._waiting.extend(zip(units, futures, strict=True))
        if len(self._waiting) >= MOST_UNITS:
            self._send()
        elif self._waiting and self._flush is None:
            self._flush = loop.call_later(self._gather_seconds, self._send)
        return [await future for future in futures]

    async def changed(self) -> bool:
        """Return whether another connection has committed since last asked."""
        return await self._run(self._database.changed)

    @property
    def outage(self) -> Outage | None:
        """Return since when the server of the database has not answered; what is asked of the store waits for it. None: it answers."""
        return self._database.patience.outage

    def take_outages(self) -> list[Outage]:
        """Return the outages that have ended since last asked."""
        return self._database.patience.take_ended()

    def hurry(self) -> None:
        """Let nothing wait any longer than a few seconds for a server that does not answer: it raises `StoreLostError` then."""
        self._database.patience.hurry()

    async def close(self) -> None:
        """Finish what is under way and close the database."""
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
        for start in range(0, len(waiting), MOST_UNITS):
            flight = asyncio.get_running_loop().create_task(self._deliver(waiting[start : start + MOST_UNITS]))
            self._flights.add(flight)
            flight.add_done_callback(self._land)

    def _land(self, flight: asyncio.Task[None]) -> None:
        self._flights.discard(flight)
        if not flight.cancelled():
            flight.exception()  # its callers have it already

    async def _deliver(self, group: Sequence[tuple[Unit, asyncio.Future[Result]]]) -> None:
        try:
            results = await self._run(lambda: commit_group(self._database, [unit for unit, _ in group]))
        except BaseException as error:
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
            raise
        for (_, future), result in zip(group, results, strict=True):
            if not future.done():
                future.set_result(result)


def commit_group(database: Database, units: Sequence[Unit]) -> list[Result]:
    """Commit units in one transaction; if that fails, each alone, recording those that are broken."""
    try:
        return list(database.write(commit, units))
    except _BROKEN as error:
        if _is_whole_store(error):
            return [error] * len(units)
        if len(units) == 1:
            return [_record(database, units[0], error)]
    return [commit_group(database, [unit])[0] for unit in units]


def _is_whole_store(error: Exception) -> bool:
    return isinstance(error, StoreError) and not isinstance(error, UnitError)


def _record(database: Database, unit: Unit, error: Exception) -> Exception:
    """Tell of a broken unit by an event; return its error."""
    text = str(error) or type(error).__name__
    page_id = next((part.page_id for part in (unit.poll, unit.page, unit.version) if part is not None), None)
    problem = Event(type="problem.unit", at=unit.at, page_id=page_id, data={"error": text})
    try:
        database.write(events.append, [problem])
    except StoreError as worse:
        return worse
    return error
