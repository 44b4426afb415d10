"""Promise: the screens show what changed, why, and what comes next, and work by forms and links
alone.
"""

from __future__ import annotations

import contextlib
import gzip
import html
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.asgi import Answer, ask, following
from tests.rows import list_changed, list_rows
from tests.world import World, play
from tidings.clock import HOUR, MINUTE
from tidings.model.secret import Secret
from tidings.service.on_demand.trial import Tried
from tidings.service.run.monitor import Monitor
from tidings.service.secrets import secrets
from tidings.storage.secrets import Vault
from tidings.storage.watches import changes, inbox, outside, sentinels
from tidings.web.access import Asker
from tidings.web.routes import SCREENS, api_routes, application, program_routes, screen_routes
from tidings.web.screens.desk import Desk
from tidings.web.server import HttpServer

HOSTILE = "&lt;script&gt;alert(1)&lt;/script&gt; &lt;img src=x onerror=alert(2)&gt;"
SHOP = "Create Sentinel shop Using {/a} Monitor all words Fetch every 1 hour Tags money"


@contextlib.asynccontextmanager
async def face(world: World, monitor: Monitor) -> AsyncIterator[Any]:
    """Return the application with its screens."""
    async with face_and_desk(world, monitor) as (app, _):
        yield app


@contextlib.asynccontextmanager
async def face_and_desk(world: World, monitor: Monitor) -> AsyncIterator[tuple[Any, Desk]]:
    """Return the application with its screens, and what they share."""
    door = HttpServer(world.settings)
    monitor.committer.listen(door.note)
    desk = Desk(world.settings, world.clock, door.changes)
    try:
        yield application(door.inside(monitor), desk), desk
    finally:
        door.changes.end()
        await desk.close()


async def see(app: Any, path: str) -> str:
    """Return a screen."""
    answer = await ask(app, path)
    assert 200 == answer.status, answer.body.decode()
    return answer.body.decode()


async def send(app: Any, path: str, *fields: tuple[str, str]) -> Answer:
    """Send a form."""
    headers = {"content-type": "application/x-www-form-urlencoded", "origin": "http://127.0.0.1:8780"}
    return await ask(app, path, "POST", headers=headers, body=urlencode(fields).encode())


def words_of(page: str) -> str:
    """Return the visible text of a screen, in one line."""
    main = page.partition("<main")[2].partition("</main>")[0].partition(">")[2]
    return " ".join(re.sub(r"<[^>]*>", " ", re.sub(r"<title>.*?</title>", "", main)).split())


async def edit(world: World, monitor: Monitor, *texts: str) -> None:
    """Serve each text for an hour as a page."""
    for text in texts:
        world.page("/a", f"<title>Kettle</title><h1>Offer</h1><p>Price {text} EUR</p>")
        await world.pass_time(monitor, HOUR)


def test_plan_marks_fixed_checks(world: World) -> None:
    """Intervals and times of day are fixed; on change is chosen by the policy."""
    world.page("/a", "<p>words</p>")
    for name, fetch in (("every", "every 12 hours"), ("at", "at 08:00, 20:00"), ("often", "every 4 hours")):
        world.add(f"Create Sentinel {name} Using {{/{name}}} Monitor all words Fetch {fetch}")
    world.add("Create Sentinel chosen Using {/a} Monitor all words Fetch on change")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            text = words_of(await see(app, "/plan"))
            assert "10 a day on fixed schedules 24 a day chosen automatically" in text
            assert "34 checks a day are planned" in text
            assert "127.0.0.1 4 34" in text

    play(world, story)


