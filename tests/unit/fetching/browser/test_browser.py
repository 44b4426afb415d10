from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from pathlib import Path

import pytest

from tests.browsers import Rendering, need_chromium
from tests.fakes import FreePermit, Page, WebServer, response
from tests.unit.fetching.asking import FixedNames
from tidings.errors import BudgetError
from tidings.fetching.browser import chromium as chromium_module
from tidings.fetching.browser import visit
from tidings.model.observed.outcome import Failed, Fetched, Validators
from tidings.model.secret import Secret

HTML = {"Content-Type": "text/html; charset=utf-8"}
SCRIPT = {"Content-Type": "text/javascript"}
JSON = {"Content-Type": "application/json"}


def page(body: str, **more: object) -> Page:
    return Page(f"<!doctype html><title>t</title><body>{body}".encode(), HTML, **more)  # type: ignore[arg-type]


def text_of(outcome: object) -> str:
    assert isinstance(outcome, Fetched), outcome
    return outcome.body.decode()


# -- what is read --------------------------------------------------------------------------------------------------------------------


def test_page_is_the_result_of_its_scripts(chromium, server):
    """Scripts run, request data and write it. The body is that page in UTF-8, with its title and
    address.
    """
    server.pages["/"] = page("<div id=root></div><script src=/app.js></script>", etag='"1"')
    server.pages["/app.js"] = Page(
        b"fetch('/data').then(r => r.json()).then(d => { document.title = 'Caf\\u00e9'; root.textContent = d.text })",
        SCRIPT,
    )
    server.pages["/data"] = Page(b'{"text": "seven & eight"}', JSON)
    outcome = chromium.render(server.url(), validators=Validators('"1"'))

    assert isinstance(outcome, Fetched)
    assert (
        '<!DOCTYPE html><html><head><meta charset="utf-8"><title>Café</title></head><body><div id="root">seven &amp; eight</div></body></html>'
        == outcome.body.decode()
    )
    assert ("text/html; charset=utf-8", server.url(), 200, 3, Validators(), None) == (
        outcome.content_type,
        outcome.final_url,
        outcome.status,
        outcome.requests,
        outcome.validators,
        outcome.fresh,
    )
    assert ["/", "/app.js", "/data"] == server.paths()
    assert "if-none-match" not in server.seen[0].headers


def test_unchanged_page_gives_equal_bytes(chromium, server):
    """Two polls are compared."""
    server.pages["/"] = page(
        "<main></main><script nonce=1>for (let i = 0; i < 50; i++) document.querySelector('main').append('row ' + i)</script>"
    )
    first, second = (chromium.render(server.url()) for _ in range(2))

    assert "row 49" in text_of(first)
    assert first.body == second.body


def test_hidden_content_is_left_out(chromium, server):
    """This includes hidden elements, scripts, styles, comments, templates and the content for
    browsers without scripts.
    """
    server.pages["/"] = page(
        "<style>.gone { display: none }</style><p class=gone>hidden 1</p><p hidden>hidden 2</p>"
        "<p style='visibility: hidden'>hidden 3 <b style='visibility: visible'>seen 1</b></p><!-- hidden 4 -->"
        "<noscript>hidden 5</noscript><template>hidden 6</template><script>'hidden 7'</script>"
        "<svg><title>hidden 8</title><text>seen 2</text></svg><details><summary>seen 3</summary>seen 4</details>"
        "<dialog>hidden 9</dialog><p>seen 5</p>"
    )
    text = text_of(chromium.render(server.url()))

    assert "hidden" not in text.replace(" hidden=", "")
    assert all(f"seen {n}" in text for n in range(1, 6))


def test_shadow_trees_are_flattened(chromium, server):
    """Open and closed ones: slotted content is in its place, content without a slot is left out."""
    server.pages["/"] = page(
        "<x-card>lost <b slot=name>slotted</b></x-card><script>customElements.define('x-card', class extends HTMLElement {"
        "connectedCallback() { this.attachShadow({mode: 'closed'}).innerHTML ="
        " '<i>before</i><slot name=name></slot><slot name=none>instead</slot>' } })</script>"
    )

    assert '<x-card><i>before</i><b slot="name">slotted</b>instead</x-card>' in text_of(chromium.render(server.url()))


