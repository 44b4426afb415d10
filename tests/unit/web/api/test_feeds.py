import asyncio
from xml.etree import ElementTree as ET

import pytest

from tests.asgi import ask
from tests.unit.presentation.records import record
from tests.unit.web.insides import inside, tell, watch
from tidings.clock import HOUR, ManualClock
from tidings.presentation.atom import MOST_ENTRIES, NAMESPACE
from tidings.web.api import feeds
from tidings.web.entrances import application

ATOM = f"{{{NAMESPACE}}}"


def run(tmp_path, story):
    """Play a story before the inside of a service; the clock is the story's to move."""

    async def act():
        async with inside(tmp_path, clock=ManualClock()) as within:
            return await story(within, application(within))

    return asyncio.run(act())


def ids(answer):
    """Return the ids of the changes in a feed."""
    assert 200 == answer.status
    found = ET.fromstring(answer.body).findall(f"{ATOM}entry/{ATOM}id")
    return [(one.text or "").rpartition(":")[2] for one in found]


def change(number, sentinel="shop"):
    """Return a change record."""
    return record(id=f"{sentinel}{number}", sentinel=sentinel)


def test_a_feed_holds_its_sentinel_and_all_holds_everybody(tmp_path):
    """Newest first; a message of several changes is an entry for each."""

    async def story(within, app):
        shop, news = await watch(within, "shop"), await watch(within, "news")
        for number, told in ((shop, [change(1)]), (news, [change(1, "news")]), (shop, [change(2), change(3)])):
            await tell(within, "feed", number, *told)
            within.clock.advance(HOUR)
        return [ids(await ask(app, f"/feeds/{name}.atom")) for name in ("shop", "news", "all")]

    assert [
        ["shop3", "shop2", "shop1"],
        ["news1"],
        ["shop3", "shop2", "news1", "shop1"],
    ] == run(tmp_path, story)


def test_an_entry_is_never_altered(tmp_path):
    """What was read once reads the same later, byte for byte."""

    async def story(within, app):
        shop = await watch(within, "shop")
        await tell(within, "feed", shop, change(1))
        before = (await ask(app, "/feeds/shop.atom")).body
        within.clock.advance(HOUR)
        await tell(within, "feed", shop, change(2))
        return before, (await ask(app, "/feeds/shop.atom")).body

    before, after = run(tmp_path, story)
    entry = before[before.index(b"<entry>") : before.index(b"</feed>")]

    assert entry in after
    assert 2 == after.count(b"<entry>")


def test_a_reader_that_has_it_is_told_so(tmp_path):
    """304 by tag and by date until something is new; the tag is the exact one where both are given."""

    async def story(within, app):
        shop = await watch(within, "shop")
        await tell(within, "feed", shop, change(1))
        within.clock.advance(HOUR)
        first = await ask(app, "/feeds/shop.atom")
        tag, date = first.headers["etag"], first.headers["last-modified"]
        asked = [
            {"if-none-match": tag},
            {"if-none-match": f'"x", W/{tag}'},
            {"if-none-match": "*"},
            {"if-modified-since": date},
            {"if-none-match": '"x"', "if-modified-since": date},
            {"if-modified-since": "yesterday"},
        ]
        had = [await ask(app, "/feeds/shop.atom", headers=headers) for headers in asked]
        await tell(within, "feed", shop, change(2))
        within.clock.advance(HOUR)
        new = [await ask(app, "/feeds/shop.atom", headers=headers) for headers in (asked[0], asked[3])]
        return first, had, new

    first, had, new = run(tmp_path, story)

    assert [304, 304, 304, 304, 200, 200] == [one.status for one in had]
    assert all(b"" == one.body and one.headers["etag"] == first.headers["etag"] for one in had[:4])
    assert [200, 200] == [one.status for one in new]


def test_a_date_that_is_not_over_is_not_given(tmp_path):
    """Two entries of one second have one date: who reads between them would never hear of the second by date alone."""

    async def story(within, app):
        shop = await watch(within, "shop")
        await tell(within, "feed", shop, change(1))
        return await ask(app, "/feeds/shop.atom")

    answer = run(tmp_path, story)

    assert "last-modified" not in answer.headers
    assert answer.headers["etag"]


def test_a_feed_is_bounded(tmp_path, monkeypatch):
    """The newest entries, so many and so many bytes."""

    async def story(within, app):
        shop = await watch(within, "shop")
        await tell(within, "feed", shop, *[change(n) for n in range(MOST_ENTRIES - 1)])
        within.clock.advance(HOUR)
        await tell(within, "feed", shop, *[change(n) for n in range(200, 205)])
        full = ids(await ask(app, "/feeds/shop.atom"))
        monkeypatch.setattr(feeds, "MOST_BYTES", 3_000)
        return full, ids(await ask(app, "/feeds/all.atom"))

    full, short = run(tmp_path, story)

    assert MOST_ENTRIES == len(full)
    assert ["shop204", "shop203"] == full[:2]
    assert full[: len(short)] == short
    assert 1 <= len(short) < 5


def test_the_same_change_stands_once(tmp_path):
    """Two clauses of different rates may tell the feed the same; it is one entry."""

    async def story(within, app):
        shop = await watch(within, "shop")
        await tell(within, "feed", shop, change(1))
        within.clock.advance(HOUR)
        await tell(within, "feed", shop, change(1), change(2))
        return ids(await ask(app, "/feeds/shop.atom"))

    assert ["shop2", "shop1"] == run(tmp_path, story)


@pytest.mark.parametrize(
    ("path", "said"),
    [("/feeds/nobody.atom", "nobody"), ("/feeds/quiet.atom", "Notify by feed"), ("/feeds/a/../b.atom", "a/../b")],
)
def test_a_feed_that_there_is_not_is_told(tmp_path, path, said):
    """A name that is none, and a sentinel that tells nothing by feed: 404 with what helps."""

    async def story(within, app):
        await watch(within, "quiet", "dashboard")
        return await ask(app, path)

    answer = run(tmp_path, story)

    assert 404 == answer.status
    assert said in answer.json()["message"]


def test_an_empty_feed_is_a_feed(tmp_path):
    """A sentinel that has found nothing yet can be subscribed to; so can all before there is any."""

    async def story(within, app):
        await watch(within, "shop")
        return [ids(await ask(app, f"/feeds/{name}.atom")) for name in ("shop", "all")]

    assert [[], []] == run(tmp_path, story)
