"""The hostile inputs inside a body end as `docs/design/hostile.md` requires."""

import pytest

from tests.bounded import bound_time
from tests.hostile_content import CONTENT_ROWS
from tests.hostile_product import PRODUCT_ROWS

IDS = [f"{row.id}-{number}" for number, row in enumerate(CONTENT_ROWS)]


@pytest.mark.parametrize("row", CONTENT_ROWS, ids=IDS)
def test_hostile_contents_end_as_they_must(row):
    """H-053 to H-074 and H-120: read, bounded, or refused with a reason; never raised, never silently lost."""
    with bound_time(10 * row.most_seconds):
        got = row.story()

    assert row.expected == got


def test_every_id_is_played():
    """H-053 to H-074, H-119 and H-120, each at least once, some against the whole product."""
    ids = {row.id for row in CONTENT_ROWS} | {row.id for row in PRODUCT_ROWS}

    assert set() == {f"H-{number:03}" for number in (*range(53, 75), 119, 120)} - ids
