"""The demo empties only its own directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidings.demo.process import MARK, default_home, take
from tidings.errors import UsageError
from tidings.storage.db.lock import PollerLock


def test_directory_is_emptied_at_each_start(tmp_path):
    """Files, folders and links of the last run are deleted; the targets of links stay."""
    home, elsewhere = tmp_path / "demo", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "dear").write_text("mine")
    with take(home):
        (home / "blobs").mkdir()
        (home / "blobs" / "a").write_text("a")
        (home / "tidings.db").write_text("rows")
        (home / "link").symlink_to(elsewhere)

    with take(home):
        left = [path.name for path in home.iterdir()]

    assert [MARK] == left
    assert "mine" == (elsewhere / "dear").read_text()


def test_directory_of_another_program_is_refused(tmp_path):
    """A data directory that was given by mistake stays unchanged."""
    (tmp_path / "tidings.db").write_text("years of versions")

    with pytest.raises(UsageError, match="no demo made"), take(tmp_path):
        pass

    assert "years of versions" == (tmp_path / "tidings.db").read_text()


def test_second_demo_in_the_same_directory_is_refused(tmp_path):
    """The second demo would empty the directory of the first one."""
    with take(tmp_path / "demo"), pytest.raises(UsageError, match="another demo"), take(tmp_path / "demo"):
        pass


def test_running_service_of_an_earlier_demo_is_refused(tmp_path):
    """The directory is not emptied; the message names the process to stop."""
    home = tmp_path / "demo"
    with take(home):
        pass
    lock = PollerLock(home)
    lock.acquire()
    try:
        with pytest.raises(UsageError, match="still runs"), take(home):
            pass
    finally:
        lock.release()


def test_demo_directory_ignores_tidings_data(monkeypatch, tmp_path):
    """`TIDINGS_DATA` is the directory with the real data."""
    monkeypatch.setenv("TIDINGS_DATA", "/srv/tidings")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    assert tmp_path / "tidings-demo" == default_home()
    assert Path("/srv/tidings") != default_home()
