"""The town's servers, polled over loopback."""

from __future__ import annotations

import asyncio

from tidings.clock import ManualClock
from tidings.demo.script import ADVERT, CLOCK, DemoPage, ServerTrouble, TownEdit
from tidings.demo.town import Town

PLACES = (
    DemoPage("shop", "The shop", lambda rng: iter(())),
    DemoPage("square", "The square", lambda rng: iter(()), restless=True),
    DemoPage("news", "News", lambda rng: iter(()), media="feed"),
)
OPENING = {"shop": "<p>30 euro</p>", "square": f"<p>{CLOCK} {ADVERT}</p>", "news": "<feed/>"}
TROUBLES = (
    ServerTrouble("shop", 10.0, 20.0, "500"),
    ServerTrouble("shop", 20.0, 30.0, "cut"),
    ServerTrouble("shop", 40.0, 50.0, "wall"),
)
SECOND = 1_000_000


async def ask(url, *, headers=None, body=b"", method="GET"):
    """Return status, headers and the received part of the body."""
    host, _, path = url.removeprefix("http://").partition("/")
    name, _, port = host.partition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    lines = [
        f"{method} /{path} HTTP/1.1",
        f"content-length: {len(body)}",
        *(f"{k}: {v}" for k, v in (headers or {}).items()),
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    head, *rest = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    given = dict(line.lower().split(": ", 1) for line in rest)
    length = int(given.get("content-length", "0"))
    try:
        content = await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        content = error.partial
    writer.close()
    return int(head.split()[1]), given, content


def in_town(play, *, post=lambda headers, body: 204):
    """Run a play in an open town with a manual clock."""

    async def run():
        clock = ManualClock()
        async with Town(PLACES, OPENING, troubles=TROUBLES, clock=clock, post=post).open() as town:
            town.wake()
            return await play(town, clock)

    return asyncio.run(run())


def test_page_has_the_content_of_its_last_edit():
    """The house knows how many edits each poll saw."""

    async def play(town, clock):
        house = town.houses["shop"]
        before = (await ask(house.url))[2]
        clock.advance(2 * SECOND)
        town.edit(TownEdit(2.0, "shop", "cheaper", "<p>25 euro</p>"))
        clock.advance(SECOND)
        after = (await ask(house.url))[2]
        return before, after, house.number_at(clock.now()), house.number_at(clock.now() - 2 * SECOND)

    assert (b"<p>30 euro</p>", b"<p>25 euro</p>", 1, 0) == in_town(play)


def test_unchanged_page_answers_304():
    """The ETag of a poll is valid until the page is edited."""

    async def play(town, clock):
        url = town.houses["shop"].url
        tag = (await ask(url))[1]["etag"]
        same = (await ask(url, headers={"if-none-match": tag}))[0]
        town.edit(TownEdit(2.0, "shop", "cheaper", "<p>25 euro</p>"))
        return same, (await ask(url, headers={"if-none-match": tag}))[0]

    assert (304, 200) == in_town(play)


def test_restless_page_differs_at_every_poll():
    """The page has a clock and an advertisement, and no validators that would avoid the download."""

    async def play(town, clock):
        url = town.houses["square"].url
        first, second = await ask(url), await ask(url)
        return first[2] != second[2], "etag" in first[1], CLOCK.encode() in first[2]

    assert (True, False, False) == in_town(play)


def test_server_in_trouble_answers_500_and_then_truncates_its_body():
    """Neither answer counts as a poll that saw the page."""

    async def play(town, clock):
        house = town.houses["shop"]
        clock.advance(15 * SECOND)
        broken = await ask(house.url)
        clock.advance(10 * SECOND)
        cut = await ask(house.url)
        clock.advance(10 * SECOND)
        seen_in_trouble = len(house.seen)
        return broken[0], len(cut[2]) < int(cut[1]["content-length"]), seen_in_trouble, (await ask(house.url))[0]

    assert (500, True, 0, 200) == in_town(play)


def test_wall_answers_200_without_the_page():
    """The wall does not count as a poll of the page."""

    async def play(town, clock):
        house = town.houses["shop"]
        clock.advance(45 * SECOND)
        status, _, content = await ask(house.url)
        return status, b"Just a moment" in content, b"30 euro" in content, len(house.seen)

    assert (200, True, False, 0) == in_town(play)


def test_town_is_known_after_each_page_was_polled():
    """Edits before a page's first poll cannot be reported."""

    async def play(town, clock):
        urls = [house.url for house in town.houses.values()]
        for url in urls[:-1]:
            await ask(url)
        before = town.known.is_set()
        await ask(urls[-1])
        return before, town.known.is_set()

    assert (False, True) == in_town(play)


def test_markup_edit_is_not_logged():
    """An edit without news changes the page but no count."""

    async def play(town, clock):
        house = town.houses["shop"]
        town.edit(TownEdit(1.0, "shop", "(markup)", "<p class=x>30 euro</p>", news=False))
        return (await ask(house.url))[2], len(house.log)

    assert (b"<p class=x>30 euro</p>", 0) == in_town(play)


def test_post_office_answers_with_the_status_of_its_receiver():
    """The receiver gets headers in lower case and the whole body; other paths are 404."""
    taken = []

    def post(headers, body):
        taken.append((headers["webhook-id"], body))
        return 401

    async def play(town, clock):
        right = await ask(town.post_url, headers={"Webhook-Id": "m1"}, body=b"{}", method="POST")
        wrong = await ask(f"{town.post_url}/else", body=b"{}", method="POST")
        return right[0], wrong[0]

    assert (401, 404) == in_town(play, post=post)
    assert [("m1", b"{}")] == taken


def test_connection_without_http_is_closed():
    """The next poll is answered."""

    async def play(town, clock):
        url = town.houses["shop"].url
        name, _, port = url.removeprefix("http://").rstrip("/").partition(":")
        reader, writer = await asyncio.open_connection(name, int(port))
        writer.write(b"hello\r\n\r\n")
        text = await reader.read()
        writer.close()
        return text, (await ask(url))[0]

    assert (b"", 200) == in_town(play)


def test_every_host_is_loopback():
    """The demo connects to this machine only."""

    async def play(town, clock):
        return [house.url for house in town.houses.values()] + [town.post_url]

    assert all(url.startswith("http://127.0.0.") for url in in_town(play))
