"""Figures and times on screens are short, and never finer than what they mean."""

from __future__ import annotations

import pytest

from tidings.clock import HOUR, SECOND
from tidings.web.markup import formats


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.0, "0"), (1.5e-17, "<0.001"), (0.0042, "0.0042"), (0.42, "0.42"), (4.0, "4"), (1_284.4, "1,284")],
)
def test_figure_that_is_nearly_nothing_says_only_that(value: float, said: str) -> None:
    """Others have two digits, and from ten on separators."""
    assert said == formats.number(value)


def test_check_within_a_second_is_now() -> None:
    """Nobody reads `in 0 s`."""
    assert ["now", "in 5\N{NO-BREAK SPACE}h", "just now"] == [formats.ago(at, 0) for at in (SECOND // 2, 5 * HOUR, 0)]


@pytest.mark.parametrize(
    ("duration", "shown"),
    [
        (0, "0"),
        (1, "0.1"),
        (SECOND // 10, "0.1"),
        (SECOND // 4, "0.3"),
        (SECOND - 1, "1"),
        (SECOND, "1"),
        (9 * SECOND, "9"),
    ],
)
def test_duration_below_a_second_has_tenths(duration: int, shown: str):
    """Something that took time does not show as nothing."""
    assert f"{shown}\N{NO-BREAK SPACE}s" == formats.span(duration)
