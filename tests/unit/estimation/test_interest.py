"""How many of a page's changes a sentinel cares for."""

from __future__ import annotations

from tidings.estimation.interest import LEAST, InterestShare


def test_the_share_of_changes_that_are_reported_is_learned_and_never_small():
    """Half before anything is known, then what was seen; nobody is taken for somebody who does not care."""
    keen, picky = InterestShare(), InterestShare()
    for number in range(98):
        keen, picky = keen.after(reported=True), picky.after(reported=number == 0)

    assert [0.5, 0.99, LEAST] == [InterestShare().share, keen.share, picky.share]
    assert (98, 1) == (picky.visible, picky.reported)
