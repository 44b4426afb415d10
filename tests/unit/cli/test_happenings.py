"""Events of other origin on the command line: add, list, show, drop, apply."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Tidings

TEXT = """
Create Event deploy Using webhook
Create Sentinel shop Using https://shop.example/ Monitor all words From event(deploy) Fetch on event(deploy)
"""


@pytest.fixture
def added(tidings: Tidings, tmp_path: Path) -> Tidings:
    """An event that a webhook brings, and a sentinel that waits for it."""
    file = tmp_path / "a.sentinel"
    file.write_text(TEXT, encoding="utf-8")
    assert 0 == tidings("add", str(file)).code
    return tidings


def test_an_event_is_shown_with_its_token_and_who_waits(added: Tidings):
    """Where it is told, with what token, who waits; nothing else prints the token."""
    (record,) = added("show", "deploy", "--json").records
    shown = added("show", "deploy").out

    assert ("event", "webhook", ["shop"], 0) == tuple(record[n] for n in ("record", "origin", "sentinels", "happened"))
    assert record["token"].startswith("whsec_")
    assert "http://127.0.0.1:8780/api/v1/hooks/deploy" == record["address"]
    assert all(said in shown for said in (record["token"], record["address"], "waited for by shop", "has not happened"))
    others = [added(*words) for words in (["list"], ["list", "--json"], ["show", "shop"], ["secret", "list", "--json"])]
    assert [] == [ran.out for ran in others if record["token"] in ran.out]


def test_what_waits_for_an_event_says_so(added: Tidings):
    """The start of a sentinel that waits is known to nobody, and said why."""
    assert "From event(deploy)" in added("show", "shop").out


def test_events_are_listed_beside_sentinels(added: Tidings):
    """A table of their own, and records of their own."""
    assert ["sentinel", "event"] == [record["record"] for record in added("list", "--json").records]
    assert "EVENT   TIMES  LAST (UTC)  FROM" in added("list").out
    assert "EVENT" not in added("list", "--tag", "x").out


def test_an_event_goes_when_nobody_waits(added: Tidings):
    """A refusal names who waits and drops nothing; both can go in one verb."""
    refused = added("drop", "deploy")
    gone = added("drop", "shop", "deploy")

    assert (2, True) == (refused.code, "shop would wait for ever" in refused.err)
    assert (0, True) == (gone.code, "event deploy is dropped" in gone.out)
    assert 2 == added("show", "deploy").code
    assert [] == added("list", "--json").records


def test_a_name_may_be_that_of_both(added: Tidings, tmp_path: Path):
    """A sentinel may be called as an event is: show shows both, drop drops the sentinel first."""
    file = tmp_path / "b.sentinel"
    file.write_text("Drop shop Create Sentinel deploy Using https://x.example/ Monitor any change", encoding="utf-8")
    added("add", str(file))

    assert ["event", "sentinel"] == [record["record"] for record in added("show", "deploy", "--json").records]
    added("drop", "deploy")
    assert ["event"] == [record["record"] for record in added("show", "deploy", "--json").records]


def test_apply_makes_events_as_files_say(tidings: Tidings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Created, left as it is, altered; a webhook keeps its token, whatever the order of the files."""
    monkeypatch.setenv("TIDINGS_EVENTS_ALLOW_COMMANDS", "true")
    folder = tmp_path / "all"
    folder.mkdir()
    (folder / "a.sentinel").write_text(TEXT.splitlines()[2], encoding="utf-8")
    (folder / "b.sentinel").write_text(TEXT.splitlines()[1], encoding="utf-8")

    def apply() -> list[tuple[str, str, str]]:
        return [(r["record"], r["name"], r["action"]) for r in tidings("apply", str(folder), "--json").records]

    assert [("event", "deploy", "created"), ("sentinel", "shop", "created")] == apply()
    token = tidings("show", "deploy", "--json").records[0]["token"]
    assert [("event", "deploy", "unchanged"), ("sentinel", "shop", "unchanged")] == apply()
    assert token == tidings("show", "deploy", "--json").records[0]["token"]
    (folder / "b.sentinel").write_text('Create Event deploy Using command "/bin/true"', encoding="utf-8")
    assert [("event", "deploy", "altered"), ("sentinel", "shop", "unchanged")] == apply()
    assert "" == tidings("show", "deploy", "--json").records[0]["token"]


