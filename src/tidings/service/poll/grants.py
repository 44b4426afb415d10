"""Grants: a look from the moment it is paid for until what it brings is kept.

Each further request is paid for when it leaves, the host's limits hold, and what an answer says of the host and of our own network is
heard before it is settled.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from tidings.errors import (
    BlobError,
    BudgetError,
    StaleEpochError,
    StoreDamagedError,
    StoreError,
    StoreStalledError,
    UnitError,
)
from tidings.fetching import address
from tidings.model.event_type import EventType
from tidings.model.observed.outcome import Failed, Fetched, Outcome, Validators
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Event, Grant, PollRecord, Unit
from tidings.record import dataclass, replace
from tidings.service.examine.judge import is_contradiction, is_known
from tidings.service.examine.poll_result import PollResult
from tidings.service.poll.circuit import Circuits
from tidings.service.poll.network import NetworkWatch
from tidings.service.show.records import BULLETINS, bulletin_record
from tidings.storage.observed import polls
from tidings.storage.write import charge

if TYPE_CHECKING:
    from tidings.clock import Clock
    from tidings.fetching.fetcher import Fetcher, Permit
    from tidings.fetching.politeness import HostGate
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.outcome import ErrorKind, FetchRequest
    from tidings.model.observed.page import HostState
    from tidings.model.observed.unit import Charged
    from tidings.service.notify.bulletins import Bulletins
    from tidings.service.plan.planner import Planner
    from tidings.service.poll.frames import Ask
    from tidings.service.poll.poller import Poller
    from tidings.service.poll.requests import PageRequest
    from tidings.service.watch.committer import Committer
    from tidings.service.watch.hints import Hearing
    from tidings.service.watch.needs import Needs
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service")
NETWORK_WORDS: Final = {
    EventType.NETWORK_DOWN: "our own network seems to be down: most hosts cannot be reached",
    EventType.NETWORK_UP: "our own network is back",
}


@dataclass(frozen=True, slots=True)
class Answered:
    """What was paid for and how it ended, when, what is to be stored of hosts, and whether a failure is our own network's."""

    charged: Charged
    outcome: Outcome
    at: Instant
    hosts: tuple[HostState, ...]
    ours: bool


