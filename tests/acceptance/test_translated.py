"""Promise: a translation is one file, and no sentence of any screen stays in English with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import reduce
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_import_screen import JOBS, form_of
from tests.acceptance.test_screens import SHOP, edit, face
from tests.asgi import Answer, ask
from tests.fakes import Page
from tests.people import People, with_people
from tests.world import World, play
from tidings.clock import DAY, HOUR
from tidings.service.health.sources import health_of
from tidings.service.people import published as publishing
from tidings.service.run.monitor import Monitor
from tidings.storage.watches import inbox
from tidings.web.markup import translations
from tidings.web.markup.localize import OURS

MADE_UP = "qq"
"""The tag of a made-up language: English in letters of full width."""
WIDE = {code: code + 0xFEE0 for code in (*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1))}
PLACE = re.compile(r"(\{\w+\}|</?\d+>)")
DATA = re.compile(
    r"<(bdi|code|pre|kbd|textarea|script|style|datalist|option)\b.*?</\1>|<div class=.change.>.*?(?=<aside)", re.DOTALL
)
"""What shows texts of pages, names, the language, commands, and comparisons."""
COMPARISON = re.compile(r"<div class=.change.>.*?(?=<aside)", re.DOTALL)
VALUES = re.compile(r"<bdi>(.*?)</bdi>", re.DOTALL)
SENTENCE = re.compile(r"\b[a-z]{2,},? [a-z]{2,},? [a-z]{2,}\b")
PAGES = re.compile(r"Price \d+ EUR|all links|any change|Monitor|Select|Fetch")
"""Texts of the pages, and of the language."""
SPOKEN = re.compile(r'<[^>]* (?:aria-label|title|placeholder|alt|data-say-\w+)="([^"]*)"')
CODES = re.compile(r"https?://\S+|\b5xx\b")
"""Addresses and classes of statuses, which no language translates."""
KNOWN = frozenset(
    "Tidings UTC dev shop money annas common hers ada anna bob rita read edit admin Price EUR Offer all words one price"
    " nowhere lost you example org nobody Atom changedetection io Distill Visualping Update Scanner Huginn kibitzr urlwatch webchanges OPML CSV url"
    " css xpath tags name interval".split()
)
"""Names of this story, which no language translates."""


def translate(sentence: str) -> str:
    """Return a sentence in an artificial language, with its placeholders."""
    return "".join(part if PLACE.fullmatch(part) else part.translate(WIDE) for part in PLACE.split(sentence))


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install an artificial translation of every sentence."""
    english: dict[str, Any] = json.loads((translations.FOLDER / "en.json").read_text("utf-8"))
    whole = {
        key: translate(text) if isinstance(text, str) else [*map(translate, text)] for key, text in english.items()
    }
    (tmp_path / f"{MADE_UP}.json").write_text(json.dumps(whole), encoding="utf-8")
    monkeypatch.setattr(translations, "FOLDER", tmp_path)
    translations.languages.cache_clear()
    yield
    translations.languages.cache_clear()


def english_of(page: str) -> set[str]:
    """Return the English words of a screen that are not data, and the sentences among its values."""
    shown = DATA.sub(" ", page)
    drawn = "".join(COMPARISON.findall(page))
    texts = [*re.split(r"<[^>]*>", shown), *SPOKEN.findall(shown)]
    texts += [part for found in OURS.finditer(drawn) for part in (found["said"] or "", found["label"] or "")]
    plain = (CODES.sub(" ", unescape(text)) for text in texts)
    words = {word for text in plain for word in re.findall(r"[A-Za-z]{2,}", text)}
    values = (unescape(re.sub(r"<[^>]*>", "", value)) for value in VALUES.findall(page))
    return words | {value for value in values if SENTENCE.search(value) and not PAGES.search(value)}


ADDRESSES = (
    "/", "/?s=all", "/?s=all&q=nowhere", "/changes/{id}", "/changes/{id}?view=two", "/changes/{id}/fewer",
    "/changes/{id}/fewer?how=size", "/sentinels", "/sentinels?q=nowhere", "/sentinels?tag=money", "/sentinels/shop", "/sentinels/lost",
    "/changes/{words}", "/changes/{words}?view=only", "/changes/{words}?view=two", "/changes/{words}?view=table",
    "/changes/{words}/fewer", "/sentinels/nobody", "/new?text=Create+Sentinel+a+Using+b+Monitor+c", "/collections",
    "/plan?certificate=1",
    "/new", "/new?url={/a}", "/search", "/search?q=price", "/search?q=nowhere&at=2026-01-01", "/plan",
    "/public", "/public?tag=money", "/public/{token}/changes", "/public/never/changes", "/import",
    "/plan?budget=10", "/health", "/health?machine=1", "/settings", "/login",
)  # fmt: skip


