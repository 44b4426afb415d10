"""Serve an API over a watched page, for property tests of its document from outside.

    PYTHONPATH=. python bench/api.py ST [EXAMPLES]

This starts the API and runs the `st` of schemathesis (MIT, not a dependency) at that path against
it, e.g. after `pip install schemathesis` in an environment of its own. Texts of the language have
no JSON Schema, so it is no failure if an invalid one is refused (422), nor if a search has no word.
A deleted sentinel has ended and can be read and taken back, so use after deletion is no failure
either.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.acceptance.test_screens import SHOP, edit, face
from tests.fakes import WebServer
from tests.world import World
from tidings.web.uvicorn_server import Server

TOKEN: Final = "e" * 24
REFUSED: Final = '[400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, "5xx"]'
CHECKS: Final = f"[checks]\nuse_after_free.enabled = false\nnegative_data_rejection.expected-statuses = {REFUSED}\n"
CONFIG: Final = CHECKS + "".join(
    f'[[operations]]\ninclude-name = "{name}"\nchecks.positive_data_acceptance.enabled = false\n'
    for name in ("POST /api/v1/sentinels", "PATCH /api/v1/sentinels/{name}", "GET /api/v1/search")
)


async def serve(world: World, st: str, examples: str) -> int:
    """Serve while `st` asks; return its exit code."""
    async with world.monitor() as monitor, face(world, monitor) as app:
        await world.settle(monitor)
        await edit(world, monitor, "109", "99", "89")
        with socket.create_server(("127.0.0.1", 0)) as bound:
            server = Server(app)
            serving = asyncio.create_task(server.serve(sockets=[bound]))
            config = world.directory / "schemathesis.toml"
            config.write_text(CONFIG, encoding="utf-8")
            url = f"http://127.0.0.1:{bound.getsockname()[1]}/api/v1/openapi.json"
            given = ["--config-file", str(config), "run", url, "--max-examples", examples, "--seed", "1"]
            given += ["--exclude-path", "/api/v1/events", "--exclude-path", "/api/v1/preview"]
            asking = await asyncio.create_subprocess_exec(st, *given, "-H", f"Authorization: Bearer {TOKEN}")
            try:
                return await asking.wait()
            finally:
                server.end()
                await serving


def main(st: str, examples: str = "20") -> int:
    """Run it."""
    with tempfile.TemporaryDirectory() as folder, WebServer() as web:
        world = World(Path(folder) / "data", web, serve__token="r" * 24, serve__edit_token=TOKEN)
        world.page("/a", "<title>Kettle</title><h1>Offer</h1><p>Price 129 EUR</p>")
        world.add(SHOP)
        return asyncio.run(serve(world, st, examples))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
