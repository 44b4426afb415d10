"""The service's side: a fetcher whose requests leave from other machines
(`fetching.fetcher.Fetcher`).

Each request still needs a permit from here: the poller asks before each one leaves, so that gaps,
pauses and the budget hold for all pollers together. An outcome counts once, and only from the
poller that took the check. A check whose poller or bus was lost is offered again: the page has no
fault.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import SECOND
from tidings.errors import BudgetError, BusError, TidingsError
from tidings.fetching import address
from tidings.model.observed.outcome import Failed, Fetched, Outcome, Unchanged
from tidings.model.observed.page import HostState
from tidings.record import replace
from tidings.service.machines.wire import (
    LOST,
    SIGN,
    Mailbox,
    SharedRobots,
    VisitCipher,
    WireError,
    agree,
    make_key,
    pack,
    restore,
    sign,
)

if TYPE_CHECKING:
    from tidings.bus.bus import Bus
    from tidings.fetching.fetcher import Fetcher, Permit
    from tidings.fetching.robots import Robots
    from tidings.model.observed.outcome import FetchRequest

log = logging.getLogger("tidings.service")
TAKE_SECONDS: Final = 30.0
"""A check that no poller takes within this time has failed."""
SILENT_SECONDS: Final = 15.0
"""How long a poller may do nothing beyond its request's timeout before it counts as gone."""
GONE_SECONDS: Final = 8.0
"""A poller that gives signs of life is gone after so long without one."""
BUS_SECONDS: Final = 30.0
"""How long a check is offered again while the bus cannot be reached."""
AGAIN_SECONDS: Final = 1.0
"""The pause before a lost check is offered again."""
LOST_POLLERS: Final = 2
"""A check that has lost so many pollers has failed: the page may be what ends them."""
MOST_REQUESTS: Final = 2_000
"""Most requests of one check; a poller that asks for more is forged or faulty."""
OUTCOMES: Final = {"unchanged": Unchanged, "fetched": Fetched, "failed": Failed}


class _LostError(TidingsError):
    """A check that another poller may make. `requests` may have left; `pollers` were lost: 1, or 0
    if it was the bus.
    """

    def __init__(self, reason: str, *, pollers: int = 0) -> None:
        super().__init__(reason)
        self.pollers = pollers
        self.requests = 0


