"""XML as a tree: parts of it by XPath 1.0, and its canonical form for comparison (004 §5.1;
detection §5).

Prefixes are those of the document; elements of its default namespace are named without one, so that
`//entry/title` works as people expect. The canonical form is Canonical XML without prefixes (a name
has its namespace), white space between elements and around texts, schema locations, comments and
instructions. Two documents with equal nodes are equal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from typing import Any

from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from tidings.document.data.structured import PARSING, attributes_of, is_build_date, links_of_xml
from tidings.document.html.lines import lines_of, pieces_of
from tidings.document.html.prescan import too_hard
from tidings.document.html.walk import BREAK
from tidings.document.select.chosen import RefusedError, check_xpath
from tidings.document.select.extraction import Extraction, Nodes
from tidings.document.select.mirror import evaluate
from tidings.document.select.trees import HtmlTree, TakenPart
from tidings.model.watch.interest import Selector

_BETWEEN = re.compile(r">\s+<")


class XmlTree:
    """An XML text; `pieces_of_html` reads embedded HTML. `node` is its root, if it is compared as a
    tree, `base` its address.
    """

    def __init__(
        self,
        text: str,
        pieces_of_html: Callable[[str | None], list[str]],
        *,
        with_attributes: bool,
        node: Node | None = None,
        base: str = "",
    ) -> None:
        self._base = base
        self._with_attributes = with_attributes
        self._node = node
        self._nodes: dict[Nodes, list[Node | str] | None] = {}
        self.text = text
        self._pieces_of_html = pieces_of_html
        self._taken: dict[Nodes, TakenPart] = {}
        self._namespaces: dict[str, str] = {}
        self._depth = 1

    @cached_property
    def canonical(self) -> str:
        """Return Canonical XML without white space between elements, empty for a feed."""
        if not self._with_attributes:
            return ""
        root = etree.fromstring(self.text.encode("utf-8", "replace"), etree.XMLParser(**PARSING))
        return _BETWEEN.sub("><", etree.tostring(root, method="c14n").decode())

    @cached_property
    def _root(self) -> Any:
        root = etree.fromstring(self.text.encode("utf-8", "replace"), etree.XMLParser(**PARSING))
        default = root.nsmap.get(None)
        for element in root.iter(etree.Element):
            for prefix, address in element.nsmap.items() if element.getparent() is None or element.prefix else ():
                if prefix is not None:
                    self._namespaces.setdefault(prefix, address)
            if default is not None and element.tag.startswith(f"{{{default}}}"):
                element.tag = etree.QName(element).localname
        return root

    @cached_property
    def _elements(self) -> list[Any]:
        elements = list(self._root.iter(etree.Element))
        self._depth = max((sum(1 for _ in element.iterancestors()) for element in elements[:1_000]), default=0) + 1
        return elements

    def take(self, extraction: Extraction) -> TakenPart:
        """Return the part of an extraction. Raise `RefusedError` for one that costs too much."""
        asked = extraction.nodes
        if asked not in self._taken:
            try:
                self._taken[asked] = self._part(*asked)
            except etree.XMLSyntaxError as error:
                raise RefusedError(f"the XML cannot be read: {error}") from error
        return self._taken[asked]

    def roots(self, extraction: Extraction) -> tuple[tuple[Any, ...], frozenset[Any]]:
        """Return the root elements of a part, and those excluded from it; for the whole nothing is
        searched.

        Raises `RefusedError` as `take` does.
        """
        part = self.take(extraction) if any(extraction.nodes) else TakenPart(roots=(self._root,))
        return part.roots, part.excluded

    def nodes(self, extraction: Extraction) -> list[Node | str] | None:
        """Return the nodes of a part, whose words are its pieces, None if it is not compared as a
        tree.

        Raises `RefusedError` as `take` does.
        """
        asked = extraction.nodes
        if not any(asked):
            return None if self._node is None else [self._node]
        self.take(extraction)
        return self._nodes.get(asked)

    def _part(self, selectors: tuple[Selector, ...], excluded: tuple[Selector, ...]) -> TakenPart:
        chosen = [self._find(selector) for selector in selectors]
        out = {item for selector in excluded for item in self._find(selector)[0]}
        for selector, (elements, texts) in zip(selectors, chosen, strict=True):
            if not elements and not texts:
                return TakenPart(missing=selector)
        roots = self._roots([elements for elements, _ in chosen], out)
        texts = chosen[-1][1] if chosen else []
        nodes = self._nodes[selectors, excluded] = self._nodes_of(texts, roots, out)
        links = tuple(links_of_xml(roots, self._base, out))
        if nodes is not None:
            words = pieces_of(words_of_nodes(nodes))
            return TakenPart(pieces=words, links=links, roots=tuple(roots), excluded=frozenset(out))
        pieces: list[str] = []
        for text in texts:
            pieces += [BREAK, text]
        for root in roots:
            self._read(root, out, pieces)
        if selectors and not pieces:
            return TakenPart(missing=selectors[-1]) if not roots else TakenPart(roots=tuple(roots))
        return TakenPart(pieces=tuple(pieces), links=links, roots=tuple(roots), excluded=frozenset(out))

    def _nodes_of(self, texts: list[str], roots: list[Any], out: set[Any]) -> list[Node | str] | None:
        if self._node is None or not (texts or roots):
            return None
        try:
            return [*texts, *(node_of(root, out) for root in roots)]
        except RecursionError:
            return None

    def _find(self, selector: Selector) -> tuple[dict[Any, None], list[str]]:
        """Return the elements, and the texts of attributes and of elements, that a selector
        matches.
        """
        if selector.language == "css":
            return {}, self._texts_in_html(selector)
        if selector.language != "xpath":
            return {}, []
        check_xpath(selector.text, len(self._elements), self._depth)
        found = evaluate(selector, self._root, self._namespaces)
        elements = {item: None for item in found if not isinstance(item, (str, tuple))}
        return elements, [str(item) for item in found if isinstance(item, str)]

    def _texts_in_html(self, selector: Selector) -> list[str]:
        """Return the texts that CSS matches in embedded HTML."""
        found: list[str] = []
        for element in self._elements:
            text = element.text or ""
            if not ("<" in text and ">" in text) or too_hard(text.encode("utf-8", "replace")):
                continue
            part = HtmlTree(LexborHTMLParser(text)).take(Extraction((selector,)))
            found += [one for line in lines_of(part.pieces) if (one := line.strip())]
        return found

    def _roots(self, chosen: list[dict[Any, None]], out: set[Any]) -> list[Any]:
        if not chosen:
            return [self._root]
        if any(not elements for elements in chosen):
            return []
        everywhere = {element for elements in chosen for element in elements}
        roots: list[Any] = []
        begun: set[Any] = set()
        for element in self._elements:
            if element not in everywhere:
                continue
            above = [element, *element.iterancestors()]
            if begun.intersection(above) or out.intersection(above):
                continue
            if all(any(place in elements for place in above) for elements in chosen):
                begun.add(element)
                roots.append(element)
        return roots

    def _read(self, root: Any, out: set[Any], pieces: list[str]) -> None:
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            pieces.append(BREAK)
            if event == "end":
                if element is not root:
                    pieces += self._pieces_of_html(element.tail)
                continue
            if element in out:
                walk.skip_subtree()
                continue
            if element is not root and is_build_date(element):  # an element selected by name is read
                continue
            if self._with_attributes:
                pieces += attributes_of(element)
            pieces += self._pieces_of_html(element.text)


MOST_ELEMENTS = 100_000
"""The most elements of a document that is compared as a tree; a larger one is compared as words."""

Attributes = tuple[tuple[str, str], ...]
Node = tuple[str, Attributes, tuple["Node | str", ...]]
"""An element: its name as `{namespace}name`, its attributes in the order of their names, its
children: elements and texts.
"""

_SCHEMA = ("}schemaLocation", "}noNamespaceSchemaLocation")


def is_small(root: Any) -> bool:
    """Return whether an element has few enough descendants to be compared as a tree."""
    return sum(1 for _ in zip(root.iter(), range(MOST_ELEMENTS + 1), strict=False)) <= MOST_ELEMENTS


def node_of(element: Any, out: Collection[Any] = frozenset()) -> Node:
    """Return the node of an element, without the elements `out` and their content. Raise
    RecursionError if it is nested too deep.
    """
    children: list[Node | str] = []
    if not is_build_date(element):
        _put(children, element.text)
        for child in element:
            if child.tag is etree.Entity:  # entities are not resolved: kept as written
                _put(children, child.text)
            elif isinstance(child.tag, str) and child not in out:
                children.append(node_of(child, out))
            _put(children, child.tail)
    attributes = ((name, _plain(value)) for name, value in sorted(element.items()) if not name.endswith(_SCHEMA))
    return element.tag, tuple(attributes), tuple(children)


def words_of_nodes(nodes: Iterable[Node | str]) -> list[str]:
    """Return the words of nodes: attribute values and texts, in order."""
    words: list[str] = []
    left: list[Node | str] = list(nodes)[::-1]
    while left:
        node = left.pop()
        if isinstance(node, str):
            words.append(node)
        else:
            words += (value for _, value in node[1])
            left += node[2][::-1]
    return words


def _put(children: list[Node | str], text: str | None) -> None:
    if text and (plain := _plain(text)):
        children.append(plain)


def _plain(text: str) -> str:
    plain = " ".join(text.split())
    return plain if plain.isascii() else unicodedata.normalize("NFC", plain)
