"""Commands: bounded in time and output, ended with all that they started, no shell, little environment."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from pathlib import Path

import pytest

from tidings.isolation import command
from tidings.isolation.command import Ran
from tidings.isolation.runner import Died


def run(*argv: str, seconds: float = 10.0, most: int = 10_000) -> Ran | Died:
    """Return how a command ended."""
    return asyncio.run(command.run(argv, seconds=seconds, most_bytes=most))


def test_output_and_exit_code_come_back():
    """Standard output alone; the words are the words."""
    assert Ran(3, b"$HOME *\n") == run("/bin/sh", "-c", 'echo "$1"; echo no >&2; exit 3', "sh", "$HOME *")


def test_little_of_our_environment_is_seen(monkeypatch: pytest.MonkeyPatch):
    """No variable of ours reaches a command."""
    monkeypatch.setenv("TIDINGS_STORE_URL", "postgresql://u:secret@h/d")
    ran = run(sys.executable, "-c", "import json, os; print(json.dumps([dict(os.environ), os.getcwd()]))")
    assert isinstance(ran, Ran)
    seen, where = json.loads(ran.output)

    assert command.ENVIRONMENT.items() <= seen.items()
    assert [] == [name for name in seen if name.startswith("TIDINGS")]
    assert "/" == where


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (("/no/such/program",), "cannot be run: No such file or directory"),
        (("/etc",), "cannot be run: Permission denied"),
        (("ls -l",), "cannot be run: No such file or directory"),
    ],
)
def test_what_cannot_be_run_is_a_value(argv: tuple[str, ...], why: str):
    """A program that is none is told in words."""
    died = run(*argv)

    assert isinstance(died, Died)
    assert ("error", True) == (died.cause, why in died.reason)


def test_too_much_output_ends_it():
    """A command that never stops writing is ended at its bound."""
    died = run("/bin/sh", "-c", "while :; do echo yyyyyyyyyyyyyyyy; done", most=10_000)

    assert Died("memory", "/bin/sh wrote more than 10,000 bytes") == died


def test_the_deadline_ends_all_that_was_started(tmp_path: Path):
    """Children die with it: nothing of a command is left, and it took no longer than it may."""
    pid = tmp_path / "pid"
    began = time.monotonic()
    died = run("/bin/sh", "-c", f"sleep 60 & echo $! > {pid}; wait", seconds=0.5)

    assert isinstance(died, Died)
    assert "deadline" == died.cause
    assert time.monotonic() - began < 30
    assert not _lives(int(pid.read_text()))


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds them through /proc, which only Linux has")
@pytest.mark.parametrize("end", ["wait", "exit 0", "while :; do echo yyyyyyyyyyyyyyyy; done"])
def test_what_leaves_its_session_ends_with_it(tmp_path: Path, end: str):
    """A grandchild that made a session of its own is gone too, at the deadline, after a good end and after too much output."""
    pid = tmp_path / "pid"
    script = f"setsid sh -c 'echo $$ > {pid}; exec sleep 60 >/dev/null' & while ! [ -s {pid} ]; do :; done; {end}"
    run("/bin/sh", "-c", script, seconds=0.5)

    assert not _lives(int(pid.read_text()))


def test_cancelling_kills_it(tmp_path: Path):
    """A service that stops leaves no command running."""
    pid = tmp_path / "pid"
    os.mkfifo(pid)

    async def story() -> str:
        work = asyncio.create_task(
            command.run(("/bin/sh", "-c", f"echo $$ > {pid}; exec sleep 60"), seconds=60, most_bytes=1)
        )
        number = await asyncio.to_thread(pid.read_text)  # once it runs
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work
        return number

    assert not _lives(int(asyncio.run(story())))


def _lives(pid: int) -> bool:
    """Say whether a process runs; one that waits to be reaped by somebody else does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
