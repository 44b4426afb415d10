"""Grants: one poll from its payment to the commit of its results.

Each further request is paid for when it leaves, host limits apply, and what an answer says of the
host and of our own network is recorded before it is settled.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, NamedTuple

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
from tidings.fetching.fetcher import fail_by_fault
from tidings.model.event_type import EventType
from tidings.model.observed.outcome import Failed, Fetched, Outcome, Validators
from tidings.model.observed.page import NO_FURTHER
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Event, Grant, PollRecord, Unit
from tidings.record import dataclass, replace
from tidings.service.examine.judge import PollResult, is_contradiction, is_known
from tidings.service.poll.circuit import Circuits
from tidings.service.watch.committer import finish_all
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
    from tidings.service.plan.planner import Planner
    from tidings.service.poll.circuit import NetworkWatch
    from tidings.service.poll.frames import Ask
    from tidings.service.poll.poll_now import PageRequest
    from tidings.service.poll.poller import Poller
    from tidings.service.watch.committer import Committer
    from tidings.service.watch.hints import HintTracker
    from tidings.service.watch.page_schedule import Needs
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service")


class HostNews(NamedTuple):
    """What is stored of a host with the poll after which it differs: the end of its pause, the time
    of its robots.txt, since when it gets no validators.
    """

    paused_until: Instant | None = None
    robots_at: Instant | None = None
    unconditional_at: Instant | None = None


NO_NEWS: Final = HostNews()


@dataclass(frozen=True, slots=True)
class Answered:
    """A paid poll and its outcome, when it ended, host state to store, and whether a failure is of
    our own network.
    """

    charged: Charged
    outcome: Outcome
    at: Instant
    hosts: tuple[HostState, ...]
    ours: bool


class PollRunner:
    """Runs paid polls. `remembered` adds the fetcher's robots.txt data to a host's state. `shares`:
    other planners may ask the same hosts.
    """

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
        tracker: HintTracker,
        network: NetworkWatch,
        remembered: Callable[[HostState], HostState],
        epoch: int,
        hash_seed: int,
        shares: bool = False,
    ) -> None:
        self._shares = shares
        self._hash_seed = hash_seed
        self._clock = clock
        self._store = store
        self._committer = committer
        self._planner = planner
        self._gate = gate
        self._fetcher = fetcher
        self._poller = poller
        self._needs = needs
        self._tracker = tracker
        self._remembered = remembered
        self._epoch = epoch
        self._network = network
        self._circuits = Circuits()
        self._unended: dict[int, tuple[Charged, Outcome, Exception, Instant]] = {}
        """polls, by number, still open although they have ended, because nothing could be written
        to disk
        """
        self._hosts: dict[str, HostNews] = {}
        """what was last stored of each host"""

    def note(self, unit: Unit) -> None:
        """Record a committed unit: what is stored of hosts."""
        for state in unit.hosts:
            self._hosts[state.name] = _news_of(state)

    async def poll(self, charged: Charged, page: WatchedPage, asked: PageRequest, owed: dict[int, int]) -> None:
        """Poll a page and settle the results, including for requesters.

        Args:
            charged: The paid grant.
            page: The page.
            asked: The requests that the poll serves.
            owed: Pending comparisons, with their attempt.
        """
        try:
            result = await self._ask(charged, page, asked, owed)
        except Exception as error:
            self.give_up(charged, error)
            raise
        await self._settle(result, None if asked.alone else self.poll_frame)

    async def _ask(self, charged: Charged, page: WatchedPage, asked: PageRequest, owed: dict[int, int]) -> PollResult:
        page_id, host = page.state.page_id, charged.grant.host
        is_visit = page.state.polled_at is None and asked.is_awaited
        async with self._gate.permit(host, self._further(charged), is_visit=is_visit) as permit:
            self._needs.begin(page_id, self._clock.now())
            self._tracker.begin(page_id, self._clock.now())
            request = await self._poller.request(page, now=self._clock.now())
            try:
                outcome = request if isinstance(request, Failed) else await self._fetch_page(page, request, permit)
            except BudgetError as error:
                outcome = _no_further(error)
        at = self._clock.now()
        ours = self._hear(host, outcome, at, has_asked=not isinstance(request, Failed))
        return PollResult(
            page=page,
            at=at,
            epoch=charged.epoch,
            eager=frozenset(asked.sentinels | self._needs.wanting(page_id, at)),
            owed=owed,
            charged=charged,
            outcome=outcome,
            answered=tuple(asked.requests),
            hosts=self._list_news(host, outcome),
            ours=ours,
        )

    def give_up(self, charged: Charged, error: Exception) -> None:
        """End a paid poll that has no answer, at the next `end_unkept`: what was to be read or paid
        for on the way was refused.
        """
        outcome = Failed(kind=_kind(error), reason=unkept(error))
        self._unended[charged.poll_id] = (charged, outcome, error, self._clock.now())

    async def poll_frame(self, page: WatchedPage, ignoring: str, budget: str) -> str:
        """Poll a frame like any page, its first request charged when it leaves; return why it was
        not polled, or an empty text.

        `ignoring` is why robots.txt is not obeyed there; empty if it is. `budget` is the class that
        pays.
        """
        grant = Grant(
            page_id=page.state.page_id,
            host=page.identity.host,
            cost=self._planner.cost(page, budget),
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
        await self._settle(result, self.poll_frame)
        return ""

    async def ask_for(self, grant: Grant, request: FetchRequest) -> Answered | str:
        """Fetch something that is not a watched page, its first request charged when it leaves;
        return why it was not fetched, if so.

        The caller ends the poll, with `keep`.
        """

        async def make() -> FetchRequest:
            return request

        return await self._ask_unplanned(grant, make)

    async def keep(self, answered: Answered, unit: Unit) -> None:
        """Write the results of `ask_for`; return once durable. A refused poll is ended as an error
        later. Raises `StoreError`.
        """
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
            (charged,) = await self._store.charge(
                [grant], at=self._clock.now(), epoch=self._epoch, starts=not self._shares
            )
            if charged is None:
                message = "the budget is used up for now"
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
                    await pay(grant.host)  # refused before a request left: an outcome too
            except BudgetError as error:
                if not paid:
                    return str(error)
                outcome = _no_further(error)
            except Exception as error:
                if paid:
                    self.give_up(paid[0], error)
                raise
        at = self._clock.now()
        ours = self._hear(grant.host, outcome, at, has_asked=not isinstance(request, Failed))
        return Answered(paid[0], outcome, at, self._list_news(grant.host, outcome), ours=ours)

    async def _settle(self, result: PollResult, ask: Ask | None) -> None:
        """Write the results of a poll. If that fails (a full disk, an internal error), end the poll
        as an error and raise.
        """
        try:
            await self._poller.settle(result, ask)
        except StaleEpochError:
            raise
        except Exception as error:
            charged = result.charged
            try:
                await self._end_as_error(result, error)
            except (StoreError, MemoryError):  # nothing can be written to disk
                self._unended[charged.poll_id] = (charged, result.outcome, error, result.at)
            raise

    async def end_unkept(self) -> None:
        """End the polls whose error could not be written either. Raises `StoreError` while that
        still fails.
        """
        await finish_all(map(self._end_unkept, [*self._unended]))

    async def _end_unkept(self, poll_id: int) -> None:
        charged, outcome, error, at = self._unended[poll_id]
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
            hosts = self._list_news(charged.grant.host, outcome)
            await self._committer.write(Unit(at=at, epoch=charged.epoch, poll=record, hosts=hosts))
        del self._unended[poll_id]

    async def _is_open(self, poll_id: int) -> bool:
        """Return whether a poll has no outcome yet: its end may be durable although what followed
        was refused.
        """
        poll = await self._store.read(polls.get, poll_id)
        return poll is not None and poll.outcome is None

    async def _end_as_error(self, result: PollResult, error: Exception) -> None:
        """End a poll whose results could not be stored: none of them are, and no cursor moves. A
        failure that the page had itself is stored as that. `doctor` shows what the store refused.
        """
        charged, outcome, page, at = result.charged, result.outcome, result.page, result.at
        if not await self._is_open(charged.poll_id):
            return
        if not isinstance(outcome, Failed) or isinstance(error, UnitError):
            outcome = Failed(
                kind=_kind(error),
                reason=unkept(error),
                status=outcome.status,
                requests=outcome.requests,
                wire_bytes=outcome.wire_bytes,
            )
        await self._poller.settle(
            PollResult(
                page=page,
                at=at,
                epoch=charged.epoch,
                charged=charged,
                outcome=outcome,
                hosts=result.hosts,
                ours=result.ours,
            )
        )
        is_reported = isinstance(error, UnitError | StoreStalledError)  # by the store itself, or by the stall
        if isinstance(error, StoreError) and not is_reported:
            problem = Event(type=EventType.PROBLEM_UNIT, at=at, page_id=page.state.page_id, data={"error": str(error)})
            await self._committer.write(Unit(at=at, epoch=charged.epoch, events=(problem,)))

    def _further(self, charged: Charged) -> Callable[[str], Awaitable[None]]:
        """Return the function that pays for each further request of a poll: from the grant as far
        as it goes, then one by one.

        What the grant has paid for is stored once per host, so that host limits hold across a
        crash.
        """
        left, known = charged.grant.cost - 1, {charged.grant.host}

        async def further(host: str) -> None:
            nonlocal left
            left -= 1
            cost = 0.0 if left >= 0 else 1.0
            if cost or host not in known:
                known.add(host)
                await self._pay_further(charged, host, cost)

        return further

    async def _pay_further(self, charged: Charged, host: str, cost: float) -> None:
        """Pay for a further request."""
        await self._store.write(
            charge.extra,
            page_id=charged.grant.page_id,
            host=host,
            poll_id=charged.poll_id,
            at=self._clock.now(),
            epoch=self._epoch,
            cost=cost,
            starts=not self._shares,
        )

    def _hear(self, host: str, outcome: Outcome, at: Instant, *, has_asked: bool = True) -> bool:
        """Record what an answer says of its host; return whether a failure is of our own network.
        Does nothing for a host that was not asked.
        """
        if isinstance(outcome, Failed) and outcome.reason.startswith(NO_FURTHER):
            return False  # our own budget says nothing of the host
        is_ours = isinstance(outcome, Failed) and outcome.kind == "login"  # our own retry time, not the host's
        pause = None if is_ours else _pause(outcome)
        if pause is not None:
            paused_host = _find_answering(host, outcome)
            self._gate.pause(paused_host, at + pause)
            self._planner.interrupt(paused_host)
        has_asked = has_asked and host not in address.LOCAL_HOSTS
        ours = has_asked and self._hear_network(host, outcome, at)
        if has_asked and not ours and (pause := self._circuits.note(host, outcome)):
            self._gate.pause(host, at + pause)
            self._planner.interrupt(host)
        return ours

    async def _fetch_page(self, page: WatchedPage, request: FetchRequest, permit: Permit) -> Outcome:
        """Fetch a page, without validators where its host cannot handle them, and once more without
        them after a contradiction.
        """
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
        except Exception as error:  # any error is an outcome of that page, shown to its owner
            log.exception("a fault of Tidings while %s was fetched", request.url)
            return fail_by_fault(error)

    def _hear_network(self, host: str, outcome: Outcome, at: Instant) -> bool:
        """Record whether a host was reached; return whether the failure is of our own network."""
        failed = outcome if isinstance(outcome, Failed) and outcome.kind == "net" and not outcome.reached else None
        self._network.note(host, reached=failed is None, at=at, reason="" if failed is None else failed.reason)
        return failed is not None and self._network.is_down

    def _list_news(self, host: str, outcome: Outcome) -> tuple[HostState, ...]:
        """Return the state of the hosts that were asked and answered, as far as it is not stored
        yet: a pause, a new robots.txt.
        """
        names = {host} if _pause(outcome) is None else {host, _find_answering(host, outcome)}
        states = [self._remembered(self._gate.state(name)) for name in names]
        return tuple(state for state in states if _news_of(state) != self._hosts.get(state.name, NO_NEWS))


def _find_answering(host: str, outcome: Outcome) -> str:
    """Return the host that gave an outcome: where the page led, else the host that was asked."""
    return address.host_of(outcome.final_url) if outcome.final_url else host


def _news_of(state: HostState) -> HostNews:
    return HostNews(state.paused_until, state.robots_at, state.unconditional_at)


def _pause(outcome: Outcome) -> Duration | None:
    """Return how long an answer asks to pause its host."""
    return outcome.retry_after if isinstance(outcome, Failed) else outcome.pause


def _no_further(error: BudgetError) -> Failed:
    return Failed(kind="busy", reason=f"the budget did not allow a further request: {error}")


def _kind(error: BaseException) -> ErrorKind:
    if isinstance(error, StoreDamagedError | BlobError):
        return "damaged"
    return "disk" if isinstance(error, StoreStalledError | MemoryError) else "fault"


def unkept(error: BaseException) -> str:
    """Return why nothing of a poll is stored."""
    if isinstance(error, StoreError):
        return f"the result of the check could not be stored: {error}"
    if isinstance(error, MemoryError):
        return "the result of the check could not be stored: there is not enough memory"
    return f"a fault of the service, described in its log: {error}"