def test_page_cannot_change_how_it_is_read(chromium, server):
    """Fields with names of document properties and changed prototypes have no effect."""
    server.pages["/"] = page(
        "<form><input name=childNodes><input name=firstChild><input name=nodeType>in form</form><img name=documentElement>"
        "<script>Node.prototype.appendChild = null; Array.prototype.join = () => 'forged'; String.prototype.replace = () => 'forged';"
        "window.getComputedStyle = () => ({display: 'none'}); Object.defineProperty(Node.prototype, 'nodeValue', {get: () => 'forged'})</script>"
    )
    text = text_of(chromium.render(server.url()))

    assert "in form" in text
    assert "forged" not in text


def test_frames_and_images_are_requested_only_for_a_picture(chromium, server):
    """The elements stay in the page. A script that waits for an image goes on."""
    server.pages["/"] = page(
        "<iframe src=/frame></iframe><img src=/image onerror=\"document.body.append('broken')\" onload=\"document.body.append('there')\">"
    )
    text = text_of(chromium.render(server.url()))

    assert '<iframe src="/frame"></iframe><img src="/image">there' in text
    assert ["/"] == server.paths()


def test_picture_is_taken_on_request(chromium, server):
    """The picture shows the whole page with images and frames, as WebP of at most 8,000 pixels in
    height.
    """
    server.pages["/"] = page("<p>words</p><img src=/image><div style='height: 9000px'></div>")
    server.pages["/image"] = Page(b"<svg xmlns='http://www.w3.org/2000/svg'/>", {"Content-Type": "image/svg+xml"})
    outcome = chromium.render(server.url(), screenshot=True)

    assert (b"RIFF", b"WEBP") == (outcome.screenshot[:4], outcome.screenshot[8:12])
    assert (1280, 8000) == webp_size(outcome.screenshot)
    assert "/image" in server.paths()
    assert b"" == chromium.render(server.url()).screenshot


def webp_size(data: bytes) -> tuple[int, int]:
    assert b"VP8X" == data[12:16]
    return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1


def test_only_html_is_rendered(chromium, server):
    """Text, JSON and images are those of the server, without validators."""
    server.pages["/"] = Page(b'{"a": 1}', JSON, etag='"1"')
    outcome = chromium.render(server.url())

    assert (b'{"a": 1}', Validators()) == (outcome.body, outcome.validators)


def test_redirects_by_scripts_are_followed(chromium, server):
    """`location` and `meta refresh` are redirects; status and address are those of the last page."""
    server.pages["/"] = page("<script>location.replace('/next?a')</script>")
    server.pages["/next"] = page("<meta http-equiv=refresh content='0;url=/last'>")
    server.pages["/last"] = page("arrived")
    outcome = chromium.render(server.url())

    assert "arrived" in text_of(outcome)
    assert (server.url("/last"), (server.url("/"), server.url("/next?a"))) == (outcome.final_url, outcome.hops)


def test_endless_redirects_by_scripts_fail(chromium, server):
    """A page that reloads itself is no redirect."""
    server.pages["/a"] = page("<script>location.href = '/b'</script>")
    server.pages["/b"] = page("<script>location.href = '/a'</script>")
    server.pages["/c"] = page("<p>here</p><script>location.reload()</script>")

    assert "redirect" == chromium.render(server.url("/a")).kind
    assert "here" in text_of(chromium.render(server.url("/c")))


def test_page_with_an_open_request_is_read_once_its_text_is_stable(chromium, server, monkeypatch):
    """A request that never ends would otherwise block the page."""
    monkeypatch.setattr(visit, "WAITING_SECONDS", 1.0)
    monkeypatch.setattr(visit, "RESTLESS_SECONDS", 1.0)
    monkeypatch.setattr(visit, "RESTLESS_STILL_SECONDS", 0.5)
    server.pages["/"] = page("<p>words</p><script>fetch('/held')</script>")
    server.pages["/held"] = lambda seen, wire: wire.hang()

    assert "words" in text_of(chromium.render(server.url()))


