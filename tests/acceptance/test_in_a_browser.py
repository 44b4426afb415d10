"""Promise: with a mouse, with the keyboard alone, and without JavaScript, every user can do on the
screens all that they offer.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.async_api import Browser, Page, async_playwright

from tests.acceptance.test_collections import show
from tests.acceptance.test_screens import face
from tests.acceptance.test_search import index
from tests.browsers import need_chromium
from tests.people import PASSWORD, hash_password
from tests.screens import serve
from tests.unit.presentation.test_screenshots import picture as screen
from tests.world import World
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.fetching.browser.chromium import find
from tidings.service.people import accounts as accounts_of
from tidings.service.run.monitor import Monitor
from tidings.settings import FetchSettings
from tidings.storage.watches import deliveries, sentinels

WORDS = "Create Sentinel {0} Using {{/{0}}} Monitor all words Fetch every 1 hour"


@pytest.fixture(autouse=True)
def on_sqlite(request: pytest.FixtureRequest) -> None:
    """Screens query both databases alike; a browser sees no difference."""
    if request.node.callspec.params["make_world"] == "postgresql":
        pytest.skip("a browser sees no difference")


@dataclass
class Visit:
    """A user in a browser on a service whose time the test moves; `clicks` are counted."""

    world: World
    monitor: Monitor
    url: str
    page: Page
    clicks: int = 0
    said: list[str] = field(default_factory=list)

    async def go(self, path: str) -> None:
        """Open an address."""
        await self.page.goto(self.url + path)

    async def click(self, name: str, *, role: str = "button") -> None:
        """Click the element with this name."""
        self.clicks += 1
        await self.page.get_by_role(role, name=name, exact=True).first.click()  # type: ignore[arg-type]

    async def sees(self, text: str) -> None:
        """Wait until a text is shown."""
        await self.page.locator("main").get_by_text(text).locator("visible=true").first.wait_for()

    async def words(self) -> str:
        """Return the text of the screen."""
        return " ".join((await self.page.locator("main").inner_text()).split())

    async def passes(self, duration: int = HOUR) -> None:
        """Let time pass for the service."""
        await self.world.pass_time(self.monitor, duration)

    async def says(self, name: str, *texts: str) -> None:
        """Serve each text for an hour as a page."""
        for text in texts:
            self.world.page(f"/{name}", f"<title>{name.title()}</title><h1>Board</h1><p>{text}</p>")
            await self.passes()


class Tab:
    """One browser for all tests, and its event loop."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.browser = self.runner.run(self._start())

    async def _start(self) -> Browser:
        self._driver = await async_playwright().start()
        return await self._driver.chromium.launch(
            executable_path=find(FetchSettings()), args=["--no-sandbox", "--disable-gpu"]
        )

    async def _end(self) -> None:
        await self.browser.close()
        await self._driver.stop()

    def close(self) -> None:
        """Close the browser."""
        self.runner.run(self._end())
        self.runner.close()

    @contextlib.asynccontextmanager
    async def visit(self, world: World, **options: Any) -> AsyncIterator[Visit]:
        """Open the service in a new window; an error on its console fails the test."""
        async with world.monitor() as monitor, face(world, monitor) as app, serve(app) as url:
            context = await self.browser.new_context(**{"timezone_id": "Europe/Berlin", **options})
            context.set_default_timeout(20_000)
            visit = Visit(world, monitor, url, await context.new_page())
            visit.page.on("console", lambda line: visit.said.append(line.text) if line.type == "error" else None)
            visit.page.on("pageerror", lambda error: visit.said.append(str(error)))
            try:
                yield visit
            finally:
                await context.close()
        assert [] == [line for line in visit.said if "the server responded with a status of" not in line]

    def play(self, world: World, story: Callable[[Visit], Coroutine[Any, Any, None]], **options: Any) -> None:
        """Run a story."""

        async def act() -> None:
            async with self.visit(world, **options) as visit:
                await story(visit)

        self.runner.run(act())


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    need_chromium()
    tab = Tab()
    yield tab
    tab.close()


