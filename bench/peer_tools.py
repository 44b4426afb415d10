"""The tools that bench/peers.py compares: how each is installed, set up, run as a command of its own,
and asked what it found.

Nothing of a peer is imported: each is a command (or a server with an API) in a virtual environment
of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from bench.measured import cpu_seconds, descendants, memory_mb

MEASURED = Path(__file__).with_name("measured.py")
PATIENCE_SECONDS = 900
ENVIRONMENT = {"DISABLE_VERSION_CHECK": "true", "ALLOW_IANA_RESTRICTED_ADDRESSES": "true", "NO_COLOR": "1"}


@dataclass(frozen=True, slots=True)
class Cost:
    """What a round cost and what the tool said it found: `new`, `changed`, `error` → pages."""

    cpu: float
    wall: float
    peak_mb: float
    reported: Counter[str] = field(default_factory=Counter)


class Tool(Protocol):
    """A watcher of pages under measurement; its set-up has already polled `seen` pages."""

    name: str
    seen: int

    def set_up(self, addresses: list[str]) -> Cost | None:
        """Set what it watches, without a poll of the pages; return the cost if the tool itself did it."""
        ...

    def check(self) -> Cost:
        """Poll every page once."""
        ...

    def check_one(self) -> Cost:
        """Poll one page, all being known: what a run costs before its pages do."""
        ...

    def close(self) -> None:
        """End what runs."""
        ...


def environment(home: Path) -> dict[str, str]:
    """Return what a tool sees: a home of its own, no proxies, none of our settings."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    kept = {name: value for name, value in kept.items() if not name.startswith(("TIDINGS_", "PYTHON", "XDG_"))}
    return kept | ENVIRONMENT | {"HOME": str(home)}


