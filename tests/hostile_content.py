"""The hostile inputs of `docs/design/hostile.md` about the content of a body (H-053 to H-074,
H-120), for tests and benchmarks.

Each row is played without a network and without a store: bodies go through the examination of a fetched body, texts of users through
the language. What only the whole product can answer of these ids stands in `hostile_product`.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.fakes import SocketRecorder
from tests.hostile import Word
from tidings.detection.ask.summary import summary
from tidings.detection.job.contract import Body, Examination, Job, Wanted
from tidings.detection.job.examiner import examine
from tidings.document.extract import extract
from tidings.document.parse import parse
from tidings.document.select.extraction import Extraction
from tidings.language import parser
from tidings.model.watch.interest import Selector
from tidings.model.watch.sentinel import Interest
from tidings.presentation.writing import one_line

CANARY = "canary-7f3a"
HEAD = "Create Sentinel s Using https://x.example Monitor"
ANY = Interest("any")
HTML, JSON, XML = "text/html", "application/json", "application/xml"


@dataclass(frozen=True, slots=True)
class ContentRow:
    """One hostile input, what its row asks for, and a story that returns what is to be seen. Seconds are of this process."""

    id: str
    what: str
    word: Word
    expected: str
    story: Callable[[], str]
    most_seconds: float = 1.0
    most_mebibytes: float = 200.0


def _examine(old: str | bytes, new: str | bytes, content_type: str = HTML, interest: Interest = ANY) -> Examination:
    before, after = (
        Body(data=one if isinstance(one, bytes) else one.encode(), content_type=content_type, url="http://x.example/")
        for one in (old, new)
    )
    wanted = (Wanted(key=1, reference=1, expression=interest),)
    return examine(Job(new=after, references={1: before}, known={}, wanted=wanted))


def _report(old: str | bytes, new: str | bytes, content_type: str = HTML, interest: Interest = ANY) -> str:
    """Return what is reported to somebody who watches a page that was `old` and is `new`; all of it can be stored as UTF-8."""
    seen = _examine(old, new, content_type, interest)
    if seen.problem:
        return seen.problem
    reasons = [refused.reason for refused in seen.refused]
    texts = [summary(found.change) for found in seen.found]
    for found in seen.found:
        json.dumps(dataclasses.asdict(found.change), ensure_ascii=False).encode()
    return "; ".join(reasons or texts) or "nothing"


def _read(data: str | bytes, content_type: str = HTML) -> str:
    """Return the words of a body, or why there are none."""
    document = parse(data if isinstance(data, bytes) else data.encode(), content_type)
    return document.problem or document.canonical.decode()


def _cut(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _charset(data: bytes, content_type: str) -> Callable[[], str]:
    """A body read twice, and beside it the same text in UTF-8: how it was read, and whether that is always so."""

    def story() -> str:
        first, second = (parse(data, content_type) for _ in range(2))
        same = "the same each time" if first == second else "now so, now so"
        return f"{first.canonical.decode()}, as {first.charset} by {first.charset_source}, {same}"

    return story


def _refuse(clause: str) -> Callable[[], str]:
    """A text of a user that is judged when it is saved."""

    def story() -> str:
        problems = parser.parse(f"{HEAD} {clause}").problems
        return f"refused at save, {problems[0].code}" if problems else "saved"

    return story


def _deep(depth: int) -> Callable[[], str]:
    return lambda: _report("<div>" * depth + "<p>one", "<div>" * depth + "<p>two")


def _file_in_feed() -> str:
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder) / "secret"
        secret.write_text(CANARY, encoding="utf-8")
        kind = f'<!DOCTYPE rss [<!ENTITY x SYSTEM "{secret.as_uri()}">]>'
        feed = f"<?xml version='1.0'?>{kind}<rss><channel><item><title>news &x;</title></item></channel></rss>"
        return f"canary in it: {CANARY in _read(feed, XML)}"


def _include() -> str:
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder) / "secret"
        secret.write_text(CANARY, encoding="utf-8")
        text = (
            f'<a xmlns:xi="http://www.w3.org/2001/XInclude">news<xi:include href="{secret.as_uri()}" parse="text"/></a>'
        )
        words = _read(text, XML)
        return f"{words.partition(' ')[0]}, canary in it: {CANARY in words}"


def _laughs() -> str:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    kind = f'<!DOCTYPE rss [<!ENTITY l0 "ha">{entities}]>'
    feed = f"<?xml version='1.0'?>{kind}<rss><channel><item><title>news &l9;</title></item></channel></rss>"
    return f"{len(_read(feed, XML)) < 10_000} that little is left of it"


def _parameter_entity() -> str:
    kind = '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:1/x"> %x;]>'
    with SocketRecorder() as recorder:
        words = _read(f"<?xml version='1.0'?>{kind}<a>news</a>", XML)
    return f"{words.split()[-1]}, {len(recorder.dials)} dials"


def _pattern(pattern: str, text: str) -> Callable[[], str]:
    return lambda: _report("b", text, interest=Interest("regex", pattern=pattern)) and "compared"


def _xpath() -> str:
    page = parse((f"<p>{'x' * 44}</p>" * 20_000).encode(), HTML, keep_tree=True)
    steps = "//*[count(//*)>0]" + "/ancestor::*[count(//*)>0]" * 10
    return extract(page, Extraction((Selector("xpath", steps),))).problem.partition(":")[0]


def _million_lines() -> str:
    old, new = (f"<br>{letter}" * 1_000_000 for letter in "ab")
    return _report(old, new)


def _million_plain_lines() -> str:
    old, new = (f"{letter}\n" * 1_000_000 for letter in "ab")
    return _report(old, new, "text/plain").partition(":")[0]


def _laid_bare() -> str:
    reported = _report("<p>pay ten now", "<p>pay e\u202eleven\u202c\rand\x00 no\ufffet now")
    return one_line(reported)


def content_rows() -> Iterator[ContentRow]:
    """Yield the table."""
    yield from _charset_rows()
    yield from _markup_rows()
    yield from _data_rows()
    yield from _text_rows()


def _charset_rows() -> Iterator[ContentRow]:
    cafe = "café au lait".encode()
    yield ContentRow(
        "H-053", "charset=rot13", "SAFE", "café au lait, as utf-8 by utf-8, the same each time",
        _charset(cafe, "text/plain; charset=rot13"),
    )  # fmt: skip
    yield ContentRow(
        "H-053", "charset=unicode_escape in a meta", "SAFE", "café au lait, as utf-8 by utf-8, the same each time",
        _charset(b"<meta charset=unicode_escape>" + cafe, HTML),
    )  # fmt: skip
    yield ContentRow(
        "H-054", "says UTF-8, is latin-1", "SAFE", "caf � au lait, as utf-8 by header, the same each time",
        _charset("café au lait".encode("latin-1"), "text/html; charset=utf-8"),
    )  # fmt: skip
    yield ContentRow(
        "H-055", "the header says utf-8, a meta utf-16", "SAFE", "café au lait, as utf-8 by header, the same each time",
        _charset(b"<meta charset=utf-16>" + cafe, "text/html; charset=utf-8"),
    )  # fmt: skip
    yield ContentRow(
        "H-055", "a meta says utf-16, the header nothing", "SAFE", "café au lait, as utf-8 by meta, the same each time",
        _charset(b"<meta charset=utf-16>" + cafe, HTML),
    )  # fmt: skip


def _markup_rows() -> Iterator[ContentRow]:
    deep = "could not compare: its elements are nested more than 5,000 deep"
    yield ContentRow("H-057", "<div> 300 deep", "SAFE", '"one" → "two"', _deep(300))
    yield ContentRow("H-057", "<div> 5,000 deep", "SAFE", '"one" → "two"', _deep(4_990))
    yield ContentRow("H-057", "<div> 100,000 deep", "LIMIT", deep, _deep(100_000))
    yield ContentRow(
        "H-058", "5,000,000 times <", "LIMIT", "could not compare: it has more than 300,000 tags",
        lambda: _report("one", "<" * 5_000_000), 3.0,
    )  # fmt: skip
    yield ContentRow(
        "H-059", "NUL, U+FFFE, a lone CR, bidi overrides", "SAFE", 'pay "eleven and no t" (was "ten") now', _laid_bare,
    )  # fmt: skip
    yield ContentRow("H-060", "no <html>", "SAFE", '"one" → "two"', lambda: _report("one", "two"))
    yield ContentRow(
        "H-060", "two <body>", "SAFE", 'one "three" (was "two")',
        lambda: _report("<body>one <body>two", "<body>one <body>three"),
    )  # fmt: skip
    yield ContentRow(
        "H-060", "an unclosed <script> that hides the page", "SAFE", 'removed "news of today"',
        lambda: _report("<p>here <p>news of today", "<p>here <script><p>news of today"),
    )  # fmt: skip


def _data_rows() -> Iterator[ContentRow]:
    yield ContentRow(
        "H-056", 'a surrogate in JSON: "\\ud800"', "SAFE", 'a "� one" → "� two"',
        lambda: _report('{"a": "\\ud800 one"}', '{"a": "\\ud800 two"}', JSON),
    )  # fmt: skip
    yield ContentRow("H-061", "an entity of a feed names a file", "SAFE", "canary in it: False", _file_in_feed)
    yield ContentRow("H-062", "billion laughs", "LIMIT", "True that little is left of it", _laughs)
    yield ContentRow("H-063", "a parameter entity names an address", "BLOCK", "news, 0 dials", _parameter_entity)
    yield ContentRow("H-064", "XInclude of a file", "SAFE", "news, canary in it: False", _include)
    yield ContentRow(
        "H-065", "100,000 nested arrays", "FAIL", '"1" → "2"',
        lambda: _report("[" * 100_000 + "1", "[" * 100_000 + "2", JSON),
    )  # fmt: skip
    yield ContentRow(
        "H-066", "an integer of 5,000 digits", "SAFE", f'"…{"1" * 58}…" → "…{"1" * 58}…"',
        lambda: _report(f"[{'1' * 5_000}]", f"[{'1' * 4_999}2]", JSON).partition(":")[0],
    )  # fmt: skip
    yield ContentRow(
        "H-066", "NaN and 1e999", "SAFE", 'number 2 "1e999" → "1e998"',
        lambda: _report("[NaN, 1e999]", "[NaN, 1e998]", JSON),
    )  # fmt: skip
    yield ContentRow(
        "H-067", "a key twice: both values are text", "SAFE", 'a "1" → "3"',
        lambda: _report('{"a": 1, "a": 2}', '{"a": 3, "a": 2}', JSON),
    )  # fmt: skip


def _text_rows() -> Iterator[ContentRow]:
    megabyte = "a" * 1_000_000
    yield ContentRow("H-068", "(a+)+$ on a megabyte", "LIMIT", "compared", _pattern("(a+)+$", f"{megabyte}b"), 0.5)
    yield ContentRow(
        "H-069", r"\s+$ on 50,000 spaces", "LIMIT", "compared", _pattern(r"\s+$", f"x{' ' * 50_000}x"), 0.1
    )
    for pattern in ("(?P<x>", "a" * 100_000, "(a{1000}){1000}"):
        yield ContentRow("H-070", _cut(pattern, 20), "REFUSE", "refused at save, E11", _refuse(f'regex "{pattern}"'))
    for function in (
        "unparsed-text('file:///etc/passwd')",
        "json-doc('x')",
        "doc('x')",
        "environment-variable('HOME')",
    ):
        clause = f'all words Select xpath "{function}"'
        yield ContentRow("H-071", function, "REFUSE", "refused at save, E06", _refuse(clause))
    yield ContentRow("H-072", "jq env", "REFUSE", "refused at save, E03", _refuse('all words Select jq "env"'))
    yield ContentRow("H-073", "//*[count(//*)>0]/ancestor::*… 10 deep", "LIMIT", "could not compare", _xpath)
    nested = ":not(" * 1_000 + "a" + ")" * 1_000
    yield ContentRow(
        "H-074", ":not 1,000 deep", "REFUSE", "refused at save, E06", _refuse(f'all words Select css "{nested}"')
    )
    yield ContentRow(
        "H-120",
        "1,000,000 changed lines of HTML",
        "LIMIT",
        "could not compare: it has more than 300,000 tags",
        _million_lines,
        2.0,
    )
    yield ContentRow(
        "H-120",
        "1,000,000 changed lines of text",
        "LIMIT",
        "could not compare",
        _million_plain_lines,
        2.0,
    )


CONTENT_ROWS = tuple(content_rows())
