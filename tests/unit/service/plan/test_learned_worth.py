"""What is stored of the worth of a page's changes."""

from __future__ import annotations

import pytest

from tests.unit.service.plan.test_worth import page
from tidings.estimation.worth import Block, End, InterestShare, Survival
from tidings.model.interval import DAY, HOUR
from tidings.model.watch.weight import ChangeLife
from tidings.service.plan.learned_worth import LearnedWorth, record, spell, tells_all

KNOWN = LearnedWorth(
    InterestShare(12, 1),
    Survival((Block((3, 5), 7, 2), Block((2**52,), 9)), (End(1, HOUR, is_gone=True), End(4, DAY, is_gone=False)), 8),
    ChangeLife("changes", changes=10),
)


@pytest.mark.parametrize("known", [KNOWN, LearnedWorth(), LearnedWorth(life=ChangeLife("window", span=7 * DAY))])
def test_it_is_read_as_it_was_written(known):
    """Whatever is known."""
    assert known == LearnedWorth.of(known.text)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"reports": [1]}', KNOWN.text.replace('"version"', '"other"')])
def test_what_cannot_be_read_is_as_if_nothing_were_known(text):
    """And nothing is said of it."""
    assert LearnedWorth() == LearnedWorth.of(text)
    assert [] == spell(text)


@pytest.mark.parametrize(
    ("life", "said"),
    [
        (ChangeLife("overwrite"), "until the next change"),
        (ChangeLife("changes", changes=10), "for about 10 further ones"),
        (ChangeLife("window", span=7 * DAY), "for about 7 d"),
    ],
)
def test_it_is_said_in_plain_words(life, said):
    """How many changes were reported, and how long what they bring is there."""
    text = LearnedWorth(KNOWN.interest, KNOWN.survival, life).text

    assert "reports 1 of 12 changes of this page" == spell(text)[0]
    assert said in spell(text)[1]
    assert (12, 1, life.mode) == (
        *(record(text)[name] for name in ("changes", "reported")),
        record(text)["life"]["mode"],
    )


@pytest.mark.parametrize(
    ("clauses", "all_of_it"),
    [
        ("Monitor any change", True),
        ("Monitor all words", True),
        ("Monitor any change where share >= 5%", False),
        ('Monitor keywords "flood"', False),
        ('Monitor any change Select css "main"', False),
        ('Monitor any change Exclude css "nav"', False),
        ("Monitor all links", False),
    ],
)
def test_who_has_nothing_to_choose_by_tells_all(clauses, all_of_it):
    """The whole page, any word of it, and no condition."""
    (sub,) = page("", monitor=clauses).subscriptions.values()

    assert all_of_it == tells_all(sub)
