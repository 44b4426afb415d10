"""XML in canonical form: ordered, labelled nodes (004 §5.1; detection §5).

It is Canonical XML without prefixes (a name has its namespace), white space between elements and
around texts, schema locations, comments and instructions. Two documents with equal nodes are equal.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from typing import Any

from lxml import etree

from tidings.document.data.structured import says_when_built

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
    if not says_when_built(element):
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
