"""Take a picture of every screen of a service that has watched a small town for ten days.

`PYTHONPATH=. python bench/screens.py FOLDER [AXE] [NAME…]`

Each screen is taken wide and narrow, light and dark. The bench prints what axe finds on each, what
the browser's console says, and how many bytes were sent. `AXE` is a file `axe.min.js` (MPL-2.0, no
dependency: e.g. out of the wheel of axe-playwright-python), `-` for none. `NAME…` are the screens
to take, by how their names begin, by default all. `many` are the screens with 5,000 sentinels. A
sheet with all four pictures of each screen is written, too: `NAME.webp`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench.screen_times import fill
from PIL import Image
from playwright.async_api import Browser, async_playwright

from tests.acceptance.test_screens import face
from tests.acceptance.test_search import index
from tests.fakes import Page, WebServer
from tests.people import PASSWORD, hash_password
from tests.screens import serve
from tests.unit.presentation.test_screenshots import picture
from tests.world import World
from tidings.clock import HOUR
from tidings.fetching.browser.chromium import find
from tidings.service.people import accounts as accounts_of
from tidings.service.people import tokens
from tidings.settings import FetchSettings
from tidings.storage.people import published
from tidings.web.screens.desk import ZONE_COOKIE

DAYS: Final = 10
SENT: Final = {"new-tried": "Show what is on it"}
HIGHEST: Final = 1_800
"""Pixels of a picture on a sheet."""
ZONE: Final = "Europe/Berlin"
PATIENCE: Final = 300_000
"""Milliseconds that anything may take: a busy machine makes a picture late, not wrong."""
SETTLE: Final = """async () => {
  document.querySelectorAll("[loading=lazy]").forEach(one => { one.loading = "eager"; });
  await Promise.all([...document.images].map(one => one.decode().catch(() => 0)));
  scrollTo({ top: 0, behavior: "instant" });
}"""
"""Everything has come, and the top is shown."""
PICTURED: Final = (
    "UPDATE version SET screenshot = sha256 WHERE page_id IN (SELECT id FROM page WHERE given LIKE '%/webcam')"
)
"""The pictures of the webcam are its screenshots, too."""
MANY: Final = (
    ("many-sentinels", "/sentinels"), ("many-plan", "/plan"), ("many-inbox", "/"), ("many-health", "/health"),
)  # fmt: skip
PUBLIC: Final = "a-public-page-of-a-town"
WEBP: Final = {"Content-Type": "image/webp"}
SIZES: Final = {"1280": (1280, 900), "390": (390, 844)}
OFFER: Final = (
    '<title>Fellmark gooseneck kettle</title><script type="application/ld+json">{{"@type":"Product","name":"Kettle",'
    '"offers":{{"price":"{}","priceCurrency":"EUR"}}}}</script><h1>Kettle</h1><p>Price {} EUR, in stock.</p>'
)
ARTICLE: Final = (
    "<title>Ferry timetable</title><h1>Ferry to Hallig Süd</h1><h2>Weekdays</h2><p>The ferry leaves at {} from pier {}."
    " Tickets are sold on board.</p><h2>Fares</h2><p>Adults pay {} EUR, children half of it. Dogs travel free.</p>"
    "<h2>Notes</h2>{}"
    "<p>In heavy weather the ferry does not leave. Please ask the harbour master by telephone.</p>"
)
TABLE: Final = (
    "<title>Rates</title><h1>Exchange rates</h1><table><tr><th>currency<th>buy<th>sell<tr><td>USD<td>{}<td>{}"
    "<tr><td>GBP<td>0.8{}<td>0.86<tr><td>CHF<td>0.94<td>0.97</table>"
)
HOSTILE: Final = (
    "<title>&lt;script&gt;alert(1)&lt;/script&gt;\u202e drow</title><p>{} &lt;img src=x onerror=alert(2)&gt;"
)
JAPANESE: Final = '<html lang="ja"><title>図書館</title><h1>開館時間</h1><p>図書館は午前{}時から午後八時まで。</p>'
FEED: Final = '<?xml version="1.0"?><rss version="2.0"><channel><title>Harbour news</title>{}</channel></rss>'
STATEMENTS: Final = (
    "Create Sentinel kettle Using {/kettle} Monitor price Fetch every 6 hours Tags money, home",
    "Create Sentinel ferry Using {/ferry} Monitor all words Fetch every 4 hours Tags travel Notify by webhook {/hook}",
    "Create Sentinel rates Using {/rates} Monitor table 1 Fetch every 6 hours Tags money",
    "Create Sentinel hostile Using {/hostile} Monitor all words Fetch every 12 hours",
    "Create Sentinel library Using {/library} Monitor any change Fetch every 12 hours",
    "Create Sentinel news Using {/feed} Monitor items Fetch every 6 hours Tags travel",
    "Create Sentinel board Using {/board} Monitor any change Fetch on change",
    "Create Sentinel lost Using {/lost} Monitor any change Fetch every 12 hours Tags travel",
    "Create Sentinel still Using {/still} Monitor any change Fetch on change",
    "Create Sentinel resting Using {/still} Monitor links Fetch every 12 hours",
    "Create Sentinel webcam Using {/webcam} Monitor any change Fetch every 12 hours",
    "Create Collection guide Using {/guide/} Depth 2 Budget 400 per day",
)


def town(world: World, hour: int) -> None:
    """Let the pages be as they are so many hours after the start."""
    price = f"{129 - 5 * (hour // 50 % 4)}.00"
    world.page("/kettle", OFFER.format(price, price))
    notes = "<p>On Sunday the pier is closed.</p>" if hour // 60 % 2 else ""
    world.page("/ferry", ARTICLE.format(f"{8 + hour // 24 % 3}:15", 1 + hour // 36 % 3, 12 + hour // 70, notes))
    world.page("/rates", TABLE.format(f"1.0{hour // 30 % 9}", f"1.1{hour // 30 % 9}", hour // 55 % 9))
    world.page("/hostile", HOSTILE.format(f"&lt;b&gt;{hour // 48}&lt;/b&gt;"))
    world.page("/library", JAPANESE.format(8 + hour // 72))
    items = [
        f"<item><title>Boat {n} has come in</title><link>https://x.example/{n}</link><guid>{n}</guid></item>"
        for n in range(hour // 20)
    ]
    world.page("/feed", FEED.format("".join(reversed(items))), headers={"Content-Type": "application/rss+xml"})
    world.page(
        "/board",
        f"<title>Bus board</title><h1>Departures</h1><p>Line {1 + hour // 9 % 7} leaves at {8 + hour // 9 % 12}:40</p>",
    )
    world.page("/still", "<title>Rules of the harbour</title><h1>Rules</h1><p>No fishing here.</p>")
    boat = 100 + hour // 60 * 90
    world.page("/webcam", picture((640, 360), (boat, 200, boat + 80, 240), form="WEBP"), headers=WEBP)
    rooms = range(6 + hour // 80)
    links = " ".join(f'<a href="/guide/{n}">Inn {n}</a>' for n in rooms)
    world.page("/guide/", f'<title>Guide</title>{links} <a href="/elsewhere">Not of the guide</a>')
    for n in rooms:
        world.page(f"/guide/{n}", f"<title>Inn {n}</title><h1>Inn {n}</h1><p>A room costs {60 + 7 * n} EUR.</p>")
    if hour < 150:
        world.page("/lost", "<title>Old pier</title><p>Here stands the old pier.</p>")
    else:
        world.server.pages["/lost"] = Page(b"gone", status=500)


def paths(changes: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each screen: its name and its address."""
    yield from (("inbox", "/"), ("inbox-all", "/?s=all"), ("inbox-nothing", "/?s=all&q=nowhere"))
    for view in ("only", "page", "two", "rendered"):
        yield f"change-{view}", f"/changes/{changes['ferry']}?view={view}"
    yield from (("change-table", f"/changes/{changes['rates']}"), ("change-hostile", f"/changes/{changes['hostile']}"))
    yield from (("change-feed", f"/changes/{changes['news']}"), ("change-price", f"/changes/{changes['kettle']}"))
    yield "change-screenshots", f"/changes/{changes['webcam']}?view=screenshots"
    yield from (
        ("fewer-noise", f"/changes/{changes['ferry']}/fewer"),
        ("fewer-size", f"/changes/{changes['board']}/fewer?how=size"),
    )
    yield from (
        ("sentinels", "/sentinels"),
        ("sentinels-tag", "/sentinels?tag=travel"),
        ("sentinels-nothing", "/sentinels?q=nowhere"),
    )
    for name in ("kettle", "ferry", "board", "lost", "library"):
        yield f"sentinel-{name}", f"/sentinels/{name}"
    yield from (("search", "/search"), ("search-found", "/search?q=pier"), ("search-nothing", "/search?q=nowhere"))
    yield from (
        ("collections", "/collections"),
        ("collection-guide", "/collections/guide"),
        ("collection-nothing", "/collections/guide?q=nowhere"),
    )
    yield from (
        ("plan", "/plan"),
        ("plan-what-if", "/plan?budget=2000"),
        ("health", "/health"),
        ("health-machine", "/health?machine=1"),
    )
    yield "public", f"/public/{PUBLIC}/changes"
    yield from (("public-pages", "/public"), ("public-proposed", "/public?tag=money"))
    yield from (("settings", "/settings"), ("problem", "/sentinels/nobody"), ("first-account", "/login"))
    yield from (
        ("new", "/new"),
        ("new-wrong", "/new?text=Create+Sentinel+a+Using+b+Monitor+c"),
        ("new-tried", "/new?url={/kettle}"),  # its poll has the time of this machine, not of the town
    )


