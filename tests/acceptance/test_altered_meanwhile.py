"""Promise: whenever a sentinel is altered, also while its page is checked, each change is notified
once, as its text says at that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.fakes import Page
from tests.world import Service, World, serve
from tidings.clock import DAY, HOUR

AT_ONCE = "immediate"
GATHERED = "every 1 day"
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
        service.pass_time(2 * DAY)

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
        service.pass_time(2 * DAY)

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
        service.pass_time(2 * DAY)
        found = _counts(world)
        world.server.pages["/a"] = alter("gone", before, 410)
        service.pass_time(3 * DAY)

    assert ["1", "2"] == found
    assert 1 == _list_events(world).count("page.error")
    assert [] == world.events("problem.rule", "problem.unit")
    assert [] == world.violations()
