"""Offers: price and availability of a page's product, from its structured data (schema.org, Open
Graph).

JSON-LD is read first, then microdata, then the `meta` elements of Open Graph; price and
availability each come from the first source that has one. The product is the outermost, first thing
of the page with offers: related, similar or reviewed things, and lists of things, are ignored. A
script that cannot be read, or is too long, is skipped.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from selectolax.lexbor import LexborNode

from tidings.document.data.json_tree import JsonTree, write_scalar
from tidings.document.document import Document
from tidings.document.extract import take
from tidings.document.select.trees import HtmlTree
from tidings.document.select.within import text_below
from tidings.record import dataclass

LONGEST_SCRIPT: Final = 2_000_000
"""The longest script of JSON-LD that is read, in characters; a longer one is skipped."""

MOST_VALUES: Final = 50_000
"""The most values of all JSON-LD of a page that are searched for offers."""

MOST_OFFERS: Final = 1_000
"""The most offers of a thing, and the most members of a property, that are read."""

MOST_SCOPES: Final = 100
"""The most offers of microdata that are read; each is searched for its properties."""

_ELSEWHERE = frozenset(
    """itemListElement isRelatedTo isSimilarTo isAccessoryOrSparePartFor isConsumableFor review reviews aggregateRating breadcrumb
    about mentions significantLink relatedLink subjectOf""".split()
)
"""Properties that lead to things other than the page's product."""
_WRAPPED = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)|(?:-->|//\s*\]\]>|/\*\s*\]\]>\s*\*/|\]\]>)\s*$"
)
_TRAILING = re.compile(r",\s*([}\]])")
_LISTED = ("StrikethroughPrice", "ListPrice", "SRP", "MSRP", "RegularPrice")
_THING = re.compile(
    r"schema\.org/(?:Product|ProductGroup|ProductModel|IndividualProduct|SomeProducts|Vehicle|Car|Book|Event|SoftwareApplication)\b"
)
_AMOUNTS = ("product:price:amount", "og:price:amount", "product:sale_price:amount")
_CURRENCIES = ("product:price:currency", "og:price:currency", "product:sale_price:currency")
_STATES = ("product:availability", "og:availability")


@dataclass(frozen=True, slots=True)
class Offer:
    """One offer as the page writes it: the price, its currency (ISO 4217, or as written), the
    availability; each empty if missing.
    """

    price: str = ""
    currency: str = ""
    availability: str = ""


def offers_of(document: Document) -> tuple[tuple[Offer, ...], tuple[Offer, ...]]:
    """Return (the offers with a price, those with an availability), each of the first source that
    has any.

    Raises `RefusedError` if the part of the page cannot be extracted.
    """
    prices: tuple[Offer, ...] = ()
    states: tuple[Offer, ...] = ()
    for found in _sources(document):
        prices = prices or tuple(offer for offer in found if offer.price)
        states = states or tuple(offer for offer in found if offer.availability)
        if prices and states:
            break
    return prices, states


def _sources(document: Document) -> Iterator[list[Offer]]:
    part = take(document)
    if part is None:
        return
    if isinstance(document.tree, JsonTree):
        yield _find_linked(list(part.roots))
        return
    if not isinstance(document.tree, HtmlTree):
        return
    places = part.roots if document.extraction.selectors else (document.tree.root,)
    roots = [place for place in places if isinstance(place, LexborNode) and place.is_element_node]
    yield _find_linked([value for script in _scripts(roots, part.excluded) if (value := _read(script)) is not None])
    yield _microdata(roots, part.excluded)
    yield _open_graph(roots, part.excluded)


# -- JSON-LD --------------------------------------------------------------------------------------


def _scripts(roots: Iterable[LexborNode], excluded: frozenset[int]) -> Iterator[str]:
    for root in roots:
        for node in _drop_excluded(_find(root, "script"), excluded):
            kind = (node.attrs.get("type") or "").partition(";")[0].strip().lower()
            if kind == "application/ld+json":
                yield node.text(deep=True)


