"""The hostile inputs of `docs/design/hostile.md` that concern the whole product: saving, headers,
versions.

They stand beside `hostile_rows`, which play the same ids against the client alone.
"""

from __future__ import annotations

import hashlib
import itertools
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import trustme

from tests.fakes import Page, Seen, WebServer, Wire
from tests.hostile import Word
from tests.hostile_rows import raw
from tests.world import World, serve
from tidings.clock import HOUR, MINUTE, Duration
from tidings.errors import TidingsError

EVERY = "Monitor all words Fetch every 1 hour slack 1 s"
TEXT = " ".join(f"Line {number} of the timetable is as long as any." for number in range(100))


@dataclass(frozen=True, slots=True)
class ProductRow:
    """One hostile input, what its row asks for, and a story that returns what is to be seen."""

    id: str
    what: str
    word: Word
    expected: str
    story: Callable[[World], str]


def _save(clause: str) -> Callable[[World], str]:
    def story(world: World) -> str:
        world.page("/a", "<p>one")
        try:
            world.add(f"Create Sentinel s Using {{/a}} {EVERY} {clause}")
        except TidingsError:
            return f"refused at save; {len(world.server.seen)} arrived"
        return "saved"

    return story


def _live(world: World, *durations: Duration, then: Callable[[int], None] = lambda step: None) -> None:
    """Let the service live for these times, and something happen after each."""
    with serve(world) as service:
        for step, duration in enumerate(durations):
            service.pass_time(duration)
            then(step)


def _polls(world: World) -> str:
    """Return how the polls ended, oldest first, repetitions once."""
    reported = [f"{poll.outcome} {poll.kind}".strip() for poll in world.polls()]
    return ", ".join(one for number, one in enumerate(reported) if number == 0 or one != reported[number - 1])


def _other_host(world: World) -> str:
    with WebServer("127.0.0.2") as other:
        other.pages["/b"] = Page(b"<p>there", [("Content-Type", "text/html")])
        world.server.pages["/a"] = Page(status=302, headers=[("Location", other.url("/b"))])
        world.add(f'Create Sentinel s Using {{/a}} {EVERY} Header "X-Api-Key" "k" Header "Cookie" "a=b"')
        _live(world, MINUTE)
        [first], [second] = world.server.seen, other.seen
        names = {"x-api-key", "cookie"}
        return f"{_polls(world)}; {len(names & set(first.headers))} and {len(names & set(second.headers))} headers"


def _downgrade(world: World) -> str:
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.2").configure_cert(tls)
    pem = Path(world.directory.parent) / "ca.pem"
    authority.cert_pem.write_to_path(str(pem))
    with WebServer("127.0.0.2", tls=tls) as secure:
        world.page("/b", "<p>in clear")
        secure.pages["/"] = Page(status=302, headers=[("Location", world.server.url("/b"))])
        world.add(f'Create Sentinel s Using {secure.url()} {EVERY} Header "X-Api-Key" "k" Trust "{pem}"')
        _live(world, MINUTE)
        return f"{_polls(world)}; {len(secure.seen)} and {len(world.server.seen)} arrived"


def _two_cookies(world: World) -> str:
    world.page("/a", "<p>yours", headers=[("Content-Type", "text/html"), ("Set-Cookie", "session=x; Path=/")])
    for who in "ab":
        world.add(f'Create Sentinel {who} Using {{/a}} {EVERY} Header "Cookie" "who={who}"')
    _live(world, 90 * MINUTE)
    sent = {seen.headers.get("cookie", "none") for seen in world.server.seen}
    return f"{len({poll.page_id for poll in world.polls()})} pages; {' '.join(sorted(sent))}"


