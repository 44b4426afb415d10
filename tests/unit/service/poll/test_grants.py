"""One poll, from its payment to the commit of its results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import pytest

from tests.planner import make_watched
from tests.stores import World
from tidings.clock import HOUR, MINUTE, SECOND, ManualClock
from tidings.errors import (
    BlobError,
    StaleEpochError,
    StoreDamagedError,
    StoreError,
    StoreStalledError,
    UnitError,
)
from tidings.fetching import address
from tidings.fetching.fetcher import Permit
from tidings.fetching.politeness import HostGate
from tidings.model.event_type import EventType
from tidings.model.interval import ExecutionInterval
from tidings.model.observed.outcome import ErrorKind, Failed, Fetched, FetchRequest, Outcome, Unchanged, Validators
from tidings.model.observed.page import PageState
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Charged, Grant, Unit
from tidings.model.watch.sentinel import WHOLE
from tidings.service.examine.judge import PollResult, xxh3
from tidings.service.poll.circuit import NetworkWatch
from tidings.service.poll.grants import Answered, PollRunner, unkept
from tidings.service.poll.poll_now import PageRequest
from tidings.service.watch.page_schedule import Deadline, Needs
from tidings.service.watch.watchlist import WatchedPage
from tidings.storage.observed import hosts, polls
from tidings.storage.watches import events
from tidings.storage.write import charge

SEED = 7
TAG = Validators(etag='"a"')
LIMITED = Unchanged(final_url="", pause=HOUR)
NET = Failed(kind="net", reason="no route")
ELSEWHERE = "other.example"


def body(data: bytes = b"new", **more: Any) -> Fetched:
    """Return a complete answer from the page's own address."""
    return Fetched(body=data, final_url="http://1.example/1", status=200, **more)


