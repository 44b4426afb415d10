"""Compare discovery of a site with a breadth-first crawler and with its sitemap, at equal budgets.

    PYTHONPATH=. .venv/bin/python bench/discovery.py [--pages 500] [--hours 24] [--budgets 600 …]
        [--ways "breadth first" "sitemap alone" collection]

The made-up site has articles below 25 hubs that are named by each other, a sitemap that lists two
thirds of them, a calendar without end, and pages under session ids. Each hour a hub names a new
article. Every second hour an article moves: its old address leads to the new one, which its hub
names at once and the sitemap after six hours. It prints the share of old articles that were read
(at either address), how many of the new and of the moved addresses of more than six hours ago were
read, the delay until then, and requests.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.fakes import WebServer
from tests.world import World, play
from tidings.clock import HOUR, MINUTE
from tidings.detection.job.contract import Body
from tidings.search.sites import address_of, belongs, is_page, origin_of
from tidings.service.collections.read_links import read_links
from tidings.service.run.monitor import Monitor
from tidings.storage.db.connection import Connection

HUBS = 25
HTML = {"Content-Type": "text/html; charset=utf-8"}


class Site:
    """The site as it is at an hour; `articles` is when each came, -1 for those that were there.
    `moved` has the hour in which an address began and the former address.
    """

    def __init__(self, world: World, count: int, seed: int = 1) -> None:
        self.world = world
        self.draw = random.Random(seed)
        self.articles: dict[str, int] = {f"/s/a{n}": -1 for n in range(count)}
        self.moved: dict[str, tuple[int, str]] = {}
        self.hub_of = {path: self.draw.randrange(HUBS) for path in self.articles}
        self.in_map = {path for path in self.articles if self.draw.random() < 2 / 3}
        self.texts = {path: self._prose() for path in self.articles}
        for month in range(1, 200):
            links = f'<a href="/s/cal?month={month + 1}">next</a>'
            links += "".join(f'<a href="/s/cal?month={month}&day={day}">{day}</a>' for day in range(1, 29))
            world.page(f"/s/cal?month={month}", f"<p>Month {month}: nothing is planned in this month.</p>{links}")
        self.write()

    def _prose(self) -> str:
        return " ".join("".join(self.draw.choices("abcdefghijklmnop", k=6)) for _ in range(80))

    def grow(self, hour: int) -> None:
        """Let a new article come; the sitemap learns of it after six hours."""
        path = f"/s/new{hour}"
        self.articles[path], self.hub_of[path], self.texts[path] = hour, self.draw.randrange(HUBS), self._prose()
        if hour % 2 == 0:
            self._move(hour)
        self.in_map |= {each for each, born in self.articles.items() if 0 <= born <= hour - 6}
        self.in_map |= {each for each, (since, _) in self.moved.items() if since <= hour - 6}
        self.write()

    def _move(self, hour: int) -> None:
        old = self.draw.choice(sorted(path for path, born in self.articles.items() if born < 0 and path in self.texts))
        new = f"/s/moved{hour}"
        self.moved[new] = hour, old
        self.hub_of[new], self.texts[new] = self.hub_of.pop(old), self.texts.pop(old)
        self.in_map.discard(old)
        self.world.page(old, "", status=301, headers={"Location": new, "Content-Type": "text/html"})

    def write(self) -> None:
        """Put all pages up as they are now."""
        for hub in range(HUBS):
            own = [path for path, number in self.hub_of.items() if number == hub]
            links = "".join(f'<a href="{path}">{path}</a> ' for path in own)
            links += f'<a href="/s/hub{(hub + 1) % HUBS}">more</a><a href="/s/hub{(hub * 7 + 3) % HUBS}">other</a>'
            links += "".join(f'<a href="{path}?sessionid=ab{hub}cd{n}">print</a>' for n, path in enumerate(own[:3]))
            self.world.page(f"/s/hub{hub}", f"<title>Hub {hub}</title><p>Hub number {hub}</p>{links}")
        self.world.page("/s/", '<a href="/s/hub0">hub</a><a href="/s/cal?month=1">calendar</a>')
        for path, text in self.texts.items():
            self.world.page(path, f"<title>{path}</title><p>{text}</p><a href='/s/hub0'>home</a>")
        locs = "".join(f"<url><loc>{self.world.server.url(path)}</loc></url>" for path in sorted(self.in_map))
        self.world.page("/sitemap.xml", f"<urlset>{locs}</urlset>", headers={"Content-Type": "application/xml"})


def measure(site: Site, first: dict[str, int], requests: int, hours: int) -> str:
    """Return the line of one way; `first` is the minute of each page's first fetch."""
    old = {path for path, born in site.articles.items() if born < 0}
    found = {*first, *(before for path, (_, before) in site.moved.items() if path in first)}
    new = {path: born for path, born in site.articles.items() if 0 <= born < hours - 6}
    moved = {path: since for path, (since, _) in site.moved.items() if since < hours - 6}
    came = "  ".join(
        f"{sum(path in first for path in since)} of {len(since)} {name}, p50 {_middle(first, since):>6}"
        for name, since in (("new", new), ("moved", moved))
    )
    return f"{len(old & found) / len(old):6.1%} of {len(old)} pages  {came}  {requests:5} requests"


