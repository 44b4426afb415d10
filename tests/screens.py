"""The screens in a browser: an application served on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

from tidings.web.uvicorn_server import Server


@contextlib.asynccontextmanager
async def serve(app: Any) -> AsyncIterator[str]:
    """Serve an application; give its address."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        server = Server(app)
        serving = asyncio.create_task(server.serve(sockets=[bound]))
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.end()
            await serving
