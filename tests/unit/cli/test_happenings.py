"""Outside events on the command line: add, list, show, drop and apply."""

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
    """Add an event of a webhook, and a sentinel that waits for it."""
    file = tmp_path / "a.sentinel"
    file.write_text(TEXT, encoding="utf-8")
    assert 0 == tidings("add", str(file)).code
    return tidings


def test_event_is_shown_with_its_token_and_waiting_sentinels(added: Tidings):
    """No other command prints the token."""
    (record,) = added("show", "deploy", "--json").records
    shown = added("show", "deploy").out

    assert ("event", "webhook", ["shop"], 0) == tuple(record[n] for n in ("record", "origin", "sentinels", "happened"))
    assert record["token"].startswith("whsec_")
    assert "http://127.0.0.1:8780/api/v1/hooks/deploy" == record["address"]
    assert all(text in shown for text in (record["token"], record["address"], "waited for by shop", "has not happened"))
    others = [added(*words) for words in (["list"], ["list", "--json"], ["show", "shop"], ["secret", "list", "--json"])]
    assert [] == [ran.out for ran in others if record["token"] in ran.out]


def test_sentinel_that_waits_for_an_event_says_so(added: Tidings):
    """The start time is unknown, so the reason is shown."""
    assert "From event(deploy)" in added("show", "shop").out


def test_events_are_listed_in_their_own_table(added: Tidings):
    """The records of events have their own kind."""
    assert ["sentinel", "event"] == [record["record"] for record in added("list", "--json").records]
    assert "EVENT   TIMES  LAST (UTC)  FROM" in added("list").out
    assert "EVENT" not in added("list", "--tag", "x").out


def test_event_is_dropped_only_if_no_sentinel_waits(added: Tidings):
    """The error names the sentinels, and nothing is dropped. One command can drop both."""
    refused = added("drop", "deploy")
    gone = added("drop", "shop", "deploy")

    assert (2, True) == (refused.code, "shop would wait for ever" in refused.err)
    assert (0, True) == (gone.code, "event deploy is dropped" in gone.out)
    assert 2 == added("show", "deploy").code
    assert [] == added("list", "--json").records


def test_event_and_sentinel_may_share_a_name(added: Tidings, tmp_path: Path):
    """`show` shows both; `drop` drops the sentinel first."""
    file = tmp_path / "b.sentinel"
    file.write_text("Drop shop Create Sentinel deploy Using https://x.example/ Monitor any change", encoding="utf-8")
    added("add", str(file))

    assert ["event", "sentinel"] == [record["record"] for record in added("show", "deploy", "--json").records]
    added("drop", "deploy")
    assert ["event"] == [record["record"] for record in added("show", "deploy", "--json").records]


def test_apply_creates_and_alters_events(tidings: Tidings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A webhook keeps its token while it is unchanged, whatever the order of the files."""
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


def test_prune_drops_only_events_that_apply_made(tidings: Tidings, tmp_path: Path):
    """A dry run only reports it. An event that `add` made stays."""
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


def test_event_that_add_made_again_is_not_pruned(tidings: Tidings, tmp_path: Path):
    """A user has dropped the event of the file and added one of the same name."""
    file = tmp_path / "a.sentinel"
    file.write_text("Create Event deploy Using webhook", encoding="utf-8")
    tidings("apply", str(file))
    tidings("drop", "deploy")
    tidings("add", str(file))
    file.write_text("-- nothing", encoding="utf-8")

    assert ["left alone"] == [r["action"] for r in tidings("apply", str(file), "--prune", "--json").records]


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_prune_is_refused_while_a_sentinel_waits_for_the_event(tidings: Tidings, tmp_path: Path, dry: list[str]):
    """The sentinel would wait forever. Nothing is dropped, not even sentinels that could be."""
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
def test_sentinel_that_waits_for_an_unknown_event_is_refused(tidings: Tidings, tmp_path: Path, verb: str):
    """All commands that read the text report E20."""
    file = tmp_path / "a.sentinel"
    file.write_text(TEXT.splitlines()[2], encoding="utf-8")
    ran = tidings(verb, str(file))

    assert (2, True) == (ran.code, 'E20 there is no event "deploy"' in ran.err)


def test_token_of_an_event_is_dropped_only_with_its_event(added: Tidings):
    """The list of secrets shows the token with the name of the event."""
    (row,) = [row for row in added("secret", "list").out.splitlines() if row.startswith("hook:deploy")]
    refused = added("secret", "drop", "hook:deploy", "--force")

    assert row.endswith("event deploy")
    assert (2, True) == (refused.code, "Drop Event deploy" in refused.err)
    added("drop", "shop", "deploy")
    assert "hook:deploy" not in added("secret", "list").out
