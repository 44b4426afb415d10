"""Promise: what is secret stands nowhere but encrypted in its table, and goes nowhere but to the origin that it is for (R-19).

Twelve canaries are put away and everything is used: pages that answer, fail, move and tell; webhooks, a digest, the console; every verb,
its JSON too; the log at its most talkative, a crash. Then all that came out is searched for them.
"""

from __future__ import annotations

import base64
import contextlib
import io
import itertools
import json
import logging
import shutil
import sys
import traceback
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import Page, WebServer
from tests.world import World, play, serve
from tidings.cli.main import main
from tidings.cli.verbs import VERBS
from tidings.clock import DAY, HOUR, MINUTE
from tidings.model.secret import Secret
from tidings.notification.webhook import make_secret
from tidings.service.run.monitor import Monitor
from tidings.service.secrets import secrets
from tidings.storage.db.database import open_database
from tidings.storage.secrets import Vault

CANARIES = {f"s{n}": f"c4nary{n:02}x{'q7z' * 4}" for n in range(1, 10)}
"""One for each way of use; the proxy's password, a cookie and the two that sign are made below."""
COOKIE = "c4nary-cookie-7f3a"
HOOK = "c4nary-hook-path-2b8e"
CHAT = "c4naryChatToken5d1c"
"""Tokens in the addresses of receivers: of a webhook and of a service of Apprise, written out in statements."""
PASSWORD = "c4nary-proxy-pw-91"
OTHERS = frozenset({"demo", "serve", "confirm", "mcp"})
"""Verbs that do not end by themselves; `serve` is the monitor that the story plays."""


def keep(world: World, name: str, text: str, *, jar: bool = False) -> None:
    """Set a secret as `tidings secret set` does."""
    database = open_database(world.settings)
    try:
        database.write(secrets.set_, Vault(world.directory), name, Secret(text), jar=jar, at=world.clock.now())
    finally:
        database.close()


def list_spellings(value: str) -> Iterator[bytes]:
    """Yield the encodings of a text in a file: plain, Base64, percent-encoded, JSON, UTF-16, hex."""
    data = value.encode()
    yield data
    yield data.hex().encode()
    yield urllib.parse.quote(value, safe="").encode()
    yield json.dumps(value)[1:-1].encode()
    yield value.encode("utf-16-le")
    for shift in range(
        3
    ):  # where a Base64 of more begins is not known: its inner part is the same in one of three places
        yield base64.b64encode(b"\0" * shift + data)[4:-4]


def test_page_with_a_missing_secret_recovers_when_it_is_set(world: World):
    """Error(secret) has the command and sends no request; once set, the page is polled without the
    day's wait.
    """
    world.page("/a", "<p>count 1</p>")
    world.add('Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour slack 1 s Header "X-Key" secret "key"')

    with serve(world) as service:
        service.pass_time(10 * MINUTE)
        assert [] == world.server.seen
        keep(world, "key", "c4nary")
        service.pass_time(MINUTE)
    first, second = world.polls()

    assert ("error", "secret", 0) == (first.outcome, first.kind, first.requests)
    assert ("new", "c4nary") == (second.outcome, world.server.seen[0].headers["x-key"])
    assert ["page.error", "page.ok"] == [e.type for e in world.events("page.error", "page.ok")]
    assert [] == world.violations()


@pytest.mark.roles
def test_replaced_secret_keeps_the_page(world: World):
    """The next request has the new value and no validators; page, versions and cursors stay."""
    world.page("/a", "<p>count 1</p>", etag='"1"')
    keep(world, "key", "old")
    world.add('Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour slack 1 s Header "X-Key" secret "key"')

    with serve(world) as service:
        service.pass_time(2 * HOUR)
        keep(world, "key", "new")
        service.pass_time(2 * HOUR)
    log = [(seen.headers["x-key"], "if-none-match" in seen.headers) for seen in world.server.seen]

    assert [("old", False), ("old", True), ("old", True), ("new", False), ("new", True)] == log
    assert ([], 1) == (world.changes(), len(world.versions()))


