"""Commands of the operator: run once, with bounded output, and ended with all their descendants.

A command is a list of words; no shell is involved. It gets no input, a minimal environment, a
session of its own, a deadline, and on Linux a memory limit for each of its processes. Its
environment carries the mark of this run, by which Linux finds processes that have left the session
too.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import uuid
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Final

from tidings.isolation.runner import Died
from tidings.record import dataclass

ENVIRONMENT: Final = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/"}
"""The whole environment of a command, beside the mark of its run."""
MARK: Final = "COMMAND_RUN"
MEMORY_BYTES: Final = 1 << 30
"""The memory limit of each process of a command."""
ERROR_BYTES: Final = 4_096
"""How much of the end of standard error is returned."""
_CHUNK: Final = 65_536
_LAST_WORDS_SECONDS: Final = 0.5
"""how long standard error is read after the end: a remaining process may hold it open"""
_GONE_SECONDS: Final = 5.0
"""how long a killed process may take to disappear"""
_SWEEPS: Final = 10
"""how often processes started during the kill are searched"""


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a finished command.

    Its exit code (negative: the signal that ended it), its standard output, the end of its standard
    error.
    """

    exit_code: int
    output: bytes
    errors: bytes = field(default=b"", compare=False)


async def run(argv: Sequence[str], *, seconds: float, most_bytes: int) -> Ran | Died:
    """Return the output of a command, or how it died; cancelling kills it.

    It has finished when nothing holds its output any more.
    """
    mark = uuid.uuid4().hex
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=ENVIRONMENT | {MARK: mark},
            cwd="/",
            start_new_session=True,
            preexec_fn=_bound_memory,  # one system call, without locks of other threads
        )
    except (OSError, ValueError) as error:
        return Died("error", f"{argv[0]} cannot be run: {getattr(error, 'strerror', None) or error}")
    assert process.stdout is not None  # noqa: S101 - it was asked for
    assert process.stderr is not None  # noqa: S101 - it was asked for
    errors = bytearray()
    listening = asyncio.create_task(_keep_end(process.stderr, errors))
    try:
        async with asyncio.timeout(seconds):
            output = await _read(process.stdout, most_bytes)
            if output is None:
                return Died("memory", f"{argv[0]} wrote more than {most_bytes:,} bytes")
            exit_code = await process.wait()
            await asyncio.wait({listening}, timeout=_LAST_WORDS_SECONDS)
            return Ran(exit_code, output, bytes(errors))
    except TimeoutError:
        return Died("deadline", f"{argv[0]} did not end within {seconds:g} s")
    finally:
        listening.cancel()
        await asyncio.shield(_end(process, mark))


def _bound_memory() -> None:
    """Limit the memory of this process and of each of its descendants.

    Does nothing on a system without such a limit.
    """
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


async def _keep_end(stream: asyncio.StreamReader, tail: bytearray) -> None:
    """Read everything and keep the end of it."""
    while part := await stream.read(_CHUNK):
        tail += part
        del tail[:-ERROR_BYTES]


async def _read(stream: asyncio.StreamReader, most: int) -> bytes | None:
    """Return all input, None if it is more than `most` bytes."""
    parts, left = [], most
    while part := await stream.read(_CHUNK):
        parts.append(part)
        left -= len(part)
        if left < 0:
            return None
    return b"".join(parts)


async def _end(process: asyncio.subprocess.Process, mark: str) -> None:
    """Kill the process with its group and everything else that carries its mark."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await asyncio.to_thread(_kill_marked, f"{MARK}={mark}".encode())
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_GONE_SECONDS):
            await process.wait()


def _kill_marked(mark: bytes) -> None:
    """Kill everything with a mark in its environment, until nothing is left; without /proc nothing
    is found.
    """
    for _ in range(_SWEEPS):
        found = [entry for entry in Path("/proc").glob("[0-9]*") if mark in _environment(entry)]
        for entry in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(entry.name), signal.SIGKILL)
        if not found:
            return


def _environment(entry: Path) -> list[bytes]:
    """Return the initial environment of a process, empty if it is gone or belongs to another
    user.
    """
    try:
        return entry.joinpath("environ").read_bytes().split(b"\0")
    except OSError:
        return []
