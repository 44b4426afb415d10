"""Promise: present and past versions can be searched, only by users who may see them, and removed
ones leave no trace.
"""

from __future__ import annotations

import contextlib
import json
from hashlib import sha256
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from tests.people import People, with_people
from tests.world import World, play, serve
from tidings.clock import DAY, HOUR
from tidings.isolation.runner import Died, JobLimits
from tidings.isolation.runners import InProcess
from tidings.service.people import accounts as accounts_of
from tidings.service.run import indexer as opening
from tidings.service.run.indexer import open_indexer
from tidings.service.run.monitor import Monitor
from tidings.service.search import asking
from tidings.storage.observed import versions
from tidings.storage.people import accounts
from tidings.storage.search.log import SearchLog
from tidings.storage.watches import sentinels, subscriptions

HOSTILE = "<title>Fruit <b>&amp;</b></title><p>apple &lt;script&gt;alert(1)&lt;/script&gt; \u202e pear</p>"


async def index(world: World) -> int:
    """Update the index; return how many versions were added."""
    async with open_indexer(world.settings) as (_, indexer):
        return await indexer.catch_up()


async def find(world: World, monitor: Monitor, text: str, **given: Any) -> list[dict[str, Any]]:
    """Return the records found."""
    async with open_indexer(world.settings) as (opened, _):
        wanted = asking.SearchRequest(text=text, **given)
        answer = await asking.ask(monitor.store, opened, wanted, now=world.clock.now())
        assert answer.count == len(answer.results)
        return [asking.record(result) for result in answer.results]


