"""The hostile rows of fetching (`tests/hostile_rows.py`), against raw sockets; and that each row
can fail.
"""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.fakes import Page, WebServer
from tests.hostile import Row, Stage, act, kind_of
from tests.hostile_rows import list_required_ids, raw, rows, whole
from tests.unit.fetching.asking import ask, settings
from tests.unit.fetching.http.test_decoders import brotli_bomb
from tidings.fetching import address, robots
from tidings.fetching.http import answers, client, connector, decoders, redirects
from tidings.fetching.network_guard import Guard
from tidings.model.observed.outcome import Fetched

ROWS = rows()
BY_WHAT = {f"{row.id} {row.what}": row for row in ROWS}


def test_every_required_row_exists():
    """H-001 to H-052, H-113 to H-118 and H-143, each at least once and in order, with unique names."""
    assert list(list_required_ids()) == list(dict.fromkeys(row.id for row in sorted(ROWS, key=lambda row: row.id)))
    assert len(ROWS) == len(BY_WHAT)


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.id}-{n}" for n, row in enumerate(ROWS)])
def test_hostile_inputs_end_as_required(row):
    """REFUSE, BLOCK, FAIL, SAFE and LIMIT: the outcome is the required one and in time, and only
    the servers of the row are contacted.
    """
    with Stage() as stage:
        result = act(row.scene(stage))
        got = row.see(stage, result)

    assert row.expected == got
    assert result.seconds < 10 * row.most_seconds


def do_nothing(*_: Any, **__: Any) -> None:
    """Do nothing, in place of a refusal."""


HOLES: list[tuple[str, object, str, object]] = [
    ("H-001 http://127.0.0.1:8080/", Guard, "fault", lambda guard, address: ""),
    ("H-015 a name that now leads to 127.0.0.1", Guard, "fault", lambda guard, address: ""),
    ("H-016 302 to http://[::1]/", Guard, "fault", lambda guard, address: ""),
    ("H-003 http://2130706433/", address, "_ipv4", lambda url, host: "127.0.0.1"),
    ("H-020 http://user:pw@127.0.0.1/", address, "_authority", lambda url, scheme, authority: ("127.0.0.1", 80)),
    ("H-028 http://example.com:22/", address, "_port", lambda url, scheme, text: int(text)),
    ("H-032 header Host: 'evil.example'", address, "OWN_HEADERS", frozenset()),
    (
        "H-033 302 to another host and back, with X-Api-Key and cookie",
        redirects,
        "headers_for",
        lambda url, first, headers: headers,
    ),
    ("H-034 302 https to http with Cookie", client, "refuse_downgrade", do_nothing),
    ("H-037 Set-Cookie: a=b; Domain=com", aiohttp, "DummyCookieJar", lambda: aiohttp.CookieJar(unsafe=True)),
    ("H-042 no length, closed", answers, "framing_of", lambda headers, encoded: "length"),
    ("H-046 gzip 50 times", decoders, "MAX_ENCODINGS", 60),
    ("H-051 2,000 times 100 Continue", connector, "MAX_INFORMATIONAL", 5_000),
    ("H-052 three headers of 30 KB", connector, "MAX_HEADER_BYTES", 10**9),
    ("H-113 robots.txt: a byte-order mark", robots, "_relevant", lambda lines, agent: iter(())),
    ("H-115 Crawl-delay: 1e9", robots, "MAX_CRAWL_DELAY_SECONDS", 1e12),
    ("H-116 Retry-After: 1", answers, "SHORTEST_PAUSE", 0),
    (
        "H-118 200 with Content-Range",
        client.Client,
        "_read_page",
        lambda self, way, response: self._body(way, response),
    ),
    ("H-143 gzip cut in half, no length", decoders._Zlib, "finish", do_nothing),
]


@pytest.mark.parametrize(
    ("name", "place", "attribute", "hole"), HOLES, ids=[f"{hole[0][:5]}-{n}" for n, hole in enumerate(HOLES)]
)
def test_row_fails_without_its_protection(monkeypatch, name, place, attribute, hole):
    """With the responsible part of the code removed, the row has another outcome."""
    row: Row = BY_WHAT[name]
    monkeypatch.setattr(place, attribute, hole)
    address.parse.cache_clear()
    redirects.target_of.cache_clear()
    try:
        with Stage() as stage:
            seen = row.see(stage, act(row.scene(stage)))
    finally:
        address.parse.cache_clear()
        redirects.target_of.cache_clear()

    assert row.expected != seen


ODD: list[tuple[Any, str, dict[str, object]]] = [
    (whole(body=b"x" * 2_000), "size", {"max_body_bytes": 1_999}),
    (whole(body=b"x" * 2_000), "fetched", {"max_body_bytes": 2_000}),
    (whole("Content-Type: text/html; charset=rot13"), "fetched", {}),
    (raw(b"SSH-2.0-OpenSSH_9.2\r\n"), "framing", {}),
    (raw(b"\x16\x03\x01\x02\x00"), "framing", {}),
    (raw(b""), "net", {}),
    (lambda seen, wire: wire.reset(), "net", {}),
    (raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), "request", {}),
    (whole("X-Odd: \xff\xfe", "ETag: \xff"), "fetched", {}),
    (raw(b"HTTP/1.1 200 OK\r\n\x00: x\r\nContent-Length: 1\r\n\r\nx"), "framing", {}),
]


@pytest.mark.parametrize(("answer", "expected", "changes"), ODD, ids=map(str, range(len(ODD))))
def test_unusual_answers_are_values(answer, expected, changes):
    """An answer that is no HTTP, too large, or has unusual headers is an outcome of the right kind,
    never an exception.
    """
    with WebServer() as server:
        server.pages["/"] = answer
        [outcome] = ask(server.url(), using=settings(**changes))

    assert expected == kind_of(outcome)


def test_silent_server_frees_its_slot_at_the_deadline():
    """H-050: it accepts the connection and never reads or writes; the next request has its turn."""
    with WebServer() as server:
        server.connect = lambda wire: wire.hang()
        outcomes = ask(server.url(), server.url(), using=settings(total_seconds=0.2))

    assert ["net", "net"] == [kind_of(outcome) for outcome in outcomes]


def test_set_cookie_is_not_stored_with_a_version():
    """H-037: the headers of an outcome have no cookie."""
    with WebServer() as server:
        server.pages["/"] = Page(b"x", [("Set-Cookie", "a=b; Domain=com")])
        [outcome] = ask(server.url())

    assert isinstance(outcome, Fetched)
    assert "set-cookie" not in outcome.headers


def test_brotli_bomb_is_a_bomb():
    """The bomb of H-045 has a ratio above 10,000 to 1."""
    assert 64 * 2**20 > 10_000 * len(brotli_bomb(64))