def test_replaced_token_is_tried_at_once(world: World):
    """It ends the hours that a denied page waits."""

    def door(seen: Any, wire: Any) -> None:
        ok = seen.headers["x-key"] == "new"
        wire.send(
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" if ok else b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"
        )

    world.server.pages["/a"] = door
    keep(world, "key", "old")
    world.add('Create Sentinel s Using {/a} Monitor all words Fetch every 1 min slack 1 s Header "X-Key" secret "key"')

    with serve(world) as service:
        service.pass_time(5 * MINUTE)
        keep(world, "key", "new")
        service.pass_time(MINUTE)

    assert [("error", "denied"), ("new", "")] == [(poll.outcome, poll.kind) for poll in world.polls()][:2]


def test_lost_key_stops_only_what_needs_it(world: World):
    """Pages without secrets are watched, others say what to do, news wait for their address; all
    continue with the key.
    """
    world.page("/a", "<p>count 1</p>")
    world.page("/b", "<p>count 1</p>")
    keep(world, "key", "c4nary")
    receiver = world.receiver()
    every = f"Monitor all words Fetch every 1 hour slack 1 s Notify By webhook {receiver} immediate"
    world.add(
        f'Create Sentinel open Using {{/a}} {every}\nCreate Sentinel shut Using {{/b}} {every} Header "X-Key" secret "key"'
    )

    with serve(world) as service:
        service.settle()
    path = world.directory / "secrets.key"
    away = path.rename(world.directory.parent / "elsewhere")
    with serve(world) as service:
        world.page("/a", "<p>count 2</p>")
        world.page("/b", "<p>count 2</p>")
        service.pass_time(HOUR)
    clauses = world.deliveries()

    assert [("open", "all_words")] == [
        (change["sentinel"], change["kind"].replace(" ", "_")) for change in world.changes()
    ]
    assert [] == world.received
    assert {"waiting"} == {delivery.status for delivery in clauses}
    assert any(
        "cannot be decrypted" in delivery.error and "secrets.key is missing" in delivery.error for delivery in clauses
    )
    assert "error" == world.polls(2)[-1].outcome

    shutil.move(away, path)
    play(world, lambda monitor: world.pass_time(monitor, 2 * DAY))
    assert {"open", "shut"} == {message["data"]["sentinel"] for _, message in world.received if "data" in message}


@pytest.fixture
def house(make_world: Callable[..., World], tmp_path: Path) -> World:
    """An installation that uses each canary, and settings of which three are secret."""
    (tmp_path / "data").mkdir()
    signing = make_secret()
    world = make_world(notify__webhook_secret=signing, notify__smtp_password="c4nary-smtp-55", store__busy_seconds="5")
    keep(world, "webhook", make_secret())
    for name, value in CANARIES.items():
        keep(world, name, value)
    keep(world, "jar", f"127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t{COOKIE}\n", jar=True)
    return world


def signing_secrets(world: World) -> list[str]:
    kept = world.read(Vault(world.directory).open, "webhook")
    return [kept.value.reveal(), world.settings.notify.webhook_secret]


