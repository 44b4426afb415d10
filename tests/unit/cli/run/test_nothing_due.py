"""The note of a check is valid only while no state can have changed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes import Page
from tidings.cli.run import nothing_due
from tidings.cli.run.nothing_due import forget, note, nothing_is_due
from tidings.settings import Settings, StoreSettings
from tidings.storage.db import sqlite

REPOSITORY = Path(__file__).parents[4]
AT, UNTIL = 1_000_000_000, 1_060_000_000


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return the settings of a directory with a database that is not open."""
    (tmp_path / "tidings.db").write_bytes(b"database")
    return Settings(data=tmp_path)


def test_note_names_the_database_file_of_storage():
    """The name is defined twice, so that a check that reads only the note loads no database
    library.
    """
    assert sqlite.FILE == nothing_due.DATABASE


def test_nothing_is_due_between_the_two_instants(settings: Settings):
    """The note is valid from when it was written until the next page is due."""
    note(settings, at=AT, until=UNTIL)

    assert [False, True, True, False] == [nothing_is_due(settings, now) for now in (AT - 1, AT, UNTIL - 1, UNTIL)]


def test_note_is_valid_for_at_most_15_minutes(settings: Settings):
    """The limit holds however late the next page is due."""
    note(settings, at=AT, until=AT + 10**12)

    assert [True, False] == [nothing_is_due(settings, AT + nothing_due.LONGEST + more) for more in (-1, 0)]


def write(settings: Settings) -> Settings:
    (settings.data / "tidings.db").write_bytes(b"databasf")
    return settings


def replace_file(settings: Settings) -> Settings:
    (settings.data / "other").write_bytes(b"database")
    (settings.data / "other").replace(settings.data / "tidings.db")
    return settings


def remove(settings: Settings) -> Settings:
    (settings.data / "tidings.db").unlink()
    return settings


def open_elsewhere(settings: Settings) -> Settings:
    (settings.data / "tidings.db-wal").write_bytes(b"frame")
    return settings


def set_other(settings: Settings) -> Settings:
    return replace(settings, fetch=replace(settings.fetch, page_floor_seconds=7.0))


def use_postgres(settings: Settings) -> Settings:
    return replace(settings, store=StoreSettings(url="postgresql://here"))


def spoil(settings: Settings) -> Settings:
    (settings.data / nothing_due.FILE).write_bytes(b"{\xff")
    return settings


def shorten(settings: Settings) -> Settings:
    (settings.data / nothing_due.FILE).write_text("[]")
    return settings


def forget_it(settings: Settings) -> Settings:
    forget(settings)
    return settings


@pytest.mark.parametrize(
    "happen",
    [write, replace_file, remove, open_elsewhere, set_other, use_postgres, spoil, shorten, forget_it],
)
def test_note_is_invalid_after_any_other_change(settings: Settings, happen: Callable[[Settings], Settings]):
    """Another or open database, other settings, or an unreadable note: a check does all its work."""
    note(settings, at=AT, until=UNTIL)
    after = happen(settings)

    assert not nothing_is_due(after, AT + 1)


@pytest.mark.parametrize("before", [remove, open_elsewhere, use_postgres])
def test_no_note_is_written_where_it_could_not_be_valid(settings: Settings, before: Callable[[Settings], Settings]):
    """The database is missing, open in another process, or on a server."""
    before_it = before(settings)
    note(before_it, at=AT, until=UNTIL)

    assert not (settings.data / nothing_due.FILE).exists()


def test_failing_disk_costs_only_the_note(settings: Settings):
    """The check itself has been done by then."""
    (settings.data / f"{nothing_due.FILE}.new").mkdir()
    note(settings, at=AT, until=UNTIL)

    assert not nothing_is_due(settings, AT)


CHECK = "import sys; from tidings.cli.main import main; main(sys.argv[1:]); print('aiohttp' in sys.modules, 'tidings.storage' in sys.modules)"


def check_apart(*words: str) -> list[str]:
    """Return the output of a check in its own process, and whether it loaded an HTTP client and a database."""
    ran = subprocess.run([sys.executable, "-c", CHECK, "check", *words], capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


@pytest.fixture
def checked(tidings, server):
    """Watch a page once an hour; it has a baseline, and a check has found nothing due."""
    tidings("add", "--url", server.url("/news"), "--name", "n", "--every", "1 hour")
    assert "0 checked, 0 changed\n" == tidings("check").out
    return tidings


def test_check_after_one_with_nothing_due_reads_only_the_note(checked):
    """The second check prints the same, and loads neither the network nor the database."""
    assert ["0 checked, 0 changed", "False False"] == check_apart()
    assert "" == checked("check", "--json").out


def test_documented_line_for_cron_reads_only_the_note(checked):
    """It has a time limit."""
    text = (REPOSITORY / "docs/begin/keep-running.md").read_text("utf-8")
    (words,) = re.findall(r"^\*/10 \* \* \* \* tidings check (.*) >/dev/null$", text, re.MULTILINE)

    assert ["0 checked, 0 changed", "False False"] == check_apart(*words.split())
    assert "--for" in words


@pytest.mark.parametrize("words", [("alter", "n", "Fetch 2 hour"), ("disable", "n")], ids=["alter", "disable"])
def test_any_write_invalidates_the_note(checked, words):
    """The next check does all its work."""
    checked(*words)

    assert ["0 checked, 0 changed", "True True"] == check_apart()


def test_new_page_is_checked_despite_the_note(checked, server, tmp_path):
    """A page that was added without a first check is polled at the next check."""
    server.pages["/more"] = Page(b"<p>more", {"Content-Type": "text/html"})
    (tmp_path / "more").write_text(f"Create Sentinel m Using {server.url('/more')} Monitor all words")
    checked("apply", str(tmp_path / "more"))

    assert ["1 checked, 0 changed", "True True"] == check_apart()[-2:]


def test_failed_poll_leaves_no_note(tidings, server):
    """The trouble is reported at each check."""
    server.pages["/gone"] = Page(b"", {}, status=500)
    tidings("add", "--url", server.url("/gone"), "--name", "n", "--every", "1 hour")
    tidings("check")
    *text, loaded = check_apart()

    assert "the server answered 500" in text[0]
    assert "True True" == loaded
    assert not (Path(os.environ["TIDINGS_DATA"]) / nothing_due.FILE).exists()
