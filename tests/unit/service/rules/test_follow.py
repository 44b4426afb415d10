from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.world import FLAGS
from tidings.clock import HOUR, MINUTE, SECOND
from tidings.errors import StoreBusyError
from tidings.events.expression import Periodic
from tidings.events.rule import Coupling, Firing, Rule
from tidings.model.event_type import EventType
from tidings.model.observed.unit import DeliveryDraft, Event, SentinelMove, Unit
from tidings.service.behaviour import (
    NO_EFFECTS,
    Arrangement,
    Effects,
    Moment,
    WantedRule,
    happening,
    name_closing,
    name_logged,
    name_opening,
)
from tidings.service.rules.follow import NAME, RuleFollower
from tidings.service.sentinels import register
from tidings.service.watch.committer import Committer
from tidings.service.watch.watchlist import WatchedSentinel, Watchlist
from tidings.settings import load
from tidings.storage.db import lock
from tidings.storage.db.database import Database, open_database
from tidings.storage.watches import deliveries, events, outside, sentinels
from tidings.storage.write.commit import Committed
from tidings.storage.write.store import Store

START = 1_700_000_000 * SECOND
TICK = 10 * MINUTE


class Counting:
    """Reports every ten minutes, and at the end, how many changes there were since the last report; none if there were none."""

    name = "counting"
    event_types = frozenset({"change.found"})
    conditions: Mapping[str, Any] = {}
    actions: Mapping[str, Any] = {}

    def __init__(self) -> None:
        self.settled_with: dict[int, Mapping[str, Any] | None] = {}

    def concerns(self, held: WatchedSentinel) -> bool:
        """Concern sentinels with a tag."""
        return bool(held.sentinel.tags)

    async def arrange(self, moment: Moment) -> Arrangement:
        """Return a rule for changes, and one for the clock."""
        number = moment.watched.row.id
        moment.memory.setdefault("first", moment.upto + 1)
        clock = Periodic(name_opening("counting.tick", number), TICK, name_closing(number))
        found = name_logged("change.found", number)
        return Arrangement(
            (
                WantedRule(Rule(name="counting.found", event=found, coupling=Coupling.DETACHED)),
                WantedRule(Rule(name="counting.tick", event=clock, coupling=Coupling.DETACHED), is_opened=True),
            )
        )

    async def act(self, moment: Moment, firing: Firing) -> Effects:
        """Count a change, or report."""
        if firing.rule.name == "counting.found":
            moment.memory["count"] = moment.memory.get("count", 0) + 1
            return NO_EFFECTS
        return self._tell(moment)

    async def finish(self, moment: Moment) -> Effects:
        """Report the rest."""
        return self._tell(moment)

    def note_memory(self, sentinel_id: int, memory: Mapping[str, Any] | None) -> None:
        """Record the memory."""
        self.settled_with[sentinel_id] = memory

    @staticmethod
    def _tell(moment: Moment) -> Effects:
        count = moment.memory.pop("count", 0)
        first, moment.memory["first"] = moment.memory["first"], moment.upto + 1
        if not count:
            return NO_EFFECTS
        draft = DeliveryDraft(
            endpoint_id=1,
            sentinel_id=moment.watched.row.id,
            content_type="text/plain",
            body=f"{count} at {moment.at - START}".encode(),
            due_at=moment.at,
            first_seq=first,
            last_seq=moment.upto,
        )
        return Effects(deliveries=(draft,))