class Pictures:
    """Takes pictures of screens and notes what is found on them."""

    def __init__(self, browser: Browser, folder: Path, axe: str) -> None:
        self.browser, self.folder, self.axe = browser, folder, axe
        self.findings = 0

    def sheet(self, name: str) -> None:
        """Put the four pictures of a screen beside one another, small."""
        sides = [self.folder / f"{name}-{size}-{theme}.png" for size in SIZES for theme in ("light", "dark")]
        shown = [Image.open(side).convert("RGB") for side in sides]
        shown = [one.crop((0, 0, one.width, min(one.height, HIGHEST))) for one in shown]
        whole = Image.new("RGB", (sum(one.width for one in shown) + 60, max(one.height for one in shown)), "#888")
        left = 0
        for one in shown:
            whole.paste(one, (left, 0))
            left += one.width + 20
        whole.resize((whole.width // 2, whole.height // 2), Image.Resampling.LANCZOS).save(
            self.folder / f"{name}.webp", quality=55, method=6
        )

    async def take(self, name: str, url: str, cookies: list[Any]) -> None:
        """Take one screen in both sizes and both themes."""
        for size, (width, height) in SIZES.items():
            for theme in ("light", "dark"):
                context = await self.browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme=theme, timezone_id=ZONE
                )
                await context.add_cookies([*cookies, {"name": ZONE_COOKIE, "value": ZONE, "url": url}])
                context.set_default_timeout(PATIENCE)
                page = await context.new_page()
                said: list[str] = []
                page.on(
                    "console",
                    lambda message, said=said: (
                        said.append(message.text) if message.type in ("error", "warning") else None
                    ),
                )
                await page.goto(url)
                while await page.locator("#what-if [data-soon]").count():  # it renews itself until all is computed
                    await page.wait_for_timeout(250)
                if name in SENT:  # it is the answer to the form of the screen at this address
                    async with page.expect_navigation():
                        await page.get_by_role("button", name=SENT[name]).click()
                for summary in await page.locator("details.fold > summary").all():
                    await summary.click()
                await page.evaluate(SETTLE)
                for part in page.frames:
                    await part.wait_for_load_state()
                await page.screenshot(path=self.folder / f"{name}-{size}-{theme}.png", full_page=True)
                wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
                if wide > 0:
                    said.append(f"scrolls sideways by {wide} px")
                said += await self._axe(page)
                said = [line for line in said if not (name == "problem" and "status of 404" in line)]
                entries = "performance.getEntries().map(e => e.encodedBodySize || 0)"
                sent = [size for size in await page.evaluate(entries) if size]
                self.findings += len(said)
                if size == "1280" and theme == "light":
                    print(f"{name}: {sum(sent):,} bytes sent, {sent[0]:,} of them the screen")
                for line in said:
                    print(f"  {name} {size} {theme}: {line}")
                await context.close()
        self.sheet(name)

    async def _axe(self, page: Any) -> list[str]:
        if not self.axe:
            return []
        await page.evaluate(self.axe)
        found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"axe {one['impact']}: {one['id']}: {json.dumps([node['html'][:160] for node in one['nodes'][:3]])}"
            for one in found["violations"]
        ]


