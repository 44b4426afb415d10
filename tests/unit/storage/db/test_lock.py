from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tidings.storage.db.lock import PollerLock

_TRY = """
import sys
from pathlib import Path
from tidings.storage.db.lock import PollerLock
lock = PollerLock(Path(sys.argv[1]))
print(lock.acquire(), lock.holder())
"""


def _elsewhere(data: Path) -> list[str]:
    command = [sys.executable, "-c", _TRY, str(data)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_only_one_process_has_the_lock(tmp_path: Path):
    """Another process cannot take the lock, and learns which process has it."""
    lock = PollerLock(tmp_path)
    assert lock.acquire()
    assert lock.acquire()

    assert ["False", str(os.getpid())] == _elsewhere(tmp_path)
    assert os.getpid() == lock.holder()
    lock.release()


def test_lock_is_free_after_its_release(tmp_path: Path):
    """The end of a process that never released the lock frees it too."""
    lock = PollerLock(tmp_path)
    assert lock.holder() is None
    assert lock.acquire()
    lock.release()
    lock.release()
    assert "True" == _elsewhere(tmp_path)[0]

    assert lock.holder() is None
    assert lock.acquire()
    lock.release()


def test_two_locks_in_one_process_exclude_each_other(tmp_path: Path):
    """The lock belongs to the object that acquired it."""
    first, second = PollerLock(tmp_path / "new"), PollerLock(tmp_path / "new")
    assert first.acquire()

    assert not second.acquire()
    assert os.getpid() == second.holder()
    first.release()


def test_holder_does_not_take_the_lock(tmp_path: Path):
    """After a query for the holder, the lock can be acquired at once."""
    lock, other = PollerLock(tmp_path), PollerLock(tmp_path)
    for _ in range(20):
        assert other.holder() is None
        assert lock.acquire()
        lock.release()
