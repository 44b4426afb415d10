"""Promise: what an older Tidings stored is compared by today's rules without a change told for them, whatever a page is and however it is watched."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import WebServer
from tests.stored.make_rules import MORE, PAGES, statements
from tests.world import World, play
from tidings.clock import DAY, HOUR
from tidings.document.text.words import RULES_VERSION
from tidings.service.run.monitor import Monitor

STORED = sorted((Path(__file__).parents[1] / "stored" / "rules").glob("*.sql"))
MOVED = dict.fromkeys(("/data", "/wrapped", "/feed.json", "/csv", "/ics", "/text"), "\r\n")
"""What is sent behind a page that means nothing; behind all others a comment."""
NEWS = {
    "/shop": ("Lamps", "Lanterns"),
    "/rss": ("Entry 3", "Entry three"),
    "/atom": ("Five people", "Nine people"),
    "/data": ('"up"', '"gone"'),
    "/wrapped": ('"up"', '"gone"'),
    "/feed.json": ("text 2", "text two"),
    "/xml": ("1.08", "1.09"),
    "/csv": ("4,1", "4,2"),
    "/ics": ("Meeting", "Party"),
    "/sitemap": ("x.example/2", "x.example/3"),
    "/text": ("1.234", "1.235"),
}
"""A change of each page."""


@pytest.fixture(params=STORED, ids=[f"rules {path.stem}" for path in STORED])
def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """Give an installation whose database was written by rules of before."""
    directory = tmp_path / "data"
    directory.mkdir()
    connection = sqlite3.connect(directory / "tidings.db")
    (directory / "USED").touch()
    (directory / "secrets.key").write_bytes(request.param.with_suffix(".key").read_bytes())
    (directory / "secrets.key").chmod(0o600)
    with WebServer() as server:
        connection.executescript(re.sub(r"(?<=127\.0\.0\.1:)\d+", str(server.port), request.param.read_text()))
        connection.close()
        world = World(directory, server)
        world.clock.move_to(max(event.at for event in world.events()) + HOUR)
        yield world


def serve(world: World, *, is_moved: bool = False, has_news: bool = False) -> None:
    for path, (media, body) in PAGES.items():
        text = body.replace(*NEWS[path], 1) if has_news else body
        world.page(path, text + MOVED.get(path, "<!-- moved -->") * is_moved, headers={"Content-Type": media})


def days(world: World, number: int = 1) -> None:
    async def story(monitor: Monitor) -> None:
        await world.pass_time(monitor, number * DAY)

    play(world, story)


@pytest.mark.parametrize("is_moved", [False, True], ids=["the same bytes", "other bytes"])
def test_other_rules_are_no_news(upgraded: World, is_moved: bool) -> None:
    """No change and no part that is lost or appears in a day, though all that is stored was read by other rules."""
    known = {event.seq for event in upgraded.events()}
    serve(upgraded, is_moved=is_moved)
    days(upgraded)

    assert [] == upgraded.changes()
    assert [] == [
        (event.type, event.data)
        for event in upgraded.events()
        if event.seq not in known and event.type.startswith(("part.", "change", "page.error"))
    ]
    assert [] == upgraded.violations()


def test_what_changes_is_told_after_the_upgrade(upgraded: World) -> None:
    """A change of each page is told by `any change` of it, and by what watches it in other ways."""
    serve(upgraded, has_news=True)
    days(upgraded)
    reported = {change["sentinel"] for change in upgraded.changes()}
    names = {path: f"s{number}" for number, path in number_rows() if number == first(path)}

    assert set(names.values()) <= reported


def number_rows() -> list[tuple[int, str]]:
    ways = [path for path in PAGES for _ in ("any change", "all words", *MORE.get(path, ()))]
    return [*enumerate(ways)]


def first(path: str) -> int:
    return next(number for number, other in number_rows() if other == path)


def test_the_stored_rules_are_older() -> None:
    """Each file is named by the rules that wrote it, and all were other ones than today's."""
    assert all(int(path.stem) < RULES_VERSION for path in STORED)
    assert 60 < len(statements().split(";"))