def test_all_versions_are_searchable(world: World) -> None:
    """The newest by default, any day on request; frames belong to their page, and a removed page is
    found by date only.
    """
    world.page("/a", "<title>Menu</title><p>tea and scones</p><iframe src=/f></iframe>")
    world.page("/f", "<p>open on mondays</p>")
    world.page("/b", "<p>tea leaves</p>")
    world.add("Create Sentinel a Using {/a} Frames 2 Monitor all words Fetch every 8 hours Tags food")
    world.add("Create Sentinel b Using {/b} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        begun = world.clock.now()
        assert 0 < service.run(index(world))
        assert ["a", "b"] == sorted(one["sentinels"][0] for one in service.run(find(world, service.monitor, "tea")))
        assert ["a"] == [one["sentinels"][0] for one in service.run(find(world, service.monitor, "mondays scones"))]
        assert [[[0, 3], [8, 14]]] == [one["marks"] for one in service.run(find(world, service.monitor, "tea scones"))]
        world.page("/a", "<title>Menu</title><p>coffee and cake</p><iframe src=/f></iframe>")
        world.page("/b", "<title>Herbs</title><p>tea leaves</p>")
        service.pass_time(2 * HOUR)
        service.run(index(world))
        assert ["Herbs"] == [one["title"] for one in service.run(find(world, service.monitor, "herbs leaves"))]
        world.server.pages.pop("/b")
        service.pass_time(8 * HOUR)
        service.run(index(world))
        assert [] == service.run(find(world, service.monitor, "tea"))
        assert ["b", "a"] == [
            one["sentinels"][0] for one in service.run(find(world, service.monitor, "tea", at=begun + 1))
        ]
        (record,) = service.run(find(world, service.monitor, "cake", changed_since=begun))
        assert ["Menu", "1.2", None] == [record["title"], record["version"], record["until"]]
        assert [] == service.run(find(world, service.monitor, "cake", tag="drink"))
        assert 1 == len(service.run(find(world, service.monitor, "cake tag:food kind:html site:127.0.0.1")))
        world.page("/b", "<p>tea leaves</p>")
        service.pass_time(DAY)
        service.run(index(world))
        assert ["b"] == [one["sentinels"][0] for one in service.run(find(world, service.monitor, "tea"))]


def test_unreadable_page_hides_no_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the pages of one job only the one whose job dies is missing."""
    for name, text in {"/a": "tea and scones", "/b": "tea that kills", "/c": "tea leaves"}.items():
        world.page(name, f"<p>{text}</p>")
        world.add(f"Create Sentinel {name[1:]} Using {{{name}}} Monitor all words Fetch every 8 hours")
    jobs: list[int] = []

    class Dying(InProcess):
        async def run(self, function: Any, argument: Any, *, seconds: float | None = None) -> Any:
            jobs.append(len(argument))
            if any(b"kills" in body.data for bodies in argument for body in bodies):
                return Died("crash", "the job's process died")
            return await super().run(function, argument, seconds=seconds)

    monkeypatch.setattr(opening, "open_runner", lambda _: Dying(JobLimits()))
    with serve(world) as service:
        service.settle()
        assert 3 == service.run(index(world))
        found = service.run(find(world, service.monitor, "tea"))

    assert ["a", "c"] == sorted(one["sentinels"][0] for one in found)
    assert [3, 1, 1, 1] == jobs


@pytest.mark.parametrize("letter", [r"\ud83d", r"\u0000", r"\udc00\ud800", "\ufffe"])
def test_title_of_any_letters_hides_no_other(world: World, letter: str) -> None:
    """Half of an emoji in a feed's title stops neither the index nor a search for its text."""
    feed = f'{{"version": "https://jsonfeed.org/version/1.1", "title": "News {letter}", "items":'
    items = f'[{{"id": "1", "title": "Tea {letter}", "content_text": "tea and scones {letter}"}}]}}'
    world.page("/a", feed + items, headers={"Content-Type": "application/feed+json"})
    world.page("/b", "<p>tea leaves</p>")
    for name in "ab":
        world.add(f"Create Sentinel {name} Using {{/{name}}} Monitor any change Fetch every 8 hours")

    with serve(world) as service:
        service.settle()
        assert 2 == service.run(index(world))
        found = service.run(find(world, service.monitor, "tea"))

    assert ["a", "b"] == sorted(one["sentinels"][0] for one in found)


def test_users_find_only_what_they_may_see(world: World) -> None:
    """This includes pages, counts, sites and snippets; pages with a secret are for their owner
    alone.
    """
    world.page("/secret", "<title>Secret</title><p>one cookie 1</p>")

    async def story(people: People) -> None:
        async def search(who: str, text: str = "one") -> list[str]:
            answer = await people.ask(who, "GET", f"/api/v1/search?{urlencode({'q': text})}")
            output = json.loads(answer.body)
            screen = (await people.ask(who, "GET", f"/search?{urlencode({'q': text})}")).body.decode()
            names = sorted(name for item in output["items"] for name in item["sentinels"])
            assert not [item for item in output["items"] if "score" in item]  # it speaks of all pages
            assert (
                len(output["items"])
                == output["count"]
                == sum(output["sites"].values())
                == sum(output["kinds"].values())
            )
            assert names == sorted(name for name in ("annas", "common", "hidden") if f"/sentinels/{name}" in screen)
            return names

        hidden = 'Create Sentinel hidden Using {/secret} Monitor all words Fetch every 1 hour Header "Cookie" "a=b"'
        world.add(f"{hidden} Tags hers")
        anna = world.read(accounts.get_by_name, "anna")
        world.write(lambda c: sentinels.give(c, sentinels.find(c, "hidden").id, anna.id))
        world.write(lambda c: c.execute("UPDATE page SET owner_id = :id WHERE owner_id IS NOT NULL", id=anna.id))
        await world.pass_time(people.monitor, HOUR)
        await index(world)
        assert [["annas", "common"], ["annas", "common", "hidden"], ["common"]] == [
            await search(who) for who in ("ada", "anna", "bob")
        ]
        assert [] == await search("bob", "cookie")
        world.write(accounts.share, anna.id, "hers")
        assert ["annas", "common"] == await search("bob")
        assert [] == await search("ada", "cookie")
        pages = [one["page"] for one in (await people.ask("anna", "GET", "/api/v1/search?q=one")).json()["items"]]
        opened = {
            who: sorted([(await people.ask(who, "GET", f"/search/{page}/open")).status for page in pages])
            for who in ("anna", "bob", "ada")
        }
        assert {"anna": [303, 303, 303], "bob": [303, 303, 404], "ada": [303, 303, 404]} == opened
        leads = await people.ask("anna", "GET", f"/search/{pages[0]}/open?q=one&rank=1")
        assert "no-referrer" == leads.headers["referrer-policy"]
        assert leads.headers["location"].startswith("http://127.0.0.1:")

    def run_story(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, run_story)


def find_words(world: World, *words: bytes) -> dict[str, list[bytes]]:
    """Return the files of the data directory that contain one of these words."""
    found = {}
    for path in sorted(world.directory.rglob("*")):
        held = path.read_bytes() if path.is_file() else b""
        if kept := [word for word in words if word in held]:
            found[path.name] = kept
    return found


def test_removed_account_leaves_no_text(world: World) -> None:
    """After the next collection no file of the data directory has a word of its pages and searches."""
    world.page("/a", "<title>Quokkatitle</title><p>one xylophonic</p>")

    async def story(people: People) -> None:
        world.page("/a", text := "<title>Quokkatitle</title><p>one vuvuzelas</p>")
        body = sha256(text.encode()).hexdigest()
        await world.pass_time(people.monitor, HOUR)
        await index(world)
        assert 1 == len((await people.ask("anna", "GET", "/api/v1/search?q=vuvuzelas")).json()["items"])
        anna = world.read(accounts.get_by_name, "anna")
        with contextlib.closing(SearchLog(world.directory)) as log:
            log.note_search("vuvuzelas", owner_id=anna.id, at=world.clock.now())
        assert body in {blob.sha256 for blob in world.read(versions.blobs)}
        held = find_words(world, b"vuvuzelas", b"Quokkatitle")
        own = {path.name for path in world.directory.glob("*.db")}
        assert own == {name.removesuffix("-wal") for name in held}
        world.write(accounts_of.remove, "anna", world.clock.now(), data=world.directory)
        assert [] == (await people.ask("ada", "GET", "/api/v1/search?q=vuvuzelas")).json()["items"]
        await world.pass_time(people.monitor, 3 * DAY)
        await index(world)
        assert body not in {blob.sha256 for blob in world.read(versions.blobs)}  # compressed, no word is found in it
        assert {} == find_words(world, b"xylophonic", b"vuvuzelas", b"quokkatitle", b"Quokka", b"xylo")

    def run_story(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, run_story)


def test_a_version_that_retention_deletes_is_nowhere(make_world: Any) -> None:
    """Nobody removes anything: the version grows old. Then no file holds its words, and no search
    finds it; the log of searches had nothing of it, although it was found and opened.

    What stays are records, not the version: the first words that a page had when it was added, and
    sixty characters of a place that changes (0074). So it is a later version here, and its words
    are further within.
    """
    world: World = make_world(store__history_days="10", store__afterlife_days="6")
    old = f"<title>Quokkatitle</title><p>an apple</p><p>{'songs of the sea and ' * 4} xylophonic ones</p>"
    words = (b"xylophonic", b"quokkatitle", b"Quokkatitle")
    world.page("/a", "<title>Menu</title><p>an apple</p><p>no songs</p>")
    world.add('Create Sentinel s Using {/a} Monitor keyword "apple" Fetch every 8 hours')

    with serve(world) as service:
        service.settle()
        world.page("/a", old)
        service.pass_time(9 * HOUR)
        then = world.clock.now()
        service.run(index(world))
        world.page("/a", "<title>Menu</title><p>an apple</p><p>other songs</p>")
        service.pass_time(9 * HOUR)
        service.run(index(world))
        with contextlib.closing(SearchLog(world.directory)) as log:
            log.note_search("sea", owner_id=1, at=world.clock.now())
            log.note_click(1, owner_id=1)
        (found,) = service.run(find(world, service.monitor, "sea", at=then))
        assert "xylophonic" in found["snippet"]
        own = {path.name for path in world.directory.glob("*.db")} - {"searches.db"}
        assert own == {name.removesuffix("-wal") for name in find_words(world, *words)}
        body = sha256(old.encode()).hexdigest()
        assert body in {blob.sha256 for blob in world.read(versions.blobs)}  # compressed, no word is found in it
        service.pass_time(12 * DAY)
        service.run(index(world))
        assert [3] == [version.seq for version in world.versions()]
        assert body not in {blob.sha256 for blob in world.read(versions.blobs)}
        assert [] == service.run(find(world, service.monitor, "sea", at=then))
        assert {} == find_words(world, *words)
        assert ["Menu"] == [one["title"] for one in service.run(find(world, service.monitor, "songs"))]


def test_search_screen_works_without_scripts(world: World) -> None:
    """Page text has no effect; hits are marked, facets are links, and a bad question has an answer."""
    world.page("/a", HOSTILE)

    async def story(people: People) -> None:
        async def see(query: str) -> str:
            answer = await people.ask("ada", "GET", f"/search?{query}")
            assert 200 == answer.status
            return answer.body.decode()

        assert "not in the index yet" in await see("")
        world.page("/a", HOSTILE)
        await world.pass_time(people.monitor, HOUR)
        await index(world)
        shown = await see("q=apple")
        assert "<mark>apple</mark> &lt;script&gt;alert(1)" in shown
        assert "\u202e" not in shown
        assert "alert(1)</script>" not in shown
        assert "Fruit &lt;b&gt;" in shown or "Fruit &amp;" in shown
        assert 'href="/search?q=apple&amp;time=today"' in shown
        assert "Nothing found" in await see("q=apple&site=example.org")
        assert "is not a date" in await see("q=apple&at=never")
        assert "say a word" in await see("q=-apple")
        assert "Nothing found" in await see("q=apple&at=1999-01-01")
        assert 200 == (await people.ask("ada", "GET", "/search?q=apple&p=99&time=x&kind=html")).status

    def run_story(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, run_story)


ODD = {
    "": "q is empty",
    '"': "say a word",
    "AND NOT": "",
    "NEAR(tea, 5)": "",
    "title:tea {x}: ^tea (tea OR": "",
    "tea\0scones": "number 0",
    "\u202etea\u202c": "",
    "\N{PARTY POPPER}\ufeff": "",
    "\u200d": "say a word",
    "e\u0301" * 400: "",
    "'; DROP TABLE doc; --": "",
    " ".join(f"t{n}" for n in range(100)): "32 words",
    "tea " * 10_000: "1,000 characters",
    "tea kind:novel": "the kind novel",
}
"""Queries, and what is said of those that are refused."""
FILTERS = {
    "kind=novel": "the kind novel",
    "at=never": "is not a date",
    "at=9999-12-31": "",
    "at=0001-01-01": "",
    "limit=101": "limit is 100 at most",
    "limit=-1": "limit is 1 or more",
    "limit=x": "limit is a whole number",
    "p=99999999999": "no parameter p",
    "sentinel=nothing&site=%00": "number 0",
}
ONLY_API = ("q is empty", "limit is", "no parameter")


def test_invalid_queries_get_a_clear_answer(world: World) -> None:
    """On the screen and in the API; none is an internal error."""

    async def story(people: People) -> None:
        asked = [(f"q={quote(text)}", words) for text, words in ODD.items()]
        asked += [(f"q=tea&{query}", words) for query, words in FILTERS.items()]
        for query, words in asked:
            screen = await people.ask("anna", "GET", f"/search?{query}")
            assert (422 if "%00" in query else 200) == screen.status, query[:80]
            answer = await people.ask("anna", "GET", f"/api/v1/search?{query}")
            if query.startswith("q=tea&at="):  # an instant there
                continue
            assert (422 if words else 200) == answer.status, query[:80]
            assert words in answer.json().get("detail", ""), query[:80]
            if words and not words.startswith(ONLY_API):
                assert words in screen.body.decode(), query[:80]

    play(world, lambda monitor: with_people(world, monitor, story))


def test_search_statistics_stay_local(world: World) -> None:
    """By owner, on the screen; opened results by rank.

    No request sends them; they are removed with the account and can be switched off.
    """

    async def story(people: People) -> None:
        await index(world)
        seen = len(world.server.seen)
        for who, text in (("anna", "one"), ("anna", "One"), ("bob", "xylophone"), ("bob", "-")):
            assert 200 == (await people.ask(who, "GET", f"/search?{urlencode({'q': text})}")).status
        (item, *_) = (await people.ask("anna", "GET", "/api/v1/search?q=one")).json()["items"]
        await people.ask("anna", "GET", f"/search/{item['page']}/open?rank=2")
        with contextlib.closing(SearchLog(world.directory)) as log:
            assert [("one", 2), ("xylophone", 1)] == [(q.text, q.searches) for q in log.queries(at=world.clock.now())]
            assert {2: 1} == log.clicks()
        elsewhere = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
        for path in ("/search?q=planted", f"/search/{item['page']}/open?rank=3"):
            assert (await people.ask("anna", "GET", path, headers=elsewhere)).status in {200, 303}
        with contextlib.closing(SearchLog(world.directory)) as log:
            assert ({2: 1}, 2) == (log.clicks(), len(log.queries(at=world.clock.now())))
        exported = (await people.ask("ada", "GET", "/api/v1/users/bob/export")).json()
        assert [{"query": "xylophone", "searches": 1}] == exported["searches"]
        assert 200 == (await people.ask("ada", "DELETE", "/api/v1/users/bob")).status
        assert b"xylophone" not in (world.directory / "searches.db").read_bytes()
        world.page("/a", "<p>one 7</p>")
        await world.pass_time(people.monitor, HOUR)
        sent = [(one.path, one.headers) for one in world.server.seen[seen:]]
        assert sent
        assert not [one for one in sent if "xylophone" in str(one)]

    def run_story(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, run_story)


def test_unwritable_log_does_not_prevent_searching(world: World) -> None:
    """The screen answers, and results open."""

    async def story(people: People) -> None:
        await index(world)
        (world.directory / "searches.db").write_bytes(b"none" * 2_000)
        shown = await people.ask("anna", "GET", "/search?q=one")
        assert (200, True) == (shown.status, b"<mark>one</mark>" in shown.body)
        (item, *_) = (await people.ask("anna", "GET", "/api/v1/search?q=one")).json()["items"]
        assert 303 == (await people.ask("anna", "GET", f"/search/{item['page']}/open?rank=2")).status

    def run_story(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, run_story)


def test_no_statistics_are_written_when_switched_off(world: World) -> None:
    """No file is made."""
    world.flags["search.log"] = "false"

    async def story(people: People) -> None:
        assert 200 == (await people.ask("ada", "GET", "/search?q=one")).status
        assert not (world.directory / "searches.db").exists()

    def run_story(monitor: Monitor) -> Any:
        return with_people(world, monitor, story)

    play(world, run_story)


def test_stored_text_is_opened_by_who_may_find_it(world: World) -> None:
    """Also by people whom a proxy signs in, which the API does not know; nobody else opens it."""

    async def story(people: People) -> None:
        await world.settle(people.monitor)
        page_id = world.read(lambda c: subscriptions.listing(c, sentinel_id=sentinels.find(c, "annas").id))[0].page_id
        path = f"/search/{page_id}/1/text"
        trusted = people.trusting("127.0.0.1")
        answer = await trusted.ask("", "GET", path, headers={"remote-user": "anna"})
        assert (200, b"one 1") == (answer.status, answer.body.strip()[-5:])
        assert "sandbox" in answer.headers["content-security-policy"]
        for who, other, status in (
            ("anna", path, 200),
            ("bob", path, 404),
            ("anna", f"/search/{page_id}/9/text", 404),
            ("anna", f"/search/{page_id}/x/text", 404),
            ("anna", "/search/999/1/text", 404),
        ):
            assert status == (await people.ask(who, "GET", other)).status, (who, other)

    play(world, lambda monitor: with_people(world, monitor, story))


def test_misspelled_word_is_corrected_by_what_the_reader_may_see(world: World) -> None:
    """Where nothing is found; a word that only pages of others have is not suggested."""
    world.page("/shop", "<title>Kettles</title><p>gooseneck kettle, porcelain teapot</p>")
    world.page("/hidden", "<p>gooseneck zanzibar</p>")

    async def story(people: People) -> None:
        for name, path, who in (("shop", "/shop", "bob"), ("hidden", "/hidden", "anna")):
            text = world.text(f"Create Sentinel {name} Using {{{path}}} Monitor all words Fetch every 1 hour")
            body = json.dumps({"text": text}).encode()
            headers = {"content-type": "application/json"}
            assert 201 == (await people.ask(who, "POST", "/api/v1/sentinels", headers=headers, body=body)).status
        await world.settle(people.monitor)
        await index(world)

        async def suggest(who: str, query: str) -> str | None:
            answer = await people.ask(who, "GET", f"/api/v1/search?{urlencode({'q': query})}")
            suggested: str | None = answer.json()["suggested"]
            screen = (await people.ask(who, "GET", f"/search?{urlencode({'q': query})}")).body.decode()
            assert (suggested is not None) == ("Did you mean" in screen)
            return suggested

        assert "kettle" == await suggest("bob", "ketle")
        assert "gooseneck porcelain" == await suggest("bob", "gooseneck porcelian")
        assert '"gooseneck kettle" -tea kind:html' == await suggest("bob", '"gooseneck ketlte" -tea kind:html')
        assert "zanzibar" == await suggest("anna", "zanzibr")
        world.page("/hidden", "<p>gooseneck zanzibar ketle</p>")
        await world.pass_time(people.monitor, HOUR)
        await index(world)
        assert "kettle" == await suggest("bob", "ketle"), "though a hidden page has this word"
        for query in ("zanzibr", "kettle", "kttl", "qwertyuiop", "ketle site:nowhere.example", "tee"):
            assert await suggest("bob", query) is None, query

    play(world, lambda monitor: with_people(world, monitor, story))