class Grants:
    """Makes the looks that were paid for. `remembered` adds to a host's state what the fetcher knows of its robots.txt."""

    def __init__(
        self,
        *,
        clock: Clock,
        store: Store,
        committer: Committer,
        planner: Planner,
        gate: HostGate,
        fetcher: Fetcher,
        poller: Poller,
        needs: Needs,
        hearing: Hearing,
        bulletins: Bulletins,
        remembered: Callable[[HostState], HostState],
        epoch: int,
        hash_seed: int,
    ) -> None:
        self._hash_seed = hash_seed
        self._clock = clock
        self._store = store
        self._committer = committer
        self._planner = planner
        self._gate = gate
        self._fetcher = fetcher
        self._poller = poller
        self._needs = needs
        self._hearing = hearing
        self._bulletins = bulletins
        self._remembered = remembered
        self._epoch = epoch
        self._network = NetworkWatch()
        self._circuits = Circuits()
        self._unended: dict[int, tuple[Charged, Outcome, Exception, Instant]] = {}
        """polls, by number, that are open although they have ended: the disk took nothing"""
        self._hosts: dict[str, tuple[Instant | None, Instant | None, Instant | None]] = {}
        """of each host what was last stored: until when it is left alone, as of when its robots.txt is, since when it gets no validators"""

    async def look(self, charged: Charged, page: WatchedPage, asked: PageRequest, owed: dict[int, int]) -> None:
        """Look at a page and settle what that brings, for those who asked too; `owed` are comparisons that wait, with their attempt."""
        page_id, host = page.state.page_id, charged.grant.host
        async with self._gate.permit(host, self._further(charged)) as permit:
            self._needs.begin(page_id, self._clock.now())
            self._hearing.begin(page_id, self._clock.now())
            request = await self._poller.request(page, now=self._clock.now(), obey_robots=not asked.first)
            try:
                outcome = request if isinstance(request, Failed) else await self._fetch_page(page, request, permit)
            except BudgetError as error:
                outcome = _no_further(error)
        at = self._clock.now()
        ours = await self._hear(host, outcome, at, has_asked=not isinstance(request, Failed))
        result = PollResult(
            page=page,
            at=at,
            epoch=charged.epoch,
            eager=frozenset(asked.sentinels | self._needs.wanting(page_id, at)),
            owed=owed,
            charged=charged,
            outcome=outcome,
            answered=tuple(asked.requests),
            hosts=self._host_news(host),
            ours=ours,
        )
        await self._settle(result, None if asked.alone else self.look_at_frame)

    async def look_at_frame(self, page: WatchedPage, ignoring: str, budget: str) -> str:
        """Look at a frame of a page as at any page, its first request charged when it leaves; return why it was not asked, if so.

        `ignoring` is why robots.txt is not obeyed there; empty if it is. `budget` is the class that pays.
        """
        grant = Grant(
            page_id=page.state.page_id,
            host=page.identity.host,
            cost=self._planner.cost(page.identity, budget),
            budget=budget,
            reason=PollReason(Why.FRAME, ignoring),
        )
        asked = await self._ask_unplanned(
            grant,
            lambda: self._poller.request(page, now=self._clock.now(), ignoring_robots=bool(ignoring)),
            page,
        )
        if isinstance(asked, str):
            return asked
        result = PollResult(
            page=page,
            at=asked.at,
            epoch=asked.charged.epoch,
            charged=asked.charged,
            outcome=asked.outcome,
            hosts=asked.hosts,
            ours=asked.ours,
        )
        await self._settle(result, self.look_at_frame)
        return ""

    async def ask_for(self, grant: Grant, request: FetchRequest) -> Answered | str:
        """Ask for what is no page of anybody, its first request charged when it leaves; return why it was not asked, if so.

        Whoever asks ends the poll, by `keep`.
        """

        async def make() -> FetchRequest:
            return request

        return await self._ask_unplanned(grant, make)

    async def keep(self, answered: Answered, unit: Unit) -> None:
        """Write what `ask_for` has brought; return once it is durable. Where it is refused the poll is ended as an error later. Raises `StoreError`."""
        try:
            await self._committer.write(unit)
        except StaleEpochError:
            raise
        except StoreError as error:
            self._unended[answered.charged.poll_id] = (answered.charged, answered.outcome, error, answered.at)
            raise

    async def _ask_unplanned(
        self, grant: Grant, make: Callable[[], Awaitable[FetchRequest | Failed]], page: WatchedPage | None = None
    ) -> Answered | str:
        paid: list[Charged] = []
        further: list[Callable[[str], Awaitable[None]]] = []

        async def pay(host: str) -> None:
            if further:
                await further[0](host)
                return
            (charged,) = await self._store.charge([grant], at=self._clock.now(), epoch=self._epoch)
            if charged is None:
                message = "the budget is spent for now"
                raise BudgetError(message)
            paid.append(charged)
            further.append(self._further(charged))

        async with self._gate.permit(grant.host, pay, is_paid=False) as permit:
            request = await make()
            outcome: Outcome
            try:
                if isinstance(request, Failed):
                    outcome = request
                elif page is None:
                    outcome = await self._fetch(request, permit)
                else:
                    outcome = await self._fetch_page(page, request, permit)
                if not paid:
                    await pay(grant.host)  # refused before a request left: that is an outcome too
            except BudgetError as error:
                if not paid:
                    return str(error)
                outcome = _no_further(error)
        at = self._clock.now()
        ours = await self._hear(grant.host, outcome, at, has_asked=not isinstance(request, Failed))
        return Answered(paid[0], outcome, at, self._host_news(grant.host), ours=ours)

    async def _settle(self, result: PollResult, ask: Ask | None) -> None:
        """Write what a poll brings. Where that fails, by a full disk or by a fault of ours, the poll ends as an error, and it is raised."""
        try:
            await self._poller.settle(result, ask)
        except StaleEpochError:
            raise
        except Exception as error:
            charged = result.charged
            try:
                await self._end_as_error(result, error)
            except (StoreError, MemoryError):  # a disk that takes nothing at all
                self._unended[charged.poll_id] = (charged, result.outcome, error, result.at)
            raise

    async def end_unkept(self) -> None:
        """End the polls of which not even that could be written, now that it may be possible. Raises `StoreError` while it is not."""
        for poll_id, (charged, outcome, error, at) in [*self._unended.items()]:
            if await self._is_open(poll_id):
                record = PollRecord(
                    poll_id=poll_id,
                    page_id=charged.grant.page_id,
                    finished_at=at,
                    outcome="error",
                    text_changed=False,
                    status=outcome.status,
                    kind=_kind(error),
                    bytes=outcome.wire_bytes,
                    requests=outcome.requests,
                    reason=unkept(error),
                )
                await self._committer.write(Unit(at=at, epoch=charged.epoch, poll=record))
            del self._unended[poll_id]

    async def _is_open(self, poll_id: int) -> bool:
        """Say whether a poll has no outcome yet: its end may be durable although what followed it was refused."""
        poll = await self._store.read(polls.get, poll_id)
        return poll is not None and poll.outcome is None

    async def _end_as_error(self, result: PollResult, error: Exception) -> None:
        """End a poll whose outcome could not be kept; nothing of it is, and no cursor moves. What the store refused is said by `doctor`."""
        charged, outcome, page, at = result.charged, result.outcome, result.page, result.at
        if not await self._is_open(charged.poll_id):
            return
        failed = Failed(
            kind=_kind(error),
            reason=unkept(error),
            status=outcome.status,
            requests=outcome.requests,
            wire_bytes=outcome.wire_bytes,
        )
        await self._poller.settle(PollResult(page=page, at=at, epoch=charged.epoch, charged=charged, outcome=failed))
        is_told = isinstance(error, UnitError | StoreStalledError)  # by the store itself, by the stall
        if isinstance(error, StoreError) and not is_told:
            problem = Event(type=EventType.PROBLEM_UNIT, at=at, page_id=page.state.page_id, data={"error": str(error)})
            await self._committer.write(Unit(at=at, epoch=charged.epoch, events=(problem,)))

    def _further(self, charged: Charged) -> Callable[[str], Awaitable[None]]:
        """Return what pays for each further request of a poll: the grant itself as far as it goes, then one by one.

        What the grant has paid for is written down once a host, so that its limits hold across a crash.
        """
        left, known = charged.grant.cost - 1, {charged.grant.host}

        async def further(host: str) -> None:
            nonlocal left
            left -= 1
            cost = 0.0 if left >= 0 else 1.0
            if cost or host not in known:
                known.add(host)
                now = self._clock.now()
                await self._store.write(
                    charge.extra, charged.grant.page_id, host, charged.poll_id, at=now, epoch=self._epoch, cost=cost
                )

        return further

    async def _hear(self, host: str, outcome: Outcome, at: Instant, *, has_asked: bool = True) -> bool:
        """Hear what an answer says of its host; say whether a failure is our own network's. Unless it was asked, it says nothing."""
        is_ours = isinstance(outcome, Failed) and outcome.kind == "login"  # when we try again
        pause = None if is_ours else _pause(outcome)
        if pause is not None:
            told_by = address.host_of(outcome.final_url) if outcome.final_url else host
            self._gate.pause(told_by, at + pause)
            self._planner.interrupt(told_by)
        has_asked = has_asked and host not in address.LOCAL_HOSTS
        ours = has_asked and await self._hear_network(host, outcome, at)
        if has_asked and not ours and (pause := self._circuits.hear(host, outcome)):
            self._gate.pause(host, at + pause)
            self._planner.interrupt(host)
        return ours

    async def _fetch_page(self, page: WatchedPage, request: FetchRequest, permit: Permit) -> Outcome:
        """Fetch a page; without validators where its host cannot cope with them, and once more without them after a contradiction."""
        host = page.identity.host
        if request.validators and self._gate.is_distrusted(host):
            request = replace(request, validators=Validators())
        outcome = await self._fetch(request, permit)
        if isinstance(outcome, Fetched) and outcome.conditions == "refused":
            self._gate.distrust(host)
        if not is_contradiction(page.state, request, outcome, self._hash_seed):
            return outcome
        again = await self._fetch(replace(request, validators=Validators()), permit)
        if is_known(page.state, again, self._hash_seed):
            self._gate.distrust(host)
        return replace(
            again, requests=again.requests + outcome.requests, wire_bytes=again.wire_bytes + outcome.wire_bytes
        )

    async def _fetch(self, request: FetchRequest, permit: Permit) -> Outcome:
        try:
            return await self._fetcher.fetch(request, permit)
        except (BudgetError, StoreError):
            raise
        except MemoryError as error:
            return Failed(kind="disk", reason=unkept(error))
        except Exception as error:  # whatever goes wrong at one page is an outcome of that page, which its owner sees
            log.exception("a fault of Tidings while %s was fetched", request.url)
            return Failed(
                kind="fault", reason=f"a fault of Tidings ({type(error).__name__}: {error}); please report it"
            )

    async def _hear_network(self, host: str, outcome: Outcome, at: Instant) -> bool:
        """Note whether a host was reached; say whether this failure is our own network's. Going down and coming back is told once."""
        failed = isinstance(outcome, Failed) and outcome.kind == "net" and not outcome.reached
        self._network.hear(host, reached=not failed, at=at)
        for kind, since in self._network.news(at):
            event = Event(type=kind, at=at, data={"since": since})
            is_announced = kind in BULLETINS
            await self._committer.write(
                self._bulletins.unit(event, epoch=self._epoch)
                if is_announced
                else Unit(at=at, epoch=self._epoch, events=(event,))
            )
            log.warning("%s", bulletin_record(event)["message"] if is_announced else NETWORK_WORDS[kind])
        return failed and self._network.is_down

    def _host_news(self, host: str) -> tuple[HostState, ...]:
        """Return the host's state if it holds anything that is not yet stored: a pause, another robots.txt."""
        state = self._remembered(self._gate.state(host))
        news = (state.paused_until, state.robots_at, state.unconditional_at)
        if self._hosts.get(host, (None, None, None)) == news:
            return ()
        self._hosts[host] = news
        return (state,)


def _pause(outcome: Outcome) -> Duration | None:
    """Return how long an answer asks to leave its host alone."""
    return outcome.retry_after if isinstance(outcome, Failed) else outcome.pause


def _no_further(error: BudgetError) -> Failed:
    return Failed(kind="busy", reason=f"the budget did not allow a further request: {error}")


def _kind(error: BaseException) -> ErrorKind:
    if isinstance(error, StoreDamagedError | BlobError):
        return "damaged"
    return "disk" if isinstance(error, StoreStalledError | MemoryError) else "fault"


def unkept(error: BaseException) -> str:
    """Return why nothing is kept of a look."""
    if isinstance(error, StoreError):
        return f"the result of the check could not be stored: {error}"
    if isinstance(error, MemoryError):
        return "the result of the check could not be stored: no memory is left for it"
    return f"a fault of the service, described in its log: {error}"
