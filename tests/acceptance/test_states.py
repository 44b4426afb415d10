"""Promise: conditions on state: already true, lowest so far, lasting, never there before."""

from __future__ import annotations

import json
from typing import Any

from tests.world import play, serve
from tidings.clock import DAY, HOUR
from tidings.service.run.monitor import Monitor


def shop(price: str, stock: str = "InStock") -> str:
    """Return a page with a price."""
    offer = {"@type": "Product", "offers": {"price": price, "priceCurrency": "EUR", "availability": stock}}
    data = f'<script type="application/ld+json">{json.dumps(offer)}</script>'
    return f"<title>Shop</title>{data}<h1>Kettle</h1><p>A kettle of steel.</p>"


def prices(world: Any, *course: str) -> Any:
    """Return a story with another price each hour."""

    async def story(monitor: Monitor) -> None:
        for price in course:
            world.page("/shop", shop(price))
            await world.pass_time(monitor, HOUR)

    return story


def summaries(world: Any) -> list[str]:
    """Return the findings, in order."""
    return [row["summary"] for row in world.changes()]


def test_is_condition_can_hold_at_the_first_check(world):
    """`is below 100` notifies of a price that is below it at the first check, once; `below 100`
    waits for a change.
    """
    world.add(
        "Create Sentinel state Using {/shop} Monitor price is below 100 Fetch every 1 hour;"
        "Create Sentinel change Using {/shop} Monitor price below 100 Fetch every 1 hour"
    )

    play(world, prices(world, "95.00", "95.00", "95.00"))

    assert ['price "95.00 EUR" (already true at the first check)'] == summaries(world)
    assert [] == world.violations()


def test_condition_that_becomes_true_later_is_notified(world):
    """A price above 100 at the first check is no news; a shop that has the thing is, where that is
    asked for.
    """
    world.add(
        "Create Sentinel price Using {/shop} Monitor price is below 100 Fetch every 1 hour;"
        'Create Sentinel stock Using {/shop} Monitor availability is "in stock" Fetch every 1 hour'
    )

    play(world, prices(world, "120.00", "120.00", "95.00"))

    assert [
        'availability "InStock" (already true at the first check)',
        'price changed: "120.00 EUR" → "95.00 EUR"',
    ] == summaries(world)
    assert [] == world.violations()


def test_lowest_value_so_far_is_notified(world):
    """Only a price below all earlier ones is, also after a restart; with 2 hours, below those of
    the last two hours.
    """
    world.add(
        "Create Sentinel low Using {/shop} Monitor price lowest so far Fetch every 1 hour;"
        "Create Sentinel high Using {/shop} Monitor price above the highest of 2 hours Fetch every 1 hour"
    )

    play(world, prices(world, "100.00", "90.00", "95.00", "92.00"))
    play(world, prices(world, "89.00", "91.00", "93.00"))

    by_name = {name: [row["summary"] for row in world.changes(name)] for name in ("low", "high")}
    assert ['price changed: "100.00 EUR" → "90.00 EUR"', 'price changed: "92.00 EUR" → "89.00 EUR"'] == by_name["low"]
    assert ['price changed: "91.00 EUR" → "93.00 EUR"'] == by_name["high"]
    assert [] == world.violations()


def test_availability_is_written_in_plain_words(world):
    """`becomes "in stock"` matches an offer with InStock."""
    world.add('Create Sentinel stock Using {/shop} Monitor availability becomes "in stock" Fetch every 1 hour')

    with serve(world) as service:
        for stock in ("OutOfStock", "InStock", "OutOfStock"):
            world.page("/shop", shop("100.00", stock))
            service.pass_time(HOUR)

    assert ['availability changed: "OutOfStock" → "InStock"'] == summaries(world)


def test_condition_must_hold_for_two_checks(world):
    """A price that is low at two checks is notified at the second, also if the page did not change."""
    world.add("Create Sentinel low Using {/shop} Monitor price below 100 for 2 checks Fetch every 1 hour")

    play(world, prices(world, "120.00", "95.00", "120.00", "120.00", "90.00"))
    early = summaries(world)
    play(world, prices(world, "90.00", "90.00", "90.00"))

    assert [] == early
    assert ['price changed: "120.00 EUR" → "90.00 EUR"'] == summaries(world)
    assert [] == world.violations()


def test_condition_must_hold_for_some_hours(world):
    """True at noon is notified at three, also from the first check on; the time continues across a
    restart.
    """
    world.add(
        "Create Sentinel low Using {/shop} Monitor price below 100 for at least 3 hours Fetch every 1 hour;"
        "Create Sentinel state Using {/shop} Monitor price is above 100 for at least 2 hours Fetch every 1 hour"
    )

    play(world, prices(world, "120.00", "120.00", "120.00", "95.00", "94.00"))
    play(world, prices(world, "94.00", "94.00", "94.00"))

    by_name = {name: [row["summary"] for row in world.changes(name)] for name in ("low", "state")}
    assert ['price changed: "120.00 EUR" → "94.00 EUR"'] == by_name["low"]
    assert ['price "120.00 EUR" (already true at the first check)'] == by_name["state"]
    assert [] == world.violations()


def test_short_outage_is_not_notified(world):
    """Any change can be required to last."""
    world.add("Create Sentinel text Using {/shop} Monitor text for at least 2 checks Fetch every 1 day")
    usual, other = (f"<h1>Shop</h1><p>{words}</p>" for words in ("We are open as always.", "We are closed for now."))

    with serve(world) as service:
        for body in (usual, usual, other, usual, usual, other, other):
            world.page("/shop", body)
            service.pass_time(DAY)

    assert 1 == len(world.changes())


LINKS = ("a", "b"), ("a", "c"), ("b", "d"), ("a", "b", "e")


def test_only_links_and_lines_never_seen_are_new(world):
    """This holds also after a restart."""
    world.add(
        "Create Sentinel links Using {/list} Monitor links never seen before Fetch every 1 hour;"
        "Create Sentinel list Using {/list} Monitor list never seen before Fetch every 1 hour;"
        "Create Sentinel lines Using {/list} Monitor text never seen before Fetch every 1 hour"
    )

    def show(names: tuple[str, ...]) -> str:
        items = "".join(f"<li><a href='/{name}'>The offer {name * 3} of today</a></li>" for name in names)
        return f"<h1>Offers</h1><p>All that we have got to offer you now.</p><ul>{items}</ul>"

    async def story(monitor: Monitor) -> None:
        for names in LINKS[:2]:
            world.page("/list", show(names))
            await world.pass_time(monitor, HOUR)

    async def later(monitor: Monitor) -> None:
        for names in LINKS[2:]:
            world.page("/list", show(names))
            await world.pass_time(monitor, HOUR)

    play(world, story)
    play(world, later)

    found = {name: [row["inserted"] for row in world.changes(name)] for name in ("links", "list", "lines")}
    texts = [[f"The offer {name * 3} of today"] for name in "cde"]
    assert [[world.server.url(f"/{name}")] for name in "cde"] == found["links"]
    assert texts == found["list"]
    assert texts == found["lines"]
    assert [] == world.violations()