class Case:
    """A paid poll of page 1, with a real database, and fakes of the web and of the poller."""

    def __init__(
        self, world: World, *answers: Outcome | Exception, hops: Collection[str] = (), gap: float = 0, **page: Any
    ) -> None:
        self.world = world
        self.clock = ManualClock(world.at)
        self.answers = [*answers]
        self.hops = hops
        self.asked: list[FetchRequest] = []
        self.settled: list[PollResult] = []
        self.asks: list[Any] = []
        self.refusals: list[Exception] = []
        self.written: list[Unit] = []
        self.write_errors: list[Exception] = []
        self.interrupted: list[str] = []
        self.begun: list[tuple[str, int]] = []
        self.obeys: list[bool] = []
        self.network = NetworkWatch()
        self.takes = 0
        self.no_request: Failed | None = None
        world.watch("news", "1")
        self.page = make_watched(1, host="1")
        self.page.state = replace(PageState(page_id=1, last_seq=1, validators=TAG), **page)
        self.gate = HostGate(gap_seconds=gap, connections=1, clock=self.clock)
        self.needs = Needs()
        self.grants = self._make()

    def _make(self) -> PollRunner:
        case = self

        class Database:
            async def read(self, fn: Callable[..., Any], *args: Any, **kw: Any) -> Any:
                return case.world.read(fn, *args, **kw)

            async def write(self, fn: Callable[..., Any], *args: Any, **kw: Any) -> Any:
                return case.world.write(fn, *args, **kw)

            async def charge(self, grants: list[Grant], **more: Any) -> list[Charged | None]:
                return case.world.write(charge.charge, grants, **more)

        class Committer:
            async def write(self, unit: Unit) -> None:
                if case.write_errors:
                    raise case.write_errors.pop(0)
                case.written.append(unit)
                case.world.commit(unit)

        class Planner:
            def cost(self, identity: Any, budget: str) -> float:
                return 2.0 if budget == "shop" else 1.0

            def interrupt(self, host: str) -> None:
                case.interrupted.append(host)

        class Web:
            async def fetch(self, request: FetchRequest, permit: Permit) -> Outcome:
                case.asked.append(request)
                for host in ["1.example", *case.hops]:
                    await permit.hop(host)
                case.clock.move_to(case.clock.now() + case.takes)
                answer = case.answers.pop(0)
                if isinstance(answer, Exception):
                    raise answer
                return answer

        class Poller:
            async def request(
                self, page: WatchedPage, *, now: int, ignoring_robots: bool = False
            ) -> FetchRequest | Failed:
                case.obeys.append(not ignoring_robots)
                return case.no_request or FetchRequest(url=page.identity.url, validators=page.state.validators)

            async def settle(self, result: PollResult, ask: Any = None) -> None:
                case.settled.append(result)
                case.asks.append(ask)
                if case.refusals:
                    raise case.refusals.pop(0)

        class FakeTracker:
            def begin(self, page_id: int, at: int) -> None:
                case.begun.append(("tracker", page_id))

        return PollRunner(
            clock=self.clock,
            store=Database(),  # type: ignore[arg-type]
            committer=Committer(),  # type: ignore[arg-type]
            planner=Planner(),  # type: ignore[arg-type]
            gate=self.gate,
            fetcher=Web(),  # type: ignore[arg-type]
            poller=Poller(),  # type: ignore[arg-type]
            needs=self.needs,
            tracker=FakeTracker(),  # type: ignore[arg-type]
            network=self.network,
            remembered=lambda state: state,
            epoch=self.world.epoch,
            hash_seed=SEED,
        )

    def poll(self, asked: PageRequest | None = None, *, cost: float = 1.0) -> PollResult:
        """Pay for a poll of page 1, make it, and return what was settled last."""
        charged = self.world.charge(cost=cost)
        self.clock.move_to(self.world.at)
        asyncio.run(self.grants.poll(charged, self.page, asked or PageRequest(), {5: 2}))
        return self.settled[-1]

    def poll_frame(self, *, ignoring: str = "", budget: str = WHOLE) -> str:
        """Poll the page as a frame of another page."""
        self.clock.move_to(self.clock.now() + SECOND)
        return asyncio.run(self.grants.poll_frame(self.page, ignoring, budget))

    def ask_for(self, url: str = "http://1.example/robots") -> Answered | str:
        """Request something that is not a page."""
        grant = Grant(page_id=1, host="1.example", cost=1.0, reason=PollReason(Why.FRAME))
        return asyncio.run(self.grants.ask_for(grant, FetchRequest(url=url)))

    def paid(self) -> list[tuple[float, int]]:
        """Return cost and requests of the polls that are still open."""
        return [(poll.cost, poll.requests) for poll in self.world.read(polls.open_polls)]

    def types(self) -> list[str]:
        """Return the types of the events that were written, without the sentinel's own."""
        return [event.type for event in self.world.read(events.listing) if event.type != EventType.SENTINEL_CREATED]


def test_poll_is_settled_with_its_result(world: World):
    """This includes its charge, answer and time, its requests, and pending comparisons."""
    case = Case(world, body())

    result = case.poll(PageRequest(requests=[4], sentinels={9}))

    assert (body(), case.clock.now(), world.epoch) == (result.outcome, result.at, result.epoch)
    assert ((4,), frozenset({9}), {5: 2}) == (result.answered, result.eager, result.owed)
    assert (1, False) == (result.charged.grant.page_id, result.ours)
    assert [("tracker", 1)] == case.begun


def test_poll_is_taken_by_sentinels_with_an_open_deadline(world: World):
    """The deadline is open when the poll ends."""
    case = Case(world, body())
    open_now = ExecutionInterval(world.at, world.at + HOUR)
    case.needs.settle("then", 3, [Deadline(1, 3, open_now, PollReason(Why.THEN))])

    assert frozenset({3}) == case.poll().eager


def test_poll_does_not_serve_an_event_after_its_beginning(world: World):
    """The poll may not have seen it."""
    case = Case(world, body())
    charged = world.charge()
    case.clock.move_to(world.at)
    after = ExecutionInterval(world.at + 1, world.at + HOUR)
    case.needs.settle("then", 3, [Deadline(1, 3, after, PollReason(Why.THEN), is_met=True)])
    case.takes = MINUTE
    asyncio.run(case.grants.poll(charged, case.page, PageRequest(), {}))

    assert (world.at + MINUTE, frozenset()) == (case.settled[0].at, case.settled[0].eager)


def test_frames_are_polled_unless_the_page_is_requested_alone(world: World):
    """The first answer then comes sooner."""
    case = Case(world, body(), body())
    case.poll()
    case.poll(PageRequest(alone=True))

    assert [case.grants.poll_frame, None] == case.asks


