"""The mirror: an lxml tree built node by node from lexbor's, for XPath (contracts §8).

Element k of one is element k of the other, in document order, so that XPath matches name nodes of
the tree that everything else reads. Made only for sentinels with XPath; imported only where pages
are parsed.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree
from selectolax.lexbor import LexborNode

from tidings.document.select.chosen import NOTHING, Chosen, RefusedError, check_matches, check_xpath
from tidings.model.watch.interest import Selector

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9_.\-]")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Mirror:
    """A tree for XPath, mapped to the nodes of another."""

    def __init__(self, root: LexborNode) -> None:
        self._elements: dict[Any, int] = {}
        self._texts: dict[tuple[Any, bool], list[int]] = {}
        self._depth = 1
        self._root = self._grow(root)

    def find(self, selector: Selector) -> Chosen:
        """Return the matches of an XPath. Raise `RefusedError` for one that is too expensive or
        matches no nodes.
        """
        check_xpath(selector.text, len(self._elements), self._depth)
        found = evaluate(selector, self._root)
        nodes: set[int] = set()
        attributes: dict[int, tuple[str, ...]] = {}
        for item in found:
            if not isinstance(item, str):
                if (number := self._elements.get(item)) is not None:
                    nodes.add(number)
                continue
            parent = item.getparent()  # type: ignore[attr-defined]
            if item.is_attribute:  # type: ignore[attr-defined]
                number = self._elements[parent]
                attributes[number] = (*attributes.get(number, ()), str(item))
            else:
                nodes.update(self._texts.get((parent, item.is_tail), ()))  # type: ignore[attr-defined]
        return Chosen(frozenset(nodes), attributes) if nodes or attributes else NOTHING

    def _grow(self, root: LexborNode) -> Any:
        """Build the tree without recursion, without comments, so that the text around them is
        joined.
        """
        top = self._element(root, None)
        open_elements: list[tuple[LexborNode, Any]] = []
        parent, last = top, None
        node = root.first_child
        while True:
            while node is None:
                if not open_elements:
                    return top
                node, element = open_elements.pop()
                parent, last = element.getparent(), element
                node = node.next
            if node.is_text_node:
                self._text(node, parent, last)
            elif node.is_element_node:
                element = self._element(node, parent)
                last = element
                child = node.first_child
                if child is not None:
                    open_elements.append((node, element))
                    self._depth = max(self._depth, len(open_elements) + 1)
                    node, parent, last = child, element, None
                    continue
            node = node.next

    def _element(self, node: LexborNode, parent: Any) -> Any:
        name = node.tag or "_"
        if not _NAME.fullmatch(name):
            name = _NOT_IN_NAME.sub("_", name) or "_"
            name = name if _NAME.fullmatch(name) else f"_{name}"
        element = etree.Element(name) if parent is None else etree.SubElement(parent, name)
        for key, value in node.attrs.items():
            if _NAME.fullmatch(key):
                element.set(key, _NOT_XML.sub("\ufffd", value or ""))
        self._elements[element] = node.mem_id
        return element

    def _text(self, node: LexborNode, parent: Any, last: Any) -> None:
        text = _NOT_XML.sub("\ufffd", node.text_content or "")
        if last is None:
            parent.text = (parent.text or "") + text
            self._texts.setdefault((parent, False), []).append(node.mem_id)
        else:
            last.tail = (last.tail or "") + text
            self._texts.setdefault((last, True), []).append(node.mem_id)


def evaluate(selector: Selector, root: Any, namespaces: dict[str, str] | None = None) -> list[Any]:
    """Return the nodes that an XPath 1.0 without extension functions matches. Raise `RefusedError`
    if it is invalid, or gives a value.
    """
    try:
        found = etree.XPath(selector.text, namespaces=namespaces, regexp=False)(root)
    except (etree.XPathError, ValueError, MemoryError) as error:
        raise RefusedError(f'xpath "{selector.text}" cannot be used here: {error}') from error
    if not isinstance(found, list):
        raise RefusedError(f'xpath "{selector.text}" finds a value, not a part of the page')
    check_matches(selector, len(found))
    return found
