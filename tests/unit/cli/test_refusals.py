"""A machine without memory, space or files gives one line without a traceback; trials store
nothing.
"""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.fakes import Page, WebServer
from tidings.cli import main as cli
from tidings.cli.main import main


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (MemoryError(), "not enough memory"),
        (ImportError("numpy.so: failed to map segment from shared object"), "not enough memory"),
        (OSError(errno.EROFS, "Read-only file system", "/data/x"), "/data/x: Read-only file system"),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "Disk quota exceeded"),
    ],
)
def test_machine_error_is_one_line(tmp_path: Path, monkeypatch, capsys, error, text):
    """Missing memory, files or space end a command with exit code 3."""

    def refuse(name: str) -> None:
        raise error

    monkeypatch.setattr(cli, "parser_of", refuse)

    assert 3 == main(["--data", str(tmp_path), "list"])
    assert text in capsys.readouterr().err


def test_programming_error_keeps_its_traceback(tmp_path: Path, monkeypatch):
    """An import that fails for another reason is not reported as missing memory."""

    def refuse(name: str) -> None:
        raise ImportError("cannot import name")

    monkeypatch.setattr(cli, "parser_of", refuse)

    with pytest.raises(ImportError):
        main(["--data", str(tmp_path), "list"])


def test_command_makes_no_data_directory(tmp_path: Path, monkeypatch, capsys):
    """After `tidings test` without a database, `list` still says that there is none."""
    monkeypatch.setenv("TIDINGS_FETCH_ALLOW_NETWORKS", "127.0.0.0/8")
    monkeypatch.setenv("TIDINGS_FETCH_ROBOTS", "false")
    data, text = tmp_path / "data", tmp_path / "s.sentinel"
    with WebServer("127.0.0.1") as server:
        server.pages["/a"] = Page(b"<title>Notice</title><p>open from nine to five", [("Content-Type", "text/html")])
        text.write_text(f"Create Sentinel a Using {server.url('/a')} Monitor all words Fetch every 1 hour")
        assert 0 == main(["--data", str(data), "test", str(text)])
    assert "Notice" in capsys.readouterr().out
    assert not data.exists()

    assert 3 == main(["--data", str(data), "list"])
    assert "there is no database" in capsys.readouterr().err


def test_command_reports_a_lost_database(tmp_path: Path, capsys):
    """A directory that was used and has no database now is an error."""
    (tmp_path / "USED").write_text("Tidings uses this directory.")
    (tmp_path / "s.sentinel").write_text("Create Sentinel a Using http://127.0.0.1:8099/ Monitor all words")

    assert 3 == main(["--data", str(tmp_path), "test", str(tmp_path / "s.sentinel")])
    assert "is gone" in capsys.readouterr().err
