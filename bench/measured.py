"""Run a command and write down what it and all its descendants cost.

    python bench/measured.py REPORT COMMAND ARGUMENT…

REPORT becomes a JSON object:

- `status`;
- `wall`: seconds until the command itself ended;
- `cpu`: user and system seconds of the whole tree, orphans included;
- `peak_mb`: the larger of the biggest process by `getrusage` and of the tree's proportional memory,
  sampled every 50 ms;
- `left`: processes that were still there 10 s after the command's end and were killed; their cost
  is counted.

Linux only: orphans are adopted with PR_SET_CHILD_SUBREAPER, so that all are counted. The functions
on a running tree are also used for servers.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
SAMPLE_SECONDS = 0.05
GRACE_SECONDS = 10.0
TICKS = os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> list[int]:
    """Return all living descendants of a process, without it."""
    found, waiting = [], [pid]
    while waiting:
        for task in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            try:
                children = [int(child) for child in task.read_text().split()]
            except OSError:
                continue
            found += children
            waiting += children
    return found


def cpu_seconds(pids: list[int]) -> float:
    """Return user and system seconds of these processes and of their children that have ended."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(int(field) for field in fields[11:15])
    return total / TICKS


def memory_mb(pids: list[int]) -> float:
    """Return the proportional memory of these processes together: pages that several share count once."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def run(report: Path, command: list[str]) -> int:
    """Run the command to its end, write the report, return the command's exit status."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    begun = time.perf_counter()
    main = subprocess.Popen(command)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})  # after the start: a mask is inherited
    status, wall, peak, left = None, 0.0, 0.0, 0
    while True:
        try:
            pid, code = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if pid == main.pid:
            status, wall = os.waitstatus_to_exitcode(code), time.perf_counter() - begun
        elif pid == 0:
            peak = max(peak, memory_mb(descendants(os.getpid())))
            if status is not None and time.perf_counter() - begun > wall + GRACE_SECONDS:
                left += _kill(descendants(os.getpid()))
            signal.sigtimedwait({signal.SIGCHLD}, SAMPLE_SECONDS)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {"cpu": used.ru_utime + used.ru_stime, "peak_mb": max(peak, used.ru_maxrss / 1024)}
    report.write_text(json.dumps({"status": status, "wall": wall, "left": left, **cost}))
    return status or 0


def _kill(pids: list[int]) -> int:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    return len(pids)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), sys.argv[2:]))
