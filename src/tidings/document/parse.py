"""From a body to a document: charset, kind of content, pre-scan, parser, walk.

The same bytes with the same labels always give the same document. A body that cannot be read safely
gives a document with a `problem`, never an exception and never a document that seems empty.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, SelectolaxError

from tidings.document.data.csv_rows import CsvTree, pieces_of_rows, rows_of, separator_of
from tidings.document.data.json_tree import JsonTree, take_from_scripts, unwrap, words_of_value
from tidings.document.data.media import Media, form_of, media_of_bytes, media_of_text, past_lead, type_within
from tidings.document.data.pdf import NO_TEXT, NOT_READ, UnreadableError, is_readable, read_pdf
from tidings.document.data.structured import (
    ShownTexts,
    calendar_text,
    is_calendar,
    links_of_xml,
    pieces_of_xml,
    root_of,
)
from tidings.document.data.xml_tree import Node, XmlTree, is_small, node_of, words_of_nodes
from tidings.document.document import Document
from tidings.document.feeds.feeds import (
    VERSION,
    head_of_json_feed,
    hub_of,
    is_json_feed,
    links_of_json_feed,
    newest_of,
    title_of,
)
from tidings.document.html.frames import FrameElement
from tidings.document.html.lines import pieces_of
from tidings.document.html.links import base_of
from tidings.document.html.prescan import too_hard
from tidings.document.html.walk import BREAK, Walked, walk
from tidings.document.select.trees import HtmlTree, Tree
from tidings.document.text.charset import Decoded, decode, find_charset, strictly
from tidings.document.text.packed import PackedError, text_within
from tidings.document.text.words import ASCII_SYMBOLS
from tidings.model.interval import Instant
from tidings.model.observed.version import Hub
from tidings.record import replace

MOST_WORDS = 700_000
"""The most tokens of a document; more cannot be compared within a second and 200 MB. The longest
page of html_corpus has 9,607.
"""

MOST_ADDRESSES = 25_000
"""The most links and images of a document, for the same reason. The most of html_corpus are
3,859.
"""

MOST_OF_SITEMAP = 50_000
"""The most addresses of a sitemap (sitemaps.org)."""

_TOO_LONG = f"it has more than {MOST_WORDS:,} words"

MOST_XML_TAGS = 1_000_000
"""The most tags of XML: a full sitemap of 50,000 pages has 500,000, and more with its pictures."""

MOST_VALUES = 100_000
"""The most values of JSON, counted by its commas, for the same reason."""

MOST_LEVELS = 3
"""The deepest nesting of inline documents that is read."""

_SHORT = 4_096
"""The longest text in a feed whose pieces are cached, in characters: it occurs in two versions, and
is read for the page and for its entry.
"""


def parse(
    data: bytes,
    content_type: str | None = None,
    *,
    url: str = "",
    charset: str = "",
    last_good: str = "",
    with_written_frames: bool = False,
    keep_tree: bool = False,
) -> Document:
    """Return the document of a body.

    Args:
        data: The bytes of the body.
        content_type: The Content-Type; None if there is none.
        url: The final URL.
        charset: A known charset that decides (a stored version's); empty for none.
        last_good: The charset of the page's last version; empty for none.
        with_written_frames: Whether inline documents (`srcdoc`) are part of its text.
        keep_tree: Whether parts of the document will be extracted (`extract`).
    """
    try:
        if (text := text_within(data)) is not None:
            data, content_type = text, type_within(content_type)
    except PackedError as error:
        return Document(media="binary", form=form_of(data), base=url, problem=f"could not compare: {error}")
    media = media_of_bytes(data, content_type)
    if media is not None:
        whole = Document(
            media=media, textless=True, sha256=hashlib.sha256(data).hexdigest(), form=form_of(data), base=url
        )
        return _pdf(whole, data) if media == "pdf" else whole
    document = read(_decode(data, content_type, charset, last_good), content_type, url=url, keep_tree=keep_tree)
    return _with_written(document) if with_written_frames and document.frames else document


def read(decoded: Decoded, content_type: str | None = None, *, url: str = "", keep_tree: bool = False) -> Document:
    """Return the document of a text; see `parse`.

    Args:
        decoded: The text, and its charset.
        content_type: The Content-Type; None if there is none.
        url: The final URL.
        keep_tree: Whether parts of the document will be extracted.
    """
    if (text := past_lead(decoded.text, content_type)) != decoded.text:
        decoded = replace(decoded, text=text, data=None)
    media = media_of_text(text, content_type)
    document = _READERS.get(media, _text)(media, decoded, url, keep_tree)
    if decoded.wrong and not document.note:
        document = replace(document, note=_describe_charset(decoded))
    is_long = len(document.text) > MOST_WORDS  # a word has at least one character
    if is_long and not document.problem and (_has_many_symbols(document) or document.words > MOST_WORDS):
        return _make_refused(media, decoded, _TOO_LONG)
    most = MOST_OF_SITEMAP if media == "xml" else MOST_ADDRESSES
    if len(document.links) + len(document.images) > most:
        return _make_refused(media, decoded, f"it has more than {most:,} links and images")
    return document


def _describe_charset(decoded: Decoded) -> str:
    """Return the note on a page whose declared charset is wrong."""
    read = "windows-1252" if decoded.charset == decoded.wrong else decoded.charset
    return (
        f"the page says that its charset is {decoded.wrong}, and most of its letters are not; they are read as {read}"
    )


def _has_many_symbols(document: Document) -> bool:
    """Return whether symbols alone make too many words, which is quicker to see in the text than in
    its tokens.
    """
    text = document.text
    return sum(text.count(chr(symbol)) for symbol in ASCII_SYMBOLS) > MOST_WORDS


def _decode(data: bytes, content_type: str | None, charset: str, last_good: str) -> Decoded:
    if known := find_charset(charset):
        text = strictly(data, known)
        if text is not None:
            return Decoded(text.removeprefix("\ufeff"), known, "last good")
    return decode(data, content_type, last_good=last_good)


def _html(media: Media, decoded: Decoded, url: str, keep_tree: bool) -> Document:
    source = decoded.utf8
    if reason := too_hard(source):
        return _make_refused(media, decoded, reason)
    tree = _tree(source)
    walked = _walk(source, tree)
    return Document(
        media=media,
        charset=decoded.charset,
        charset_source=decoded.source,
        pieces=tuple(walked.pieces),
        links=tuple(walked.links),
        images=tuple(walked.images),
        link_places=tuple(walked.link_places),
        image_places=tuple(walked.image_places),
        marks=tuple(walked.marks),
        frames=tuple(walked.frames),
        base=base_of(url, walked.base),
        title=walked.title,
        scripts=walked.scripts,
        password=walked.password,
        tree=HtmlTree(tree, take_from_scripts) if keep_tree and tree is not None else None,
    )


def _tree(source: bytes) -> LexborHTMLParser | None:
    # Scripting is "on", so that the text of `noscript` is invisible, as in a browser.
    try:
        return LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS, scripting=True)
    except SelectolaxError:
        return None


def _walk(source: bytes, tree: LexborHTMLParser | None) -> Walked:
    if tree is None:
        return Walked([source.decode("utf-8", "replace")])
    return Walked() if tree.root is None else walk(tree.root)


def _pdf(whole: Document, data: bytes) -> Document:
    """Return the document of a PDF; `whole` is the unread document."""
    if not is_readable():
        return replace(whole, note=NOT_READ)
    try:
        read = read_pdf(data)
    except UnreadableError as error:
        return replace(whole, textless=False, problem=f"could not compare: {error}")
    if not read.lines:
        return replace(whole, title=read.title, sha256=read.pictures or whole.sha256, note=NO_TEXT)
    text = replace(whole, textless=False, sha256="", form="", title=read.title, pieces=pieces_of(read.lines))
    is_too_long = text.words > MOST_WORDS
    return replace(text, pieces=(), problem=f"could not compare: {_TOO_LONG}") if is_too_long else text


def _with_written(document: Document) -> Document:
    """Return a document with its inline documents in place; their addresses have the same base."""
    inner = list(_walk_frames(document.frames, MOST_LEVELS))
    pieces = list(document.pieces)
    for place, walked in reversed(inner):
        pieces[place:place] = [BREAK, *walked.pieces, BREAK]
    whole = replace(
        document,
        pieces=tuple(pieces),
        links=(*document.links, *(link for _, walked in inner for link in walked.links)),
        images=(*document.images, *(image for _, walked in inner for image in walked.images)),
        link_places=(),
        image_places=(),
        marks=(),
        frames=(*document.frames, *(frame for _, walked in inner for frame in walked.frames)),
    )
    if whole.words > MOST_WORDS:
        return replace(document, problem=f"could not compare: it has more than {MOST_WORDS:,} words")
    return whole


def _walk_frames(frames: Sequence[FrameElement], levels: int) -> Iterator[tuple[int, Walked]]:
    """Yield (place, content) of each frame with an inline document that can be read safely."""
    for frame in frames:
        source = (frame.source or "").encode("utf-8", "replace")
        if not source or levels == 0 or too_hard(source):
            continue
        walked = _walk(source, _tree(source))
        for place, deeper in reversed(list(_walk_frames(walked.frames, levels - 1))):
            walked.pieces[place:place] = [BREAK, *deeper.pieces, BREAK]
            walked.links += deeper.links
            walked.images += deeper.images
            walked.frames += deeper.frames
        yield frame.place, walked


def _pieces_of_fragment(text: str) -> list[str]:
    return [*_pieces_of_short(text)] if len(text) <= _SHORT else _pieces_in(text)


def _pieces_in(text: str) -> list[str]:
    source = text.encode("utf-8", "replace")
    return [text] if too_hard(source) else _walk(source, _tree(source)).pieces


_pieces_of_short = lru_cache(maxsize=1_024)(_pieces_in)


def text_of_fragment(text: str) -> str:
    """Return the displayed text of possible HTML, in one line."""
    return " ".join("".join(_pieces_of_fragment(text) if "<" in text or "&" in text else [text]).split())


def _xml(media: Media, decoded: Decoded, url: str, keep_tree: bool) -> Document:
    if decoded.text.count("<") > MOST_XML_TAGS:
        return _make_refused(media, decoded, f"it has more than {MOST_XML_TAGS:,} tags")
    root = root_of(decoded.text)
    if root is None:
        return _text(media, decoded, url, keep_tree)
    links = tuple(links_of_xml([root], url))
    if media == "feed":
        pieces = pieces_of_xml(root, _pieces_of_fragment, with_attributes=False)
        tree = XmlTree(decoded.text, ShownTexts(_pieces_of_fragment).pieces, with_attributes=False, base=url)
        title = title_of(root, text_of_fragment)
        return _data(
            media, decoded, url, pieces, tree, links=links, title=title, hub=hub_of(root), updated=newest_of(root)
        )
    shown = ShownTexts(_as_it_is).pieces
    node = _node_of(root)
    tree = XmlTree(decoded.text, shown, with_attributes=True, node=node, base=url)
    if node is not None:
        return _data(media, decoded, url, pieces_of(words_of_nodes([node])), tree, links=links)
    pieces = pieces_of_xml(root, _as_it_is, with_attributes=True)
    return _data(media, decoded, url, pieces, tree, links=links)


def _node_of(root: Any) -> Node | None:
    try:
        return node_of(root) if is_small(root) else None
    except RecursionError:
        return None


def _data(
    media: Media,
    decoded: Decoded,
    url: str,
    pieces: Iterable[str],
    tree: Tree,
    *,
    links: tuple[str, ...] = (),
    title: str = "",
    hub: Hub = Hub(),  # noqa: B008 - a constant
    updated: Instant | None = None,
) -> Document:
    return Document(
        media=media,
        charset=decoded.charset,
        charset_source=decoded.source,
        pieces=tuple(pieces),
        links=links,
        base=url,
        title=title,
        tree=tree,
        hub=hub,
        updated=updated,
    )


def _as_it_is(text: str) -> list[str]:
    return [text]


def _json(media: Media, decoded: Decoded, url: str, keep_tree: bool) -> Document:
    if decoded.text.count(",") > MOST_VALUES:
        return _make_refused(media, decoded, f"it has more than {MOST_VALUES:,} values")
    try:
        text, value = unwrap(decoded.text)
    except (ValueError, RecursionError):
        return _text("text", decoded, url, keep_tree)
    pieces, tree = pieces_of(words_of_value(value)), JsonTree(text, value)
    if VERSION not in text or not is_json_feed(tree.value):
        return _data(media, decoded, url, pieces, tree)
    links = links_of_json_feed(tree.value)
    title, hub, updated = head_of_json_feed(tree.value)
    return _data(media, decoded, url, pieces, tree, links=links, title=title, hub=hub, updated=updated)


def _csv(media: Media, decoded: Decoded, url: str, keep_tree: bool) -> Document:
    separator = separator_of(decoded.text, is_declared=True)
    rows = rows_of(decoded.text, separator) if separator else None
    if rows is None:
        return _text("text", decoded, url, keep_tree)
    return _data(media, decoded, url, pieces_of_rows(rows), CsvTree(tuple(rows)))


def _text(media: Media, decoded: Decoded, url: str, _: bool) -> Document:
    text = calendar_text(decoded.text) if is_calendar(decoded.text) else decoded.text
    return Document(media=media, charset=decoded.charset, charset_source=decoded.source, pieces=(text,), base=url)


def _make_refused(media: Media, decoded: Decoded, reason: str) -> Document:
    return Document(
        media=media, charset=decoded.charset, charset_source=decoded.source, problem=f"could not compare: {reason}"
    )


_READERS = {"html": _html, "xml": _xml, "feed": _xml, "json": _json, "csv": _csv}
