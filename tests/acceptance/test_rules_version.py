"""Promise: after an update of the detection rules only real changes of pages are reported."""

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
    """Change all stored digests to those of an older version of the rules."""

    def age(connection: Any) -> None:
        connection.execute("UPDATE digest SET rules_version = rules_version - 1, text = 'f' || text, objects = '{}'")
        connection.execute("UPDATE page SET text_digest = 'f' || text_digest")

    database = open_database(world.settings)
    try:
        database.write(age)
    finally:
        database.close()


def test_new_rules_notify_no_subscription(world: World) -> None:
    """Twenty pages with fifty sentinels each: equal bytes, other markup, and one page in four with
    another text.
    """
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

    reported = Counter(change["url"].rpartition("/")[2] for change in world.changes())
    assert {str(number): len(SEEING) * ALIKE for number in range(PAGES) if number % 4 == 3} == reported
    assert {(("1", "2"),)} == {tuple((u["old"], u["new"]) for u in change["updated"]) for change in world.changes()}
    assert [] == world.violations()


def test_new_digests_are_stored_once(world: World) -> None:
    """The first poll after an update computes those of the old version; later polls parse no old
    body.
    """
    world.page("/a", page(1, 1))
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")

    async def check_page(monitor: Monitor) -> None:
        await world.pass_time(monitor, HOUR)

    play(world, check_page)
    make_older(world)
    world.page("/a", page(1, 1, "<!-- moved -->"))
    play(world, check_page)
    world.page("/a", page(1, 2, "<!-- moved -->"))
    play(world, check_page)

    assert [[{"old": "1", "new": "2"}]] == [change["updated"] for change in world.changes()]
    assert [False, True] == [poll.text_changed for poll in world.polls() if poll.outcome == "changed"]
    assert (RULES_VERSION,) in world.read(lambda connection: connection.rows("SELECT rules_version FROM digest"))
