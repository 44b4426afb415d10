"""Damaged responses: what a server, proxy or firewall may answer instead of a page.

```
for name, answer in damage(page, "text/html; charset=utf-8", seed=1):
    server.pages["/a"] = answer
```
Deterministic by seed. None of them is the page, and none of them is a change of it: a cut body, a broken encoding, letters broken on
their way, walls, log-ins, errors and maintenance that call themselves 200, nothing at all, half a page under a correct length.
"""

from __future__ import annotations

import gzip
import random
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import brotli

from tests import blocked_pages
from tests.fakes import Answer, Page, Seen, Wire
from tidings import zstd

Made = tuple[str, Answer]
HTML = "text/html; charset=utf-8"
FEWEST_WORDS_LEFT, MOST_WORDS_LEFT = 0.05, 0.9


@dataclass(frozen=True, slots=True)
class Original:
    """The page that is damaged, and the dice."""

    body: bytes
    content_type: str
    dice: random.Random

    def cut(self, data: bytes | None = None) -> int:
        """Return a place inside a body, neither at its start nor at its end."""
        size = len(self.body if data is None else data)
        return self.dice.randint(max(1, int(size * FEWEST_WORDS_LEFT)), max(1, int(size * MOST_WORDS_LEFT)))

    def wire(self, head: str, body: bytes, *, reset: bool = False) -> Answer:
        """Return a behaviour that sends these bytes and leaves."""
        data = f"HTTP/1.1 200 OK\r\nContent-Type: {self.content_type}\r\n{head}\r\n".encode("latin-1") + body

        def act(seen: Seen, wire: Wire) -> None:
            wire.send(data)
            if reset:
                wire.reset()
            else:
                wire.close()

        return act

    def page(self, body: bytes, **headers: str) -> Page:
        """Return a page under a correct length."""
        more = [(name.replace("_", "-"), value) for name, value in headers.items()]
        return Page(body, [("Content-Type", self.content_type), *more])


def damage(body: bytes, content_type: str = HTML, *, seed: int = 0, count: int = 200, first: int = 0) -> Iterator[Made]:
    """Yield `count` damaged responses for a page, each with a name of its own (`007 framing: reset
    at 120`); all ways take turns.

    `first` is the way that begins.
    """
    original = Original(body, content_type, random.Random(f"{seed}/{len(body)}"))
    ways = _ways(body, content_type)
    for number in range(first, first + count):
        kind, way = ways[number % len(ways)]
        name, answer = way(original)
        yield f"{number:03d} {kind}: {name}", answer


def kind_of(name: str) -> str:
    """Return the kind of damage of a response's name."""
    return name[4:].partition(":")[0]


Way = tuple[str, Callable[[Original], Made]]


def _ways(body: bytes, content_type: str) -> list[Way]:
    """Return the ways in which this page can be damaged so that it shows: only a body with an end
    breaks off, only letters break.
    """
    ways = [*_of("framing", _FRAMING), *_of("content encoding", _ENCODING)]
    ways += [way for kind, made in _INSTEAD.items() for way in _of(kind, made)]
    if b"</html" in body[-2_000:].lower() or body.lstrip().startswith((b"{", b"[", b"<?xml", b"<rss", b"<feed")):
        ways += _of("half a page", _HALF)
    if "html" in content_type:
        ways += _of("collapsed", (_few_words, _menu_only))
    if not body.isascii() and "utf-8" in content_type.lower():
        ways += _of("letters", _LETTERS)
    return ways


def _of(kind: str, ways: Sequence[Callable[[Original], Made]]) -> list[Way]:
    return [(kind, way) for way in ways]


# -- framing ---------------------------------------------------------------------------------------------------------------------


def _short_of_length(page: Original) -> Made:
    at = page.cut()
    return f"cut at {at} of its length", page.wire(f"Content-Length: {len(page.body)}\r\n", page.body[:at])


def _reset(page: Original) -> Made:
    at = page.cut()
    return f"reset at {at}", page.wire(f"Content-Length: {len(page.body)}\r\n", page.body[:at], reset=True)


def _chunks(body: bytes, size: int) -> bytes:
    parts = (body[at : at + size] for at in range(0, len(body), size))
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)


def _chunk_without_end(page: Original) -> Made:
    at = page.cut()
    return f"chunks end at {at}", page.wire("Transfer-Encoding: chunked\r\n", _chunks(page.body[:at], 1_000))


def _cut_chunk(page: Original) -> Made:
    data = _chunks(page.body, 4_096)
    at = page.cut(data)
    return f"cut inside a chunk at {at}", page.wire("Transfer-Encoding: chunked\r\n", data[:at])


