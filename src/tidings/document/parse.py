"""From a body to a document: charset, kind of content, pre-scan, parser, walk.

The same bytes with the same labels give the same document, always. What cannot be read safely gives a document with a `problem`,
never an exception and never a document that looks empty.
"""

from __future__ import annotations

import hashlib

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, SelectolaxError

from tidings.document.charset import Decoded, decode, known_charset, strictly
from tidings.document.document import Document
from tidings.document.links import base_of
from tidings.document.media import Media, media_of_bytes, media_of_text
from tidings.document.prescan import too_hard
from tidings.document.structured import pieces_of_json, pieces_of_xml
from tidings.document.walk import Walked, walk

MOST_WORDS = 2_000_000
"""Most tokens of a document; more cannot be compared within the memory of a worker."""


def parse(
    data: bytes, content_type: str | None = None, *, url: str = "", charset: str = "", last_good: str = ""
) -> Document:
    """Return the document that a body is.

    `url` is the final URL, `charset` one that is already known (a stored version's) and then decides, `last_good` that of the page's
    last version.
    """
    media = media_of_bytes(data)
    if media is not None:
        return Document(media=media, textless=True, sha256=hashlib.sha256(data).hexdigest(), base=url)
    return read(_decoded(data, content_type, charset, last_good), content_type, url=url)


def read(decoded: Decoded, content_type: str | None = None, *, url: str = "") -> Document:
    """Return the document that a text is; see `parse`."""
    media = media_of_text(decoded.text, content_type)
    document = _READERS.get(media, _text)(media, decoded, url)
    if not document.problem and document.words > MOST_WORDS:
        return _refused(media, decoded, f"it has more than {MOST_WORDS:,} words")
    return document


def _decoded(data: bytes, content_type: str | None, charset: str, last_good: str) -> Decoded:
    if known := known_charset(charset):
        text = strictly(data, known)
        if text is not None:
            return Decoded(text.removeprefix("\ufeff"), known, "last good")
    return decode(data, content_type, last_good=last_good)


def _html(media: Media, decoded: Decoded, url: str) -> Document:
    source = decoded.utf8
    if reason := too_hard(source):
        return _refused(media, decoded, reason)
    walked = _walked(source)
    return Document(
        media=media,
        charset=decoded.charset,
        charset_source=decoded.source,
        pieces=tuple(walked.pieces),
        links=tuple(walked.links),
        images=tuple(walked.images),
        base=base_of(url, walked.base),
        title=walked.title,
        scripts=walked.scripts,
        password=walked.password,
    )


def _walked(source: bytes) -> Walked:
    # Scripting is "on", so that what stands in `noscript` is text that nobody sees, as in a browser.
    try:
        tree = LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS, scripting=True)
    except SelectolaxError:
        return Walked([source.decode("utf-8", "replace")])
    return Walked() if tree.root is None else walk(tree.root)


def _pieces_of_fragment(text: str) -> list[str]:
    source = text.encode("utf-8", "replace")
    return [text] if too_hard(source) else _walked(source).pieces


def _xml(media: Media, decoded: Decoded, url: str) -> Document:
    read = pieces_of_xml(decoded.text, _pieces_of_fragment if media == "feed" else _as_it_is)
    if read is None:
        return _text(media, decoded, url)
    pieces, links, title = read
    return Document(
        media=media,
        charset=decoded.charset,
        charset_source=decoded.source,
        pieces=tuple(pieces),
        links=tuple(links) if media == "feed" else (),
        base=url,
        title=title if media == "feed" else "",
    )


def _as_it_is(text: str) -> list[str]:
    return [text]


def _json(media: Media, decoded: Decoded, url: str) -> Document:
    pieces = pieces_of_json(decoded.text)
    if pieces is None:
        return _text("text", decoded, url)
    return Document(media=media, charset=decoded.charset, charset_source=decoded.source, pieces=tuple(pieces), base=url)


def _text(media: Media, decoded: Decoded, url: str) -> Document:
    return Document(
        media=media, charset=decoded.charset, charset_source=decoded.source, pieces=(decoded.text,), base=url
    )


def _refused(media: Media, decoded: Decoded, reason: str) -> Document:
    return Document(
        media=media, charset=decoded.charset, charset_source=decoded.source, problem=f"could not compare: {reason}"
    )


_READERS = {"html": _html, "xml": _xml, "feed": _xml, "json": _json}
