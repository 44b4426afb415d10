"""The way of a body through the house: from its fetch until what people are told of it is durable, and from that row to its receiver.

Run `PYTHONPATH=. python bench/walk.py [--framed] [--modules]`. The real service polls a page on loopback that has changed and notifies of it; the job runs in
the same process. The rooms are printed in which what is made of the body is handed on, each below the one that calls it. A room that is
entered anew after another one is a *return*. Tools are no rooms of the walk: nouns, the pure packages beside the job of `detection/`, what is
watched in memory (`service/watch`), words (`service/show`), the wall around the job (`isolation/`), what the store gives, and whoever hears of a unit
once it is durable. The looks at frames are walks of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tidings
from tests.fakes import WebServer
from tests.world import World
from tidings.clock import HOUR

HOME = Path(tidings.__file__).parent
ROOMS = ("fetching/http/client", "service", "detection/job", "archive", "storage/write", "notification")
TOOLS = tuple(f"service/{room}/" for room in ("watch", "show", "run", "plan", "sources", "rules", "life"))
VALUES = frozenset({"record", "reason", "why", "comparing", "beginning", "members", "sha256"})
"""Functions of the service's values that say what they hold."""
TAKES = frozenset({"commit"})
"""Functions of the store that take what is made of a body."""

FETCHED = ("fetching/http/client", "fetch")
"""What comes before it is no part of the walk."""
ANOTHER = ("service/poll/grants", "look_at_frame")
"""Where the walk of another body begins."""


@dataclass(eq=False)
class Room:
    """A visit to a room, and those that it makes in turn."""

    name: str
    visits: list[Room] = field(default_factory=list)

    def all(self) -> Iterator[Room]:
        """Yield this visit and all below it."""
        yield self
        for visit in self.visits:
            yield from visit.all()

    def lines(self, depth: int = 1) -> Iterator[str]:
        """Yield the visits, one a line."""
        yield f"{'  ' * depth}{self.name}"
        for visit in self.visits:
            yield from visit.lines(depth + 1)


class Walk:
    """Hears calls of functions from the first one named `begin` in a module until one named `end`, and notes the rooms that they enter."""

    def __init__(self, begin: tuple[str, str], end: tuple[str, str], *, modules: bool) -> None:
        self._begin, self._end, self._modules = begin, end, modules
        self.root: Room | None = None
        self._is_over = False
        self._known: dict[int, tuple[FrameType, Room | None]] = {}

    def hear(self, frame: FrameType) -> None:
        """Note a call, once a frame: a coroutine that goes on is no new one."""
        module = module_of(frame)
        if self._is_over or not module or id(frame) in self._known or frame.f_code.co_name.startswith("<"):
            return
        called = (module, frame.f_code.co_name)
        if self.root is None:
            if called == self._begin:
                self.root = Room(self._name(*called))
                self._known[id(frame)] = (frame, self.root)
            return
        caller = self._caller(frame) if called != ANOTHER else None
        name = self._name(*called)
        if caller is None or not name:
            self._known[id(frame)] = (frame, None)  # kept, so that its number is not given out again
            return
        if name != caller.name:
            if not caller.visits or caller.visits[-1].name != name:
                caller.visits.append(Room(name))
            caller = caller.visits[-1]
        self._known[id(frame)] = (frame, caller)
        self._is_over = called == self._end
        if called == FETCHED:
            self.root.visits = self.root.visits[-1:]

    def _name(self, module: str, function: str) -> str:
        room = room_of(module, function)
        return module if self._modules and room.startswith("service") else room

    def _caller(self, frame: FrameType) -> Room | None:
        """Return the room that a call comes from, None if from outside the walk."""
        back = frame.f_back
        while back is not None:
            known, room = self._known.get(id(back), (None, None))
            if known is back and (room is not None or (module_of(back), back.f_code.co_name) == ANOTHER):
                return room
            back = back.f_back
        return None


def module_of(frame: FrameType) -> str:
    """Return the module of a frame, from the package on, "" for others' code."""
    path = Path(frame.f_code.co_filename)
    return str(path.relative_to(HOME).with_suffix("")) if path.is_relative_to(HOME) else ""


def room_of(module: str, function: str) -> str:
    """Return the room in which a function hands on what is made of a body, "" for a tool."""
    is_tool = (
        module.startswith(TOOLS) or function in VALUES or (module == "storage/write/store" and function not in TAKES)
    )
    return "" if is_tool or not module.startswith(ROOMS) else module.rpartition("/")[0]


async def look(world: World, *, framed: bool, modules: bool) -> dict[str, Walk]:
    """Poll a page twice, walk along at the second poll, which finds a change and notifies of it."""
    frame = '<iframe src="/frame"></iframe>' if framed else ""
    world.stores_at_once = False  # what the store does on its own thread is no step of the walk
    world.page("/a", f"<p>one lantern</p>{frame}")
    world.page("/frame", "<p>a frame</p>")
    deep = " Frames 2" if framed else ""
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 1 hour{deep} Notify by webhook {world.receiver()} immediate"
    )
    polled = Walk(("service/poll/grants", "poll"), ("storage/write/store", "commit"), modules=modules)
    sent = Walk(("service/notify/deliver", "attempt"), ("storage/write/store", "commit"), modules=modules)

    def hear(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            polled.hear(frame)
            sent.hear(frame)

    async with world.monitor() as monitor:
        await world.settle(monitor)
        await world.pass_time(monitor, HOUR)
        world.page("/a", f"<p>two lanterns</p>{frame}")
        sys.setprofile(hear)
        await world.pass_time(monitor, HOUR)
        sys.setprofile(None)
    assert world.received, "nothing was notified"
    return {"from the fetch until it is durable what people are told": polled, "from there to the receiver": sent}


def main() -> None:
    """Walk and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--framed", action="store_true")
    parser.add_argument("--modules", action="store_true", help="print modules instead of rooms")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, WebServer() as server:
        world = World(Path(folder) / "data", server)
        walks = asyncio.run(look(world, framed=arguments.framed, modules=arguments.modules))
    for name, walk in walks.items():
        assert walk.root is not None, name
        rooms = [room.name for room in walk.root.all()]
        print(
            f"{name}: {len(set(rooms))} {'modules' if arguments.modules else 'rooms'}, {len(rooms) - len(set(rooms))} returns"
        )
        print("\n".join(walk.root.lines()))


if __name__ == "__main__":
    main()
