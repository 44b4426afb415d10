"""Detect the kind of a document: by its content first, then by its Content-Type (detection §5)."""

from __future__ import annotations

import re
from typing import Literal

from tidings.document.data.csv_rows import DECLARED, separator_of
from tidings.document.data.json_tree import GUARD

Media = Literal["html", "feed", "xml", "json", "csv", "text", "pdf", "binary"]

_BINARY = (
    b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b\x08", b"BM", b"OggS", b"ID3",
    b"\x7fELF", b"MZ", b"\xd0\xcf\x11\xe0", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\x00",
    b"wOFF", b"wOF2", b"OTTO", b"ttcf", b"\x00\x01\x00\x00", b"\x00\x00\x01\x00", b"SQLite format 3\x00", b"\x00asm", b"II*\x00", b"MM\x00*",
    b"MThd", b"FORM", b"RIFF", b"\x1a\x45\xdf\xa3", b"8BPS",
)  # fmt: skip
"""Signatures of binary formats: those of the WHATWG MIME standard, and of further archives,
programs and pictures.
"""

_GIF = (b"GIF87a", b"GIF89a")
_RIFF = frozenset({b"WEBP", b"WAVE", b"AVI "})
_BINARY_BYTE = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
"""A binary data byte of the standard: no text has one, though it may begin with the letters of a
signature.
"""

_PDF = b"%PDF-"
_BEGINS_PDF = re.compile(rb"[\s\xef\xbb\xbf]*%PDF-")
_TAG_IN_TEXT = re.compile(
    r"</?(?:a|article|b|body|br|center|dd|div|dl|dt|em|font|form|frameset|h[1-6]|head|hr|html|i|iframe|img|input|li|link|main|meta|nav|noscript|"
    r"ol|option|p|pre|script|section|select|small|span|strong|style|sub|sup|svg|table|tbody|td|template|textarea|th|title|tr|u|ul)[\s>/]",
    re.IGNORECASE,
)
_SURE_PAGE = re.compile(
    r"\s*+(?:<\?xml[^>]*\?>\s*+)?(?>(?><!--.*?-->)\s*+)*+<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE | re.DOTALL
)
_MARKED_UP = re.compile(r"\s*<(?:\?xml\b|!DOCTYPE\b|!--|[A-Za-z_][\w.:\-]*[\s/>])")
_ROOT = re.compile(
    r"\s*+(?>(?><\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\])?\s*>)\s*+)*+<([A-Za-z_][\w.:\-]*)", re.DOTALL
)
_NO_SIGNS = "\ufeff\u200b\u2060\0"
_BEFORE_XML = re.compile(rf"(?>[\s{_NO_SIGNS}]++|(?><!--.*?-->))*+(?=<\?xml\s)", re.DOTALL)
_SITEMAP = re.compile(r"\s*<(?:urlset|sitemapindex)[\s>]")
_ATOM = re.compile(r"http://(?:www\.w3\.org/2005/atom|purl\.org/atom/)", re.IGNORECASE)
_RDF = re.compile(r"""xmlns\s*=\s*["']http://www\.w3\.org/1999/02/22-rdf-syntax-ns#""")
_PACKED = frozenset(
    "application/gzip application/x-gzip application/gzip-compressed application/octet-stream binary/octet-stream".split()
)
_EXAMINED = 4_096


_FORMS = {
    b"%PDF-": "PDF", b"\x89PNG": "PNG picture", b"GIF8": "GIF picture", b"\xff\xd8\xff": "JPEG picture", b"BM": "BMP picture",
    b"PK": "ZIP archive", b"\x1f\x8b": "gzip archive", b"7z": "7z archive", b"Rar!": "RAR archive", b"BZh": "bzip2 archive",
    b"wOF": "font", b"\x00\x01\x00\x00": "font", b"SQLite": "SQLite database", b"\xd0\xcf\x11\xe0": "Office document",
    b"OggS": "Ogg recording", b"ID3": "MP3 recording", b"\x00\x00\x01\x00": "icon", b"\x7fELF": "program", b"MZ": "program",
}  # fmt: skip


