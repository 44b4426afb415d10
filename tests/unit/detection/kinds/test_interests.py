"""The leaves of an expression, and its part for one of several pages (sentinels §4.5)."""

import pytest

from tidings.detection.kinds.interests import (
    LONGEST,
    TERMS_SHOWN,
    Subject,
    interests_of,
    is_across,
    label_of,
    on_page,
    subjects_of,
    uses_masks,
)
from tidings.model.watch.interest import AllOf, AnyOf, Condition, Interest, Not, Selector

ANY, WORDS, LINKS, STATUS = (Interest(kind) for kind in ("any", "words", "links", "status"))
OF_A, OF_B = Interest("any", of="A"), Interest("words", of="B")


@pytest.mark.parametrize(
    ("expression", "a", "b", "is_joined"),
    [
        (ANY, ANY, ANY, False),
        (OF_A, OF_A, None, False),
        (AnyOf((OF_A, OF_B)), OF_A, OF_B, False),
        (AllOf((OF_A, OF_B)), OF_A, OF_B, True),
        (AllOf((OF_A, Not(OF_B))), OF_A, OF_B, True),
        (AllOf((OF_A, Not(Interest("links", of="A")))), AllOf((OF_A, Not(Interest("links", of="A")))), None, False),
        (AllOf((OF_A, LINKS)), AllOf((OF_A, LINKS)), LINKS, True),
        (AnyOf((AllOf((OF_A, OF_B)), LINKS)), AnyOf((OF_A, LINKS)), AnyOf((OF_B, LINKS)), True),
    ],
)
def test_parts_of_other_pages_are_left_out(expression, a, b, is_joined):
    """They are for the combination of pages; a single NOT is asked for its content."""
    assert (a, b, is_joined) == (on_page(expression, "A"), on_page(expression, "B"), is_across(expression))


def test_leaves_are_in_the_order_of_the_text():
    """Those of NOT too."""
    assert [ANY, OF_A, OF_B, LINKS] == [*interests_of(AllOf((AnyOf((ANY, Not(OF_A))), OF_B, LINKS)))]


def test_subjects_are_pages_and_answers():
    """Two changes of one page are of one subject; its status is another one."""
    assert {Subject(None, is_answer=False)} == subjects_of(AllOf((ANY, WORDS)))
    assert {Subject("A", is_answer=False), Subject(None, is_answer=True)} == subjects_of(AnyOf((OF_A, STATUS)))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (AllOf((ANY, STATUS)), True),
        (AnyOf((ANY, STATUS)), False),
        (AllOf((ANY, AllOf((OF_A, OF_B)))), True),
        (AllOf((STATUS, Interest("header", header="etag"))), False),
        (Not(AllOf((OF_A, OF_B))), True),
        (STATUS, False),
    ],
)
def test_only_and_joins_several_subjects(expression, expected):
    """At any depth."""
    assert expected is is_across(expression)


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        (AllOf((OF_A, Not(OF_B))), OF_B),
        (AllOf((Not(OF_A), Not(OF_B))), OF_B),
        (AllOf((OF_A, Not(OF_B), Not(Interest("links", of="B")))), AnyOf((OF_B, Interest("links", of="B")))),
        (AllOf((OF_A, LINKS, Not(OF_B))), AllOf((LINKS, Not(OF_B)))),
        (AnyOf((OF_A,)), None),
        (Not(OF_A), None),
        (Not(OF_B), Not(OF_B)),
    ],
)
def test_not_alone_on_a_page_is_what_it_negates(expression, part):
    """The change is found there, and the combination of pages says what it means."""
    assert part == on_page(expression, "B")


@pytest.mark.parametrize(
    ("interest", "expected"),
    [
        (ANY, True),
        (LINKS, True),
        (Interest("number"), False),
        (Interest("keywords", terms=("x",)), False),
        (Interest("any", where=(Condition("page has", text="x"),)), True),
        (Interest("any", where=(Condition("never seen"),)), True),
        (Interest("any", where=(Condition("changed", ">"), Condition("page has", text="x"))), False),
    ],
)
def test_explicit_interest_uses_no_masks(interest, expected):
    """By its type, or by a condition on what changed."""
    assert expected is uses_masks(interest)


@pytest.mark.parametrize(
    ("interest", "label"),
    [
        (ANY, "text"),
        (WORDS, "text"),
        (LINKS, "links"),
        (Interest("table", ordinal=2, selector=Selector("css", "#results")), 'table 2 in css "#results"'),
        (Interest("keywords", terms=("a", "b", "c", "d")), 'keywords "a", "b", "c"'),
        (Interest("regex", pattern="x+"), 'regex "x+"'),
    ],
)
def test_label_is_in_words_of_the_language(interest, label):
    """It has a few terms at most, and is bounded."""
    assert label == label_of(interest)
    assert 3 == TERMS_SHOWN
    assert LONGEST == len(label_of(Interest("regex", pattern="x" * 500)))
