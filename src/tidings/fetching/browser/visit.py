"""A visit: one page in a fresh browser context, until it has settled (decision 0018).

Every request of the browser is handled here. The page itself is answered with what the client
fetched, its parts with what `parts` fetches; a navigation by script ends the visit, everything else
is refused. The result is bytes.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import importlib.resources
import json
import logging
from collections.abc import Coroutine
from typing import Any, Final, Literal

from playwright.async_api import Error as BrowserError

from tidings.clock import Instant
from tidings.errors import BudgetError
from tidings.fetching import address
from tidings.fetching.browser.parts import HTML, Load, PartAnswer, PartFetcher
from tidings.fetching.browser.steps import Typed, play
from tidings.fetching.fetcher import FetchError
from tidings.fetching.http import answers, cookies
from tidings.model.secret import Secret
from tidings.record import dataclass

log = logging.getLogger("tidings.fetching.browser.browser")

QUIET_SECONDS: Final = 0.5
"""A page has settled when it is loaded and requests nothing for so long."""
STILL_SECONDS, STILL_PATIENCE_SECONDS = 0.2, 2.0
"""... and its text has not changed for so long; with a text that always changes, a clock say, the
wait ends after the second.
"""
RESTLESS_SECONDS, RESTLESS_STILL_SECONDS = 10.0, 3.0
"""A page that never stops requesting has settled so long after it was loaded, if its text has not
changed for the second time.
"""
WAITING_SECONDS: Final = 20.0
"""... and so long if it only waits for an answer."""
LOADING_SECONDS: Final = 15.0
"""The wait after loading for a page that says in one place that it is loading; if it says nothing
else, until its time ends.
"""
FEWEST_WORDS: Final = 12
"""The words beside such a place from which a page has other content."""
LOADING_EVERY_SECONDS: Final = 0.5
STUCK_SECONDS: Final = 3.0
"""A page that requests nothing for so long and is not loaded never will be: a script has stopped
its loading.
"""
STATE_EVERY_SECONDS: Final = 0.1
EVALUATIONS: Final = 20
"""How often the page is evaluated again after steps that navigate."""

VIEW_WIDTH, VIEW_HEIGHT = 1_280, 1_024
MOST_PICTURE_HEIGHT: Final = 8_000
MOST_PICTURE_BYTES: Final = 2_000_000
PICTURE_QUALITIES: Final = (80, 40)

Treatment = Literal["ask", "blank", "move", "follow", "refuse"]
"""How a request is handled: fetched; answered with an empty image; a navigation that ends the
visit; a navigation that is followed; refused.
"""

_ASKED = frozenset({"script", "stylesheet", "xhr", "fetch"})
_SEEN = frozenset({"image", "font", "document"})
"""Parts that matter to a picture only; a document here is that of a frame."""
_DOUBT = frozenset({"net", "busy", "5xx", "framing", "encoding", "size"})
"""Failures of a part on the page's own host that make the whole page doubtful."""
_NOT_HANDED_ON = frozenset(
    {
        "alt-svc", "clear-site-data", "connection", "content-disposition", "content-encoding", "content-length", "keep-alive",
        "link", "nel", "refresh", "report-to", "reporting-endpoints", "set-cookie", "strict-transport-security", "transfer-encoding",
    }
)  # fmt: skip
_BLANK: Final = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")

