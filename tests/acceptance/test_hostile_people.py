"""Promise: H-075 to H-095, H-100 and H-103 to H-112 (`docs/design/hostile.md`) have no effect on a
running service.

The rows between are of imports, of which there are none.
"""

from __future__ import annotations

import io
import json
import logging
import re
import xml.etree.ElementTree as ET
from collections.abc import Awaitable, Callable
from email.message import EmailMessage
from typing import Any

import pytest

from tests.people import PASSWORD, People, with_people
from tests.world import World, play
from tidings.clock import HOUR, MINUTE
from tidings.service.run.monitor import Monitor
from tidings.storage.people import tokens
from tidings.storage.watches import events, sentinels
from tidings.web.routes import SCREENS

Row = Callable[[World, Monitor, People], Awaitable[None]]
HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)> {{7*7}} ${7*7} %s ]]> &lt;b&gt;'
ROWS: dict[str, Row] = {}


def row(*ids: str) -> Callable[[Row], Row]:
    """Register a story for rows of the table."""

    def note(story: Row) -> Row:
        ROWS.update(dict.fromkeys(ids, story))
        return story

    return note


async def change_to(world: World, monitor: Monitor, text: str) -> None:
    """Serve a title and a text as the installation's page, and let it be polled."""
    world.page("/b", f"<title>{text}</title><p>{text}</p>")
    await world.pass_time(monitor, HOUR)


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@row("H-075", "H-076")
async def _templates(world: World, monitor: Monitor, people: People) -> None:
    """Templates have fixed placeholders: code is refused or stays text."""
    for title in ("{{ ''.__class__.__mro__ }}", "{{ 'a'*1000000000 }}"):
        text = f'Create Sentinel t Using https://t.example/ Monitor all words Notify by feed title "{title}"'
        made = await people.ask(
            "edit", "POST", "/api/v1/sentinels", headers={"content-type": "text/plain"}, body=text.encode()
        )
        assert 422 == made.status
    await change_to(world, monitor, "{{ ''.__class__ }}")
    assert b"{{ &#39;&#39;.__class__ }}" in (await people.ask("ada", "GET", "/?s=all")).body


@row("H-077", "H-078", "H-079", "H-080", "H-085")
async def _texts(world: World, monitor: Monitor, people: People) -> None:
    """Page text is shown unchanged on every screen, and feeds stay well formed."""
    await change_to(world, monitor, escape(HOSTILE) + "\x0b")
    change = (await people.ask("ada", "GET", "/api/v1/changes?sentinel=common")).json()["items"][0]
    for path in ("/?s=all", "/sentinels", "/sentinels/common", f"/changes/{change['id']}"):
        shown = (await people.ask("ada", "GET", path)).body
        assert b"<script>alert" not in shown
        assert b"<img src=x" not in shown
        assert b"{{7*7}}" in shown + (b"{{7*7}}" if path == "/sentinels" else b"")
        assert b"49" not in shown.partition(b"<main")[2].partition(b"{{7*7}}")[0][-40:]
    atom = (await people.ask("ada", "GET", "/api/v1/feed.atom")).body
    assert ET.fromstring(atom) is not None
    assert b"<script>" not in atom
    assert HOSTILE.split(" ", maxsplit=1)[0] in json.dumps(change, ensure_ascii=False).replace('\\"', '"')


@row("H-081", "H-082")
async def _bodies(world: World, monitor: Monitor, people: People) -> None:
    """A stored body is never served as a page or a picture."""
    world.page(
        "/b",
        "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        headers={"content-type": "image/svg+xml"},
    )
    await world.pass_time(monitor, HOUR)
    for what, media in (("text", "text/plain"), ("body", "application/octet-stream")):
        answer = await people.ask("ada", "GET", f"/api/v1/pages/2/versions/1/{what}")
        assert 200 == answer.status
        assert media in answer.headers["content-type"]
        assert "nosniff" == answer.headers["x-content-type-options"]
        assert "sandbox" in answer.headers["content-security-policy"]


@row("H-083")
async def _colours(world: World, monitor: Monitor, people: People) -> None:
    """Tags have no colour that could hold a style."""
    body = json.dumps({"tags": ["a"], "colour": "red;background:url(//x)"}).encode()
    answer = await people.ask(
        "edit", "PATCH", "/api/v1/sentinels/common", headers={"content-type": "application/json"}, body=body
    )
    assert 422 == answer.status


