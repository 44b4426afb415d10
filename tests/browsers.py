"""Rendering for tests: one browser per module, in its own event loop.

Tests that need Chromium are skipped with a message without it.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest
from aiohttp.abc import AbstractResolver

from tests.fakes import FreePermit
from tidings.fetching.browser.browser import Browser
from tidings.fetching.browser.chromium import lack
from tidings.fetching.http.client import Client
from tidings.model.observed.outcome import FetchRequest
from tidings.settings import FetchSettings

T = TypeVar("T")


def settings(**changes: object) -> FetchSettings:
    """Return settings under which 127.0.0.0/8 may be asked and robots.txt is not."""
    given: dict[str, object] = {"allow_networks": ("127.0.0.0/8",), "robots": False, "total_seconds": 30.0}
    return FetchSettings(**{**given, **changes})  # type: ignore[arg-type]


def need_chromium() -> None:
    """Skip the test if pages cannot be rendered here; fail it if `TESTS_REQUIRE` asks for Chromium."""
    if missing := lack(FetchSettings()):
        if "chromium" in os.environ.get("TESTS_REQUIRE", ""):
            pytest.fail(f"TESTS_REQUIRE asks for Chromium, but {missing}")
        pytest.skip(f"no page can be rendered here: {missing}")


class Rendering:
    """A browser that keeps running between tests. Each is about a second faster so."""

    def __init__(self, *, resolver: AbstractResolver | None = None, **changes: object) -> None:
        self._resolver = resolver
        self.settings = settings(**changes)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.browser = self.run(self._make())

    async def _make(self) -> Browser:
        return Browser(self.settings, Client(self.settings, resolver=self._resolver), resolver=self._resolver)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something in the browser's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=120)

    def render(self, url: str, permit: Any = None, **more: Any) -> Any:
        """Return how the fetch of a rendered page ended."""
        return self.run(self.browser.fetch(FetchRequest(url=url, render="browser", **more), permit or FreePermit()))

    def render_all(self, *urls: str) -> list[Any]:
        """Return how the fetch of each of several rendered pages ended, as many at once as its
        settings let it.
        """

        async def fetch_all() -> list[Any]:
            asked = (FetchRequest(url=url, render="browser") for url in urls)
            return await asyncio.gather(*(self.browser.fetch(each, FreePermit()) for each in asked))

        return self.run(fetch_all())

    def close(self) -> None:
        """End the browser."""
        self.run(self.browser.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
