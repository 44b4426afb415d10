"""The poller's side: takes checks from the bus, fetches, and answers. It has no database, and no
secret outlives a check.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tidings.errors import BudgetError, BusError
from tidings.fetching.fetcher import fail_by_fault
from tidings.model.observed.outcome import Failed, Fetched, FetchRequest, Outcome, Unchanged
from tidings.model.observed.page import HostState
from tidings.service.machines.wire import (
    LOST,
    SIGN,
    Mailbox,
    SharedRobots,
    VisitCipher,
    WireError,
    agree,
    make_key,
    restore,
    sign,
    unpack,
)

if TYPE_CHECKING:
    from tidings.bus.bus import Bus
    from tidings.fetching.fetcher import Fetcher
    from tidings.fetching.robots import Robots

log = logging.getLogger("tidings.poller")

WORK_SECONDS: Final = 20.0
"""A service silent for this long has given its check to another poller, or has ended."""
PERMIT_SECONDS: Final = 600.0
"""The longest wait for a permit; a Crawl-delay may be long."""
SIGN_SECONDS: Final = 2.0
"""pause between two signs of life during a check"""
LATE_SECONDS: Final = 0.5
"""A permit that was under way for longer is not used: the host may have been asked meanwhile."""
LATE_PERMITS: Final = 5
"""So many late permits in a row end a check."""
UNKNOWN: Final = float("inf")
"""How long an older service held a permit: it does not say, so that none is late."""
PAUSE_SECONDS: Final = 2.0
"""pause between two attempts to reach the bus"""
KINDS: Final = {Unchanged: "unchanged", Fetched: "fetched", Failed: "failed"}


class RemotePoller:
    """Fetches for a remote service.

    Args:
        bus: The source of checks.
        secret: The secret shared by the service and its pollers.
        fetcher: Fetches the pages. The poller closes it.
        robots: The fetcher's known robots.txt files.
        places: Concurrent checks of each lane: a page that waits here for the browser could be
            rendered elsewhere.
        where: The bus's name in messages.
    """

    def __init__(
        self,
        bus: Bus,
        secret: str,
        fetcher: Fetcher,
        *,
        robots: Robots,
        places: Mapping[str, int],
        where: str = "the bus",
    ) -> None:
        self.where = where
        self._mail = Mailbox(bus)
        self._secret = secret
        self._fetcher = fetcher
        self._robots = SharedRobots(robots)
        self._places = places
        self._visits: set[asyncio.Task[None]] = set()
        self._known: set[str] = set()
        """mailboxes of the services that know that this poller gives signs of life"""
        self.made = 0
        """number of answered checks"""

    async def run(self, lanes: tuple[str, ...]) -> None:
        """Take checks from these lanes until cancelled. While the bus cannot be reached, log that
        and retry.
        """
        await asyncio.gather(*(self._take_all(lane) for lane in lanes))

    async def close(self) -> None:
        """End the running checks and close everything."""
        for task in self._visits:
            task.cancel()
        if self._visits:
            await asyncio.wait(self._visits)
        await self._mail.close()
        await self._fetcher.close()

    async def _take_all(self, lane: str) -> None:
        is_lost = False
        places = asyncio.Semaphore(self._places[lane])
        while True:
            await places.acquire()
            try:
                offer = await self._mail.bus.take(lane)
            except BusError as error:
                places.release()
                if not is_lost:
                    log.warning("%s; the poller tries again", error)
                is_lost = True
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            if is_lost:
                log.info("the bus answers again")
                is_lost = False
            task = asyncio.create_task(self._make(offer))
            self._visits.add(task)
            task.add_done_callback(lambda done: self._end(done, places))

    def _end(self, task: asyncio.Task[None], places: asyncio.Semaphore) -> None:
        self._visits.discard(task)
        places.release()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a check was not made: %s", error, exc_info=error)

    async def _make(self, offer: bytes) -> None:
        """Make one check."""
        try:
            visit, box = unpack(offer)
            inbox = await self._mail.open(visit)
        except (WireError, BusError, ValueError, TypeError) as error:
            log.warning("a check could not be taken: %s", error)
            return
        try:
            key, public = make_key()
            proof = sign(self._secret, visit.encode(), self._mail.box.encode(), public)
            await self._mail.send(box, visit, ["take", self._mail.box, public, proof])
            async with asyncio.timeout(WORK_SECONDS):
                message = await inbox.get()
            if message is LOST:
                return
            theirs, data = message
            cipher = VisitCipher(agree(key, theirs, secret=self._secret, visit=visit), is_service=False)
            talk = _Conversation(self._mail, box, visit, cipher, self._robots)
            match cipher.decrypt(data):
                case ["work", value, known]:
                    await self._begin(talk, inbox, value, known)
        except TimeoutError:
            log.warning("the service gave no check within %g s; does it have the same bus.secret?", WORK_SECONDS)
        except BusError as error:
            log.warning("a check was interrupted: %s", error)
        except (WireError, ValueError, TypeError) as error:
            log.warning("a check could not be made: %s", error)
        finally:
            self._mail.end(visit)

    async def _begin(self, talk: _Conversation, inbox: asyncio.Queue[Any], value: object, known: object) -> None:
        """Make the check that the service describes, or answer that this version cannot read it."""
        try:
            request: FetchRequest = restore(FetchRequest, value)
            await talk.take(restore(tuple[HostState, ...], known))
        except WireError as error:
            reason = f"the poller cannot read the check; are poller and service of one version? {error}"
            await talk.send(["outcome", "failed", Failed(kind="net", reason=reason, requests=0), []])
            return
        await self._answer(talk, inbox, request)

    async def _answer(self, talk: _Conversation, inbox: asyncio.Queue[Any], request: FetchRequest) -> None:
        """Fetch, and send the outcome unless the service no longer wants one."""
        if talk.box not in self._known:
            await talk.send(SIGN)
            self._known.add(talk.box)
        permit = RemotePermit(talk)
        fetching = asyncio.create_task(self._fetcher.fetch(request, permit))
        listening = asyncio.create_task(permit.listen(inbox))
        living = asyncio.create_task(talk.give_signs())
        try:
            await asyncio.wait({fetching, listening}, return_when=asyncio.FIRST_COMPLETED)
            if not fetching.done():  # the service wants no outcome any more
                talk.forget()
                return
            try:
                outcome: Outcome = fetching.result()
            except BudgetError as error:
                await talk.send(["refused", str(error)])
                return
            except Exception as error:
                log.exception("a fault of Tidings while %s was fetched", request.url)
                outcome = fail_by_fault(error)
            await talk.send(["outcome", KINDS[type(outcome)], outcome, talk.news()])
            self.made += 1
        finally:
            tasks = {fetching, listening, living}
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


class _Conversation:
    """A poller's messages about one check."""

    def __init__(self, mail: Mailbox, box: str, visit: str, cipher: VisitCipher, robots: SharedRobots) -> None:
        self._mail = mail
        self.box = box
        self._visit = visit
        self._cipher = cipher
        self._robots = robots
        self._turn = asyncio.Lock()
        self.hosts: set[str] = set()

    async def send(self, message: object) -> None:
        """Send a message; messages are read in the order of encryption. Raises `BusError`."""
        async with self._turn:
            await self._mail.send(self.box, self._visit, self._cipher.encrypt(message))

    async def give_signs(self) -> None:
        """Send signs of life until cancelled."""
        while True:
            await asyncio.sleep(SIGN_SECONDS)
            with contextlib.suppress(BusError):
                await self.send(SIGN)

    def decrypt(self, data: Any) -> Any:
        """Decrypt a message of the service. Raises `WireError`."""
        return self._cipher.decrypt(data[1])

    def news(self) -> list[HostState]:
        """Return what was read of robots.txt of this check's hosts since the last call."""
        return self._robots.give(self.box, self.hosts)

    def forget(self) -> None:
        """Give the service what was read of robots.txt again: the last messages may be lost."""
        self._robots.forget(self.box)

    async def take(self, states: Sequence[HostState]) -> None:
        """Take over what the service knows of robots.txt files."""
        await self._robots.take(self.box, states)


