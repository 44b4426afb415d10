"""Promise: a Tidings with better rules tells nothing of pages that stayed as they were, and of the others what changed of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.world import World, play, serve
from tidings.clock import HOUR, MINUTE
from tidings.document.text.words import RULES_VERSION
from tidings.service.run.monitor import Monitor
from tidings.storage.db.database import open_database

PAGES = 20
ALIKE = 10
SEEING = ("any change", "all words")
BLIND = ("links", "images", "keyword <more>")


def page(number: int, edition: int, markup: str = "") -> str:
    return f"<title>{number}</title>{markup}<p>edition {edition} of page {number}<a href=/{number}>more</a><img src=/i>"


def make_older(world: World) -> None:
    """Let all that is stored be as rules before would have left it: their version, and other digests of the very same bodies."""

    def age(connection: Any) -> None:
        connection.execute("UPDATE digest SET rules_version = rules_version - 1, text = 'f' || text, objects = '{}'")
        connection.execute("UPDATE page SET text_digest = 'f' || text_digest")

    database = open_database(world.settings)
    try:
        database.write(age)
    finally:
        database.close()


def test_a_thousand_subscriptions_hear_of_no_new_rules(world: World) -> None:
    """Twenty pages, fifty sentinels on each: bytes that stayed, markup that moved, and one page in four that changed its text."""
    for number in range(PAGES):
        world.page(f"/{number}", page(number, 1))
    world.add(
        ";\n".join(
            f"Create Sentinel s{number}x{place}x{copy} Using {{/{number}}} Monitor {kind} Fetch every 1 hour"
            for number in range(PAGES)
            for place, kind in enumerate((*SEEING, *BLIND))
            for copy in range(ALIKE)
        )
    )

    with serve(world) as service:
        service.pass_time(MINUTE)
    make_older(world)
    for number in range(PAGES):
        world.page(f"/{number}", page(number, 1 + (number % 4 == 3), "<!-- moved -->" * (number % 4 > 0)))
    with serve(world) as service:
        service.pass_time(HOUR)

    told = Counter(change["url"].rpartition("/")[2] for change in world.changes())
    assert {str(number): len(SEEING) * ALIKE for number in range(PAGES) if number % 4 == 3} == told
    assert {(("1", "2"),)} == {tuple((u["old"], u["new"]) for u in change["updated"]) for change in world.changes()}
    assert [] == world.violations()


def test_new_rules_leave_their_digests_behind(world: World) -> None:
    """The first look after an update makes the old version's digests anew; the looks after that have them and parse no old body."""
    world.page("/a", page(1, 1))
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")

    async def look(monitor: Monitor) -> None:
        await world.pass_time(monitor, HOUR)

    play(world, look)
    make_older(world)
    world.page("/a", page(1, 1, "<!-- moved -->"))
    play(world, look)
    world.page("/a", page(1, 2, "<!-- moved -->"))
    play(world, look)

    assert [[{"old": "1", "new": "2"}]] == [change["updated"] for change in world.changes()]
    assert [False, True] == [poll.text_changed for poll in world.polls() if poll.outcome == "changed"]
    assert (RULES_VERSION,) in world.read(lambda connection: connection.rows("SELECT rules_version FROM digest"))
