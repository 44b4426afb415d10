"""From an address to the first change that a person sees: clicks and seconds, in a real browser,
with the settings as they come, in real time.

    PYTHONPATH=. python bench/first_change.py [--no-click]

Somebody pastes the address of a page of their own, saves, edits the page as soon as the first check
is shown, presses *Check now*, and waits until the screen shows the change. With `--no-click` nobody
presses it: the sentinel is checked every minute. Ends with status 1 if a change of somebody who
clicks takes a minute or more than five clicks.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import re
import secrets
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from playwright.async_api import Browser, async_playwright

from tests.fakes import Page, WebServer, response
from tests.services import Installation, until
from tidings.fetching.browser.chromium import find
from tidings.settings import FetchSettings

AS_THEY_COME: Final = {
    "TIDINGS_FETCH_PAGE_FLOOR_SECONDS": "60",
    "TIDINGS_DETECT_SECOND_POLLS": "true",
    "TIDINGS_SERVE_TICK_SECONDS": "1",
    "TIDINGS_BUDGET_POLLS_PER_DAY": "50000",
    "TIDINGS_BUDGET_BURST": "2000",
}
"""The defaults, which a test installation changes."""
LISTENS: Final = re.compile(r"http://127\.0\.0\.1:\d+")
HTML: Final = {"Content-Type": "text/html; charset=utf-8"}
PATIENCE: Final = 150_000
"""How long a change is waited for (ms)."""
VISITS = itertools.count(1)
NOISE: Final[dict[str, Callable[[], str]]] = {
    "none": lambda: "",
    "a counter of visits": lambda: f"<p>{next(VISITS):,} views</p>",
    "a token": lambda: f"<p>Session {secrets.token_hex(8)} of yours</p>",
}


def page_of(noise: Callable[[], str], text: list[str]) -> Callable[[object, object], None]:
    """Return the answer of a page: what `text` holds, and its noise."""

    def answer(_: object, wire: object) -> None:
        body = f"<title>Allotment</title><h1>Notes</h1><p>{text[0]}</p>{noise()}".encode()
        wire.send(response(Page(body, HTML)))  # type: ignore[attr-defined]

    return answer


async def make(browser: Browser, url: str, address: str, *, clicks_check: bool, edit: Callable[[], None]) -> None:
    """Make a sentinel, edit its page, and print when the change is seen."""
    page = await (await browser.new_context()).new_page()
    page.set_default_timeout(PATIENCE)
    clicks, begun = 0, time.monotonic()

    async def click(name: str) -> None:
        nonlocal clicks
        clicks += 1
        await page.get_by_role("button", name=name, exact=True).first.click()

    await page.goto(f"{url}/new")
    await page.get_by_label("Address").first.fill(address)
    await click("Show what is on it")
    if not clicks_check:
        text = page.get_by_label("in its language")
        await text.fill((await text.input_value()).replace("Fetch on change", "Fetch every 1 minute"))
    await click("Watch it")
    await page.wait_for_url("**/sentinels/*")
    await page.get_by_text("The first version is stored").wait_for()
    stored = time.monotonic()
    edit()
    if clicks_check:
        await click("Check now")
    await page.locator("main a[href^='/changes/']").first.wait_for()
    seen = time.monotonic()
    said = await page.locator("main a[href^='/changes/']").first.inner_text()
    await page.locator("main a[href^='/changes/']").first.click()
    clicks += 1
    await page.locator("main ins, main del").first.wait_for()
    whole = time.monotonic() - begun
    print(
        f"  baseline {stored - begun:5.1f} s, change seen {seen - stored:5.1f} s after the edit,"
        f" {whole:5.1f} s from the first screen to the comparison, {clicks} clicks: {said!r}",
        flush=True,
    )
    if clicks_check and (whole >= 60 or clicks > 5):
        sys.exit("missed: a minute and five clicks")


async def run(*, clicks_check: bool) -> None:
    """Play each page."""
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=find(FetchSettings()), args=["--no-sandbox", "--disable-gpu"]
        )
        for number, (name, noise) in enumerate(NOISE.items()):
            with tempfile.TemporaryDirectory() as folder, WebServer(f"127.0.0.{2 + number}") as web:
                place = Installation(Path(folder) / "data", AS_THEY_COME)
                try:
                    service = place.serve()
                    service.wait_ready()
                    until(lambda s=service: LISTENS.search(s.err), 60, "the service does not listen")
                    url = LISTENS.search(service.err)
                    assert url is not None
                    text = ["The beans are in flower."]
                    web.pages["/mine"] = page_of(noise, text)
                    print(f"noise: {name}", flush=True)

                    def edit(text: list[str] = text) -> None:
                        text[0] = "The beans are ripe."

                    await make(browser, url[0], web.url("/mine"), clicks_check=clicks_check, edit=edit)
                finally:
                    place.close()
        await browser.close()


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--no-click", action="store_true")
    asyncio.run(run(clicks_check=not options.parse_args().no_click))
