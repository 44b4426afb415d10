"""The number of examples of a property test."""

from __future__ import annotations

from hypothesis import settings


def share(part: float) -> settings:
    """Return settings for a part of the usual examples (`TESTS_EXAMPLES`): the property is dear, or holds for each row of a table."""
    return settings(max_examples=max(1, round(settings().max_examples * part)))
