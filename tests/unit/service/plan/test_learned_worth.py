"""The stored worth of the changes of a page."""

from __future__ import annotations

import pytest

from tests.unit.service.plan.test_worth import page
from tidings.estimation.worth import Block, End, InterestShare, Survival
from tidings.model.interval import DAY, HOUR
from tidings.model.watch.sentinel import ChangeLife
from tidings.service.plan.worth import LearnedWorth, record, reports_all, spell

KNOWN = LearnedWorth(
    InterestShare(12, 1),
    Survival((Block((3, 5), 7, 2), Block((2**52,), 9)), (End(1, HOUR, is_gone=True), End(4, DAY, is_gone=False)), 8),
    ChangeLife("changes", changes=10),
)


@pytest.mark.parametrize("known", [KNOWN, LearnedWorth(), LearnedWorth(life=ChangeLife("window", span=7 * DAY))])
def test_stored_worth_round_trips(known):
    """The worth is complete, empty or partial."""
    assert known == LearnedWorth.of(known.text)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"reports": [1]}', KNOWN.text.replace('"version"', '"other"')])
def test_unreadable_text_is_no_worth(text):
    """Nothing is shown."""
    assert LearnedWorth() == LearnedWorth.of(text)
    assert [] == spell(text)


@pytest.mark.parametrize(
    ("life", "output"),
    [
        (ChangeLife("overwrite"), "until the next change"),
        (ChangeLife("changes", changes=10), "for about 10 further ones"),
        (ChangeLife("window", span=7 * DAY), "for about 7 d"),
    ],
)
def test_worth_is_shown_in_plain_words(life, output):
    """The words give the number of reported changes and the life of their content."""
    text = LearnedWorth(KNOWN.interest, KNOWN.survival, life).text

    assert "reports 1 of 12 changes of this page" == spell(text)[0]
    assert output in spell(text)[1]
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
def test_sentinel_without_a_selection_reports_all_changes(clauses, all_of_it):
    """The sentinel watches the whole page or all words, without a condition."""
    (sub,) = page("", monitor=clauses).subscriptions.values()

    assert all_of_it == reports_all(sub)