@pytest.mark.parametrize(
    ("asked", "is_known", "expected"),
    [
        (PageRequest(sentinels={3}), False, 0),
        (PageRequest(requests=[4]), False, 0),
        (PageRequest(sentinels={3}), True, 5 * SECOND),
        (PageRequest(), False, 5 * SECOND),
    ],
)
def test_first_check_that_somebody_awaits_is_one_visit(world: World, asked: PageRequest, is_known: bool, expected: int):
    """Its requests to a host follow each other without the gap."""
    case = Case(world, body(), hops=["1.example"], gap=5, polled_at=world.at - HOUR if is_known else None)
    begun = world.at

    async def story() -> None:
        charged = world.charge()
        case.clock.move_to(begun)
        polling = asyncio.create_task(case.grants.poll(charged, case.page, asked, {}))
        while not polling.done():
            await asyncio.sleep(0)
            if (wake := case.clock.next_wake()) is not None:
                case.clock.move_to(wake)

    asyncio.run(story())

    assert expected == case.settled[0].at - begun


def test_impossible_request_is_an_outcome(world: World):
    """A secret is missing: nothing is requested, and the host has no failure."""
    case = Case(world)
    case.no_request = Failed(kind="secret", reason="no secret shop")

    assert case.no_request == case.poll().outcome
    assert [] == case.asked


def test_each_further_request_is_charged(world: World):
    """The grant pays for the first one; a grant of cost 3 also pays for the next two."""
    case = Case(world, body(), hops=["1.example", ELSEWHERE])
    case.poll()

    assert [(3.0, 3)] == case.paid()

    case.answers, case.hops = [body()], ["1.example", ELSEWHERE, ELSEWHERE]
    case.poll(cost=3.0)

    assert (4.0, 3) == case.paid()[
        -1
    ]  # 3 of the grant and 1 more; the first request to another host is stored although it is paid
    assert case.clock.now() == world.read(hosts.state, ELSEWHERE).started_at


def test_request_that_its_grant_has_paid_is_stored_once_per_host(world: World):
    """The limits of the other host then hold across a crash."""
    case = Case(world, body(), hops=["1.example", ELSEWHERE, ELSEWHERE])
    case.poll(cost=4.0)

    assert [(4.0, 2)] == case.paid()
    assert case.clock.now() == world.read(hosts.state, ELSEWHERE).started_at


def test_poll_ends_as_busy_if_the_budget_refuses_a_request(world: World):
    """An incomplete answer is not the page."""
    case = Case(world, body(), hops=[ELSEWHERE])
    charged = world.charge()
    world.write(charge.set_budget, "default", rate_per_second=0.0, burst=0.0, at=world.at)
    case.clock.move_to(world.at)
    asyncio.run(case.grants.poll(charged, case.page, PageRequest(), {}))
    outcome = case.settled[-1].outcome

    assert isinstance(outcome, Failed)
    assert ("busy", False) == (outcome.kind, case.settled[-1].ours)
    assert outcome.reason.startswith("the budget did not allow a further request: ")


@pytest.mark.parametrize(("error", "kind"), [(ValueError("odd"), "fault"), (MemoryError(), "disk")])
def test_error_in_fetching_is_an_outcome_of_its_page(world: World, error: Exception, kind: ErrorKind):
    """The service goes on."""
    outcome = Case(world, error).poll().outcome

    assert isinstance(outcome, Failed)
    assert kind == outcome.kind


def test_store_error_in_a_fetch_ends_the_poll(world: World):
    """The page has no failure."""
    with pytest.raises(StoreError, match="held"):
        Case(world, StoreError("held")).poll()


@pytest.mark.parametrize(
    ("answer", "paused"),
    [(LIMITED, HOUR), (Failed(kind="5xx", reason="", retry_after=MINUTE), MINUTE), (body(), 0)],
)
def test_host_is_paused_as_requested(world: World, answer: Outcome, paused: int):
    """The pause starts at the end of the poll, and does not count as an interval of its pages."""
    case = Case(world, answer)
    result = case.poll()

    assert case.clock.now() + paused == case.gate.ready_at("1.example")
    assert ["1.example"] * bool(paused) == case.interrupted
    assert [case.clock.now() + paused] * bool(paused) == [host.paused_until for host in result.hosts if paused]


