"""Changes as an Atom feed."""

import re
from xml.etree import ElementTree as ET

import pytest

from tests.unit.presentation.records import record
from tidings.presentation.atom import LONGEST_WORDS, MOST_CONTENT, NAMESPACE, FeedHead, entry, feed, identity

HEAD = FeedHead(
    id="urn:tidings:feed:x",
    title="price",
    updated="2023-11-14T22:13:20Z",
    address="http://127.0.0.1:8780/feeds/price.atom",
    generator="Tidings",
)
ATOM = f"{{{NAMESPACE}}}"
NOTICE = {
    "record": "problem",
    "event": "page.error",
    "sentinel": "price",
    "page": "3",
    "url": "https://shop.example/",
    "kind": "5xx",
    "summary": "the page cannot be watched for now",
    "detected_at": "2023-11-14T22:13:20.000000Z",
}
HOSTILE = {
    "markup": "<script>alert(1)</script>",
    "an attribute that ends": '"><img src=x onerror=alert(1)>',
    "an entity of a page": "&lt;script&gt;&nbsp;&#0;",
    "the end of CDATA": "]]><evil/>",
    "controls": "".join(map(chr, range(32))) + "\x7f\x85",
    "no characters of XML": "\ufffe\uffff\ud800\udfff",
    "another direction": "\u202etxt.exe",
    "a declaration": '<!DOCTYPE x [<!ENTITY a "b">]>&a;',
    "a template": "{{7*7}} ${7*7} %s",
}


def read(*records, presentation="only_change"):
    """Return the root of a feed with these records, parsed by an XML parser that is not ours."""
    text = feed(HEAD, [entry(one, presentation=presentation) for one in records])
    return ET.fromstring(text.encode())


def test_feed_has_what_the_standard_requires():
    """RFC 4287 §4.1: id, title, updated and an author, each once, in the feed; id, title and
    updated in each entry.
    """
    root = read(record(), NOTICE)
    entries = root.findall(f"{ATOM}entry")

    assert f"{ATOM}feed" == root.tag
    assert [HEAD.id, HEAD.title, HEAD.updated] == [root.findtext(ATOM + name) for name in ("id", "title", "updated")]
    assert "Tidings" == root.findtext(f"{ATOM}author/{ATOM}name")
    assert 2 == len(entries)
    for one in entries:
        assert all(1 == len(one.findall(ATOM + name)) for name in ("id", "title", "updated", "content"))


def test_entry_has_the_change():
    """It has the id of the change, headline, time and page, and old and new text as HTML."""
    (one,) = read(record()).findall(f"{ATOM}entry")
    link, content = one.find(f"{ATOM}link"), one.find(f"{ATOM}content")
    assert link is not None
    assert content is not None

    assert "urn:tidings:change:c1" == one.findtext(f"{ATOM}id")
    assert 'price: 1 text updated: "5" → "6"' == one.findtext(f"{ATOM}title")
    assert record()["detected_at"] == one.findtext(f"{ATOM}updated")
    assert record()["url"] == link.get("href")
    assert "html" == content.get("type")
    assert re.search("<del[^>]*>5</del>.*<ins[^>]*>6</ins>", content.text or "")


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("presentation", ["only_change", "table", "dual_frame"])
def test_page_cannot_break_the_feed(hostile, presentation):
    """H-077 to H-080, H-085: for every page, the feed is XML and its HTML has no element of the
    page.
    """
    shown = record(
        updated=[{"old": hostile, "new": f"{hostile}2"}], summary=hostile, url=f"https://x.example/{hostile}"
    )
    (one,) = read(shown, presentation=presentation).findall(f"{ATOM}entry")
    content = one.findtext(f"{ATOM}content") or ""

    assert not re.search("<(?:script|img|evil|!)", content)
    assert not re.search(r"<[^>]*\bonerror", content.replace("&quot;", ""))


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_notice_cannot_break_the_feed(hostile):
    """The error of a server is a stranger's text too (H-084)."""
    (one,) = read({**NOTICE, "summary": hostile, "kind": hostile}).findall(f"{ATOM}entry")

    assert not re.search("<(?:script|img|evil|!)", one.findtext(f"{ATOM}content") or "")


def test_entry_is_bounded():
    """Only a part of a megabyte is shown, and an address that cannot be followed is not linked."""
    long = record(inserted=["word " * 300_000] * 50, url="https://x.example/" + "a" * LONGEST_WORDS)
    (one,) = read(long).findall(f"{ATOM}entry")

    assert len((one.findtext(f"{ATOM}content") or "").encode()) <= MOST_CONTENT
    assert one.find(f"{ATOM}link") is None


def test_ids_are_stable():
    """A change and a notice keep their ids; another notice has another."""
    later = {**NOTICE, "detected_at": "2023-11-15T22:13:20.000000Z"}

    assert identity(record()) == identity(record(summary="in other words"))
    assert identity(NOTICE) == identity(dict(NOTICE))
    assert 3 == len({identity(one) for one in (NOTICE, later, record())})
