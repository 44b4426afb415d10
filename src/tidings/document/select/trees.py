"""Trees: the kept parse of a body, so that parts can be extracted without parsing again.

One parse serves every extraction of a job; extractions are cached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Protocol

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from tidings.document.html.walk import Place
from tidings.document.select.chosen import NOTHING, Chosen, RefusedError, Shape, check_css, check_matches
from tidings.document.select.css import for_lexbor
from tidings.document.select.extraction import Extraction, Nodes
from tidings.document.select.within import Walk, WalkedPart, shape_of
from tidings.model.watch.interest import Selector
from tidings.record import dataclass


@dataclass(frozen=True, slots=True)
class TakenPart:
    """A part of a page. `missing` is the selector without a match, None if all match.

    `roots` are the top nodes of the part, `tables` and `lists` those in it, `excluded` what is left
    out (ids of nodes of HTML, elements of XML). Of JSON, `roots` are values.
    """

    pieces: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    link_places: tuple[Place, ...] = ()
    image_places: tuple[Place, ...] = ()
    missing: Selector | None = None
    roots: tuple[Any, ...] = ()
    tables: tuple[LexborNode, ...] = ()
    lists: tuple[LexborNode, ...] = ()
    excluded: frozenset[Any] = frozenset()


class Tree(Protocol):
    """A parsed body."""

    def take(self, extraction: Extraction) -> TakenPart:
        """Return the part of an extraction, before words and patterns are removed. Raise
        `RefusedError` for one that costs too much.
        """
        ...


TakeFromScripts = Callable[[Sequence[str], Extraction], TakenPart]


class HtmlTree:
    """A page, with the parser's tree."""

    def __init__(self, tree: LexborHTMLParser, scripts: TakeFromScripts | None = None) -> None:
        """Keep the tree; `scripts` extracts parts of scripts by JSONPath, None for none."""
        self._tree = tree
        self._scripts = scripts
        self._chosen: dict[Selector, Chosen] = {}
        self._taken: dict[Nodes, TakenPart] = {}
        self._stand_ins: dict[Selector, Selector] = {}

    def stand_in(self, selector: Selector, other: Selector) -> None:
        """Register a replacement for `selector`, used wherever it matches nothing (`targets`)."""
        if self._stand_ins.get(selector) != other:
            self._stand_ins[selector] = other
            self._chosen.pop(selector, None)
            self._taken.clear()

    def standing_in(self, selector: Selector) -> Selector | None:
        """Return the replacement of a selector if it matches nothing, None if there is none."""
        return self._stand_ins.get(selector)

    def find(self, selector: Selector) -> Chosen:
        """Return the matches of a selector or its replacement. Raise `RefusedError` for one that
        costs too much.
        """
        return self._find(selector)

    @property
    def root(self) -> LexborNode | None:
        """Return the root of the page, None for an empty page."""
        return self._tree.root

    @cached_property
    def _mirror(self) -> Any:
        from tidings.document.select.mirror import Mirror  # lxml, only for users of XPath

        return Mirror(self._tree.root) if self._tree.root is not None else None

    @cached_property
    def _shape(self) -> Shape:
        return shape_of(self._tree.root) if self._tree.root is not None else Shape()

    def take(self, extraction: Extraction) -> TakenPart:
        """Return the part of an extraction."""
        asked = extraction.nodes
        if asked not in self._taken:
            self._taken[asked] = self._part(*asked)
        return self._taken[asked]

    def _part(self, selectors: tuple[Selector, ...], excluded: tuple[Selector, ...]) -> TakenPart:
        root = self._tree.root
        if root is None:
            return TakenPart(missing=selectors[0] if selectors else None)
        if self._scripts is not None and any(selector.language == "jsonpath" for selector in selectors):
            return self._of_scripts(self._scripts, selectors, excluded)
        chosen = [self._find(selector) for selector in selectors]
        out = frozenset(number for selector in excluded for number in self._find(selector).nodes)
        missing = next((selector for selector, found in zip(selectors, chosen, strict=True) if not found), None)
        if missing is not None:
            return TakenPart(missing=missing)
        part = Walk(chosen, out).through(root)
        has_attributes = any(found.attributes for found in chosen)
        if selectors and not part.roots and not (has_attributes and part.pieces):
            return TakenPart(missing=selectors[-1])
        return _take(part, out)

    def _of_scripts(
        self, take: TakeFromScripts, selectors: tuple[Selector, ...], excluded: tuple[Selector, ...]
    ) -> TakenPart:
        """Return the JSONPath matches in the scripts that the other selectors match; in all if
        there are none.
        """
        places = [self._find(selector) for selector in selectors if selector.language != "jsonpath"]
        out = {number for selector in excluded for number in self._find(selector).nodes}
        scripts = []
        for node in self._tree.css("script"):
            around = _with_ancestors(node)
            if not around & out and all(around & found.nodes for found in places):
                scripts.append(node.text(deep=True))
        paths = tuple(selector for selector in selectors if selector.language == "jsonpath")
        return take(scripts, Extraction(paths, tuple(one for one in excluded if one.language == "jsonpath")))

    def _find(self, selector: Selector) -> Chosen:
        if selector not in self._chosen:
            found = self.search(selector)
            if not found and selector in self._stand_ins:
                found = self.search(self._stand_ins[selector])
            self._chosen[selector] = found
        return self._chosen[selector]

    def search(self, selector: Selector) -> Chosen:
        """Return the matches of a selector itself. Raise `RefusedError` for one that costs too
        much.
        """
        if selector.language == "jsonpath":
            return NOTHING
        if selector.language == "xpath":
            found: Chosen = self._mirror.find(selector)
            return found
        check_css(selector.text, lambda: self._shape)
        try:
            nodes = self._tree.css(for_lexbor(selector.text))
        except SelectolaxError as error:
            raise RefusedError(f'css "{selector.text}" cannot be read: {error}') from error
        check_matches(selector, len(nodes))
        return Chosen(frozenset(node.mem_id for node in nodes))


def _with_ancestors(node: LexborNode) -> set[int]:
    """Return the ids of a node and of its ancestors."""
    found = set()
    above: LexborNode | None = node
    while above is not None:
        found.add(above.mem_id)
        above = above.parent
    return found


def _take(part: WalkedPart, excluded: frozenset[int]) -> TakenPart:
    return TakenPart(
        pieces=tuple(part.pieces),
        links=tuple(part.links),
        images=tuple(part.images),
        link_places=tuple(part.link_places),
        image_places=tuple(part.image_places),
        roots=tuple(part.roots),
        tables=tuple(part.tables),
        lists=tuple(part.lists),
        excluded=excluded,
    )