def test_pruning_drops_events_that_apply_made(tidings: Tidings, tmp_path: Path):
    """An event that no file names any more goes as a sentinel does, in a dry run only as a word; one that `add` made stays."""
    folder = tmp_path / "all"
    folder.mkdir()
    file = folder / "a.sentinel"
    (tmp_path / "mine.sentinel").write_text("Create Event mine Using webhook", encoding="utf-8")
    tidings("add", str(tmp_path / "mine.sentinel"))
    file.write_text("Create Event deploy Using webhook Create Event nightly Using webhook", encoding="utf-8")
    tidings("apply", str(folder))
    file.write_text("Create Event nightly Using webhook", encoding="utf-8")

    dry = tidings("apply", str(folder), "--prune", "--dry-run")
    kept = [record["name"] for record in tidings("list", "--json").records]
    done = tidings("apply", str(folder), "--prune", "--json").records

    assert "event deploy: would be dropped (no file has it now)" in dry.out
    assert ["deploy", "mine", "nightly"] == kept
    assert [("nightly", "unchanged"), ("deploy", "dropped"), ("mine", "left alone")] == [
        (r["name"], r["action"]) for r in done if r["record"] == "event"
    ]
    assert ["mine", "nightly"] == [record["name"] for record in tidings("list", "--json").records]


def test_an_event_made_again_by_add_is_not_pruned(tidings: Tidings, tmp_path: Path):
    """Whoever dropped the files' event and made one of the same name by hand keeps it."""
    file = tmp_path / "a.sentinel"
    file.write_text("Create Event deploy Using webhook", encoding="utf-8")
    tidings("apply", str(file))
    tidings("drop", "deploy")
    tidings("add", str(file))
    file.write_text("-- nothing", encoding="utf-8")

    assert ["left alone"] == [r["action"] for r in tidings("apply", str(file), "--prune", "--json").records]


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_an_event_that_is_waited_for_is_not_pruned(tidings: Tidings, tmp_path: Path, dry: list[str]):
    """A sentinel that stays would wait for ever: pruning is refused whole, the sentinels that would go stay too."""
    file = tmp_path / "a.sentinel"
    file.write_text(
        "\n".join([*TEXT.splitlines()[1:3], TEXT.splitlines()[2].replace("shop", "other")]), encoding="utf-8"
    )
    tidings("apply", str(file))
    file.write_text(TEXT.splitlines()[2], encoding="utf-8")

    refused = tidings("apply", str(file), "--prune", *dry)

    assert (2, True) == (refused.code, "the event deploy cannot be dropped: shop would wait for ever" in refused.err)
    assert {"deploy", "shop", "other"} == {record["name"] for record in tidings("list", "--json").records}


@pytest.mark.parametrize("verb", ["add", "apply", "test"])
def test_a_sentinel_that_waits_for_nothing_known_is_refused(tidings: Tidings, tmp_path: Path, verb: str):
    """An event that is not there is E20 at its place, whoever reads the text."""
    file = tmp_path / "a.sentinel"
    file.write_text(TEXT.splitlines()[2], encoding="utf-8")
    ran = tidings(verb, str(file))

    assert (2, True) == (ran.code, 'E20 there is no event "deploy"' in ran.err)


def test_the_token_of_an_event_goes_with_it_only(added: Tidings):
    """It is listed among the secrets with what it is for, and is not dropped by itself."""
    (row,) = [row for row in added("secret", "list").out.splitlines() if row.startswith("hook:deploy")]
    refused = added("secret", "drop", "hook:deploy", "--force")

    assert row.endswith("event deploy")
    assert (2, True) == (refused.code, "Drop Event deploy" in refused.err)
    added("drop", "shop", "deploy")
    assert "hook:deploy" not in added("secret", "list").out
