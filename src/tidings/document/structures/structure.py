"""The structure of data: the content of JSON, XML and CSV with places, in a form that Python
compares at once (detection §5).

It is a value of `data.json_tree` or parts of one, a list of nodes of `data.xml_tree` or of rows
of `data.csv_rows`; two documents with equal structures are equal. If words or patterns are excluded
from a text, or it is transformed, there are only lines, and no structure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidings.document.data.csv_rows import CsvTree
from tidings.document.data.json_tree import JsonTree, JsonValues, Value
from tidings.document.data.xml_tree import XmlTree
from tidings.document.document import Document
from tidings.model.watch.interest import Selector
from tidings.record import dataclass


@dataclass(frozen=True, slots=True)
class JsonWhole:
    """A whole JSON document."""

    value: Value


Structure = JsonWhole | JsonValues | Sequence[Any]


def structure_of(document: Document) -> Structure | None:
    """Return the structure of a document, None if it has none or one that is too deep to be walked.

    Raises `RefusedError` if its part cannot be extracted.
    """
    extraction = document.extraction
    if extraction.transform or not all(isinstance(excluded, Selector) for excluded in extraction.exclude):
        return None
    if document.problem:
        return None
    is_missing = document.missing is not None
    try:
        match document.tree:
            case JsonTree() as tree:
                if is_missing:
                    return JsonValues((), [], tree.value)
                return tree.parts(extraction) if any(extraction.nodes) else JsonWhole(tree.typed)
            case XmlTree() as tree:
                return [] if is_missing else tree.nodes(extraction)
            case CsvTree() as tree:
                return [] if extraction.selectors else list(tree.rows)
            case _:
                return None
    except RecursionError:
        return None


def structure_text(document: Document) -> str:
    """Return a text that is equal for two documents only if their structures are; empty for a
    document without one.

    For XML that is too large for a tree it is Canonical XML, so that no change is missed.
    """
    structure = structure_of(document)
    if structure is None:
        return document.tree.canonical if isinstance(document.tree, XmlTree) and document.extraction.is_whole else ""
    try:
        return repr(structure.identifying_key() if isinstance(structure, JsonValues) else structure)
    except RecursionError:
        return f"too deep {document.text}"
