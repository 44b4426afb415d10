"""List the rooms that five things enter on their way through the code.

    PYTHONPATH=. python bench/walk.py [--walk body|budget|importance|alter|add] [--framed] [--modules] [--tools]

The real command or service runs in this process, on a loopback server and a manual clock. The bench
notes who calls whom, from the first call of one function to that of another one. A *room* is a
folder of the package in which a function hands on the thing that is followed. A pure package is one
room. Each room is printed below the one that calls it. A room that is entered again after another
one is a *return*. Each part of a way names its rooms. Whatever else is called is a tool (`--tools`
prints which): values, the database connection, clocks, words for people. Frames of a page are ways
of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pytest

import tidings
from tests.fakes import WebServer
from tests.world import World
from tidings.cli.main import main as run_command
from tidings.clock import HOUR
from tidings.storage.write.store import Store

HOME = Path(tidings.__file__).parent
Function = tuple[str, str]
COMMIT = ("storage/write/store", "commit")
FRAME = ("service/poll/grants", "poll_frame")
"""Where the way of another body begins."""
FETCHED = ("fetching/http/client", "fetch")


@dataclass(frozen=True)
class Part:
    """A part of a way, from the first call of one function to the first of another one, or to its
    own end.

    `rooms` and `tools` are beginnings of `module:function`; a tool is no room. Calls that come
    before `after` do not count.
    """

    name: str
    begin: Function
    end: Function | None
    rooms: tuple[str, ...]
    tools: tuple[str, ...] = ()
    after: Function | None = None


PURE = frozenset({"language", "events", "scheduling", "estimation", "detection", "search", "presentation"})
"""Packages that are given values and return values: one room each."""
BODY = (
    "fetching/http/client", "service/", "detection/job/", "archive/", "storage/write/store:commit", "storage/write/units",
    "storage/write/commit", "notification/",
)  # fmt: skip
NOT_BODY = (
    *(f"service/{room}/" for room in ("watch", "show", "run", "plan", "sources", "rules", "sentinels")),
    *(f":{name}" for name in ("record", "reason", "why", "comparing", "beginning", "members", "sha256")),
)
"""What is watched in memory, words, what is notified of a unit once it is durable; and functions of values
that say what they hold.
"""
LANGUAGE = ("language/",)
WAYS: dict[str, tuple[Part, ...]] = {
    "body": (
        Part(
            "from the fetch until it is durable what people are notified of",
            ("service/poll/grants", "poll"),
            COMMIT,
            BODY,
            NOT_BODY,
            after=FETCHED,
        ),
        Part(
            "from there to the receiver",
            ("service/notify/deliver", "attempt"),
            None,
            BODY,
            NOT_BODY,
        ),
    ),
    "budget": (
        Part(
            "from the settings until database and planner hold it",
            ("service/run/assembly", "_build"),
            ("service/plan/planner", "__init__"),
            ("service/run/", "service/plan/", "storage/write/charge"),
        ),
        Part(
            "from a step to the allocator",
            ("service/poll/polling", "pay"),
            ("scheduling/allocator", "choose"),
            ("service/poll/", "service/plan/", "storage/write/charge", "scheduling/allocator", "scheduling/price/", "scheduling/learned:market"),
        ),
    ),
    "importance": (
        Part(
            "from the clause until it is stored",
            ("service/sentinels/register", "register"),
            ("storage/watches/sentinels", "create"),
            ("service/sentinels/", "storage/watches/sentinels:create", *LANGUAGE),
        ),
        Part(
            "until the running service holds it",
            ("service/watch/watchlist", "load"),
            None,
            ("service/watch/", *LANGUAGE),
        ),
        Part(
            "from there to the bid",
            ("service/plan/planner", "choose"),
            ("scheduling/price/policy", "bid"),
            ("service/plan/", "service/watch/page_schedule:importance", "scheduling/price/", "scheduling/learned", "scheduling/population"),
        ),
    ),
    "alter": (
        Part(
            "from the command until it is stored",
            ("cli/change/alter", "run"),
            ("storage/watches/sentinels", "alter"),
            ("cli/change/", "service/sentinels/", "storage/watches/sentinels:alter", *LANGUAGE),
        ),
    ),
    "add": (
        Part(
            "from the command until it is stored",
            ("cli/change/add", "run"),
            ("storage/watches/sentinels", "create"),
            ("cli/change/", "service/sentinels/", "storage/watches/sentinels:create", *LANGUAGE),
        ),
    ),
}  # fmt: skip


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
    """Notes the rooms of a part that function calls enter. With `modules` a room of `service/` is a
    module.
    """

    def __init__(self, part: Part, *, modules: bool) -> None:
        self.part, self._modules = part, modules
        self.root: Room | None = None
        self.tools: set[str] = set()
        self.is_over = False
        self._known: dict[int, tuple[FrameType, Room | None]] = {}

    def note_call(self, frame: FrameType) -> None:
        """Note a call, once a frame: a coroutine that goes on is no new one."""
        module = module_of(frame)
        if self.is_over or not module or id(frame) in self._known or frame.f_code.co_name.startswith("<"):
            return
        called = (module, frame.f_code.co_name)
        if self.root is None:
            if called == self.part.begin:
                self.root = Room(self._room(*called) or module)
                self._known[id(frame)] = (frame, self.root)
            return
        caller = self._caller(frame) if called != FRAME else None
        if caller is None:
            self._known[id(frame)] = (frame, None)  # kept, so that its number is not given out again
            return
        self.is_over = called == self.part.end
        name = self._room(*called)
        if not name:
            self.tools.add(module)
            self._known[id(frame)] = (frame, None)
            return
        if name != caller.name:
            if not caller.visits or caller.visits[-1].name != name:
                caller.visits.append(Room(name))
            caller = caller.visits[-1]
        self._known[id(frame)] = (frame, caller)
        if called == self.part.after:
            self.root.visits = self.root.visits[-1:]

    def rooms(self) -> list[str]:
        """Return the name of each visit."""
        if self.root is None or not (self.is_over or self.part.end is None):
            raise AssertionError(f"nobody walked {self.part.name}")
        return [room.name for room in self.root.all()]

    def _room(self, module: str, function: str) -> str:
        """Return the room in which a function hands on what is followed, "" for a tool."""
        called = f"{module}:{function}"
        is_tool = any(called.startswith(tool) or called.endswith(tool) for tool in self.part.tools)
        if is_tool or not called.startswith(self.part.rooms):
            return ""
        package, _, _ = module.partition("/")
        return (
            module
            if self._modules and package == "service"
            else package
            if package in PURE
            else module.rpartition("/")[0]
        )

    def _caller(self, frame: FrameType) -> Room | None:
        """Return the room that a call comes from, None if from outside the walk."""
        back = frame.f_back
        while back is not None:
            known, room = self._known.get(id(back), (None, None))
            if known is back and (room is not None or (module_of(back), back.f_code.co_name) == FRAME):
                return room
            back = back.f_back
        return None


def module_of(frame: FrameType) -> str:
    """Return the module of a frame, from the package on, "" for others' code."""
    path = Path(frame.f_code.co_filename)
    return str(path.relative_to(HOME).with_suffix("")) if path.is_relative_to(HOME) else ""