def install(requirement: str, cache: Path) -> Path:
    """Return the `bin` folder of a virtual environment with this requirement, made at the first call.

    Raises `subprocess.CalledProcessError` with pip's words if it cannot be had.
    """
    folder = cache / re.sub(r"[^\w.]+", "-", f"{requirement}-py{sys.version_info.major}.{sys.version_info.minor}")
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        for command in (
            [sys.executable, "-m", "venv", str(folder)],
            [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", requirement],
        ):
            subprocess.run(command, check=True, capture_output=True, text=True)
        (folder / "complete").touch()
    return folder / "bin"


def measure_run(command: list[str], folder: Path) -> tuple[Cost, str]:
    """Run a command in a folder and return its cost and what it printed. Raises `RuntimeError` if it did not end well."""
    report, printed, errors = folder / "cost.json", folder / "out.txt", folder / "err.txt"
    report.unlink(missing_ok=True)
    with printed.open("wb") as out, errors.open("wb") as err:
        subprocess.run(
            [sys.executable, str(MEASURED), str(report), *command],
            cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL, stdout=out, stderr=err, check=False,
            timeout=PATIENCE_SECONDS,
        )  # fmt: skip
    if not report.exists():
        raise RuntimeError(f"what measures ended without a report: {errors.read_text()[-500:]}")
    cost = json.loads(report.read_text())
    if cost["status"] or cost["left"]:
        raise RuntimeError(f"{command[0]} ended with {cost}: {errors.read_text()[-500:]}")
    return Cost(cost["cpu"], cost["wall"], cost["peak_mb"]), printed.read_text(errors="replace")


class Tidings:
    """`tidings check` with every sentinel named, so that all are polled whatever their schedule says.

    As the peers' reports stand on the terminal, its sentences about changes do. With `notify` each change is also a delivery of its own,
    kept in the outbox until the console has taken it.
    """

    seen = 0
    flags = (
        "fetch.allow_networks=127.0.0.0/8", "fetch.host_gap_seconds=0", "fetch.page_floor_seconds=0", "fetch.robots=false",
        "fetch.host_connections=4", "budget.polls_per_day=1e9", "budget.burst=1e9",
    )  # fmt: skip

    def __init__(self, folder: Path, *, notify: bool = False) -> None:
        self.name = "tidings notify" if notify else "tidings"
        self._notify = " Notify by console immediate" if notify else ""
        self._folder = folder
        self._count = 0

    def set_up(self, addresses: list[str]) -> Cost:
        """Register the sentinels by one `tidings add`."""
        self._count = len(addresses)
        statement = "Create Sentinel p{} Using {} Monitor any change Fetch every 1 hour{}"
        text = ";\n".join(statement.format(n, address, self._notify) for n, address in enumerate(addresses))
        (self._folder / "sentinels.txt").write_text(text)
        return measure_run(self._command("add", "sentinels.txt", "--no-check"), self._folder)[0]

    def check(self) -> Cost:
        """Poll all."""
        return self._check(*(f"p{n}" for n in range(self._count)))

    def check_one(self) -> Cost:
        """Poll the first."""
        return self._check("p0")

    def check_nothing(self) -> Cost:
        """Run `tidings check` when nothing is due: what cron costs most of the time."""
        return self._check()

    def close(self) -> None:
        """Nothing runs."""

    def _check(self, *names: str) -> Cost:
        cost, printed = measure_run(self._command("check", *names), self._folder)
        lines = printed.splitlines()
        reported = Counter(
            line.split("(")[0].split(" ")[0] for line in lines if re.match(r"(new|error|quarantined)\b", line)
        )
        reported["changed"] = int(re.findall(r"^\d+ checked, (\d+) changed", printed, re.MULTILINE)[-1])
        return Cost(cost.cpu, cost.wall, cost.peak_mb, +reported)

    def _command(self, verb: str, *arguments: str) -> list[str]:
        flags = [word for flag in self.flags for word in ("--set", flag)]
        return [sys.executable, "-m", "tidings", verb, "--data", "data", *flags, *arguments]


class JobFile:
    """urlwatch and webchanges: one run over a file of jobs, its report on the terminal."""

    seen = 0

    def __init__(self, name: str, binary: Path, folder: Path, *, database: str, filters: str, text: bool) -> None:
        self.name = name
        self._folder = folder
        self._filter = f"{filters}: [html2text]\n" if text else ""
        self._command = [str(binary), "--config", "config.yaml", "--hooks", "hooks.py", database, "snapshots.db"]
        self._command += ["--urls" if name == "urlwatch" else "--jobs", "jobs.yaml"]

    def set_up(self, addresses: list[str]) -> None:
        """Write the file of jobs, and let the tool write its default configuration."""
        jobs = (f"name: p{n}\nurl: {address}\n{self._filter}" for n, address in enumerate(addresses))
        (self._folder / "jobs.yaml").write_text("---\n".join(jobs))
        (self._folder / "hooks.py").touch()
        subprocess.run(
            [*self._command, "--list" if self.name == "urlwatch" else "--list-jobs"],
            cwd=self._folder, env=environment(self._folder), capture_output=True, check=False, timeout=120,
        )  # fmt: skip

    def check(self) -> Cost:
        """Run all jobs."""
        return self._run()

    def check_one(self) -> Cost:
        """Run the first job; the file of all is read."""
        return self._run("1")

    def close(self) -> None:
        """Nothing runs."""

    def _run(self, *jobs: str) -> Cost:
        cost, printed = measure_run([*self._command, *jobs], self._folder)
        # a job stands in the table of contents and above its text; a report of one job numbers none
        jobs = set(re.findall(r"^(?:\d+\. )?(NEW|CHANGED|ERROR)\b.*?\b(p\d+)\b", printed, re.MULTILINE))
        reported = Counter(word.lower() for word, _ in jobs)
        return Cost(cost.cpu, cost.wall, cost.peak_mb, reported)


class Changedetection:
    """changedetection.io: its server, driven through its API; the CPU of a round is that of the process tree meanwhile.

    The first page is given on the command line, since a server started without one adds two watches of the Internet.
    """

    name = "changedetection"
    seen = 1

    def __init__(self, binary: Path, folder: Path, hits: Any) -> None:
        self._binary = binary
        self._folder = folder
        self._hits = hits
        self._server: subprocess.Popen[bytes] | None = None
        self._waiting: list[str] = []
        self._count = 0
        self._begun = (0.0, 0.0, 0)
        self._since = 0
        self._key = ""
        self._base = ""

    def set_up(self, addresses: list[str]) -> Cost:
        """Start the server with one watch and wait until that is checked."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._base = f"http://127.0.0.1:{port}/api/v1"
        self._waiting, self._count = addresses[1:], len(addresses)
        command = [str(self._binary), "-C", "-d", str(self._folder / "data"), "-h", "127.0.0.1", "-p", str(port)]
        begun, before = time.perf_counter(), self._hits.value
        with (self._folder / "log.txt").open("wb") as log:
            self._server = subprocess.Popen(
                [*command, "-l", "ERROR", "-u", addresses[0]],
                cwd=self._folder, env=environment(self._folder), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        while self._hits.value == before or not self._is_answering():
            if self._server.poll() is not None or time.perf_counter() - begun > 120:
                raise RuntimeError(f"changedetection.io did not start: {(self._folder / 'log.txt').read_text()[-500:]}")
            time.sleep(0.1)
        tree = self._tree()
        return Cost(cpu_seconds(tree), time.perf_counter() - begun, memory_mb(tree))

    def check(self) -> Cost:
        """Import what is not watched yet, else recheck all; wait until each has been checked."""
        self._begin()
        if self._waiting:
            imported, self._waiting = self._waiting, []
            self._ask("/import", "\n".join(imported).encode())
            return self._end(len(imported), new=len(imported))
        self._ask("/watch?recheck_all=1")
        return self._end(self._count)

    def check_one(self) -> Cost:
        """Recheck one watch."""
        identity = next(iter(self._ask("/watch")))
        self._begin()
        self._ask(f"/watch/{identity}?recheck=1")
        return self._end(1)

    def close(self) -> None:
        """Stop the server."""
        if self._server is not None:
            self._server.terminate()
            try:
                self._server.wait(20)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()

    def _begin(self) -> None:
        time.sleep(1.1)  # its times are whole seconds
        for pid in self._tree():
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # forgets the peak
        self._begun = (cpu_seconds(self._tree()), time.perf_counter(), self._hits.value)
        self._since = int(time.time())

    def _end(self, expected: int, *, new: int = 0) -> Cost:
        """Wait for the round's last request at the pages' server, then (few questions cost it CPU) for the last record."""
        cpu, begun, hits = self._begun
        while self._hits.value < hits + expected:
            if time.perf_counter() - begun > PATIENCE_SECONDS:
                raise RuntimeError(
                    f"changedetection.io: {self._hits.value - hits} of {expected} pages after 15 minutes"
                )
            time.sleep(0.05)
        watches: list[dict[str, Any]] = []
        while sum(watch["last_checked"] >= self._since for watch in watches) < expected:
            if time.perf_counter() - begun > PATIENCE_SECONDS:
                raise RuntimeError("changedetection.io: not all watches have been checked after 15 minutes")
            time.sleep(0.5)
            watches = list(self._ask("/watch").values())
        tree = self._tree()
        reported = Counter(changed=sum(watch["last_changed"] >= self._since for watch in watches) if not new else 0)
        reported += Counter(new=new, error=sum(bool(watch["last_error"]) for watch in watches))
        return Cost(cpu_seconds(tree) - cpu, time.perf_counter() - begun, self._peak(tree), +reported)

    def _peak(self, tree: list[int]) -> float:
        status = "".join(Path(f"/proc/{pid}/status").read_text() for pid in tree)
        return sum(int(size) for size in re.findall(r"VmHWM:\s+(\d+)", status)) / 1024

    def _tree(self) -> list[int]:
        assert self._server is not None
        return [self._server.pid, *descendants(self._server.pid)]

    def _is_answering(self) -> bool:
        try:
            settings = json.loads((self._folder / "data" / "changedetection.json").read_text())
            self._key = settings["settings"]["application"]["api_access_token"]
            return all(watch["last_checked"] for watch in self._ask("/watch").values())
        except (OSError, ValueError, KeyError):
            return False

    def _ask(self, path: str, body: bytes | None = None) -> Any:
        head = {"x-api-key": self._key, "Content-Type": "text/plain"}
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(urllib.request.Request(self._base + path, body, head), timeout=120) as answer:
            return json.load(answer)
