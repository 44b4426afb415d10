import asyncio
from xml.etree import ElementTree as ET

import pytest

from tests.asgi import ask
from tests.unit.presentation.records import record
from tests.unit.web.insides import inside, notify_by, watch
from tidings.clock import HOUR, ManualClock
from tidings.presentation.atom import MOST_ENTRIES, NAMESPACE
from tidings.web.resources import feeds
from tidings.web.routes import application

ATOM = f"{{{NAMESPACE}}}"


def run(tmp_path, story):
    """Run a story on the inside of a service with a manual clock."""

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


def test_feed_has_one_sentinel_and_all_has_every_sentinel(tmp_path):
    """The newest entry is first. A message with several changes is one entry for each."""

    async def story(within, app):
        shop, news = await watch(within, "shop"), await watch(within, "news")
        for number, reported in ((shop, [change(1)]), (news, [change(1, "news")]), (shop, [change(2), change(3)])):
            await notify_by(within, "feed", number, *reported)
            within.clock.advance(HOUR)
        return [ids(await ask(app, f"/feeds/{name}.atom")) for name in ("shop", "news", "all")]

    assert [
        ["shop3", "shop2", "shop1"],
        ["news1"],
        ["shop3", "shop2", "news1", "shop1"],
    ] == run(tmp_path, story)


def test_entry_never_changes(tmp_path):
    """The entry is equal byte for byte in a later feed."""

    async def story(within, app):
        shop = await watch(within, "shop")
        await notify_by(within, "feed", shop, change(1))
        before = (await ask(app, "/feeds/shop.atom")).body
        within.clock.advance(HOUR)
        await notify_by(within, "feed", shop, change(2))
        return before, (await ask(app, "/feeds/shop.atom")).body

    before, after = run(tmp_path, story)
    entry = before[before.index(b"<entry>") : before.index(b"</feed>")]

    assert entry in after
    assert 2 == after.count(b"<entry>")


def test_unchanged_feed_answers_304(tmp_path):
    """A matching tag or date is enough until there is a new entry. If both are sent, the tag
    decides.
    """

    async def story(within, app):
        shop = await watch(within, "shop")
        await notify_by(within, "feed", shop, change(1))
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
        await notify_by(within, "feed", shop, change(2))
        within.clock.advance(HOUR)
        new = [await ask(app, "/feeds/shop.atom", headers=headers) for headers in (asked[0], asked[3])]
        return first, had, new

    first, had, new = run(tmp_path, story)

    assert [304, 304, 304, 304, 200, 200] == [one.status for one in had]
    assert all(b"" == one.body and one.headers["etag"] == first.headers["etag"] for one in had[:4])
    assert [200, 200] == [one.status for one in new]


def test_date_of_the_current_second_is_not_sent(tmp_path):
    """Two entries of one second have one date: a reader between them would miss the second one by
    date alone.
    """

    async def story(within, app):
        shop = await watch(within, "shop")
        await notify_by(within, "feed", shop, change(1))
        return await ask(app, "/feeds/shop.atom")

    answer = run(tmp_path, story)

    assert "last-modified" not in answer.headers
    assert answer.headers["etag"]


def test_feed_is_limited_in_entries_and_bytes(tmp_path, monkeypatch):
    """The newest entries stay."""

    async def story(within, app):
        shop = await watch(within, "shop")
        await notify_by(within, "feed", shop, *[change(n) for n in range(MOST_ENTRIES - 1)])
        within.clock.advance(HOUR)
        await notify_by(within, "feed", shop, *[change(n) for n in range(200, 205)])
        full = ids(await ask(app, "/feeds/shop.atom"))
        monkeypatch.setattr(feeds, "MOST_BYTES", 3_000)
        return full, ids(await ask(app, "/feeds/all.atom"))

    full, short = run(tmp_path, story)

    assert MOST_ENTRIES == len(full)
    assert ["shop204", "shop203"] == full[:2]
    assert full[: len(short)] == short
    assert 1 <= len(short) < 5


def test_repeated_change_is_one_entry(tmp_path):
    """Two clauses with different rates may report the same change to the feed."""

    async def story(within, app):
        shop = await watch(within, "shop")
        await notify_by(within, "feed", shop, change(1))
        within.clock.advance(HOUR)
        await notify_by(within, "feed", shop, change(1), change(2))
        return ids(await ask(app, "/feeds/shop.atom"))

    assert ["shop2", "shop1"] == run(tmp_path, story)


@pytest.mark.parametrize(
    ("path", "text"),
    [("/feeds/nobody.atom", "nobody"), ("/feeds/quiet.atom", "Notify by feed"), ("/feeds/a/../b.atom", "a/../b")],
)
def test_missing_feed_is_404_with_a_reason(tmp_path, path, text):
    """The name is unknown, or the sentinel does not notify by feed."""

    async def story(within, app):
        await watch(within, "quiet", "dashboard")
        return await ask(app, path)

    answer = run(tmp_path, story)

    assert 404 == answer.status
    assert text in answer.json()["message"]


def test_feed_without_entries_is_valid(tmp_path):
    """A reader can subscribe before the first change."""

    async def story(within, app):
        await watch(within, "shop")
        return [ids(await ask(app, f"/feeds/{name}.atom")) for name in ("shop", "all")]

    assert [[], []] == run(tmp_path, story)
