"""The watched pages as arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.scheduling.policy import NEVER
from tidings.service.plan.page_table import _FIRST_ROWS, PageTable


def make_table(*pages: int) -> PageTable:
    """Return a table of pages with different hosts, none of them due."""
    table = PageTable()
    for page in pages:
        table.enter(page, f"h{page}", rendered=False)
    return table


def test_page_has_one_row():
    """A page that is entered again keeps its row."""
    table = make_table(7)
    row = table[7]

    assert not table.enter(7, "h7", rendered=True)
    assert (1, row, True, False) == (len(table), table[7], 7 in table, 8 in table)
    assert table.get(8) is None
    with pytest.raises(KeyError):
        table[8]


def test_reused_row_has_no_values_of_the_former_page():
    """Due times, costs, classes and requests are reset."""
    table = make_table(1)
    row = table[1]
    for name, value in (("due", 5), ("tick", 5), ("closes", 9), ("forced", True), ("cost", 3.0), ("class_number", 2)):
        getattr(table, name)[row] = value
    table.leave(1)
    table.enter(2, "other", rendered=False)

    assert row == table[2]
    assert (NEVER, NEVER, NEVER, False, 1.0, 0) == (
        table.due[row],
        table.tick[row],
        table.closes[row],
        table.forced[row],
        table.cost[row],
        table.class_number[row],
    )


def test_ready_pages_are_due_or_requested_and_not_reserved():
    """A due time at this instant counts, one a microsecond later does not. Free rows are never
    ready.
    """
    table = make_table(1, 2, 3, 4)
    table.due[table.rows([1, 2])] = 100, 101
    table.forced[table[3]] = True
    table.due[table[4]] = 0
    table.reserve(4)

    assert [1, 3] == sorted(table.ids[table.ready(100)].tolist())


def test_page_is_reserved_once_until_released():
    """A page outside the table cannot be reserved."""
    table = make_table(1)

    assert [True, False] == [table.reserve(1), table.reserve(1)]
    assert table.release(1)
    assert table.reserve(1)
    assert not table.reserve(9)
    assert not table.release(9)


def test_page_that_returns_during_its_poll_is_still_reserved():
    """The page was unwatched and watched again, and must not be polled twice at once. A release in
    between counts.
    """
    table = make_table(1, 2)
    for page in (1, 2):
        table.reserve(page)
        table.leave(page)
    table.release(2)
    for page in (1, 2):
        table.enter(page, f"h{page}", rendered=False)

    assert [False, True] == [table.reserve(1), table.reserve(2)]


def test_pages_are_found_by_their_host():
    """An unknown host has none."""
    table = make_table()
    for page, host in ((1, "a"), (2, "b"), (3, "a")):
        table.enter(page, host, rendered=False)
    table.leave(2)

    assert [1, 3] == sorted(table.of_host("a"))
    assert [[], []] == [table.of_host("b"), table.of_host("c")]


def test_hosts_are_named_by_their_numbers():
    """Each is named once, even if it has many pages."""
    table = make_table(*range(1, 11))
    few, all_ = np.array([table.code("h3"), table.code("h3")]), table.host[table.rows(range(1, 11))]

    assert [("h3", table.code("h3"))] == table.names_of(few)
    assert {f"h{page}" for page in range(1, 11)} == {name for name, _ in table.names_of(all_)}


def test_growing_table_keeps_its_rows():
    """The table gets one page more than it has rows; each page has its own row."""
    pages = range(1, _FIRST_ROWS + 2)
    table = make_table(*pages)
    table.due[table[1]] = 50

    assert {*pages} == set(table.ids[table.rows(pages)].tolist())
    assert len(pages) == len(table)
    assert [1] == table.ids[table.ready(50)].tolist()
