"""Promise: a message is not sent again and again because something of its attempt cannot be read or
stored.

Each story counts what the receiver gets in an hour after the fault. A restart may repeat a message
once, since what was not stored is lost then.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, NamedTuple

import pytest

from tests.world import World, serve
from tidings.clock import HOUR, MINUTE, SECOND
from tidings.errors import StoreDamagedError, StoreError, StoreFullError, StoreStalledError, UnitError
from tidings.model.observed.unit import Unit
from tidings.notification.channel import Refused, Sent
from tidings.service.health.service_troubles import PARTS as PARTS_IN_WORDS
from tidings.service.health.sources import health_of
from tidings.service.notify.claims import Claims
from tidings.service.notify.deliver import Deliverer, SendQueue
from tidings.service.run.notifier import Notifier
from tidings.service.watch.committer import Committer
from tidings.storage.db import lock
from tidings.storage.db.database import open_database
from tidings.storage.watches import events
from tidings.storage.write.store import Store

CHANGE = "updated"


class Fault(NamedTuple):
    """What fails, and the most times that the receiver may then get the message in an hour."""

    what: str
    error: Callable[[], Exception]
    most: int
    times: int = 10**9


FAULTS = {
    "contradiction": Fault("result", lambda: UnitError("this unit contradicts what is stored"), 1),
    "one contradiction": Fault("result", lambda: UnitError("this unit contradicts what is stored"), 1, 1),
    "notices contradict": Fault("notices", lambda: UnitError("this unit contradicts what is stored"), 1),
    "disk full": Fault("result", lambda: StoreFullError("tidings.db cannot grow"), 1),
    "disk full for a minute": Fault("result", lambda: StoreFullError("tidings.db cannot grow"), 1, 30),
    "stalled": Fault("result", lambda: StoreStalledError("no file descriptors are left"), 1),
    "unreadable result": Fault("result", lambda: StoreDamagedError("a row cannot be read"), 1),
    "unreadable sentinel": Fault("users", lambda: StoreDamagedError("the text of a sentinel cannot be read"), 5),
    "unreadable rule": Fault("awaits", lambda: StoreDamagedError("the state of a rule cannot be read"), 0),
    "faulty sender": Fault("sender", lambda: TypeError("a bug"), 5),
    "no memory": Fault("sender", MemoryError, 5),
}


class Breaker:
    """Makes one part of an attempt fail."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.left = fault.times

    def apply(self, committer: Committer, deliverer: Deliverer) -> None:
        """Let the part fail from now on."""
        write, senders, what = committer.write, deliverer._senders, self.fault.what

        async def store(unit: Unit) -> Any:
            if unit.results and (what == "result" or (what == "notices" and unit.events)):
                self.fail()
            return await write(unit)

        committer.write = store  # type: ignore[method-assign]
        if what in {"users", "awaits"}:
            setattr(deliverer, f"_{what}_of" if what == "users" else "_awaits", self._refuse)
        if what == "sender":
            deliverer._senders = {kind: _Faulty(sender, self) for kind, sender in senders.items()}

    async def _refuse(self, *_: Any) -> Any:
        self.fail()
        return ()

    def fail(self) -> None:
        if self.left > 0:
            self.left -= 1
            raise self.fault.error()


class _Faulty:
    """A sender that sends, then fails."""

    def __init__(self, sender: Any, breaker: Breaker) -> None:
        self.sender, self.breaker = sender, breaker

    async def send(self, message: Any) -> Any:
        answer = await self.sender.send(message)
        self.breaker.fail()
        return answer


def _count(world: World) -> int:
    """Return how often the receiver got the message with the change."""
    return sum(CHANGE in str(body) for _, body in world.received)