def _unframe(world: World) -> str:
    body = f"<p>{TEXT}".encode()
    head = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n"
    world.server.pages["/a"] = raw(head + body)
    world.add(f"Create Sentinel s Using {{/a}} {EVERY}")

    def cut(step: int) -> None:
        world.server.pages["/a"] = raw(head + body[: len(body) * 2 // 5])

    _live(world, 30 * MINUTE, HOUR, then=cut)
    return _polls(world)


def _unframe_once(world: World) -> str:
    body = f"<p>{TEXT}".encode()
    head = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n"
    world.server.pages["/a"] = raw(head + body)
    world.add(f"Create Sentinel s Using {{/a}} {EVERY}")

    def cut(step: int) -> None:
        part = body if step else body[: len(body) * 2 // 5]
        world.server.pages["/a"] = raw(head + part)

    _live(world, 30 * MINUTE, 31 * MINUTE, HOUR, then=cut)
    return f"{_polls(world)}; {len(world.changes())} changes"


def _constant_etag(world: World) -> str:
    world.page("/a", "<p>one", etag='"always"')
    world.add(f"Create Sentinel s Using {{/a}} {EVERY}")

    def change(step: int) -> None:
        world.page("/a", f"<p>{'two' if step == 0 else 'three'}", etag='"always"')

    _live(world, 90 * MINUTE, 24 * HOUR, 24 * HOUR, then=change)
    return f"{len(world.changes())} changes in two days"


def _no_content(world: World) -> str:
    world.page("/a", "<p>one")
    world.add(f"Create Sentinel s Using {{/a}} {EVERY}")

    def nothing(step: int) -> None:
        world.server.pages["/a"] = raw(b"HTTP/1.1 204 No Content\r\n\r\n")

    _live(world, 30 * MINUTE, HOUR, then=nothing)
    return f"{_polls(world)}; {len(world.versions())} version"


def _nonce(world: World) -> str:
    """A page with another nonce and another time at every request; how much of it is reported after the fifth poll."""
    world.flags["detect.second_polls"] = "true"  # as it is where nobody says otherwise
    requests = itertools.count()

    def answer(seen: Seen, wire: Wire) -> None:
        number = next(requests)
        nonce = hashlib.sha256(str(number).encode()).hexdigest()
        body = f"<h1>Shop</h1><p>{TEXT}</p><p>session {nonce}</p><p>it is 12:{number % 60:02}:30</p>".encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        wire.send(head + body)
        wire.close()

    world.server.pages["/a"] = answer
    world.add(f"Create Sentinel s Using {{/a}} {EVERY}")
    _live(world, 30 * MINUTE, *([HOUR] * 9))
    late = [change for change in world.changes() if int(change["from_version"].partition(".")[2]) > 5]
    return f"{sum(not change['quiet'] for change in late)} reported after five polls"


PRODUCT_ROWS = (
    ProductRow(
        "H-031", "Header with a line end", "REFUSE", "refused at save; 0 arrived", _save('Header "X" "a\r\nX-Evil: y"')
    ),
    ProductRow("H-032", "Header Host", "REFUSE", "refused at save; 0 arrived", _save('Header "Host" "evil.example"')),
    ProductRow(
        "H-032", "Header Content-Length", "REFUSE", "refused at save; 0 arrived", _save('Header "Content-Length" "5"')
    ),
    ProductRow(
        "H-032",
        "Header Transfer-Encoding",
        "REFUSE",
        "refused at save; 0 arrived",
        _save('Header "Transfer-Encoding" "chunked"'),
    ),
    ProductRow("H-033", "Headers of a page that moves to another host", "SAFE", "new; 2 and 0 headers", _other_host),
    ProductRow("H-034", "Header of a page that moves to http", "FAIL", "error redirect; 1 and 0 arrived", _downgrade),
    ProductRow("H-038", "Two sentinels with cookies of their own", "SAFE", "2 pages; who=a who=b", _two_cookies),
    ProductRow(
        "H-042",
        "no length, 40 % left, twice",
        "SAFE",
        "new, quarantined collapsed, changed",
        _unframe,
    ),
    ProductRow(
        "H-042",
        "no length, 40 % left, once",
        "SAFE",
        "new, quarantined collapsed, unchanged; 0 changes",
        _unframe_once,
    ),
    ProductRow("H-117", "an ETag that never changes", "SAFE", "2 changes in two days", _constant_etag),
    ProductRow("H-119", "a nonce and a time at every poll", "LIMIT", "0 reported after five polls", _nonce),
    ProductRow("H-118", "204 instead of the page", "FAIL", "new, error request; 1 version", _no_content),
)
