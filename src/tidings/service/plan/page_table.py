"""Page table: the watched pages as arrays, so that one vectorized pass finds the due ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidings.scheduling.policy import NEVER, Floats, Ids, Instants, Mask, Rows

_FIRST_ROWS: Final = 4096
_FREE: Final[dict[str, tuple[type[np.generic], Any]]] = {
    "ids": (np.int64, -1),
    "host": (np.int64, 0),
    "due": (np.int64, NEVER),
    "tick": (np.int64, NEVER),
    "closes": (np.int64, NEVER),
    "busy": (np.bool_, False),
    "forced": (np.bool_, False),
    "cost": (np.float64, 1.0),
    "rendered": (np.bool_, False),
    "class_number": (np.int64, 0),
    "promised": (np.float64, 0.0),
    "open_share": (np.float64, 1.0),
}
"""The arrays, and their values in a free row, which is never due."""


class PageTable:
    """One row per page. `due` and `tick` are instants (NEVER: none), `closes` the end of the hours
    of the due time, `busy` whether the page is reserved, `forced` whether it is polled whatever its
    schedule, `class_number` the number of the class that pays, `promised` the cost of its fixed
    intervals per µs, `open_share` the share of time in which it may be polled on change.
    """

    ids: Ids
    host: Ids
    due: Instants
    tick: Instants
    closes: Instants
    busy: Mask
    forced: Mask
    cost: Floats
    rendered: Mask
    class_number: Ids
    promised: Floats
    open_share: Floats

    def __init__(self) -> None:
        self._row: dict[int, int] = {}
        self._hosts: dict[str, int] = {}
        for name, (kind, free) in _FREE.items():
            setattr(self, name, np.full(_FIRST_ROWS, free, kind))
        self._free_rows = list(range(_FIRST_ROWS - 1, -1, -1))
        self._leaving: set[int] = set()
        """pages no longer watched but still reserved: if they return meanwhile, they return
        reserved
        """

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self._row)

    def __contains__(self, page_id: int) -> bool:
        """Return whether a page has a row."""
        return page_id in self._row

    def __getitem__(self, page_id: int) -> int:
        """Return the row of a page. Raises KeyError."""
        return self._row[page_id]

    def get(self, page_id: int) -> int | None:
        """Return the row of a page, None if it has none."""
        return self._row.get(page_id)

    def enter(self, page_id: int, host: str, *, rendered: bool) -> bool:
        """Add a row for a page; return False if it has one."""
        if page_id in self._row:
            return False
        if not self._free_rows:
            self._grow()
        row = self._row[page_id] = self._free_rows.pop()
        self.ids[row] = page_id
        self.host[row] = self.code(host)
        self.rendered[row] = rendered
        self.busy[row] = page_id in self._leaving
        return True

    def leave(self, page_id: int) -> None:
        """Remove a page's row."""
        row = self._row.pop(page_id, None)
        if row is None:
            return
        if self.busy[row]:
            self._leaving.add(page_id)
        for name, (_, free) in _FREE.items():
            getattr(self, name)[row] = free
        self._free_rows.append(row)

    def reserve(self, page_id: int) -> bool:
        """Reserve a page; return False if it is reserved already."""
        row = self._row.get(page_id)
        if row is None or self.busy[row]:
            return False
        self.busy[row] = True
        return True

    def release(self, page_id: int) -> bool:
        """Release a page; return whether it has a row."""
        self._leaving.discard(page_id)
        row = self._row.get(page_id)
        if row is not None:
            self.busy[row] = False
        return row is not None

    def ready(self, now: int) -> Rows:
        """Return the rows of the pages that are due or requested, and not reserved."""
        return np.flatnonzero(((self.due <= now) | self.forced) & ~self.busy)

    def of_host(self, host: str) -> list[int]:
        """Return the pages of a host."""
        found: list[int] = self.ids[(self.host == self._hosts.get(host, -1)) & (self.ids >= 0)].tolist()
        return found

    def code(self, host: str) -> int:
        """Return the number of a host."""
        return self._hosts.setdefault(host, len(self._hosts))

    def rows(self, page_ids: Iterable[int]) -> Rows:
        """Return the rows of pages. Raises KeyError."""
        return np.array([self._row[page_id] for page_id in page_ids], np.intp)

    def names_of(self, codes: NDArray[np.int64]) -> list[tuple[str, int]]:
        """Return the distinct hosts of these numbers, with their numbers."""
        wanted = set(codes.tolist())
        if len(wanted) * 4 > len(self._hosts):
            return [(name, code) for name, code in self._hosts.items() if code in wanted]
        names = {code: name for name, code in self._hosts.items() if code in wanted}
        return [(names[code], code) for code in sorted(wanted)]

    def _grow(self) -> None:
        size = len(self.ids)
        for name, (kind, free) in _FREE.items():
            setattr(self, name, np.concatenate([getattr(self, name), np.full(size, free, kind)]))
        self._free_rows = list(range(2 * size - 1, size - 1, -1))
