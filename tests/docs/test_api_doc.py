"""The page on the API says what is so, and its client runs."""

import asyncio
import contextlib
import itertools
import re
import socket
from pathlib import Path
from typing import Any

from tests.acceptance.test_screens import SHOP, edit, face
from tests.fakes import WebServer
from tests.world import World
from tidings.web.resources.operations import OPERATIONS
from tidings.web.uvicorn_server import Server

TEXT = (Path(__file__).parents[2] / "docs" / "howto" / "api.md").read_text(encoding="utf-8")


def test_the_client_reads_alters_and_follows(tmp_path):
    """Twenty lines: list, make, alter, and every change from the first number on."""
    (code,) = re.findall(r"^```python\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)

    def use(url):
        client = names["Tidings"](url)
        made = client.ask(
            "POST", "/sentinels", {"text": "Create Sentinel two Using https://two.example/ Monitor all links"}
        )
        client.ask("PATCH", "/sentinels/two", {"tags": ["a"]})
        listed = client.ask("GET", "/sentinels")["items"]
        events = list(itertools.islice(client.events(), 2))
        return (
            made["made"][0]["name"],
            [(one["name"], one["tags"]) for one in listed],
            [one["data"]["updated"] for one in events],
        )

    async def story(world):
        async with world.monitor() as monitor, face(world, monitor) as app:
            await world.settle(monitor)
            await edit(world, monitor, "109", "99")
            with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as bound:
                server = Server(app)
                serving = asyncio.create_task(server.serve(sockets=[bound]))
                try:
                    return await asyncio.to_thread(use, f"http://127.0.0.1:{bound.getsockname()[1]}")
                finally:
                    server.end()
                    await serving

    with WebServer() as web:
        world = World(tmp_path / "data", web)
        world.page("/a", "<title>Kettle</title><h1>Offer</h1><p>Price 129 EUR</p>")
        world.add(SHOP)
        made, listed, events = asyncio.run(story(world))

    assert "two" == made
    assert [("shop", ["money"]), ("two", ["a"])] == listed
    assert [[{"old": "129", "new": "109"}], [{"old": "109", "new": "99"}]] == events


def test_every_path_is_named():
    """The table of the page names each first word of a path, and no other."""
    table = TEXT.partition("## The paths")[2].partition("\n\n`POST")[0]
    named = {path.split("/")[1].partition("?")[0] for path in re.findall(r"`(/[a-z]+[^`]*)`", table)}
    there = {one.path.removeprefix("/api/v1").split("/")[1] for one in OPERATIONS} - {"openapi.json"}

    assert set() == there - named