_ON_START = """
(() => {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function attachShadow(init) { return attach.call(this, { ...init, mode: "open" }); };
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "EventSource", "SharedWorker"]) delete window[name];
  window.open = () => null;
  navigator.sendBeacon = () => false;
})()
"""
_STATE = """
(() => {
  const now = () => performance.now();
  if (!globalThis.movedAt) {
    globalThis.movedAt = now();
    new MutationObserver(() => { globalThis.movedAt = now(); }).observe(document, { subtree: true, childList: true, characterData: true });
  }
  const ready = Object.getOwnPropertyDescriptor(Document.prototype, "readyState").get.call(document);
  return { still: now() - globalThis.movedAt, ready };
})()
"""
_LOADING_WORDS = (
    "loading|please wait|one moment|just a moment|wird geladen|lädt|lade|laden|bitte warten|chargement|veuillez patienter|cargando|"
    "por favor espere|carregando|a carregar|aguarde|caricamento|attendere|bezig met laden|even geduld|ładowanie|wczytywanie|proszę czekać|"
    "загрузка|идет загрузка|идёт загрузка|подождите|завантаження|yükleniyor|lütfen bekleyin|جار التحميل|جاري التحميل|טוען|लोड हो रहा है|"
    "加载中|正在加载|載入中|请稍候|読み込み中|ロード中|로딩 중|로드 중|불러오는 중"
)
_SHOWN = """
(() => {
  const shown = [], roots = [document];
  for (const root of roots) {
    if (root.body || root.host) shown.push((root.body || root).textContent);
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) roots.push(element.shadowRoot);
      if (typeof element.value === "string" && element.type !== "password") shown.push(element.value);
    }
  }
  return shown.join("\\n");
})()
"""
"""All texts of a page and its fields, except password fields, which show dots."""
_LOADING_PATTERN = json.dumps(rf"^[\s.…·]*({_LOADING_WORDS})(,?\s+\S+){{0,2}}[\s.…·]*$")
"""A text that says that a page is loading, with at most two further words."""
_LOADING = (
    "(() => { const says = new RegExp("
    + _LOADING_PATTERN
    + """, "iu");
  const walker = document.createTreeWalker(document.body || document, NodeFilter.SHOW_TEXT);
  let loading = "", words = 0;
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim(), parent = walker.currentNode.parentElement;
    if (!text || !parent || parent.closest("script, style, noscript, template, select, button") || !parent.checkVisibility()) continue;
    if (text.length < 60 && says.test(text)) loading = loading || text;
    else words += text.split(/\\s+/u).length;
  }
  return { loading, words };
})()
"""
)


@dataclass(frozen=True, slots=True)
class MainAnswer:
    """The answer for the page itself."""

    url: str
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class VisitResult:
    """The result of a visit: the page as HTML in UTF-8 and, if asked for, its picture.

    Or `moved_to`, if a script navigates elsewhere.

    `document` is the answer that the page was made of, another one if steps navigated to another
    page.
    """

    html: bytes = b""
    picture: bytes = b""
    moved_to: str = ""
    document: MainAnswer | None = None


def treatment(resource: str, method: str, *, is_page: bool, pictures: bool, steps: bool = False) -> Treatment:
    """Return how a request after the page's first is handled.

    Args:
        resource: The browser's resource type.
        method: The method of the request.
        is_page: Whether it is the main frame's.
        pictures: Whether pictures are loaded.
        steps: Whether steps are performed on the page: their navigation is followed.
    """
    if is_page and steps:
        return "follow" if method in {"GET", "POST"} else "refuse"
    if is_page:
        return "move" if method == "GET" else "refuse"
    if resource in _ASKED or (pictures and resource in _SEEN):
        return "ask"
    return "blank" if resource == "image" else "refuse"


