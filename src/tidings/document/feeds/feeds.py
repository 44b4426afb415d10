"""Feeds: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, read by namespace and place; when one changed
last, and its hub (W3C WebSub §4).

An element belongs to the feed if it has the namespace of its parent, whatever its prefix.
Extensions (Media RSS, Dublin Core, Atom in RSS) only replace elements that the entry lacks. Text
constructs follow RFC 4287 §3.1; RSS does not say whether a title is HTML: one with a closing tag or
an entity is.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html.entities import html5
from itertools import islice
from typing import Any, Final

from lxml import etree

from tidings.document.data.json_tree import write_scalar
from tidings.document.data.structured import address_in, local_name, namespace_of
from tidings.model.interval import SECOND, Instant
from tidings.model.observed.version import LONGEST_HUB, Hub
from tidings.record import dataclass

_PLACES: Final = {"item": frozenset({"channel", "rdf", "rss", "feed"}), "entry": frozenset({"feed", "channel"})}
"""Parents of entries."""

_ATOM: Final = frozenset({"http://www.w3.org/2005/atom", "http://purl.org/atom/ns"})
_DC: Final = "http://purl.org/dc/elements/1.1"
_MEDIA: Final = "http://search.yahoo.com/mrss"
_ITUNES: Final = "http://www.itunes.com/dtds/podcast-1.0.dtd"
_CONTENT: Final = "http://purl.org/rss/1.0/modules/content"
_XHTML: Final = "http://www.w3.org/1999/xhtml"
_RDF_ABOUT: Final = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
_OWN: Final = "own"
_IN_ATOM: Final = "atom"
_TITLES: Final = ((_OWN, "title"), (_IN_ATOM, "title"), (_DC, "title"), (_MEDIA, "title"), (_ITUNES, "title"))
_BODIES: Final = (
    (_CONTENT, "encoded"), (_OWN, "encoded"), (_OWN, "fullitem"), (_XHTML, "body"), (_XHTML, "div"), (_OWN, "body"), (_OWN, "content"),
    (_IN_ATOM, "content"), (_OWN, "description"), (_OWN, "summary"), (_IN_ATOM, "summary"), (_DC, "description"), (_ITUNES, "summary"),
    (_MEDIA, "description"),
)  # fmt: skip
"""Elements with the text of an entry, the fullest first."""

_ENCLOSURE: Final = "enclosure"
_LINKS: Final = ((_OWN, "link"), (_IN_ATOM, "link"))
_IDS: Final = ((_OWN, "guid"), (_OWN, "id"), (_IN_ATOM, "id"))
_AUTHORS: Final = ((_DC, "creator"), (_OWN, "author"), (_IN_ATOM, "author"), (_ITUNES, "author"))
_DATES: Final = (
    (_OWN, "pubDate"), (_OWN, "published"), (_OWN, "issued"), (_DC, "date"), (_IN_ATOM, "published"), (_OWN, "updated"), (_OWN, "modified"),
)  # fmt: skip
"""Elements with the publication date of an entry, the best first."""
_MAILED: Final = re.compile(r"\S+@\S+ \((.+)\)")
_ALTERNATE: Final = frozenset({"", "alternate", "http://www.iana.org/assignments/relation/alternate"})
_PAGES: Final = frozenset({"", "text/html", "application/xhtml+xml"})
_PLAIN: Final = frozenset({"", "text", "text/plain"})
_MARKED_UP: Final = frozenset({"html", "xhtml", "text/html", "application/xhtml+xml"})
_CLOSED: Final = re.compile(r"</[A-Za-z][A-Za-z0-9]*\s*>")
_ENTITY: Final = re.compile(r"&(?:#\d+;|#[xX][0-9A-Fa-f]+;|([A-Za-z][A-Za-z0-9]*;))")
_TAG: Final = re.compile(r"</?([A-Za-z][\w-]*)")
_HTML: Final = frozenset(
    "a abbr acronym address article aside audio b bdi bdo big blockquote br button caption center cite code col colgroup data dd del details "
    "dfn dir div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd label li main mark nav ol p picture pre q rp rt "
    "ruby s samp section small source span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var video wbr".split()
)


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An entry of a feed: its id, link, title, the fullest of its texts, each empty if it has none,
    and its enclosures.

    `author` is its author, `published` its publication date as written.
    """

    id: str
    link: str
    title: str
    body: str
    enclosures: tuple[str, ...] = ()
    author: str = ""
    published: str = ""


