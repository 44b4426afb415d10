"""Promise: clients of changedetection.io's API can read Tidings, and cannot change anything."""

from __future__ import annotations

import json
from typing import Any

from tests.acceptance.test_screens import SHOP, edit, face
from tests.asgi import Answer, ask
from tests.people import with_people
from tests.world import World, play
from tidings.clock import HOUR
from tidings.service.run.monitor import Monitor
from tidings.web.access import COMPATIBLE

KEY = "reader-" * 5


async def get(app: Any, path: str, key: str = KEY, method: str = "GET") -> Answer:
    """Request a path as its clients do."""
    return await ask(app, f"{COMPATIBLE}/api/v1{path}", method, headers={"x-api-key": key} if key else {})


async def have(app: Any, path: str) -> Any:
    """Return the answer."""
    answer = await get(app, path)
    assert 200 == answer.status, answer.body
    return answer.json()


def test_its_clients_read_watches_versions_and_differences(make_world: Any) -> None:
    """A watch is a page of a sentinel; its history are the stored versions, to the second."""
    world: World = make_world(serve__token=KEY)
    hook = world.receiver()
    world.page("/a", "<title>Kettle</title><h1>Offer</h1><p>Price 129 EUR</p>")
    world.add(f"{SHOP} Notify by webhook {hook}")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            (first,) = (await have(app, "/watch")).values()
            assert (0, False, "Kettle", True) == tuple(
                first[one] for one in ("last_changed", "last_error", "title", "viewed")
            )
            await edit(world, monitor, "109", "99")
            ((uuid, listed),) = (await have(app, "/watch")).items()
            assert listed["viewed"] is False
            one = await have(app, f"/watch/{uuid}")
            assert listed.items() <= one.items()
            assert (uuid, 3, False, 0) == (one["uuid"], one["history_n"], one["paused"], one["last_viewed"])
            assert hook not in json.dumps(one)
            seconds = [*await have(app, f"/watch/{uuid}/history")]
            assert int(seconds[-1]) == one["last_changed"]
            assert b"129" in (await get(app, f"/watch/{uuid}/history/{seconds[0]}")).body
            assert b"99" in (await get(app, f"/watch/{uuid}/history/latest")).body
            body = await get(app, f"/watch/{uuid}/history/latest?html=1")
            assert b"<p>" in body.body
            assert "application/octet-stream" == body.headers["content-type"]
            difference = await get(
                app, f"/watch/{uuid}/difference/{seconds[0]}/{seconds[2]}?format=text&word_diff=true"
            )
            assert (True, True) == (b"129" in difference.body, b"99" in difference.body)
            assert b"<" in (await get(app, f"/watch/{uuid}/difference/previous/latest?format=html")).body
            ((tag, described),) = (await have(app, "/tags")).items()
            assert (tag, "money", [tag]) == (described["uuid"], described["title"], one["tags"])
            assert [uuid] == [*await have(app, "/watch?tag=money")]
            assert {} == await have(app, "/watch?tag=other")
            assert [uuid] == [*await have(app, "/search?q=ketT&partial=true")]
            assert {} == await have(app, "/search?q=ket")
            about = await have(app, "/systeminfo")
            assert (1, [], 2 * HOUR / 1_000_000) == (about["watch_count"], about["overdue_watches"], about["uptime"])

    play(world, story)


def test_its_clients_change_nothing_and_need_a_token_header(make_world: Any) -> None:
    """A check that is requested by GET is refused like every other method."""
    world: World = make_world(serve__token=KEY)
    world.page("/a", "<p>one</p>")
    world.add(SHOP)

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            (uuid,) = await have(app, "/watch")
            for query in ("recheck=true", "paused=paused", "muted=muted"):
                assert 403 == (await get(app, f"/watch/{uuid}?{query}")).status
            assert 403 == (await get(app, "/watch?recheck_all=1")).status
            for method in ("POST", "PUT", "DELETE"):
                assert 405 == (await get(app, f"/watch/{uuid}", method=method)).status
            assert [401, 401] == [(await get(app, "/watch", key)).status for key in ("", "another" * 5)]
            assert 401 == (await get(app, f"/watch?api_key={KEY}", "")).status
            assert 401 == (await ask(app, "/api/v1/sentinels", headers={"x-api-key": KEY})).status
            for wrong in ("nothing", "00000000-0000-8000-8000-000000000009", uuid.replace("8", "4", 1)):
                assert 404 == (await get(app, f"/watch/{wrong}")).status
            for wrong in ("history/1", "difference/latest/1"):
                assert 404 == (await get(app, f"/watch/{uuid}/{wrong}")).status
        assert 1 == len(world.polls())

    play(world, story)


def test_each_user_sees_only_their_own_watches(world: World) -> None:
    """A watch of another user is not found."""

    async def story(people: Any) -> None:
        async def read_label(who: str) -> Any:
            key = people.headers[who]["authorization"].removeprefix("Bearer ")
            return (await get(people.app, "/watch", key)).json()

        hers, his = await read_label("anna"), await read_label("bob")
        assert [2, 1] == [len(hers), len(his)]
        (secret,) = hers.keys() - his.keys()
        key = people.headers["bob"]["authorization"].removeprefix("Bearer ")
        for path in ("", "/history", "/history/latest", "/difference/previous/latest"):
            assert 404 == (await get(people.app, f"/watch/{secret}{path}", key)).status
        assert 1 == (await get(people.app, "/systeminfo", key)).json()["watch_count"]

    def run_story(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, run_story)