@contextlib.contextmanager
def walking(walks: Sequence[Walk]) -> Iterator[None]:
    """Walk along with all calls meanwhile."""

    def note_call(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            for walk in walks:
                walk.note_call(frame)

    before = sys.getprofile()
    sys.setprofile(note_call)
    try:
        yield
    finally:
        sys.setprofile(before)


async def notify_of_a_change(world: World, walks: Sequence[Walk], *, framed: bool) -> None:
    """Poll a page twice, walk along at the second poll, which finds a change and notifies of it."""
    frame = '<iframe src="/frame"></iframe>' if framed else ""
    world.stores_at_once = False  # what the store does on its own thread is no step of the walk
    world.page("/a", f"<p>one lantern</p>{frame}")
    world.page("/frame", "<p>a frame</p>")
    deep = " Frames 2" if framed else ""
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 1 hour{deep} Notify by webhook {world.receiver()} immediate"
    )
    async with world.monitor() as monitor:
        await world.settle(monitor)
        await world.pass_time(monitor, HOUR)
        world.page("/a", f"<p>two lanterns</p>{frame}")
        with walking(walks):
            await world.pass_time(monitor, HOUR)
    assert world.received, "nobody was notified"


async def run_at_once(_: Store, call: Callable[[], Any]) -> Any:
    """Run on this thread what is asked of the store, so that the profiler sees it."""
    return call()


