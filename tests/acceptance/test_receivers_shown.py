"""Promise: the health screen and the API show what each receiver accepted; a test message that it
accepts switches it on again.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.acceptance.test_screens import face, see, send, words_of
from tests.asgi import ask
from tests.people import People, with_people
from tests.world import World, play
from tidings.clock import DAY, HOUR
from tidings.service.run.monitor import Monitor
from tidings.storage.watches import endpoints

WATCH = "Create Sentinel {name} Using {{/a}} Monitor all words Fetch every 1 hour {notify}"


def watch(world: World, name: str, notify: str) -> None:
    """Watch the page /a every hour."""
    world.add(WATCH.format(name=name, notify=notify))


async def change(world: World, monitor: Monitor, *counts: int, every: int = HOUR) -> None:
    """Serve a page with each count in turn."""
    for count in counts:
        world.page("/a", f"<p>count {count}</p>")
        await world.pass_time(monitor, every)


async def read_api(app: Any, path: str = "/api/v1/receivers") -> dict[str, Any]:
    """Return an answer of the API."""
    answer = await ask(app, path)
    assert 200 == answer.status, answer.body.decode()
    found: dict[str, Any] = json.loads(answer.body)
    return found


def find_id(world: World, kind: str) -> str:
    """Return the number of the receiver of a kind."""
    return str(next(row.id for row in world.read(endpoints.listing) if row.kind == kind))


def list_shown(page: str) -> list[str]:
    """Return the words of each receiver on the health screen."""
    section = page.partition('id="receivers"')[2].partition("</section>")[0]
    return [words_of(f"<main>{row}</main>") for row in re.findall(r"<tr>(.*?)</tr>", section, re.DOTALL)]


def test_receivers_are_shown_with_their_messages(world: World) -> None:
    """Each has a count, its sentinels and a button; nothing of its address that is secret, and none
    that nobody notifies any more.
    """
    hook = world.receiver("/hook/c4nary")
    world.page("/a", "<p>count 0</p>")
    world.page("/quiet", "<p>quiet</p>")
    watch(world, "one", f"Notify by webhook {hook}")
    watch(world, "two", f"Notify by webhook {hook}, feed")
    world.add("Create Sentinel late Using {/quiet} Monitor all words Fetch every 1 hour Notify by webhook {/never}")
    watch(world, "left", "Notify by stream")

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        await change(world, monitor, 1, 2)
        world.add("Drop left")
        world.add("Disable late")
        async with face(world, monitor) as app:
            page = await see(app, "/health")
            hooked, feed, never = list_shown(page)
            assert "4 delivered, median" in hooked
            assert hooked.endswith("one and 1 more Send a test")
            assert "2 delivered" in feed
            assert feed.endswith("two")
            assert never.endswith("nothing delivered yet late Send a test")
            assert "c4nary" not in page
            items = (await read_api(app))["items"]
            assert [("webhook", 4, ["one", "two"]), ("feed", 2, ["two"]), ("webhook", 0, ["late"])] == [
                (one["channel"], one["delivered"], one["sentinels"]) for one in items
            ]
            first = await read_api(app, "/api/v1/receivers?limit=1")
            rest = await read_api(app, f"/api/v1/receivers?cursor={first['next']}")
            assert items == first["items"] + rest["items"]

    play(world, story)


@pytest.mark.parametrize("by_api", [False, True])
def test_accepted_test_message_switches_a_receiver_on(world: World, by_api: bool) -> None:
    """Its waiting messages are sent then; one that it refuses changes nothing."""
    answers = {"status": 500}
    hook = world.receiver("/hook", statuses=lambda n: answers["status"])
    world.page("/a", "<p>count 0</p>")
    watch(world, "one", f"Notify by webhook {hook}")

    async def story(monitor: Monitor) -> None:
        await world.settle(monitor)
        await change(world, monitor, 1)
        await change(world, monitor, *range(2, 14), every=DAY // 2)
        number = find_id(world, "webhook")

        async def send_test(app: Any) -> str:
            if by_api:
                answer = await ask(app, f"/api/v1/receivers/{number}/test", "POST")
                return "was accepted" if json.loads(answer.body)["accepted"] else json.loads(answer.body)["reason"]
            return words_of((await send(app, "/health", ("test", number))).body.decode())

        async with face(world, monitor) as app:
            (off,) = list_shown(await see(app, "/health"))
            assert "switched off : nothing was accepted for 5" in off
            assert "500" in off
            (item,) = (await read_api(app))["items"]
            assert ("off", 0) == (item["state"], item["delivered"])
            assert 13 == item["waiting"] + item["dead"]
            assert "500" in await send_test(app)
            assert "switched off" in list_shown(await see(app, "/health"))[0]
            answers["status"] = 200
            assert "was accepted" in await send_test(app)
            assert "switched off" not in list_shown(await see(app, "/health"))[0]
            await world.pass_time(monitor, HOUR)
            (item,) = (await read_api(app))["items"]
            assert ("on", 0) == (item["state"], item["waiting"])
            assert item["delivered"] > 0
        assert [] == world.violations()

    play(world, story)


def test_receivers_of_other_people_are_not_shown(world: World) -> None:
    """Nobody sees, counts or tests what notifies only others; readers have no button."""

    async def story(people: People) -> None:
        number = find_id(world, "webhook")
        shown = {}
        for who in ("ada", "anna", "bob", "rita"):
            page = (await people.ask(who, "GET", "/health")).body.decode()
            items = json.loads((await people.ask(who, "GET", "/api/v1/receivers")).body)["items"]
            tested = await people.send(who, "/health", {"test": number})
            by_api = await people.ask(who, "POST", f"/api/v1/receivers/{number}/test")
            kinds = [one["channel"] for one in items]
            shown[who] = (kinds, "Send a test" in page, tested.status, by_api.status)
        assert {
            "ada": (["webhook", "feed"], True, 200, 200),
            "anna": (["webhook", "feed"], True, 200, 200),
            "bob": ([], False, 404, 404),
            "rita": ([], False, 403, 403),
        } == shown
        world.add("Create Sentinel bobs Using {/b} Monitor all words Fetch every 1 hour Notify by feed")
        people.desk.forget_recent()
        (mine,) = json.loads((await people.ask("bob", "GET", "/api/v1/receivers")).body)["items"]
        assert ("feed", 0, ["bobs"]) == (mine["channel"], mine["delivered"], mine["sentinels"])

    play(world, lambda monitor: with_people(world, monitor, story))


@pytest.mark.parametrize("number", ["0", "x", "-1", "9" * 30, "²"])
def test_unknown_receiver_is_refused(world: World, number: str) -> None:
    """This holds for the form and for the API, whoever asks."""

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            assert 422 == (await send(app, "/health", ("test", number))).status
            assert 422 == (await ask(app, f"/api/v1/receivers/{number.encode().hex()}x/test", "POST")).status

    play(world, story)