@row("H-084")
async def _errors(world: World, monitor: Monitor, people: People) -> None:
    """The message of a failed fetch is text."""
    del world.server.pages["/b"]
    await world.pass_time(monitor, HOUR)
    name = "<b onmouseover=alert(1)>"
    for path in (f"/sentinels/{name}", f"/api/v1/sentinels/{name}"):
        answer = await people.ask("ada", "GET", path.replace("<", "%3C").replace(">", "%3E"))
        assert b"<b onmouseover" not in answer.body or "json" in answer.headers["content-type"]
    assert b"<b onmouseover" not in (await people.ask("ada", "GET", "/health")).body


@row("H-086")
async def _by_picture(world: World, monitor: Monitor, people: People) -> None:
    """A GET cannot drop anything."""
    before = world.read(sentinels.names)
    for path in ("/api/v1/sentinels/common/delete", "/sentinels/common/delete", "/inbox/all-read", "/logout"):
        assert (await people.ask("ada", "GET", path)).status in {404, 405}
    assert before == world.read(sentinels.names)


@row("H-087", "H-088")
async def _other_sites(world: World, monitor: Monitor, people: People) -> None:
    """Another site can neither act nor sign a user in; a form without an origin cannot either."""
    cookie = (await people.sign_in("ada")).headers["set-cookie"].partition(";")[0]
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        given = {"cookie": cookie, "content-type": "application/x-www-form-urlencoded", **headers}
        assert 403 == (await people.ask("", "POST", "/sentinels/common", headers=given, body=b"act=drop")).status
        assert 403 == (await people.ask("", "POST", "/login", headers=given, body=b"name=ada&password=x")).status
    given = {"cookie": cookie, "content-type": "application/x-www-form-urlencoded"}
    assert 403 == (await people.ask("", "POST", "/sentinels/common", headers=given, body=b"act=drop")).status
    assert "common" in world.read(sentinels.names)


@row("H-089")
async def _next(world: World, monitor: Monitor, people: People) -> None:
    """Signing in redirects only within this service."""
    for where in ("//evil", "/\\evil", "https:evil", "/%09/evil", "javascript:alert(1)", "/\t/evil", "https://evil/"):
        sent = {"name": "ada", "password": PASSWORD, "next": where}
        world.clock.advance(MINUTE)
        assert "/" == (await people.send("", "/login", sent)).headers["location"]
    sent = {"name": "ada", "password": PASSWORD, "next": "/sentinels?tag=a"}
    assert "/sentinels?tag=a" == (await people.send("", "/login", sent)).headers["location"]


@row("H-090")
async def _end(world: World, monitor: Monitor, people: People) -> None:
    """Revoked tokens and ended sessions are invalid; `test_rights` covers the other cases."""
    world.write(tokens.revoke, "anna")
    assert 401 == (await people.ask("anna", "GET", "/api/v1/me")).status
    cookie = (await people.sign_in("bob")).headers["set-cookie"].partition(";")[0]
    assert 200 == (await people.ask("", "GET", "/", headers={"cookie": cookie})).status
    world.clock.advance(tokens.IDLE + HOUR)
    assert 401 == (await people.ask("", "GET", "/", headers={"cookie": cookie})).status
    there = await people.ask("", "GET", "/plan?a=b", headers={"cookie": cookie, "accept": "text/html"})
    assert (303, "/login?next=%2Fplan%3Fa%3Db") == (there.status, there.headers["location"])


@row("H-091", "H-092")
async def _proxies(world: World, monitor: Monitor, people: People) -> None:
    """A user header counts only from a configured proxy, once, as a name."""
    assert 401 == (await people.ask("", "GET", "/", headers={"remote-user": "ada"})).status
    trusted = people.trusting("127.0.0.1")
    assert 200 == (await trusted.ask("", "GET", "/users", headers={"remote-user": "ada"})).status
    assert 403 == (await trusted.ask("", "GET", "/users", headers={"remote-user": "rita"})).status
    assert 401 == (await trusted.ask("", "GET", "/api/v1/users", headers={"remote-user": "ada"})).status
    for headers in (
        [("remote-user", "ada"), ("remote-user", "ada")],
        [("remote_user", "rita"), ("remote-user", "ada")],
        [("remote-user", "ada ")],
        [("remote-user", "a" * 10_240)],
    ):
        assert 400 == (await trusted.ask_with(headers)).status
    assert 401 == (await people.trusting("192.0.2.1").ask("", "GET", "/", headers={"remote-user": "ada"})).status


@row("H-093")
async def _guesses(world: World, monitor: Monitor, people: People) -> None:
    """A hundred wrong passwords are slowed; the right one works from another address."""
    answers = [(await people.sign_in("ada", f"wrong password {number}")).status for number in range(100)]
    assert 401 == answers[0]
    assert 95 <= answers.count(429)
    assert 429 == (await people.sign_in("ada")).status
    assert 303 == (await people.sign_in_from("192.0.2.7", "ada")).status


