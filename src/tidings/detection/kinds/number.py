"""Number and regular expressions: the first number of the text, and the matches of a pattern, as
change types and for conditions (sentinels §1.3; 004 §3.4.2; detection §1.4).
"""

from __future__ import annotations

from decimal import Decimal

from tidings.detection.compare.instances import compare_objects
from tidings.detection.find.findings import finding_of_body, finding_of_objects
from tidings.detection.find.numerals import WrittenNumber, number_in, values
from tidings.document.document import Document
from tidings.document.html.lines import matches_of
from tidings.document.select.chosen import RefusedError
from tidings.document.text.words import plain, show
from tidings.model.observed.change import ChangeSet, Edit
from tidings.record import dataclass, replace


def find_number(document: Document, nth: int = 1) -> WrittenNumber | None:
    """Return the first number of a document's text, or its `nth` (-1: the last); None if it has
    none.
    """
    return number_in(document.text, is_json=document.media == "json", nth=nth)


def numbers(old: Document, new: Document, nth: int = 1) -> tuple[Decimal | None, Decimal | None]:
    """Return the first or `nth` number of each of two versions of a page."""
    return values(find_number(old, nth), find_number(new, nth))


def number_digest(document: Document) -> str:
    """Return the digest input of the first number: its notation."""
    number = find_number(document)
    return "" if number is None else f"{number.is_negative} {number.is_money} {number.sense} {number.digits}"


@dataclass(frozen=True, slots=True)
class Number:
    """The first number of the text, or its `ordinal`th (-1: the last). Another notation or currency
    is no change; a deleted or inserted number is.
    """

    ordinal: int | None = None
    name: str = "number"
    contains: frozenset[str] = frozenset({"number"})
    digests: tuple[str, ...] = ("number", "body")

    def for_ordinal(self, ordinal: int | None) -> Number:
        """Return this type for another number, which the digest of the first one does not cover."""
        return replace(self, ordinal=ordinal, digests=("lines", "body"))

    def is_there(self, document: Document) -> bool:
        """Return whether the text has that number; a first or last one that is lost is a change."""
        return self.ordinal in {None, -1} or self.size(document) == 1

    def size(self, document: Document) -> int:
        """Return 1 if there is a number."""
        return int(find_number(document, self.ordinal or 1) is not None)

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the two numbers as written, if they differ. If a numbered one is lost, `is_there`
        reports a missing part instead.
        """
        if old.textless or new.textless:
            return finding_of_body(old, new)
        before, after = (find_number(one, self.ordinal or 1) for one in (old, new))
        was, now = values(before, after)
        if was == now or not self.is_there(new):
            return ()
        return (_finding(old, new, before, after),)


def _finding(old: Document, new: Document, before: WrittenNumber | None, after: WrittenNumber | None) -> ChangeSet:
    gone = old.tokens_at(before.start, before.end) if before is not None else (len(old.tokens),) * 2
    come = new.tokens_at(after.start, after.end) if after is not None else (len(new.tokens),) * 2
    return ChangeSet(
        kinds=("number",),
        inserted=(after.text,) if after is not None and before is None else (),
        deleted=(before.text,) if before is not None and after is None else (),
        updated=((before.text, after.text),) if before is not None and after is not None else (),
        edits=(Edit("insert" if before is None else "delete" if after is None else "replace", *gone, *come),),
    )


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
