"""Texts that grow at their end, as logs do: only the new part is examined (detection §5)."""

from __future__ import annotations

from tidings.document.document import Document
from tidings.model.observed.change import ChangeSet, Edit

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
    told = lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        told.append(" ".join(lines[MOST_LINES:]))
    return ChangeSet(
        kinds=("words",),
        inserted=tuple(line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…" for line in told),
        edits=(Edit("insert", old.words, old.words, old.words, new.words),),
    )
