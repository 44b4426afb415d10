"""`tidings doctor` prints a line for each check and never a traceback."""

import json
import shlex
from pathlib import Path

import pytest

from tests.stores import World
from tidings.cli.main import main
from tidings.settings import Settings
from tidings.storage.db.database import open_database


@pytest.fixture
def data(products, tmp_path):
    """Yield a data directory with a page that was polled once."""
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


def test_text_has_a_line_for_each_check_and_counts(capsys, data):
    """Each line has a status, a name and a detail."""
    code, output = doctor(capsys, data)
    *lines, empty, counts = output.splitlines()

    assert (0, "") == (code, empty)
    assert {"ok", "warn"} <= {line.split()[0] for line in lines} <= {"ok", "warn", "fail"}
    assert len(lines) == sum(int(part.split()[0]) for part in counts.split(", "))


def test_json_has_a_record_for_each_check(capsys, data):
    """All records have the same fields."""
    _, output = doctor(capsys, data, "--json")

    assert {("record", "what", "status", "detail", "mend")} == {tuple(record) for record in records(output)}
    assert {"check"} == {record["record"] for record in records(output)}


def test_exit_code_is_0_unless_exit_code_is_asked_for(capsys, tmp_path):
    """Without `--exit-code`, a report of faults is a success."""
    assert 0 == doctor(capsys, tmp_path / "new")[0]
    assert 1 == doctor(capsys, tmp_path / "new", "--exit-code")[0]


def test_exit_code_is_0_if_all_is_ok(capsys, data, monkeypatch):
    """The flag `--exit-code` is set."""
    monkeypatch.setattr("tidings.service.health.doctor.examine", lambda *given, **more: iter(()))

    assert 0 == doctor(capsys, data, "--exit-code")[0]


@pytest.mark.parametrize(
    "content", [b"", b"garbage" * 100, b"SQLite format 3\0" + b"\xff" * 9_000], ids=["empty", "garbage", "magic"]
)
def test_damaged_database_is_one_line_with_its_fix(capsys, data, content):
    """The other checks are still made."""
    (data / "tidings.db").write_bytes(content)
    code, output = doctor(capsys, data, "--json", "--exit-code")
    (line,) = [record for record in records(output) if record["what"] == "database"]

    assert (1, "fail") == (code, line["status"])
    assert line["mend"].startswith("tidings restore --replace BACKUP  #")


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"junk"), Path.unlink], ids=["damaged", "lost"])
def test_fix_of_a_damaged_database_works(capsys, tmp_path, damage):
    """The printed command, with the name of a backup, puts everything right."""
    data, backup = tmp_path / "data", tmp_path / "backup.tar"
    text = "Create Sentinel news Using https://example.org/ Monitor any change"
    assert 0 == main(["--data", str(data), "add", "--no-check", text])
    assert 0 == main(["--data", str(data), "backup", str(backup)])
    damage(data / "tidings.db")
    capsys.readouterr()
    (line,) = [one for one in records(doctor(capsys, data, "--json")[1]) if one["what"] == "database"]

    command = line["mend"].partition("  #")[0].replace("BACKUP", str(backup))
    assert 0 == main(["--data", str(data), *shlex.split(command)[1:]])

    capsys.readouterr()
    assert [] == [one for one in records(doctor(capsys, data, "--json")[1]) if one["status"] == "fail"]
    main(["--data", str(data), "list"])
    assert "news" in capsys.readouterr().out


def test_deep_flag_verifies_bodies(capsys, data):
    """Without it, the line names the flag."""
    _, shallow = doctor(capsys, data)
    _, deep = doctor(capsys, data, "--deep")

    assert "--deep verifies them" in shallow
    assert "verified by its hash" in deep


def test_control_characters_of_a_page_are_escaped(capsys, data):
    """Unescaped characters could control the terminal."""
    opened = open_database(Settings(data=data))
    opened.write(
        lambda c: c.execute("UPDATE page SET health = 'error', kind = 'net', reason = :reason", reason="a\x1b[2Jb")
    )
    opened.close()
    _, output = doctor(capsys, data)

    assert r"a\u001b[2Jb" in output
    assert "\x1b" not in output
