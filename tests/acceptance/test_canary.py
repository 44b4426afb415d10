"""Promise: a password is in the requests that log in, and nowhere else.

One canary logs in by basic auth, by a form and by the steps of a browser. Then all that went out
and all that can be shown is searched for it.
"""

from __future__ import annotations

import contextlib
import html
import io
import logging
import re
import sys
import tarfile
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_form_logins import CANARY, Shop
from tests.acceptance.test_screens import face
from tests.acceptance.test_secrets import _say_settings, keep, list_spellings
from tests.asgi import ask, following
from tests.browsers import need_chromium
from tests.fakes import Seen, Wire
from tests.world import World, play
from tidings.cli.main import main
from tidings.cli.verbs import VERBS
from tidings.clock import HOUR
from tidings.fetching.browser import steps
from tidings.service.run.monitor import Monitor
from tidings.web.routes import api_routes, program_routes, screen_routes

NAMES = ("basic", "form", "steps")
ENDLESS = ("/api/v1/stream", "/live", "/api/v1/websub/{token}", "/healthz")
"""Entrances that do not end by themselves, or that are for hubs and probes."""


class Door:
    """Serve pages for basic auth and for steps; the page behind the login shows the password."""

    def __init__(self, world: World) -> None:
        self.count = 11
        pages = world.server.pages
        world.page(
            "/entry",
            "<form action=/enter method=post><input id=user name=user><input id=pw type=password name=pw>"
            "<button>Go</button></form>",
        )
        pages["/enter"], pages["/inside"], pages["/basic"] = self.enter, self.show_inside, self.show_basic

    def enter(self, seen: Seen, wire: Wire) -> None:
        """Answer the form of the steps."""
        fields = urllib.parse.parse_qs(seen.body.decode())
        is_right = fields.get("pw") == [CANARY]
        place = "Location: /inside\r\nSet-Cookie: in=1; Path=/" if is_right else "Location: /entry"
        wire.send(f"HTTP/1.1 303 Go\r\n{place}\r\nContent-Length: 0\r\n\r\n".encode())

    def show_inside(self, seen: Seen, wire: Wire) -> None:
        """Answer a session of the form with the password."""
        text = f"you typed {html.escape(CANARY)}" if "in=1" in seen.headers.get("cookie", "") else "nobody"
        self._send(wire, 200, f"<h1>Inside</h1><p>Apples cost {self.count} EUR, {text}</p>")

    def show_basic(self, seen: Seen, wire: Wire) -> None:
        """Answer a request with the password in a header."""
        is_right = seen.headers.get("authorization", "").startswith("Basic ")
        self._send(wire, 200 if is_right else 401, f"<h1>Basic</h1><p>Pears cost {self.count} EUR</p>")

    def _send(self, wire: Wire, status: int, body: str) -> None:
        head = f"HTTP/1.1 {status} Said\r\nContent-Type: text/html; charset=utf-8\r\n"
        wire.send(f"{head}Content-Length: {len(body.encode())}\r\n\r\n{body}".encode())


