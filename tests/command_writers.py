"""Processes that add, disable, enable and drop sentinels of their own beside a running service,
each with a ledger.

`python -m tests.command_writers WRITER CALLS URL…` is one such writer in one process: it calls the command line as often as asked, with the data
directory of its environment, and prints a line of JSON for each call. With `--cold` each call is a process of its own, as a shell makes it.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.services import Installation
from tidings.cli.change import add, life
from tidings.cli.main import main
from tidings.storage.db.connection import Connection
from tidings.storage.watches import sentinels

REPOSITORY = Path(__file__).parents[1]
NEXT = {None: ("add",), "enabled": ("disable", "disable", "drop"), "disabled": ("enable", "enable", "drop")}
"""What a writer may do with a sentinel that it left so; of those that may stand still most come back."""
BECOMES: dict[str, str | None] = {"add": "enabled", "disable": "disabled", "enable": "enabled", "drop": None}
NAMES = 12
LOADED = (add, life)
"""The modules of those verbs, so that the first call of a warm writer does not import them."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the command line: what was asked, how it ended, how long it took (seconds, start of a process included)."""

    verb: str
    name: str
    status: int
    seconds: float
    said: str


def write(writer: str, calls: int, urls: Sequence[str], *, cold: bool) -> Iterator[Call]:
    """Do so many writes to sentinels that no other writer touches."""
    rng = random.Random(writer)
    states: dict[str, str | None] = {f"{writer}{n}": None for n in range(NAMES)}
    for _ in range(calls):
        name = rng.choice(list(states))
        verb = rng.choice(NEXT[states[name]])
        words, text = [verb, name], ""
        if verb == "add":
            words, text = (
                ["add", "-", "--no-check"],
                f"Create Sentinel {name} Using {rng.choice(urls)} Monitor any change Fetch every 1 s",
            )
        begun = time.perf_counter()
        status, output = (_cold if cold else _warm)(words, text)
        yield Call(verb, name, status, time.perf_counter() - begun, output)
        if status == 0:
            states[name] = BECOMES[verb]


def _warm(words: list[str], text: str) -> tuple[int, str]:
    """Call the command line in this process: no time goes by between two calls, which is harder on the database."""
    out, stdin = io.StringIO(), sys.stdin
    sys.stdin = io.StringIO(text)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = main(words)
    except SystemExit as leaving:
        status = int(leaving.code or 0)
    finally:
        sys.stdin = stdin
    return status, out.getvalue()


def _cold(words: list[str], text: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "tidings", *words]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def start(place: Installation, writer: str, calls: int, urls: Sequence[str], *, cold: bool) -> subprocess.Popen[str]:
    """Start a writer."""
    command = [sys.executable, "-m", "tests.command_writers", writer, str(calls), *(["--cold"] if cold else []), *urls]
    return subprocess.Popen(command, cwd=REPOSITORY, env=place.environment, stdout=subprocess.PIPE, text=True)


def finish(writer: subprocess.Popen[str], *, timeout: float) -> list[Call]:
    """Return the ledger of a writer that has ended."""
    out, _ = writer.communicate(timeout=timeout)
    assert 0 == writer.returncode, out[-2000:]
    return [Call(**json.loads(line)) for line in out.splitlines()]


def ledger(calls: Sequence[Call]) -> dict[str, str | None]:
    """Return what every sentinel must be after these calls: its state, None if it is dropped."""
    return {call.name: BECOMES[call.verb] for call in calls if call.status == 0}


def list_lost_writes(connection: Connection, expected: Mapping[str, str | None]) -> list[str]:
    """Return the sentinels that are not as their writer left them; a running service may have stepped on from `created`."""
    stored = {row.name: row.state for row in sentinels.listing(connection)}
    faults = []
    for name, state in expected.items():
        known = stored.get(name)
        if ("enabled" if known in {"created", "waiting"} else known) != state:
            faults.append(f"{name} is {known}, its writer left it {state}")
    return faults


def not_taken_in(connection: Connection) -> list[str]:
    """Return the sentinels that no service has stepped on yet."""
    return [row.name for row in sentinels.listing(connection) if row.state == "created"]


def run(arguments: Sequence[str]) -> None:
    """Be one writer."""
    writer, calls, *urls = [argument for argument in arguments if argument != "--cold"]
    for call in write(writer, int(calls), urls, cold="--cold" in arguments):
        line = {"verb": call.verb, "name": call.name, "status": call.status, "seconds": call.seconds, "said": call.said}
        sys.__stdout__.write(json.dumps(line) + "\n")  # type: ignore[union-attr]


if __name__ == "__main__":
    run(sys.argv[1:])
