"""Promise: hostile inputs that concern the whole product have the outcome of
`docs/design/hostile.md`.
"""

from __future__ import annotations

import pytest

from tests.hostile_product import PRODUCT_ROWS


@pytest.mark.parametrize("row", PRODUCT_ROWS, ids=[f"{row.id}-{n}" for n, row in enumerate(PRODUCT_ROWS)])
def test_hostile_input_has_the_required_outcome(make_world, row):
    """Such as refusal at save, headers and cookies that stay with their origin, and truncated
    bodies that are polled again.
    """
    assert row.expected == row.story(make_world())