class RemoteFetcher:
    """Has pages fetched by pollers on other machines.

    Args:
        bus: Carries checks to them.
        secret: The secret they share with this service.
        own: Fetches what only this machine can: pages whose certificates are trusted by a file of
            its own.
        robots: Known robots.txt files, exchanged with the pollers.
        usual_seconds: Timeout of a request that sets none.
        where: The bus's name in messages.
        on_poller: Called with the name of the poller that takes a check.
    """

    def __init__(
        self,
        bus: Bus,
        secret: str,
        own: Fetcher,
        *,
        robots: Robots,
        usual_seconds: float,
        where: str = "the bus",
        on_poller: Callable[[str], None] = lambda name: None,  # noqa: ARG005 - nobody asks
    ) -> None:
        self._mail = Mailbox(bus)
        self._secret = secret
        self._own = own
        self._robots = SharedRobots(robots)
        self._usual_seconds = usual_seconds
        self._where = where
        self._on_poller = on_poller
        self._lively: set[str] = set()
        """mailboxes of the pollers that give signs of life"""

    async def fetch(self, request: FetchRequest, permit: Permit) -> Outcome:
        """Fetch a page and return the outcome; see `fetcher.Fetcher.fetch`."""
        if request.trust:
            return await self._own.fetch(request, permit)
        requests = pollers = 0
        patience = time.monotonic() + BUS_SECONDS
        while True:
            try:
                outcome = await self._visit(request, permit)
            except _LostError as error:
                requests, pollers = requests + error.requests, pollers + error.pollers
                if pollers == LOST_POLLERS or time.monotonic() > patience or self._mail.is_closed:
                    return Failed(kind="net", reason=str(error), requests=requests)
            except BusError as error:
                return Failed(kind="net", reason=str(error), requests=requests)
            except WireError as error:
                return Failed(kind="request", reason=str(error), requests=requests)
            else:
                return replace(outcome, requests=outcome.requests + requests) if requests else outcome
            await asyncio.sleep(AGAIN_SECONDS)

    async def close(self) -> None:
        """Close the mailbox, the bus and the fetcher of this machine."""
        await self._mail.close()
        await self._own.close()

    async def _visit(self, request: FetchRequest, permit: Permit) -> Outcome:
        """Offer a check and return its outcome. Raises `_LostError` if it may be offered again."""
        visit = secrets.token_hex(12)
        try:
            try:
                inbox = await self._mail.open(visit)
                await self._mail.bus.offer("browser" if request.render else "pages", pack([visit, self._mail.box]))
            except BusError as error:
                raise _LostError(str(error)) from None
            return await self._attend(visit, inbox, request, permit)
        finally:
            self._mail.end(visit)

    async def _attend(self, visit: str, inbox: asyncio.Queue[Any], request: FetchRequest, permit: Permit) -> Outcome:
        """Assign the check to the first poller that takes it, and serve that one until it returns
        an outcome.
        """
        box, public = await self._await_taker(visit, inbox)
        self._on_poller(box)
        key, own_public = make_key()
        cipher = VisitCipher(agree(key, public, secret=self._secret, visit=visit), is_service=True)
        turn = asyncio.Lock()
        seconds = (self._usual_seconds if request.timeout is None else request.timeout / SECOND) + SILENT_SECONDS

        async def send(message: object, *, public: bytes = b"") -> None:
            async with turn:  # they are read in the order of encryption
                try:
                    await self._mail.send(box, visit, [public, cipher.encrypt(message)])
                except BusError as error:
                    raise _LostError(str(error)) from None

        serving = _Serving(permit, send, gives_signs=box in self._lively)
        outcome: Outcome | None = None
        try:
            robots = self._robots.give(box, [address.host_of(request.url)])
            await send(["work", request, robots], public=own_public)
            while outcome is None:
                message = await serving.next(inbox, seconds)
                if message is LOST:
                    raise _LostError(f"{self._where} was lost during the check")
                try:
                    received = cipher.decrypt(message)
                except WireError:  # not of this poller, or repeated
                    continue
                if received == SIGN:
                    self._lively.add(box)
                    serving.gives_signs = True
                else:
                    outcome = await self._read(received, serving, box)
        except _LostError as error:
            error.requests = serving.requests
            if error.pollers and box in self._lively:
                self._lively.discard(box)
                log.warning("the poller %s gives no more signs of life: others make its checks", box)
            raise
        except WireError as error:
            return Failed(
                kind="net",
                reason=f"the poller's answer cannot be read; are poller and service of one version? {error}",
            )
        finally:
            await serving.end()
            if outcome is None:  # a poller that still fetches, after its time or ours, stops
                self._robots.forget(box)
                with contextlib.suppress(_LostError):
                    await asyncio.shield(send(["stop"]))
        return outcome

    async def _await_taker(self, visit: str, inbox: asyncio.Queue[Any]) -> tuple[str, bytes]:
        """Return the mailbox and the key of the first poller that takes a check. Raises `BusError`
        if none does, `_LostError` if the bus is lost.
        """
        is_strange = False
        try:
            async with asyncio.timeout(TAKE_SECONDS):
                while (message := await inbox.get()) is not LOST:
                    match message:
                        case ["take", str(box), bytes(public), bytes(proof)]:
                            if hmac.compare_digest(proof, sign(self._secret, visit.encode(), box.encode(), public)):
                                return box, public
                            is_strange = True
        except TimeoutError:
            if is_strange:
                raise BusError(f"a poller on {self._where} has another bus.secret than this service") from None
            raise BusError(
                f"no poller took the check from {self._where} within {TAKE_SECONDS:g} s;"
                " start one: tidings serve --role poller"
            ) from None
        raise _LostError(f"{self._where} was lost")

    async def _read(self, message: object, serving: _Serving, box: str) -> Outcome | None:
        """Handle a poller's message; return its outcome if it is one. Raises `BudgetError` where a
        request was refused, `WireError` for a message that this version does not know.
        """
        match message:
            case ["hop", int(number), str(host), news]:
                await self._robots.take(box, restore(tuple[HostState, ...], news))
                serving.let_hop(number, host)
            case ["beside", int(number), str(host)]:
                serving.let_beside(number, host)
            case ["done", int(number)]:
                serving.leave(number)
            case ["refused", str(reason)]:
                raise BudgetError(reason)
            case ["outcome", str(kind), value, news] if kind in OUTCOMES:
                await self._robots.take(box, restore(tuple[HostState, ...], news))
                outcome: Outcome = restore(OUTCOMES[kind], value)
                return outcome
            case _:
                raise WireError(f"it says {str(message)[:80]}")
        return None