async def start_and_poll(world: World, walks: Sequence[Walk]) -> None:
    """Add a sentinel, start the service with a small budget, and poll its page."""
    world.page("/a", "<p>one lantern</p>")
    with pytest.MonkeyPatch.context() as patch, walking(walks):
        patch.setattr(Store, "_run", run_at_once)
        world.add("Create Sentinel s Using {/a} Monitor any change Importance 0.9")
        async with world.monitor() as monitor:
            await world.settle(monitor)
            await world.pass_time(monitor, HOUR)


def run(world: World, walks: Sequence[Walk], *words: str) -> None:
    """Run a command on the data of a world."""
    flags = [word for name, value in world.flags.items() for word in ("--set", f"{name}={value}")]
    with walking(walks), contextlib.redirect_stdout(io.StringIO()):
        code = run_command([words[0], "--data", str(world.directory), *flags, *words[1:]])
    assert code == 0, words


def alter(world: World, walks: Sequence[Walk]) -> None:
    """Alter a clause of a sentinel."""
    world.page("/a", "<p>one lantern</p>")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")
    run(world, walks, "alter", "s", "Fetch every 2 hour")


def add(world: World, walks: Sequence[Walk]) -> None:
    """Add a page by its address."""
    world.page("/a", "<title>Lanterns</title><p>one lantern</p>")
    run(world, walks, "add", "--url", world.server.url("/a"), "--every", "1h")


def walk(name: str, *, framed: bool = False, modules: bool = False) -> list[Walk]:
    """Walk one way; return its parts."""
    walks = [Walk(part, modules=modules) for part in WAYS[name]]
    acts: dict[str, Callable[[World], object]] = {
        "body": lambda world: asyncio.run(notify_of_a_change(world, walks, framed=framed)),
        "budget": lambda world: asyncio.run(start_and_poll(world, walks)),
        "importance": lambda world: asyncio.run(start_and_poll(world, walks)),
        "alter": lambda world: alter(world, walks),
        "add": lambda world: add(world, walks),
    }
    with tempfile.TemporaryDirectory() as folder, WebServer() as server:
        acts[name](World(Path(folder) / "data", server, budget__polls_per_day="500"))
    return walks


def main() -> None:
    """Walk and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--walk", choices=WAYS, action="append", help="which way; all unless given")
    parser.add_argument("--framed", action="store_true", help="let the page of the body have a frame")
    parser.add_argument("--modules", action="store_true", help="count modules of service/ instead of its folders")
    parser.add_argument("--tools", action="store_true", help="print which modules are called and are no rooms")
    arguments = parser.parse_args()
    of = "modules" if arguments.modules else "rooms"
    for name in arguments.walk or WAYS:
        walks = walk(name, framed=arguments.framed, modules=arguments.modules)
        visits = [each.rooms() for each in walks]
        rooms = len({room for each in visits for room in each})
        print(f"{name}: {rooms} {of}, {sum(len(each) - len(set(each)) for each in visits)} returns")
        for each, entered in zip(walks, visits, strict=True):
            assert each.root is not None
            print(f"  {each.part.name}: {len(set(entered))} {of}, {len(entered) - len(set(entered))} returns")
            print("\n".join(each.root.lines(2)))
            if arguments.tools:
                print("    tools:", ", ".join(sorted(each.tools)))


if __name__ == "__main__":
    main()
