"""The walk through a part of a page: the intersection of the selectors, without what is excluded.

`walk` reads whole pages only; this one also knows where a part begins, which tables and lists are
in it, and reads a script, a title or a `meta` that is selected explicitly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field

from selectolax.lexbor import LexborNode

from tidings.document.html.images import image_of
from tidings.document.html.walk import BREAK, IN_LINE, WITHOUT_TEXT, Place
from tidings.document.select.chosen import Chosen, Shape
from tidings.document.text.cents import POINT, has_cents
from tidings.record import dataclass

_LISTS = frozenset(("ul", "ol", "dl", "menu"))
_KEEPS_LINES = frozenset(("pre", "textarea", "listing", "xmp", "plaintext"))
_OWN_WAY = frozenset((*WITHOUT_TEXT, "sup"))
_TEXT_ATTRIBUTES = {"meta": "content", "input": "value"}


@dataclass(slots=True)
class WalkedPart:
    """The result of a walk through a part. `roots` are its top nodes, in document order."""

    pieces: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    link_places: list[Place] = field(default_factory=list)
    image_places: list[Place] = field(default_factory=list)
    roots: list[LexborNode] = field(default_factory=list)
    tables: list[LexborNode] = field(default_factory=list)
    lists: list[LexborNode] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _OpenElement:
    node: LexborNode
    is_block: bool
    keeps_lines: bool
    entered: tuple[int, ...]
    is_drawing: bool


class Walk:
    """Walks through the intersection of `chosen` without `excluded` (ids of nodes)."""

    def __init__(self, chosen: Sequence[Chosen] = (), excluded: frozenset[int] = frozenset()) -> None:
        self._chosen = chosen
        self._excluded = excluded
        self._inside = [0] * len(chosen)
        self._outside = len(chosen)
        self._lines = 0
        self._drawings = 0
        self._open_links: dict[int, int] = {}

    def through(self, root: LexborNode) -> WalkedPart:
        """Return the part at and below `root`."""
        part = WalkedPart()
        open_elements: list[_OpenElement] = []
        node: LexborNode | None = root
        while True:
            if node is not None:
                child = self._visit(node, part, open_elements)
                if child is not None:
                    node = child
                    continue
                if not open_elements:
                    return part
                node = node.next
            while node is None:
                last = open_elements.pop()
                self._leave_node(last, part)
                if not open_elements:
                    return part
                node = last.node.next

    def _visit(self, node: LexborNode, part: WalkedPart, open_elements: list[_OpenElement]) -> LexborNode | None:
        """Process a node; return its first child if its descendants are to be walked: it is then
        open.
        """
        number = node.mem_id
        if number in self._excluded:
            if node.tag not in IN_LINE:
                part.pieces.append(BREAK)
            return None
        was_outside = self._outside > 0
        entered = self._enter(number)
        begins = was_outside and not self._outside
        if node.is_text_node:
            if not self._outside:
                self._put(node.text_content or "", part, begins=begins)
                if begins:
                    part.roots.append(node)
            self._leave(entered)
            return None
        if not node.is_element_node:
            self._leave(entered)
            return None
        tag = node.tag or ""
        if begins:
            part.roots.append(node)
            part.pieces.append(BREAK)
        self._attributes(number, part)
        is_block = tag not in IN_LINE
        if not self._outside:
            if is_block:
                part.pieces.append(BREAK)
            elif tag == "sup" and has_cents(node, part.pieces, BREAK, IN_LINE):
                part.pieces.append(POINT)
            self._note(node, tag, part, begins=begins)
        child = None
        if tag not in WITHOUT_TEXT:
            child = node.first_child
        elif begins and tag not in {"template", "iframe"}:
            part.pieces.append(node.text(deep=True))
        if child is not None:
            opened = _OpenElement(node, is_block or begins, tag in _KEEPS_LINES, entered, tag == "svg")
            self._lines += opened.keeps_lines
            self._drawings += opened.is_drawing
            open_elements.append(opened)
            return child
        if not self._outside and (is_block or begins):
            part.pieces.append(BREAK)
        self._leave(entered)
        return None

    def _leave_node(self, last: _OpenElement, part: WalkedPart) -> None:
        if self._open_links and (link := self._open_links.pop(last.node.mem_id, None)) is not None:
            part.link_places[link] = (part.link_places[link][0], len(part.pieces))
        if last.is_block and not self._outside:
            part.pieces.append(BREAK)
        self._lines -= last.keeps_lines
        self._drawings -= last.is_drawing
        self._leave(last.entered)

    def _enter(self, number: int) -> tuple[int, ...]:
        if not self._chosen:
            return ()
        entered = tuple(place for place, chosen in enumerate(self._chosen) if number in chosen.nodes)
        for place in entered:
            self._inside[place] += 1
            self._outside -= self._inside[place] == 1
        return entered

    def _leave(self, entered: tuple[int, ...]) -> None:
        for place in entered:
            self._inside[place] -= 1
            self._outside += self._inside[place] == 0

    def _put(self, text: str, part: WalkedPart, *, begins: bool) -> None:
        if begins:
            part.pieces.append(BREAK)
        if self._lines and "\n" in text:
            for line in text.split("\n"):
                part.pieces.extend((line, BREAK))
        else:
            part.pieces.append(text)
        if begins:
            part.pieces.append(BREAK)

    def _attributes(self, number: int, part: WalkedPart) -> None:
        """Add the matched attribute texts of this node, if all other selectors match here."""
        for place, chosen in enumerate(self._chosen):
            if number in chosen.attributes and self._outside - (self._inside[place] == 0) == 0:
                for text in chosen.attributes[number]:
                    part.pieces.extend((BREAK, text, BREAK))

    def _note(self, node: LexborNode, tag: str, part: WalkedPart, *, begins: bool) -> None:
        if tag == "table":
            part.tables.append(node)
        elif tag in _LISTS:
            part.lists.append(node)
        elif tag in {"a", "area"}:
            address = node.attrs.get("href")
            if address is not None and not (tag == "a" and self._drawings):
                part.links.append(address)
                part.link_places.append((len(part.pieces), len(part.pieces)))
                if tag == "a" and node.first_child is not None:
                    self._open_links[node.mem_id] = len(part.links) - 1
        elif tag == "img" and (address := image_of(node)) is not None:
            part.images.append(address)
            part.image_places.append((len(part.pieces), len(part.pieces)))
        if begins and (attribute := _TEXT_ATTRIBUTES.get(tag)) is not None:
            part.pieces.extend((node.attrs.get(attribute) or "", BREAK))


def text_below(node: LexborNode, excluded: frozenset[int] = frozenset()) -> str:
    """Return the text of an element in one line."""
    child = node.first_child
    if child is not None and child.is_text_node and child.next is None and not excluded and node.tag not in _OWN_WAY:
        return " ".join((child.text_content or "").split())
    return " ".join("".join(Walk(excluded=excluded).through(node).pieces).split())


def elements_below(
    node: LexborNode, names: frozenset[str], within: frozenset[str] = frozenset()
) -> Iterator[LexborNode]:
    """Yield the elements of these names below a node, in order, not nested; only through elements
    `within` if given.
    """
    open_elements: list[LexborNode] = []
    child = node.first_child
    while True:
        while child is None:
            if not open_elements:
                return
            child = open_elements.pop().next
        tag = child.tag or ""
        if tag in names:
            yield child
        elif child.first_child is not None and (not within or tag in within):
            open_elements.append(child)
            child = child.first_child
            continue
        child = child.next


def shape_of(root: LexborNode) -> Shape:
    """Return the nesting of a page."""
    shape = Shape()
    inside: Counter[str] = Counter()
    open_elements: list[tuple[LexborNode, int]] = []
    node: LexborNode | None = root
    before = around = 0
    while True:
        while node is None:
            if not open_elements:
                return shape
            last, before = open_elements.pop()
            around -= before + 1
            inside[last.tag or ""] -= 1
            node, before = last.next, before + 1
        if node.is_element_node:
            shape.places[len(open_elements), before] += 1
            shape.counted += around + before + 1
            tag = node.tag or ""
            shape.nested[tag] = max(shape.nested.get(tag, 0), inside[tag] + 1)
            if node.first_child is not None:
                inside[tag] += 1
                open_elements.append((node, before))
                around += before + 1
                node, before = node.first_child, 0
                continue
            before += 1
        node = node.next
