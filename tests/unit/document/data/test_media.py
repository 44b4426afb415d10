"""The kind of a body, from its first bytes and its content type."""

import pytest

from tidings.document.data.media import form_of, media_of_bytes, media_of_text, past_lead


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"%PDF-1.7\n", "pdf"),
        (b"\n%PDF-1.4", "pdf"),
        (b"\x89PNG\r\n\x1a\n....", "binary"),
        (b"PK\x03\x04....", "binary"),
        (b"RIFF....WEBP", "binary"),
        (b"BM\x36\x00\x00\x00", "binary"),
        (b"BMW sells cars", None),
        ("BMW sells caf\u00e9s".encode(), None),
        (b"OggS begins such a file", None),
        (b"RIFFs of guitar players", None),
        (b"The ftyp of a film", None),
        (b"wOFF wOFF said the dog", None),
        (b"OggS\x00\x02", "binary"),
        (b"GIF89a\x01\x00\x01\x00", "binary"),
        (b"\x00\x00\x00\x1cftypavif", "binary"),
        (b"\x1a\x45\xdf\xa3", "binary"),
        (b"<p>A file begins with %PDF-1.4", None),
        (b"A file begins with %PDF-1.4", None),
        (b'{"begins": "%PDF-1.4"}', None),
        (b"a,b\nx,%PDF-1.4", None),
        (b"<html>", None),
        (b"", None),
    ],
)
def test_first_bytes_show_what_is_no_text(data, expected):
    """A PDF or a picture is recognized whatever the server says; a text may mention their names,
    and begin with them.
    """
    assert expected == media_of_bytes(data)
    assert expected == media_of_bytes(data, "text/html")


def test_pdf_may_begin_later():
    """Its start may be anywhere in the first 1,024 bytes, as for readers of PDF, if the server says
    that it is one.
    """
    data = b"X-Junk: 1\r\n" + b"%PDF-1.4"

    assert ["pdf", None, None] == [media_of_bytes(data, text) for text in ("application/pdf", "text/plain", None)]
    assert media_of_bytes(b"<p>The document is away", "application/pdf") is None


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x89PNG\r\n", "PNG picture of 6 bytes"),
        (b"RIFF....WEBP" + bytes(2_000), "WebP picture of 2,012 bytes"),
        (b"RIFF....WAVE", "recording of 12 bytes"),
        (b"....ftyp", "file of 8 bytes"),
    ],
)
def test_body_without_text_is_named_with_its_size(data, expected):
    """The name says what it is."""
    assert expected == form_of(data)


@pytest.mark.parametrize(
    ("text", "content_type", "expected"),
    [
        ("<!doctype html><p>x", "text/plain", "html"),
        ("<!-- c --><HTML>", None, "html"),
        pytest.param("<!-- -->" * 500 + "<p>x", "text/html", "html", id="many comments"),
        pytest.param("<!-- -->" * 500 + "x", None, "text", id="many comments before a text"),
        ('<?xml version="1.0"?><!DOCTYPE html><html>', "application/xhtml+xml", "html"),
        ("<ul><li>x", None, "html"),
        ("hello <b>world</b>", None, "html"),
        ("hello", "text/html; charset=utf-8", "html"),
        ('<?xml version="1.0"?><rss version="2.0">', "text/html", "feed"),
        ("<feed xmlns='http://www.w3.org/2005/Atom'>", "application/atom+xml", "feed"),
        ("<rdf:RDF>", None, "feed"),
        ("<?xml version='1.0'?><urlset>", None, "xml"),
        ("<svg>", "image/svg+xml", "xml"),
        ('{"a": 1}', "text/plain", "json"),
        ("\n[1, 2]", None, "json"),
        ('{"a": 1}', "text/html", "json"),
        ("true", "application/json", "json"),
        ("# Title\n<p align=center>x</p>", "text/markdown", "text"),
        ("a,b\n1,2", "text/csv; header=present", "csv"),
        ("[a],b\n1,2", "text/csv", "csv"),
        ("land,rate,note\nNO,4.1,x\nSE,3.0,y", "text/plain", "csv"),
        ("land\trate\nNO\t4.1\nSE\t3.0", None, "csv"),
        ("well, this, is\nnot, sure", "text/plain", "text"),
        ("one, two\nthree, four\nfive, six", "text/plain", "text"),
        ("land,rate,note\nNO,4.1,x\nSE,3.0,y", "text/markdown", "text"),
        ("a < b and c > d", None, "text"),
        ("", None, "text"),
        ("", "text/html", "html"),
    ],
)
def test_content_decides_before_the_content_type(text, content_type, expected):
    """The beginning of a text decides; plain text and Markdown stay that unless they are a whole
    page.
    """
    assert expected == media_of_text(text, content_type)


@pytest.mark.parametrize(
    ("text", "content_type", "expected"),
    [
        ("<?xml version='1.0'?><r/>", None, 0),
        ("\n\t <?xml version='1.0'?><r/>", "text/html", 3),
        ("\ufeff<?xml version='1.0'?><r/>", None, 1),
        ("\n\ufeff<?xml version='1.0'?><r/>", None, 2),
        ("<!-- a --> <!-- b --><?xml version='1.0'?><r/>", None, 21),
        ("Warning: x on line 3\n<?xml version='1.0'?><r/>", "application/rss+xml", 21),
        ("Warning: x on line 3\n<?xml version='1.0'?><r/>", "text/plain", 0),
        ("<!-- a --><p>b", None, 0),
        ('\ufeff{"a": 1}', None, 1),
        ("<!-- <?xml version='1.0'?> -->", "text/html", 0),
        pytest.param("<!-- -->" * 500 + "x", None, 0, id="many comments"),
    ],
)
def test_text_before_xml_is_skipped(text, content_type, expected):
    """It is blanks, marks and comments before the declaration; if the server says XML, it is
    anything.
    """
    assert text[expected:] == past_lead(text, content_type)