def test_five_clicks_lead_to_the_first_change(tab: Tab, world: World) -> None:
    """An address is pasted and previewed before it is saved; its first check and the change that *Check
    now* finds are shown without a reload.
    """
    world.page("/shop", "<title>Kettle</title><h1>Offer</h1><p>Price 129 EUR</p>")

    async def story(visit: Visit) -> None:
        await visit.go("/")
        await visit.page.get_by_label("Address of a page").fill(world.text("{/shop}"))
        await visit.click("Show what is on it")
        await visit.sees("What to watch")
        await visit.sees("Price 129 EUR")
        assert [] == world.read(sentinels.names)
        await visit.click("Watch it")
        await visit.page.wait_for_url("**/sentinels/*")
        await visit.sees("The first check is made now")
        await visit.passes(MINUTE)
        await visit.sees("The first version is stored")
        world.page("/shop", "<title>Kettle</title><h1>Offer</h1><p>Price 109 EUR</p>")
        await visit.click("Check now")
        await visit.sees("A check was requested")
        await visit.passes(10 * SECOND)
        await visit.page.locator("main a[href^='/changes/']").click()
        visit.clicks += 1
        await visit.page.wait_for_url("**/changes/*")
        await visit.sees("109")
        assert 4 == visit.clicks
        assert "129" in await visit.words()

    tab.play(world, story)


def test_change_is_compared_read_kept_and_narrowed(tab: Tab, world: World) -> None:
    """*Not relevant* previews what it would have hidden; one button undoes it."""
    world.add(WORDS.format("board"))

    async def story(visit: Visit) -> None:
        await visit.says(
            "board", "Line 5 leaves at 9:40", "Line 5 leaves at 9:41", "Line 6 leaves at 9:41", "Line 6 leaves at 9:55"
        )
        await visit.go("/")
        await visit.page.locator(".item h4 a").first.click()
        await visit.page.get_by_role("button", name="Unread").wait_for()  # it was marked as read by opening it
        await visit.click("Two pages", role="link")
        await visit.sees("Version 3")
        await visit.click("Not relevant", role="link")
        await visit.sees("It would have hidden 2 of 3 changes in 30 days")
        before = world.sentinel("board").text
        await visit.click("Leave it out")
        await visit.sees("The sentinel has a new text")
        assert "Exclude regex" in world.sentinel("board").text
        await visit.click("Undo")
        await visit.page.get_by_text("says something else now").wait_for(state="detached")
        assert before == world.sentinel("board").text
        await visit.go("/")
        assert "Unread 2" in await visit.words()

    tab.play(world, story)


def test_sentinels_are_paused_in_bulk_and_dead_letters_replayed(tab: Tab, world: World) -> None:
    """Sentinels are selected in their table; the health screen offers undelivered messages."""
    hook = world.receiver(statuses=lambda n: 500)
    for name in ("one", "two", "three"):
        world.page(f"/{name}", f"<p>{name} 1</p>")
        world.add(WORDS.format(name) + (f" Notify by webhook {hook}" if name == "one" else ""))

    async def story(visit: Visit) -> None:
        await visit.passes()
        await visit.says("one", "something else")
        await visit.go("/sentinels")
        for name in ("one", "two"):
            await visit.page.get_by_label(f"Select {name}", exact=True).check()
        await visit.page.locator("summary", has_text="Tags").click()
        await visit.page.get_by_label("Tags", exact=True).fill("money, home")
        await visit.click("Set for the selected")
        await visit.page.get_by_role("group", name="Tags").wait_for()
        assert [{"money", "home"}, {"money", "home"}, set()] == [
            set(world.sentinel(name).tags) for name in ("one", "two", "three")
        ]
        await visit.page.get_by_label("Select all shown").check()
        await visit.click("Pause")
        await visit.sees("Paused 3")
        await visit.passes(4 * DAY)
        (dead,) = world.read(deliveries.listing, dead=True)
        world.receiver()
        await visit.go("/health")
        await visit.click("Send again")
        await visit.page.get_by_text("Undelivered").wait_for(state="detached")
        await visit.passes()
        assert "delivered" == world.read(deliveries.get, dead.id).status

    tab.play(world, story)


PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.mark.parametrize(
    "options", [{}, PHONE, {"viewport": {"width": 800, "height": 900}}, {**PHONE, "java_script_enabled": False}]
)
def test_many_are_selected_on_a_computer_and_on_a_phone(tab: Tab, world: World, options: dict[str, Any]) -> None:
    """Sentinels and changes have boxes that a finger can hit; the acts for those selected are in
    view at the end of the screen.
    """
    names = [f"s{n}" for n in range(12)]
    for name in names:
        world.add(WORDS.format(name))

    async def check(visit: Visit, label: str) -> None:
        box = visit.page.get_by_label(label, exact=True)
        size = await box.evaluate(
            "e => { const r = e.parentElement.getBoundingClientRect(); return [r.width, r.height]; }"
        )
        assert min(size) >= (24 if options.get("is_mobile") else 13)
        await box.locator("xpath=..").click()
        assert await box.is_checked()

    async def story(visit: Visit) -> None:
        for text in ("one", "two"):
            for name in names:
                world.page(f"/{name}", f"<title>{name}</title><p>{text} {name}</p>")
            await visit.passes()
        await visit.go("/")  # the zone is known from the second screen on
        await visit.go("/sentinels")
        pause = visit.page.get_by_role("button", name="Pause", exact=True)
        assert not await pause.is_visible()
        for name in ("s3", "s5"):
            await check(visit, f"Select {name}")
        view = await visit.page.evaluate("innerHeight")
        place = await pause.bounding_box()
        assert place is not None
        assert place["y"] + place["height"] <= view
        await pause.click()
        await visit.sees("Paused 2")
        assert ["s3", "s5"] == [name for name in names if world.sentinel(name).state == "disabled"]
        await visit.go("/")
        boxes = visit.page.locator(".item[id] label")
        await boxes.nth(0).click()
        await boxes.nth(1).click()
        place = await visit.page.locator(".bulk").bounding_box()
        assert place is not None
        assert place["y"] + place["height"] <= view
        await visit.page.locator(".bulk").get_by_role("button", name="Keep").click()
        await visit.page.get_by_role("link", name="Kept 2").wait_for()

    tab.play(world, story, **options)


def test_reader_can_sign_in_but_not_change_sentinels(tab: Tab, world: World) -> None:
    """A reader sees no such button and has read marks of their own."""
    world.add(WORDS.format("board"))
    for name, role in (("ada", "admin"), ("rita", "reader")):
        world.write(accounts_of.add, name, role, hash_password(), at=world.clock.wall())

    async def story(visit: Visit) -> None:
        await visit.says("board", "one", "two")
        await visit.go("/sentinels/board")
        await visit.page.get_by_label("Name").fill("rita")
        await visit.page.get_by_label("Password").fill("wrong")
        await visit.click("Sign in")
        await visit.sees("Wrong name or password")
        await visit.page.get_by_label("Password").fill(PASSWORD)
        await visit.click("Sign in")
        await visit.page.wait_for_url("**/sentinels/board")
        assert 0 == await visit.page.locator("main button").count()
        await visit.go("/")
        await visit.page.locator(".item").first.hover()
        await visit.click("Read")
        await visit.sees("All read")
        await visit.go("/new")
        await visit.sees("this is for editors")
        await visit.click("Sign out rita")
        await visit.page.get_by_label("Name").fill("ada")
        await visit.page.get_by_label("Password").fill(PASSWORD)
        await visit.click("Sign in")
        await visit.sees("two")
        await visit.go("/users")
        await visit.sees("rita")

    tab.play(world, story)


def test_keyboard_alone_is_enough(tab: Tab, world: World) -> None:
    """Move, select, keep, open, go back, find and create."""
    world.add(WORDS.format("board"))

    async def story(visit: Visit) -> None:
        await visit.says("board", "one", "two", "three", "four")
        press = visit.page.keyboard.press
        await visit.go("/")
        await press("Tab")
        assert "Skip to content" == await visit.page.evaluate("document.activeElement.textContent")
        await press("Enter")
        await press("j")
        await press("j")
        await press("f")
        await visit.page.get_by_role("link", name="Kept 1").wait_for()
        await press("j")
        await press("m")
        await visit.page.get_by_role("link", name="Unread 1").wait_for()
        await press("j")
        await press("o")
        await visit.page.wait_for_url("**/changes/*")
        await press("g")
        await press("s")
        await visit.page.wait_for_url("**/sentinels")
        await press("/")
        await visit.page.keyboard.type("three")
        await press("Enter")
        await visit.page.wait_for_url("**q=three*")
        await press("Escape")
        await visit.page.evaluate("document.activeElement.blur()")
        await press("+")
        await visit.page.wait_for_url("**/new")
        assert "url" == await visit.page.evaluate("document.activeElement.name")

    tab.play(world, story)


