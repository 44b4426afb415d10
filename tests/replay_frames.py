"""A replay of the real frameset of `javadoc-frames`: the findings with its frames, and those of the
outer page alone.

The data set has the page that holds the frames and one of the three frames that it names. In the
places of the other two stand the two other pages of the same manual, so that every frame is a real
page with real successive versions.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.fakes import Page, WebServer
from tests.replay import Pair, RealPage, real_pages, reason
from tests.world import World, play
from tidings.clock import HOUR
from tidings.model.observed.change import ChangeSet
from tidings.service.run.monitor import Monitor

HOLDER = "p0901"
FRAMES = {"overview-frame.html": "p0903", "allclasses-frame.html": "p0909", "overview-summary.html": "p0906"}


@dataclass(frozen=True, slots=True)
class Step:
    """From one release to the next: in which frames the index sees another text, in which of them
    that is none of words (the title, a sign), and in which a change was reported with frames and
    alone.
    """

    number: int
    labels: tuple[str, ...]
    wordless: tuple[str, ...]
    with_frames: tuple[str, ...]
    alone: tuple[str, ...]

    @property
    def expected(self) -> tuple[str, ...]:
        """Return the frames whose words differ."""
        return tuple(name for name in self.labels if name not in self.wordless)


def replay_frames(directory: Path, *, is_holder_still: bool) -> tuple[list[Step], list[str]]:
    """Show the releases one an hour; return the steps and what breaks an invariant.
    `is_holder_still`: the frameset stays as it was.
    """
    pages = {page.name: page for page in real_pages(["javadoc-frames"])}
    releases = len(pages[HOLDER].versions)
    with WebServer() as server:
        world = World(directory, server)
        _show(world, pages, 0, holder=0)
        for name, clause in (("whole", ""), ("alone", "Frames 1")):
            world.add(f"Create Sentinel {name} Using {{/doc/index.html}} Monitor all words Fetch every 1 hour {clause}")
        begun = world.clock.now()

        async def story(monitor: Monitor) -> None:
            await world.pass_time(monitor, HOUR // 2)
            for number in range(1, releases):
                _show(world, pages, number, holder=0 if is_holder_still else number)
                await world.pass_time(monitor, HOUR)

        play(world, story)
        reported = {name: _list_reported(world, name, begun) for name in ("whole", "alone")}
        steps = [
            Step(
                number,
                tuple(n for n, page in FRAMES.items() if pages[page].versions[number].label == "text"),
                tuple(n for n, page in FRAMES.items() if reason(Pair(pages[page], number, "text", ChangeSet()))),
                reported["whole"].get(number, ()),
                reported["alone"].get(number, ()),
            )
            for number in range(1, releases)
        ]
        return steps, world.violations()


def _show(world: World, pages: dict[str, RealPage], number: int, *, holder: int) -> None:
    _put(world, "index.html", pages[HOLDER], holder)
    for name, page in FRAMES.items():
        _put(world, name, pages[page], number)


def _put(world: World, name: str, page: RealPage, number: int) -> None:
    version = page.versions[number]
    world.server.pages[f"/doc/{name}"] = Page(
        version.body, {"Content-Type": version.content_type}, etag=f'"{page.name}-{number}"'
    )


def _list_reported(world: World, sentinel: str, begun: int) -> dict[int, tuple[str, ...]]:
    """Return in which frames a change was reported, by the number of the release; the page itself
    has an empty name.
    """
    found: dict[int, tuple[str, ...]] = {}
    for change in world.changes(sentinel):
        number = round((_at(change) - begun) / HOUR)
        frames: list[dict[str, Any]] = change.get("frames", [])
        found[number] = tuple(frame["url"].rpartition("/")[2] for frame in frames) or ("",)
    return found


def _at(change: dict[str, Any]) -> int:
    return round(datetime.fromisoformat(change["detected_at"]).timestamp() * 1_000_000)