@row("H-094")
async def _passwords(world: World, monitor: Monitor, people: People) -> None:
    """A too long one is refused without hashing, as is one with NUL; any other is used exactly."""
    assert 401 == (await people.sign_in("ada", "x" * 200_000)).status
    for number, password in enumerate(("\U0001f511" * 12, "x" * 1_024, "ten chars\0 and NUL")):
        body = json.dumps({"name": f"u{number}", "password": password}).encode()
        made = await people.ask("ada", "POST", "/api/v1/users", headers={"content-type": "application/json"}, body=body)
        is_text = "\0" not in password
        assert (201 if is_text else 422) == made.status, made.body
        assert (303 if is_text else 422) == (await people.sign_in(f"u{number}", password)).status
        assert not is_text or 401 == (await people.sign_in(f"u{number}", password[:-1])).status
    long = json.dumps({"name": "u", "password": "\u00e4" * 513}).encode()
    assert (
        422
        == (
            await people.ask("ada", "POST", "/api/v1/users", headers={"content-type": "application/json"}, body=long)
        ).status
    )


@row("H-095")
async def _in_address(world: World, monitor: Monitor, people: People) -> None:
    """A token in a URL is ignored."""
    token = people.headers["ada"]["authorization"].removeprefix("Bearer ")
    for path in (f"/api/v1/me?token={token}", f"/?token={token}", f"/api/v1/me?access_token={token}"):
        answer = await people.ask("", "GET", path)
        assert 401 == answer.status
        assert token.encode() not in answer.body


@row("H-100")
async def _traversal(world: World, monitor: Monitor, people: People) -> None:
    """No path leads to a file."""
    for path in (
        "/static/..%2f..%2fetc/passwd",
        "/static/%252e%252e/passwd",
        "/static/x/..\\..\\passwd",
        "/static/x/../../passwd",
    ):
        assert 404 == (await people.ask("ada", "GET", path)).status


@row("H-103")
async def _cells(world: World, monitor: Monitor, people: People) -> None:
    """Screens export no CSV, only JSON."""
    paths = {route.path for route in people.app.application.routes}
    assert not [path for path in paths if "csv" in path]
    assert "application/json" == (await people.ask("ada", "GET", "/api/v1/users/anna/export")).headers["content-type"]


@row("H-104", "H-105", "H-106")
async def _mail(world: World, monitor: Monitor, people: People) -> None:
    """A subject is one clean line; a recipient is one address."""
    from tidings.presentation.writing import subject_line

    for title in ("a\r\nBcc: b@c.example", "x" * 10_000, "a\0b", "\u200f\u202e"):
        line = subject_line(title)
        message = EmailMessage()
        message["Subject"] = line
        assert not any(one in line for one in "\r\n\0")
        assert len(line) <= 1_000
    for address in ("a@b.example, c@d.example", "a@b.example\nRCPT TO:<x@y.example>"):
        text = f'Create Sentinel m Using https://m.example/ Monitor all words Notify by email "{address}"'
        answer = await people.ask(
            "edit", "POST", "/api/v1/sentinels", headers={"content-type": "text/plain"}, body=text.encode()
        )
        assert 422 == answer.status, answer.body


