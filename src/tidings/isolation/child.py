"""The worker's side: take a job from the pipe, run it under the limits, send the answer back; end
when the pipe ends.

A job is `JOB` (length, seconds) and a pickle of (function, argument); an answer is `ANSWER`
(length, status) and a pickle of the value or, for a failure, UTF-8 text. Nothing else crosses the
pipe.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import struct
from multiprocessing.connection import Connection
from typing import Final

from tidings.isolation.runner import JobLimits, arm, confine, disarm, explain_death

JOB: Final = struct.Struct("<Qd")
ANSWER: Final = struct.Struct("<QB")

READY: Final = 0
DONE: Final = 1
ERROR: Final = 2
MEMORY: Final = 3

CHUNK: Final = 1024 * 1024

MOST_LEFT: Final = 100_000
"""Objects that jobs may leave behind before garbage is collected."""


def serve(connection: Connection, limits: JobLimits) -> None:
    """Run jobs until the other end is closed, which also happens when the parent dies."""
    confine(limits)
    gc.freeze()
    gc.disable()  # a job's objects are freed with its answer, and its memory is limited
    with contextlib.suppress(ConnectionError):  # nobody is left to answer
        _serve(connection.fileno(), limits)


def _serve(pipe: int, limits: JobLimits) -> None:
    _answer(pipe, READY, b"")
    while (header := _read(pipe, JOB.size)) is not None:
        length, seconds = JOB.unpack(header)
        arm(seconds)
        payload = _read(pipe, length)
        if payload is None:
            return
        status, answer = _run(payload, limits)
        del payload
        disarm()
        _answer(pipe, status, answer)
        if status == MEMORY:
            return
        if gc.get_count()[0] > MOST_LEFT:
            gc.collect()


def _run(payload: bytes, limits: JobLimits) -> tuple[int, bytes]:
    try:
        function, argument = pickle.loads(payload)  # noqa: S301 - the parent wrote it
        value = function(argument)
    except MemoryError:
        return MEMORY, b"the job wanted more memory than it may have"
    except Exception as error:  # noqa: BLE001 - a job may raise anything, and what it raises is its outcome
        return ERROR, explain_death(error).reason.encode(errors="backslashreplace")
    try:
        answer = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return MEMORY, b"the job's answer wanted more memory than it may have"
    except Exception as error:  # noqa: BLE001 - pickling calls the value's own code
        return ERROR, f"the job's answer cannot be brought back: {error}".encode(errors="backslashreplace")
    if len(answer) > limits.result_bytes:
        return MEMORY, f"the job's answer has {len(answer)} bytes, more than {limits.result_bytes}".encode()
    return DONE, answer


def _read(pipe: int, length: int) -> bytes | None:
    received = bytearray()
    while len(received) < length:
        chunk = os.read(pipe, min(CHUNK, length - len(received)))
        if not chunk:
            return None
        received += chunk
    return bytes(received)


def _answer(pipe: int, status: int, body: bytes) -> None:
    rest = memoryview(ANSWER.pack(len(body), status) + body)
    while rest:
        rest = rest[os.write(pipe, rest) :]
