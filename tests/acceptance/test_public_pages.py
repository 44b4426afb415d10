"""Promise: an owner may show what changed on the pages of a tag to everybody with the address; it
shows nothing else, and ends when the owner says so.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.acceptance.test_screens import face, send, words_of
from tests.asgi import Answer, ask
from tests.people import People, with_people
from tests.world import World, play
from tidings.clock import HOUR
from tidings.model.secret import Secret
from tidings.service.people import accounts as accounts_of
from tidings.service.run.monitor import Monitor
from tidings.service.secrets import secrets
from tidings.storage.people import accounts, published
from tidings.storage.secrets import Vault
from tidings.storage.watches import sentinels

HARBOUR = "Create Sentinel s{0} Using {{/{0}}} Monitor all words Fetch every 1 hour Tags harbour"


async def edit(world: World, monitor: Monitor, *names: str) -> None:
    """Change pages, after their first check and once more."""
    for text in ("one", "two"):
        for name in names:
            world.page(f"/{name}", f"<title>Title of {name}</title><p>{name} says {text}</p><a>More</a>")
        await world.pass_time(monitor, HOUR)


async def publish(app: Any, tag: str = "harbour") -> str:
    """Make a public page by the form; return its address."""
    shown = await ask(app, f"/public?{urlencode({'tag': tag})}")
    assert b"These pages become public" in shown.body
    assert 303 == (await send(app, "/public", ("act", "publish"), ("tag", tag))).status
    page = (await ask(app, "/public")).body.decode()
    return "/public/" + page.partition('href="/public/')[2].partition("/changes")[0]


def text_of(answer: Answer) -> str:
    """Return what a public page says."""
    assert 200 == answer.status
    return words_of(answer.body.decode())


def test_public_page_shows_the_changes_of_a_tag_and_nothing_else(world: World) -> None:
    """The title of the page, the change and the host; no name, statement, receiver or menu."""
    hook = world.receiver()
    world.add(HARBOUR.format("a").replace("sa", "sboat") + f" Notify by webhook {hook}")
    world.add(HARBOUR.format("b").replace("Tags harbour", "Tags town"))

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await edit(world, monitor, "a", "b")
            at = await publish(app)
            answer = await ask(app, f"{at}/changes")
            text = text_of(answer)
            assert "Title of a 127.0.0.1 one → two" in text
            assert "b says" not in text
            for hidden in ("sboat", "hook", "Monitor", "/sentinels", at.rpartition("/")[2]):
                assert hidden not in answer.body.decode()
            assert "noindex, nofollow, noarchive" == answer.headers["x-robots-tag"]
            assert "no-referrer" == answer.headers["referrer-policy"]
            assert "no-store" == answer.headers["cache-control"]
            assert b'name="robots" content="noindex' in answer.body
            assert b'href="feed.atom"' in answer.body

    play(world, story)


def test_its_feeds_have_the_same_changes(world: World) -> None:
    """Atom and JSON, each with a tag by which a client asks again."""
    world.add(HARBOUR.format("a"))

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await edit(world, monitor, "a")
            at = await publish(app)
            atom, feed = await ask(app, f"{at}/feed.atom"), await ask(app, f"{at}/feed.json")
            assert "application/atom+xml" == atom.headers["content-type"].partition(";")[0]
            assert b"<title>Title of a: " in atom.body
            (item,) = json.loads(feed.body)["items"]
            assert "Title of a" in item["tags"]
            assert b"/sa" not in atom.body + feed.body
            assert {"noindex, nofollow, noarchive"} == {one.headers["x-robots-tag"] for one in (atom, feed)}
            again = await ask(app, f"{at}/feed.atom", headers={"if-none-match": atom.headers["etag"]})
            assert 304 == again.status

    play(world, story)


def test_removed_page_looks_like_one_that_never_was(world: World) -> None:
    """Another address ends the first one, too."""
    world.add(HARBOUR.format("a"))

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await edit(world, monitor, "a")
            first = await publish(app)
            never = await ask(app, "/public/never/changes")
            await send(app, "/public", ("act", "renew"), ("token", first.rpartition("/")[2]))
            (row,) = world.read(published.listing)
            second = f"/public/{row.token}"
            assert (404, never.body) == ((gone := await ask(app, f"{first}/changes")).status, gone.body)
            assert 200 == (await ask(app, f"{second}/changes")).status
            await send(app, "/public", ("act", "remove"), ("token", row.token))
            for path in ("changes", "feed.atom", "feed.json"):
                assert 404 == (await ask(app, f"{second}/{path}")).status
            assert 404 == (await send(app, "/public", ("act", "renew"), ("token", row.token))).status
            assert 404 == (await send(app, "/public", ("act", "publish"), ("tag", "nowhere"))).status
            assert [] == world.read(published.listing)

    play(world, story)


@pytest.mark.parametrize(
    "clauses",
    [
        pytest.param('Header "X-Api-Key" secret "key"', id="a secret header"),
        pytest.param('Header "X-Room" "7"', id="a header"),
        pytest.param('Method "POST" Body "a=1"', id="a body"),
        pytest.param('Login form "{/in}" user "anna" password secret "key"', id="a login"),
        pytest.param("Proxy http://127.0.0.1:1080/", id="a proxy"),
        pytest.param('Render browser steps (click text "More")', id="steps"),
    ],
)
def test_pages_that_not_everybody_could_ask_for_are_left_out(world: World, clauses: str) -> None:
    """Nor are they shown after the sentinel has turned to another page: its old changes would be."""
    world.page("/in", "<form method=post><input name=user><input type=password name=p></form>")
    world.write(secrets.set_, Vault(world.directory), "key", Secret("hush-hush"), jar=False, at=world.clock.now())
    world.add(HARBOUR.format("a"))
    world.add(f"Create Sentinel private Using {{/b}} {clauses} Monitor all words Fetch every 1 hour Tags harbour")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await edit(world, monitor, "a", "b")
            shown = words_of((await ask(app, "/public?tag=harbour")).body.decode())
            assert "Left out, since" in shown
            assert "private" in shown
            at = await publish(app)
            assert "b says" not in (await ask(app, f"{at}/changes")).body.decode()
            assert b"says" in (await ask(app, f"{at}/changes")).body
            world.add("Alter private Using {/a}")
            assert "Title of b" not in (await ask(app, f"{at}/changes")).body.decode()

    play(world, story)


@pytest.mark.parametrize(
    "monitor",
    ['phrase "c4nary of a"', 'keyword <"c4nary", zebra>', 'all words where lacks "c4nary"', 'links in css "a"'],
)
def test_a_public_feed_says_nothing_of_the_statement(world: World, monitor: str) -> None:
    """It has what changed on the page, not the words by which its owner watches it."""
    world.page("/a", "<title>T</title><p>Nothing <a href='/0'>0</a></p>")
    world.add(
        f"Create Sentinel x Using {{/a}} Monitor {monitor} OR all words"
        ' Fetch every 1 hour Tags harbour Exclude css ".c4nary"'
    )

    async def story(own: Monitor) -> None:
        async with face(world, own) as app:
            await world.pass_time(own, HOUR)
            world.page("/a", "<title>T</title><p>Another <a href='/1'>1</a></p>")
            await world.pass_time(own, HOUR)
            at = await publish(app)
            for path in ("changes", "feed.atom", "feed.json"):
                answer = await ask(app, f"{at}/{path}")
                assert (200, True) == (answer.status, b"Another" in answer.body)
                assert [] == [word for word in (b"c4nary", b"phrase", b'css "', b"lacks") if word in answer.body]

    play(world, story)


def test_public_page_follows_its_tag(world: World) -> None:
    """What loses the tag or ends leaves it; what gets the tag joins it."""
    for name in ("a", "b", "c"):
        world.add(HARBOUR.format(name).replace("Tags harbour", "") if name == "b" else HARBOUR.format(name))

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await edit(world, monitor, "a", "b", "c")
            at = await publish(app)

            async def show_page() -> str:
                text = text_of(await ask(app, f"{at}/changes"))
                return "".join(name for name in "abc" if f"Title of {name}" in text)

            seen = [await show_page()]
            world.add("Alter sa Tags none")
            world.add("Alter sb Tags harbour")
            seen.append(await show_page())
            world.add("Drop sc")
            seen.append(await show_page())
            world.add("Drop sb")
            seen.append(await show_page())
            assert ["ac", "bc", "b", ""] == seen
            assert b"Nothing has changed yet" in (await ask(app, f"{at}/changes")).body

    play(world, story)


def test_page_texts_are_escaped_and_cut_ones_can_be_unfolded(world: World) -> None:
    """What a page says never becomes markup; a long change is there as a whole."""
    world.add(HARBOUR.format("a"))

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            for number in range(2):
                rows = "".join(f"<p>Line {n} is &lt;b&gt;{number + n}&lt;/b&gt;</p>" for n in range(8))
                world.page("/a", f"<title>&lt;script&gt;x</title>{rows}")
                await world.pass_time(monitor, HOUR)
            at = await publish(app)
            html = (await ask(app, f"{at}/changes")).body.decode()
            assert "<script" not in html.replace("&lt;script", "")
            assert "<b>" not in html.partition("<main")[2]
            assert "All of it" in html
            assert 200 == (await ask(app, f"{at}/changes?before=nothing")).status

    play(world, story)


def test_only_editors_publish_and_only_what_is_theirs(world: World) -> None:
    """A page shows its owner's sentinels, an admin's those of the installation, too. One closes
    when its owner becomes a reader, and goes with the account.
    """

    async def story(people: People) -> None:
        async def ask_for(who: str, method: str = "PUT", path: str = "/api/v1/tags/hers/public") -> Answer:
            return await people.ask(who, method, path)

        async def show_page(page: dict[str, Any]) -> str:
            text = words_of((await people.ask("", "GET", page["path"])).body.decode())
            return "".join(title for title in "AB" if f" {title} 127.0.0.1" in text)

        world.add("Alter common Tags town")
        town = "/api/v1/tags/town/public"
        assert [404, 403, 401] == [(await ask_for(who)).status for who in ("bob", "rita", "")]
        anna, ada = json.loads((await ask_for("anna")).body), json.loads((await ask_for("ada", "PUT", town)).body)
        assert ("anna", "ada", anna) == (anna["owner"], ada["owner"], json.loads((await ask_for("anna")).body))
        others = [
            json.loads((await ask_for(who, "PUT", path)).body)
            for who, path in (("bob", town), ("ada", "/api/v1/tags/hers/public"))
        ]
        assert ["A", "B", "", ""] == [await show_page(page) for page in (anna, ada, *others)]
        for page in others:
            assert 200 == (await ask_for("ada", "DELETE", f"/api/v1/public/{page['token']}")).status
        listed = [
            json.loads((await ask_for(who, "GET", "/api/v1/public")).body)["items"] for who in ("anna", "bob", "ada")
        ]
        assert [1, 0, 2] == [len(items) for items in listed]
        assert 404 == (await ask_for("bob", "DELETE", f"/api/v1/public/{anna['token']}")).status
        exported = json.loads((await ask_for("ada", "GET", "/api/v1/users/anna/export")).body)
        assert [anna["token"]] == [one["token"] for one in exported["public_pages"]]
        world.write(accounts_of.set_role, "anna", "reader")
        assert 404 == (await people.ask("", "GET", anna["path"])).status
        assert b"Closed" in (await ask_for("ada", "GET", "/public")).body
        world.write(accounts_of.set_role, "anna", "editor")
        assert 200 == (await people.ask("", "GET", anna["path"])).status
        assert 200 == (await ask_for("ada", "DELETE", f"/api/v1/public/{ada['token']}")).status
        world.write(accounts_of.remove, "anna", world.clock.wall(), data=world.directory)
        assert 404 == (await people.ask("", "GET", anna["path"])).status
        assert [] == world.read(published.listing)
        assert world.read(accounts.find, "anna") is None
        assert [] == [row.name for row in world.read(sentinels.listing) if row.name == "annas"]

    def run(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, run)


def test_strangers_never_see_the_frame_of_a_screen(world: World) -> None:
    """It shows how much is watched and unread."""

    async def story(people: People) -> None:
        found = [
            await people.ask("", "GET", "/static/x/nothing"),
            await people.ask("", "POST", "/login", body=b"{}", headers={"content-type": "application/json"}),
            await people.ask("", "GET", "/public/x/changes"),
            await people.ask("", "GET", "/public/x/feed.atom"),
        ]
        assert [404, 415, 404, 404] == [one.status for one in found]
        assert [False] * 4 == [b"<nav" in one.body for one in found]

    def run(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, run)
