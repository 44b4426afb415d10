"""The demo empties its own directory, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidings.demo.process import MARK, default_home, take
from tidings.errors import UsageError
from tidings.storage.db.lock import PollerLock


def test_the_directory_is_emptied_at_each_start(tmp_path):
    """What the last run left is gone, folders and links too; what a link led to is untouched."""
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


def test_a_directory_that_no_demo_made_is_refused(tmp_path):
    """Somebody's data directory given by mistake stays whole."""
    (tmp_path / "tidings.db").write_text("years of versions")

    with pytest.raises(UsageError, match="no demo made"), take(tmp_path):
        pass

    assert "years of versions" == (tmp_path / "tidings.db").read_text()


def test_a_second_demo_in_the_same_place_is_refused(tmp_path):
    """It would empty the directory under the first one."""
    with take(tmp_path / "demo"), pytest.raises(UsageError, match="another demo"), take(tmp_path / "demo"):
        pass


def test_a_service_that_outlived_its_demo_is_named(tmp_path):
    """The directory of a living service is not emptied; the message says which process to stop."""
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


def test_the_demo_lives_beside_the_real_data(monkeypatch, tmp_path):
    """`TIDINGS_DATA` names the real directory and does not move the demo's."""
    monkeypatch.setenv("TIDINGS_DATA", "/srv/tidings")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    assert tmp_path / "tidings-demo" == default_home()
    assert Path("/srv/tidings") != default_home()
