"""Lists: items that were inserted, deleted or reworded (004 §3.4.2; detection §1.4).

Their order is ignored, except in an ordered list (`ol`): there the fewest moved items are reported.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence

from rapidfuzz.distance import LCSseq

from tidings.detection.compare.pairing import least_moved
from tidings.detection.find.findings import KeyedUpdate, finding_of_body, finding_of_things
from tidings.document.document import Document
from tidings.document.structures.lists import ListItem, has_list, items_of
from tidings.model.observed.change import ChangeSet
from tidings.record import dataclass, replace

ALIKE = 0.6
"""An item is reworded if more than this share of both texts is left in order."""

MOST_PAIRED = 300
"""With more inserted or deleted items on a side, rewordings are not searched."""

_LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class Lists:
    """List `ordinal` of the page, or the items of all its lists."""

    ordinal: int | None = None
    name: str = "list"
    contains: frozenset[str] = frozenset({"list"})
    digests: tuple[str, ...] = ("lists", "body")

    def for_ordinal(self, ordinal: int | None) -> Lists:
        """Return this type for another list."""
        return replace(self, ordinal=ordinal)

    def is_there(self, document: Document) -> bool:
        """Return whether the page has that list."""
        return self.ordinal is None or has_list(document, self.ordinal)

    def size(self, document: Document) -> int:
        """Return the number of items."""
        return len(items_of(document, self.ordinal))

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:
        """Return the changes of the items."""
        if old.textless or new.textless:
            return finding_of_body(old, new)
        was, now = items_of(old, self.ordinal), items_of(new, self.ordinal)
        before, after = [item.text for item in was], [item.text for item in now]
        gone = subtract(before, after)
        come = subtract(after, before)
        pairs = alike(gone, come)
        updates = [KeyedUpdate(new_text, old_text, new_text) for old_text, new_text in pairs]
        finding = finding_of_things(
            self.name,
            subtract(gone, [old_text for old_text, _ in pairs]),
            subtract(come, [new_text for _, new_text in pairs]),
            updates,
            moved=_find_moved(was, now, dict(pairs)),
        )
        return (finding,) if finding else ()


def _find_moved(old: Sequence[ListItem], new: Sequence[ListItem], reworded: Mapping[str, str]) -> list[str]:
    """Return the items of ordered lists that moved among those that stayed."""
    places: dict[str, deque[int]] = {}
    for place, item in enumerate(old):
        if item.is_ranked:
            places.setdefault(reworded.get(item.text, item.text), deque()).append(place)
    stayed = [item.text for item in new if item.is_ranked and item.text in places]
    known = [(text, places[text].popleft()) for text in stayed if places[text]]
    return [known[at][0] for at in least_moved([place for _, place in known])]


def lists_digest(document: Document) -> str:
    """Return the digest of everything that the comparison of lists depends on."""
    items = items_of(document)
    ranked = [item.text for item in items if item.is_ranked]
    return "\x00".join((*sorted(item.text for item in items), "\x01", *ranked))


def subtract(texts: Sequence[str], without: Iterable[str]) -> list[str]:
    """Return the texts, in order, without those of `without`, as multisets."""
    gone = Counter(without)
    left: list[str] = []
    for text in texts:
        if gone[text] > 0:
            gone[text] -= 1
        else:
            left.append(text)
    return left


def alike(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of similar texts, best first, each text in one pair at most."""
    if not old or not new or len(old) > MOST_PAIRED or len(new) > MOST_PAIRED:
        return []
    rated = [
        (rate, i, j)
        for i, before in enumerate(old)
        for j, after in enumerate(new)
        if (rate := LCSseq.normalized_similarity(before[:_LONGEST], after[:_LONGEST], score_cutoff=ALIKE)) > ALIKE
    ]
    paired: list[tuple[int, int]] = []
    taken_old: set[int] = set()
    taken_new: set[int] = set()
    for _, i, j in sorted(rated, key=lambda row: (-row[0], row[1], row[2])):
        if i not in taken_old and j not in taken_new:
            taken_old.add(i)
            taken_new.add(j)
            paired.append((i, j))
    return [(old[i], new[j]) for i, j in sorted(paired, key=lambda pair: pair[1])]
