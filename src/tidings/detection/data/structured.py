"""Choose the structured comparison: JSON by values, XML by elements, CSV by rows and cells
(detection §5).

Of texts that grow at their end, as logs do, only the new part is examined.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidings.detection.data.differences import (
    Difference,
    Span,
    TooManyError,
    compare_arrangements,
    finding_of_differences,
)
from tidings.detection.data.elements import compare_elements
from tidings.detection.data.json_values import compare_parts, compare_values
from tidings.detection.data.tabular import compare_cells
from tidings.detection.find.findings import finding_of_words, finding_of_words_without
from tidings.document.data.json_tree import JsonValues
from tidings.document.data.xml_tree import XmlTree
from tidings.document.document import Document
from tidings.document.structures.structure import JsonWhole, structure_of, structure_text
from tidings.model.observed.change import ChangeSet, Edit

Unwanted = tuple[list[Span], list[Span]]


def finding_of_content(old: Document, new: Document, unwanted: Unwanted | None = None) -> ChangeSet:
    """Return the changed words of two documents, by their structure if both have the same sort; see
    `finding_of_words`.

    The tokens of the spans of `unwanted`, (of `old`, of `new`), are ignored. Raises `RefusedError`
    if a part cannot be extracted.
    """
    try:
        differences = _differences(old, new)
    except (TooManyError, RecursionError):
        differences = None
    if differences is not None:
        return finding_of_differences(differences, old, new, unwanted or ((), ()))
    if unwanted is not None:
        return finding_of_words_without(old, new, unwanted)
    found = finding_of_appended(old, new)
    found = finding_of_words(old, new) if found is None else found
    is_same = found or structure_text(old) == structure_text(new)
    return found if is_same else finding_of_differences(compare_arrangements(old, new), old, new)


def _differences(old: Document, new: Document) -> Sequence[Difference] | None:
    """Return the differences of two documents, None if they are to be compared as words."""
    before, after = structure_of(old), structure_of(new)
    if before is None or after is None or type(old.tree) is not type(new.tree):
        return None
    if isinstance(before, JsonWhole) and isinstance(after, JsonWhole):
        return compare_values(before.value, after.value)
    if isinstance(before, JsonValues) or isinstance(after, JsonValues):
        return (
            compare_parts(before, after) if isinstance(before, JsonValues) and isinstance(after, JsonValues) else None
        )
    if isinstance(before, Sequence) and isinstance(after, Sequence):
        return (
            compare_elements(before, after)
            if isinstance(old.tree, XmlTree)
            else compare_cells(before, after, (old, new))
        )
    return None


MOST_LINES = 1_000
"""Lines that are reported one by one; later ones are reported together."""

_LONGEST = 4_000


def finding_of_appended(old: Document, new: Document) -> ChangeSet | None:
    """Return what was appended to a plain text, line by line; None if anything else changed."""
    before, after = old.text, new.text
    if not (old.media == new.media == "text") or not before or len(before) >= len(after):
        return None
    if not (before[-1].isspace() or after[len(before)].isspace()) or not after.startswith(before):
        return None
    if old.words == new.words:
        return ChangeSet()
    lines = [line for line in (" ".join(line.split()) for line in after[len(before) :].splitlines()) if line]
    shown = lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        shown.append(" ".join(lines[MOST_LINES:]))
    return ChangeSet(
        kinds=("words",),
        inserted=tuple(line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…" for line in shown),
        edits=(Edit("insert", old.words, old.words, old.words, new.words),),
    )
