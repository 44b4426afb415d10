"""What worker processes find in their environment: what Python and libraries need to run, nothing else of ours.

Our own variables hold tokens and passwords, those of the operator's shell may; and what a process began with stays readable in its memory. So the
fork server, from which all workers descend, is started without them.
"""

from __future__ import annotations

import multiprocessing.forkserver
import multiprocessing.util
import os
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

    def __getattr__(self, name: str) -> Any:
        return getattr(multiprocessing.util, name)

    def spawnv_passfds(self, path: str | bytes, args: Sequence[str | bytes], passfds: Sequence[int]) -> int:
        """Start a process and return its number; multiprocessing waits for it."""
        process = subprocess.Popen(
            list(args), executable=path, pass_fds=passfds, env=bare(os.environ), restore_signals=False
        )
        process.returncode = 0  # who waits for it is multiprocessing
        return process.pid


def start_bare() -> None:
    """Let the fork server of this process be started with a bare environment; one that runs already stays as it is."""
    multiprocessing.forkserver.util = _Starter()  # type: ignore[attr-defined]