class Home:
    """A database and its rules, which may be killed and restarted; events of pages are written directly."""

    def __init__(self, directory: Path, *, dies: Callable[[], bool] = lambda: False) -> None:
        self.settings = load(directory, environment={}, flags=FLAGS)
        self.door: Database = open_database(self.settings)
        self.epoch = self.door.write(lock.acquire_lease, "poller", "test", at=START, until=START + 10**15)
        self.behaviour = Counting()
        self.dies = dies
        self.store: Store
        self.watchlist: Watchlist
        self.rules: RuleFollower

    @contextlib.asynccontextmanager
    async def life(self, now: int) -> AsyncIterator[RuleFollower]:
        """Run the rules from a start to an end, or to a kill by an exception."""
        self.store = Store(open_database(self.settings), gather_seconds=0)
        committer = Committer(self.store)
        self.watchlist = Watchlist(self.store)
        await self.watchlist.load()
        self.rules = RuleFollower(self.store, self.watchlist, committer, (self.behaviour,), epoch=self.epoch)
        committer.listen(self.rules.note)
        write = committer.write

        async def mortal(unit: Unit) -> Any:
            if self.dies():
                message = "killed"
                raise StoreBusyError(message)
            answer = await write(unit)
            if self.dies():
                message = "killed"
                raise StoreBusyError(message)
            return answer

        committer.write = mortal  # type: ignore[method-assign]
        try:
            await self.rules.start(now)
            yield self.rules
        finally:
            await self.store.close()

    def add(self, name: str, now: int, tags: str = "Tags counted") -> int:
        """Register a sentinel as another process would."""
        text = f"Create Sentinel {name} Using http://127.0.0.1:9000/{name} Monitor all words {tags} Notify By console"
        register.register(self.door, text, settings=self.settings, now=now)
        number = self.door.read(sentinels.find, name).id
        self.door.write(sentinels.move, SentinelMove(sentinel_id=number, state="enabled", at=now))
        return int(number)

    def happen(self, sentinel_id: int, at: int) -> None:
        """Store the event of a change."""
        self.door.write(
            events.append, [Event(type=EventType.CHANGE_FOUND, at=at, sentinel_id=sentinel_id, page_id=sentinel_id)]
        )

    def end(self, sentinel_id: int, at: int) -> None:
        """End a sentinel."""
        self.door.write(sentinels.move, SentinelMove(sentinel_id=sentinel_id, state="ended", at=at))

    async def step(self, now: int) -> None:
        """Make a step like the monitor."""
        await self.watchlist.follow()
        self.rules.wake()
        await self.rules.follow(now)

    def list_reported(self) -> list[tuple[str, str, int, int]]:
        """Return the reports, with text and range of events."""
        found = self.door.read(deliveries.listing)
        return sorted((d.sentinel, d.body.decode(), d.first_seq, d.last_seq) for d in found)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "data")


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)


def test_tick_counts_only_events_before_it(home: Home):
    """The step comes later; an event after the tick is not counted."""
    one = home.add("one", START)

    async def story() -> None:
        async with home.life(START):
            home.happen(one, START + MINUTE)
            home.happen(one, START + TICK)
            home.happen(one, START + TICK + 1)
            await home.step(START + TICK + 30 * SECOND)

    run(story())

    assert [("one", f"2 at {TICK}", 3, 4)] == home.list_reported()


class FakeTracker(Counting):
    """Records the parameters of outside events."""

    event_types = frozenset({outside.HAPPENED})

    async def arrange(self, moment: Moment) -> Arrangement:
        """Return a rule on an outside event."""
        rule = Rule(
            name="counting.deploy", event=happening("deploy", moment.watched.row.id), coupling=Coupling.DETACHED
        )
        return Arrangement((WantedRule(rule),))

    async def act(self, moment: Moment, firing: Firing) -> Effects:
        """Record the parameters."""
        moment.memory.setdefault("heard", []).append(dict(firing.occurrence.params))
        return NO_EFFECTS


def test_rules_get_outside_events_once(home: Home):
    """Rules get the events with their parameters, across restarts. A sentinel that was created
    later does not.
    """
    home.behaviour = FakeTracker()
    row = home.door.write(outside.create, "deploy", "webhook", text="", at=START, due_at=None)
    one = home.add("one", START)

    def take(number: int) -> int:
        return int(home.door.write(outside.happen, row, {"n": number}, at=START + number * MINUTE))

    async def story() -> None:
        async with home.life(START):
            seqs = [take(1)]
            await home.step(START + MINUTE)
        seqs.append(take(2))  # no process runs
        home.add("two", START + 3 * MINUTE)
        async with home.life(START + 4 * MINUTE) as held:
            await home.step(START + 4 * MINUTE)
            received = [held.memory(number, "counting").get("heard", []) for number in (one, one + 1)]
        assert [[{"n": n, "seq": seq} for n, seq in zip((1, 2), seqs, strict=True)], []] == received

    run(story())


def test_rules_end_with_their_sentinel_after_a_last_report(home: Home):
    """Nothing stays in the engine or in the database."""
    one = home.add("one", START)

    async def story() -> None:
        async with home.life(START) as held:
            home.happen(one, START + MINUTE)
            await home.step(START + MINUTE)
            assert 2 == held.sizes.rules
            home.end(one, START + 2 * MINUTE)
            await home.step(START + 3 * MINUTE)
            assert (0, 0, 0) == held.sizes

    run(story())

    assert [("one", f"1 at {2 * MINUTE}", 3, 4)] == home.list_reported()
    assert [] == home.door.read(events.list_rule_states, NAME)
    assert {one: None} == home.behaviour.settled_with


def test_change_after_the_end_is_reported(home: Home):
    """A poll was in flight at the end. Nothing is left afterwards."""
    one = home.add("one", START)

    async def story() -> None:
        async with home.life(START) as held:
            home.end(one, START + MINUTE)
            await home.step(START + MINUTE)
            home.happen(one, START + 2 * MINUTE)
            await home.step(START + 2 * MINUTE)
            assert (0, 0, 0) == held.sizes

    run(story())

    assert [("one", f"1 at {2 * MINUTE}", 4, 4)] == home.list_reported()
    assert [] == home.door.read(events.list_rule_states, NAME)


