"""Make a database in which every kind of content is watched in every way: `PYTHONPATH=. python tests/stored/make_rules.py NAME`.

It is run from a checkout of a commit with other rules of comparison (an older one takes this file as it stands), and writes `NAME.sql` and `NAME.key` into
the directory it is called in. `tests/integration/test_upgraded_rules.py` opens them: what is stored is compared by today's rules.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.fakes import WebServer
from tests.world import World, play
from tidings.clock import HOUR

SHOP = """<!doctype html><html lang=en><title>Shop</title><base href="/shop/"><nav>Home <a href="#top">top</a> <a href="/a?utm_source=x&id=1">a</a></nav>
<main><h1>Lamps</h1><p>Only $19<sup>99</sup> today, 1.299,- before</p><p hidden>secret 5 years</p><img src="lamp.jpg" srcset="lamp-2.jpg 2x">
<picture><source srcset="lamp.avif"><img src="lamp-a.jpg" alt="a lamp"></picture><img data-src="late.jpg" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">
<button id=buy disabled class="buy sold-out">Buy</button><span class="price sale">19<sup>99</sup> EUR</span><a href="mailto:a@b.example">write</a>
<div itemscope itemtype="https://schema.org/Product"><div itemprop=offers itemscope itemtype="https://schema.org/Offer"><b itemprop=price>19.99</b>
<b itemprop=availability>Auf Lager</b></div></div><p>insur&shy;ance \u0130stanbul caf\u00e9</p><p>H<sub>2</sub>O and 10<sup>2</sup>, 5 comments, posted 3 days ago</p></main>
<table><tr><th>No<th>Name<th>Price<tr><td>1<td>red<td>5 EUR<tr><td>2<td>blue<td>6 EUR</table><ul><li>one <a href=1>x</a><li>two<li>three</ul></html>"""
ENTRY = (
    "<item><guid>{n}</guid><title>Entry {n} &amp;amp; more</title><link>/e/{n}</link><description>&lt;p&gt;text {n}&lt;/p&gt;</description>"
    "<pubDate>Mon, 0{n} Jun 2026 10:00:00 GMT</pubDate><media:title>Other {n}</media:title><media:content url='/m/{n}.jpg'><media:credit>who</media:credit></media:content>"
    "<enclosure url='http://cdn.example/{n}.mp3?sig=1' length='1' type='audio/mpeg'/><slash:comments>{n}</slash:comments></item>"
)
RSS = (
    "<?xml version='1.0'?><rss version='2.0' xmlns:media='http://search.yahoo.com/mrss/' xmlns:atom='http://www.w3.org/2005/Atom' "
    "xmlns:slash='http://purl.org/rss/1.0/modules/slash/'><channel><atom:link href='/self' rel='self'/><title>News</title><link>/</link>"
    "<lastBuildDate>Mon, 01 Jun 2026 10:00:00 GMT</lastBuildDate><image><url>/i.png</url><title>i</title></image>{}</channel></rss>"
).format("".join(ENTRY.format(n=n) for n in (3, 2, 1)))
ATOM = (
    "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://other.example/blog/'><title>Blog</title><updated>2026-06-01T10:00:00Z</updated>"
    "<entry><id>a1</id><title type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>An <b>entry</b></div></title><link href='one'/>"
    "<link rel='enclosure' href='one.mp3'/><content type='html'>&lt;p&gt;Five people&lt;/p&gt;</content><updated>2026-06-01T10:00:00Z</updated></entry></feed>"
)
DATA = {
    "items": [
        {"id": 9007199254740993, "name": "lamp", "price": 10.0, "n": 1e2},
        {"id": 2, "name": "desk", "price": 12.5},
    ],
    "services": [{"name": "db", "status": "up"}, {"name": "web", "status": "down"}],
    "series": [1, 2, 3],
}
JSON_FEED = {
    "version": "https://jsonfeed.org/version/1.1",
    "title": "t",
    "items": [
        {"id": str(n), "url": f"/{n}", "content_html": f"<p>text {n}</p>", "attachments": [{"url": f"/{n}.mp3"}]}
        for n in (2, 1)
    ],
}
CALENDAR = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1@x\r\nDTSTAMP:20260601T100000Z\r\nDTSTART:20270101T100000Z\r\nSUMMARY:Meeting\r\n"
    "END:VEVENT\r\nEND:VCALENDAR\r\n"
)
SITEMAP = (
    "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://x.example/1</loc><lastmod>2026-06-01</lastmod></url>"
    "<url><loc>http://x.example/2</loc></url></urlset>"
)

PAGES = {
    "/shop": ("text/html; charset=utf-8", SHOP),
    "/rss": ("application/rss+xml", RSS),
    "/atom": ("application/atom+xml", ATOM),
    "/data": ("application/json", json.dumps(DATA)),
    "/wrapped": ("application/json", ")]}'\n" + json.dumps(DATA)),
    "/feed.json": ("application/feed+json", json.dumps(JSON_FEED)),
    "/xml": (
        "application/xml",
        "<r xmlns:x='urn:x'><c id='1' rate='1.08'>one</c><c id='2' rate='9'>two</c><x:d>three</x:d></r>",
    ),
    "/csv": ("text/csv", "no;land;rate\n1;NO;4,1\n2;SE;3,0\n3;DK;1,5\n"),
    "/ics": ("text/calendar", CALENDAR),
    "/sitemap": ("application/xml", SITEMAP),
    "/text": ("text/plain; charset=utf-8", "log line one\nlog line two, 5 visitors\nPrice 1.234 EUR\n"),
}
"""What each page is, and what it says."""

MORE = {
    "/shop": (
        "all links", "all images", 'keyword "lamps"', 'phrases "only today"', "table 1", "list", "number", "price", "availability", 'regex "[0-9]+ EUR"',
        'all words in css "main"', 'any change in css "button[disabled]"', 'number in css ".price.sale"', 'all words in xpath "//img/@alt"',
        'all images in css "picture"', 'any change where contains "lamps"', 'all words Exclude css "nav"', "all words Exclude words <only>",
    ),
    "/rss": ("items", "all links", 'items where contains "Entry 2"', 'items in xpath "//item"', 'any change in css "item"'),
    "/atom": ("items", "all links"),
    "/data": ("items", 'any change in jsonpath "$.services[*].status"', 'items in jsonpath "$.items"', 'number in jsonpath "$.items[0].price"'),
    "/feed.json": ("items", "all links"),
    "/xml": ("items", 'any change in xpath "//c"', 'any change in css "c"'),
    "/csv": ("table",),
    "/sitemap": ("items", "all links"),
    "/text": ("number", 'all words Transform keep lines "Price"'),
}  # fmt: skip
"""In which ways each page is watched, beside `any change` and `all words`."""


def statements() -> str:
    """Return a sentinel for each page and way."""
    ways = [(path, way) for path in PAGES for way in ("any change", "all words", *MORE.get(path, ()))]
    return ";\n".join(
        f"Create Sentinel s{number} Using {{{path}}} Monitor {way} Fetch every 1 hour"
        for number, (path, way) in enumerate(ways)
    )


def main(name: str) -> None:
    """Watch the pages for five hours, in which nothing changes, and write what that leaves."""
    with tempfile.TemporaryDirectory() as folder, WebServer(port=18799) as server:
        world = World(Path(folder) / "data", server)
        for path, (media, body) in PAGES.items():
            world.page(path, body, headers={"Content-Type": media})
        world.add(statements())

        async def story(monitor: Any) -> None:
            await world.pass_time(monitor, 5 * HOUR)

        play(world, story)
        connection = sqlite3.connect(world.directory / "tidings.db")
        Path(f"{name}.sql").write_text("\n".join(connection.iterdump()) + "\n", encoding="utf-8")
        connection.close()
        if (key := world.directory / "secrets.key").exists():
            shutil.copyfile(key, f"{name}.key")


if __name__ == "__main__":
    main(sys.argv[1])