def entries_in(root: Any) -> Iterator[Any]:
    """Yield the entries below an element of a feed, in order."""
    for element in root.iter("{*}item", "{*}entry"):
        if is_entry(element):
            yield element


def is_entry(element: Any) -> bool:
    """Return whether an element of a feed is an entry, by its place."""
    above = local_name(element.getparent()).lower()
    return above in _PLACES.get(local_name(element), ()) and not is_extension(element)


def is_extension(element: Any) -> bool:
    """Return whether an element belongs to a vocabulary of feed extensions."""
    return namespace_of(element) in {_DC, _MEDIA, _ITUNES, _CONTENT, _XHTML}


def entry_of(element: Any, children: Sequence[Any], base: str, shown: Callable[[str], str]) -> FeedEntry:
    """Return an entry, given its remaining children.

    Args:
        element: The entry.
        children: Its children that count.
        base: The address of the feed.
        shown: Returns the displayed text of HTML.
    """
    named = _Named(element, [*children, *(inner for child in children if _is_group(child) for inner in child)])
    is_of_atom = local_name(element) == "entry"
    id_ = next((text for child in named.all(_IDS) if (text := _line(child.text))), "") or element.get(_RDF_ABOUT, "")
    title = named.title(shown, is_of_atom=is_of_atom)
    body = next((text for child in named.all(_BODIES) if (text := text_of(child, shown, is_of_atom=is_of_atom))), "")
    published = next((text for child in named.all(_DATES) if (text := _line(child.text))), "")
    return FeedEntry(id_, _link_of(named, base), title, body, _enclosures(named, base), _author(named), published)


def _author(named: _Named) -> str:
    """Return the author of an entry: the name in `anna@example.org (Anna)`, as RSS has it."""
    for child in named.all(_AUTHORS):
        inner = next((one for one in child if local_name(one) == "name"), child)
        if text := _line(inner.text):
            return found[1] if (found := _MAILED.fullmatch(text)) else text
    return ""


def _enclosures(named: _Named, base: str) -> tuple[str, ...]:
    """Return the addresses of an entry's enclosures: a recording, a file."""
    links = [link for link in named.all(_LINKS) if (link.get("rel") or "").strip().lower() == _ENCLOSURE]
    found = (address_in(one, base) for one in (*named.all([(_OWN, _ENCLOSURE)]), *links))
    return tuple(dict.fromkeys(filter(None, found)))


def _is_group(element: Any) -> bool:
    """Return whether an element is a Media RSS group of an entry, as in the feeds of video
    sites.
    """
    return namespace_of(element) == _MEDIA and local_name(element) == "group"


def title_of(root: Any, shown: Callable[[str], str]) -> str:
    """Return the title of a feed itself, empty if it has none."""
    heads = [child for child in root if local_name(child) == "channel"] or [root]
    named = _Named(heads[0], [child for child in heads[0] if local_name(child)])
    return named.title(shown, is_of_atom=local_name(root) == "feed")


def text_of(element: Any, shown: Callable[[str], str], *, is_title: bool = False, is_of_atom: bool = False) -> str:
    """Return a text construct in one line.

    Args:
        element: The text construct.
        shown: Returns the displayed text of HTML.
        is_title: Whether RSS may mean plain text by it.
        is_of_atom: Whether its entry is one of Atom.
    """
    text = element.text or ""
    kind = (element.get("type") or "").strip().lower()
    if element.get("mode") == "base64":
        text = _from_base64(text)
    elif _is_packed(kind):
        return _line(shown(_from_base64(text)))
    elif len(element):
        written = "".join(element.itertext())
        return _line(shown(written)) if kind == "html" and looks_like_html(written) else words_of(element, shown)
    if kind in _MARKED_UP:
        return _line(shown(text))
    if kind not in _PLAIN or is_of_atom or namespace_of(element) in _ATOM:
        return _line(text)
    return _line(shown(text) if not is_title or looks_like_html(text) else text)


def words_of(element: Any, shown: Callable[[str], str]) -> str:
    """Return the text of an element in one line: its own text, or that of the elements in it."""
    return _line(shown(_markup_of(element)) if len(element) else element.text)