def test_answering_host_is_paused_after_a_redirect(world: World):
    """The answering host has the limit, not the requested one."""
    case = Case(world, replace(LIMITED, final_url=f"http://{ELSEWHERE}/"))
    case.poll()

    assert case.clock.now() + HOUR == case.gate.ready_at(ELSEWHERE)
    assert [(ELSEWHERE, case.clock.now() + HOUR)] == [(host.name, host.paused_until) for host in case.settled[0].hosts]
    assert [ELSEWHERE] == case.interrupted
    assert case.gate.ready_at("1.example") <= case.clock.now()


def test_wait_of_a_login_does_not_pause_its_host(world: World):
    """The retry time of a login is our own."""
    case = Case(world, Failed(kind="login", reason="", retry_after=HOUR))
    case.poll()

    assert [] == case.interrupted
    assert case.gate.ready_at("1.example") <= case.clock.now()


def test_host_is_paused_after_five_failures(world: World):
    """After four, only its pages back off."""
    case = Case(world, *[Failed(kind="5xx", reason="")] * 5)
    for _ in range(4):
        case.poll()

    assert [] == case.interrupted

    case.poll()

    assert ["1.example"] == case.interrupted
    assert case.clock.now() < case.gate.ready_at("1.example") <= case.clock.now() + 1.2 * MINUTE


def test_host_state_is_stored_when_it_changes(world: World):
    """The same pause is not stored twice."""
    case = Case(world, LIMITED, body(), body(), body())

    first = case.poll()

    assert ["1.example"] == [host.name for host in first.hosts]
    assert first.hosts == case.poll().hosts  # the first were not stored

    case.grants.note(world.unit(hosts=first.hosts))
    case.clock.move_to(case.clock.now() + 2 * HOUR)
    world.at = case.clock.now()

    assert () == case.poll().hosts


def test_contradiction_is_requested_again_without_validators(world: World):
    """The body differs under the sent validators. Both requests are counted, and the second answer
    is the page.
    """
    liar = body(b"other", validators=TAG, conditions="answered", requests=1, wire_bytes=10)
    case = Case(world, liar, body(b"third", requests=2, wire_bytes=5), body_size=3, body_xxh3=xxh3(b"new", SEED))

    outcome = case.poll().outcome

    assert [TAG, Validators()] == [request.validators for request in case.asked]
    assert (3, 15) == (outcome.requests, outcome.wire_bytes)
    assert isinstance(outcome, Fetched)
    assert b"third" == outcome.body
    assert not case.gate.is_distrusted("1.example")


def test_host_with_false_validators_gets_none(world: World):
    """The second answer was the known page, so its answers to conditional requests are useless."""
    liar = body(b"other", validators=TAG, conditions="answered")
    case = Case(world, liar, body(), body(), body_size=3, body_xxh3=xxh3(b"new", SEED))
    case.poll()
    case.poll()

    assert case.gate.is_distrusted("1.example")
    assert [TAG, Validators(), Validators()] == [request.validators for request in case.asked]


def test_host_that_refuses_conditional_requests_gets_none(world: World):
    """The host answers the same request without validators."""
    case = Case(world, body(conditions="refused"))
    case.poll()

    assert case.gate.is_distrusted("1.example")


def down(case: Case, *answers: Outcome) -> list[bool]:
    """Poll pages of three hosts with these answers; return for each whether it is our own
    failure.
    """
    text = []
    for number, answer in enumerate(answers):
        case.answers = [answer]
        text.append(case.grants._hear(f"h{number % 3}", answer, case.clock.now()))
    return text


def test_most_hosts_out_of_reach_are_our_own_outage(world: World):
    """A host that refuses a connection was reached."""
    case = Case(world)

    assert [False, False, True, True] == down(case, NET, NET, NET, NET)
    assert [EventType.NETWORK_DOWN] == [kind for kind, _ in case.network.news(case.clock.now())]
    assert "no route" == case.network.reason
    assert [False, False, False] == down(case, *[replace(NET, reached=True)] * 3)
    assert () == case.network.news(case.clock.now())


