"""A PostgreSQL server of a test's own on loopback."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import psycopg
import pytest

from tests.services import until

FOLDERS: Final = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
"""Where Debian has the programs of a server, those of the newest version last."""
INITDB: Final = shutil.which("initdb", path=os.pathsep.join([*map(str, FOLDERS[-1:]), os.environ.get("PATH", "")]))
START_SECONDS: Final = 60.0


class PostgresServer:
    """A server with the usual settings, to which any user may connect without a password; one with
    a certificate and its key (two files) answers only connections with TLS.
    """

    def __init__(self, *certificate: Path) -> None:
        if INITDB is None:
            missing = "there is no initdb of PostgreSQL"
            if "postgres" in os.environ.get("TESTS_REQUIRE", ""):
                pytest.fail(f"TESTS_REQUIRE asks for PostgreSQL, but {missing}")
            pytest.skip(missing)
        self._programs = Path(INITDB).resolve().parent
        self._files = certificate
        self._stack = contextlib.ExitStack()
        self._process: subprocess.Popen[bytes]
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]

    @property
    def url(self) -> str:
        """Return its address, which says nothing of TLS."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def __enter__(self) -> Self:
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        data, owner = folder / "data", "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
        if owner is not None:
            shutil.chown(folder, owner)
        self._run(owner, "initdb", "-D", str(data), "-U", "postgres", "--auth=trust", "--no-sync").wait()
        for file, name in zip(self._files, ("server.crt", "server.key"), strict=False):
            copy = Path(shutil.copy(file, data / name))
            copy.chmod(0o600)
            if owner is not None:
                shutil.chown(copy, owner)
        kind = "hostssl" if self._files else "host"
        (data / "pg_hba.conf").write_text(f"{kind} all all 127.0.0.1/32 trust\n")
        given = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
        given |= {"ssl": "on"} if self._files else {}
        self._process = self._run(owner, "postgres", "-D", str(data), *(f"--{k}={v}" for k, v in given.items()))
        self._stack.callback(self._process.wait)
        self._stack.callback(self._process.send_signal, signal.SIGINT)  # without waiting for clients
        until(self._answers, START_SECONDS, "the PostgreSQL server does not answer", pause=0.05)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def list_processes(self) -> list[int]:
        """Return its processes."""
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [pid, *map(int, children)]

    def _run(self, owner: str | None, program: str, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [self._programs / program, *words],
            user=owner,
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _answers(self) -> bool:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(self.url):
            return True
        return False
