"""Promise: the content of a part that appears is reported as inserted, if it meets the conditions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.world import World, serve
from tidings.clock import HOUR, MINUTE

JSON = {"Content-Type": "application/json"}
DONE = '[{"id": 1, "state": "done"}]'
FIRE = '[{"id": 1, "state": "done"}, {"id": 2, "state": "open", "t": "fire"}]'
FLOOD = FIRE.replace("fire", "flood")
OPEN = "in jsonpath \"$[?@.state=='open']\""
SHOP = '<h1>Lamp</h1><script type="application/ld+json">{{"@type": "Product", "offers": {{"price": "{}", "priceCurrency": "EUR"}}}}</script>'
PAGE, PART = "<p>a</p>", "<p>a</p><div id=x>Hello <a href=/you>you</a><ul><li>one</ul></div>"


def watch(world: World, text: str, bodies: list[str], **more: Any) -> list[dict[str, Any]]:
    """Return the messages for bodies that come one an hour."""
    hook = world.receiver()
    world.page("/p", bodies[0], **more)
    world.add(f"Create Sentinel s Using {{/p}} Monitor {text} Fetch every 1 hour Notify By webhook {hook} immediate")

    with serve(world) as service:
        service.settle()
        for body in bodies[1:]:
            world.page("/p", body, **more)
            service.pass_time(HOUR + MINUTE)
    assert [] == world.violations()
    return [message["data"] for _, message in world.received]


@pytest.mark.parametrize(
    ("text", "bodies", "words"),
    [
        (f"items {OPEN}", [DONE, FIRE], "fire"),
        (f"any change {OPEN}", [DONE, FIRE], '[id=2]: {"id": 2, "state": "open", "t": "fire"}'),
        (f'any change {OPEN} where contains "fire"', [DONE, FIRE], "fire"),
        (f'items inserted {OPEN} where contains "fire"', [DONE, FIRE], "fire"),
        ('any change in css "#x"', [PAGE, PART], "Hello you one"),
        ('all words in css "#x" where inserted >= 3', [PAGE, PART], "Hello you one"),
        ('links inserted in css "#x"', [PAGE, PART], "/you"),
        ('list in css "#x"', [PAGE, PART], "one"),
        ('keyword "hello" in css "#x"', [PAGE, PART], "hello"),
        ('number in css "#x" where value > 4', [PAGE, "<p id=x>5"], "5"),
        ("table 2", ["<table><tr><td>1</table>", "<table><tr><td>1</table><table><tr><td>new</table>"], "new"),
        ("price where value < 30", [SHOP.format(""), SHOP.format("20.00")], "20.00 EUR"),
    ],
)
def test_appearing_part_is_notified_with_its_text(world: World, text: str, bodies: list[str], words: str) -> None:
    """It is one message."""
    headers = JSON if bodies[0][0] == "[" else None
    (reported,) = watch(world, text, bodies, **({"headers": headers} if headers else {}))

    assert "change" == reported["record"]
    assert words in " ".join(reported["inserted"])
    assert ["part.appeared"] == [event.type for event in world.events("part.appeared")]


@pytest.mark.parametrize(
    ("text", "bodies"),
    [
        (f'items {OPEN} where contains "water"', [DONE, FIRE]),
        (f"any change deleted {OPEN}", [DONE, FIRE]),
        ('all words in css "#x" where contains "water"', [PAGE, PART]),
        ('number in css "#x" where value > 9', [PAGE, "<p id=x>5"]),
        ("price where value < 10", [SHOP.format(""), SHOP.format("20.00")]),
        ("price where drops by 10%", [SHOP.format(""), SHOP.format("20.00")]),
    ],
)
def test_appearing_part_that_fails_the_conditions_is_not_notified(world: World, text: str, bodies: list[str]) -> None:
    """It becomes the baseline."""
    headers = {"headers": JSON} if bodies[0][0] == "[" else {}

    assert [] == watch(world, text, bodies, **headers)
    assert ["part.appeared"] == [event.type for event in world.events("part.appeared")]


def test_later_change_is_compared_with_the_appeared_part(world: World) -> None:
    """The first message has the text, the second the edit of it."""
    first, second = watch(world, f"any change {OPEN}", [DONE, FIRE, FLOOD], headers=JSON)

    assert 1 == len(first["inserted"])
    assert [{"old": "t: fire", "new": "t: flood"}] == second["updated"]


def test_appearing_empty_part_is_notified_without_a_change(world: World) -> None:
    """There is no text to show, but `any change` was asked for."""
    (reported,) = watch(world, 'any change in css ".badge"', ["<p>a</p>", "<p>a</p><i class=badge></i>"])

    assert "problem" == reported["record"]
    assert "the selected part is now there" in reported["summary"]


def test_part_that_one_check_misses_does_not_appear(world: World) -> None:
    """The other of two parts changes meanwhile; the return of the first is not reported."""
    hook = world.receiver()
    world.page("/p", "<b id=a>1</b><b id=b>1</b>")
    world.add(
        'Create Sentinel s Using {/p} Monitor words in css "#a" OR words in css "#b" Fetch every 1 hour '
        f"Notify By webhook {hook} immediate"
    )

    with serve(world) as service:
        service.settle()
        world.page("/p", "<b id=a>2</b>")
        service.pass_time(HOUR + 30_000_000)
        world.page("/p", "<b id=a>2</b><b id=b>1</b>")
        service.pass_time(3 * HOUR)

    assert [[{"old": "1", "new": "2"}]] == [change["updated"] for change in world.changes()]
    assert [[]] == [change["inserted"] for change in world.changes()]
    assert ["change"] == [message["data"]["record"] for _, message in world.received]


def test_lost_part_that_returns_is_notified_with_its_text(world: World) -> None:
    """Its loss was notified before, while the other part stayed."""
    world.page("/p", "<b id=a>1</b><b id=b>1</b>")
    world.add('Create Sentinel s Using {/p} Monitor words in css "#a" OR words in css "#b" Fetch every 1 hour')

    with serve(world) as service:
        service.settle()
        world.page("/p", "<b id=a>1</b>")
        service.pass_time(3 * HOUR)
        world.page("/p", "<b id=a>1</b><b id=b>7</b>")
        service.pass_time(3 * HOUR)

    assert ["part.lost", "part.back"] == [event.type for event in world.events("part.lost", "part.back")]
    assert [["7"]] == [change["inserted"] for change in world.changes()]
    assert [] == world.violations()