def _two_lengths(page: Original) -> Made:
    at = page.cut()
    head = f"Content-Length: {len(page.body)}\r\nContent-Length: {at}\r\n"
    return "two lengths", page.wire(head, page.body[:at])


def _partial(page: Original) -> Made:
    at = page.cut()
    headers = [("Content-Type", page.content_type), ("Content-Range", f"bytes 0-{at - 1}/{len(page.body)}")]
    return f"206 of {at} bytes", Page(page.body[:at], headers, status=206)


_FRAMING = (_short_of_length, _reset, _chunk_without_end, _cut_chunk, _two_lengths, _partial)


# -- content encoding ------------------------------------------------------------------------------------------------------------


def _cut_encoded(name: str, encode: Callable[[bytes], bytes]) -> Callable[[Original], Made]:
    def make(page: Original) -> Made:
        whole = encode(page.body)
        part = whole[: page.cut(whole)]
        if page.dice.random() < 0.5:
            return f"cut {name} under a length", page.page(part, Content_Encoding=name)
        return f"cut {name} in whole chunks", page.wire(
            f"Content-Encoding: {name}\r\nTransfer-Encoding: chunked\r\n", _chunks(part, 2_000) + b"0\r\n\r\n"
        )

    return make


def _wrong_checksum(page: Original) -> Made:
    whole = bytearray(gzip.compress(page.body, mtime=0))
    whole[-6] ^= 0xFF
    return "gzip with a wrong checksum", page.page(bytes(whole), Content_Encoding="gzip")


def _flip_bit(page: Original) -> Made:
    whole = bytearray(gzip.compress(page.body, mtime=0))
    at = page.cut(bytes(whole))
    whole[at] ^= 1 << page.dice.randrange(8)
    return f"gzip with a flipped bit at {at}", page.page(bytes(whole), Content_Encoding="gzip")


def _not_encoded(page: Original) -> Made:
    return "says gzip and is none", page.page(page.body, Content_Encoding="gzip")


def _unknown_encoding(page: Original) -> Made:
    return "an unknown encoding", page.page(page.body[::-1], Content_Encoding="x-secret")


_ENCODING = (
    _cut_encoded("gzip", lambda body: gzip.compress(body, mtime=0)),
    _cut_encoded("deflate", zlib.compress),
    _cut_encoded("br", brotli.compress),
    _cut_encoded("zstd", zstd.compress),
    _wrong_checksum,
    _flip_bit,
    _not_encoded,
    _unknown_encoding,
)


# -- letters ---------------------------------------------------------------------------------------------------------------------


def _twice(page: Original) -> Made:
    text = page.body.decode("utf-8", "replace")
    broken = "".join(chr(byte) if byte in _UNDEFINED else bytes([byte]).decode("cp1252") for byte in text.encode())
    return "letters encoded twice", page.page(broken.encode())


def _question_marks(page: Original) -> Made:
    return "letters as question marks", page.page(page.body.decode("utf-8", "replace").encode("ascii", "replace"))


def _lose_part(page: Original) -> Made:
    return "letters lost", page.page(page.body.decode("ascii", "replace").encode())


def _wrong_label(page: Original) -> Made:
    label = page.dice.choice(("windows-1252", "iso-8859-1", "koi8-r", "utf-16", "shift_jis", "nonsense"))
    return f"labelled {label}", Page(page.body, [("Content-Type", f"text/html; charset={label}")])


_UNDEFINED = frozenset({0x81, 0x8D, 0x8F, 0x90, 0x9D})
_LETTERS = (_twice, _question_marks, _lose_part, _wrong_label)


# -- half a page -----------------------------------------------------------------------------------------------------------------


def _half(page: Original) -> Made:
    at = page.cut()
    return f"half a page: {at} bytes", page.page(page.body[:at])


def _half_in_chunks(page: Original) -> Made:
    at = page.cut()
    body = _chunks(page.body[:at], 3_000) + b"0\r\n\r\n"
    return f"half a page in whole chunks: {at} bytes", page.wire("Transfer-Encoding: chunked\r\n", body)


def _half_gzip(page: Original) -> Made:
    at = page.cut()
    body = gzip.compress(page.body[:at], mtime=0)
    return f"half a page in whole gzip: {at} bytes", page.page(body, Content_Encoding="gzip")


def _half_unframed(page: Original) -> Made:
    at = page.cut()
    return f"half a page, ended by the connection: {at} bytes", page.wire("", page.body[:at])


_HALF = (_half, _half_in_chunks, _half_gzip, _half_unframed)


# -- next to nothing left --------------------------------------------------------------------------------------------------------