def test_inbox_shows_a_change_until_it_is_read(world: World) -> None:
    """It has the page's own words and their place; reading, keeping and reading all are forms."""
    world.page("/a", "<title>Kettle</title><h1>Offer</h1><p>Price 129 EUR</p>")
    world.add(SHOP)

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            await edit(world, monitor, "109", "99")
            first = await see(app, "/")
            text = words_of(first)
            assert "<title>(2) Inbox · Tidings</title>" in first
            assert "109 → 99" in text
            assert "129 → 109" in text
            assert "Kettle" in text
            newest, oldest = re.findall(r'id="c([0-9a-f]+)"', first)
            await send(app, "/inbox?back=/", ("read", newest))
            await send(app, "/inbox?back=/", ("keep", oldest))
            assert "All read" in words_of(await see(app, "/"))
            assert "129 → 109" in words_of(await see(app, "/?s=kept"))
            assert "109 → 99" not in words_of(await see(app, "/?s=kept"))
            await send(app, f"/changes/{newest}", ("act", "unread"))
            assert "109 → 99" in words_of(await see(app, "/"))
            await send(app, f"/changes/{oldest}", ("act", "unread"))
            await send(app, "/inbox/all-read")
            assert "129 → 109" in words_of(await see(app, "/?s=kept"))
            assert "All read" in words_of(await see(app, "/"))

    play(world, story)