class Visit:
    """One page load; used once."""

    def __init__(
        self, parts: PartFetcher, load: Load, document: MainAnswer, *, pictures: bool, max_bytes: int, now: Instant
    ) -> None:
        self._parts = parts
        self._load = load
        self._document = document
        self._pictures = pictures
        self._max_bytes = max_bytes
        self._now = now
        self._host = address.host_of(document.url)
        self._steps = load.request.steps
        self._typed = Typed()
        self._had: dict[str, PartAnswer] = {}
        self._set: dict[tuple[str, str, str], str] = {}
        self._next: PartAnswer | None = None
        self._is_stepping = False
        self._is_served = False
        self._under_way = 0
        self._stirred_at = 0.0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._ended = asyncio.Event()
        self._moved_to = ""
        self._fault: FetchError | BudgetError | None = None
        self._page: Any = None
        self._world = 0

    async def see(self, context: Any) -> VisitResult:
        """Load the page and return it once it has settled.

        Raises `FetchError`, `BudgetError` if the permit refuses a part, and playwright's errors if
        the browser ends.
        """
        try:
            await self._open(context)
            await self._unless_ended(self._rest())
            if self._moved_to:
                return VisitResult(moved_to=self._moved_to)
            if self._steps:
                self._is_stepping = True
                await self._unless_ended(
                    play(self._page, self._load, settle=self._rest, lock=self._lock, mask=self._typed.mask)
                )
            html = await self._html()
            return VisitResult(html, await self._picture() if self._pictures else b"", document=self._document)
        except FetchError as error:
            if not self._typed:
                raise
            raise FetchError(
                error.kind, self._typed.mask(str(error)), status=error.status, retry_after=error.retry_after
            ) from None
        finally:
            for task in self._tasks:
                task.cancel()

    async def _unless_ended(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` until the visit ends. Raise the error that ended it."""
        doing = asyncio.ensure_future(work)
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({doing, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not self._ended.is_set():
                await doing
        finally:
            for task in (doing, ended):
                task.cancel()
            await asyncio.gather(doing, ended, return_exceptions=True)
        if self._fault is not None:
            raise self._fault

    def _lock(self, secret: Secret) -> None:
        """Restrict all further requests to the page's own origin.

        Raises `FetchError` if the secret does not belong here.
        """
        home, here = address.parse(self._load.request.url).origin, address.parse(self._document.url).origin
        if here != home:
            raise FetchError("request", f"the page is at {here}; a secret is typed only at {home}")
        self._typed.add(secret)
        self._load.locked = home

    # -- the page
    # -------------------------------------------------------------------------------------

    async def _open(self, context: Any) -> None:
        await context.add_init_script(_ON_START)
        await context.route("**/*", self._answer)
        await context.route_web_socket("**/*", lambda socket: socket.close())
        self._page = page = await context.new_page()
        context.on("page", lambda other: self._soon(other.close()) if other is not page else None)
        page.on("dialog", lambda dialog: self._soon(dialog.dismiss()))
        page.on("crash", lambda _: self._end(FetchError("size", "the page ended its process in the browser")))
        self._cdp = await context.new_cdp_session(page)
        self._stir()
        await page.goto(self._document.url, wait_until="commit", timeout=0)

    async def _rest(self) -> None:
        """Wait until the page has settled."""
        loop = asyncio.get_running_loop()
        loaded_at: float | None = None
        while True:
            await asyncio.sleep(STATE_EVERY_SECONDS)
            state = await self._evaluate(_STATE)
            still, now = state["still"] / 1000, loop.time()
            if loaded_at is None and (state["ready"] == "complete" or now - self._stirred_at >= STUCK_SECONDS):
                loaded_at = now
                self._stir()
            if loaded_at is None:
                continue
            quiet = 0.0 if self._under_way else now - self._stirred_at
            is_quiet = quiet >= QUIET_SECONDS and (
                still >= STILL_SECONDS or quiet >= QUIET_SECONDS + STILL_PATIENCE_SECONDS
            )
            is_waiting = self._under_way > 0 and now - self._stirred_at >= RESTLESS_STILL_SECONDS
            patience = WAITING_SECONDS if is_waiting else RESTLESS_SECONDS
            is_still = now - loaded_at >= patience and still >= RESTLESS_STILL_SECONDS
            if (is_quiet or is_still) and await self._has_settled(loaded_at):
                return
            if is_quiet or is_still:
                await asyncio.sleep(LOADING_EVERY_SECONDS)

    async def _has_settled(self, loaded_at: float) -> bool:
        """Return whether the settled page has more than a loading text, or the wait is over;
        `load.loading` is that text if it has nothing else.
        """
        state = await self._evaluate(_LOADING)
        has_words = state["words"] >= FEWEST_WORDS
        self._load.loading = "" if has_words else self._typed.mask(str(state["loading"]))[:60]
        if not state["loading"]:
            return True
        return has_words and asyncio.get_running_loop().time() - loaded_at >= LOADING_SECONDS

    async def _html(self) -> bytes:
        html = await self._evaluate(f"({_script()})({self._max_bytes})")
        data = self._typed.mask(html).encode() if isinstance(html, str) else b""
        if not isinstance(html, str) or len(data) > self._max_bytes:
            raise FetchError("size", f"the page as a browser shows it is larger than {self._max_bytes:,} bytes")
        return data

    async def _picture(self) -> bytes:
        """Return a picture of the page (WebP), only its top if it is very long.

        Empty if it would be too large, or if the page shows a typed secret.
        """
        if self._typed and self._typed.mask(shown := str(await self._evaluate(_SHOWN))) != shown:
            log.warning("the picture of %s shows a typed secret and is not kept", self._document.url)
            return b""
        size = (await self._cdp.send("Page.getLayoutMetrics"))["cssContentSize"]
        height = max(1, min(MOST_PICTURE_HEIGHT, int(size["height"])))
        clip = {"x": 0, "y": 0, "width": VIEW_WIDTH, "height": height, "scale": 1}
        for quality in PICTURE_QUALITIES:
            taken = await self._cdp.send(
                "Page.captureScreenshot",
                {"format": "webp", "quality": quality, "clip": clip, "captureBeyondViewport": True},
            )
            picture = base64.b64decode(taken["data"])
            if len(picture) <= MOST_PICTURE_BYTES:
                return picture
        log.warning("the picture of %s is larger than %d bytes and is not kept", self._document.url, MOST_PICTURE_BYTES)
        return b""

    async def _evaluate(self, expression: str) -> Any:
        """Evaluate in an isolated world, which no script of the page can reach."""
        for _ in range(EVALUATIONS):
            try:
                return await self._evaluate_once(expression)
            except BrowserError:  # the page was replaced by another one
                if not self._is_stepping:
                    raise
                self._world = 0
                await asyncio.sleep(STATE_EVERY_SECONDS)
        raise FetchError("request", "the page did not come to rest after the step")

    async def _evaluate_once(self, expression: str) -> Any:
        if not self._world:
            frame = (await self._cdp.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
            made = await self._cdp.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "tidings"})
            self._world = made["executionContextId"]
        answer = await self._cdp.send(
            "Runtime.evaluate", {"expression": expression, "contextId": self._world, "returnByValue": True}
        )
        if "exceptionDetails" in answer:
            raise FetchError("request", "the page could not be read in the browser")
        return answer["result"].get("value")

    # -- its requests
    # ---------------------------------------------------------------------------------

    async def _answer(self, route: Any) -> None:
        """Answer a request of the browser; on any error it does not leave."""
        self._under_way += 1
        self._stir()
        try:
            with contextlib.suppress(BrowserError):
                await self._decide(route)
        finally:
            self._under_way -= 1
            self._stir()

    async def _decide(self, route: Any) -> None:
        request = route.request
        url = request.url.partition("#")[0]
        is_page = self._is_of_page(request)
        if is_page is None or not url.startswith(("http:", "https:")):
            await route.abort("blockedbyclient")
            return
        if is_page and not self._is_served:
            self._is_served = True
            await route.fulfill(
                status=self._document.status, headers=_pick_headers(self._document.headers), body=self._document.body
            )
            return
        if self._typed and (
            self._typed.is_in(url) or (is_page and request.method == "GET" and self._typed.is_in(request.url))
        ):
            self._end(FetchError("request", "the page puts the typed secret into an address"))
            await route.abort("blockedbyclient")
            return
        if self._is_stepping:
            await self._take_cookies(url)
        match treatment(
            request.resource_type, request.method, is_page=is_page, pictures=self._pictures, steps=self._is_stepping
        ):
            case "follow":
                await self._follow(route, request)
            case "ask":
                await self._ask(route, request)
            case "blank":
                await route.fulfill(status=200, headers={"content-type": "image/gif"}, body=_BLANK)
            case "move":
                await route.abort("aborted")
                if url != self._document.url:
                    self._moved_to = url
                    self._ended.set()
            case _:
                await route.abort("blockedbyclient")

    async def _take_cookies(self, url: str) -> None:
        """Send along the cookies that scripts of the page set: the browser has no others.

        One that holds a typed secret stays behind.
        """
        for one in await self._page.context.cookies(url):
            named = (one["name"], one["domain"], one["path"])
            if self._set.get(named) != one["value"] and not self._typed.is_in(one["value"]):
                self._set[named] = one["value"]
                line = f"{one['name']}={one['value']}; Path={one['path']}{'; Secure' * one['secure']}"
                self._load.jar = cookies.merge(self._load.jar or (), (line,), url, now=self._now)

    def _is_of_page(self, request: Any) -> bool | None:
        """Return whether a request navigates the page itself; None if it belongs to another
        window.
        """
        if not request.is_navigation_request():
            return False
        try:
            frame = request.frame
        except BrowserError:  # a window that is just opening
            return None
        if frame.page is not self._page:
            return None
        return frame.parent_frame is None

    async def _follow(self, route: Any, request: Any) -> None:
        """Follow a navigation by a step; the page is fetched as parts are."""
        part, self._next = self._next, None
        if part is None:
            try:
                part = await self._task(self._part(request))
                _check_document(part, self._now)
            except (FetchError, BudgetError, UnicodeDecodeError) as error:
                fault = (
                    error
                    if not isinstance(error, UnicodeDecodeError)
                    else FetchError("request", "the form sends a file")
                )
                self._end(fault)
                await route.abort("failed")
                return
            if part.hops:  # the browser has to know the final address
                self._next = part
                await route.abort("aborted")
                self._soon(self._page.goto(part.url, wait_until="commit", timeout=0))
                return
        self._world = 0
        self._document = MainAnswer(part.url, part.status, dict(part.headers), part.body)
        self._host = address.host_of(part.url)
        await route.fulfill(status=part.status, headers=_pick_headers(part.headers), body=part.body)

    def _part(self, request: Any) -> Coroutine[Any, Any, PartAnswer]:
        sent = request.post_data_buffer
        return self._parts.ask(
            self._load,
            request.url,
            method=request.method,
            headers=request.headers,
            body=None if sent is None else sent.decode("utf-8"),
        )

    async def _ask(self, route: Any, request: Any) -> None:
        had = self._had.get(request.url) if self._typed and request.method == "GET" else None
        if had is not None:  # nothing new is sent to anyone
            await route.fulfill(status=had.status, headers=_pick_headers(had.headers), body=had.body)
            return
        try:
            part = await self._task(self._part(request))
        except (FetchError, BudgetError, UnicodeDecodeError) as error:
            self._judge(request, error)
            await route.abort("failed")
            return
        except asyncio.CancelledError:
            await route.abort("failed")
            raise
        self._doubt(request, part)
        if self._steps and not self._typed and request.method == "GET":
            self._had[request.url] = part
        await route.fulfill(status=part.status, headers=_pick_headers(part.headers), body=part.body)

    def _judge(self, request: Any, error: Exception) -> None:
        """Record that a part could not be fetched: if it is on the page's own host, the page is
        incomplete.
        """
        log.debug("a part of %s was left out: %s", self._document.url, error)
        if isinstance(error, BudgetError):
            if self._is_own(request.url):
                self._end(error)
        elif isinstance(error, FetchError) and error.kind in _DOUBT and self._is_own(request.url):
            self._end(_of_part(request.url, error))

    def _doubt(self, request: Any, part: PartAnswer) -> None:
        if request.resource_type in _ASKED and self._is_own(request.url):
            error = answers.failure_of(part.status, answers.multi(part.headers), now=self._now)
            if part.status >= 400 and error.kind in _DOUBT:
                self._end(_of_part(request.url, error))

    def _is_own(self, url: str) -> bool:
        try:
            return address.host_of(address.rebuild(url)) == self._host
        except ValueError:
            return False

    def _end(self, fault: FetchError | BudgetError) -> None:
        if isinstance(fault, FetchError) and self._load.doing:
            fault = FetchError(fault.kind, f"{self._load.doing}{fault}", retry_after=fault.retry_after)
        self._fault = self._fault or fault
        self._ended.set()

    def _stir(self) -> None:
        self._stirred_at = asyncio.get_running_loop().time()

    async def _task(self, work: Any) -> Any:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        try:
            return await task
        finally:
            self._tasks.discard(task)

    def _soon(self, work: Any) -> None:
        """Schedule a browser operation whose failure does not matter."""

        async def quietly() -> None:
            with contextlib.suppress(BrowserError):
                await work

        task = asyncio.ensure_future(quietly())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _of_part(url: str, error: FetchError) -> FetchError:
    shown = url.partition("?")[0][:200]
    return FetchError(
        error.kind, f"a part of the page could not be fetched, {shown}: {error}", retry_after=error.retry_after
    )


def _check_document(part: PartAnswer, now: Instant) -> None:
    """Raise `FetchError` unless a step may navigate to this answer."""
    if part.status not in answers.WHOLE:
        raise answers.failure_of(part.status, answers.multi(part.headers), now=now)
    media = part.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media and media not in HTML:
        raise FetchError("request", f"the step leads to something that is not a page: {media[:60]}")


def _pick_headers(headers: dict[str, str] | Any) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in _NOT_HANDED_ON}


def _script() -> str:
    return importlib.resources.files("tidings.fetching").joinpath("rendered.js").read_text(encoding="utf-8")
