"""`tidings doctor` prints a line for each thing and never ends in a traceback."""

import json

import pytest

from tests.stores import World
from tidings.cli.main import main
from tidings.settings import Settings
from tidings.storage.db.database import open_database


@pytest.fixture
def data(products, tmp_path):
    """Yield a data directory in which a page is watched and was looked at once."""
    with products.fresh("sqlite", tmp_path / "data") as settings:
        world = World(settings)
        world.watch()
        world.commit(world.make_unchanged())
        world.database.close()
        yield settings.data


def doctor(capsys, data, *arguments):
    """Run the command; return its exit code and its output."""
    code = main(["doctor", "--data", str(data), *arguments])
    return code, capsys.readouterr().out


def records(output):
    """Return what `--json` printed."""
    return [json.loads(line) for line in output.splitlines()]


def test_lines_for_people(capsys, data):
    """Each line has a status, a thing and a detail; the last one counts them."""
    code, output = doctor(capsys, data)
    *lines, empty, counts = output.splitlines()

    assert (0, "") == (code, empty)
    assert {"ok", "warn"} <= {line.split()[0] for line in lines} <= {"ok", "warn", "fail"}
    assert len(lines) == sum(int(part.split()[0]) for part in counts.split(", "))


def test_records_for_programs(capsys, data):
    """With --json each line is a record of a check."""
    _, output = doctor(capsys, data, "--json")

    assert {("record", "what", "status", "detail", "mend")} == {tuple(record) for record in records(output)}
    assert {"check"} == {record["record"] for record in records(output)}


def test_what_is_wrong_does_not_change_the_exit_code(capsys, tmp_path):
    """Doctor has done its work when it has told; only --exit-code makes what it tells an exit code."""
    assert 0 == doctor(capsys, tmp_path / "new")[0]
    assert 1 == doctor(capsys, tmp_path / "new", "--exit-code")[0]


def test_the_exit_code_is_0_where_all_is_ok(capsys, data, monkeypatch):
    """With --exit-code, 0 says that each line is ok."""
    monkeypatch.setattr("tidings.service.health.doctor.examine", lambda *given, **more: iter(()))

    assert 0 == doctor(capsys, data, "--exit-code")[0]


@pytest.mark.parametrize(
    "content", [b"", b"garbage" * 100, b"SQLite format 3\0" + b"\xff" * 9_000], ids=["empty", "garbage", "magic"]
)
def test_a_damaged_database_is_a_line(capsys, data, content):
    """A database that cannot be opened is a line with the command that mends it."""
    (data / "tidings.db").write_bytes(content)
    code, output = doctor(capsys, data, "--json", "--exit-code")
    (line,) = [record for record in records(output) if record["what"] == "database"]

    assert (1, "fail") == (code, line["status"])
    assert f"cp BACKUP {data}/tidings.db" in line["mend"]


def test_a_deep_look_restores_bodies(capsys, data):
    """--deep says that it has verified every body."""
    _, shallow = doctor(capsys, data)
    _, deep = doctor(capsys, data, "--deep")

    assert "--deep verifies them" in shallow
    assert "verified by its hash" in deep


def test_what_a_page_brought_cannot_command_the_terminal(capsys, data):
    """A reason with control characters is spelled out."""
    opened = open_database(Settings(data=data))
    opened.write(
        lambda c: c.execute("UPDATE page SET health = 'error', kind = 'net', reason = :reason", reason="a\x1b[2Jb")
    )
    opened.close()
    _, output = doctor(capsys, data)

    assert r"a\u001b[2Jb" in output
    assert "\x1b" not in output