def looks_like_html(text: str) -> bool:
    """Return whether an undeclared text is HTML: it has a closing tag or an entity, and only tags
    of HTML.
    """
    entities = list(_ENTITY.finditer(text))
    if not entities and not _CLOSED.search(text):
        return False
    return all(tag.lower() in _HTML for tag in _TAG.findall(text)) and all(
        found[1] is None or found[1] in html5 for found in entities
    )


def _is_packed(kind: str) -> bool:
    """Return whether Atom encodes content of a type as Base64 (RFC 4287 §4.1.3.3): neither text nor
    XML.
    """
    return (
        "/" in kind and not kind.startswith("text/") and not kind.endswith(("+xml", "/xml")) and kind not in _MARKED_UP
    )


def _from_base64(text: str) -> str:
    """Return the text in Base64, empty if there is none."""
    try:
        return base64.b64decode(text, validate=False).decode()
    except (binascii.Error, ValueError):
        return ""


def _markup_of(element: Any) -> str:
    """Return the content of an element as HTML, whatever prefixes its elements have."""
    copied = deepcopy(element)
    for inner in copied.iter(etree.Element):
        inner.tag = etree.QName(inner).localname
    copied.tag = "div"
    return str(etree.tostring(copied, encoding="unicode", method="html", with_tail=False))


class _Named:
    """The children of an entry or a feed by namespace and name."""

    def __init__(self, element: Any, children: Iterable[Any]) -> None:
        own = namespace_of(element)
        self._children: dict[tuple[str, str], list[Any]] = {}
        for child in children:
            space = namespace_of(child)
            where = _OWN if space == own else _IN_ATOM if space in _ATOM else space
            self._children.setdefault((where, local_name(child)), []).append(child)

    def all(self, names: Iterable[tuple[str, str]]) -> Iterator[Any]:
        """Yield the children with these names, in the order of the names."""
        for name in names:
            yield from self._children.get(name, ())

    def title(self, shown: Callable[[str], str], *, is_of_atom: bool) -> str:
        """Return the first title among the children, empty if there is none."""
        titles = (text_of(child, shown, is_title=True, is_of_atom=is_of_atom) for child in self.all(_TITLES))
        return next(filter(None, titles), "")


def _link_of(named: _Named, base: str) -> str:
    """Return the link of an entry: its own link, its id if that is a permanent address, a link of
    Atom in RSS.

    Of several Atom links, the one to an alternate page; if there is none, the first.
    """
    own, others = list(named.all([(_OWN, "link")])), list(named.all([(_IN_ATOM, "link")]))
    written = next((link for link in own if _line(link.text) and not link.get("href")), None)
    if written is not None:
        return address_in(written, base)
    addressed = [link for link in own if link.get("href")]
    chosen = _to_page(addressed)
    if chosen is None and (permanent := _permanent(named)):
        return permanent
    if chosen is None:
        chosen = _to_page([link for link in others if link.get("href")])
    if chosen is None:
        chosen = next(iter(addressed), None)
    return "" if chosen is None else address_in(chosen, base)


def _to_page(links: Sequence[Any]) -> Any:
    """Return the alternate link of the entry, a page before other types, None if there is none."""
    meant = [link for link in links if (link.get("rel") or "").strip().lower() in _ALTERNATE]
    pages = [link for link in meant if (link.get("type") or "").partition(";")[0].strip().lower() in _PAGES]
    return next(iter(pages or meant), None)


def _permanent(named: _Named) -> str:
    """Return the id of an RSS entry if it is also its address."""
    for guid in named.all([(_OWN, "guid")]):
        text = _line(guid.text)
        if guid.get("isPermaLink", "true").lower() != "false" and text.startswith(("http://", "https://")):
            return text
    return ""


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


_WHEN_CHANGED: Final = frozenset({"updated", "modified", "published", "issued", "pubDate", "date"})
MOST_DATED: Final = 2_000
_LONGEST_DATE: Final = 40


def newest_of(root: Any) -> Instant | None:
    """Return the newest date of the entries of a feed, None if none can be read. The feed's own
    build date is ignored.
    """
    entries = islice(root.iter("{*}entry", "{*}item"), MOST_DATED)
    dates = (instant_of(child.text) for entry in entries for child in entry if local_name(child) in _WHEN_CHANGED)
    return max((at for at in dates if at is not None), default=None)


def instant_of(text: str | None) -> Instant | None:
    """Return the instant of a date by RFC 3339 or RFC 822; one without a zone is in UTC."""
    stripped = (text or "").strip()
    if not 0 < len(stripped) <= _LONGEST_DATE:
        return None
    try:
        at = (
            datetime.fromisoformat(stripped)
            if stripped[0].isdigit() and stripped[4:5] == "-"
            else parsedate_to_datetime(stripped)
        )
        return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * SECOND)
    except (ValueError, OverflowError):
        return None