def test_local_pages_do_not_count_for_the_network(world: World):
    """Files and commands have their own failures."""
    case = Case(world)
    for local in (*address.LOCAL_HOSTS, *address.LOCAL_HOSTS, *address.LOCAL_HOSTS):
        assert not case.grants._hear(local, NET, case.clock.now())

    assert ([], []) == (case.types(), case.interrupted)


def test_frame_is_charged_when_its_request_leaves(world: World):
    """The class of its page pays. Frames within it are polled too."""
    case = Case(world, body())
    world.write(charge.set_budget, "shop", rate_per_second=1.0, burst=10.0, at=world.at)

    assert "" == case.poll_frame(budget="shop")
    assert [(2.0, 1)] == case.paid()
    (result,) = case.settled
    assert ("shop", Why.FRAME) == (result.charged.grant.budget, result.why)
    assert [case.grants.poll_frame] == case.asks
    assert [True] == case.obeys


def test_frame_inherits_ignored_robots(world: World):
    """The poll has the reason."""
    case = Case(world, body())
    case.poll_frame(ignoring="my own site")

    assert [False] == case.obeys
    assert "my own site" == case.settled[0].charged.grant.reason.of


def test_unpaid_frame_is_not_polled(world: World):
    """The reason is returned, and nothing is settled."""
    case = Case(world, body())
    world.write(charge.set_budget, "default", rate_per_second=0.0, burst=0.0, at=world.at)

    assert "the budget is used up for now" == case.poll_frame()
    assert ([], []) == (case.paid(), case.settled)


def test_frame_without_a_request_is_charged(world: World):
    """The failure is stored like that of any poll."""
    case = Case(world)
    case.no_request = Failed(kind="secret", reason="no secret shop")

    assert "" == case.poll_frame()
    assert [(1.0, 1)] == case.paid()
    assert case.no_request == case.settled[0].outcome


def test_redirect_of_a_frame_is_charged(world: World):
    """The grant of a frame pays only for the first request."""
    case = Case(world, body(), hops=[ELSEWHERE])
    case.poll_frame()

    assert [(2.0, 2)] == case.paid()


def test_request_beside_pages_is_charged_and_returned(world: World):
    """The caller ends the poll."""
    case = Case(world, body())
    answered = case.ask_for()

    assert isinstance(answered, Answered)
    assert (body(), case.clock.now(), False) == (answered.outcome, answered.at, answered.ours)
    assert ([(1.0, 1)], []) == (case.paid(), case.settled)
    assert ["http://1.example/robots"] == [request.url for request in case.asked]


@pytest.mark.parametrize(
    ("error", "kind", "types"),
    [
        (StoreError("full"), "fault", [EventType.PROBLEM_UNIT]),
        (UnitError("odd"), "fault", []),
        (StoreStalledError("full"), "disk", []),
        (StoreDamagedError("torn"), "damaged", [EventType.PROBLEM_UNIT]),
        (BlobError("torn"), "damaged", []),
        (MemoryError(), "disk", []),
        (ValueError("odd"), "fault", []),
    ],
)
def test_result_that_cannot_be_stored_is_an_error_outcome(
    world: World, error: Exception, kind: str, types: list[EventType]
):
    """The error is raised too. An event for doctor is written, unless the store itself reports the
    error.
    """
    case = Case(world, body(wire_bytes=9, requests=1))
    case.refusals = [error]
    with pytest.raises(type(error)):
        case.poll()
    outcome = case.settled[-1].outcome

    assert isinstance(outcome, Failed)
    assert (kind, 200, 9, 1) == (outcome.kind, outcome.status, outcome.wire_bytes, outcome.requests)
    assert unkept(error) == outcome.reason
    assert (2, types) == (len(case.settled), case.types())
    assert () == case.settled[-1].answered


def test_lost_lease_does_not_end_the_poll(world: World):
    """Another process polls now, and ends its own polls."""
    case = Case(world, body())
    case.refusals = [StaleEpochError("another")]
    with pytest.raises(StaleEpochError):
        case.poll()

    assert 1 == len(case.settled)
    assert 1 == len(case.paid())