def form_of(data: bytes) -> str:
    """Return the name of a binary body, with its size: `PNG picture of 1,234 bytes`."""
    name = next((name for start, name in _FORMS.items() if data.startswith(start)), "")
    if not name and data[:4] == b"RIFF":
        name = "WebP picture" if data[8:12] == b"WEBP" else "recording"
    return f"{name or 'file'} of {len(data):,} bytes"


def media_of_bytes(data: bytes, content_type: str | None = None) -> Media | None:
    """Return the kind decided by the first bytes alone: a PDF or another binary format. None: it is
    some kind of text.

    A text may mention a signature, and even begin with one. Only in a declared PDF may anything
    else precede it, up to byte 1,024, as PDF readers allow.
    """
    head = data[:_EXAMINED]
    if _BEGINS_PDF.match(head):
        return "pdf"
    if _media_type(content_type) == "application/pdf" and _PDF in data[:1_024]:
        return "pdf"
    if data[:4] == b"RIFF" and data[8:12] in _RIFF:
        return "binary"
    if data.startswith(_GIF):
        return "binary"
    if (data.startswith(_BINARY) or data[4:8] == b"ftyp") and (not data[:4].isascii() or _BINARY_BYTE.search(head)):
        return "binary"
    return None


def past_lead(text: str, content_type: str | None) -> str:
    """Return a text without what precedes its XML declaration: blanks, marks, comments; in declared
    XML, anything.

    Zero-width marks before any other text are removed as well.
    """
    head = text[:_EXAMINED]
    if lead := _BEFORE_XML.match(head):
        return text[lead.end() :]
    if _is_xml_type(_media_type(content_type)) and (at := head.find("<?xml ")) > 0:
        return text[at:]
    return text.lstrip(_NO_SIGNS)


def media_of_text(text: str, content_type: str | None = None) -> Media:
    """Return the kind of a text. Declared plain text, Markdown or CSV is a page only if it begins
    as a complete page does.
    """
    declared = _media_type(content_type)
    head = text[:_EXAMINED]
    if _SURE_PAGE.match(head):
        return "html"
    if declared in DECLARED:
        return "csv"
    start = head.lstrip()[:1]
    if start and start in "{[":
        return "json" if declared != "text/html" or text.rstrip()[-1:] in "}]" else "html"
    if GUARD.match(head):
        return "json"
    if _is_xml_type(declared) or _is_xml(head):
        return _feed_or_xml(head)
    if declared.endswith(("/json", "+json")):
        return "json"
    if declared in {"text/html", "application/xhtml+xml"}:
        return "html"
    if declared.startswith("text/"):
        return _csv_or_text(text, declared)
    return "html" if _TAG_IN_TEXT.search(head) else _csv_or_text(text, declared)


def _csv_or_text(text: str, declared: str) -> Media:
    """Return the kind of a text without markup; declared Markdown, scripts and styles are plain
    text.
    """
    is_open = declared in {"", "text/plain", "application/octet-stream", "binary/octet-stream"}
    return "csv" if is_open and separator_of(text, is_declared=False) else "text"


def _media_type(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()


def type_within(content_type: str | None) -> str | None:
    """Return the Content-Type of the content of a packed file: None if it only says that the file
    is packed, or nothing.
    """
    return None if _media_type(content_type) in _PACKED else content_type


def _is_xml_type(declared: str) -> bool:
    return declared.endswith(("/xml", "+xml"))


def _is_xml(head: str) -> bool:
    """Return whether a text begins as XML, or as a feed or a sitemap, which are also served as
    `text/html`.
    """
    return head.lstrip()[:5] == "<?xml" or _is_feed(head) or _SITEMAP.match(head) is not None


def _feed_or_xml(head: str) -> Media:
    root = _ROOT.match(head)
    if root is None:
        return "xml" if _MARKED_UP.match(head) else "text"
    if root[1].lower() == "html":
        return "html"
    return "feed" if _is_feed(head) else "xml"


def _is_feed(head: str) -> bool:
    """Return whether the root is that of a feed, whatever its prefix; a prefixed `feed` must be
    Atom's.
    """
    root = _ROOT.match(head)
    if root is None:
        return False
    prefix, _, name = root[1].lower().rpartition(":")
    if name == "feed" and prefix:
        return _ATOM.search(head) is not None
    return name in {"rss", "feed"} or (name == "rdf" and bool(prefix or _RDF.search(head)))
