"""The frames of a page are polled like any page: once, and not more often than allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.planner import make_watched
from tests.stores import World
from tidings.clock import HOUR, MINUTE, ManualClock
from tidings.service.poll.frames import Frames
from tidings.service.watch.watchlist import WatchedPage
from tidings.storage.observed import members, pages


class Case:
    """Page 1 with the frames 2 and 3, which have one version each, and fakes of all that polls them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.clock = ManualClock(world.at)
        self.busy: set[int] = set()
        self.released: list[int] = []
        self.asked: list[tuple[int, str, str]] = []
        self.reason = ""
        self.during: Callable[[int], Awaitable[None]] | None = None
        self.watched: dict[int, WatchedPage] = {}
        world.watch()
        world.write(members.ensure, [world.page("menu"), world.page("text")])
        for page_id in (2, 3):
            world.commit(world.make_stored(b"frame %d" % page_id, page_id=page_id))
        self.clock.move_to(world.at)
        self.frames = Frames(self, self.clock, self, self.watched, floor=MINUTE)  # type: ignore[arg-type]

    async def read(self, fn: Callable[..., Any], *args: Any) -> Any:
        return self.world.read(fn, *args)

    def is_busy(self, page_id: int) -> bool:
        return page_id in self.busy

    def reserve(self, page_id: int) -> bool:
        is_free = page_id not in self.busy
        self.busy.add(page_id)
        return is_free

    def release(self, page_id: int) -> None:
        self.released.append(page_id)
        self.busy.discard(page_id)

    def budget(self, page: WatchedPage) -> str:
        return "shop"

    def set(self, page_id: int, **state: Any) -> None:
        """Change the stored state of a frame."""
        self.world.write(
            lambda c: pages.update(c, [(replace(pages.state(c, page_id), **state), pages.state(c, page_id).last_seq)])
        )

    async def ask(self, page: WatchedPage, ignoring: str, budget: str) -> str:
        self.asked.append((page.state.page_id, ignoring, budget))
        if self.during is not None:
            await self.during(page.state.page_id)
        if not self.reason:
            self.busy.discard(page.state.page_id)  # its unit is committed
        return self.reason

    async def poll(self, page_id: int = 1, frame_ids: tuple[int, ...] = (2, 3), **more: Any) -> list[str]:
        """Poll frames; return for each the reason why it was not requested."""
        given = {"since": self.clock.now(), "is_asked": False} | more
        found = await self.frames.poll(page_id, frame_ids, self.ask, **given)
        assert [*frame_ids] == [frame.state.page_id for frame in found]
        return [frame.unasked for frame in found]

    def run(self, **more: Any) -> list[int]:
        """Poll frames; return the requested ones in order."""
        self.asked = []
        asyncio.run(self.poll(**more))
        return [page_id for page_id, *_ in self.asked]


def test_frame_with_the_oldest_poll_is_first(world: World):
    """A small budget polls them in turn. One that was never polled is first."""
    case = Case(world)
    case.set(2, polled_at=world.at - HOUR)
    case.set(3, polled_at=world.at - 2 * HOUR)

    assert [3, 2] == case.run()

    case.set(2, polled_at=None)

    assert [2, 3] == case.run()


def test_frame_is_polled_once_for_all_its_pages(world: World):
    """If it was polled since the beginning of the page's poll, its stored version is used."""
    case = Case(world)
    case.set(2, polled_at=world.at)
    case.set(3, polled_at=world.at - 1)

    assert [3] == case.run(since=world.at, is_asked=True)


def test_frame_keeps_its_floor_and_back_off(world: World):
    """Both are ignored if a user has requested the page."""
    case = Case(world)
    now = case.clock.now()
    case.set(2, polled_at=now - MINUTE + 1)
    case.set(3, polled_at=now - MINUTE, retry_at=now + 1)

    assert [] == case.run()
    assert [2, 3] == sorted(case.run(is_asked=True))

    case.set(2, polled_at=now - MINUTE)
    case.set(3, retry_at=now)

    assert [2, 3] == sorted(case.run())


def test_frame_forbidden_by_robots_is_polled_for_a_page_that_ignores_them(world: World):
    """The frame backs off only because of robots.txt."""
    case = Case(world)
    rests = {"polled_at": case.clock.now() - HOUR, "retry_at": case.clock.now() + HOUR}
    case.set(2, kind="robots", **rests)
    case.set(3, kind="net", **rests)

    assert [2] == case.run(ignoring="my own site")
    assert [(2, "my own site", "default")] == case.asked


def test_class_of_the_page_pays_for_its_frames(world: World):
    """For a page that is not watched itself, the budget of all polls pays."""
    case = Case(world)
    case.set(2, polled_at=None)
    case.watched[1] = make_watched(1)
    case.run(frame_ids=(2,))

    assert [(2, "", "shop")] == case.asked


def test_unpolled_frame_is_released_with_the_reason(world: World):
    """A polled one is released by its unit."""
    case = Case(world)
    case.set(2, polled_at=None)
    case.reason = "the budget is used up for now"

    assert [case.reason] == asyncio.run(case.poll(frame_ids=(2,)))
    assert [2] == case.released

    case.reason, case.released = "", []

    assert [""] == asyncio.run(case.poll(frame_ids=(2,)))
    assert [] == case.released


def test_frame_is_released_after_an_error(world: World):
    """The caller gets the error."""
    case = Case(world)
    case.set(2, polled_at=None)

    async def burst(_: int) -> None:
        raise ValueError("odd")

    case.during = burst
    with pytest.raises(ValueError, match="odd"):
        case.run(frame_ids=(2,))

    assert [2] == case.released


def test_frame_in_flight_is_waited_for(world: World):
    """The result is used, and the frame is not polled again."""
    case = Case(world)
    case.set(2, polled_at=None)
    case.busy = {2}

    async def play() -> list[str]:
        waits = asyncio.create_task(case.poll(frame_ids=(2,), since=case.clock.now()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not waits.done()
        case.set(2, polled_at=case.clock.now())
        case.busy.clear()
        case.frames.note_end(2)
        return await waits

    assert [""] == asyncio.run(play())
    assert [] == case.asked


def test_pages_that_embed_each_other_do_not_deadlock(world: World):
    """Page 2 is a frame of page 1 and embeds page 1, which is in flight: its stored version is
    used.
    """
    case = Case(world)
    case.set(2, polled_at=None)
    case.busy = {1}
    seen: list[list[str]] = []

    async def read_inside(page_id: int) -> None:
        case.during = None
        seen.append(await case.poll(page_id=page_id, frame_ids=(1,)))

    case.during = read_inside
    asyncio.run(asyncio.wait_for(case.poll(frame_ids=(2,)), 5))

    assert [[""]] == seen
    assert [2] == [page_id for page_id, *_ in case.asked]