def test_poll_that_has_ended_is_not_ended_again(world: World):
    """The end may be stored although a later unit was refused."""
    case = Case(world, body())
    case.refusals = [StoreError("late")]
    charged = world.charge()
    world.commit(world.unit(poll=world.poll(charged)))
    with pytest.raises(StoreError):
        asyncio.run(case.grants.poll(charged, case.page, PageRequest(), {}))

    assert (1, []) == (len(case.settled), case.types())


def test_poll_whose_error_cannot_be_stored_is_ended_later(world: World):
    """The poll is ended once, as soon as the store accepts writes."""
    case = Case(world, body(wire_bytes=9))
    case.refusals = [ValueError("odd"), StoreStalledError("full")]
    with pytest.raises(ValueError, match="odd"):
        case.poll()
    case.write_errors = [StoreStalledError("full")]
    with pytest.raises(StoreStalledError):
        asyncio.run(case.grants.end_unkept())

    assert 1 == len(case.paid())

    asyncio.run(case.grants.end_unkept())
    asyncio.run(case.grants.end_unkept())
    (unit,) = case.written

    assert [] == case.paid()
    assert unit.poll is not None
    assert not unit.poll.text_changed
    assert ("error", "fault", 9, 200, 1) == (
        unit.poll.outcome,
        unit.poll.kind,
        unit.poll.bytes,
        unit.poll.status,
        unit.poll.requests,
    )
    assert (case.settled[0].at, unkept(ValueError("odd"))) == (unit.poll.finished_at, unit.poll.reason)


@pytest.mark.parametrize("error", [UnitError("contradicts"), StoreDamagedError("no secret"), StoreStalledError("full")])
@pytest.mark.parametrize("where", ["page", "frame", "beside"])
def test_poll_that_is_refused_before_its_answer_is_ended(world: World, where: str, error: StoreError):
    """What is read for the request, or paid for on the way, cannot be had."""
    case = Case(world, error)
    polling: dict[str, Callable[[], object]] = {"page": case.poll, "frame": case.poll_frame, "beside": case.ask_for}
    with pytest.raises(type(error)):
        polling[where]()
    assert 1 == len(case.paid())

    asyncio.run(case.grants.end_unkept())
    (unit,) = case.written

    assert [] == case.paid()
    assert unit.poll is not None
    assert ("error", unkept(error)) == (unit.poll.outcome, unit.poll.reason)


def test_one_refused_end_does_not_keep_other_polls_open(world: World):
    """It is tried again with the next ones."""
    case = Case(world, StoreError("odd"), StoreError("odd"))
    for _ in range(2):
        with pytest.raises(StoreError):
            case.poll_frame()
    case.write_errors = [UnitError("contradicts")]

    with pytest.raises(UnitError):
        asyncio.run(case.grants.end_unkept())
    assert 1 == len(case.paid())
    asyncio.run(case.grants.end_unkept())

    assert [] == case.paid()


def test_request_beside_pages_is_stored_or_ended_later(world: World):
    """A refused unit is an error of the poll, a lost lease is not."""
    case = Case(world, body(), body())
    answered, other = case.ask_for(), case.ask_for()
    assert isinstance(answered, Answered)
    assert isinstance(other, Answered)
    end = world.unit(poll=world.poll(answered.charged))

    for error in (StaleEpochError("another"), StoreError("full")):
        case.write_errors = [error]
        with pytest.raises(type(error)):
            asyncio.run(case.grants.keep(answered, end))
        asyncio.run(case.grants.end_unkept())

        assert (2 if isinstance(error, StaleEpochError) else 1) == len(case.paid())

    asyncio.run(case.grants.keep(other, world.unit(poll=world.poll(other.charged))))

    assert [] == case.paid()


def test_reason_of_a_lost_result_is_a_sentence():
    """The owner of the page reads the sentence."""
    assert "the result of the check could not be stored: full" == unkept(StoreError("full"))
    assert "the result of the check could not be stored: there is not enough memory" == unkept(MemoryError())
    assert "a fault of the service, described in its log: odd" == unkept(ValueError("odd"))


def test_host_state_includes_robots_txt(world: World):
    """The fetcher adds it."""
    case = Case(world, body())
    case.grants._remembered = lambda state: replace(state, robots_at=5)

    assert [("1.example", 5)] == [(host.name, host.robots_at) for host in case.poll().hosts]
