"""Images in several sizes: one that shares a size with an old image is the same one (W-97)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from tidings.model.observed.change import ObjectCount


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
