"""Steps performed on a page in the browser before it is read (decision 0058).

Each waits for its place to exist and, once done, for the page to settle. A step that cannot be done
is a failure that names it and quotes the page. Errors of the browser's driver may hold typed text,
so none of their text is passed on.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import quote, quote_plus

from playwright.async_api import Error as BrowserError
from playwright.async_api import TimeoutError as TooLate

from tidings.clock import SECOND
from tidings.fetching.browser.parts import Load
from tidings.fetching.fetcher import FetchError
from tidings.model.observed.outcome import PlayedStep
from tidings.model.secret import Secret, reveal

STEP_SECONDS: Final = 10.0
"""How long a step waits for its place."""
SHOWN: Final = 160
"""Characters of the page that a failure quotes."""
HIDDEN: Final = "***"
_WORDS = "document.body ? document.body.innerText.replace(/\\s+/g, ' ').trim() : ''"


class Typed:
    """The secrets typed so far."""

    def __init__(self) -> None:
        self._values: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._values)

    def add(self, secret: Secret) -> None:
        """Record a secret that is about to be typed."""
        self._values.append(secret.reveal())

    def mask(self, text: str) -> str:
        """Return a text without the secrets, in plain form and as HTML, JSON and addresses encode
        them.
        """
        forms = {form for value in self._values for form in _list_forms(value)}
        for form in sorted(forms, key=len, reverse=True):  # one secret may be part of another
            text = text.replace(form, HIDDEN)
        return text

    def is_in(self, url: str) -> bool:
        """Return whether an address contains one of the secrets."""
        return self.mask(url) != url


async def play(
    page: Any,
    load: Load,
    *,
    settle: Callable[[], Awaitable[None]],
    lock: Callable[[Secret], None],
    mask: Callable[[str], str],
) -> None:
    """Perform the steps of the page's request; `load.doing` is the current one.

    Raises `FetchError` (kind `request`) for the first that cannot be done.

    Args:
        page: The driver's page.
        load: The page load.
        settle: Returns when the page has settled.
        lock: Called before a secret is typed; raises `FetchError` if it may not be typed here.
        mask: Returns a text of the page without the typed secrets.
    """
    steps = load.request.steps
    for number, step in enumerate(steps, 1):
        load.doing = named = f"step {number} of {len(steps)}, {step.text}: "
        try:
            if isinstance(step.value, Secret):
                lock(step.value)
            await _do(page, step)
        except FetchError as error:
            raise FetchError(error.kind, f"{named}{error}") from None
        except TooLate:
            raise FetchError(
                "request", f"{named}{_why(await _count(page, step))}{await _text_on_page(page, mask)}"
            ) from None
        except BrowserError:
            why = "the browser cannot do this step (is the selector correct?)"
            raise FetchError("request", f"{named}{why}{await _text_on_page(page, mask)}") from None
        try:
            await settle()
        except FetchError as error:
            raise FetchError(error.kind, f"{named}{error}", retry_after=error.retry_after) from None


async def _do(page: Any, step: PlayedStep) -> None:
    patience = STEP_SECONDS * 1000
    place: Any = page.locator(step.place).locator("visible=true").first if step.place else None
    value = reveal(step.value)
    match step.verb:
        case "click":
            await place.click(timeout=patience)
        case "fill":
            await place.fill(value, timeout=patience)
        case "select":
            await place.select_option(value, timeout=patience)
        case "press" if place is not None:
            await place.press(value, timeout=patience)
        case "press":
            await page.keyboard.press(value)
        case "wait" if place is not None:
            await place.wait_for(state="visible", timeout=patience)
        case "wait":
            await asyncio.sleep(step.wait / SECOND)
        case "scroll" if place is not None:
            await place.scroll_into_view_if_needed(timeout=patience)
        case "scroll":
            await page.keyboard.press("End")


async def _count(page: Any, step: PlayedStep) -> int:
    """Return how many elements of the page, visible or not, match the place of a step."""
    try:
        return int(await asyncio.wait_for(page.locator(step.place).count(), 1)) if step.place else 0
    except (BrowserError, TimeoutError):
        return 0


def _why(count: int) -> str:
    if count:
        is_one = count == 1
        many = "one element matches" if is_one else f"{count} elements match"
        return f"{many}, but {'is' if is_one else 'are'} hidden, covered or of another kind"
    return "no element of the page matches"


async def _text_on_page(page: Any, mask: Callable[[str], str]) -> str:
    """Return the quote for a failure: the page's title and first words, masked before they are
    cut.
    """
    try:
        title = mask(await asyncio.wait_for(page.title(), 1))
        words = mask(await asyncio.wait_for(page.evaluate(_WORDS), 1))
    except (BrowserError, TimeoutError):
        return ""
    shown = words if len(words) <= SHOWN else f"{words[:SHOWN].rstrip()} …"
    return f". The page “{title[:60]}” says: {shown or 'nothing'}"


def _list_forms(text: str) -> tuple[str, ...]:
    """Return the encodings of a text in a page, in its data and in addresses."""
    safe = text.replace("&", "&amp;").replace("\u00a0", "&nbsp;")
    in_text, in_attribute = safe.replace("<", "&lt;").replace(">", "&gt;"), safe.replace('"', "&quot;")
    in_json = (json.dumps(text, ensure_ascii=is_ascii)[1:-1] for is_ascii in (False, True))
    return (text, in_text, in_attribute, *in_json, quote(text, safe=""), quote_plus(text))
