"""Promise: a text that cannot be read concerns its own sentinel only, and no text becomes another
statement than its author wrote.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.test_rights import every_entrance, fill, name_objects
from tests.people import People, with_people
from tests.world import World, play
from tidings.clock import HOUR
from tidings.record import replace
from tidings.service.run.monitor import Monitor
from tidings.service.watch.watchlist import meaning
from tidings.storage.watches import changes, events, sentinels

JSON = {"content-type": "application/json"}
INJECTED = (
    "a Using https://e.org/ Monitor links\nCreate Sentinel b",
    "a Using https://e.org/ Monitor links\rCreate Sentinel b",
    "a Using https://e.org/ Monitor links Create Sentinel b",
    "x --\n",
    "x --",
    "x\n",
    " x",
    '"x"',
    "x Using https://e.org/ --",
    "x\u2028",
    "x Tags y",
    "-- x",
    "",
)


def play_story(world: World, story: Any) -> None:
    """Play a story among people."""

    def act(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, act)


def spoil(world: World, name: str) -> None:
    """Make the stored text of a sentinel two statements, and let the service know of it."""

    def write(c: Any) -> None:
        row = sentinels.find(c, name)
        text = f"{row.text}\nCreate Sentinel other Using https://e.org/\n  Monitor links"
        sentinels.reword(c, row.id, text, at=world.clock.wall())

    world.write(write)


def test_an_unreadable_text_concerns_its_own_sentinel_only(world: World) -> None:
    """Other sentinels are checked, an admin is told, and no screen or resource fails because
    of it; it can be dropped, or written again.
    """

    async def ask_all(people: People, named: dict[str, str]) -> list[Any]:
        gets = [one for one in every_entrance() if one.method == "GET"]
        return [
            (one.path, named["{name}"], answer.status)
            for one in gets
            if (answer := await people.ask("ada", "GET", fill(one.path, named))).status >= 500
        ]

    async def story(people: People) -> None:
        spoil(world, "common")
        world.page("/a", "<title>A</title><p>one 3</p>")
        await world.pass_time(people.monitor, HOUR)

        assert 2 == len(world.read(changes.listing, sentinel="annas"))
        assert ["data.damaged"] == [e.type for e in world.read(events.listing) if str(e.type) == "data.damaged"]
        assert [] == [
            *await ask_all(people, name_objects(world)),
            *await ask_all(people, name_objects(world, "common", "none")),
        ]
        health = (await people.ask("ada", "GET", "/api/v1/health")).json()
        assert ["common"] == [one["sentinels"][0] for one in health["items"] if one["trouble"] == "unreadable"]
        for body in ({"name": "common2"}, {"tags": ["x"]}, {"enabled": False}, {"enabled": True}):
            answer = await people.ask(
                "ada", "PATCH", "/api/v1/sentinels/common", headers=JSON, body=json.dumps(body).encode()
            )
            assert answer.status in {200, 422}, (body, answer.body)
        text = world.text("Create Sentinel common Using {/b} Monitor all words Fetch every 1 hour")
        answer = await people.ask(
            "ada", "PATCH", "/api/v1/sentinels/common", headers=JSON, body=json.dumps({"text": text}).encode()
        )
        assert (200, b"all words" in answer.body) == (answer.status, True)
        assert "disabled" == answer.json()["state"]  # as it was
        answer = await people.ask(
            "ada", "PATCH", "/api/v1/sentinels/common", headers=JSON, body=json.dumps({"enabled": True}).encode()
        )
        assert 200 == answer.status
        world.page("/b", "<title>B</title><p>one 5</p>")
        await world.pass_time(people.monitor, 2 * HOUR)
        world.page("/b", "<title>B</title><p>one 6</p>")
        await world.pass_time(people.monitor, 2 * HOUR)
        assert world.read(changes.listing, sentinel="common")[0].row.detected_at > world.clock.wall() - 2 * HOUR
        spoil(world, "common")
        assert 200 == (await people.ask("ada", "DELETE", "/api/v1/sentinels/common")).status
        await world.pass_time(people.monitor, HOUR)
        assert [] == people.monitor.watchlist.set_aside

    play_story(world, story)


@pytest.mark.parametrize("name", INJECTED)
def test_a_name_is_a_name_only(world: World, name: str) -> None:
    """Whatever else is sent as the new name is refused, and the sentinel stays as it is."""

    async def story(people: People) -> None:
        before = world.sentinel("common").text
        body = json.dumps({"name": name}).encode()
        answer = await people.ask("bob", "PATCH", "/api/v1/sentinels/common", headers=JSON, body=body)

        assert (422, before) == (answer.status, world.sentinel("common").text)

    play_story(world, story)


SPLICED = (
    "x\\",
    " Monitor links --",
    'y" Monitor links --',
    "a\nDrop common",
    "-- b",
    "z Fetch every 1 min",
    '\\" , x',
)


@pytest.mark.parametrize("tag", SPLICED)
def test_a_tag_is_a_tag_only(world: World, tag: str) -> None:
    """Whatever is sent as tags, other clauses stay, and the text can be read."""

    async def story(people: People) -> None:
        before = meaning(world.sentinel("common").text)
        for tags in ([tag], [tag, " Monitor links --"], ["x", tag, "y"]):
            body = json.dumps({"tags": tags}).encode()
            bulk = json.dumps({"names": ["common"], "act": "tags", "tags": tags}).encode()
            await people.ask("bob", "PATCH", "/api/v1/sentinels/common", headers=JSON, body=body)
            await people.ask("bob", "POST", "/api/v1/bulk", headers=JSON, body=bulk)
            await people.send("bob", "/sentinels", {"s": "common", "act": "tags", "tags": ",".join(tags)})
            after = meaning(world.sentinel("common").text)
            assert replace(before, tags=after.tags) == after

    play_story(world, story)


def test_a_composite_whose_text_cannot_be_read_stops_no_rule(world: World) -> None:
    """Rules of other sentinels go on while its events come in."""

    async def story(people: People) -> None:
        for name in ("both", "other"):
            text = world.text(
                f"Create Sentinel {name} Using {{/a}} As a, {{/b}} As b"
                " Monitor all words of a AND all words of b within 1 day Fetch every 1 hour Notify by feed"
            )
            body = json.dumps({"text": text}).encode()
            assert 201 == (await people.ask("bob", "POST", "/api/v1/sentinels", headers=JSON, body=body)).status
        await world.pass_time(people.monitor, HOUR)
        world.page("/a", "<title>A</title><p>one 7</p>")
        await world.pass_time(people.monitor, HOUR)
        spoil(world, "both")
        world.page("/b", "<title>B</title><p>one 7</p>")
        await world.pass_time(people.monitor, 2 * HOUR)

        assert [] == world.read(changes.listing, sentinel="both")
        assert [] != world.read(changes.listing, sentinel="other")
        assert [] == [e.data for e in world.read(events.listing) if str(e.type) == "problem.unit"]

    play_story(world, story)