def _read(text: str) -> Any:
    """Return the value of a script, None if it cannot be read; comments around it and trailing
    commas are tolerated.
    """
    if len(text) > LONGEST_SCRIPT:
        return None
    plain = _WRAPPED.sub("", text)
    for attempt in (plain, _TRAILING.sub(r"\1", plain)):
        try:
            return json.loads(attempt, parse_float=str, parse_int=str, parse_constant=str, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _find_linked(values: list[Any]) -> list[Offer]:
    """Return the offers of the first thing that has any, breadth first, so that the outermost comes
    first.
    """
    nodes = list(_objects(values))
    named = {node["@id"]: node for node in reversed(nodes) if isinstance(node.get("@id"), str) and len(node) > 1}
    for node in nodes:
        if found := list(islice(_offers_in(node, named), MOST_OFFERS)):
            return found
    return []


def _objects(values: list[Any]) -> Iterator[Mapping[str, Any]]:
    waiting = deque(values)
    for _ in range(MOST_VALUES):
        if not waiting:
            return
        value = waiting.popleft()
        if isinstance(value, list):
            waiting.extend(value[:MOST_VALUES])
        elif isinstance(value, dict):
            yield value
            waiting.extend(member for name, member in value.items() if name not in _ELSEWHERE)


def _offers_in(node: Mapping[str, Any], named: Mapping[str, Mapping[str, Any]]) -> Iterator[Offer]:
    """Yield the offers of a thing: its own, else those of its variants."""
    own = next(_members(node.get("offers"), named), None)
    for value in _members(node.get("offers"), named):
        yield from _offers_of_value(value, named)
    if own is None:
        for variant in _members(node.get("hasVariant"), named):
            for value in _members(variant.get("offers"), named):
                yield from _offers_of_value(value, named)


def _members(value: Any, named: Mapping[str, Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a property, without duplicates; a reference is resolved."""
    known: set[int] = set()
    for member in islice(value if isinstance(value, list) else [value], MOST_OFFERS):
        meant = member
        if isinstance(member, str):
            meant = named.get(member)
        elif isinstance(member, dict) and len(member) == 1:
            meant = named.get(str(member.get("@id")), member)
        if isinstance(meant, dict) and id(meant) not in known:
            known.add(id(meant))
            yield meant


def _offers_of_value(offer: Mapping[str, Any], named: Mapping[str, Mapping[str, Any]]) -> Iterator[Offer]:
    inner = list(_members(offer.get("offers"), named))
    state, currency = _get_text(offer.get("availability")), _get_text(offer.get("priceCurrency"))
    price = _get_text(offer.get("price")) or _get_text(offer.get("lowPrice"))
    if not price:
        specified = _find_specification(offer, named)
        price = _get_text(specified.get("price")) or _get_text(specified.get("minPrice"))
        currency = currency or _get_text(specified.get("priceCurrency"))
    if price or state or not inner:
        yield Offer(price, currency, state)
        return
    for one in inner:
        yield Offer(
            _get_text(one.get("price")),
            _get_text(one.get("priceCurrency")) or currency,
            _get_text(one.get("availability")),
        )


def _find_specification(offer: Mapping[str, Any], named: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the price specification of an offer, preferably not a list price."""
    every = list(_members(offer.get("priceSpecification"), named))
    meant = [one for one in every if not str(one.get("priceType", "")).endswith(_LISTED)]
    return next(iter(meant or every), {})


def _get_text(value: Any) -> str:
    """Return a value as a text: the first of several, the name of an object."""
    while isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("@id") or value.get("@value") or value.get("name") or ""
    if isinstance(value, float):
        value = write_scalar(value)
    return " ".join(value.split())[:200] if isinstance(value, str) else ""


# -- microdata and Open Graph
# -----------------------------------------------------------------------


def _microdata(roots: Iterable[LexborNode], excluded: frozenset[int]) -> list[Offer]:
    """Return the offers of the first thing with any, each from the element that is its scope."""
    found: list[Offer] = []
    thing: int | None = None
    for root in roots:
        scopes = _find(root, '[itemtype*="schema.org/Offer"], [itemtype*="schema.org/AggregateOffer"]')
        for scope in scopes[:MOST_SCOPES]:
            owner = _thing_around(scope, excluded)
            if owner is None or (thing is not None and owner != thing):
                continue
            offer = Offer(
                _property(scope, "price", excluded) or _property(scope, "lowPrice", excluded),
                _property(scope, "priceCurrency", excluded),
                _property(scope, "availability", excluded),
            )
            if offer != Offer() and len(found) < MOST_OFFERS:
                thing = owner
                found.append(offer)
    return found


def _thing_around(scope: LexborNode, excluded: frozenset[int]) -> int | None:
    """Return the id of the outermost thing around an offer, 0 for none; None if the offer is
    excluded or of another thing.
    """
    thing = 0
    node: LexborNode | None = scope
    while node is not None and node.is_element_node:
        if node.mem_id in excluded:
            return None
        properties = (node.attrs.get("itemprop") or "").split()
        if _ELSEWHERE.intersection(properties):
            return None
        if _THING.search(node.attrs.get("itemtype") or ""):
            thing = node.mem_id
        node = node.parent
    return thing


def _property(scope: LexborNode, name: str, excluded: frozenset[int]) -> str:
    selector = f'[itemprop~="{name}"]'
    node = next(_drop_excluded(scope.css(selector), excluded), None) if excluded else scope.css_first(selector)
    if node is None:
        return ""
    attributes = node.attrs
    for attribute in ("content", "href", "value", "data-price"):
        if value := (attributes.get(attribute) or "").strip():
            return value[:200]
    return text_below(node, excluded)[:200]


def _open_graph(roots: Iterable[LexborNode], excluded: frozenset[int]) -> list[Offer]:
    properties: dict[str, str] = {}
    for root in roots:
        for node in _drop_excluded(_find(root, "meta"), excluded):
            name = (node.attrs.get("property") or node.attrs.get("name") or "").lower()
            content = " ".join((node.attrs.get("content") or "").split())
            if name and content:
                properties.setdefault(name, content[:200])

    def first(names: Iterable[str]) -> str:
        return next((properties[name] for name in names if name in properties), "")

    offer = Offer(first(_AMOUNTS), first(_CURRENCIES), first(_STATES))
    return [] if offer == Offer() else [offer]


def _drop_excluded(nodes: Iterable[LexborNode], excluded: frozenset[int]) -> Iterator[LexborNode]:
    """Yield the nodes outside of excluded ones."""
    for node in nodes:
        above: LexborNode | None = node if excluded else None
        while above is not None and above.mem_id not in excluded:
            above = above.parent
        if above is None:
            yield node


def _find(root: LexborNode, selector: str) -> list[LexborNode]:
    """Return the matches of a selector at and below a node."""
    if root.parent is None or root.tag == "html":
        return list(root.css(selector))
    inside = root.css(selector)
    return [*(node for node in root.parent.css(selector) if node.mem_id == root.mem_id), *inside]