# -- what fails ----------------------------------------------------------------------------------------------------------------------


LATE = """<title>T</title><div id=x>{said}</div><script>
  setTimeout(() => {{ document.getElementById("x").textContent = "Slow edition 1" }}, 1500)
</script>"""


LOADING = ("loading", "Loading…", "Please wait ...", "Wird geladen", "Chargement des prix", "加载中", "読み込み中")


def test_page_that_only_shows_a_loading_text_is_waited_for(many_pages, server):
    """A timer adds the content later, without a request."""
    server.pages |= {f"/{n}": page(LATE.format(said=text)) for n, text in enumerate(LOADING)}
    outcomes = many_pages.render_all(*(server.url(f"/{n}") for n in range(len(LOADING))))

    assert [True] * len(LOADING) == ["Slow edition 1" in text_of(outcome) for outcome in outcomes]


def test_page_that_waits_for_an_answer_is_waited_for(chromium, server, monkeypatch):
    """One slow request is not a page that never stops requesting."""
    monkeypatch.setattr(visit, "RESTLESS_SECONDS", 0.5)
    monkeypatch.setattr(visit, "RESTLESS_STILL_SECONDS", 0.3)

    def slow(seen, wire):
        wire.wait(1.5)
        wire.send(response(Page(b"Slow edition 1", {"Content-Type": "text/plain"})))

    server.pages["/data"] = slow
    server.pages["/"] = page(
        "<p id=x>nothing</p><script>fetch('/data').then((a) => a.text()).then((t) => { x.textContent = t })</script>"
    )

    assert "Slow edition 1" in text_of(chromium.render(server.url()))


def test_page_that_never_loads_fails(chromium, server):
    """The text "Loading…" is never stored as the page."""
    server.pages["/"] = page("<title>T</title><div>Loading…</div>")
    outcome = chromium.render(server.url(), timeout=4_000_000)

    assert ("busy", "the page still shows 'Loading…' after 4 s in the browser") == (outcome.kind, outcome.reason)


def test_page_with_one_place_that_never_loads_is_read(many_pages, server, monkeypatch):
    """After a while the rest of the page is used."""
    monkeypatch.setattr(visit, "LOADING_SECONDS", 1.0)
    places = (
        "<p>Loading…</p>",
        "<p>Loading comments</p>",
        "<p style='display: none'>Loading…</p>",
        "<button>Loading</button>",
    )
    words = "words of the page itself"
    server.pages |= {f"/{n}": page(f"<p>{f'{words} ' * 4}</p>{place}") for n, place in enumerate(places)}
    outcomes = many_pages.render_all(*(server.url(f"/{n}") for n in range(len(places))))

    assert [True] * len(places) == [words in text_of(outcome) for outcome in outcomes]


@pytest.mark.parametrize("text", ["Loading dock 7 opens at noon today", "A page about loading", "", "downloading"])
def test_page_about_loading_is_not_waited_for(chromium, server, text):
    """A page loads only if it has no other text."""
    server.pages["/"] = page(f"<p>{text}</p>")
    outcome = chromium.render(server.url(), timeout=25_000_000)

    assert text in text_of(outcome)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Page(b"no", HTML, status=404), "404"),
        (Page(b"no", HTML, status=500), "5xx"),
        (Page(b"no", {**HTML, "Retry-After": "120"}, status=503), "busy"),
        (Page(b"no", {"Location": "http://10.0.0.1/"}, status=302), "address"),
        (Page(b"no", {**HTML, "Content-Encoding": "gzip"}), "encoding"),
    ],
)
def test_failed_page_has_the_same_kind_as_without_a_browser(chromium, server, answer, kind):
    """Nothing is rendered."""
    server.pages["/"] = answer

    assert kind == chromium.render(server.url()).kind


@pytest.mark.parametrize(("status", "kind"), [(503, "busy"), (500, "5xx"), (429, "busy")])
def test_failed_request_to_the_pages_host_fails_the_poll(chromium, server, status, kind):
    """A list that could not be fetched is not an empty list: the reason has its address, and no
    version is stored.
    """
    server.pages["/"] = page(
        "<script>fetch('/list').then(r => document.body.append(r.ok ? 'list' : 'nothing'))</script>"
    )
    server.pages["/list"] = Page(b"[]", {"Retry-After": "90"}, status=status)
    outcome = chromium.render(server.url())

    assert isinstance(outcome, Failed)
    assert kind == outcome.kind
    assert server.url("/list") in outcome.reason
    assert 90_000_000 == outcome.retry_after