async def run(folder: Path, axe: str, names: set[str]) -> int:
    """Play the ten days and take the pictures; return how much was found."""
    with tempfile.TemporaryDirectory() as place, WebServer() as web:
        world = World(Path(place) / "data", web)
        world.receiver("/hook", statuses=lambda n: 200 if n < 5 else 500)
        async with (
            async_playwright() as driver,
            world.monitor() as monitor,
            face(world, monitor) as app,
            serve(app) as url,
        ):
            browser = await driver.chromium.launch(
                executable_path=find(FetchSettings()), args=["--no-sandbox", "--disable-gpu"]
            )
            pictures = Pictures(browser, folder, axe)
            if not names or "empty" in names:
                await pictures.take("empty", url, [])
                await pictures.take("empty-collections", f"{url}/collections", [])
                await pictures.take("empty-plan", f"{url}/plan", [])
            town(world, 0)
            for text in STATEMENTS:
                world.add(text)
            for hour in range(0, 24 * DAYS, 2):
                town(world, hour)
                await world.pass_time(monitor, 2 * HOUR)
            world.write(lambda c: c.execute(PICTURED))
            await index(world)
            changes = {one["sentinel"]: one["id"] for one in world.changes()}
            world.write(published.publish, PUBLIC, owner_id=1, tag="travel", at=world.clock.wall())
            for name, path in paths(changes):
                if not names or any(name.startswith(one) for one in names):
                    await pictures.take(name, url + world.text(path), [])
            if not names or names & {"login", "users", "account"}:
                world.write(
                    lambda c: [
                        accounts_of.add(c, n, r, hash_password(), at=world.clock.wall())
                        for n, r in (("ada", "admin"), ("rita", "reader"))
                    ]
                )
                world.write(lambda c: tokens.add(c, "dashboard", "read", at=world.clock.wall()))
                await pictures.take("login", f"{url}/login", [])
                context = await browser.new_context()
                page = await context.new_page()
                await page.goto(f"{url}/login")
                await page.fill("[name=name]", "ada")
                await page.fill("[name=password]", PASSWORD)
                await page.click("button.primary")
                await page.wait_for_url(f"{url}/")
                cookies = await context.cookies()
                await pictures.take("users", f"{url}/users", cookies)
                await pictures.take("account", f"{url}/account", cookies)
            await browser.close()
            return pictures.findings


async def run_many(folder: Path, axe: str) -> int:
    """Take the screens of an installation with 5,000 sentinels; return how much was found."""
    with tempfile.TemporaryDirectory() as place, WebServer() as web:
        world = World(Path(place) / "data", web)
        fill(world, 5_000, has_people=False)
        async with (
            async_playwright() as driver,
            world.monitor() as monitor,
            face(world, monitor) as app,
            serve(app) as url,
        ):
            browser = await driver.chromium.launch(
                executable_path=find(FetchSettings()), args=["--no-sandbox", "--disable-gpu"]
            )
            pictures = Pictures(browser, folder, axe)
            for name, path in MANY:
                await pictures.take(name, url + path, [])
            await browser.close()
            return pictures.findings


def main(folder: str, axe: str = "-", *names: str) -> int:
    """Take them."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    script, found = "" if axe == "-" else Path(axe).read_text(encoding="utf-8"), 0
    if names != ("many",):
        found += asyncio.run(run(Path(folder), script, set(names)))
    if not names or "many" in names:
        found += asyncio.run(run_many(Path(folder), script))
    print(f"{found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
