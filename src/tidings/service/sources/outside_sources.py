"""Sources: poll the files and commands whose changed content makes events.

A poll is recorded before it is made, so that a crash costs it and no command runs twice for one due
time. Its result is compared with the last one, in the transaction that writes the event: changed
content is an event, a first result is not. A source that cannot be polled is reported once, as a
problem, and its last result stays.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import SECOND
from tidings.errors import UnknownNameError, UsageError
from tidings.fetching.files import Unread, head
from tidings.isolation import command
from tidings.isolation.runner import Died
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event
from tidings.record import dataclass
from tidings.service.sources.outside_events import check_source, happen, source_of
from tidings.storage.db import lock
from tidings.storage.watches import events, outside

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.model.event_type import EventSource
    from tidings.model.interval import Instant
    from tidings.service.sources.outside_events import OutsideEvents
    from tidings.settings import EventSettings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.outside import SourceRow
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service.sources.outside_events")
PROBLEM: Final = EventType.PROBLEM_EVENT
AT_ONCE: Final = 4
"""concurrent polls of files and commands"""
MOST_FILE_BYTES: Final = 10_000_000
"""How much of a file is compared, from its beginning."""
MOST_OUTPUT_BYTES: Final = 1_000_000
"""A command that writes more is killed."""
SHOWN: Final = 2_000
"""characters of the output included in its event"""


@dataclass(frozen=True, slots=True)
class Sight:
    """The result of a poll: the `state` to store, and the event's data if it changed; or the
    `problem` that prevented it.
    """

    state: Mapping[str, Any]
    params: Mapping[str, Any]
    problem: str = ""


class Sources:
    """The files and commands of one poller. `next_due` is when one is due (None: never)."""

    def __init__(self, store: Store, settings: EventSettings, way: OutsideEvents, *, epoch: int, clock: Clock) -> None:
        self._store = store
        self._settings = settings
        self._way = way
        self._epoch = epoch
        self._clock = clock
        self._reading: set[int] = set()
        self.next_due: Instant | None = 0

    def wake(self) -> None:
        """Signal that another process may have created or dropped events."""
        self.next_due = 0

    async def due(self, now: Instant) -> list[Coroutine[Any, Any, None]]:
        """Return the polls that are due, each recorded already."""
        if self.next_due is None or now < self.next_due:
            return []
        free = AT_ONCE - len(self._reading)
        rows, self.next_due = await self._store.read(_due, now, free)
        rows = [row for row in rows if row.id not in self._reading][:free]
        if not rows:
            if self.next_due is not None and self.next_due <= now:
                self.next_due = now + SECOND
            return []
        self.next_due = await self._store.write(_note, rows, self._usual, at=now, epoch=self._epoch)
        self._reading |= {row.id for row in rows}
        return [self._read_source(row) for row in rows]

    @property
    def _usual(self) -> int:
        return round(self._settings.every_seconds * SECOND)

    async def _read_source(self, row: SourceRow) -> None:
        try:
            sight = await self._see(row)
            happened = await self._store.write(_settle, row, sight, at=self._clock.now(), epoch=self._epoch)
        finally:
            self._reading.discard(row.id)
        if happened:
            self._way.on_event(row.name)

    async def _see(self, row: SourceRow) -> Sight:
        source = source_of(row)
        try:
            check_source(source, self._settings)
        except UsageError as error:
            return Sight({}, {}, str(error))
        if source.origin == "file":
            return await asyncio.to_thread(_see_file, source, row.state, self._settings, self._clock.wall())
        return await _see_command(source, self._settings)


def _see_file(source: EventSource, before: Mapping[str, Any], settings: EventSettings, wall: Instant) -> Sight:
    seen = head(source.path, settings.allow_files, MOST_FILE_BYTES, before.get("etag", ""))
    if isinstance(seen, Unread):
        if not seen.is_gone:
            return Sight({}, {}, f"{source.path}: {seen.reason}")
        return Sight({"sha256": ""}, {"path": source.path, "change": "went"})
    if seen.body is None:
        return Sight(before, {})
    digest, stamp = hashlib.sha256(seen.body).hexdigest(), seen.stamp
    change = "changed" if before.get("sha256") else "appeared"
    params = {"path": source.path, "change": change, "size": stamp.size, "sha256": digest}
    known = {"etag": stamp.etag} if stamp.is_settled(wall) else {}
    return Sight({"sha256": digest, "size": stamp.size, **known}, params)


async def _see_command(source: EventSource, settings: EventSettings) -> Sight:
    ran = await command.run(source.argv, seconds=settings.command_seconds, most_bytes=MOST_OUTPUT_BYTES)
    if isinstance(ran, Died):
        return Sight({}, {}, ran.reason)
    digest = hashlib.sha256(ran.output).hexdigest()
    params = {"exit_code": ran.exit_code, "output": ran.output.decode("utf-8", "replace")[:SHOWN]}
    return Sight({"sha256": digest, "exit_code": ran.exit_code}, params)


def _due(c: Connection, now: Instant, most: int) -> tuple[list[SourceRow], Instant | None]:
    return outside.due(c, now, limit=most + AT_ONCE) if most else [], outside.next_due(c)


def _note(c: Connection, rows: list[SourceRow], usual: int, *, at: Instant, epoch: int) -> Instant | None:
    """Record that sources are polled now, and schedule the next poll in phase with the due time."""
    lock.check_epoch(c, epoch)
    for row in rows:
        every = max(source_of(row).every or usual, SECOND)
        was = at if row.due_at is None else row.due_at
        outside.note_check(c, row.id, at=at, due_at=was + ((at - was) // every + 1) * every)
    return outside.next_due(c)


def _settle(c: Connection, row: SourceRow, sight: Sight, *, at: Instant, epoch: int) -> bool:
    """Store a poll's result, and the event if the content changed; return whether it did."""
    lock.check_epoch(c, epoch)
    try:
        now = outside.find(c, row.name)
    except UnknownNameError:
        return False
    if (now.id, now.text) != (row.id, row.text):  # replaced meanwhile
        return False
    if sight.problem:
        if sight.problem != now.problem:
            log.warning("the event %s cannot happen: %s", row.name, sight.problem)
            data = {"event": row.name, "error": sight.problem}
            events.append(c, [Event(type=PROBLEM, at=at, data=data)])
        outside.settle(c, row.id, state=now.state, problem=sight.problem)
        return False
    is_other = bool(now.state) and _content(now.state) != _content(sight.state)
    if is_other:
        happen(c, now, sight.params, at=at)
    if sight.state != now.state or now.problem:
        outside.settle(c, row.id, state=sight.state, problem="")
    return is_other


def _content(state: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(state.get(name) for name in ("sha256", "size", "exit_code"))