def test_missing_part_does_not_fail_the_poll(chromium, server):
    """404 is an answer, which the page handles."""
    server.pages["/"] = page("<script>fetch('/none').then(r => document.body.append('said ' + r.status))</script>")

    assert "said 404" in text_of(chromium.render(server.url()))


def test_page_above_the_size_limit_fails(server):
    """The content that scripts write is limited like that of servers."""
    need_chromium()
    rendering = Rendering(max_body_bytes=100_000)
    try:
        server.pages["/"] = page("<script>document.body.append('x'.repeat(200000))</script>")
        large = rendering.render(server.url())
        server.pages["/"] = page("<script>for (let i = 0; i < 9; i++) fetch('/part?' + i)</script>")
        server.pages["/part"] = Page(b"x" * 90_000)
        many = rendering.render(server.url())
    finally:
        rendering.close()

    assert ("size", "size") == (large.kind, many.kind)


def test_page_with_too_many_requests_fails(server):
    """Requests beyond the limit are not sent."""
    need_chromium()
    rendering = Rendering(browser_requests=5)
    try:
        server.pages["/"] = page("<script>for (let i = 0; i < 9; i++) fetch('/part?' + i)</script>")
        server.pages["/part"] = Page(b"x")
        outcome = rendering.render(server.url())
    finally:
        rendering.close()

    assert ("size", 6) == (outcome.kind, outcome.requests)
    assert 6 >= len(server.seen)


def test_endless_script_ends_at_its_deadline(server):
    """Only its page fails; the next one is read."""
    need_chromium()
    rendering = Rendering(total_seconds=1.5)
    try:
        server.pages["/loop"] = page("<script>while (true);</script>")
        server.pages["/alerts"] = page("<script>while (true) alert(1)</script>")
        server.pages["/"] = page("words")
        rendering.render(server.url(), timeout=30_000_000)  # the browser runs from now on
        outcomes = [rendering.render(server.url(path)) for path in ("/loop", "/alerts")]
        after = rendering.render(server.url(), timeout=30_000_000)
    finally:
        rendering.close()

    assert ["net", "net"] == [outcome.kind for outcome in outcomes]
    assert "come to rest in the browser within 1.5 s" in outcomes[0].reason
    assert "words" in text_of(after)


def test_page_above_the_memory_limit_is_killed(server):
    """The browser is started again for the next page."""
    need_chromium()
    rendering = Rendering(browser_memory_mb=600)
    try:
        server.pages["/eats"] = page(
            "<script>const kept = []; setInterval(() => kept.push(new Uint8Array(2e7).fill(1)), 1); fetch('/held')</script>"
        )
        server.pages["/held"] = lambda seen, wire: wire.hang()
        server.pages["/"] = page("words")
        eaten = rendering.render(server.url("/eats"))
        after = rendering.render(server.url())
    finally:
        rendering.close()

    assert "size" == eaten.kind, eaten
    assert "fetch.browser_memory_mb" in eaten.reason
    assert "words" in text_of(after)


def test_killed_browser_is_started_again(chromium, server):
    """The next page is read."""
    server.pages["/"] = page("words")
    chromium.render(server.url())
    (life,) = chromium.browser._chromium._lives
    import os
    import signal

    os.kill(life.pid, signal.SIGKILL)
    outcomes = [chromium.render(server.url()) for _ in range(2)]

    assert "words" in text_of(outcomes[1])
    assert 1 == chromium.browser._chromium.lives


