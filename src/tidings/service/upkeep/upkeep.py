"""Upkeep: the preconditions of a step, and what stops all steps and lets them resume automatically.

The lease is ours, the clock runs and the database is intact. While the data directory cannot be
written (a full disk, a quota, a read-only file system, no memory, no file descriptor) the service
polls nothing, reports it, and resumes automatically (F-08). Each step then begins with a small
write, and does nothing else until that succeeds. Pages whose poll could not be stored are polled
again soon.

Outages: recipients whose checks a database outage has delayed are notified once, when it is over.

A ping is a dead-man's switch: while the service works it requests a URL, whose monitor raises the
alarm when requests stop. Pings are part of steps: none while the lease is lost, the database is
unreachable or nothing can be stored. An answer that refuses them is logged once.
"""

from __future__ import annotations

import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final, Protocol

from tidings.clock import HOUR, MINUTE, SECOND, put_forward, set_back
from tidings.errors import (
    ClockSetBackError,
    OvertakenError,
    ShardsMovedError,
    StaleEpochError,
    StoreDamagedError,
    StoreError,
    StoreStalledError,
    UnitError,
)
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event, Unit
from tidings.model.watch.timing import FetchAt, FetchEvery
from tidings.record import replace
from tidings.service.notify.news import recipients_before
from tidings.service.poll.grants import unkept
from tidings.service.show.notices import BULLETINS, DAMAGED, OUTAGE, STALLED, bulletin_record, describe_last
from tidings.service.show.records import rfc3339, spell_gap
from tidings.storage.db.lock import hindrance
from tidings.storage.watches import deliveries, events
from tidings.storage.write import charge

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from tidings.clock import Clock
    from tidings.fetching.fetcher import Poster
    from tidings.fetching.politeness import HostGate
    from tidings.model.interval import Duration, Instant
    from tidings.service.notify.deliver import SendQueue
    from tidings.service.notify.news import Bulletins
    from tidings.service.plan.planner import Planner
    from tidings.service.poll.circuit import NetworkWatch
    from tidings.service.watch.committer import Committer
    from tidings.service.watch.watchlist import Subscription, Watchlist
    from tidings.settings import ServeSettings
    from tidings.storage.db.connection import Connection
    from tidings.storage.db.database import Outage
    from tidings.storage.db.soundness import Soundness
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service")

ONE_FAULT: Final[Duration] = HOUR
"""Stalls closer together than this are one fault, reported once."""


def stall_of(error: BaseException) -> StoreStalledError | None:
    """Return the stall that an error means for the data directory or the machine, None if it is
    another fault.
    """
    if isinstance(error, MemoryError):
        return StoreStalledError("there was not enough memory for the work in progress")
    return error if isinstance(error, StoreStalledError) else None


class Stall:
    """Whether the service is stalled, since when and why. `publish` informs other processes."""

    def __init__(self, publish: Callable[[str], None]) -> None:
        self._publish = publish
        self.error: StoreStalledError | None = None
        """why nothing can be stored, None if it can"""
        self._since: Instant = 0
        self._last: Instant | None = None
        self._is_reported = False

    def begin(self, error: StoreStalledError, at: Instant) -> None:
        """Record that something could not be stored."""
        if self._last is None or at - self._last > ONE_FAULT:
            self._since, self._is_reported = at, False
        self.error, self._last = error, at
        self._publish(f"since {(rfc3339(self._since) or '')[:19]}Z nothing can be stored: {error}")

    def end(self) -> None:
        """Record that storing works again."""
        self.error = None
        self._publish("")

    def report(self, at: Instant) -> Event | None:
        """Return the event that reports this fault, None if it was reported."""
        if self.error is None or self._is_reported:
            return None
        return Event(type=STALLED, at=at, data={"since": self._since, "reason": str(self.error)})

    def note_reported(self) -> None:
        """Mark the report as stored."""
        self._is_reported = True


