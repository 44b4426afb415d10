"""Lists: the items of `ul`, `ol`, `dl` and `menu`, the matches of a selector, or repeated elements
(detection §1.4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from selectolax.lexbor import LexborNode

from tidings.document.document import Document
from tidings.document.extract import clean, take
from tidings.document.select.trees import TakenPart
from tidings.document.select.within import elements_below, text_below
from tidings.record import dataclass

_LISTS = frozenset({"ul", "ol", "dl", "menu"})
_ITEMS = frozenset({"li", "dt", "dd"})
_WITHIN = frozenset({"div"})


@dataclass(frozen=True, slots=True)
class ListItem:
    """One item: its text in one line, its id and the address of its first link, each empty if there
    is none.

    `is_ranked`: its list is ordered (`ol`).
    """

    text: str
    id: str = ""
    link: str = ""
    is_ranked: bool = False


def has_list(document: Document, ordinal: int) -> bool:
    """Return whether a page has so many lists, nested ones counted where they begin."""
    part = take(document)
    return part is not None and len(part.lists) >= ordinal


def items_of(document: Document, ordinal: int | None = None) -> list[ListItem]:
    """Return the items of list `ordinal` of a part, from 1; with None of all lists.

    If a selector matches several parts, each of them is an item; if it matches one without a list,
    its repeated elements are. Raises `RefusedError` if the part cannot be extracted.
    """
    asked = ("list", ordinal)
    if asked not in document.readings:
        document.readings[asked] = _read(document, ordinal)
    return [*document.readings[asked]]


def _read(document: Document, ordinal: int | None) -> list[ListItem]:
    part = take(document)
    if part is None or not all(isinstance(node, LexborNode) for node in part.roots):
        return []
    nodes = _nodes(part, ordinal)
    found = (
        _item(node, part.excluded, document, is_ranked=is_ranked)
        for node, is_ranked in nodes
        if node.mem_id not in part.excluded
    )
    return [item for item in found if item.text or item.link]


def _nodes(part: TakenPart, ordinal: int | None) -> Sequence[tuple[LexborNode, bool]]:
    """Return the nodes of items, each with whether their order counts."""
    if ordinal is not None:
        return _items(part.lists[ordinal - 1]) if len(part.lists) >= ordinal else []
    if len(part.roots) > 1:
        return [(root, False) for root in part.roots]
    known = {node.mem_id for node in part.lists}
    lists = [node for node in part.lists if not _is_within_one(node, known)]
    if lists:
        return [item for node in lists for item in _items(node)]
    return [(node, False) for node in _find_repeated(part.roots[0])] if part.roots else []


def _items(node: LexborNode) -> list[tuple[LexborNode, bool]]:
    return [(item, node.tag == "ol") for item in elements_below(node, _ITEMS, within=_WITHIN)]


def _is_within_one(node: LexborNode, known: Collection[int]) -> bool:
    above = node.parent
    while above is not None:
        if above.mem_id in known:
            return True
        above = above.parent
    return False


def _find_repeated(root: LexborNode) -> list[LexborNode]:
    """Return the children with the most common tag, if there are at least two of them."""
    children = list(root.iter(include_text=False))
    tags = Counter(child.tag for child in children)
    if not tags:
        return []
    tag, number = tags.most_common(1)[0]
    return [child for child in children if child.tag == tag] if number > 1 else [root]


def _item(node: LexborNode, excluded: frozenset[int], document: Document, *, is_ranked: bool) -> ListItem:
    text = clean(text_below(node, excluded), document.extraction)
    if not node.is_element_node:
        return ListItem(text)
    link = node if node.tag == "a" else node.css_first("a[href]")
    address = (link.attrs.get("href") or "") if link is not None else ""
    return ListItem(text, node.attrs.get("id") or "", address, is_ranked)
