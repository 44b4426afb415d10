"""Commands of the operator: run once, their output bounded, and ended with all that they started.

A command is its words; no shell reads them. It gets no input, little of our environment, a session of its own and a deadline. Its
environment carries the mark of this run, by which Linux finds what has left the session too.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tidings.isolation.runner import Died

ENVIRONMENT: Final = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/"}
"""All that a command finds in its environment, beside the mark of its run."""
MARK: Final = "COMMAND_RUN"
_CHUNK: Final = 65_536
_GONE_SECONDS: Final = 5.0
"""what a process that was killed may take to be gone"""
_SWEEPS: Final = 10
"""as often is looked for what was started while the others were killed"""


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that came to its end: its exit code (negative: the signal that ended it) and its standard output."""

    exit_code: int
    output: bytes


async def run(argv: Sequence[str], *, seconds: float, most_bytes: int) -> Ran | Died:
    """Return what a command wrote, or how it died. It is at its end when nothing holds its output any more; cancelling kills it."""
    mark = uuid.uuid4().hex
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=ENVIRONMENT | {MARK: mark},
            cwd="/",
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Died("error", f"{argv[0]} cannot be run: {getattr(error, 'strerror', None) or error}")
    assert process.stdout is not None  # noqa: S101 - it was asked for
    try:
        async with asyncio.timeout(seconds):
            output = await _read(process.stdout, most_bytes)
            if output is None:
                return Died("memory", f"{argv[0]} wrote more than {most_bytes:,} bytes")
            return Ran(await process.wait(), output)
    except TimeoutError:
        return Died("deadline", f"{argv[0]} did not end within {seconds:g} s")
    finally:
        await asyncio.shield(_end(process, mark))


async def _read(stream: asyncio.StreamReader, most: int) -> bytes | None:
    """Return all that comes, None if it is more than so many bytes."""
    parts, left = [], most
    while part := await stream.read(_CHUNK):
        parts.append(part)
        left -= len(part)
        if left < 0:
            return None
    return b"".join(parts)


async def _end(process: asyncio.subprocess.Process, mark: str) -> None:
    """End the process with its group and all else that carries its mark, what it left running included."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await asyncio.to_thread(_kill_marked, f"{MARK}={mark}".encode())
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_GONE_SECONDS):
            await process.wait()


def _kill_marked(mark: bytes) -> None:
    """Kill what carries a mark in its environment, until nothing does; where there is no /proc nothing is found."""
    for _ in range(_SWEEPS):
        found = [entry for entry in Path("/proc").glob("[0-9]*") if mark in _environment(entry)]
        for entry in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(entry.name), signal.SIGKILL)
        if not found:
            return


def _environment(entry: Path) -> list[bytes]:
    """Return the environment that a process began with, nothing if it is gone or somebody else's."""
    try:
        return entry.joinpath("environ").read_bytes().split(b"\0")
    except OSError:
        return []
