"""The process from which all workers are forked: how it is started, and killed when it does not
answer.

It starts with a bare environment. Our own variables hold tokens and passwords, and those of the
operator's shell may; the initial environment of a process stays readable in its memory.

Only the fork server starts workers and reports their end. A stopped one (SIGSTOP, a frozen control
group) would block every job for ever.
"""

from __future__ import annotations

import contextlib
import multiprocessing.forkserver
import multiprocessing.util
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, Final

NAMES: Final = frozenset(
    "PATH LANG LANGUAGE TZ TMPDIR VIRTUAL_ENV SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE SYSTEMROOT".split()
)
BEGINNINGS: Final = ("PYTHON", "LC_", "LD_", "DYLD_")


def bare(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the part of an environment that a worker gets."""
    return {name: value for name, value in environment.items() if name in NAMES or name.startswith(BEGINNINGS)}


class _Starter:
    """`multiprocessing.util` for the parent's side of the fork server: its processes start with a
    bare environment.
    """

    pid: int | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(multiprocessing.util, name)

    def spawnv_passfds(self, path: str | bytes, args: Sequence[str | bytes], passfds: Sequence[int]) -> int:
        """Start a process and return its number; multiprocessing waits for it."""
        process = subprocess.Popen(
            list(args), executable=path, pass_fds=passfds, env=bare(os.environ), restore_signals=False
        )
        process.returncode = 0  # multiprocessing waits for it
        self.pid = process.pid
        return process.pid


_starter: Final = _Starter()


def start_bare() -> None:
    """Start the fork server of this process with a bare environment; a running one stays as it
    is.
    """
    multiprocessing.forkserver.util = _starter  # type: ignore[attr-defined]


def kill() -> None:
    """Kill the fork server, if one was started; the next worker starts another. Callers waiting for
    it get an end of file.
    """
    if _starter.pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(_starter.pid, signal.SIGKILL)
        _starter.pid = None
