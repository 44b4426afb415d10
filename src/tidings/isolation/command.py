"""Commands of the operator: run once, their output bounded, and ended with all that they started.

A command is its words; no shell reads them. It gets no input, little of our environment, a session
of its own, a deadline, and on Linux a bound on the memory of each of its processes. Its environment
carries the mark of this run, by which Linux finds what has left the session too.
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
"""All that a command finds in its environment, beside the mark of its run."""
MARK: Final = "COMMAND_RUN"
MEMORY_BYTES: Final = 1 << 30
"""What a process of a command may hold of its own; it gets no more then."""
ERROR_BYTES: Final = 4_096
"""How much of the end of standard error is kept."""
_CHUNK: Final = 65_536
_LAST_WORDS_SECONDS: Final = 0.5
"""so long is read on of standard error after the end: what is left running may hold it open"""
_GONE_SECONDS: Final = 5.0
"""what a process that was killed may take to be gone"""
_SWEEPS: Final = 10
"""as often is looked for what was started while the others were killed"""


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that came to its end.

    Its exit code (negative: the signal that ended it), its standard output, the end of its
    standard error.
    """

    exit_code: int
    output: bytes
    errors: bytes = field(default=b"", compare=False)


async def run(argv: Sequence[str], *, seconds: float, most_bytes: int) -> Ran | Died:
    """Return what a command wrote, or how it died; cancelling kills it.

    It is at its end when nothing holds its output any more.
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
            preexec_fn=_bound_memory,  # one system call, and no lock that another thread may hold
        )
    except (OSError, ValueError) as error:
        return Died("error", f"{argv[0]} cannot be run: {getattr(error, 'strerror', None) or error}")
    assert process.stdout is not None  # noqa: S101 - it was asked for
    assert process.stderr is not None  # noqa: S101 - it was asked for
    said = bytearray()
    listening = asyncio.create_task(_keep_end(process.stderr, said))
    try:
        async with asyncio.timeout(seconds):
            output = await _read(process.stdout, most_bytes)
            if output is None:
                return Died("memory", f"{argv[0]} wrote more than {most_bytes:,} bytes")
            exit_code = await process.wait()
            await asyncio.wait({listening}, timeout=_LAST_WORDS_SECONDS)
            return Ran(exit_code, output, bytes(said))
    except TimeoutError:
        return Died("deadline", f"{argv[0]} did not end within {seconds:g} s")
    finally:
        listening.cancel()
        await asyncio.shield(_end(process, mark))


def _bound_memory() -> None:
    """Bound what this process and those that it starts may hold, each.

    A system without such a bound goes without it.
    """
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


async def _keep_end(stream: asyncio.StreamReader, kept: bytearray) -> None:
    """Read all that comes and keep the end of it."""
    while part := await stream.read(_CHUNK):
        kept += part
        del kept[:-ERROR_BYTES]


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