def _watch(world: World, *, statuses: Callable[[int], int] = lambda n: 200) -> None:
    world.page("/a", "<p>count 1</p>")
    hook = world.receiver(statuses=statuses)
    world.add(f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 5 min Notify By webhook {hook} immediate")


def _answer(fault: Fault) -> Callable[[int], int]:
    """Users are read, and notices made, only for what is refused."""
    return lambda n: 404 if fault.what == "notices" else 500 if fault.what == "users" else 200


@pytest.mark.parametrize("name", FAULTS)
def test_service_does_not_repeat_a_message(world: World, name: str):
    """It goes on with everything else; after a restart without the fault the message is delivered or
    given up, and was sent once more at most.
    """
    fault = FAULTS[name]
    _watch(world, statuses=_answer(fault))
    with serve(world) as service:
        service.pass_time(HOUR)
        Breaker(fault).apply(service.monitor.committer, service.monitor.sending.deliverer)
        world.page("/a", "<p>count 2</p>")
        end = world.clock.now() + HOUR
        while world.clock.now() < end:
            with contextlib.suppress(StoreStalledError):
                service.pass_time(5 * MINUTE)
            world.clock.advance(SECOND * 20)
        assert _count(world) <= fault.most
        before = _count(world)
        polls = len(world.polls())
    assert polls > 15 or issubclass(type(fault.error()), StoreStalledError)

    world.receiver()
    with serve(world) as service:
        service.pass_time(HOUR)

    assert 1 <= _count(world) <= before + 1
    assert {"waiting"}.isdisjoint(row.status for row in world.deliveries())
    assert [] == world.violations()


@contextlib.asynccontextmanager
async def _notify(world: World, breaker: Breaker) -> AsyncIterator[Notifier]:
    """Run the role `notifier` on the manual clock."""
    store = Store(open_database(world.settings), gather_seconds=0)
    committer = Committer(store)
    async with _sending(world, store, committer) as sending:
        breaker.apply(committer, sending.deliverer)
        notifier = Notifier(store, world.clock, committer, sending, _Nobody())  # type: ignore[arg-type]
        yield notifier
        await notifier.stop(patience=SECOND)
    await store.close()


class _Nobody:
    """A presence that nobody sees."""

    next_due = None

    async def due(self, now: int) -> list[Coroutine[Any, Any, None]]:
        return []


class _Webhook:
    """A sender that counts messages."""

    def __init__(self, world: World, status: int) -> None:
        self.world, self.status = world, status

    async def send(self, message: Any) -> Any:
        self.world.received.append(({}, {"data": message.body.decode()}))
        return Sent(200) if self.status == 200 else Refused(reason=str(self.status), retry=self.status != 404)


@contextlib.asynccontextmanager
async def _sending(world: World, store: Store, committer: Committer) -> AsyncIterator[SendQueue]:
    what = FAULT_OF[world.directory]
    deliverer = Deliverer({"webhook": _Webhook(world, _answer(what)(1))})
    claims = Claims(store, "first", HOUR) if world.url else None  # one process sends, with SQLite
    epoch = 0 if world.url else world.read(lock.current_lease, lock.POLLER).epoch
    yield SendQueue(store, committer, deliverer, world.clock, epoch=epoch, claims=claims)


FAULT_OF: dict[Any, Fault] = {}


@pytest.mark.parametrize("name", FAULTS)
def test_notifier_does_not_repeat_a_message(world: World, name: str):
    """A process that only sends holds the receiver, too; another one sends it at most once more."""
    fault = FAULT_OF[world.directory] = FAULTS[name]
    _watch(world)
    with serve(world) as service:
        service.monitor.sending.leave_to_others()
        service.pass_time(HOUR)
        world.page("/a", "<p>count 2</p>")
        service.pass_time(HOUR)
    assert 0 == _count(world)

    async def act(breaker: Breaker) -> None:
        async with _notify(world, breaker) as notifier:
            for _ in range(120):
                with contextlib.suppress(StoreStalledError):
                    await notifier.step()
                if notifier._tasks:
                    await asyncio.wait({*notifier._tasks})
                world.clock.advance(30 * SECOND)

    asyncio.run(act(Breaker(fault)))
    assert _count(world) <= fault.most
    before = _count(world)

    asyncio.run(act(Breaker(fault._replace(times=0))))

    assert 1 <= _count(world) <= before + 4


PARTS = ["memories", "lives", "rules", "polls", "messages", "discovery", "collector"]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "error", [UnitError("contradicts"), StoreError("cannot be read"), KeyError("a bug")], ids=["unit", "other", "bug"]
)
def test_one_failing_part_does_not_end_the_service(world: World, part: str, error: Exception):
    """It is held for some minutes, not repeated at each step, and reported; everything else goes on."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 5 min")
    tried: list[int] = []

    async def refuse(*_: Any, **__: Any) -> Any:
        tried.append(world.clock.now())
        raise error

    with serve(world) as service:
        service.pass_time(HOUR)
        monitor = service.monitor
        (discovery,) = (each for each in monitor._around if type(each).__name__ == "Discovery")
        discovery.next_due = 0
        owner, method = {
            "memories": (monitor._memories, "remember"),
            "lives": (monitor.lives, "live"),
            "rules": (monitor.rules, "follow"),
            "polls": (monitor.polling, "poll"),
            "messages": (monitor.sending, "due"),
            "discovery": (discovery, "_follow"),
            "collector": (monitor._collector, "round"),
        }[part]
        setattr(owner, method, refuse)
        if part == "lives":
            monitor.lives.next_at = 0
        if part == "rules":
            monitor.rules.wake()
        if part == "collector" and monitor._collector is not None:
            monitor._collector._next = None
        before = len(world.polls())
        service.pass_time(HOUR)
        assert 1 <= len(tried) <= 7
        assert "polls" == part or len(world.polls()) >= before + 11
        named = [event.data["part"] for event in world.read(events.listing) if "problem.unit" == event.type]
        assert len(tried) == len(named)
        assert {part} == {name.lower() for name in named}
        health = world.read(health_of, world.settings, now=world.clock.wall(), is_polled=True)
        (trouble,) = (each for each in health.troubles if "part failed" == each.brief)
        assert str(error) in trouble.words
        assert {type(each).__name__ for each in monitor._around} <= PARTS_IN_WORDS.keys()
        delattr(owner, method)
        service.pass_time(HOUR)
        assert len(world.polls()) >= before + 11
    assert [] == world.violations()
    assert {"service.stalled"}.isdisjoint(event.type for event in world.read(events.listing))


def test_refused_step_of_one_life_delays_no_other(world: World):
    """Its sentinel is held for some minutes, and its step is taken as soon as it can be stored."""
    world.page("/a", "<p>one</p>")
    for name in ("first", "second"):
        world.add(f"Create Sentinel {name} Using {{/a}} Monitor all words Fetch every 5 min For 2 hour")
    tried: list[int] = []

    with serve(world) as service:
        service.pass_time(HOUR)
        committer = service.monitor.committer
        write = committer.write

        async def refuse(unit: Unit) -> Any:
            if any(step.sentinel_id == 1 for step in unit.sentinels):
                tried.append(world.clock.now())
                raise UnitError("this unit contradicts what is stored")
            return await write(unit)

        committer.write = refuse  # type: ignore[method-assign]
        service.pass_time(2 * HOUR)
        assert ["enabled", "ended"] == [world.sentinel(name).state for name in ("first", "second")]
        assert len(tried) <= 7
        committer.write = write  # type: ignore[method-assign]
        service.pass_time(HOUR)

    assert "ended" == world.sentinel("first").state
    assert world.sentinel("first").ended_at == world.sentinel("second").ended_at
    assert [] == world.violations()


@pytest.mark.parametrize("error", [StoreError("cannot be read"), KeyError("a bug")], ids=["refused", "bug"])
def test_failing_queue_does_not_end_the_notifier(world: World, error: Exception):
    """It is read again after ten minutes, and health shows why nothing was sent."""
    FAULT_OF[world.directory] = FAULTS["contradiction"]._replace(times=0)
    _watch(world)
    with serve(world) as service:
        service.monitor.sending.leave_to_others()
        service.pass_time(HOUR)
        world.page("/a", "<p>count 2</p>")
        service.pass_time(HOUR)
    tried: list[int] = []

    async def refuse(now: int) -> Any:
        tried.append(now)
        raise error

    async def act() -> None:
        async with _notify(world, Breaker(FAULT_OF[world.directory])) as notifier:
            due, notifier._sending.due = notifier._sending.due, refuse  # type: ignore[method-assign]
            for n in range(120):
                if n == 60:
                    notifier._sending.due = due  # type: ignore[method-assign]
                await notifier.step()
                if notifier._tasks:
                    await asyncio.wait({*notifier._tasks})
                world.clock.advance(30 * SECOND)

    asyncio.run(act())
    health = world.read(health_of, world.settings, now=world.clock.wall(), is_polled=True)

    assert 3 == len(tried)
    assert 1 == _count(world)
    assert [True] == [str(error) in each.words for each in health.troubles if "part failed" == each.brief]