def test_change_right_after_the_end_is_reported(home: Home):
    """The step had read the sentinel before another process ended it."""
    one = home.add("one", START)

    async def story() -> None:
        async with home.life(START) as held:
            home.end(one, START + MINUTE)
            home.happen(one, START + 2 * MINUTE)
            held.wake()
            await held.follow(START + 2 * MINUTE)

    run(story())

    assert [("one", f"1 at {2 * MINUTE}", 4, 4)] == home.list_reported()


def test_sentinel_without_rules_leaves_no_state(home: Home):
    """The engine and the table of states stay empty."""
    one = home.add("one", START, tags="")

    async def story() -> None:
        async with home.life(START) as held:
            home.happen(one, START + MINUTE)
            await home.step(START + HOUR)
            assert (0, 0, 0) == held.sizes
            assert held.next_due(START + HOUR) is None

    run(story())

    assert [] == home.door.read(events.list_rule_states, NAME)


def test_error_of_a_behaviour_does_not_affect_other_sentinels(home: Home, monkeypatch: pytest.MonkeyPatch):
    """The error is stored as an event, and other rules go on."""
    bad, good = home.add("bad", START), home.add("good", START)
    act = home.behaviour.act

    async def fails(moment: Moment, firing: Firing) -> Effects:
        if moment.watched.row.id == bad:
            message = "out of order"
            raise LookupError(message)
        return await act(moment, firing)

    monkeypatch.setattr(home.behaviour, "act", fails)

    async def story() -> None:
        async with home.life(START):
            for number in (bad, good):
                home.happen(number, START + MINUTE)
            await home.step(START + TICK)

    run(story())

    assert ["good"] == [name for name, *_ in home.list_reported()]
    assert "LookupError: out of order" == home.door.read(events.listing, types=["problem.rule"])[0].data["error"]


@pytest.mark.parametrize("step", ["arrange", "act", "finish"])
def test_faulty_behaviour_stops_no_start_and_no_other_sentinel(home: Home, monkeypatch: pytest.MonkeyPatch, step: str):
    """The error is stored as an event, and what the failed step had remembered is forgotten."""
    bad, good = home.add("bad", START), home.add("good", START)
    method, is_broken = getattr(home.behaviour, step), False
    memories = []

    async def fails(moment: Moment, *args: Any) -> Any:
        done = await method(moment, *args)
        if is_broken and moment.watched.row.id == bad:
            moment.memory["count"] = 99
            message = "out of order"
            raise LookupError(message)
        return done

    monkeypatch.setattr(home.behaviour, step, fails)

    async def story() -> None:
        nonlocal is_broken
        async with home.life(START):
            pass
        is_broken = True
        async with home.life(START + SECOND) as held:
            for number in (bad, good):
                home.happen(number, START + MINUTE)
            await home.step(START + TICK)
            memories.append(dict(held.memory(bad, "counting")))
            home.end(bad, START + TICK + MINUTE)
            await home.step(START + TICK + 2 * MINUTE)

    run(story())

    assert 99 not in memories[0].values()
    assert "good" in [name for name, *_ in home.list_reported()]
    problems = home.door.read(events.listing, types=["problem.rule"])
    assert {(bad, "LookupError: out of order")} == {(p.sentinel_id, p.data["error"]) for p in problems}


def test_refused_effects_are_left_out(home: Home, monkeypatch: pytest.MonkeyPatch):
    """A delivery without a receiver is a recorded problem. The sentinel's rules go on."""
    one = home.add("one", START)
    act = home.behaviour.act

    async def to_nobody(moment: Moment, firing: Firing) -> Effects:
        effects = await act(moment, firing)
        return replace(effects, deliveries=tuple(replace(d, first_seq=None) for d in effects.deliveries))

    monkeypatch.setattr(home.behaviour, "act", to_nobody)

    async def story() -> None:
        async with home.life(START):
            home.happen(one, START + MINUTE)
            await home.step(START + TICK)
            monkeypatch.setattr(home.behaviour, "act", act)
            home.happen(one, START + TICK + MINUTE)
            await home.step(START + 2 * TICK)

    run(story())

    assert [f"1 at {2 * TICK}"] == [text for _, text, *_ in home.list_reported()]
    assert 1 == len(home.door.read(events.listing, types=["problem.unit"]))


def test_messages_of_an_altered_sentinel_are_made_again(home: Home, monkeypatch: pytest.MonkeyPatch):
    """The text that decided who is notified at once is no longer the newest."""
    one = home.add("one", START)
    act = home.behaviour.act

    async def by_older_text(moment: Moment, firing: Firing) -> Effects:
        return replace(await act(moment, firing), texts=((one, 0),))

    monkeypatch.setattr(home.behaviour, "act", by_older_text)

    async def story() -> None:
        async with home.life(START):
            home.happen(one, START + MINUTE)
            await home.step(START + TICK)

    run(story())

    assert [("one", f"1 at {TICK}", 3, 3)] == home.list_reported()
    assert [] == home.door.read(events.listing, types=["problem.unit"])


