"""Promise: before a sentinel is stored, `test` shows what each Compare option would have reported
for the stored versions.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.world import World, serve
from tidings.cli.main import main
from tidings.clock import HOUR

EXPECTED = {
    "every 2": [(1, 3), (3, 5)],
    "pairwise": [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6)],
    "moving 2": [(1, 2), (1, 3), (2, 4), (3, 5), (4, 6)],
    "first": [(1, 2), (1, 3), (1, 4), (1, 5), (1, 6)],
}


def run(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, *more: str) -> list[str]:
    """Test statements; return the output."""
    file = tmp_path / "new.sentinel"
    file.write_text(world.text(text))
    sets = [part for name, value in world.flags.items() for part in ("--set", f"{name}={value}")]
    assert 0 == main(["--data", str(world.directory), *sets, "test", str(file), *more])
    return capsys.readouterr().out.splitlines()


def history(world: World, *bodies: str) -> None:
    """Serve each body for an hour to another sentinel."""
    world.add("Create Sentinel there Using {/a} Monitor any change Fetch every 1 hour")

    with serve(world) as service:
        for body in bodies:
            world.page("/a", body)
            service.pass_time(HOUR)


def pairs(option: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the versions between which an option would have reported a change."""
    ends = [(r["from_version"], r["to_version"]) for r in option["reports"]]
    return [(int(old.partition(".")[2]), int(new.partition(".")[2])) for old, new in ends]


def test_each_option_is_shown_for_the_stored_versions(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Six versions: the options differ in what they report; changes outside the selection are none;
    nothing is stored.
    """
    history(world, *(f"<p>word{k}</p>" for k in range(6)))
    text = "Create Sentinel new Using {/a} Monitor {} Compare every 2"
    (words,) = map(json.loads, run(world, tmp_path, capsys, text.replace("{}", "all words"), "--json"))
    (links,) = map(json.loads, run(world, tmp_path, capsys, text.replace("{}", "links"), "--json"))
    shown = run(world, tmp_path, capsys, text.replace("{}", "all words"))

    assert EXPECTED == {option["compare"]: pairs(option) for option in words["hindsight"]}
    assert [True, False, False, False] == [option["own"] for option in words["hindsight"]]
    assert [True, False] == [r["partial"] for r in words["hindsight"][2]["reports"]][:2]
    assert not any(option["reports"] for option in links["hindsight"])
    assert "    stored   6 versions; the sentinel would have reported, for each Compare:" in shown
    assert "      every 2    * 2 changes: 1→3, 3→5" in shown
    assert "      moving 2     5 changes: 1→2 (partial), 1→3, 2→4, 3→5, 4→6" in shown
    assert 6 == len(world.versions())
    assert ["there"] == [name for name in ("there", "new") if _exists(world, name)]


def _exists(world: World, name: str) -> bool:
    return bool(world.events("sentinel.created")) and any(
        e.data["name"] == name for e in world.events("sentinel.created")
    )


def test_returning_part_is_compared_across_the_gap(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Two versions lack the part: no change there, then a comparison with the part before."""
    history(
        world,
        *(
            f"<p>{k}</p><div id=price>{price}</div>" if price else f"<p>{k}</p>"
            for k, price in enumerate([5, 0, 0, 6, 6])
        ),
    )
    (tried,) = map(
        json.loads,
        run(world, tmp_path, capsys, 'Create Sentinel new Using {/a} Monitor all words in css "#price"', "--json"),
    )

    assert [(1, 4)] == pairs(tried["hindsight"][0])


def test_unknown_page_has_no_trial(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Of a page that is looked at for the first time there is nothing to show."""
    world.page("/new", "<p>x</p>")
    (tried,) = map(json.loads, run(world, tmp_path, capsys, "Create Sentinel new Using {/new} Monitor links", "--json"))

    assert [] == tried["hindsight"]
