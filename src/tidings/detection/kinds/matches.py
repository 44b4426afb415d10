"""Regular expressions: the matches of an RE2 pattern in the lines of a page, as a multiset (004
§3.4.2; detection §1.4).
"""

from __future__ import annotations

from tidings.detection.compare.objects import compare_objects
from tidings.detection.find.findings import finding_of_body, finding_of_objects
from tidings.document.document import Document
from tidings.document.html.lines import matches_of
from tidings.document.select.chosen import RefusedError
from tidings.document.text.words import plain, show
from tidings.model.observed.change import ChangeSet
from tidings.record import dataclass

MOST_MATCHES = 100_000
"""The most matches in one version."""


@dataclass(frozen=True, slots=True)
class Regex:
    """A pattern. An object is a match, or its group if it has one, or its groups joined by
    spaces.
    """

    pattern: str = ""
    name: str = "regex"
    contains: frozenset[str] = frozenset({"regex"})
    digests: tuple[str, ...] = ("lines", "body")

    def size(self, document: Document) -> int:
        """Return the number of matches."""
        return len(self._find(document))

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the matches whose counts differ."""
        if old.textless or new.textless:
            return finding_of_body(old, new)
        was, now = self._find(old), self._find(new)
        own = {plain(text): text for text in (*was, *now)}
        rows = compare_objects(self.name, *([own[plain(text)] for text in side] for side in (was, now)))
        return (finding_of_objects(self.name, rows),) if rows else ()

    def _find(self, document: Document) -> list[str]:
        return matches_in(self.pattern, document)


def matches_in(pattern: str, document: Document) -> list[str]:
    """Return the matches of a pattern in a document, in order. Raise `RefusedError` if there are
    too many.
    """
    found: list[str] = []
    for line in document.lines if pattern else ():
        for match in matches_of(pattern, line):
            groups = [group for group in match.groups if group is not None] if match.groups else [match.text]
            if text := show(" ".join(groups)):
                found.append(text)
        if len(found) > MOST_MATCHES:
            raise RefusedError(f"regex {pattern[:80]} matches more than {MOST_MATCHES:,} times")
    return found
