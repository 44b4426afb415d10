"""Objects (links, images, anything countable) compared as multisets (004 §5.4.1).

The thesis sorts by hash and compares windows; the result is the difference of two counts, computed
here directly. Strings are compared as strings: two with the same hash differ (detection §1.3). An
image that shares a size with an old image is the same one (W-97).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from tidings.model.observed.change import ObjectCount


def compare_objects(kind: str, old: Iterable[str], new: Iterable[str]) -> tuple[ObjectCount, ...]:
    """Return a row for each object whose count differs.

    In the order of first occurrence in `new`, then in `old`. A missing object counts 0.
    """
    before, after = Counter(old), Counter(new)
    rows = [ObjectCount(kind, name, before[name], count) for name, count in after.items() if count != before[name]]
    rows += [ObjectCount(kind, name, count, 0) for name, count in before.items() if name not in after]
    return tuple(rows)


def as_before(
    rows: Sequence[ObjectCount],
    each: tuple[Sequence[str | None], Sequence[str | None]],
    sizes: tuple[Sequence[AbstractSet[str]], Sequence[AbstractSet[str]]],
) -> list[str | None]:
    """Return the new images, with the old names of those that are old images in other sizes.

    `rows` are the images whose counts differ, `each` the old and the new images in order, `sizes`
    the sizes of each. Only deleted and inserted images are matched, each once.
    """
    went = {row.object: row.old - row.new for row in rows if row.old > row.new}
    came = {row.object: row.new - row.old for row in rows if row.new > row.old}
    by_size: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for name, its in zip(each[0], sizes[0], strict=True):
        if name in went:
            for size in {name, *its}:
                by_size[size][name] = None
    named: list[str | None] = []
    for name, its in zip(each[1], sizes[1], strict=True):
        old = None
        if name is not None and came.get(name):
            shared = (one for size in (name, *sorted(its)) for one in by_size.get(size, ()) if went[one])
            old = next(shared, None)
        if name is not None and old is not None:
            went[old] -= 1
            came[name] -= 1
        named.append(old or name)
    return named