def test_screens_work_without_javascript(tab: Tab, world: World) -> None:
    """Create, read, keep, narrow and pause use links and forms."""
    world.page("/board", "<title>Board</title><p>Line 5 leaves at 9:40</p>")

    async def story(visit: Visit) -> None:
        await visit.go(f"/new?url={world.text('{/board}')}&monitor=all+words")
        await visit.click("Show what is on it")
        await visit.sees("Line 5 leaves at 9:40")
        await visit.click("Watch it")
        (name,) = world.read(sentinels.names)
        await visit.passes()
        world.page("/board", "<title>Board</title><p>Line 5 leaves at 9:50</p>")
        await visit.passes(DAY)
        await visit.go("/")
        await visit.page.locator(".item h4 a").first.click()
        for view in ("Changes only", "Two pages", "Rendered"):
            await visit.click(view, role="link")
            assert "true" == await visit.page.get_by_role("link", name=view).get_attribute("aria-current")
        await visit.click("Read")
        await visit.click("Keep")
        await visit.page.get_by_role("button", name="Kept").wait_for()
        await visit.click("Not relevant", role="link")
        await visit.click("Leave it out")
        await visit.click("Undo")
        await visit.click("Pause")
        await visit.sees("paused")
        assert "disabled" == world.sentinel(name).state
        await visit.go("/")
        await visit.sees("All read")

    tab.play(world, story, java_script_enabled=False)


@pytest.mark.parametrize("has_script", [True, False])
def test_tag_is_published_and_removed(tab: Tab, world: World, has_script: bool) -> None:
    """The preview names what becomes public; a visitor opens the address without an account."""
    world.add(WORDS.format("board") + " Tags harbour")

    async def story(visit: Visit) -> None:
        await visit.says("board", "one", "two")
        await visit.go("/sentinels?tag=harbour")
        await visit.click("Public page of this tag", role="link")
        await visit.sees("These pages become public")
        await visit.click("Publish it")
        link = visit.page.locator("main a[href$='/changes']")
        address = await link.inner_text()
        assert address.startswith("http://")
        await link.click()
        await visit.page.wait_for_url("**/public/*/changes")
        await visit.sees("one → two")
        assert "Board 127.0.0.1" in await visit.words()
        assert 0 == await visit.page.locator("nav").count()
        assert "feed.atom" == await visit.page.get_by_role("link", name="Atom feed").get_attribute("href")
        await visit.go("/public")
        await visit.click("Remove")
        await visit.page.get_by_role("button", name="Remove").wait_for(state="detached")
        answer = await visit.page.goto(address.replace(address.split("/public")[0], visit.url))
        assert answer is not None
        assert 404 == answer.status
        await visit.sees("Its owner may have removed it")

    tab.play(world, story, java_script_enabled=has_script)


@pytest.mark.parametrize("has_script", [True, False])
def test_file_is_imported_from_the_first_screen(tab: Tab, world: World, has_script: bool) -> None:
    """Each job is shown before anything is stored."""
    jobs = "name: Kettle\nurl: https://shop.example/\nfilter: [{css: .price}]\n---\ncommand: date\n"
    sent = {"name": "urls.yaml", "mimeType": "application/yaml", "buffer": jobs.encode()}

    async def story(visit: Visit) -> None:
        await visit.go("/")
        await visit.page.get_by_label("A file of another program").set_input_files(sent)  # type: ignore[arg-type]
        await visit.click("Show what is in it")
        await visit.sees("1 sentinel would be stored")
        assert "Left out 1" in await visit.words()
        assert [] == world.read(sentinels.names)
        await visit.page.get_by_role("button", name="Import 1").click()
        await visit.sees("1 sentinel is stored")
        await visit.click("Show the sentinels", role="link")
        await visit.sees("Kettle")

    tab.play(world, story, java_script_enabled=has_script)


