"""All fetchers by name. A row makes one; what it is made of is imported only then, since aiohttp is slow to load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from tidings.clock import Clock, SystemClock
from tidings.fetching.fetcher import Fetcher
from tidings.registry import Registry
from tidings.settings import FetchSettings


class Maker(Protocol):
    """Makes a fetcher from the settings; `on_crawl_delay(host, seconds)` hears what robots.txt asks for."""

    def __call__(
        self,
        settings: FetchSettings,
        *,
        clock: Clock | None = None,
        on_crawl_delay: Callable[[str, float], None] | None = None,
    ) -> Fetcher:
        """Return a fetcher; it opens nothing before its first request."""
        ...


def _client(
    settings: FetchSettings,
    *,
    clock: Clock | None = None,
    on_crawl_delay: Callable[[str, float], None] | None = None,
) -> Fetcher:
    from tidings.fetching.client import Client

    return Client(settings, clock=clock, on_crawl_delay=on_crawl_delay)


def _browser(
    settings: FetchSettings,
    *,
    clock: Clock | None = None,
    on_crawl_delay: Callable[[str, float], None] | None = None,
) -> Fetcher:
    from tidings.fetching.browser import Browser
    from tidings.fetching.client import Client

    return Browser(settings, Client(settings, clock=clock, on_crawl_delay=on_crawl_delay))


def _files(
    settings: FetchSettings,
    *,
    clock: Clock | None = None,
    on_crawl_delay: Callable[[str, float], None] | None = None,
) -> Fetcher:
    from tidings.fetching.client import Client
    from tidings.fetching.files import Files

    clock = clock or SystemClock()
    return Files(settings, Client(settings, clock=clock, on_crawl_delay=on_crawl_delay), clock=clock)


FETCHERS: Final[Registry[Maker]] = Registry("fetcher", {"client": _client, "browser": _browser, "files": _files})