async def find_english(ask: Any, addresses: Iterable[str]) -> dict[str, set[str]]:
    """Return the English words of each screen."""
    left = {}
    for address in addresses:
        answer = await ask(address)
        page = answer.body.decode()
        assert answer.status < 500, page
        assert f'lang="{MADE_UP}"' in page
        if words := english_of(page) - KNOWN:
            left[address] = words
    return left


@pytest.mark.usefixtures("made_up")
def test_no_screen_bypasses_the_catalogue(world: World) -> None:
    """Every screen in an artificial script, with and without a change."""
    world.page("/a", "<title>Kettle</title><h1>Offer</h1><p>Price 129 EUR</p>")
    world.add(SHOP)
    world.page("/lost", "<h1>Новости</h1><p>Паром уходит в 8</p><p>Он никого не ждёт</p>")
    world.add("Create Sentinel lost Using {/lost} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:

            async def get(address: str) -> Answer:
                return await ask(app, address, headers={"accept-language": f"{MADE_UP}-AT,en;q=0.5"})

            assert {} == await find_english(
                get, [one for one in ADDRESSES if not re.search("{id}|{words}|{token}", one)]
            )
            await world.settle(monitor)
            await edit(world, monitor, "109", "99", "89", "79", "69")
            items = await monitor.store.read(inbox.listing, inbox.Filter(sentinel="shop", viewer=None), limit=1)
            world.page("/lost", "<h1>Новости</h1><p>Паром уходит в 9</p><p>Новая строка</p>")
            await world.pass_time(monitor, 2 * HOUR)
            (words,) = await monitor.store.read(inbox.listing, inbox.Filter(sentinel="lost", viewer=None), limit=1)
            world.server.pages["/lost"] = Page(b"gone", status=500)
            await world.pass_time(monitor, 2 * DAY)
            health = world.read(health_of, world.settings, now=world.clock.wall(), is_polled=True)
            assert {"error(5xx)"} == {one.brief for one in health.troubles}
            places = (
                ("{id}", items[0].change.row.id),
                ("{words}", words.change.row.id),
                ("{/a}", world.server.url("/a")),
                (
                    "{token}",
                    world.write(publishing.publish, "money", owner_id=1, viewer=None, at=world.clock.wall()).token,
                ),
            )
            sent = form_of(("urls.yaml", JOBS))
            shown = await ask(
                app, "/import", "POST", **{**sent, "headers": {**sent["headers"], "accept-language": MADE_UP}}
            )
            assert set() == english_of(shown.body.decode()) - KNOWN - {
                "command",
                "filter",
                "shellpipe",
                "Board",
                "Kettle",
            }
            paths = [reduce(lambda text, place: text.replace(*place), places, one) for one in ADDRESSES]
            assert {} == await find_english(get, paths)

    play(world, story)


@pytest.mark.usefixtures("made_up")
def test_no_screen_of_accounts_bypasses_the_catalogue(world: World) -> None:
    """Including the answers to invalid forms."""

    async def look_around(people: People) -> None:
        signed_in = await people.sign_in("ada")
        headers = {"cookie": signed_in.headers["set-cookie"].partition(";")[0], "accept-language": MADE_UP}

        async def get(address: str) -> Answer:
            return await people.ask("nobody", "GET", address, headers=headers)

        assert {} == await find_english(get, ("/account", "/users", "/", "/sentinels"))
        wrong = await people.send("nobody", "/account", {"act": "share"}, **headers)
        assert "name the tag that is shared".translate(WIDE) in wrong.body.decode()

    play(world, lambda monitor: with_people(world, monitor, look_around))


def test_missing_translation_falls_back_to_english(world: World) -> None:
    """This applies to a language and to a sentence."""

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            page = (await ask(app, "/", headers={"accept-language": "tlh, xx;q=0.2, ../../etc/passwd"})).body.decode()
            assert '<html lang="en">' in page
            assert "Nothing is watched yet" in page

    play(world, story)
