"""The real service in a process and a directory of its own, so that it can be killed and starts
afresh.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tidings import disk
from tidings.errors import ServiceError, UsageError
from tidings.settings import default_data_directory
from tidings.storage.db.lock import PollerLock

READY_SECONDS: Final = 60.0
STOP_SECONDS: Final = 10.0
LAST_LINES: Final = 5


class ServiceProcess:
    """`tidings serve` on a data directory. Its output goes to `serve.log` there."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._port = _free_port()
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self.has_erred = False
        """whether it has logged an error"""

    @property
    def url(self) -> str:
        """Return the address of its screens, the same after a kill."""
        return f"http://127.0.0.1:{self._port}/"

    @property
    def pid(self) -> int:
        """Return the process id, 0 if it does not run."""
        return self._process.pid if self._process is not None else 0

    async def start(self, stop: asyncio.Event) -> float:
        """Start it and return the seconds until it was ready, or until `stop` was set. Raise
        `ServiceError` if it ends before.
        """
        begun = time.monotonic()
        self._ready.clear()
        self._last.clear()
        # The user's own settings do not apply; all other variables are passed on.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TIDINGS_")}
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tidings",
            "serve",
            "--json",
            "--port",
            str(self._port),  # that of the user's own service may be in use
            "--data",
            str(self._home),
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        self._reading = asyncio.create_task(self._read(self._process))
        waits = {asyncio.create_task(self._ready.wait()), asyncio.create_task(stop.wait())}
        await asyncio.wait({*waits, self._reading}, timeout=READY_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        if not self._ready.is_set() and not stop.is_set():
            raise self.fault()
        return time.monotonic() - begun

    def is_running(self) -> bool:
        """Return whether it runs."""
        return self._process is not None and self._process.returncode is None

    def fault(self) -> ServiceError:
        """Return the error to raise if it does not run although it should."""
        status = self._process.returncode if self._process is not None else None
        how = "did not get ready" if status is None else f"has ended with status {status}"
        last = "\n  ".join(self._last) or "nothing"
        return ServiceError(f"the demo's service {how}; the last it said:\n  {last}")

    async def kill(self) -> None:
        """Kill it as an out-of-memory killer does, without cleanup."""
        if self._process is not None and self.is_running():
            self._process.kill()
        await self._note_end()

    async def stop(self) -> None:
        """Ask it to stop, and make sure that it does."""
        if self._process is None:
            return
        if self.is_running():
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), STOP_SECONDS)
        except TimeoutError:
            self._process.kill()
        await self._note_end()

    async def _note_end(self) -> None:
        if self._process is not None:
            await self._process.wait()
        if self._reading is not None:
            # A worker may hold the pipe open for an instant longer than the service lives.
            await asyncio.wait({self._reading}, timeout=1.0)
            self._reading.cancel()

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        stream = process.stderr
        if stream is None:
            return
        with (self._home / "serve.log").open("ab") as log:
            while line := await stream.readline():
                log.write(line)
                log.flush()
                text = line.decode("utf-8", errors="replace").rstrip()
                self._last.append(text)
                self.has_erred = self.has_erred or " ERROR " in text
                if text.startswith("tidings: ready"):
                    self._ready.set()


def _free_port() -> int:
    """Return a free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


MARK: Final = "tidings-demo"
"""The file that marks a directory as the demo's."""
_TEXT: Final = "Made by `tidings demo`, which empties this directory at each start.\n"


def default_home() -> Path:
    """Return the directory beside the user's own data directory, independent of `TIDINGS_DATA`."""
    environment = {name: value for name, value in os.environ.items() if name != "TIDINGS_DATA"}
    return default_data_directory(environment).with_name("tidings-demo")


@contextlib.contextmanager
def take(home: Path) -> Iterator[None]:
    """Hold a directory for one demo, empty but for its mark.

    Raises `UsageError` if it has content that no demo made, or another demo runs there.
    """
    mark = home / MARK
    if home.exists() and not mark.exists() and (not home.is_dir() or any(home.iterdir())):
        message = f"{home} holds something that no demo made, and the demo would empty it; name an empty directory with --data"
        raise UsageError(message)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with mark.open("a+", encoding="utf-8") as file:
        if not disk.lock(file.fileno()):
            message = f"another demo runs in {home}; stop it first, or name another directory with --data"
            raise UsageError(message)
        holder = PollerLock(home).holder()
        if holder is not None:
            message = (
                f"the service of an earlier demo (process {holder}) still runs in {home}; stop it first: kill {holder}"
            )
            raise UsageError(message)
        for path in home.iterdir():
            if path == mark:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        file.truncate(0)
        file.write(_TEXT)
        file.flush()
        yield