class RemotePermit:
    """Permission to request from hosts, granted by the service (`fetching.fetcher.Permit`)."""

    def __init__(self, talk: _Conversation) -> None:
        self._talk = talk
        self._asked: dict[int, asyncio.Future[float]] = {}
        self._number = 0

    async def hop(self, host: str) -> None:
        """Wait until a request to `host` may leave. Raises `BudgetError` if it may not."""
        await self._ask(host, "hop", self._talk.news())
        self._talk.hosts.add(host)

    @contextlib.asynccontextmanager
    async def beside(self, host: str) -> AsyncIterator[None]:
        """Hold a place of `host` for a request of a page load. Raises `BudgetError` if it may not
        leave.
        """
        number = await self._ask(host, "beside")
        self._talk.hosts.add(host)
        try:
            yield
        finally:
            with contextlib.suppress(BusError):
                await self._talk.send(["done", number])

    async def listen(self, inbox: asyncio.Queue[Any]) -> None:
        """Handle the service's messages until it no longer wants an outcome or the bus is lost."""
        while (message := await inbox.get()) is not LOST:
            with contextlib.suppress(WireError, TypeError, IndexError):
                match self._talk.decrypt(message):
                    case ["go", int(number), *held] if number in self._asked:
                        self._asked.pop(number).set_result(held[0] if held else UNKNOWN)
                    case ["refuse", int(number), str(reason)] if number in self._asked:
                        self._asked.pop(number).set_exception(BudgetError(reason))
                    case ["stop"]:
                        return

    async def _ask(self, host: str, word: str, *more: object) -> int:
        """Ask for a permit until one comes in time; return its number."""
        for _ in range(LATE_PERMITS):
            self._number += 1
            number = self._number
            asked = self._asked[number] = asyncio.get_running_loop().create_future()
            begun = time.monotonic()
            try:
                await self._talk.send([word, number, host, *more])
                async with asyncio.timeout(PERMIT_SECONDS):
                    held = await asked
            except (TimeoutError, BusError) as error:
                raise BudgetError(f"the service no longer answers: {error}") from None
            finally:
                self._asked.pop(number, None)
            if time.monotonic() - begun - held < LATE_SECONDS:
                return number
            await self._talk.send(["done", number])
        raise BudgetError(f"each permit needs more than {LATE_SECONDS:g} s to come here from the service")
