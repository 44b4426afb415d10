"""Make a database as the Tidings beside this file leaves it: `PYTHONPATH=. python tests/stored/make.py NAME`.

It is run once, from a checkout of the commit that landed (an older one takes this file as it stands), and writes `NAME.sql` and `NAME.key` into the
directory it is called in.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

from tests.fakes import WebServer
from tests.world import World, play
from tidings.clock import HOUR
from tidings.service.run.monitor import Monitor

STATEMENTS = """
Create Sentinel price Using {/a} Monitor all words Fetch every 1 hour Notify by webhook {/hook} immediate Tags shop
Create Sentinel both Using {/a} As A, {/b} As B Monitor any change AND NOT all images
  Fetch on change between 5 min and 1 day Notify by console every 1 day Importance 0.9
Create Sentinel later Using {/b} Monitor keyword "three" From end(price) For 30 day
Create Sentinel heir Using price Monitor all links From start(price) To end(price)
Disable heir
"""
CHALLENGE = (
    "<title>Just a moment...</title><p>Checking your browser before you go on</p><p>DDoS protection by Cloudflare</p>"
)


def _prices(world: World, price: int) -> None:
    rows = "".join(f"<p>Price of thing {n:02} today {price}</p>" for n in range(20))
    world.page("/a", f"<title>A</title>{rows}")


def _other(world: World, word: str, link: str) -> None:
    world.page("/b", f'<title>B</title><p>one two {word} <a href="/{link}">x</a></p>')


async def _live(world: World, monitor: Monitor) -> None:
    """Let three days pass: three prices, one word and one link, then a page that is a wall."""
    await world.pass_time(monitor, HOUR)
    for price in (6, 7, 5):
        _prices(world, price)
        if price == 5:
            _other(world, "four", "y")
        await world.pass_time(monitor, 2 * HOUR)
    await world.pass_time(monitor, 48 * HOUR)
    world.page("/b", CHALLENGE)
    await world.pass_time(monitor, 19 * HOUR)


def main(name: str) -> None:
    """Live the story and write what it leaves."""
    with tempfile.TemporaryDirectory() as folder, WebServer(port=18799) as server:
        world = World(Path(folder) / "data", server)
        world.receiver()
        _prices(world, 5)
        _other(world, "three", "x")
        world.add(STATEMENTS)
        play(world, lambda monitor: _live(world, monitor))
        connection = sqlite3.connect(world.directory / "tidings.db")
        Path(f"{name}.sql").write_text("\n".join(connection.iterdump()) + "\n", encoding="utf-8")
        connection.close()
        if (key := world.directory / "secrets.key").exists():
            shutil.copyfile(key, f"{name}.key")


if __name__ == "__main__":
    main(sys.argv[1])
