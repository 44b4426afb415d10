"""The process from which all workers descend: how it is started, and how it is ended when it does not answer.

It is started with a bare environment. Our own variables hold tokens and passwords, those of the operator's shell may; and what a process began with
stays readable in its memory.

Only the fork server starts workers and says that one has ended. One that is stopped (SIGSTOP, a frozen control group) would hold every job for ever.
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
    """Return what a worker gets of an environment."""
    return {name: value for name, value in environment.items() if name in NAMES or name.startswith(BEGINNINGS)}


class _Starter:
    """`multiprocessing.util` as the fork server's side of the parent sees it: what that starts has a bare environment."""

    pid: int | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(multiprocessing.util, name)

    def spawnv_passfds(self, path: str | bytes, args: Sequence[str | bytes], passfds: Sequence[int]) -> int:
        """Start a process and return its number; multiprocessing waits for it."""
        process = subprocess.Popen(
            list(args), executable=path, pass_fds=passfds, env=bare(os.environ), restore_signals=False
        )
        process.returncode = 0  # who waits for it is multiprocessing
        self.pid = process.pid
        return process.pid


_starter: Final = _Starter()


def start_bare() -> None:
    """Let the fork server of this process be started with a bare environment; one that runs already stays as it is."""
    multiprocessing.forkserver.util = _starter  # type: ignore[attr-defined]


def kill() -> None:
    """Kill the fork server, if one was started; the next worker starts another. What waits for an answer of this one gets an end of file."""
    if _starter.pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(_starter.pid, signal.SIGKILL)
        _starter.pid = None
