"""Promise: hostile inputs that only the whole product can answer end as `docs/design/hostile.md` requires."""

from __future__ import annotations

import pytest

from tests.hostile_product import PRODUCT_ROWS


@pytest.mark.parametrize("row", PRODUCT_ROWS, ids=[f"{row.id}-{n}" for n, row in enumerate(PRODUCT_ROWS)])
def test_hostile_inputs_end_as_they_must(make_world, row):
    """REFUSE at save, headers stay with their origin, cookies with their page, cut and unchanged bodies are checked again."""
    assert row.expected == row.story(make_world())
