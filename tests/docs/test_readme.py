"""The tour of the README, run as it is printed, in a folder of its own."""

from __future__ import annotations

import contextlib
import os
import random
import re
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tidings.language.parser import parse
from tidings.language.write.printer import to_text

REPOSITORY = Path(__file__).parents[2]
WAITING = re.compile(r"tidings: \d+ of \d+ checked; waiting for ")
"""What a check says while a machine with much to do is slow to answer it."""

MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


def _steps() -> list[tuple[str, list[str]]]:
    """Return each command of the README's console blocks with the lines it is said to print."""
    steps: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", (REPOSITORY / "README.md").read_text(), flags=re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], []))
            else:
                steps[-1][1].append(line)
    return steps


def _free_port() -> int:
    """Return a port of four digits, as the README has it: columns of messages count them."""
    for port in random.sample(range(2_000, 10_000), 200):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    message = "no port of four digits is free"
    raise OSError(message)


@pytest.fixture
def tour() -> Iterator[Path]:
    """A folder with a short name: sockets of worker processes are below it."""
    with tempfile.TemporaryDirectory(prefix="tour", dir="/tmp") as folder:
        yield Path(folder)


def test_the_tour_prints_what_the_readme_says(tour):
    """Every command of the tour, in order, in one shell: the output is that of the README but for times."""
    port = str(_free_port())
    steps = [(command.replace("8765", port), text) for command, text in _steps()]
    script = "\n".join(f"{command}\necho ---" for command, _ in steps)
    wait = f"for i in $(seq 600); do (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && break; sleep 0.05; done"
    script = script.replace("2>&1 &\necho ---", f"2>&1 &\n{wait}\necho ---", 1)
    environment = {**{k: v for k, v in os.environ.items() if not k.startswith("TIDINGS_")}, "TMPDIR": str(tour)}

    ran = subprocess.run(
        ["bash", "-c", f"trap 'kill %1' EXIT; exec 2>&1\n{script}"],
        cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    printed = [part.strip("\n").splitlines() for part in ran.stdout.split("---\n")][:-1]

    assert [[MOMENT.sub("TIME", line) for line in text] for _, text in steps] == [
        [MOMENT.sub("TIME", line.replace(port, "8765")) for line in lines if not WAITING.match(line)]
        for lines in printed
    ]


def test_the_sentinels_of_the_readme_are_written_as_tidings_writes_them():
    """Each statement under "The language at a glance" is accepted, and printed in the same form."""
    (block,) = re.findall(r"```sentinel\n(.*?)```", (REPOSITORY / "README.md").read_text(), flags=re.DOTALL)
    shown = "".join(line for line in block.splitlines(keepends=True) if not line.startswith("--"))
    parsed = parse(shown)

    assert () == parsed.problems
    assert shown.split() == " ".join(to_text(statement) for statement in parsed.statements).split()
