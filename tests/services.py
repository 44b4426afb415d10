"""A real `tidings serve` in its own process, which a test may kill, and other commands beside it.

```
place = Installation(tmp_path / "data", {"TIDINGS_SERVE_TICK_SECONDS": "0.05"})
place.run("add", "-", "--no-check", text="Create Sentinel s Using http://127.0.0.2:8000/ Monitor any change")
service = place.serve()
service.wait_ready()
service.kill()
```
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tidings.settings import Settings, load
from tidings.storage.db.database import open_database

START_SECONDS = 60.0
STOP_SECONDS = 10.0
"""What SIGTERM may take (F-34)."""
LOOPBACK = {
    "TIDINGS_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
    "TIDINGS_FETCH_PAGE_FLOOR_SECONDS": "0.05",
    "TIDINGS_DETECT_SECOND_POLLS": "false",  # they come a minute later
    "TIDINGS_SERVE_TICK_SECONDS": "0.05",
    "TIDINGS_SERVE_PORT": "0",
    "TIDINGS_BUDGET_POLLS_PER_DAY": "1000000000",
    "TIDINGS_BUDGET_BURST": "1000000",
}


class Installation:
    """A data directory and the variables under which all its processes run."""

    def __init__(self, directory: Path, variables: dict[str, str] | None = None) -> None:
        self.directory = directory
        self.variables = {**LOOPBACK, **(variables or {}), "TIDINGS_DATA": str(directory)}
        self.services: list[Service] = []
        self._logs = directory.parent / f"{directory.name}-output"
        self._number = itertools.count(1)

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of a process."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("TIDINGS_")}
        return {**inherited, **self.variables, "PYTHONUNBUFFERED": "1"}

    @property
    def settings(self) -> Settings:
        """Return the settings that such a process reads."""
        return load(self.directory, environment=self.variables)

    def command(self, *words: str) -> list[str]:
        """Return the command line of a verb."""
        return [sys.executable, "-m", "tidings", *words]

    def run(self, *words: str, text: str = "", timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
        """Run a verb to its end."""
        return subprocess.run(
            self.command(*words),
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def serve(self, *words: str) -> Service:
        """Start a service; it runs from here on. `words` are more arguments."""
        self._logs.mkdir(parents=True, exist_ok=True)
        service = Service(self, self._logs / f"serve-{next(self._number):04}", *words)
        self.services.append(service)
        return service

    def read(self, fn: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        """Read the database as another process would."""
        database = open_database(self.settings, create=False)
        try:
            return database.read(fn, *arguments, **more)
        finally:
            database.close()

    def outputs(self) -> Iterator[str]:
        """Yield what the services have printed so far, standard output and errors."""
        for service in self.services:
            yield from (service.out, service.err)

    def close(self) -> None:
        """End what still runs."""
        for service in self.services:
            service.end()


class Service:
    """One process of `tidings serve`, in a session of its own with its children."""

    def __init__(self, place: Installation, log: Path, *words: str) -> None:
        self._out, self._err = log.with_suffix(".out"), log.with_suffix(".err")
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                place.command("serve", "--json", "--verbose", *words),
                env=place.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    @property
    def out(self) -> str:
        """Return its standard output so far."""
        return self._out.read_text(encoding="utf-8", errors="replace")

    @property
    def err(self) -> str:
        """Return its standard error so far."""
        return self._err.read_text(encoding="utf-8", errors="replace")

    @property
    def is_ready(self) -> bool:
        """Say whether it has announced that it is ready."""
        return "ready:" in self.err

    def wait_ready(self) -> None:
        """Return once it is ready; fail if it ends before."""
        until(lambda: self.is_ready or self.process.poll() is not None, START_SECONDS, "the service is not ready")
        assert self.process.poll() is None, self.err

    def kill(self) -> None:
        """Kill -9 the service alone, as an out-of-memory killer does; its children must see to themselves."""
        self.process.kill()
        self.process.wait()

    def kill_worker(self, choose: Callable[[list[int]], int]) -> bool:
        """Kill -9 one of its children; False if there is none."""
        children = [pid for pid in self.members() if pid != self.process.pid]
        if not children:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(choose(children), signal.SIGKILL)
        return True

    def terminate(self) -> tuple[int, float]:
        """Ask it to stop with SIGTERM; return its exit status and the seconds that took."""
        begun = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=3 * STOP_SECONDS)
        return status, time.monotonic() - begun

    def members(self) -> list[int]:
        """Return the living processes of its session."""
        return [pid for pid in _processes() if _session(pid) == self.process.pid]

    def list_left_over(self, seconds: float = 5.0) -> list[int]:
        """Return the processes that outlive the service by more than so long."""
        deadline = time.monotonic() + seconds
        while (members := self.members()) and time.monotonic() < deadline:
            time.sleep(0.01)
        return members

    def end(self) -> None:
        """Leave nothing behind, however the test went."""
        for pid in self.members():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=STOP_SECONDS)


def until(
    holds: Callable[[], object], seconds: float, complaint: str | Callable[[], str], *, pause: float = 0.005
) -> None:
    """Return once `holds()`; fail with the complaint after so many seconds.

    Between two questions it pauses four times as long as one takes, at least `pause`: what is waited for needs the processor.
    """
    deadline = time.monotonic() + seconds
    while True:
        begun = time.thread_time()
        if holds():
            return
        if time.monotonic() > deadline:
            text = complaint if isinstance(complaint, str) else complaint()
            raise AssertionError(f"{text} after {seconds:g} s")
        time.sleep(max(pause, 4 * (time.thread_time() - begun)))


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _session(pid: int) -> int:
    """Return the session of a living process, 0 of one that is gone."""
    try:
        state, _, _, session = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:4]
    except (OSError, ValueError):
        return 0
    return 0 if state in {"Z", "X"} else int(session)