def test_no_canary_leaks(house: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any):
    """R-19: 0 occurrences of 16 canaries outside the encrypted table and the requests to the right
    origin.
    """
    world, log = house, io.StringIO()
    handler = logging.StreamHandler(log)
    monkeypatch.setenv("PYTHONASYNCIODEBUG", "1")
    logging.root.setLevel(logging.DEBUG)
    logging.root.addHandler(handler)
    with (
        WebServer(address="127.0.0.2") as away,
        WebServer(address="127.0.0.3") as proxy,
        WebServer(address="127.0.0.4") as chat,
    ):
        keep(world, "way", f"http://ann:{PASSWORD}@127.0.0.3:{proxy.port}")
        canaries = [*CANARIES.values(), COOKIE, PASSWORD, HOOK, CHAT, *signing_secrets(world), "c4nary-smtp-55"]
        outputs = _use_everything(world, away, proxy, chat, tmp_path, monkeypatch, capsys)
        logging.root.removeHandler(handler)
        logging.root.setLevel(logging.WARNING)
        paths = str([seen.path for seen in (*world.server.seen, *chat.seen)])
        right = {"127.0.0.1": str(world.server.seen), "127.0.0.3": str(proxy.seen)}
        wrong = str(away.seen) + "".join(
            str(s.body) + str(s.headers) for s in world.server.seen if s.path == f"/{HOOK}"
        )
        files = _files(world.directory)

    assert HOOK in paths, "the webhook was never sent"
    assert CHAT in paths, "the service of Apprise was never sent to"
    assert 16 == len(set(canaries))
    for name, value in {**CANARIES, "jar": COOKIE}.items():
        assert value in right["127.0.0.1"], f"{name} was never used"
    assert base64.b64encode(f"ann:{PASSWORD}".encode()).decode() in right["127.0.0.3"]
    places = {"output": outputs.encode(), "log": log.getvalue().encode(), "elsewhere": wrong.encode(), **files}
    assert all(places.values()), f"nothing to search in {[name for name, data in places.items() if not data]}"
    found = [
        (place, value[:12])
        for (place, data), value in itertools.product(places.items(), canaries)
        for form in list_spellings(value)
        if form in data
    ]
    assert [] == found