@pytest.mark.parametrize("has_script", [True, False])
def test_curve_of_budgets_is_drawn(tab: Tab, world: World, has_script: bool) -> None:
    """As pictures with a table."""
    world.add(WORDS.format("board"))

    async def story(visit: Visit) -> None:
        await visit.says("board", *(["one"] * 12), *(["two"] * 12), "three", "four")
        await visit.go("/plan")
        await visit.click("Draw the curve")
        if not has_script:
            await visit.go("/plan")
        await visit.page.get_by_role("img", name="Changes found, by checks a day").wait_for()
        await visit.page.get_by_role("img", name="Half of them seen within").wait_for()
        assert 4 == await visit.page.locator("#what-if tbody tr").count()

    tab.play(world, story, java_script_enabled=has_script)


def test_times_are_in_the_reader_s_zone_from_the_first_screen(tab: Tab, world: World) -> None:
    """The browser reports its zone, and the screen is updated in place."""
    world.add(WORDS.format("board"))

    async def story(visit: Visit) -> None:
        await visit.says("board", "one", "two")
        await visit.go("/")
        await visit.page.get_by_text("Times in Asia/Tokyo").wait_for()
        stamp = await visit.page.locator(".item time").first.get_attribute("datetime")
        assert stamp is not None
        assert stamp.endswith("+09:00")

    tab.play(world, story, timezone_id="Asia/Tokyo")


@pytest.mark.parametrize("has_script", [True, False])
def test_part_is_selected_in_the_rendered_page(tab: Tab, world: World, has_script: bool) -> None:
    """A click on a text selects the part around it, a link a wider one; the page runs nothing."""
    offer = '<div class="price-box"><span>Price</span> <b>129 EUR</b></div>'
    world.page(
        "/shop", f"<title>Kettle</title><script>top.location='/evil'</script><h1>Kettle</h1>{offer}<p>Visits 1</p>"
    )

    async def story(visit: Visit) -> None:
        await visit.go(f"/new?url={world.text('{/shop}')}&monitor=all+words")
        await visit.click("Show what is on it")
        await visit.page.get_by_text("Point at a part of the page").click()
        await visit.page.frame_locator("iframe").get_by_text("129 EUR").click()
        await visit.sees("Only this part")
        assert "/new?" in visit.page.url
        text = visit.page.get_by_label("in its language")
        assert 'Select css ".price-box > b:nth-of-type(1)"' in await text.input_value()
        await visit.click("Price 129 EUR", role="link")
        await visit.page.locator('[aria-current="true"]', has_text="Price 129 EUR").wait_for()
        assert 'Select css ".price-box"' in await text.input_value()
        await visit.click("Watch it")
        (name,) = world.read(sentinels.names)
        await visit.passes()
        world.page("/shop", f"<title>Kettle</title><h1>Kettle</h1>{offer.replace('129', '99')}<p>Visits 2</p>")
        await visit.passes(DAY)
        (change,) = world.changes(name)
        assert (["129"], ["99"]) == (change["deleted"], change["inserted"]) or change["updated"]

    tab.play(world, story, java_script_enabled=has_script)


def test_screenshots_are_compared_by_overlay(tab: Tab, world: World) -> None:
    """The edge also moves by keyboard; a picture shows the difference.

    The overlay survives the update of the zone.
    """
    headers = {"Content-Type": "image/webp"}
    world.page("/picture", screen((40, 30), form="WEBP"), headers=headers)
    world.add("Create Sentinel shop Using {/picture} Monitor any change Fetch every 1 hour")

    async def story(visit: Visit) -> None:
        await visit.passes()
        world.page("/picture", screen((40, 30), (5, 5, 9, 9), form="WEBP"), headers=headers)
        await visit.passes()
        world.write(lambda c: c.execute("UPDATE version SET screenshot = sha256"))
        (change,) = world.changes()
        await visit.go(f"/changes/{change['id']}?view=screenshots")
        await visit.page.get_by_text("Times in Asia/Tokyo").wait_for()
        edge = visit.page.get_by_label("How much of the newer one is shown")
        await edge.press("End")
        assert "100%" == await visit.page.locator("[data-slider]").evaluate("e => e.style.getPropertyValue('--at')")
        await visit.page.get_by_text("What differs").click()
        for picture in await visit.page.locator("main img").all():
            await visit.page.wait_for_function("e => e.naturalWidth === 40", arg=await picture.element_handle())

    tab.play(world, story, timezone_id="Asia/Tokyo")