def test_browser_that_does_not_answer_at_its_start_is_killed(server, monkeypatch):
    """Otherwise each attempt would leave another one running."""
    need_chromium()
    started = []

    async def no_answer(cdp):
        started.append((await chromium_module._processes(cdp))[0]["id"])
        raise TimeoutError

    monkeypatch.setattr(chromium_module, "_first_process", no_answer)
    server.pages["/"] = page("words")
    rendering = Rendering()
    try:
        outcome = rendering.render(server.url())
        left = [pid for pid in started if Path(f"/proc/{pid}").exists()]
    finally:
        rendering.close()

    assert "the browser does not start: TimeoutError" in outcome.reason
    assert 1 == len(started)
    assert [] == left


def test_missing_browser_fails_with_advice(server):
    """The reason says what to install or set, and nothing is requested."""
    rendering = Rendering(browser_path="/nowhere/chromium")
    try:
        outcome = rendering.render(server.url())
    finally:
        rendering.close()

    assert ("request", 0) == (outcome.kind, outcome.requests)
    assert (
        "fetch.browser_path is not a program: /nowhere/chromium" in outcome.reason
        or "tidings[browser]" in outcome.reason
    )
    assert [] == server.seen


# -- the isolation ------------------------------------------------------------------------------------------------------------------------