def _use_everything(
    world: World,
    away: WebServer,
    proxy: WebServer,
    chat: WebServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> str:
    """Use every feature with every canary; return all output."""
    server = world.server
    for path in ("/plain", "/posted", "/cookie", "/labelled", "/denied", "/moved", "/down", "/odd", "/redirected"):
        world.page(path, f"<title>Page</title><p>{path} count 1</p>")
    server.pages["/denied"] = Page(status=401)
    server.pages["/down"] = Page(status=500, body=b"fault")
    server.pages["/moved"] = Page(status=302, headers={"Location": away.url("/there")})
    server.pages["/redirected"] = Page(status=307, headers={"Location": away.url("/there")})
    server.pages["/odd"] = Page(b"short", headers={"Content-Encoding": "gzip"})
    away.pages["/there"] = Page(b"<p>there count 1</p>", headers={"Content-Type": "text/html"})
    proxy.pages["http://by.example/p"] = Page(b"<p>by proxy count 1</p>", headers={"Content-Type": "text/html"})
    every = "Monitor all words Fetch every 1 hour slack 1 s"
    chat.pages[f"/{CHAT}"] = Page(b"{}", headers={"Content-Type": "application/json"})
    service = f"json://127.0.0.4:{chat.port}/{CHAT}"
    hook = world.receiver(f"/{HOOK}", lambda number: 500 if number % 3 == 0 else 200)
    clauses = f"Notify By webhook {hook}, {service} immediate Notify By console every 2 hour Notify By dashboard"
    dead = f"Notify By {chat.url('/nowhere/' + HOOK)}, json://127.0.0.4:1/{CHAT} Errors To ntfy://{CHAT}@127.0.0.4:1/x"
    asked = {
        "plain": 'Header "Authorization" secret "s1"',
        "posted": 'Method "POST" Body secret "s2"',
        "labelled": 'Header "X-Plain" "visible" Header "User-Agent" secret "s3"',
        "denied": 'Header "X-Key" secret "s4"',
        "moved": 'Header "X-Key" secret "s5"',
        "down": 'Header "X-Key" secret "s6"',
        "odd": 'Header "X-Key" secret "s7"',
        "redirected": 'Body secret "s8" Header "X-Key" secret "s9"',
        "cookie": 'Header "Cookie" secret "jar"',
    }
    text = "\n".join(f"Create Sentinel {n} Using {{/{n}}} {every} {how} {clauses}" for n, how in asked.items())
    text += f'\nCreate Sentinel proxied Using http://by.example/p {every} Proxy secret "way" {clauses}'
    text += f"\nCreate Sentinel deaf Using {{/plain}} {every} {dead} Tags shop"
    text += f"\nDefaults For Tags shop {clauses}"
    text += f'\nCreate Sentinel missing Using {{/plain}} {every} Header "X-Key" secret "nowhere" {clauses}'
    world.add(text)
    outputs = [_crash(world)]

    async def story(monitor: Monitor) -> None:
        await world.pass_time(monitor, 2 * HOUR)
        for path in ("/plain", "/posted", "/cookie", "/labelled"):
            world.page(path, f"<title>Page</title><p>{path} count 2</p>")
        await world.pass_time(monitor, 4 * HOUR)

    play(world, story)
    outputs.append(world.console.getvalue())
    _say_settings(world, monkeypatch)
    words = [
        ("add", "-", "--no-check"), ("apply", str(tmp_path / "git"), "--dry-run"), ("apply", str(tmp_path / "git"), "--no-check"), ("test", "-"),
        ("list",), ("list", "--all"), ("plan", "--expert"), ("changes",), ("deliveries",), ("deliveries", "--dead"), ("settings",), ("doctor",), ("gc",), ("gc", "--dry-run"), ("lab", "--pages", "2", "--days", "1"),
        ("doctor", "--deep"), ("secret", "list"), ("secret", "drop", "s1"), ("secret", "rotate"), ("check",), ("check", "plain"),
        ("disable", "plain"), ("enable", "plain"), ("rename", "plain", "plainer"), ("rename", "plainer", "plain"), ("add", "--url", server.url("/plain"), "--no-test"), ("drop", "missing"),
        ("alter", "plain", f"Notify By {hook}, console"), ("add", "--url", server.url("/labelled"), "--notify", hook, "--notify", service, "--notify", f"json://127.0.0.4:1/{CHAT}"),
        ("show", "deaf"), ("history", "deaf"), ("disable", "deaf"), ("enable", "deaf"),
        ("secret", "set", "s1", CANARIES["s1"]), ("secret", "set", "s1"),
        ("token", "add", "reader"), ("token", "list"), ("token", "revoke", "reader"),
        ("user", "add", "ada"), ("user", "list"), ("user", "export", "ada"),
        ("explain", "plain"), ("simulate", "--days", "1"), ("completion", "names"), ("search", "page"),
        ("queries", "list"), ("import", str(tmp_path / "git"), "--dry-run"), ("backup", str(tmp_path / "kept.tar")),
        ("verify", str(tmp_path / "kept.tar")), ("collect", server.url("/plain"), "--dry-run"), ("cluster",), ("export", "text"), ("export", "yaml"), ("export", "jsonl"), ("restore", str(tmp_path / "kept.tar")),
        *((verb, name) for name in (*asked, "proxied") for verb in ("show", "mask", "history", "diff")),
        ("history", "denied", "--polls"), ("deliveries", "replay", world.deliveries()[0].id),
    ]  # fmt: skip
    assert not VERBS.keys() - OTHERS - {w[0] for w in words}, "a verb that this test does not know"
    (tmp_path / "git").mkdir()
    more = f'Create Sentinel NAME Using {server.url("/plain")} {every} Header "X-Key" secret "s1"'
    (tmp_path / "git" / "a.txt").write_text(more.replace("NAME", "fromgit"))
    for number, (call, flag) in enumerate(itertools.product(words, ((), ("--json",)))):
        typed = CANARIES["s1"] if call[0] == "secret" else more.replace("NAME", f"n{number}")
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with contextlib.suppress(SystemExit):
            main([*call, *flag])
        outputs += [*capsys.readouterr()]
    return "\n".join(outputs)


def _crash(world: World) -> str:
    """Return the traceback of a fault right after a value was decrypted."""
    opened = world.read(Vault(world.directory).open, "s1")
    try:
        raise RuntimeError(opened, world.settings, {"secret": opened.value})
    except RuntimeError:
        return traceback.format_exc()


def _say_settings(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pass the settings of the world to the command line by the environment."""
    monkeypatch.setenv("TIDINGS_DATA", str(world.directory))
    for name, value in world.flags.items():
        monkeypatch.setenv(f"TIDINGS_{name.replace('.', '_').upper()}", value)


def _files(directory: Path) -> dict[str, bytes]:
    """Return every file of a data directory except the key."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name != "secrets.key" and path.stat().st_size
    }
