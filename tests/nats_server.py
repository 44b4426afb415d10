"""A NATS server of a test's own, which may be killed and started again with an empty store."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pytest

from tests.services import until

BINARY: Final = shutil.which("nats-server") or ""
START_SECONDS: Final = 30.0


class NatsServer:
    """A server on a port of its own on loopback; `more` is added to its configuration."""

    def __init__(self, directory: Path, more: str = "") -> None:
        if not BINARY:
            missing = "there is no nats-server"
            if "nats" in os.environ.get("TESTS_REQUIRE", ""):
                pytest.fail(f"TESTS_REQUIRE asks for NATS, but {missing}")
            pytest.skip(missing)
        self._directory = directory
        self._more = more
        self._process: subprocess.Popen[bytes] | None = None
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]

    @property
    def url(self) -> str:
        """Return its address."""
        return f"nats://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def start(self) -> None:
        """Start it with an empty store; return once it answers."""
        store, file = self._directory / "store", self._directory / "nats.conf"
        shutil.rmtree(store, ignore_errors=True)
        file.write_text(f'listen: 127.0.0.1:{self.port}\njetstream {{ store_dir: "{store}" }}\n{self._more}\n')
        self._process = subprocess.Popen(
            [BINARY, "-c", str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until(self._answers, START_SECONDS, "the NATS server does not answer", pause=0.02)

    def kill(self) -> None:
        """Kill it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1) as server:
            return bool(server.recv(4))
        return False
