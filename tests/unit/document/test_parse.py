import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.document.parse import parse


def test_a_page_is_read_whole():
    """Charset, title, words, links with their base."""
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


def test_a_picture_has_no_text_and_its_own_hash():
    """A picture is compared by its body only."""
    document = parse(b"GIF89a x", "text/html")

    assert ("binary", True, hashlib.sha256(b"GIF89a x").hexdigest()) == (
        document.media,
        document.textless,
        document.sha256,
    )


def test_what_cannot_be_read_safely_says_so():
    """A refused page is a document with a problem, not an empty one and not an exception."""
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
def test_too_much_is_a_problem(data, reason):
    """What cannot be compared within a second and 200 MB says so."""
    assert f"could not compare: it has {reason}" == parse(data).problem


def test_a_known_charset_decides():
    """A stored version is read as it was read then, whatever its header says."""
    data = "naïve".encode()

    assert ["naïve"] == parse(data, "text/html; charset=iso-8859-1", charset="utf-8").tokens


@given(
    st.binary(max_size=300),
    st.sampled_from([None, "text/html", "application/json", "application/xml", "text/plain", "application/pdf"]),
)
def test_any_body_gives_a_document(data, content_type):
    """No bytes raise, whatever they are called; the same bytes give the same document."""
    document = parse(data, content_type)

    assert document.canonical == parse(data, content_type).canonical
    assert len(document.tokens) == document.words
