"""Promise: the history of a watched value is kept across restarts and shown by `history --values`."""

from __future__ import annotations

import json
from typing import Any

from tests.world import serve
from tidings.clock import HOUR
from tidings.storage.watches import values


def shop(price: str, fares: tuple[int, int] = (12, 41)) -> str:
    """Return a page with a price, and a table of two fares."""
    offer = json.dumps({"@type": "Product", "offers": {"price": price, "priceCurrency": "EUR"}})
    rows = "".join(
        f"<tr><td>{city}</td><td>{fare}</td></tr>" for city, fare in zip(("Berlin", "Oslo"), fares, strict=True)
    )
    return f'<script type="application/ld+json">{offer}</script><p>A kettle</p><table><tr><th>City</th><th>Fare</th></tr>{rows}</table>'


def course(world: Any, sentinel_id: int) -> list[tuple[str, str]]:
    """Return (name, value) of a sentinel's values, the oldest first."""
    return [(value.label, value.text) for value in world.read(values.listing, sentinel_id)]


def test_value_history_is_kept_across_restarts(world):
    """A price, cells of a table and a JSON value; an equal value adds nothing."""
    world.page("/shop", shop("129.00"))
    world.page("/api", '{"rate": 1.5, "other": 1}')
    world.add(
        "Create Sentinel price Using {/shop} Monitor price Fetch every 1 hour;"
        "Create Sentinel fares Using {/shop} Monitor table 1 Fetch every 1 hour;"
        'Create Sentinel rate Using {/api} Monitor any change in jsonpath "$.rate" Fetch every 1 hour'
    )

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        world.page("/shop", shop("119.00"))
        world.page("/api", '{"rate": 1.5, "other": 2}')
        service.pass_time(2 * HOUR)
    with serve(world) as service:
        world.page("/shop", shop("119.00", (12, 45)))
        world.page("/api", '{"rate": 1.75, "other": 2}')
        service.pass_time(2 * HOUR)

    assert [("price", "129.00 EUR"), ("price", "119.00 EUR")] == course(world, 1)
    assert [
        ("table 1: Berlin, Fare", "12"),
        ("table 1: Oslo, Fare", "41"),
        ("table 1: Oslo, Fare", "45"),
    ] == course(world, 2)
    assert [('text in jsonpath "$.rate"', "1.5"), ('text in jsonpath "$.rate"', "1.75")] == course(world, 3)
    assert [] == world.violations()


def test_withheld_page_has_no_value(world):
    """Such as a wall."""
    world.page("/shop", f"<title>Shop</title>{shop('129.00')}{'<p>words of a shop</p>' * 40}")
    world.add(
        'Create Sentinel number Using {/shop} Monitor number in css "p" Fetch every 1 hour;'
        "Create Sentinel price Using {/shop} Monitor price Fetch every 1 hour"
    )

    with serve(world) as service:
        service.pass_time(HOUR)
        world.page(
            "/shop",
            "<title>Just a moment...</title><p>Checking your browser 5 before you go on</p><p>DDoS protection by Cloudflare</p>",
        )
        service.pass_time(3 * HOUR)

    assert [] == course(world, 1)
    assert [("price", "129.00 EUR")] == course(world, 2)