class PortRecorder:
    """Records all data that is sent to its port, by TCP or UDP."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.is_closed = False
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        self._threads = [threading.Thread(target=listen, daemon=True) for listen in (self._accept, self._receive)]
        for thread in self._threads:
            thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self._tcp.accept()
                peer.settimeout(0.2)
                with contextlib.suppress(OSError):
                    self.heard.append(f"tcp {peer.recv(100)!r}")
                peer.close()

    def _receive(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                data = self._udp.recv(100)
                if self.is_closed:
                    return
                self.heard.append(f"udp {data!r}")

    def close(self) -> None:
        self.is_closed = True
        for listener in (self._tcp, self._udp):
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()


ESCAPES = """
<link rel=dns-prefetch href=//{there}><link rel=preconnect href=http://{there}><link rel=prefetch href=http://{there}/prefetch>
<link rel=preload as=image href=http://{there}/preload><link rel=modulepreload href=http://{there}/module>
<link rel=icon href=http://{there}/icon><link rel=manifest href=http://{there}/manifest><link rel=stylesheet href=http://{there}/style>
<script type=speculationrules>{{"prefetch":[{{"source":"list","urls":["http://{there}/rules"]}}],"prerender":[{{"source":"list","urls":["/rules"]}}]}}</script>
<style>@import 'http://{there}/import'; @font-face {{ font-family: f; src: url(http://{there}/font) }} p {{ font-family: f; background: url(http://{there}/background) }}</style>
<p>words</p><img src=http://{there}/image><img src=/away><script src=http://{there}/script></script><script src=/away></script>
<iframe src=http://{there}/frame></iframe><iframe src=file:///etc/passwd></iframe><iframe srcdoc="<img src=http://{there}/srcdoc>"></iframe>
<video src=http://{there}/video poster=http://{there}/poster></video><object data=http://{there}/object></object><embed src=http://{there}/embed>
<script>
const there = 'http://{there}', tries = [
  () => fetch(there + '/fetch', {{mode: 'no-cors'}}), () => fetch(there + '/alive', {{keepalive: true, mode: 'no-cors'}}), () => fetch('/away'),
  () => fetch('file:///etc/passwd'), () => fetch('http://169.254.169.254/latest/meta-data/'), () => fetch('http://[::1]:{port}/'),
  () => {{ const x = new XMLHttpRequest(); x.open('POST', there + '/xhr'); x.send('x') }},
  () => new WebSocket('ws://{there}/socket'), () => new EventSource(there + '/events'),
  () => new WebTransport('https://{there}/transport').ready, () => navigator.sendBeacon(there + '/beacon', 'x'),
  () => Navigator.prototype.sendBeacon.call(navigator, there + '/beacon', 'x'),
  () => navigator.serviceWorker.register('/worker.js'), () => new SharedWorker(there + '/shared'),
  () => new Worker(URL.createObjectURL(new Blob([`
      const tries = [() => new WebSocket('ws://{there}/socket2'), () => fetch('{away}'), () => fetch('http://{there}/fetch2', {{mode: 'no-cors'}}),
        () => importScripts('http://{there}/scripts'), () => new WebTransport('https://{there}/transport2'), () => new EventSource('http://{there}/events2')];
      for (const one of tries) try {{ one() }} catch (error) {{ }}`]))),
  () => {{ const c = new RTCPeerConnection({{iceServers: [{{urls: ['stun:{there}', 'turn:{there}?transport=tcp'], username: 'a', credential: 'b'}}]}});
      c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o)) }},
  () => {{ const f = document.createElement('iframe'); document.body.append(f); const C = f.contentWindow.RTCPeerConnection;
      const c = new C({{iceServers: [{{urls: 'stun:{there}'}}]}}); c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o)) }},
  () => window.open(there + '/window'), () => {{ const a = document.createElement('a'); a.href = there + '/link'; a.ping = there + '/ping'; a.target = '_blank'; document.body.append(a); a.click() }},
  () => {{ const f = document.createElement('form'); f.action = there + '/form'; f.method = 'post'; f.target = '_blank'; document.body.append(f); f.submit() }},
  () => import(there + '/import'), () => {{ location.href = 'file:///etc/passwd' }}, () => navigator.geolocation.getCurrentPosition(() => {{}}),
];
for (const one of tries) try {{ Promise.resolve(one()).catch(() => {{}}) }} catch (error) {{ }}
setTimeout(() => document.body.append('tried ' + tries.length), 300);
</script>
"""


def test_page_cannot_connect_past_our_client(chromium, server):
    """Nothing that a page tries reaches another port of this machine, a link-local address or a
    file, even with redirects.
    """
    ear = PortRecorder()
    try:
        there = f"127.0.0.1:{ear.port}"
        server.pages["/"] = page(ESCAPES.format(there=there, port=ear.port, away=server.url("/away")))
        server.pages["/away"] = Page(status=302, headers={"Location": f"http://{there}/away"})
        outcomes = [chromium.render(server.url(), screenshot=picture) for picture in (False, True)]
        server.pages["/moved"] = page(f"<script>location.href = 'http://{there}/moved'</script>")
        server.pages["/refresh"] = page("<meta http-equiv=refresh content='0;url=http://169.254.169.254/latest/'>")
        server.pages["/redirect"] = page("<meta http-equiv=refresh content='0;url=/away'>")
        moves = [chromium.render(server.url(path)) for path in ("/moved", "/refresh", "/redirect")]
    finally:
        ear.close()

    assert [] == ear.heard
    for outcome in outcomes:
        assert "words" in text_of(outcome)
        assert "tried 23" in text_of(outcome)
        assert "root:" not in text_of(outcome)
    assert ["address"] * 3 == [outcome.kind for outcome in moves]
    assert {"/", "/away", "/moved", "/refresh", "/redirect"} == set(server.paths())


def test_browser_itself_has_no_network(chromium):
    """Without our client in between, a page reaches neither names nor addresses nor files."""
    ear = PortRecorder()

    async def render_page() -> str:
        async with chromium.browser._chromium.context() as context:
            page = await context.new_page()
            await page.set_content(
                ESCAPES.format(there=f"127.0.0.1:{ear.port}", port=ear.port, away=f"http://127.0.0.1:{ear.port}/")
            )
            await page.get_by_text("tried 23").wait_for()
            await asyncio.sleep(1)
            with contextlib.suppress(Exception):
                await page.goto(f"http://127.0.0.1:{ear.port}/by-hand")
            return str(page.url)

    try:
        where = chromium.run(render_page())
    finally:
        ear.close()

    assert ([], False) == (ear.heard, "by-hand" in where)


def test_private_page_reaches_only_its_own_host(server):
    """Requests by name are allowed. Another name with a private address is refused, also after a
    redirect.
    """
    need_chromium()
    names = FixedNames({"inside.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]]})
    rendering = Rendering(resolver=names)
    other = f"http://other.example:{server.port}/data"
    try:
        server.pages["/"] = page(
            f"<script>const say = (word) => document.body.append(word); fetch('/data').then(() => say('own '));"
            f"fetch('{other}').catch(() => say('refused '));  fetch('/away').catch(() => say('not even so '))</script>"
        )
        server.pages["/data"] = Page(b"x", {"Access-Control-Allow-Origin": "*"})
        server.pages["/away"] = Page(status=302, headers={"Location": other})
        text = text_of(rendering.render(f"http://inside.example:{server.port}/"))
    finally:
        rendering.close()

    assert all(word in text for word in ("own ", "refused ", "not even so "))
    assert {f"inside.example:{server.port}"} == {seen.headers["host"] for seen in server.seen}


def test_headers_and_secrets_stay_at_the_origin_of_the_page(chromium):
    """Only the page and the parts of its origin get them."""
    with WebServer() as server, WebServer("127.0.0.2") as other:
        server.pages["/"] = page("<script src=/own.js></script>")
        server.pages["/own.js"] = Page(b"fetch('/away').catch(() => {})", SCRIPT)
        server.pages["/away"] = Page(status=302, headers={"Location": other.url("/")})
        headers = (("X-Token", Secret("canary")), ("Accept-Language", "de-AT, de"))
        outcome = chromium.render(server.url(), headers=headers)

        assert isinstance(outcome, Fetched)
        assert ["canary"] * 3 == [seen.headers.get("x-token") for seen in server.seen]
        assert {"de-AT, de"} == {seen.headers.get("accept-language") for seen in server.seen}
        assert [] == other.seen


def test_browser_stores_nothing_between_polls(chromium, server):
    """Cookies, storage and cache are empty at each poll."""
    server.pages["/"] = Page(
        b"<!doctype html><p id=p></p><script>p.textContent = `${document.cookie} ${localStorage.seen}`;"
        b"document.cookie = 'a=b'; localStorage.seen = 'yes'; fetch('/data')</script>",
        {**HTML, "Set-Cookie": "kept=1"},
    )
    server.pages["/data"] = Page(b"x", {"Cache-Control": "max-age=10000", "Set-Cookie": "more=1"})
    texts = [text_of(chromium.render(server.url())) for _ in range(2)]

    assert all('<p id="p"> undefined</p>' in text for text in texts)
    assert ["/", "/data"] * 2 == server.paths()
    assert all("cookie" not in seen.headers for seen in server.seen)


def test_each_request_uses_the_permit_of_the_page(chromium, server):
    """If the permit refuses a part from the page's own host, the fetch ends with its error."""

    class Two(FreePermit):
        @contextlib.asynccontextmanager
        async def beside(self, host):
            if len(self.hosts) == 2:
                raise BudgetError("no more today")
            async with super().beside(host):
                yield

    server.pages["/"] = page("<script>fetch('/1').then(() => fetch('/2'))</script>")
    server.pages["/1"] = server.pages["/2"] = Page(b"x")
    permit = FreePermit()
    chromium.render(server.url(), permit)

    assert [server.host] * 3 == permit.hosts
    with pytest.raises(BudgetError, match="no more today"):
        chromium.render(server.url(), Two())
    assert ["/", "/1", "/2", "/", "/1"] == server.paths()


def test_robots_txt_applies_to_parts(server):
    """A forbidden script is not requested, and the page is read without it."""
    need_chromium()
    rendering = Rendering(robots=True)
    try:
        server.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /private")
        server.pages["/"] = page("<p>words</p><script src=/private/app.js></script>")
        outcome = rendering.render(server.url())
    finally:
        rendering.close()

    assert "words" in text_of(outcome)
    assert ["/robots.txt", "/"] == server.paths()


def test_concurrent_pages_are_limited(server):
    """The limit is `fetch.browser_pages`."""
    need_chromium()
    rendering = Rendering()
    at_once: list[int] = []

    class Noting(FreePermit):
        async def hop(self, host):
            at_once.append(1)
            await asyncio.sleep(0.05)
            at_once.pop()
            assert not at_once
            await super().hop(host)

    async def both():
        from tidings.model.observed.outcome import FetchRequest

        asked = [rendering.browser.fetch(FetchRequest(url=server.url(), render="browser"), Noting()) for _ in range(3)]
        return await asyncio.gather(*asked)

    server.pages["/"] = page("words")
    try:
        outcomes = rendering.run(both())
    finally:
        rendering.close()

    assert [True] * 3 == ["words" in text_of(outcome) for outcome in outcomes]