def test_phone_shows_the_current_menu_entry(tab: Tab, world: World) -> None:
    """The menu scrolls to it; nothing else scrolls sideways."""
    world.add(WORDS.format("board"))

    async def story(visit: Visit) -> None:
        for path in ("/", "/plan", "/health", "/settings"):
            await visit.go(path)
            await visit.page.get_by_text(
                "Times in Europe/Berlin"
            ).wait_for()  # a first visit is shown again in its zone
            box = await visit.page.locator(".top nav [aria-current]").bounding_box()
            assert box is not None
            assert 0 <= box["x"] <= box["x"] + box["width"] <= 390
            wide = await visit.page.evaluate("document.documentElement.scrollWidth")
            assert (path, 390) == (path, wide)

    tab.play(world, story, viewport={"width": 390, "height": 844})


def test_whole_site_is_watched(tab: Tab, world: World) -> None:
    """A collection is created, its pages are listed, filtered and searched, and a new page is
    notified.
    """
    show(world, 4)

    async def story(visit: Visit) -> None:
        await visit.go("/collections")
        await visit.sees("No site is watched as a whole")
        await visit.click("Write one", role="link")
        text = visit.page.get_by_label("in its language")
        await text.fill((await text.input_value()).replace("https://docs.example/", world.text("{/docs/}")))
        await visit.click("Watch it")
        await visit.page.wait_for_url("**/sentinels/docs")
        await visit.passes(3 * HOUR)
        await visit.click("Collections", role="link")
        await visit.click("docs", role="link")
        await visit.sees("5 pages")
        await visit.sees("Title 1")
        await visit.page.get_by_label("Filter by title or address").fill("title 2")
        await visit.page.keyboard.press("Enter")
        await visit.page.get_by_role("link", name="Title 1", exact=True).wait_for(state="detached")
        await visit.sees("Title 2")
        await index(world)
        await visit.page.get_by_label("Filter by title or address").fill("wcaa")
        await visit.click("Search its texts")
        await visit.page.wait_for_url("**/search?q=wcaa&sentinel=docs")
        await visit.sees("1 page")
        await visit.page.get_by_role("link", name="Title 2", exact=True).wait_for()
        assert {"wcaa"} == {await mark.inner_text() for mark in await visit.page.locator("main mark").all()}
        show(world, 5)
        await visit.passes(DAY)
        await visit.go("/")
        await visit.sees("Title 4")

    tab.play(world, story)


def test_price_is_chosen_on_the_page_and_its_receiver_tested(tab: Tab, world: World) -> None:
    """One click takes the present price; the receiver gets a test message; a change is shared."""
    offer = '<script type="application/ld+json">{{"@type":"Product","offers":{{"price":"{}","priceCurrency":"EUR"}}}}</script>'
    world.page("/shop", "<title>Kettle</title>" + offer.format("129.00") + "<p>Buy it</p>")
    hook = world.receiver()

    async def story(visit: Visit) -> None:
        await visit.go("/new")
        await visit.page.get_by_label("Address of the page").fill(world.text("{/shop}"))
        await visit.click("Show what is on it")
        await visit.sees("129.00 EUR")
        await visit.page.get_by_label("Price", exact=True).check()
        await visit.sees("Watches price")
        await visit.page.get_by_label("Also notify").fill(hook)
        await visit.click("Watch it")
        await visit.page.wait_for_url("**/sentinels/*")
        await visit.click("Send a test message")
        await visit.sees("the test message was accepted")
        (name,) = world.read(sentinels.names)
        assert "Monitor price" in world.sentinel(name).text
        await visit.passes()
        world.page("/shop", "<title>Kettle</title>" + offer.format("109.00") + "<p>Buy it</p>")
        await visit.passes(DAY)
        await visit.go("/")
        await visit.sees("sent by webhook")
        await visit.page.locator(".item h4 a").first.click()
        await visit.sees("−15.5")
        await visit.page.locator("summary", has_text="Share").click()
        async with visit.page.expect_download() as coming:
            await visit.click("As a picture", role="link")
        assert "change.png" == (await coming.value).suggested_filename

    tab.play(world, story)
