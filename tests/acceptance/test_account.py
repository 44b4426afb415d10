"""Promise: each user changes their own account, and nobody else does."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.people import ORIGIN, PASSWORD, People, with_people
from tests.world import World, play
from tidings.clock import HOUR
from tidings.service.run.monitor import Monitor
from tidings.storage import secrets
from tidings.storage.people import accounts, tokens


def play_story(world: World, story: Any) -> None:
    """Run a story with several users."""

    def act(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, act)


async def sign_in(people: People, name: str) -> dict[str, str]:
    """Return the headers of a browser in which a user has signed in."""
    answer = await people.sign_in(name)
    return {"cookie": answer.headers["set-cookie"].partition(";")[0], "origin": ORIGIN}


async def send(people: People, browser: dict[str, str], **fields: str) -> Any:
    """Send the form of the account."""
    return await people.send("nobody", "/account", fields, **browser)


JSON = {"content-type": "application/json"}


def test_times_are_shown_in_the_zone_of_the_account(world: World) -> None:
    """It overrides that of the browser.

    An unknown zone is refused; an empty one restores the browser's.
    """

    async def story(people: People) -> None:
        browser = await sign_in(people, "rita")

        async def zone() -> Any:
            given = {**browser, "cookie": browser["cookie"] + "; tidings-zone=Europe/Berlin"}
            page = (await people.ask("nobody", "GET", "/?s=all", headers=given)).body.decode()
            return re.findall(r"Times in ([\w/]+)", page)[0]

        assert "Europe/Berlin" == await zone()
        assert 303 == (await send(people, browser, act="zone", zone="Asia/Tokyo")).status
        assert "Asia/Tokyo" == await zone()
        assert 422 == (await send(people, browser, act="zone", zone="Asia/Nowhere")).status
        assert "Asia/Tokyo" == await zone()
        await send(people, browser, act="zone", zone="")
        assert "Europe/Berlin" == await zone()

    play_story(world, story)


@pytest.mark.parametrize("path", ["/sentinels/annas", "/sentinels"])
def test_pause_ends_at_a_time_in_the_zone_of_the_reader(world: World, path: str) -> None:
    """As all times of the screen: nine in Berlin is eight in UTC, in the winter."""

    async def story(people: People) -> None:
        browser = await sign_in(people, "anna")
        await send(people, browser, act="zone", zone="Europe/Berlin")
        now = datetime.fromtimestamp(world.clock.wall() / 1e6, ZoneInfo("Europe/Berlin"))
        day = f"{now.year + 1}-01-15"
        fields = {"act": "pause", "s": "annas", "until": f"{day}T09:00"}
        assert 303 == (await people.send("nobody", path, fields, **browser)).status
        assert datetime.fromisoformat(f"{day}T08:00Z").timestamp() * 1e6 == world.sentinel("annas").resume_at
        fields["until"] = (now + timedelta(minutes=10)).isoformat()[:16]
        assert 303 == (await people.send("nobody", path, fields, **browser)).status, (
            "ten minutes from now have not passed"
        )

    play_story(world, story)


def test_password_change_needs_the_current_password(world: World) -> None:
    """All other sessions end, and this one gets a new id."""

    async def story(people: People) -> None:
        browser, other = await sign_in(people, "rita"), await sign_in(people, "rita")
        wrong = await send(people, browser, act="password", old="wrong", password="another good one")
        assert 422 == wrong.status
        right = await send(people, browser, act="password", old=PASSWORD, password="another good one")
        assert 303 == right.status
        renewed = {"cookie": right.headers["set-cookie"].partition(";")[0], "origin": ORIGIN}
        found = [
            (await people.ask("nobody", "GET", "/account", headers=one)).status for one in (renewed, browser, other)
        ]
        assert [200, 401, 401] == found
        world.clock.advance(HOUR)  # tries are counted
        assert [401, 303] == [(await people.sign_in("rita", one)).status for one in (PASSWORD, "another good one")]

    play_story(world, story)


def test_tokens_and_shared_tags_belong_to_their_owner(world: World) -> None:
    """A token is shown once, has at most the rights of its owner, and cannot make tokens."""

    async def story(people: People) -> None:
        browser = await sign_in(people, "rita")
        made = await send(people, browser, act="token", name="desk", scope="read")
        (token,) = re.findall(r"td_[\w-]+", made.body.decode())
        shown = {"authorization": f"Bearer {token}"}
        assert "rita" == (await people.ask("nobody", "GET", "/api/v1/me", headers=shown)).json()["name"]
        assert 422 == (await send(people, browser, act="token", name="more", scope="admin")).status
        for method in ("GET", "POST"):
            assert 403 == (await people.ask("nobody", method, "/account", headers={**shown, "origin": ORIGIN})).status
        await send(people, browser, act="revoke", token="anna")
        assert "anna" in {row.name for row in world.read(tokens.listing)}
        await send(people, browser, act="revoke", token="desk")
        assert 401 == (await people.ask("nobody", "GET", "/api/v1/me", headers=shown)).status
        rita = world.read(accounts.get_by_name, "rita").id
        await send(people, browser, act="share", tag="harbour")
        assert ["harbour"] == world.read(accounts.list_shared_tags, rita)
        await send(people, browser, act="unshare", tag="harbour")
        assert [] == world.read(accounts.list_shared_tags, rita)
        kept = await send(people, browser, act="export")
        assert ("rita", "") == (kept.json()["name"], kept.json()["zone"])
        evil = await send(people, {**browser, "origin": "https://evil.example"}, act="zone", zone="UTC")
        assert 403 == evil.status

    play_story(world, story)


def test_tag_that_is_no_longer_shared_leaves_the_plan_at_once(world: World) -> None:
    """Though a reader has just seen the plan, which is read anew only after a while."""

    async def story(people: People) -> None:
        world.page("/c", "<p>one</p>")
        text = world.text("Create Sentinel lent Using {/c} Monitor all words Fetch every 1 hour Tags harbour")
        browser = await sign_in(people, "anna")
        body = json.dumps({"text": text}).encode()
        assert 201 == (await people.ask("anna", "POST", "/api/v1/sentinels", headers=JSON, body=body)).status
        await world.settle(people.monitor)
        seen = []
        for act in ("share", "unshare"):
            await send(people, browser, act=act, tag="harbour")
            seen.append(b"lent" in (await people.ask("bob", "GET", "/plan")).body)
        assert [True, False] == seen

    play_story(world, story)


def test_editors_store_their_own_secrets(world: World) -> None:
    """On the screen, which shows names but no value; readers do not, and nobody drops another's."""

    async def story(people: People) -> None:
        browser, other = await sign_in(people, "bob"), await sign_in(people, "anna")
        assert 303 == (await send(people, browser, act="secret", name="shop", value="c4nary")).status
        page = (await people.ask("nobody", "GET", "/account", headers=browser)).body.decode()
        assert (True, False) == ("<b>shop</b>" in page, "c4nary" in page)
        bob = world.read(accounts.get_by_name, "bob").id
        assert (False, ["shop"]) == ("shop" in world.read(secrets.names), world.read(secrets.names, owner_id=bob))
        assert 422 == (await send(people, other, act="drop", name="shop")).status
        reader = await sign_in(people, "rita")
        assert 422 == (await send(people, reader, act="secret", name="shop", value="x")).status
        assert 303 == (await send(people, browser, act="drop", name="shop")).status
        assert [] == world.read(secrets.names, owner_id=bob)

    play_story(world, story)
