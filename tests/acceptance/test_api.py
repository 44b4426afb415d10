"""Promise: programs can do over the API what people do in the browser, and its description is true."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tests.acceptance.test_screens import SHOP, edit, face
from tests.asgi import Answer, ask, following
from tests.world import World, play
from tidings.clock import DAY, HOUR
from tidings.service.run.monitor import Monitor
from tidings.web.resources.operations import OPERATIONS


async def call(app: Any, method: str, path: str, body: object = None, **headers: str) -> Answer:
    """Send a request to the API."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        given["content-type"] = "application/json"
    sent = b"" if body is None else json.dumps(body).encode()
    return await ask(app, f"/api/v1{path}", method, headers=given, body=sent)


async def have(app: Any, path: str) -> Any:
    """Return the answer to GET of a path."""
    answer = await call(app, "GET", path)
    assert 200 == answer.status, answer.body
    return answer.json()


def watch(world: World) -> None:
    """Create a sentinel on a shop."""
    world.page("/a", "<title>Kettle</title><h1>Offer</h1><p>Price 129 EUR</p>")
    world.add(SHOP)


def test_every_answer_matches_the_document(world: World) -> None:
    """Each answer to GET is parsed by the type that its row of the table declares."""
    watch(world)

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            await edit(world, monitor, "109", "99")
            (first, *_) = (await have(app, "/changes"))["items"]
            named = {"name": "shop", "page": "1", "number": "1", "id": first["id"], "tag": "money"}
            read = 0
            for one in OPERATIONS:
                if one.method != "GET" or one.returns is None or "{delivery}" in one.path or one.who == "admins":
                    continue
                path = one.path.removeprefix("/api/v1").format(**named)
                queries = {"compare": "?old=1&new=2", "search": "?q=price"}
                found = await have(app, path + queries.get(path.rpartition("/")[2], ""))
                msgspec.convert(found, one.returns)
                read += 1
            assert read >= 15
            document = await have(app, "/openapi.json")
            assert "3.1.0" == document["openapi"]
            assert {one.path for one in OPERATIONS} == set(document["paths"])

    play(world, story)


def test_sentinel_is_made_altered_dropped_and_restored(world: World) -> None:
    """By text, YAML or JSON, with the ETag of what was read. A drop can be undone for a day."""
    watch(world)

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            yaml = b"- name: two\n  url: https://two.example/\n  monitor: all links\n"
            for body, media in (
                (b"Create Sentinel one Using https://one.example/ Monitor all links", "text/plain"),
                (yaml, "application/yaml"),
            ):
                made = await ask(app, "/api/v1/sentinels", "POST", headers={"content-type": media}, body=body)
                assert 201 == made.status, made.body
            assert ["shop", "one", "two"] == [one["name"] for one in (await have(app, "/sentinels"))["items"]]
            wrong = (await call(app, "POST", "/sentinels", {"text": "Create Sentinel"})).json()
            assert [(1, 16)] == [(one["line"], one["column"]) for one in wrong["problems"]]

            tag = (await call(app, "GET", "/sentinels/one")).headers["etag"]
            assert 304 == (await call(app, "GET", "/sentinels/one", if_none_match=tag)).status
            altered = await call(app, "PATCH", "/sentinels/one", {"tags": ["a"], "enabled": False}, if_match=tag)
            assert ("disabled", ["a"]) == (altered.json()["state"], altered.json()["tags"])
            assert 412 == (await call(app, "DELETE", "/sentinels/one", if_match=tag)).status
            assert 200 == (await call(app, "DELETE", "/sentinels/shop")).status
            assert 404 == (await call(app, "PATCH", "/sentinels/shop", {"tags": []})).status
            await world.pass_time(monitor, 2 * HOUR)
            assert "enabled" == (await call(app, "POST", "/sentinels/shop/restore")).json()["state"]
            await edit(world, monitor, "99", "89")
            assert [{"old": "99", "new": "89"}] == (await have(app, "/changes"))["items"][0]["updated"]
            await call(app, "DELETE", "/sentinels/shop")
            await world.pass_time(monitor, DAY + HOUR)
            assert 409 == (await call(app, "POST", "/sentinels/shop/restore")).status

    play(world, story)


def test_log_is_read_from_any_number(world: World) -> None:
    """It has CloudEvents: the stored ones, then new ones; each once."""
    watch(world)

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            await edit(world, monitor, "109", "99")
            lines = await call(app, "GET", "/events?after=0&follow=false", accept="application/x-ndjson")
            events = [json.loads(line) for line in lines.body.splitlines()]
            assert [("tidings.change.found.v1", "shop")] * 2 == [(one["type"], one["subject"]) for one in events]
            first = events[0]["sequence"]
            async with following(app, f"/api/v1/events?after={first}") as reader:
                await reader.until(1)
                await edit(world, monitor, "89")
                await reader.until(2)
            assert [events[1]["id"], (await have(app, "/changes"))["items"][0]["id"]] == [
                one["id"] for _, one in reader.records
            ]
            assert 409 == (await call(app, "GET", "/events?after=999999")).status

    play(world, story)


def test_lists_are_paginated(world: World) -> None:
    """No item is repeated or left out; a cursor of another list is refused."""
    watch(world)

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            await edit(world, monitor, "109", "99", "89")
            for path in ("/changes", "/pages/1/versions", "/pages/1/polls"):
                whole = [one["id"] for one in (await have(app, path))["items"]]
                found, cursor = [], ""
                while cursor is not None:
                    page = await have(app, f"{path}?limit=1&cursor={cursor}")
                    found += [one["id"] for one in page["items"]]
                    cursor = page["next"]
                assert whole == found
                assert len(whole) >= 3
                assert 404 == (await call(app, "GET", f"{path}?cursor=x")).status
            marked = await call(app, "POST", "/changes/all-read")
            assert {"marked": 3} == marked.json()
            assert [] == (await have(app, "/changes?shown=unread"))["items"]

    play(world, story)


@pytest.mark.parametrize("scope", ["read", "edit", "admin"])
def test_token_permits_only_its_scope(world: World, scope: str) -> None:
    """It ends when it is revoked."""
    from tidings.service.people import tokens
    from tidings.storage.people import tokens as rows

    watch(world)

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            token, _ = world.write(tokens.add, "mine", scope, at=world.clock.wall())
            shown = f"Bearer {token.reveal()}"
            assert 200 == (await call(app, "GET", "/sentinels", authorization=shown)).status
            checked = await call(app, "POST", "/sentinels/shop/check", authorization=shown)
            assert (403 if scope == "read" else 202) == checked.status
            assert {"reader": "read", "editor": "edit", "admin": "admin"}[
                (await call(app, "GET", "/me", authorization=shown)).json()["role"]
            ] == scope
            world.write(rows.revoke, "mine")
            assert 401 == (await call(app, "GET", "/sentinels", authorization=shown)).status
            assert token.reveal() not in json.dumps([str(one) for one in world.read(rows.listing)])

    play(world, story)
