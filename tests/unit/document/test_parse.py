"""A body becomes a document."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.document.parse import parse


def test_page_is_read_completely():
    """It has charset, title, words, and links with their base."""
    document = parse(
        "<meta charset=windows-1251><title>Цены</title><base href=/b/><p>Цена 5<a href=x>y</a>".encode("cp1251"),
        "text/html",
        url="http://x.org/a",
    )

    assert ("html", "cp1251", "meta", "Цены") == (
        document.media,
        document.charset,
        document.charset_source,
        document.title,
    )
    assert ["Цена", "5y"] == document.tokens
    assert (("x",), "http://x.org/b/") == (document.links, document.base)


def test_picture_has_only_its_hash():
    """It is compared by its body."""
    document = parse(b"GIF89a x", "text/html")

    assert ("binary", True, hashlib.sha256(b"GIF89a x").hexdigest()) == (
        document.media,
        document.textless,
        document.sha256,
    )


def test_unsafe_page_has_a_problem():
    """The document is not empty, and nothing is raised."""
    document = parse(b"<div>" * 20_000 + b"text", "text/html")

    assert "could not compare: its elements are nested more than 5,000 deep" == document.problem


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<" * 5_000_000, "more than 700,000 words"),
        (b"+" * 700_001, "more than 700,000 words"),
        (b"a " * 700_001, "more than 700,000 words"),
        (b"<img src=a>" * 25_001, "more than 25,000 links and images"),
        (b"[" + b"1," * 100_001 + b"1]", "more than 100,000 values"),
    ],
    ids=["H-058", "symbols", "words", "images", "values"],
)
def test_page_that_is_too_large_has_a_problem(data, reason):
    """It cannot be compared within a second and 200 MB."""
    assert f"could not compare: it has {reason}" == parse(data).problem


def test_known_charset_decides():
    """A stored version is read as it was read first, whatever its header says."""
    data = "naïve".encode()

    assert ["naïve"] == parse(data, "text/html; charset=iso-8859-1", charset="utf-8").tokens


@given(
    st.binary(max_size=300),
    st.sampled_from([None, "text/html", "application/json", "application/xml", "text/plain", "application/pdf"]),
)
def test_every_body_gives_a_document(data, content_type):
    """No bytes raise, for any content type, and the same bytes give the same document."""
    document = parse(data, content_type)

    assert document.canonical == parse(data, content_type).canonical
    assert len(document.tokens) == document.words


@pytest.mark.parametrize("content_type", ["text/html", "text/plain", "text/csv"])
def test_false_charset_is_noted(content_type):
    """Those who add the page are warned; a right declaration has no note."""
    data = "Frühstück kostet fünf Euro".encode("cp1252")

    noted = parse(data, f"{content_type}; charset=utf-8")
    right = parse(data, f"{content_type}; charset=windows-1252")

    assert (
        "the page says that its charset is utf-8, and most of its letters are not; they are read as windows-1252"
        == noted.note
    )
    assert ("", noted.text) == (right.note, right.text)