def _middle(first: dict[str, int], since: dict[str, int]) -> str:
    """Return the median delay of those addresses that were read."""
    delays = [first[path] / 60 - hour for path, hour in since.items() if path in first]
    return f"{statistics.median(delays):.1f} h" if delays else "-"


def run_tidings(folder: Path, server: WebServer, budget: float, count: int, hours: int) -> str:
    """Return what a collection finds; the world's clock is a manual one."""
    server.pages.clear()
    world = World(folder, server)
    site = Site(world, count)
    world.add(f"Create Collection site Using {{/s/}} Depth 20 Budget {budget:.0f} per day")
    begun = world.clock.now()

    async def story(monitor: Monitor) -> None:
        for hour in range(hours):
            await world.pass_time(monitor, HOUR)
            site.grow(hour + 1)

    play(world, story)
    paths = {page_id: "/" + url.split("/", 3)[-1] for page_id, url in world.read(_list_pages)}
    led = {old: (new, 60 * hour) for new, (hour, old) in site.moved.items()}
    first: dict[str, int] = {}
    for poll in world.polls():
        path, minute = paths[poll.page_id], (poll.charged_at - begun) // MINUTE
        if path in led and minute >= led[path][1]:
            path = led[path][0]  # the poll has read what it leads to
        if poll.outcome in {"new", "changed", "unchanged"} and (path in site.articles or path in site.moved):
            first.setdefault(path, minute)
    return measure(site, first, len(world.polls()), hours)


def _list_pages(c: Connection) -> list[tuple[int, str]]:
    return list(c.rows("SELECT id, given FROM page"))


def crawl(folder: Path, server: WebServer, budget: float, count: int, hours: int, *, follows: bool) -> str:
    """Return what a crawler finds that asks for addresses in the order in which it finds them,
    and begins again when it has none; without `follows` it only reads the sitemap, each hour.
    """
    server.pages.clear()
    site = Site(World(folder, server), count)
    roots = ["/s/"] if follows else ["/sitemap.xml"]
    first: dict[str, int] = {}
    queue: deque[str] = deque()
    seen: set[str] = set()
    spent, gap = 0, 24 * 60 / budget
    next_map = 0.0
    hour = 0
    for minute in _minutes(gap, hours):
        while hour < minute // 60:
            hour += 1
            site.grow(hour)
        if not follows and minute >= next_map:
            queue.appendleft("/sitemap.xml")
            next_map = minute + 60
        if not queue:
            if not follows:
                continue
            seen = set()
            queue.extend(roots)
        path = queue.popleft()
        spent += 1
        page = server.pages.get(path)
        if page is None:
            continue
        if "Location" in page.headers:
            if page.headers["Location"] not in seen:
                seen.add(page.headers["Location"])
                queue.append(page.headers["Location"])
            continue
        if path in site.articles or path in site.moved:
            first.setdefault(path, int(minute))
        if not (follows or path == "/sitemap.xml"):
            continue
        kind = page.headers.get("Content-Type", "text/html")
        for link, _ in read_links((Body(data=page.body, content_type=kind, url=server.url(path)),)).links:
            url = address_of(link)
            short = "/" + url.split("/", 3)[-1]
            if short not in seen and is_page(url) and belongs(url, ("/s/*",), [origin_of(server.url("/"))]):
                seen.add(short)
                queue.append(short)
    return measure(site, first, spent, hours)


def _minutes(gap: float, hours: int) -> Iterator[float]:
    at = 0.0
    while at < hours * 60:
        yield at
        at += gap


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--budgets", type=float, nargs="+", default=[600, 1200, 4800])
    parser.add_argument("--ways", choices=WAYS, nargs="+", default=list(WAYS))
    asked = parser.parse_args()
    with WebServer() as server, tempfile.TemporaryDirectory() as folder:
        for budget in asked.budgets:
            for way in asked.ways:
                line = WAYS[way](Path(folder) / f"{way}{budget}", server, budget, asked.pages, asked.hours)
                print(f"{budget:6.0f} a day  {way:<14}", line, flush=True)


WAYS: dict[str, Callable[[Path, WebServer, float, int, int], str]] = {
    "breadth first": partial(crawl, follows=True),
    "sitemap alone": partial(crawl, follows=False),
    "collection": run_tidings,
}


if __name__ == "__main__":
    main()
