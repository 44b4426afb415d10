"""Promise: a selector that finds nothing any more is healed where that is beyond doubt, and says so; else the part is told as lost (detection §4.4)."""

from __future__ import annotations

import json

import pytest

from tests.world import World, serve
from tidings.cli.main import main
from tidings.clock import HOUR

PARTS = ("part.lost", "part.back", "part.healed", "part.appeared")


def shop(price: str, *, name: str = "price", more: str = "") -> str:
    """Return a page of a shop; `name` is what the class of its price is called."""
    rows = "".join(f"<tr><th>{row}</th><td>{row} of brass</td></tr>" for row in ("Stand", "Shade", "Cord"))
    return (
        f"<html><body><div class=shop><h1>Lamp of brass</h1><p>In our shop for years.</p>{more}"
        f"<div class=buy><b>Price today</b> <span class={name}>{price} EUR with tax</span> <i>plus postage</i></div>"
        f"<table>{rows}</table></div></body></html>"
    )


def follow(world: World, bodies: list[str], *, monitor: str = 'words in css ".price"', more: str = "") -> list[str]:
    """Watch a page that shows these bodies, five hours each; return what was told."""
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


def test_a_class_of_another_name_is_found_again_and_told(world: World) -> None:
    """Told once with what was and what is; what changed meanwhile is told as a change, and so is what comes after."""
    told = follow(world, [shop("19"), shop("18", name="amount"), shop("17", name="amount")])

    assert ["part.healed"] == [event.type for event in world.events(*PARTS)]
    assert HEALED in told
    assert [[("19", "18")], [("18", "17")]] == [[(p["old"], p["new"]) for p in c["updated"]] for c in world.changes()]
    assert all("(selector healed: css" in change["summary"] for change in world.changes())
    assert 3 == len(told)


def test_versions_are_compared_as_they_were_found(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """`tidings diff` of versions before and after looks where the sentinel looked."""
    follow(world, [shop("19"), shop("18", name="amount")])
    capsys.readouterr()

    main(["--data", str(world.directory), "diff", "s", "--json"])
    assert [{"old": "19", "new": "18"}] == json.loads(capsys.readouterr().out)["updated"]
    main(["--data", str(world.directory), "diff", "s", "--view", "single"])
    assert "18" in capsys.readouterr().out


def test_where_two_places_are_as_like_the_part_is_lost(world: World) -> None:
    """Nothing is guessed."""
    twice = shop(
        "18",
        name="amount",
        more="<div class=buy><b>Price today</b> <span class=amount>20 EUR with tax</span> <i>plus postage</i></div>",
    )
    told = follow(world, [shop("19"), twice])

    assert ["part.lost"] == [event.type for event in world.events(*PARTS)]
    assert ['the selected part is gone: css ".price" no longer matches anything on the page'] == told


def test_a_part_that_was_taken_out_is_lost(world: World) -> None:
    """The page without it holds nothing that is like it."""
    gone = shop("19").replace("<span class=price>19 EUR with tax</span>", "")

    assert 1 == len(follow(world, [shop("19"), gone]))
    assert ["part.lost"] == [event.type for event in world.events(*PARTS)]


def test_the_selector_itself_is_used_again_once_it_finds_something(world: World) -> None:
    """What stands in for it is forgotten."""
    follow(world, [shop("19"), shop("18", name="amount"), shop("17"), shop("16")])

    assert [("19", "18"), ("18", "17"), ("17", "16")] == [
        (p["old"], p["new"]) for c in world.changes() for p in c["updated"]
    ]
    assert "healed" not in world.changes()[-1]["summary"]


def test_it_can_be_switched_off(world: World) -> None:
    """`detect.heal = false`: what is not found is lost."""
    world.flags["detect.heal"] = "false"
    follow(world, [shop("19"), shop("18", name="amount")])

    assert ["part.lost"] == [event.type for event in world.events(*PARTS)]


def test_show_says_what_is_watched_and_alter_keeps_it(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The selector that is used now, as it is to be written; once it is the sentinel's own nothing more is said, and nothing is told of the switch."""
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
