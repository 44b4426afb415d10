"""Hostile inputs inside a body have the outcome of `docs/design/hostile.md`."""

import pytest

from tests.bounded import bound_time
from tests.hostile_content import CONTENT_ROWS
from tests.hostile_product import PRODUCT_ROWS

IDS = [f"{row.id}-{number}" for number, row in enumerate(CONTENT_ROWS)]


@pytest.mark.parametrize("row", CONTENT_ROWS, ids=IDS)
def test_hostile_content_has_its_outcome(row):
    """H-053 to H-074 and H-120 are read, limited, or refused with a reason; none raises, and none
    is lost silently.
    """
    with bound_time(10 * row.most_seconds):
        got = row.story()

    assert row.expected == got


def test_every_hostile_row_is_tested():
    """They are H-053 to H-074, H-119 and H-120, each at least once, some with the whole product."""
    ids = {row.id for row in CONTENT_ROWS} | {row.id for row in PRODUCT_ROWS}

    assert set() == {f"H-{number:03}" for number in (*range(53, 75), 119, 120)} - ids
