"""Promise: a selector that finds nothing is repaired if that is certain, with a notice; else the
part is reported as lost (detection §4.4).
"""

from __future__ import annotations

import json

import pytest

from tests.world import World, serve
from tidings.cli.main import main
from tidings.clock import HOUR

PARTS = ("part.lost", "part.back", "part.healed", "part.appeared")


def shop(price: str, *, name: str = "price", more: str = "") -> str:
    """Return a page of a shop; `name` is the class of its price."""
    rows = "".join(f"<tr><th>{row}</th><td>{row} of brass</td></tr>" for row in ("Stand", "Shade", "Cord"))
    return (
        f"<html><body><div class=shop><h1>Lamp of brass</h1><p>In our shop for years.</p>{more}"
        f"<div class=buy><b>Price today</b> <span class={name}>{price} EUR with tax</span> <i>plus postage</i></div>"
        f"<table>{rows}</table></div></body></html>"
    )


def follow(world: World, bodies: list[str], *, monitor: str = 'words in css ".price"', more: str = "") -> list[str]:
    """Watch a page with these bodies, five hours each; return the messages."""
    hook = world.receiver()
    world.page("/p", bodies[0])
    world.add(
        f"Create Sentinel s Using {{/p}} Monitor {monitor} Fetch every 1 hour Notify By webhook {hook} immediate {more}"
    )

    with serve(world) as service:
        service.settle()
        for body in bodies[1:]:
            world.page("/p", body)
            service.pass_time(5 * HOUR)
    assert [] == world.violations()
    return [message["data"]["summary"] for _, message in world.received]


HEALED = (
    'selector healed: css ".price" no longer matches anything; css "span.amount" is watched instead (78% alike):'
    ' "19 EUR with tax" → "18 EUR with tax"'
)


def test_renamed_class_is_healed_and_notified(world: World) -> None:
    """The notice has both selectors, once; a change meanwhile and later ones are reported as
    changes.
    """
    reported = follow(world, [shop("19"), shop("18", name="amount"), shop("17", name="amount")])

    assert ["part.healed"] == [event.type for event in world.events(*PARTS)]
    assert HEALED in reported
    assert [[("19", "18")], [("18", "17")]] == [[(p["old"], p["new"]) for p in c["updated"]] for c in world.changes()]
    assert all("(selector healed: css" in change["summary"] for change in world.changes())
    assert 3 == len(reported)


def test_diff_uses_the_selector_of_each_version(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """`tidings diff` compares versions before and after the repair."""
    follow(world, [shop("19"), shop("18", name="amount")])
    capsys.readouterr()

    main(["--data", str(world.directory), "diff", "s", "--json"])
    assert [{"old": "19", "new": "18"}] == json.loads(capsys.readouterr().out)["updated"]
    main(["--data", str(world.directory), "diff", "s", "--view", "single"])
    assert "18" in capsys.readouterr().out


def test_ambiguous_part_is_lost(world: World) -> None:
    """Two places match equally well."""
    twice = shop(
        "18",
        name="amount",
        more="<div class=buy><b>Price today</b> <span class=amount>20 EUR with tax</span> <i>plus postage</i></div>",
    )
    reported = follow(world, [shop("19"), twice])

    assert ["part.lost"] == [event.type for event in world.events(*PARTS)]
    assert ['the selected part is gone: css ".price" no longer matches anything on the page'] == reported


def test_removed_part_is_lost(world: World) -> None:
    """Nothing on the page is similar."""
    gone = shop("19").replace("<span class=price>19 EUR with tax</span>", "")

    assert 1 == len(follow(world, [shop("19"), gone]))
    assert ["part.lost"] == [event.type for event in world.events(*PARTS)]


def test_original_selector_is_preferred_when_it_matches_again(world: World) -> None:
    """The substitute is forgotten."""
    follow(world, [shop("19"), shop("18", name="amount"), shop("17"), shop("16")])

    assert [("19", "18"), ("18", "17"), ("17", "16")] == [
        (p["old"], p["new"]) for c in world.changes() for p in c["updated"]
    ]
    assert "healed" not in world.changes()[-1]["summary"]


def test_healing_can_be_switched_off(world: World) -> None:
    """With `detect.heal = false` the part is lost."""
    world.flags["detect.heal"] = "false"
    follow(world, [shop("19"), shop("18", name="amount")])

    assert ["part.lost"] == [event.type for event in world.events(*PARTS)]


def test_show_has_the_substitute_and_alter_keeps_it(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """After the sentinel is altered to it there is no notice, and the switch is no change."""
    follow(world, [shop("19"), shop("18", name="amount")])
    main(["--data", str(world.directory), "show", "s"])
    shown = capsys.readouterr().out
    main(["--data", str(world.directory), "show", "s", "--json"])
    (page,) = json.loads(capsys.readouterr().out)["pages"]
    main(["--data", str(world.directory), "alter", "s", 'Monitor words in css "span.amount"'])
    before = len(world.changes())

    with serve(world) as service:
        service.pass_time(2 * HOUR)
    capsys.readouterr()
    main(["--data", str(world.directory), "show", "s"])

    assert 'selector healed: css ".price" matches nothing, css "span.amount" is watched instead' in shown
    assert [{"selector": 'css ".price"', "stand_in": 'css "span.amount"'}] == page["healed"]
    assert before == len(world.changes())
    assert "is watched" not in capsys.readouterr().out