def test_all_read_marks_what_the_list_shows(world: World) -> None:
    """What the filter leaves out stays unread, and what arrived after the list was shown."""
    world.page("/a", "<title>Kettle</title><h1>Offer</h1><p>Price 129 EUR</p>")
    world.page("/b", "<p>one</p>")
    world.add(SHOP)
    world.add("Create Sentinel jobs Using {/b} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            world.page("/b", "<p>two</p>")
            await edit(world, monitor, "109")
            form = re.search(
                r'action="(/inbox/all-read[^"]*)"><input[^>]*value="(\w+)"', await see(app, "/?sentinel=shop")
            )
            assert form is not None
            await edit(world, monitor, "99")
            sent = await send(app, html.unescape(form[1]), ("newest", form[2]))
            assert "/?sentinel=shop" == sent.headers["location"]
            text = words_of(await see(app, "/"))
            assert "109 → 99" in text
            assert "one → two" in text
            assert "129 → 109" not in text
            assert "All of these read" in words_of(await see(app, "/?sentinel=shop"))

    play(world, story)


@pytest.mark.parametrize(
    ("query", "is_there"),
    [
        ("?s=all&q=109", True),
        ("?s=all&q=kettle", True),
        ("?s=all&q=%25", False),
        ("?s=all&q=nothing", False),
        ("?s=all&sentinel=shop", True),
        ("?s=all&sentinel=other", False),
        ("?s=all&tag=money", True),
        ("?s=all&tag=ops", False),
        ("?s=all&time=today", True),
        ("?s=nonsense&time=nonsense&before=nonsense", False),
    ],
)
def test_inbox_is_filtered_by_its_url(world: World, query: str, is_there: bool) -> None:
    """Every filter is a link; an invalid one is ignored or matches nothing."""
    world.page("/a", "<title>Kettle</title><p>Price 129 EUR</p>")
    world.add(SHOP)

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            await edit(world, monitor, "109")
            assert is_there == ("129 → 109" in words_of(await see(app, f"/{query}")))

    play(world, story)


def test_change_is_compared_in_every_view_and_with_any_version(world: World) -> None:
    """The edits alone, in one column, in two, rendered; and between any two versions."""
    world.page("/a", "<title>Kettle</title><h1>Offer</h1><p>Price 129 EUR</p>")
    world.add(SHOP)

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            await edit(world, monitor, "109", "99")
            newest, _ = re.findall(r'id="c([0-9a-f]+)"', await see(app, "/"))
            for view in ("only", "page", "two", "nonsense"):
                text = words_of(await see(app, f"/changes/{newest}?view={view}"))
                assert "109" in text
                assert "99" in text
            text = words_of(await see(app, f"/changes/{newest}?view=only&from=1&to=3"))
            assert "129" in text.partition("Compare")[2]
            framed = await see(app, f"/changes/{newest}?view=rendered")
            assert f'src="/changes/{newest}/rendered?from=2&amp;to=3"' in framed
            assert 'sandbox=""' in framed
            page = await ask(app, f"/changes/{newest}/rendered?from=2&to=3")
            assert "sandbox" in page.headers["content-security-policy"]
            assert b"109</del>" in page.body
            assert b"99</ins>" in page.body
            assert 410 == (await ask(app, f"/changes/{newest}/rendered?from=2&to=9")).status
            shared = await ask(app, f"/changes/{newest}/picture")
            assert ("image/svg+xml", True) == (shared.headers["content-type"], b"</svg>" in shared.body)
            assert "sandbox" in shared.headers["content-security-policy"]
            reported = await ask(app, f"/changes/{newest}/text")
            assert reported.headers["content-type"].startswith("text/plain")
            assert reported.body.decode().strip()
            assert [404, 404] == [(await ask(app, f"/changes/none/{what}")).status for what in ("picture", "text")]
            assert 404 == (await ask(app, "/changes/nothing")).status

    play(world, story)


def test_page_content_is_never_executed(world: World) -> None:
    """H-077, H-078: titles, texts and names of a hostile page are text, and every screen has a
    content policy.
    """
    world.page("/a", f"<title>{HOSTILE}</title><p>{HOSTILE} one</p>")
    world.add("Create Sentinel evil Using {/a} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            world.page("/a", f"<title>{HOSTILE}</title><p>{HOSTILE} &lt;script&gt;two&lt;/script&gt;</p>")
            await world.pass_time(monitor, HOUR)
            (change,) = re.findall(r'id="c([0-9a-f]+)"', await see(app, "/"))
            for path in ("/", f"/changes/{change}", "/sentinels", "/sentinels/evil", "/plan", "/health", "/settings"):
                answer = await ask(app, path)
                page = answer.body.decode()
                assert [] == re.findall(r"<img|onerror=alert\(2\)>|<script>", page), path
                assert 1 == page.count("<script "), path
                assert "script-src 'self'" in answer.headers["content-security-policy"]
                assert "unsafe" not in answer.headers["content-security-policy"]
                assert "same-origin" == answer.headers["referrer-policy"]

    play(world, story)


def test_link_of_another_site_requests_no_page(world: World) -> None:
    """The screen shows the statement with its faults; only its button tries it."""
    world.page("/a", "<title>Kettle</title><p>Price 129 EUR</p>")
    world.write(secrets.set_, Vault(world.directory), "shop", Secret("c4nary"), jar=False, at=world.clock.now())
    text = world.text('Create Sentinel x Using {/a} Header "X-Key" secret "shop" Monitor all words')
    plain = world.text("Create Sentinel x Using {/a} Monitor all words")
    posts = world.text('Create Sentinel x Using {/a} Method "POST" Body "order=1" Monitor all words')
    url = world.text("{/a}")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            for given in (
                {"text": text},
                {"text": plain},
                {"text": posts},
                {"text": url},
                {"url": url},
                {"url": url, "monitor": f"any change\nCreate Sentinel y Using {url} Monitor links", "at": "1"},
                {"url": f'{url} Header "X-Key" secret "shop"'},
            ):
                for headers in ({}, {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}):
                    answer = await ask(app, f"/new?{urlencode(given)}", headers=headers)
                    assert (200, True) == (answer.status, url in answer.body.decode())
                assert [] == world.server.seen
            assert "%20Header" in await see(app, f"/new?{urlencode({'url': given['url']})}")
            assert "E1" in words_of(await see(app, f"/new?{urlencode({'text': plain.replace('words', 'wrds')})}"))
            cross = await ask(
                app,
                "/new",
                "POST",
                headers={"origin": "https://evil.example", "content-type": "application/x-www-form-urlencoded"},
                body=urlencode({"act": "page", "url": url}).encode(),
            )
            assert (403, []) == (cross.status, world.server.seen)
            assert 200 == (await send(app, "/new", ("act", "try"), ("text", text))).status
            assert ["c4nary"] == [seen.headers["x-key"] for seen in world.server.seen]

    play(world, story)


def test_form_asks_for_interval_name_tags_and_receivers(world: World) -> None:
    """Its fields are clauses of the text; a page without https is found by http."""
    world.page("/a", "<title>Kettle</title><p>Price 129 EUR</p>")
    url = world.text("{/a}")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            bare = url.removeprefix("http://")
            sent = await send(app, "/new", ("act", "page"), ("url", bare), ("monitor", "all words"))
            shown = sent.body.decode()
            assert f'value="{url}"' in shown
            assert "It begins:" in words_of(shown)
            turned = await send(app, "/new", ("act", "page"), ("url", f"{bare}?next=https://x.example/"))
            assert f'value="{url}?next=https://x.example/"' in turned.body.decode()
            text = f"-- mine\nCreate Sentinel a Using {url}\nMonitor all words\nTags home"
            given = (
                ("name", "steel: kettle"),
                ("every", "10 min"),
                ("tags", "shop, to buy"),
                ("notify", "anna@example.org,bert@example.org ntfy://ntfy.example/kettle https://hook.example/x"),
            )
            made = await send(app, "/new", ("act", "save"), ("text", text), ("url", url), *given)
            assert (303, "/sentinels/steel-kettle") == (made.status, made.headers["location"])
            again = await send(app, "/new", ("act", "save"), ("text", text), ("url", url), ("name", "steel-kettle"))
            assert (422, True) == (again.status, "already a sentinel" in words_of(again.body.decode()))
            wrong = await see(app, f"/new?{urlencode({'url': 'https://[x'})}")
            assert 'aria-invalid="true"' in wrong

    play(world, story)

    written = world.sentinel("steel-kettle").text
    for line in (
        "Fetch every 10 min",
        "Tags home, shop, to-buy",
        "anna@example.org",
        "bert@example.org",
        "ntfy",
        "webhook",
    ):
        assert line in written, written


def test_address_without_scheme_is_tried_once_if_it_answers(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the attempt by https found is shown, and the page is not requested again."""
    tried: list[str] = []

    async def answer(_: Desk, text: str, _asker: Asker) -> tuple[list[Tried], tuple[()]]:
        tried.append(text)
        return [], ()

    monkeypatch.setattr(Desk, "try_out", answer)

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            assert 200 == (await send(app, "/new", ("act", "page"), ("url", "shop.example/kettle"))).status

    play(world, story)

    assert 1 == len(tried)
    assert "https://shop.example/kettle" in tried[0]


def test_sentinel_is_made_tried_altered_paused_and_ended_by_forms(world: World) -> None:
    """A trial stores nothing; errors stand beside the text, which is kept."""
    world.page("/a", "<title>Kettle</title><p>Price 129 EUR</p>")
    url = world.text("{/a}")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            assert "Nothing is watched yet" in words_of(await see(app, "/"))
            sent = await send(app, "/new", ("act", "page"), ("url", url), ("monitor", "all words"))
            tried = sent.body.decode()
            assert "Kettle" in words_of(tried)
            assert "Monitor all words" in tried
            assert [] == world.read(sentinels.names)
            wrong = await send(
                app, "/new", ("act", "save"), ("text", f"Create Sentinel shop Using {url} Monitor all wrds")
            )
            assert 422 == wrong.status
            assert "all wrds" in wrong.body.decode()
            assert "E1" in words_of(wrong.body.decode())
            right = f"Create Sentinel shop Using {url} Monitor all words Fetch every 1 hour"
            shown = (await send(app, "/new", ("act", "text"), ("text", right))).body.decode()
            assert f'value="{url}"' in shown, "a text about one page fills in its address"
            for field, value, why in (
                ("notify", "anna@example.org, example.org/hook", "example.org/hook is neither an e-mail address nor"),
                ("notify", "a@example.org " * 6, "more than 5 receivers"),
                ("notify", "nosuch://x", "nosuch"),
                ("every", "10 parsecs", "write for example 10 min"),
                ("name", "17", "with a letter first"),
                ("tags", ";", "write letters and digits"),
            ):
                refused = await send(app, "/new", ("act", "save"), ("text", right), ("url", url), (field, value))
                shown = refused.body.decode()
                assert (422, True) == (refused.status, why in words_of(shown)), (value, words_of(shown))
                assert f'value="{value.strip()}"' in shown
                assert 'aria-invalid="true"' in shown
                assert "Nothing is watched yet" in words_of(await see(app, "/"))
            assert 303 == (await send(app, "/new", ("act", "save"), ("text", right))).status
            await world.settle(monitor)
            assert "Kettle" in words_of(await see(app, "/sentinels/shop"))
            await send(app, "/sentinels", ("s", "shop"), ("act", "pause"))
            assert "paused" in words_of(await see(app, "/sentinels/shop"))
            await send(app, "/sentinels/shop", ("act", "enable"))
            altered = right.replace("1 hour", "2 hour")
            assert 303 == (await send(app, "/sentinels/shop", ("act", "text"), ("text", altered))).status
            assert "Fetch every 2 hour" in await see(app, "/sentinels/shop")
            other = await send(app, "/sentinels/shop", ("act", "text"), ("text", altered.replace("shop", "other")))
            assert 422 == other.status
            assert ["shop"] == world.read(sentinels.names)
            await send(app, "/sentinels", ("s", "shop"), ("act", "tags"), ("tags", "money, home"))
            assert ("home", "money") == tuple(sorted(world.sentinel("shop").tags))
            refused = await send(app, "/sentinels", ("s", "shop"), ("act", "tags"), ("tags", "at home"))
            assert 422 == refused.status
            assert "E04" in words_of(refused.body.decode())
            await send(app, "/sentinels/shop", ("act", "drop"))
            assert [] == world.read(sentinels.names)
            assert 404 == (await ask(app, "/sentinels/never")).status

    play(world, story)


def test_text_altered_in_another_window_is_not_overwritten(world: World) -> None:
    """Both texts are shown, what was typed stays in the form, saving again replaces the other."""
    world.page("/a", "<title>Kettle</title><p>Price 129 EUR</p>")
    world.page("/b", "<p>other</p>")
    world.add(SHOP)
    stored = world.sentinel("shop").text

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:

            async def save(edited: str, text: str) -> Answer:
                return await send(app, "/sentinels/shop", ("act", "text"), ("edited", edited), ("text", text))

            async def edited() -> str:
                found = re.search(r'name="edited" value="([^"]+)"', await see(app, "/sentinels/shop"))
                assert found is not None
                return found[1]

            shown = await edited()
            assert 303 == (await save(shown, stored.replace("1 hour", "2 hour"))).status
            refused = await save(shown, stored.replace("1 hour", "3 hour"))
            assert 409 == refused.status
            assert "This text was changed while you were editing it" in words_of(refused.body.decode())
            assert "Fetch every 2 hour" in refused.body.decode()
            assert "Fetch every 3 hour" in refused.body.decode().partition("<textarea")[2]
            assert "Fetch every 2 hour" in world.sentinel("shop").text
            assert 303 == (await save(await edited(), stored.replace("1 hour", "3 hour"))).status
            shown = await edited()
            moved = stored.replace("/a", "/b")
            assert 303 == (await save(shown, moved)).status, "another address makes another sentinel of this name"
            assert 409 == (await save(shown, stored)).status
            assert moved == world.sentinel("shop").text

    play(world, story)


def test_answer_to_a_form_is_not_replaced_by_the_result_of_a_check(world: World) -> None:
    """A check is due soon, and the errors, the text as typed and the result of a test stay."""
    world.page("/a", "<title>Kettle</title><p>Price 129 EUR</p>")
    world.add(SHOP)

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            assert "data-soon" in await see(app, "/sentinels/shop")
            wrong = await send(app, "/sentinels/shop", ("act", "text"), ("text", "Create Sentinel shop Using"))
            assert 422 == wrong.status
            assert "The first check is made now" in words_of(wrong.body.decode())
            assert "data-soon" not in wrong.body.decode()
            tested = await send(app, "/sentinels/shop", ("act", "test"))
            assert "data-soon" not in tested.body.decode()

    play(world, story)


def test_screen_of_a_sentinel_shows_that_a_check_is_made_soon(world: World) -> None:
    """The first one, a requested one, and one that confirms a change; a paused sentinel has none."""
    world.flags["detect.second_polls"] = "true"
    world.page("/a", "<title>Kettle</title><h1>Offer</h1><p>Price 129 EUR</p>")
    world.add(SHOP)
    text: list[str] = []

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:

            async def note() -> None:
                shown = (await see(app, "/sentinels/shop")).partition("data-soon>")[2]
                text.append(" ".join(words_of(f"<main>{shown.partition('</p>')[0]}").split()[:3]))

            await note()
            await world.settle(monitor)
            await note()
            await send(app, "/sentinels/shop", ("act", "check"))
            await note()
            await world.settle(monitor)
            await note()
            await edit(world, monitor, "109")
            await note()
            await world.pass_time(monitor, 2 * MINUTE)
            await note()
            await send(app, "/sentinels/shop", ("act", "check"))
            await send(app, "/sentinels/shop", ("act", "pause"))
            await note()

    play(world, story)

    assert ["The first check", "", "A check was", "", "A change was", "", ""] == text


def test_price_history_is_a_plot_and_a_table(world: World) -> None:
    """Each value has its start and difference; the plot has a description."""
    offer = '<script type="application/ld+json">{{"@type":"Product","offers":{{"price":"{}","priceCurrency":"EUR"}}}}</script><p>x</p>'
    world.page("/a", offer.format("100.00"))
    world.add("Create Sentinel shop Using {/a} Monitor price Fetch every 1 hour")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            for price in ("80.00", "120.00"):
                world.page("/a", offer.format(price))
                await world.pass_time(monitor, HOUR)
            page = await see(app, "/sentinels/shop")
            assert 'aria-label="price: from 100 to 120, lowest 80, highest 120; table below"' in page
            assert "−20.0" in page
            assert "+50.0" in page

    play(world, story)


def test_forms_of_other_sites_are_refused(world: World) -> None:
    """R-12, H-087."""
    world.page("/a", "<p>one</p>")
    world.add(SHOP)

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            for path, method, _, _ in SCREENS:
                if method == "POST":
                    headers = {"origin": "https://evil.example", "content-type": "application/x-www-form-urlencoded"}
                    given = path.replace("{id}", "1").replace("{name}", "shop")
                    assert 403 == (await ask(app, given, "POST", headers=headers, body=b"act=drop")).status
        assert ["shop"] == world.read(sentinels.names)

    play(world, story)


READ, EDIT = "reader-" * 5, "editor-" * 5
LOGINS = {"": "", "reader": READ, "editor": EDIT, "another": "another" * 5}


@pytest.mark.parametrize(
    ("token", "edit_token", "login", "reads", "edits"),
    [
        ("", "", "", 200, 303),
        (READ, "", "", 401, 401),
        (READ, "", "reader", 200, 403),
        (READ, EDIT, "", 401, 401),
        (READ, EDIT, "reader", 200, 401),
        (READ, EDIT, "editor", 200, 303),
        (READ, EDIT, "another", 401, 401),
        ("", EDIT, "", 200, 401),
        ("", EDIT, "editor", 200, 303),
    ],
)
def test_reader_s_token_changes_nothing(make_world, token, edit_token, login, reads, edits) -> None:
    """An editor's token also reads (R-13)."""
    world: World = make_world(serve__token=token, serve__edit_token=edit_token)
    world.page("/a", "<p>one</p>")
    world.add(SHOP)

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            shown = {"authorization": f"Bearer {LOGINS[login]}"} if login else {}
            form = {**shown, "content-type": "application/x-www-form-urlencoded"}
            statuses: dict[str, set[int]] = {"readers": set(), "editors": set()}
            for path, method, needed, _ in SCREENS:
                who = "editors" if needed == "markers" else needed  # none of these logins has an account
                if (
                    who not in statuses
                    or "{id}" in path
                    or "{page}" in path
                    or path in ("/live", "/logout", "/account")
                    or (path, method) == ("/health", "POST")
                ):
                    continue
                given = path.replace("{name}", "shop")
                if method == "GET":
                    found = await ask(app, given, headers=shown)
                else:
                    found = await ask(app, given, "POST", headers=form, body=b"act=check&s=shop&text=x")
                statuses[who].add(found.status)
            assert {reads} == statuses["readers"]
            assert edits in statuses["editors"]
            if edits != 303:
                assert {edits} == statuses["editors"]

    play(world, story)


def test_browser_cannot_run_a_command(make_world) -> None:
    """Also where the operator permits commands for the command line; such sentinels cannot be
    altered there either.
    """
    world: World = make_world(events__allow_commands="true", fetch__allow_commands="true")
    world.add('Create Sentinel disk Using command "/bin/echo" "12 GB" Monitor all words Fetch on demand')
    (text,) = [row.text for row in world.read(sentinels.listing)]

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            for output, why in (
                ('Create Event build Using command "true"', "commands are not allowed for events here"),
                ('Create Sentinel t Using command "true" Monitor any change', "commands are not allowed here"),
                ("Create Sentinel t Using disk Monitor any change", "commands are not allowed here"),
                ("Alter disk Fetch 1 hour", "commands are not allowed here"),
                ("Alter disk Using https://a.example/", "commands are not allowed here"),
            ):
                refused = await send(app, "/new", ("act", "save"), ("text", output))
                assert 422 == refused.status
                assert why in words_of(refused.body.decode())
            edited = "Create Sentinel disk Using https://a.example/ Monitor any change"
            assert 422 == (await send(app, "/sentinels/disk", ("act", "text"), ("text", edited))).status
        assert [] == world.read(outside.listing)
        assert [text] == [row.text for row in world.read(sentinels.listing)]

    play(world, story)


def test_screens_are_compressed_and_errors_are_screens(world: World) -> None:
    """At most 15 kB a screen; a missing one has a link back."""

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            packed = await ask(app, "/settings", headers={"accept-encoding": "gzip, br"})
            assert "gzip" == packed.headers["content-encoding"]
            assert 15_000 > len(packed.body)
            assert gzip.decompress(packed.body).decode() == await see(app, "/settings")
            lost = await ask(app, "/changes/nothing")
            assert (404, "text/html; charset=utf-8") == (lost.status, lost.headers["content-type"])
            assert "there is no such change" in words_of(lost.body.decode())

    play(world, story)


def test_open_screens_are_updated_at_once(world: World) -> None:
    """The stream of an open screen sends the number of unread changes."""
    world.page("/a", "<title>Kettle</title><p>Price 129 EUR</p>")
    world.add(SHOP)

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            async with following(app, "/live") as reader:
                await reader.until(1)
                await edit(world, monitor, "109")
                await reader.until(2)
            assert [0, 1] == [data for _, data in reader.records]
            assert 1 == world.read(inbox.count, inbox.Filter(viewer=None))

    play(world, story)


def test_no_screen_requests_a_page_when_it_is_opened(world: World) -> None:
    """Nor does any other GET: nothing is asked of the network, and no row is written, whatever the
    query says.
    """
    world.page("/a", "<title>Kettle</title><p>Price 129 EUR</p>")
    world.add("Create Sentinel shop Using {/a} Monitor all words Fetch every 1 hour Notify by feed Tags kettles")
    queries = (
        "",
        "?url={/a}",
        "?text={/a}",
        "?q=kettle",
        "?budget=900",
        "?undo=1",
        "?how=size",
        "?view=render",
        "?at=1",
    )

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            world.page("/a", "<title>Kettle</title><p>Price 99 EUR</p>")
            await world.pass_time(monitor, HOUR)
            (change,) = world.read(changes.listing, sentinel="shop")
            named = {"name": "shop", "name:path": "shop", "id": change.row.id, "page": "1", "tag": "kettles"}
            every = [*program_routes(), *api_routes(None), *screen_routes(None)]  # type: ignore[arg-type]
            paths = sorted({one.path for one in every if one.method == "GET" and "stream" not in one.path})
            asked, before = len(world.server.seen), world.read(list_rows)
            for path in paths:
                filled = re.sub(r"{([^}]+)}", lambda found: named.get(found[1], "1"), path)
                for query in queries if "/events" not in path else ("?follow=false",):
                    await ask(app, filled + world.text(query))
            assert len(paths) > 60
            assert asked == len(world.server.seen)
            assert [] == list_changed(before, world.read(list_rows))

    play(world, story)


def test_static_files_are_cached_under_their_own_hash_only(world: World) -> None:
    """Under that of another version they are sent, but not stored."""

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            (address, *_) = re.findall(r"/static/\w+/[\w.]+", await see(app, "/"))
            other = re.sub(r"/static/\w+/", "/static/0123456789ab/", address)
            found = [(await ask(app, path)).headers["cache-control"] for path in (address, other)]
            assert [True, "no-store"] == ["immutable" in found[0], found[1]]

    play(world, story)
