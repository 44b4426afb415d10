"""Commands: limited time and output, no shell, no environment of ours, and no process left."""

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


def test_output_and_exit_code_are_returned():
    """Only standard output is. The arguments are not expanded."""
    assert Ran(3, b"$HOME *\n") == run("/bin/sh", "-c", 'echo "$1"; echo no >&2; exit 3', "sh", "$HOME *")


def test_environment_of_tidings_is_not_passed_on(monkeypatch: pytest.MonkeyPatch):
    """No variable of the service reaches a command."""
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
def test_command_that_cannot_run_gives_a_reason(argv: tuple[str, ...], why: str):
    """No exception is raised."""
    died = run(*argv)

    assert isinstance(died, Died)
    assert ("error", True) == (died.cause, why in died.reason)


def test_too_much_output_ends_the_command():
    """The command would never stop writing."""
    died = run("/bin/sh", "-c", "while :; do echo yyyyyyyyyyyyyyyy; done", most=10_000)

    assert Died("memory", "/bin/sh wrote more than 10,000 bytes") == died


def test_deadline_ends_all_child_processes(tmp_path: Path):
    """None is left, and the command takes no longer than it may."""
    pid = tmp_path / "pid"
    began = time.monotonic()
    died = run("/bin/sh", "-c", f"sleep 60 & echo $! > {pid}; wait", seconds=0.5)

    assert isinstance(died, Died)
    assert "deadline" == died.cause
    assert time.monotonic() - began < 30
    assert not _lives(int(pid.read_text()))


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds them through /proc, which only Linux has")
@pytest.mark.parametrize("end", ["wait", "exit 0", "while :; do echo yyyyyyyyyyyyyyyy; done"])
def test_process_in_its_own_session_is_ended_too(tmp_path: Path, end: str):
    """A grandchild may leave the session; it is ended at the deadline, after a normal end and after
    too much output.
    """
    pid = tmp_path / "pid"
    script = f"setsid sh -c 'echo $$ > {pid}; exec sleep 60 >/dev/null' & while ! [ -s {pid} ]; do :; done; {end}"
    run("/bin/sh", "-c", script, seconds=0.5)

    assert not _lives(int(pid.read_text()))


def test_cancelled_command_is_killed(tmp_path: Path):
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
    """Return whether a process runs; a zombie does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
