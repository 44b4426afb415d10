"""Chromium: found, started on first use, sandboxed, monitored, and restarted when worn (decision
0018).

It gets a proxy that does not exist and a resolver without names, so that a request that bypasses
our own door reaches nothing, whatever part of the browser makes it. Only `browser` uses this.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any, Final

from tidings.errors import spell_install
from tidings.fetching.fetcher import FetchError
from tidings.record import dataclass
from tidings.settings import FetchSettings

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""The programs searched on PATH."""
WALL: Final = (
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
)
"""The second barrier: a request that bypasses our door finds no name, no address and no way around
the missing proxy.
"""
QUIET: Final = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-gpu",
    "--disable-sync",
    "--mute-audio",
    "--no-first-run",
    "--no-pings",
    "--js-flags=--max-old-space-size=512",
)
PAGES_A_LIFE: Final = 100
"""Pages after which a browser is replaced: long-running ones leak."""
WATCH_EVERY_SECONDS: Final = 0.25
CLOSE_SECONDS: Final = 5.0
START_SECONDS: Final = 30.0
INSTALL: Final = "Debian, Ubuntu: apt-get install chromium"


def find(settings: FetchSettings) -> str | None:
    """Return the path of the browser: `fetch.browser_path`, else the first of `NAMES` on PATH; None
    if there is none.
    """
    if settings.browser_path:
        return shutil.which(settings.browser_path)
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def has_extra() -> bool:
    """Return whether the extra `browser` is installed."""
    return importlib.util.find_spec("playwright") is not None


def lack(settings: FetchSettings) -> str:
    """Return what must be installed before a page can be rendered, empty if nothing."""
    if not has_extra():
        return f"the extra is not installed: {spell_install('browser')}"
    if find(settings) is not None:
        return ""
    if settings.browser_path:
        return f"fetch.browser_path is not a program: {settings.browser_path}"
    return f"no Chromium was found on PATH: install it ({INSTALL}) or set fetch.browser_path"


