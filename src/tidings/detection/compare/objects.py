"""Objects (links, images, anything countable) compared as multisets (004 §5.4.1).

The thesis sorts by hash and compares windows; the result is the difference of two counts, computed
here directly. Strings are compared as strings: two with the same hash differ (detection §1.3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tidings.model.observed.change import ObjectCount


def compare_objects(kind: str, old: Iterable[str], new: Iterable[str]) -> tuple[ObjectCount, ...]:
    """Return a row for each object whose count differs.

    In the order of first occurrence in `new`, then in `old`. A missing object counts 0.
    """
    before, after = Counter(old), Counter(new)
    rows = [ObjectCount(kind, name, before[name], count) for name, count in after.items() if count != before[name]]
    rows += [ObjectCount(kind, name, count, 0) for name, count in before.items() if name not in after]
    return tuple(rows)