class _Serving:
    """The permits of one visit: requests waiting for one, and requests holding one.

    Args:
        permit: The right to ask hosts.
        send: Sends the poller a message.
        gives_signs: Whether the poller gives signs of life while it works.
    """

    def __init__(self, permit: Permit, send: Callable[[object], Any], *, gives_signs: bool) -> None:
        self.gives_signs = gives_signs
        self.requests = 0
        """how many requests were asked for"""
        self._permit = permit
        self._send = send
        self._active_at = time.monotonic()
        self._waiting: set[asyncio.Task[None]] = set()
        self._holds: dict[int, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def next(self, inbox: asyncio.Queue[Any], seconds: float) -> Any:
        """Return the next message. Raises `_LostError` if the poller is gone: it does nothing for
        `seconds` (> 0) and waits for no permit, or gives no more signs of life.

        Raises what a permit raised, except `BudgetError`, which is sent to the poller.
        """
        getting = asyncio.ensure_future(inbox.get())
        begun = time.monotonic()
        try:
            while True:
                now = time.monotonic()
                left = [] if self._waiting else [self._active_at + seconds]
                left += [begun + GONE_SECONDS] if self.gives_signs else []
                if left and min(left) <= now:
                    raise _LostError(f"the poller that took the check was silent for {now - begun:.3g} s", pollers=1)
                wait = {getting, self._failed, *self._waiting}
                timeout = min(left) - now if left else None
                await asyncio.wait(wait, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
                if self._failed.done():
                    self._failed.result()
                if getting.done():
                    return getting.result()
        finally:
            getting.cancel()

    def let_hop(self, number: int, host: str) -> None:
        """Send a permit for a request once the host may be asked."""
        self._start(number, self._hop(number, host))

    def let_beside(self, number: int, host: str) -> None:
        """Send a permit for a request of a page load, and hold its place until `leave`."""
        self._holds[number] = asyncio.Event()
        self._start(number, self._beside(number, host))

    def leave(self, number: int) -> None:
        """Release the place of a request of a page load."""
        if number in self._holds:
            self._holds.pop(number).set()

    async def end(self) -> None:
        """Release everything."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if not self._failed.cancel():
            self._failed.exception()  # the visit has ended without it

    def _start(self, number: int, work: Any) -> None:
        self._active_at = time.monotonic()
        self.requests += 1
        if self.requests > MOST_REQUESTS:
            work.close()
            self._fail(BusError(f"a poller asked for more than {MOST_REQUESTS:,} requests for one page"))
            return
        task = asyncio.create_task(self._guard(number, work))
        self._tasks.add(task)
        self._waiting.add(task)
        task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._active_at = time.monotonic()
        self._tasks.discard(task)
        self._waiting.discard(task)

    async def _guard(self, number: int, work: Any) -> None:
        try:
            try:
                await work
            except BudgetError as error:
                await self._send(["refuse", number, str(error)])
        except Exception as error:  # noqa: BLE001 - the store's or the bus's; raised in `next`
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Let `next` raise an error, the first one."""
        if not self._failed.done():
            self._failed.set_exception(error)

    async def _hop(self, number: int, host: str) -> None:
        begun = time.monotonic()
        await self._permit.hop(host)
        await self._let_go(number, begun)

    async def _let_go(self, number: int, begun: float) -> None:
        """Send a permit, with how long it was waited for here: the rest was its way."""
        held = (time.monotonic() - begun,) if self.gives_signs else ()  # an older poller knows no more than the number
        await self._send(["go", number, *held])

    async def _beside(self, number: int, host: str) -> None:
        event, begun = self._holds[number], time.monotonic()
        async with self._permit.beside(host):
            await self._let_go(number, begun)
            task = asyncio.current_task()
            if task is not None:
                self._waiting.discard(task)
                self._active_at = time.monotonic()
            await event.wait()