def test_password_is_only_in_requests_that_log_in(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Searched: requests, log, messages, every command, every screen and API path, all files, a
    backup of each kind.
    """
    need_chromium()
    log, door, shop = io.StringIO(), Door(world), Shop(world)
    handler = logging.StreamHandler(log)
    monkeypatch.setattr(logging.root, "level", logging.DEBUG)
    logging.root.addHandler(handler)
    world.page("/welcome", "<p>Welcome</p>")
    _say_settings(world, monkeypatch)
    hook = world.receiver()
    _watch(world, hook, monkeypatch)
    shown: dict[str, bytes] = {}

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            door.count, shop.price = 12, "13 EUR"
            await world.pass_time(monitor, 3 * HOUR)
            shop.log_all_out()
            shop.password = "other"  # a login that fails is reported
            monkeypatch.setattr(steps, "STEP_SECONDS", 1.0)  # nor do the steps find what they wait for now
            await world.pass_time(monitor, 2 * HOUR)
            shown.update(await _open_everything(app, world))

    play(world, story)
    shown |= _run_verbs(world, tmp_path, monkeypatch, capsys)
    logging.root.removeHandler(handler)
    changed = {change["sentinel"] for change in world.changes()}
    shown["log"], shown["messages"] = log.getvalue().encode(), str(world.received).encode()
    shown["console"] = world.console.getvalue().encode()
    files = {str(path.relative_to(tmp_path)): path.read_bytes() for path in _list_files(world, tmp_path)}

    named = list(list_spellings(CANARY))
    asked = {(s.method, s.path) for s in world.server.seen if any(word in _wire(s) for word in named)}
    assert set(NAMES) == changed, "a login did not work"
    assert {("GET", "/basic"), ("POST", "/session"), ("POST", "/enter")} == asked
    assert b"***" in shown["diff steps"] + shown["/api/v1/pages/3/versions/2/text"], "the password was not masked"
    assert [] == [name for name, data in (shown | files).items() if any(word in data for word in named)]


def _watch(world: World, hook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the three sentinels: two by the command line, which reads the password, one by its
    secret.
    """
    every = ("--every", "1h", "--no-test", "--notify", hook, "--notify", "console")
    login = ("--login-form", world.server.url("/login"))
    for name, path, more in (("basic", "/basic", ()), ("form", "/account", login)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(CANARY))
        assert 0 == main(["add", "--url", world.server.url(path), "--name", name, "--user", "anna", *more, *every])
    keep(world, "steps", CANARY)
    world.add(
        "Create Sentinel steps Using {/entry} Monitor all words Fetch every 3 hour slack 1 s Notify By feed, stream"
        f" Notify By webhook {hook}"
        ' Render browser screenshot steps (fill "#user" with "anna", fill "#pw" with secret "steps", click "button",'
        ' wait for text "Apples")'
    )


async def _open_everything(app: Any, world: World) -> dict[str, bytes]:
    """Return the answer to each GET of the table of entrances, and of the links on screens."""
    shown: dict[str, bytes] = {}
    waiting = list(_list_paths(world))
    while waiting:
        path = waiting.pop(0)
        if path in shown or len(shown) > 240:
            continue
        answer = await ask(app, path)
        shown[path] = answer.body + str(answer.headers).encode()
        if b"<html" in answer.body:
            links = [html.unescape(link) for link in re.findall(r'href="(/[^"#]*)', answer.body.decode())]
            waiting += [link for link in links if not link.startswith(("/static", "/feeds"))]
    async with following(app, "/api/v1/stream", headers={"host": "127.0.0.1:8780", "last-event-id": "0"}) as reader:
        await reader.until(1)
        shown["/api/v1/stream"] = str(reader.records).encode()
    assert {"/api/v1/changes", "/api/v1/pages/3/versions/2/text", "/sentinels/steps"} <= set(shown)
    return shown


def _list_paths(world: World) -> Iterator[str]:
    places = {
        "name": NAMES,
        "name:path": (*NAMES, "all"),
        "page": ("1", "2", "3"),
        "number": ("1", "2"),
        "id": [change["id"] for change in world.changes()],
        "delivery": [delivery.id for delivery in world.deliveries()],
        "watch": ("1", "2", "3"),
    }
    for one in (*program_routes(), *api_routes(None), *screen_routes(None)):  # type: ignore[arg-type]
        if one.method != "GET" or one.path in ENDLESS:
            continue
        found = [one.path]
        for key in re.findall(r"{([^}]+)}", one.path):
            found = [path.replace(f"{{{key}}}", value) for path in found for value in places.get(key, ("1",))]
        queries = {"/api/v1/events": "?after=0&follow=false", "/api/v1/search": "?q=cost", "/search": "?q=cost"}
        yield from (path + queries.get(one.path, "") for path in found)


def _run_verbs(world: World, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> dict[str, bytes]:
    """Return the output of each command that shows or exports, as text and as JSON."""
    words = [
        ("list",), ("plan", "--expert"), ("changes", "--quiet"), ("doctor", "--deep"), ("settings",), ("search", "cost"),
        ("deliveries",), ("deliveries", "--dead"), ("secret", "list"), ("queries",),
        ("backup", str(folder / "plain.tar")), ("backup", "--with-secrets", str(folder / "secret.tar")),
        ("verify", "--deep", str(folder / "plain.tar")), ("secret", "rotate"), ("gc",),
        *((verb, name) for verb in ("show", "history", "diff", "mask", "explain") for name in NAMES),
        *(("history", name, flag) for name in NAMES for flag in ("--polls", "--values")),
    ]  # fmt: skip
    words += [("export",), ("export", "changes"), ("export", "all")] if "export" in VERBS else []
    text = {}
    for call in words:
        for flags in ((), ("--json",)):
            monkeypatch.setattr(sys, "stdin", io.StringIO("a long passphrase\na long passphrase\n"))
            with contextlib.suppress(SystemExit):
                main([*call, *flags, *(("--overwrite",) if call[0] == "backup" else ())])
            text[" ".join((*call, *flags))] = "".join(capsys.readouterr()).encode()
    assert b"kettle" in text["diff form"]
    return text


def _list_files(world: World, folder: Path) -> Iterator[Path]:
    """Yield every file of the data directory except the key, and both backups; PostgreSQL is dumped
    by its own program.
    """
    for backup in () if world.settings.store.url else (folder / "plain.tar", folder / "secret.tar"):
        with tarfile.open(backup) as packed:
            assert ("secrets.key" in packed.getnames()) is False
            packed.extractall(backup.with_suffix(".unpacked"), filter="data")
        yield backup
        yield from (path for path in backup.with_suffix(".unpacked").rglob("*") if path.is_file())
    yield from (path for path in world.directory.rglob("*") if path.is_file() and path.name != "secrets.key")


def _wire(seen: Seen) -> bytes:
    """Return the whole request, with basic auth decoded."""
    given = seen.headers.get("authorization", "")
    return f"{seen.method} {seen.path} {seen.headers}".encode() + seen.body + given.encode()
