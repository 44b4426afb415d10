"""Promise: a page behind a login form is watched, a lost login is repaired, and the password is
sent to the form only.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
import urllib.parse
from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.test_secrets import keep, list_spellings
from tests.fakes import Seen, Wire
from tests.world import World, play, serve
from tidings.cli.main import main
from tidings.clock import HOUR, MINUTE
from tidings.storage.observed import pages

CANARY = "c4nary-pässword&7q=z%2B"
FORM = (
    '<form action="/session" method="post"><input type=hidden name=csrf value="{token}">'
    "<input name=email><input type=password name=pw><button name=go value=1>Log in</button></form>"
)


class Shop:
    """A shop with a login form, a single-use token, and cookies that each page renews."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.price = "12 EUR"
        self.password = CANARY
        self.form = FORM
        self.status = 200
        self.numbers = 0
        self.valid: set[str] = set()
        self.tokens: set[str] = set()
        self.posted: list[dict[str, str]] = []
        self.down = False
        world.server.pages["/login"] = self._show_form
        world.server.pages["/session"] = self._take
        world.server.pages["/account"] = self._account

    def refuse(self, status: int) -> None:
        """Refuse the password from now on."""
        self.password, self.status = "another", status

    def log_all_out(self) -> None:
        """Forget every session."""
        self.valid.clear()

    def _cookie(self, seen: Seen) -> str:
        found = re.search(r"sid=(\w+)", seen.headers.get("cookie", ""))
        return found[1] if found else ""

    def _fresh(self) -> str:
        self.numbers += 1
        return f"n{self.numbers}"

    def _send(self, wire: Wire, status: int, body: str, *headers: str) -> None:
        lines = [
            f"HTTP/1.1 {status} Said",
            f"Content-Length: {len(body.encode())}",
            "Content-Type: text/html; charset=utf-8",
        ]
        wire.send("\r\n".join([*lines, *headers, "", body]).encode())

    def _show_form(self, seen: Seen, wire: Wire) -> None:
        if self.down:
            self._send(wire, 503, "down")
            return
        token = self._fresh()
        self.tokens.add(token)
        self._send(wire, 200, self.form.format(token=token), f"Set-Cookie: pre={token}; Path=/")

    def _take(self, seen: Seen, wire: Wire) -> None:
        fields = dict(urllib.parse.parse_qsl(seen.body.decode(), keep_blank_values=True))
        self.posted.append(fields)
        token = fields.get("csrf", "")
        is_ours = token in self.tokens and f"pre={token}" in seen.headers.get("cookie", "")
        self.tokens.discard(token)
        if not is_ours or fields.get("pw") != self.password:
            self._send(wire, self.status, self.form.format(token=self._fresh()))
            return
        session = self._fresh()
        self.valid.add(session)
        self._send(wire, 303, "", "Location: /welcome", f"Set-Cookie: sid={session}; Path=/; HttpOnly")

    def _account(self, seen: Seen, wire: Wire) -> None:
        session = self._cookie(seen)
        if session not in self.valid:
            self._send(wire, 302, "", "Location: /login")
            return
        self.valid.discard(session)
        renewed = self._fresh()
        self.valid.add(renewed)
        body = f"<h1>Orders</h1><p class=in>Your kettle costs {self.price}</p>"
        self._send(wire, 200, body, f"Set-Cookie: sid={renewed}; Path=/; HttpOnly")


@pytest.fixture
def shop(world: World) -> Shop:
    made = Shop(world)
    world.page("/welcome", "<p>Welcome</p>")
    keep(world, "shop", CANARY)
    return made


def watch(world: World, more: str = "") -> None:
    """Watch the account every ten minutes."""
    world.add(
        "Create Sentinel shop Using {/account} Monitor all words Fetch every 10 min Notify By console"
        f' Login form "{{/login}}" user "anna@example.org" password secret "shop" {more}'
    )


def state(world: World) -> Any:
    """Return the state of the page."""
    return world.read(pages.get, 1)[1]


def test_page_behind_a_form_is_watched_with_renewed_cookies(world: World, shop: Shop):
    """One login serves many checks, also after a restart.

    Hidden fields and the button are sent too.
    """
    watch(world)

    with serve(world) as service:
        service.pass_time(35 * MINUTE)
    shop.price = "9 EUR"
    play(world, lambda monitor: world.pass_time(monitor, 11 * MINUTE))

    (sent,) = shop.posted
    assert {"csrf": "n1", "email": "anna@example.org", "pw": CANARY, "go": "1"} == sent
    assert "ok" == state(world).health
    assert '"9" (was "12")' in world.console.getvalue()


def test_lost_login_is_repaired_silently(world: World, shop: Shop):
    """The site forgets the session; the next check logs in again."""
    watch(world)

    with serve(world) as service:
        service.pass_time(15 * MINUTE)
        shop.log_all_out()
        service.pass_time(10 * MINUTE)

    assert 2 == len(shop.posted)
    assert ("ok", 1) == (state(world).health, state(world).last_seq)
    assert "" == world.console.getvalue()


