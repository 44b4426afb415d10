"""Promise: an answer of another content type is doubted, and notified as such if it lasts; it is no
change.
"""

from __future__ import annotations

import pytest

from tests.pdfs import pdf
from tests.world import World, serve
from tidings.clock import DAY, HOUR

HOME = (
    "<title>Welcome</title><h1>Our site</h1><ul><li><a href=/a>Alpha</a><li><a href=/b>Beta</a></ul><p>"
    + "many words " * 120
)
ERROR = "<html><head><title>Document not available</title></head><body><h1>Document not available</h1></body></html>"
HTML = {"Content-Type": "text/html; charset=utf-8"}
JSON = {"Content-Type": "application/json"}
FEED = {"Content-Type": "application/rss+xml"}


def feed(entries: int) -> str:
    items = "".join(f"<item><title>Entry {n}</title><guid>{n}</guid></item>" for n in range(1, entries + 1))
    return f"<rss version='2.0'><channel><title>F</title>{items}</channel></rss>"


STORIES = {
    "a feed, then the home page": ("items", FEED, feed(4), HTML, HOME, feed(5), ["Entry 5"]),
    "a feed, then an error": ("items inserted", FEED, feed(4), JSON, '{"error": "no such feed"}', feed(5), ["Entry 5"]),
    "data, then an error object": (
        "any change", JSON, '{"a": [1, 2], "b": "x"}', JSON, '{"error": {"code": 500}}', '{"a": [1, 3], "b": "x"}', ["3"],
    ),
    "data, then a page": ("any change", JSON, '{"a": [1, 2]}', HTML, HOME, '{"a": [1, 3]}', ["3"]),
    "a page, then data": ("all words", HTML, HOME, JSON, '{"status": 503, "message": "later"}', HOME + "news", ["news"]),
}  # fmt: skip


@pytest.mark.parametrize(("name", "lasts"), [*((name, 600) for name in STORIES), ("data, then a page", 30)])
def test_other_content_type_is_no_change(world: World, name: str, lasts: int):
    """One such check is ignored; a lasting one is notified once.

    The next change is compared with the version before.
    """
    monitor_text, headers, before, other_headers, other, after, words = STORIES[name]
    world.page("/a", before, headers=headers)
    world.add(f"Create Sentinel s Using {{/a}} Monitor {monitor_text} Fetch every 1 hour Notify By console")

    with serve(world) as service:
        service.settle()
        world.page("/a", other, headers=other_headers)
        service.pass_time(HOUR + lasts * 1_000_000)
        world.page("/a", after, headers=headers)
        service.pass_time(DAY)
    reported = [change["inserted"] + [u["new"] for u in change["updated"]] for change in world.changes()]

    assert 1 == len(reported)
    assert words == [word for word in words if any(word in text for text in reported[0])]
    assert (["page.error", "page.ok"] if lasts == 600 else []) == [
        e.type for e in world.events("page.error", "page.ok")
    ]
    assert [] == world.violations()


def test_pdf_that_becomes_an_error_page_once_is_no_change(world: World):
    """Nothing is notified, and the PDF is unchanged afterwards."""
    data = pdf([["Minutes of the meeting of the board"]])
    world.page("/a", data, headers={"Content-Type": "application/pdf"})
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.page("/a", ERROR)
        service.pass_time(HOUR + 30_000_000)
        world.page("/a", data, headers={"Content-Type": "application/pdf"})
        service.pass_time(DAY)

    assert [] == world.changes()
    assert [] == world.events("page.error")


def test_lasting_content_type_is_accepted_after_a_week(world: World):
    """The change is notified, and the page is watched again."""
    world.page("/a", '{"a": [1, 2]}', headers=JSON)
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.page("/a", HOME)
        service.pass_time(6 * DAY)
        assert [] == world.changes()
        service.pass_time(4 * DAY)
        world.page("/a", HOME + "news")
        service.pass_time(DAY)

    assert 2 == len(world.changes())


@pytest.mark.parametrize(
    "data", ['{"a": 1, "error": null}', '{"status": 200, "a": 2}', '{"errors": [], "a": 2}', '{"code": 12, "a": 2}']
)
def test_data_that_mentions_errors_is_data(world: World, data: str):
    """Such as an empty error, another status, the code of a product."""
    world.page("/a", '{"a": 0}', headers=JSON)
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        world.page("/a", data, headers=JSON)
        service.pass_time(2 * HOUR)

    assert 1 == len(world.changes())