def test_clock_that_missed_many_ticks_makes_up_for_one(home: Home):
    """No process ran for a week. The clock keeps its phase."""
    one = home.add("one", START)

    async def story() -> None:
        async with home.life(START):
            home.happen(one, START + MINUTE)
            await home.step(START + MINUTE)
        week = START + 1000 * TICK + MINUTE
        async with home.life(week) as held:
            assert START + 1001 * TICK == held.next_due(week)

    run(story())

    assert [("one", f"1 at {1000 * TICK}", 3, 3)] == home.list_reported()


@pytest.mark.parametrize("seed", range(6))
def test_kills_between_any_commits_change_no_report(tmp_path: Path, seed: int):
    """Text, range of events and time are those of a run without kills (the law of restarts)."""
    chance = random.Random(seed)
    trace: list[tuple[int, str, int]] = []
    now = START
    for _ in range(25):
        now += chance.choice((SECOND, MINUTE, 7 * MINUTE))
        trace.append((now, chance.choices(("happen", "add", "end"), (8, 1, 0.7))[0], chance.randrange(4)))

    def report(directory: Path, dies: Callable[[], bool]) -> list[tuple[str, str, int, int]]:
        home = Home(directory, dies=dies)
        alive = [home.add(name, START) for name in ("a", "b", "c")]

        async def story() -> None:
            waiting = [*trace, (now + HOUR, "rest", 0)]
            at = START
            while True:
                with contextlib.suppress(StoreBusyError):
                    async with home.life(at):
                        while waiting:
                            due = home.rules.next_due(at)
                            if due is not None and due < waiting[0][0]:
                                at = max(at, due)
                                await home.step(at)
                                continue
                            at, what, which = waiting.pop(0)
                            if what == "add":
                                alive.append(home.add(f"n{at}", at))
                            elif what == "end" and which < len(alive):
                                home.end(alive.pop(which), at)
                            elif what == "happen":
                                home.happen(alive[which % len(alive)], at)
                            if what != "happen" or which % 2:
                                await home.step(at)
                        await home.step(at)
                        return

        asyncio.run(story())
        return home.list_reported()

    deaths = random.Random(seed + 1000)

    expected = report(tmp_path / "calm", lambda: False)
    assert expected == report(tmp_path / "wild", lambda: deaths.random() < 0.15)
    assert expected


class FakeEventStore:
    """A store without rows, which returns prepared events."""

    def __init__(self) -> None:
        self.waiting: list[events.EventRow] = []

    async def read(self, fn: Callable[..., Any], *args: Any) -> Any:
        """Return prepared events for the queries of rules."""
        match fn.__name__:
            case "_list_events":
                happened, self.waiting = self.waiting, []
                return happened, max((e.seq for e in happened), default=0)
            case "list_rule_states":
                return []
            case _:
                return 0

    async def write(self, *args: Any, **more: Any) -> None:
        """Store nothing."""

    async def commit(self, units: list[Unit]) -> list[Any]:
        """Store nothing."""
        return [Committed() for _ in units]


def test_ten_thousand_sentinels_leave_nothing_behind(home: Home):
    """Rules, nodes, clocks and memories are as many at the end as at the beginning: none (issue C
    4).
    """
    home.add("one", START)

    async def story() -> None:
        async with home.life(START):
            (held,) = home.watchlist.sentinels.values()
        home.behaviour.settled_with.clear()
        store, sizes, numbers = FakeEventStore(), set(), itertools.count(1)
        follower = RuleFollower(store, home.watchlist, Committer(store), (home.behaviour,), epoch=1)  # type: ignore[arg-type]
        home.watchlist.sentinels.clear()
        await follower.start(START)
        for hundred in range(100):
            at, lives = START + hundred * MINUTE, range(100 * hundred + 1, 100 * hundred + 101)
            for number in lives:
                home.watchlist.sentinels[number] = WatchedSentinel(replace(held.row, id=number), held.sentinel, {})
            for kind in ("sentinel.enabled", "change.found", "sentinel.ended"):
                store.waiting += [events.EventRow(next(numbers), kind, at, n, None, None, {}) for n in lives]
                follower.wake()
                await follower.follow(at)
            home.watchlist.sentinels.clear()
            sizes.add(follower.sizes)
        assert {(0, 0, 0)} == sizes
        assert {} == follower._groups
        assert {None} == set(home.behaviour.settled_with.values())
        assert 10_000 == len(home.behaviour.settled_with)

    run(story())