class Lease(Protocol):
    """The right to poll. `every` is the time from one renewal to the next (µs)."""

    holder: str
    epoch: int
    every: Duration

    async def renew(self, now: Instant) -> None:
        """Prolong it. Raises `StaleEpochError` if it is over, `ShardsMovedError` if this process
        is to begin anew with other pages.
        """
        ...

    async def release(self) -> None:
        """Give it up."""
        ...


class Upkeep:
    """Maintains one poller. `directory` is its data directory; `sending` may hold results to be
    stored. `note_presence` is called with each renewal of the lease.
    """

    def __init__(
        self,
        directory: Path,
        clock: Clock,
        store: Store,
        committer: Committer,
        gate: HostGate,
        bulletins: Bulletins,
        sending: SendQueue,
        soundness: Soundness,
        stall: Stall,
        outages: Outages,
        *,
        lease: Lease,
        note_presence: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._directory = directory
        self._clock = clock
        self._store = store
        self._committer = committer
        self._gate = gate
        self._bulletins = bulletins
        self._sending = sending
        self._soundness = soundness
        self._stall = stall
        self._outages = outages
        self._lease = lease
        self._reported: list[str] = []
        """the rows that cannot be read, as they were last reported"""
        self._note_presence = note_presence
        self.holder = lease.holder
        self.epoch = lease.epoch
        self.next_due: Instant = 0
        """when the lease is to be renewed"""

    @property
    def error(self) -> StoreStalledError | None:
        """Return why nothing can be stored, None if it can."""
        return self._stall.error

    def insist(self) -> None:
        """Raise `StaleEpochError` if the lease is lost, `StoreDamagedError` if the database is
        damaged, `ClockSetBackError` if the clock was set back.
        """
        if self._committer.lost is not None:
            raise self._committer.lost
        self._soundness.insist()
        if back := set_back(self._clock):
            message = f"the machine's clock was set back by {spell_gap(back)}"
            raise ClockSetBackError(message)

    async def make_ready(self) -> None:
        """Store what is pending, follow a clock that was set forward, and renew the lease. Raises
        what `insist` raises.

        Raises `StoreStalledError` while nothing can be stored.
        """
        now = self._clock.now()
        await self.store_again(now)
        await self._keep_lease(await self._follow_clock(now))

    async def store_again(self, now: Instant) -> None:
        """Store what is pending after a stall, and report it. Raises `StoreStalledError` while that
        is not possible.
        """
        if self._stall.error is None:
            return
        if cause := hindrance(self._directory):
            raise StoreStalledError(f"{self._directory} cannot be written: {cause}")
        self.next_due = 0
        await self._keep_lease(now)
        await self._sending.store_again()
        if (report := self._stall.report(now)) is not None:
            try:
                await announce_once(self._store, self._committer, self._bulletins.unit(report, epoch=self.epoch))
            except UnitError as error:  # recorded as a problem; what waited goes on without the report
                log.error("the report of the stall was refused: %s", error)  # noqa: TRY400 - the text says all
            self._stall.note_reported()
        self._stall.end()
        log.info("the data directory can be written again")

    async def report_damage(self, watchlist: Watchlist) -> None:
        """Notify, once, of stored rows that cannot be read and are therefore not watched."""
        items = watchlist.set_aside
        is_new, self._reported = items != self._reported, items
        if not items or not is_new:
            return
        last = await self._store.read(events.newest, DAMAGED)
        if last is None or last.data.get("items") != items:
            event = Event(type=DAMAGED, at=self._clock.now(), data={"items": items, "sentinels": [*watchlist.unread]})
            unread = await self._store.read(recipients_before, watchlist.unread)
            await self._committer.write(self._bulletins.unit(event, epoch=self.epoch, unread=unread))
        log.error("not watched, because stored rows cannot be read: %s", "; ".join(items))

    async def announce_outages(self, now: Instant) -> None:
        """Store outages of database and network, and notify those whose checks they delayed."""
        await self._outages.announce(now)

    async def store_clock(self, now: Instant) -> None:
        """Store the clock's time after a long pause, in which the machine slept or its clock was
        set forward.

        It is stored before anything depends on it, so that a clock that is ahead can be detected
        however this process ends (`wrong_clock`).
        """
        await self._store.write(charge.touch, at=now, epoch=self.epoch)

    async def release(self) -> None:
        """Release the lease."""
        await self._lease.release()

    def is_able(self) -> bool:
        """Return whether anything may still be written: the lease is held and the database is
        intact.
        """
        return self._committer.lost is None and not self._soundness.is_damaged

    def note_error(self, error: BaseException, now: Instant, *, part: str = "") -> None:
        """Log the error with which a task of the service ended, and begin a stall if it is one.

        Args:
            error: The error.
            now: The instant.
            part: The part of the step that failed, if it was one.
        """
        if isinstance(error, StaleEpochError):
            return
        if (stalled := stall_of(error)) is not None:
            if self._stall.error is None:
                log.error("%s", unkept(stalled))
            self._stall.begin(stalled, now)
        elif isinstance(error, StoreDamagedError):
            log.error("%s", error)
            self._soundness.begin()  # an invalid value concerns its page, a damaged file ends the service
        elif isinstance(error, StoreError):  # users can fix it: no traceback
            log.error("%s", f"the part {part} of the service failed: {error}" if part else unkept(error))
        else:
            log.error("%s of the service failed", f"the part {part}" if part else "a task", exc_info=error)

    def begin_stall(self, error: StoreStalledError, now: Instant) -> None:
        """Record that a step could store nothing."""
        self._stall.begin(error, now)

    async def _follow_clock(self, now: Instant) -> Instant:
        """Follow a machine's clock that was set forward, without filling a budget or ending a gap;
        return the new now.
        """
        if not (ahead := put_forward(self._clock)):
            return now
        await self._store.write(charge.put_forward, ahead, at=now, epoch=self.epoch)
        self._gate.put_forward(ahead)
        return self._clock.restart()

    async def _keep_lease(self, now: Instant) -> None:
        if now < self.next_due:
            return
        try:
            await self._lease.renew(now)
        except ShardsMovedError:
            raise
        except StaleEpochError as error:
            self._committer.lost = error
            raise
        if self._note_presence is not None:
            await self._note_presence()
        self.next_due = now + self._lease.every


LEAST: Final = MINUTE
"""Shorter outages are not reported, whatever the interval."""
NETWORK_WORDS: Final = {
    EventType.NETWORK_DOWN: "the network of this machine seems to be down: most hosts cannot be reached",
    EventType.NETWORK_UP: "the network of this machine works again",
}


class Outages:
    """Announces the outages of one poller's database and network."""

    def __init__(
        self,
        store: Store,
        watchlist: Watchlist,
        planner: Planner,
        committer: Committer,
        bulletins: Bulletins,
        network: NetworkWatch,
        *,
        epoch: int,
    ) -> None:
        self._network = network
        self._ended: list[Outage] = []
        """outages of the database that are not reported yet"""
        self._store = store
        self._watchlist = watchlist
        self._planner = planner
        self._committer = committer
        self._bulletins = bulletins
        self._epoch = epoch

    async def announce(self, now: Instant) -> None:
        """Store each outage of the database that has ended, and notify the recipients of sentinels
        that lost at least one check. Store each outage of our own network and its end.
        """
        self._ended += self._store.take_outages()
        while self._ended:
            outage = self._ended[0]
            lasted = round(outage.seconds * SECOND)
            if lasted >= LEAST:
                event = Event(type=OUTAGE, at=now, data={"since": now - lasted, "reason": outage.error})
                unit = self._bulletins.unit(event, epoch=self._epoch, concerned=self._find_overdue(lasted, now))
                await announce_once(self._store, self._committer, unit)
            del self._ended[0]
        if news := self._network.news(now):
            await self._announce_network(news, now)

    async def _announce_network(self, news: Sequence[tuple[EventType, Instant]], now: Instant) -> None:
        """Store that our own network went or came, and notify recipients once it has been away for
        long.
        """
        reason = {"reason": self._network.reason} if self._network.is_down else {}
        made = tuple(Event(type=kind, at=now, data={"since": since, **reason}) for kind, since in news)
        announced = [(place, event) for place, event in enumerate(made) if event.type in BULLETINS]
        drafts = [draft for place, event in announced for draft in self._bulletins.drafts(event, place=place)]
        await self._committer.write(Unit(at=now, epoch=self._epoch, events=made, deliveries=tuple(drafts)))
        self._network.note_reported(news)
        for event in made:
            is_announced = event.type in BULLETINS
            words = (
                bulletin_record(event)["message"] if is_announced else NETWORK_WORDS[event.type] + describe_last(event)
            )
            log.warning("%s", words)

    def _find_overdue(self, lasted: Duration, now: Instant) -> set[int]:
        """Return the sentinels with a page that is overdue by its interval or more."""
        found: set[int] = set()
        for page_id, page in self._watchlist.pages.items():
            due = self._planner.due_at(page_id)
            for sub in page.subscriptions.values():
                interval = self._interval(page_id, sub)
                if due is not None and interval is not None and interval <= min(lasted, now - due):
                    found.add(sub.row.sentinel_id)
        return found

    def _interval(self, page_id: int, sub: Subscription) -> Duration | None:
        """Return a subscription's poll interval, 0 for a time of day (a passed one is missed), None
        if unknown.
        """
        match sub.interval:
            case FetchEvery(interval):
                return interval
            case FetchAt():
                return 0
            case None:
                return self._planner.pace(page_id)


async def announce_once(store: Store, committer: Committer, unit: Unit) -> None:
    """Write a unit with one event of the whole service, which has lasted `since` some instant, and
    its messages. If another planner has stored one that lasted at the same time, write only the
    messages to those who were not notified of that one.
    """
    (event,) = unit.events
    while True:
        last, known, notified = await store.read(_find_known, event)
        made = replace(unit, decided=((event.type, last),))
        if known is not None:
            left = [draft for draft in unit.deliveries if draft.endpoint_id not in notified]
            drafts = tuple(replace(draft, events=(), first_seq=known, last_seq=known) for draft in left)
            made = replace(made, events=(), deliveries=drafts)
        try:
            await committer.write(made)
        except OvertakenError:  # another planner was first
            continue
        return


def _find_known(connection: Connection, event: Event) -> tuple[int, int | None, set[int]]:
    """Return the number of the newest event; that of the newest one of a type, if it happened after
    the beginning of `event`, and the endpoints that were notified of it.
    """
    newest = events.newest(connection, event.type)
    last = events.last_seq(connection)
    if newest is None or newest.at <= event.data["since"]:
        return last, None, set()
    return last, newest.seq, deliveries.list_notified(connection, newest.seq)


PING_EVERY: Final = MINUTE
PING_SECONDS: Final = 10.0
"""time limit of a ping"""


class Heartbeat:
    """Requests `serve.ping_url` once a minute."""

    def __init__(self, poster: Poster, serve: ServeSettings, agent: str) -> None:
        self._poster = poster
        self._url = serve.ping_url
        self._headers = {"User-Agent": agent, "Content-Type": "text/plain"}
        self._error = ""
        self.next_due: Instant | None = 0 if self._url else None

    async def due(self, now: Instant) -> list[Coroutine[Any, Any, None]]:
        """Return the request that is due, if one is."""
        if self.next_due is None or now < self.next_due:
            return []
        self.next_due = now + PING_EVERY
        return [self._ping()]

    async def _ping(self) -> None:
        answer = await self._poster.post(self._url, headers=self._headers, body=b"", timeout_seconds=PING_SECONDS)
        if answer.error and answer.error != self._error:
            log.warning("serve.ping_url accepts no pings: %s", answer.error)
        elif self._error and not answer.error:
            log.info("serve.ping_url accepts pings again")
        self._error = answer.error