def is_root() -> bool:
    """Return whether Chromium must run without its sandbox: it has none as root."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


@dataclass(eq=False, slots=True)
class _Life:
    """One run of the browser, with the first process `pid`. `pages` is how many it has loaded,
    `visits` are running; `killed` says why it was ended.
    """

    browser: Any
    cdp: Any
    home: tempfile.TemporaryDirectory[str]
    pid: int
    pages: int = 0
    visits: int = 0
    is_worn: bool = False
    killed: str = ""


class Chromium:
    """The browser of this process, shared by all visits; started on first use."""

    def __init__(self, settings: FetchSettings) -> None:
        self._settings = settings
        self._driver: Any = None
        self._life: _Life | None = None
        self._lives: set[_Life] = set()
        self._starting = asyncio.Lock()
        self._places = asyncio.Semaphore(settings.browser_pages)
        self._closed = False

    @property
    def lives(self) -> int:
        """Return how many browsers run."""
        return len(self._lives)

    @contextlib.asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold one of the places for pages."""
        async with self._places:
            yield

    async def ready(self) -> None:
        """Start the browser unless it runs. Raise `FetchError` of kind `request` if it cannot be
        started.
        """
        await self._alive()

    @contextlib.asynccontextmanager
    async def context(self, **options: Any) -> AsyncIterator[Any]:
        """Yield a fresh context, discarded afterwards. `options` are playwright's.

        Raises `FetchError` of kind `request` if there is no browser, it does not start, or it ends
        meanwhile.
        """
        life = await self._alive()
        life.visits += 1
        life.pages += 1
        watch = asyncio.create_task(self._watch(life))
        context = None
        try:
            context = await life.browser.new_context(**options)
            yield context
        except _errors() as error:
            if life.killed:
                raise FetchError("size", life.killed) from None
            raise FetchError("request", f"the browser ended or failed: {_first_line(error)}") from None
        finally:
            watch.cancel()
            if context is not None:
                await _put_away(life, context)
            life.visits -= 1
            await self._leave(life)

    async def close(self) -> None:
        """Stop all browsers and the driver."""
        self._closed = True
        for life in list(self._lives):
            await self._end(life)
        driver, self._driver = self._driver, None
        if driver is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(driver.stop(), CLOSE_SECONDS)

    # -- inside
    # ---------------------------------------------------------------------------------------

    async def _alive(self) -> _Life:
        async with self._starting:
            life = self._life
            if life is not None and not life.is_worn and life.pages < PAGES_A_LIFE and life.browser.is_connected():
                return life
            if life is not None:
                life.is_worn = True
                if not life.visits:
                    await self._end(life)
            if self._closed:
                raise FetchError("net", "the fetcher is closed")
            self._life = await self._start()
            return self._life

    async def _start(self) -> _Life:
        if fault := lack(self._settings):
            raise FetchError("request", f"this page needs a browser, but {fault}")
        from playwright.async_api import async_playwright

        home = tempfile.TemporaryDirectory(prefix="tidings-browser-", ignore_cleanup_errors=True)
        browser = None
        try:
            if self._driver is None:
                self._driver = await async_playwright().start()
            browser = await self._driver.chromium.launch(
                executable_path=find(self._settings),
                args=[*WALL, *QUIET],
                headless=True,
                chromium_sandbox=not is_root(),
                env={"HOME": home.name, "PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "TZ": "UTC"},
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                timeout=START_SECONDS * 1000,
            )
            cdp = await browser.new_browser_cdp_session()
            life = _Life(browser, cdp, home, pid=await _first_process(cdp))
        except Exception as error:  # noqa: BLE001 - the driver may raise anything
            if browser is not None:  # it runs, but does not answer
                with contextlib.suppress(*_errors(), TimeoutError):
                    await asyncio.wait_for(browser.close(), CLOSE_SECONDS)
            home.cleanup()
            hint = "" if is_root() else "; if its sandbox cannot work, as in a container, run it as its own user"
            raise FetchError("request", f"the browser does not start: {_first_line(error)}{hint}") from None
        self._lives.add(life)
        return life

    async def _leave(self, life: _Life) -> None:
        """End a visit; a worn browser is stopped after its last one."""
        if not life.is_worn and await self._size(life) > self._limit // 2:
            life.is_worn = True
        if life.is_worn and not life.visits:
            await self._end(life)

    async def _end(self, life: _Life) -> None:
        if life not in self._lives:
            return
        self._lives.discard(life)
        if self._life is life:
            self._life = None
        try:
            await asyncio.wait_for(life.browser.close(), CLOSE_SECONDS)
        except Exception:  # noqa: BLE001 - any error may prevent closing
            _kill(life)
        life.home.cleanup()

    @property
    def _limit(self) -> int:
        return self._settings.browser_memory_mb * 1024 * 1024

    async def _watch(self, life: _Life) -> None:
        """Stop a browser that exceeds its memory limit while a page is loaded."""
        while True:
            await asyncio.sleep(WATCH_EVERY_SECONDS)
            if await self._size(life) > self._limit:
                limit = f"{self._settings.browser_memory_mb:,} MB"
                life.is_worn = True
                life.killed = f"the browser took more than {limit} for this page (fetch.browser_memory_mb)"
                _kill(life)
                return

    @staticmethod
    async def _size(life: _Life) -> int:
        try:
            return memory(process["id"] for process in await _processes(life.cdp))
        except Exception:  # noqa: BLE001 - it has ended, or hangs, which its visit detects
            return 0


async def _processes(cdp: Any) -> list[dict[str, Any]]:
    """Return the browser's processes: `id` and `type`."""
    answer = await asyncio.wait_for(cdp.send("SystemInfo.getProcessInfo"), CLOSE_SECONDS)
    processes: list[dict[str, Any]] = answer["processInfo"]
    return processes


async def _first_process(cdp: Any) -> int:
    """Return the root process of a browser."""
    return next(int(process["id"]) for process in await _processes(cdp) if process["type"] == "browser")


async def _put_away(life: _Life, context: Any) -> None:
    """Close a context; if that fails, kill the browser."""
    try:
        await asyncio.wait_for(context.close(), CLOSE_SECONDS)
    except Exception:  # noqa: BLE001 - any error may prevent closing
        life.is_worn = True
        _kill(life)


def _kill(life: _Life) -> None:
    """Kill a browser, also one that does not respond."""
    if life.browser.is_connected():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(life.pid, signal.SIGKILL)


def memory(processes: Iterable[int]) -> int:
    """Return the private memory of these processes in bytes, as Linux counts it; elsewhere 0."""
    pages = 0
    for pid in processes:
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
            pages += int(fields[1]) - int(fields[2])
    return pages * os.sysconf("SC_PAGE_SIZE") if pages else 0


def _errors() -> tuple[type[Exception], ...]:
    from playwright.async_api import Error

    return (Error,)


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200]
