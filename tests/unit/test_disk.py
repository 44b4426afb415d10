from __future__ import annotations

import os
from pathlib import Path

import pytest

from tidings import disk


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(False, False, False), (False, True, False), (True, False, False), (True, True, True)],
    ids=["both alone", "the first alone", "the second alone", "both shared"],
)
def test_two_handles_hold_a_lock_together_only_if_both_share_it(
    tmp_path: Path, first: bool, second: bool, expected: bool
) -> None:
    """A lock excludes every other handle, also of this process, unless both are shared."""
    path = tmp_path / "lock"
    one, other = (os.open(path, os.O_RDWR | os.O_CREAT, 0o600) for _ in range(2))
    disk.lock(one, shared=first)
    found = disk.lock(other, shared=second)
    os.close(one)
    os.close(other)

    assert expected == found


def test_a_closed_handle_gives_its_lock_back(tmp_path: Path) -> None:
    """A lock ends when its handle is closed, by the holder or by a crash."""
    path = tmp_path / "lock"
    one, other = (os.open(path, os.O_RDWR | os.O_CREAT, 0o600) for _ in range(2))
    disk.lock(one)
    os.close(one)
    found = disk.lock(other, seconds=60)
    os.close(other)

    assert found


def test_files_and_folders_can_be_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`sync` reaches the file that it is given, be it a folder."""
    path = tmp_path / "file"
    path.write_text("content")
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    disk.sync(path)
    disk.sync(tmp_path)

    assert [path.stat().st_ino, tmp_path.stat().st_ino] == synced
