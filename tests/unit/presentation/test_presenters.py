from typing import Any

import pytest

from tests.unit.presentation.records import record
from tidings.presentation.presenters import FEW, view_of

UPDATES = [{"old": f"{n}", "new": f"{n + 1}"} for n in range(FEW + 1)]


def links(number: int) -> dict[str, Any]:
    """Return what a record says of so many new links."""
    new = [f"https://shop.example/{n}" for n in range(number)]
    counts = [{"kind": "links", "object": link, "old": 0, "new": 1} for link in new]
    return {"kind": "links", "updated": [], "inserted": new, "counts": counts}


def make_change(share: float) -> list[list[tuple[str, str]]]:
    """Return one stretch of a page of which this share of the characters changed."""
    return [[("same", "x" * round(1_000 * (1 - share))), ("inserted", "y" * round(1_000 * share))]]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"updated": UPDATES[:FEW]}, "changes"),
        ({"updated": UPDATES[:FEW], "merged": make_change(0.9)}, "changes"),
        ({"updated": UPDATES}, "changes"),
        ({"updated": UPDATES, "merged": make_change(0.29)}, "single"),
        ({"updated": UPDATES, "merged": make_change(0.31)}, "dual"),
        (links(FEW + 1), "table"),
        (links(FEW), "changes"),
    ],
)
def test_auto_goes_by_how_many_changed_and_how_much(told, expected):
    """A few edits are shown alone, more objects in a table, more words with marks in the page, and side by side where much changed (W-110)."""
    assert expected == view_of("auto", record(**told))


@pytest.mark.parametrize(
    ("presentation", "expected"),
    [("only_change", "changes"), ("single_frame", "single"), ("dual_frame", "dual"), ("table", "table")],
)
def test_who_names_a_view_gets_it(presentation, expected):
    """However many and much changed."""
    for told in ({}, {"updated": UPDATES, "merged": make_change(0.5)}):
        assert expected == view_of(presentation, record(**told))
