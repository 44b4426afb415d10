"""Promise: whenever a sentinel is altered, also while its page is checked, each change is notified
once, as its text says at that moment.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.fakes import Page
from tests.world import Service, World, serve
from tidings.clock import DAY, HOUR, MINUTE
from tidings.service.sentinels import register
from tidings.storage.watches import sentinels

AT_ONCE = "immediate"
GATHERED = "every 6 hour"
RATES = (AT_ONCE, GATHERED, "best effort", "immediate max 1 per 2 hour")


def _watch(world: World, rate: str) -> str:
    """Watch a page hourly; return its receiver."""
    world.page("/a", "<p>count 0</p>")
    hook = world.receiver()
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 1 hour slack 1 s Notify By webhook {hook} {rate}"
    )
    return hook


def _list_records(world: World) -> list[Any]:
    """Return the records in all messages, in the order in which they came."""
    return [record for _, message in world.received for record in message["data"].get("changes", [message["data"]])]


def _counts(world: World) -> list[str]:
    """Return the counts in all messages."""
    return [pair["new"] for record in _list_records(world) for pair in record.get("updated", ())]


def _list_events(world: World) -> list[str]:
    """Return the types of the notices in all messages."""
    return [record["event"] for record in _list_records(world) if "event" in record]


@contextmanager
def _before(owner: Any, name: str, act: Callable[[], None]) -> Iterator[None]:
    """Act once, just before the next call of an asynchronous method."""
    method = getattr(owner, name)

    async def call(*args: Any, **more: Any) -> Any:
        setattr(owner, name, method)
        act()
        return await method(*args, **more)

    setattr(owner, name, call)
    try:
        yield
    finally:
        setattr(owner, name, method)


def _change(world: World, service: Service, *numbers: int) -> None:
    """Let the page show each number for an hour."""
    for number in numbers:
        world.page("/a", f"<p>count {number}</p>")
        service.pass_time(HOUR)


@pytest.mark.parametrize("after", RATES)
@pytest.mark.parametrize("before", RATES)
def test_sentinel_altered_in_a_step_follows_its_new_text(world: World, before: str, after: str):
    """Its rules are those of the new text, although the step had read the old one before."""
    hook = _watch(world, before)

    with serve(world) as service:
        service.settle()
        _change(world, service, 1)

        def alter() -> None:
            world.add(f"Alter s Notify by webhook {hook} {after}")
            service.monitor.rules.wake()

        with _before(service.monitor.rules, "follow", alter):
            service.settle()
        service.settle()
        begun = len(world.received)
        _change(world, service, 2, 3)
        came = len(world.received) - begun
        service.pass_time(12 * HOUR)

    assert ["1", "2", "3"] == _counts(world)
    assert {AT_ONCE: 2, GATHERED: 0, "best effort": 2}.get(after, came) == came
    assert [] == world.violations()


def _find_unheard(world: World, service: Service, number: int) -> None:
    """Let a change be found and stored, which the rules do not process before the service stops."""
    rules: Any = service.monitor.rules

    async def follow(now: int) -> None:
        pass

    rules.follow, rules.next_due = follow, lambda now: None
    _change(world, service, number)


@pytest.mark.parametrize("after", RATES)
@pytest.mark.parametrize("before", RATES)
def test_sentinel_altered_while_the_service_rests_loses_nothing(world: World, before: str, after: str):
    """The rules process what was found before with the old text; another clause is added too."""
    hook = _watch(world, before)
    world.page("/other", "taken")

    with serve(world) as service:
        service.settle()
        _change(world, service, 1)
        _find_unheard(world, service, 2)
    world.add(f"Alter s Notify by webhook {hook} {after} Notify by webhook {{/other}} {before}")
    with serve(world) as service:
        service.settle()
        _change(world, service, 3)
        service.pass_time(12 * HOUR)

    assert ["1", "2", "3"] == _counts(world)
    assert [] == [event.data for event in world.events("problem.rule", "problem.unit")]
    assert [] == world.violations()


@pytest.mark.parametrize("after", RATES)
@pytest.mark.parametrize("before", RATES)
def test_sentinel_altered_during_a_check_is_notified_once(world: World, before: str, after: str):
    """What this check finds is notified as the new text says: a page and its trouble too."""
    hook = _watch(world, before)

    def alter(shown: str, rate: str, status: int = 200) -> Any:
        def answer(_seen: Any, wire: Any) -> None:
            world.server.pages["/a"] = Page(shown.encode(), {"Content-Type": "text/html"}, status=status)
            world.add(f"Alter s Notify by webhook {hook} {rate}")
            head = f"HTTP/1.1 {status} Said\r\nContent-Type: text/html\r\nContent-Length: {len(shown)}\r\n\r\n"
            wire.send((head + shown).encode())

        return answer

    with serve(world) as service:
        service.settle()
        _change(world, service, 1)
        world.server.pages["/a"] = alter("<p>count 2</p>", after)
        service.pass_time(HOUR)
        service.pass_time(12 * HOUR)
        found = _counts(world)
        world.server.pages["/a"] = alter("gone", before, 410)
        service.pass_time(DAY)

    assert ["1", "2"] == found
    assert 1 == _list_events(world).count("page.error")
    assert [] == world.events("problem.rule", "problem.unit")
    assert [] == world.violations()


POINTS = ("watchlist.follow", "lives.live", "rules.follow", "rules._commit", "polling.poll", "sending.due")
"""Parts of a step, before which something may be written by another process."""


class Acts:
    """What other processes do to a sentinel, whatever its name is now."""

    def __init__(self, world: World, hook: str, rng: random.Random) -> None:
        self._world, self._hook, self._rng = world, hook, rng
        self.name = "s"
        self.done: list[str] = []

    def do(self) -> None:
        """Do one of them."""
        chosen = self._rng.choice((self.alter, self.alter, self.pause, self.rename, self.recreate))
        chosen()
        self.done.append(f"{chosen.__name__} at {self._world.clock.now()}")

    def alter(self) -> None:
        """Alter the rate, which keeps the one receiver."""
        self._world.add(f"Alter {self.name} Notify by webhook {self._hook} {self._rng.choice(RATES)}")

    def pause(self) -> None:
        """Disable the sentinel, or enable it again."""
        is_on = self._world.sentinel(self.name).state == "enabled"
        self._world.add(f"{'Disable' if is_on else 'Enable'} {self.name}")

    def rename(self) -> None:
        """Give it another name."""
        old, self.name = self.name, f"s{len(self.done)}"
        self._world.write(register.rename, old, self.name, now=self._world.clock.now())

    def recreate(self) -> None:
        """Drop and restore it."""
        row, now = self._world.sentinel(self.name), self._world.clock.now()
        self._world.write(sentinels.drop, row.id, now)
        self._world.write(sentinels.restore, row.id, now)


def _find_owner(service: Service, point: str) -> tuple[Any, str]:
    part, _, name = point.partition(".")
    return getattr(service.monitor, part), name


@pytest.mark.parametrize("seed", range(12))
def test_no_moment_of_an_act_loses_or_repeats_news(world: World, seed: int):
    """Wherever in a step, in a check or between two runs of the service a sentinel is altered,
    renamed, paused or dropped and restored: each change is notified once.
    """
    rng = random.Random(seed)
    acts = Acts(world, _watch(world, rng.choice(RATES)), rng)

    def act_during_check(number: int) -> Any:
        def answer(_seen: Any, wire: Any) -> None:
            world.page("/a", f"<p>count {number}</p>")
            acts.do()
            shown = f"<p>count {number}</p>"
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(shown)}\r\n\r\n"
            wire.send((head + shown).encode())

        return answer

    number = 0
    for _ in range(3):
        with serve(world) as service:
            service.settle()
            for _ in range(6):
                number += 1
                if rng.random() < 0.3:
                    world.server.pages["/a"] = act_during_check(number)
                    service.pass_time(HOUR)
                    continue
                world.page("/a", f"<p>count {number}</p>")
                with _before(*_find_owner(service, rng.choice(POINTS)), acts.do):
                    service.pass_time(rng.choice((HOUR, 30 * MINUTE)))
                    service.monitor.rules.wake()
                    service.settle()
        for _ in range(rng.randrange(3)):
            acts.do()
    if world.sentinel(acts.name).state != "enabled":
        acts.pause()
    with serve(world) as service:
        service.pass_time(DAY)
    found = [change["id"] for change in world.changes() if not change["quiet"]]
    notified = [record["id"] for record in _list_records(world) if record["record"] == "change"]

    assert sorted(found) == sorted(notified), (seed, acts.done)
    assert len(found) > 2
    assert [] == world.events("problem.rule", "problem.unit")
    assert [] == world.violations()
