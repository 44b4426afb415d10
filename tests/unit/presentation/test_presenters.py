"""The view that is chosen for a change."""

from typing import Any

import pytest

from tests.unit.presentation.records import record
from tidings.presentation.presenters import FEW, view_of

UPDATES = [{"old": f"{n}", "new": f"{n + 1}"} for n in range(FEW + 1)]


def links(number: int) -> dict[str, Any]:
    """Return the change record of so many new links."""
    new = [f"https://shop.example/{n}" for n in range(number)]
    counts = [{"kind": "links", "object": link, "old": 0, "new": 1} for link in new]
    return {"kind": "links", "updated": [], "inserted": new, "counts": counts}


def make_change(share: float) -> list[list[tuple[str, str]]]:
    """Return an edit of a page in which this share of the characters changed."""
    return [[("same", "x" * round(1_000 * (1 - share))), ("inserted", "y" * round(1_000 * share))]]


@pytest.mark.parametrize(
    ("shown", "expected"),
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
def test_auto_depends_on_the_number_and_size_of_edits(shown, expected):
    """A few edits are listed, more objects are a table, more words are marked in the page, and
    large changes are side by side (W-110).
    """
    assert expected == view_of("auto", record(**shown))


@pytest.mark.parametrize(
    ("presentation", "expected"),
    [("only_change", "changes"), ("single_frame", "single"), ("dual_frame", "dual"), ("table", "table")],
)
def test_given_view_is_used(presentation, expected):
    """It is, for all numbers and sizes."""
    for shown in ({}, {"updated": UPDATES, "merged": make_change(0.5)}):
        assert expected == view_of(presentation, record(**shown))