@row("H-107", "H-108")
async def _logs(world: World, monitor: Monitor, people: People) -> None:
    """Requests cannot forge log lines, and no secret of an address is logged."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger().addHandler(handler)
    try:
        await people.ask("ada", "GET", "/api/v1/sentinels/x%0a2026-01-01%20ERROR%20fake%1b[31m")
        text = "Create Sentinel s Using https://user:secret@h.example/?token=abc Monitor all words"
        answer = await people.ask(
            "edit", "POST", "/api/v1/sentinels", headers={"content-type": "text/plain"}, body=text.encode()
        )
    finally:
        logging.getLogger().removeHandler(handler)
    assert 422 == answer.status
    assert (
        b"secret" not in answer.body.replace(b"secret:", b"").replace(b"secret set", b"").replace(b"a secret", b"")
        or b"user:secret" not in answer.body
    )
    assert "fake" not in stream.getvalue()
    assert "user:secret" not in stream.getvalue()


@row("H-109")
async def _fields(world: World, monitor: Monitor, people: People) -> None:
    """Undeclared fields are refused, by every operation with a body."""
    for path, method in (
        ("sentinels", "POST"),
        ("sentinels/common", "PATCH"),
        ("bulk", "POST"),
        ("users", "POST"),
        ("changes/marks", "POST"),
    ):
        for name in ("is_admin", "owner_id", "last_checked"):
            sent = json.dumps(
                {
                    "text": "x",
                    "names": ["common"],
                    "act": "check",
                    "name": "n",
                    "password": PASSWORD,
                    "ids": [],
                    name: 1,
                }
            )
            answer = await people.ask(
                "ada" if path == "users" else "admin",
                method,
                f"/api/v1/{path}",
                headers={"content-type": "application/json"},
                body=sent.encode(),
            )
            assert 422 == answer.status


@row("H-110")
async def _intervals(world: World, monitor: Monitor, people: People) -> None:
    """An interval must be a duration that can be stored."""
    for interval in ("0", "-1", "NaN", "1e18", '"P1Y"', "0 min", "1000000000000 year"):
        text = f"Create Sentinel i Using https://i.example/ Monitor all words Fetch every {interval}"
        answer = await people.ask(
            "edit", "POST", "/api/v1/sentinels", headers={"content-type": "text/plain"}, body=text.encode()
        )
        assert 422 == answer.status, interval
    for limit in ("0", "-1", "NaN", "1e18", "P1Y"):
        assert 422 == (await people.ask("ada", "GET", f"/api/v1/changes?limit={limit}")).status
    assert 422 == (await people.ask("ada", "GET", f"/api/v1/changes?{'1' * 5_000}=1")).status


@row("H-111")
async def _sizes(world: World, monitor: Monitor, people: People) -> None:
    """Too large, too deep or wrongly typed input is refused before it is parsed."""
    given = {"content-type": "application/json"}
    big = await people.ask(
        "edit", "POST", "/api/v1/sentinels", headers={**given, "content-length": "100000000"}, body=b"{"
    )
    deep = await people.ask("edit", "POST", "/api/v1/sentinels", headers=given, body=b'{"text":' + b"[" * 10_000)
    other = await people.ask("edit", "POST", "/api/v1/sentinels", headers={"content-type": "text/xml"}, body=b"<a/>")
    assert [413, 400, 415] == [big.status, deep.status, other.status]


@row("H-112")
async def _sql(world: World, monitor: Monitor, people: People) -> None:
    """Text is data to the database; an unknown sort key is refused."""
    word = "%27%20OR%201%3D1%20--"
    for query in ("sentinel", "tag", "kind", "q", "cursor"):
        answer = await people.ask("ada", "GET", f"/api/v1/changes?{query}={word}")
        assert answer.status == 404 if query == "cursor" else answer.json()["items"] == []
    for path in (
        f"/api/v1/sentinels/{word}",
        f"/api/v1/changes/{word}",
        f"/api/v1/deliveries/{word}",
        f"/api/v1/pages/{word}",
    ):
        assert 404 == (await people.ask("bob", "GET", path)).status
    assert 422 == (await people.ask("ada", "GET", f"/api/v1/changes?sort={word}")).status
    assert 401 == (await people.sign_in("' OR 1=1 --")).status


NOTHING = {"{name}": "nothing", "{id}": "999", "{page}": "999", "{number}": "9", "{token}": "nothing"}


def test_screen_of_a_missing_object_is_404(world: World) -> None:
    """Each screen with a name or a number in its path, for each role; none is an internal error."""

    def story(monitor: Monitor) -> Any:
        async def ask_all(people: People) -> None:
            templates = [path for path, method, *_ in SCREENS if "{" in path and method == "GET"]
            assert templates
            for path in (re.sub(r"{\w+}", lambda found: NOTHING[found[0]], each) for each in templates):
                for who in ("ada", "admin", "bob"):
                    answer = await people.ask(who, "GET", path)
                    assert 404 == answer.status, (path, who)
                    assert answer.headers["content-type"].startswith("text/html") or "/feed." in path, path

        return with_people(world, monitor, ask_all)

    play(world, story)


IDS = [f"H-{n:03}" for n in (*range(75, 96), 100, *range(103, 113))]


@pytest.mark.parametrize("id_", IDS)
def test_row(world: World, id_: str) -> None:
    """Each row has its outcome and no other effect."""

    def story(monitor: Monitor) -> Any:
        async def list_told(people: People) -> None:
            await ROWS[id_](world, monitor, people)
            world.read(events.last_seq)

        return with_people(world, monitor, list_told)

    play(world, story)


def test_every_row_has_a_story() -> None:
    """32 of 32."""
    assert set(IDS) == set(ROWS)
    assert 32 == len(IDS)