def _few_words(page: Original) -> Made:
    head, words = _head(page.body), _words(page.body)
    left = words[: len(words) // 10]
    return f"{len(left)} words are left", page.page(head + b"<body><p>" + b" ".join(left) + b"</p></body></html>")


def _menu_only(page: Original) -> Made:
    links = re.findall(rb"<a\b[^>]*>[^<]{1,40}</a>", page.body)
    left = links[: max(1, len(_words(page.body)) // 30)]
    return f"{len(left)} links are left", page.page(_head(page.body) + b"<body>" + b" ".join(left) + b"</body></html>")


def _head(body: bytes) -> bytes:
    return body[: max(body.lower().find(b"<body"), 0)] or b"<html>"


def _words(body: bytes) -> list[bytes]:
    inside = body[max(body.lower().find(b"<body"), 0) :]
    unseen = rb"<(script|style|noscript)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>"
    return re.sub(unseen, b" ", inside, flags=re.DOTALL | re.IGNORECASE).split()


# -- something else --------------------------------------------------------------------------------------------------------------


def _maker(page: Original) -> Made:
    name, _, body = page.dice.choice(blocked_pages.MAKERS)
    status = page.dice.choice((200, 200, 200, 403, 429, 503))
    return f"{status} {name}", Page(body.encode(), [("Content-Type", HTML)], status=status)


def _sentence(
    name: str, rows: Sequence[tuple[str, str]], *, statuses: Sequence[int] = (200,)
) -> Callable[[Original], Made]:
    def make(page: Original) -> Made:
        language, text = page.dice.choice(rows)
        status = page.dice.choice(statuses)
        body = blocked_pages.page(text, f"<h1>{text}</h1><p>example.org")
        return f"{status} {name} in {language}", Page(body.encode(), [("Content-Type", HTML)], status=status)

    return make


def _login(page: Original) -> Made:
    language, title, text = page.dice.choice(blocked_pages.LOGINS)
    body = blocked_pages.page(
        title, f"<p>{text}<form><input name=user><input type=password name=word><button>{title}</button></form>"
    )
    return f"log-in in {language}", Page(body.encode(), [("Content-Type", HTML)])


def _empty(page: Original) -> Made:
    body = page.dice.choice(
        (b"", b"\n", b"\xef\xbb\xbf", b"<html></html>", b"<!doctype html><html><body></body></html>")
    )
    return f"nothing: {body!r}", page.page(body)


def _status(page: Original) -> Made:
    status = page.dice.choice((400, 401, 404, 410, 500, 502, 504, 520, 429, 503))
    return f"{status} with a part of the page", Page(
        page.body[: page.cut()], [("Content-Type", page.content_type)], status=status
    )


def _elsewhere(page: Original) -> Made:
    status, place = page.dice.choice((301, 302, 303, 307)), page.dice.choice(("/nowhere", "", "http://", "//["))
    return f"{status} to {place!r}", Page(b"", [("Location", place)], status=status)


def _not_modified(page: Original) -> Made:
    return "304 that nobody asked for", Page(b"", status=304)


def _data(page: Original) -> Made:
    body = page.dice.choice(
        (b'{"error":"rate limit exceeded"}', b"[]", b"null", b'{"message":"Internal server error"}')
    )
    return f"data: {body.decode()}", Page(body, [("Content-Type", "application/json")])


def _plain(page: Original) -> Made:
    body = page.dice.choice((b"Service Unavailable", b"upstream request timeout", b"error code: 1020", b"OK"))
    return f"plain text: {body.decode()}", Page(body, [("Content-Type", "text/plain")])


def _trace(page: Original) -> Made:
    body = (
        b"Traceback (most recent call last):\n" + b'  File "/srv/app.py", line 3, in view\n' * 5 + b"KeyError: 'id'\n"
    )
    return "a stack trace", Page(body, [("Content-Type", "text/plain")])


_INSTEAD: dict[str, Sequence[Callable[[Original], Made]]] = {
    "wall": (
        _maker,
        _maker,
        _sentence("a page for robots", blocked_pages.ROBOTS),
        _sentence("a refusal", blocked_pages.REFUSALS, statuses=(200, 403)),
    ),
    "soft error": (
        _sentence("not found", blocked_pages.NOT_FOUND, statuses=(200, 404)),
        _sentence("maintenance", blocked_pages.MAINTENANCE, statuses=(200, 503)),
        _sentence("out of order", blocked_pages.OUT_OF_ORDER, statuses=(200, 500)),
    ),
    "log-in": (_login,),
    "empty": (_empty,),
    "status": (_status, _elsewhere, _not_modified),
    "not a page": (_data, _plain, _trace),
}