_MOST_LINKS: Final = 200
_FEEDS: Final = frozenset({"feed", "rss", "RDF"})


def hub_of(root: Any) -> Hub:
    """Return the first hub of a feed itself, not of its entries."""
    found: dict[str, str] = {}
    for number, link in enumerate(_links(root)):
        if number >= _MOST_LINKS:
            break
        for relation in (link.get("rel") or "").lower().split():
            href = (link.get("href") or "").strip()
            if 0 < len(href) <= LONGEST_HUB:
                found.setdefault(relation, href)
    return Hub(found["hub"], found.get("self", "")) if "hub" in found else Hub()


def _links(root: Any) -> Iterator[Any]:
    if local_name(root) not in _FEEDS:
        return
    for child in root:
        if local_name(child) == "link":
            yield child
        elif local_name(child) == "channel":
            yield from (inner for inner in child if local_name(inner) == "link")


VERSION = "jsonfeed.org"
"""A part of the version of every JSON Feed."""


def is_json_feed(value: Any) -> bool:
    """Return whether a JSON value declares itself as a JSON Feed, and has items."""
    return isinstance(value, dict) and VERSION in str(value.get("version", "")) and isinstance(value.get("items"), list)


def items_of_json_feed(value: Mapping[str, Any]) -> list[Any]:
    """Return the items of a feed."""
    return list(value["items"])


def entry_of_json(item: Mapping[str, Any], shown: Callable[[str], str]) -> FeedEntry:
    """Return an item as an entry: its text is the content, HTML before plain, else the summary.
    `shown` returns the text of HTML.
    """
    html = _json_text(item, "content_html")
    body = shown(html) if html else _json_text(item, "content_text") or _json_text(item, "summary")
    published = _json_text(item, "date_published") or _json_text(item, "date_modified")
    named = (item.get("authors"), [item.get("author")])
    authors = [
        _json_text(one, "name") for many in named if isinstance(many, list) for one in many if isinstance(one, dict)
    ]
    author = next(filter(None, authors), "")
    return FeedEntry(
        _json_text(item, "id"),
        _link_in_json(item),
        _json_text(item, "title"),
        body,
        _json_enclosures(item),
        author,
        published,
    )


def links_of_json_feed(value: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the links of a feed and its items, and their enclosures."""
    items = [item for item in value["items"] if isinstance(item, dict)]
    links = [
        _json_text(value, "home_page_url"),
        *(one for item in items for one in (_link_in_json(item), *_json_enclosures(item))),
    ]
    return tuple(link for link in links if link)


def head_of_json_feed(value: Mapping[str, Any]) -> tuple[str, Hub, Instant | None]:
    """Return the title of a feed, its hub, and the newest date of its items."""
    hubs = value.get("hubs")
    asked = [
        _json_text(hub, "url")
        for hub in (hubs if isinstance(hubs, list) else ())
        if isinstance(hub, dict) and _json_text(hub, "type").lower() == "websub"
    ]
    hub = next((url for url in asked if 0 < len(url) <= LONGEST_HUB), "")
    own = _json_text(value, "feed_url")
    dates = [
        instant_of(_json_text(item, name))
        for item in value["items"][:MOST_DATED]
        if isinstance(item, dict)
        for name in ("date_published", "date_modified")
    ]
    newest = max((at for at in dates if at is not None), default=None)
    return _json_text(value, "title"), Hub(hub, own if len(own) <= LONGEST_HUB else "") if hub else Hub(), newest


def _link_in_json(item: Mapping[str, Any]) -> str:
    return _json_text(item, "url") or _json_text(item, "external_url")


def _json_enclosures(item: Mapping[str, Any]) -> tuple[str, ...]:
    attached = item.get("attachments")
    found = (
        _json_text(one, "url") for one in (attached if isinstance(attached, list) else ()) if isinstance(one, dict)
    )
    return tuple(dict.fromkeys(filter(None, found)))


def _json_text(item: Mapping[str, Any], name: str) -> str:
    """Return a text, or a number as one (ids are numbers in many feeds)."""
    value = item.get(name)
    return write_scalar(value).strip() if isinstance(value, (str, float)) else ""
