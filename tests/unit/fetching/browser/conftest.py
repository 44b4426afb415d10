"""One browser for all tests of rendered pages, and a server for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browsers import Rendering, need_chromium
from tests.fakes import WebServer


@pytest.fixture(scope="session")
def chromium() -> Iterator[Rendering]:
    need_chromium()
    rendering = Rendering()
    yield rendering
    rendering.close()


@pytest.fixture(scope="module")
def many_pages() -> Iterator[Rendering]:
    """Yield a browser that renders eight pages at once, for those that wait most of the time."""
    need_chromium()
    rendering = Rendering(browser_pages=8)
    yield rendering
    rendering.close()


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as running:
        yield running