def test_failing_login_is_notified_once_and_retried_rarely(world: World, shop: Shop):
    """At most three attempts a day; it recovers when the site accepts the password."""
    watch(world)
    tries: list[int] = []

    with serve(world) as service:
        service.pass_time(5 * MINUTE)
        shop.log_all_out()
        shop.password = "another"
        begin, known = world.clock.now(), len(shop.posted)
        for _ in range(4):
            service.pass_time(HOUR)
            tries.extend([(world.clock.now() - begin) // HOUR] * (len(shop.posted) - known))
            known = len(shop.posted)
        reason = state(world).reason
        assert reason.startswith(
            "login to 127.0.0.1 was lost and could not be repaired: the form was shown again: the user or the password is wrong,"
        )
        assert re.search(r"; next try \d{4}-\d\d-\d\d \d\d:\d\d UTC$", reason)
        assert ("error", "login") == (state(world).health, state(world).kind)
        shop.password = CANARY
        service.pass_time(20 * HOUR)

    assert [1, 2] == tries  # with the first login three within its day, so the next one waits
    assert 1 == world.console.getvalue().count("was lost and could not be repaired")
    assert "ok" == state(world).health


def test_new_password_is_tried_at_once(world: World, shop: Shop):
    """Setting the secret ends the wait."""
    keep(world, "shop", "wrong")
    watch(world)

    with serve(world) as service:
        service.pass_time(5 * MINUTE)
        assert state(world).reason.startswith("login to 127.0.0.1 failed: the form was shown again")
        keep(world, "shop", CANARY)
        service.pass_time(MINUTE)

    assert "ok" == state(world).health
    assert ["wrong", CANARY] == [fields["pw"] for fields in shop.posted]


@pytest.mark.parametrize(
    ("change", "why", "sent"),
    [
        (lambda shop: setattr(shop, "down", True), "the login page got no answer", 0),
        (lambda shop: setattr(shop, "form", "<p>soon</p>"), "no longer has a form with one user and one password", 0),
        (lambda shop: setattr(shop, "form", FORM + "<div class=h-captcha></div>"), "asks for a captcha", 0),
        (lambda shop: setattr(shop, "form", FORM.replace("post", "get")), "put the password into an address", 0),
        (
            lambda shop: setattr(shop, "form", FORM.replace("/session", "https://evil.example/s")),
            'its form leads to https://evil.example; if that is right, write via "https://evil.example"',
            0,
        ),
        (lambda shop: setattr(shop, "form", FORM.replace("csrf", "old")), "its token has expired", 1),
        (lambda shop: shop.refuse(403), "the form got no answer", 1),
    ],
)
def test_each_login_failure_has_its_own_message(
    world: World, shop: Shop, change: Callable[[Shop], Any], why: str, sent: int
):
    """The form page fails, has no form, leads elsewhere or has a captcha.

    The password is sent only where it may.
    """
    change(shop)
    watch(world)
    play(world, lambda monitor: world.pass_time(monitor, 5 * MINUTE))

    assert "login" == state(world).kind
    assert why in state(world).reason
    assert sent == len(shop.posted)
    assert 0 == state(world).last_seq


def test_selector_decides_whether_the_login_succeeded(world: World, shop: Shop):
    """A page with another password field can be logged in; one without the selector is not."""
    watch(world, 'success css "p.in"')
    play(world, lambda monitor: world.pass_time(monitor, MINUTE))
    assert "ok" == state(world).health

    world.add('Alter shop Login form "{/login}" user "anna@example.org" password secret "shop" success css "p.out"')
    play(world, lambda monitor: world.pass_time(monitor, MINUTE))

    assert "the page has no p.out" in world.read(pages.listing)[-1][1].reason


def test_password_is_sent_to_the_form_only(world: World, shop: Shop, tmp_path, monkeypatch: pytest.MonkeyPatch):
    """All requests, files, logs and records are searched, after logins that worked and failed."""
    records = io.StringIO()
    handler = logging.StreamHandler(records)
    logging.getLogger().addHandler(handler)
    monkeypatch.setattr(logging.getLogger(), "level", logging.DEBUG)
    watch(world)

    with serve(world) as service:
        service.pass_time(15 * MINUTE)
        shop.log_all_out()
        service.pass_time(15 * MINUTE)
        shop.log_all_out()
        shop.form = FORM + "<p>no</p>"
        shop.status = 500
        shop.password = "other"
        service.pass_time(2 * HOUR)
    logging.getLogger().removeHandler(handler)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        for verb in (["list"], ["show", "shop"], ["doctor"], ["secret", "list"], ["history", "shop"], ["events"]):
            main(["--data", str(world.directory), *verb, "--json"])
    named = list(list_spellings(CANARY))
    asked = [seen for seen in world.server.seen if any(w in _wire(seen) for w in named)]
    kept = [path for path in world.directory.rglob("*") if path.is_file() and path.name != "secrets.key"]

    assert {"/session"} == {seen.path for seen in asked}
    assert {"POST"} == {seen.method for seen in asked}
    assert [] == [path.name for path in kept if any(w in path.read_bytes() for w in named)]
    assert [] == [w for w in named if w in (records.getvalue() + world.console.getvalue() + out.getvalue()).encode()]
    assert "shop" in out.getvalue()


def _wire(seen: Seen) -> bytes:
    headers = "".join(f"{name}: {value}\n" for name, value in seen.headers.items())
    return f"{seen.method} {seen.target}\n{headers}".encode(errors="surrogateescape") + seen.body
