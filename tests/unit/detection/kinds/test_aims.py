"""The part of a page for each interest, and the parts of an expression for one of several pages
(sentinels §4.1, §4.5).
"""

import pytest

from tidings.detection.ask.expression import evaluate, evaluate_each
from tidings.detection.ask.pair import Pair
from tidings.detection.kinds.aims import needs_nodes, scopes_of
from tidings.document.parse import parse
from tidings.document.select.chosen import RefusedError
from tidings.document.select.extraction import WHOLE, Extraction, extraction_of
from tidings.model.watch.sentinel import AllOf, AnyOf, Interest, Not, Selector, Sentinel, StopWords, Transform, Watched

ANY, WORDS, LINKS = (Interest(kind) for kind in ("any", "words", "links"))


def css(text):
    return Selector("css", text)


def within(kind, selector, **more):
    return Interest(kind, selector=css(selector), **more)


def pair(old, new):
    return Pair(*(parse(t.encode(), "text/html", url="http://x.org/", keep_tree=True) for t in (old, new)))


PAGE = "<p id=a>{}</p><p id=b>{}</p><p id=c>{}</p>"


def find(expression, old, new, extraction=WHOLE):
    return list(evaluate(expression, pair(PAGE.format(*old), PAGE.format(*new)), extraction).updated)


@pytest.mark.parametrize(
    ("expression", "new", "expected"),
    [
        (within("words", "#a"), "213", [("1", "2")]),
        (within("words", "#a"), "193", []),
        (AnyOf((within("words", "#a"), within("words", "#b"))), "293", [("1", "2"), ("2", "9")]),
        (AllOf((within("words", "#a"), within("words", "#b"))), "293", [("1", "2"), ("2", "9")]),
        (AllOf((within("words", "#a"), within("words", "#b"))), "223", []),
        (AllOf((WORDS, Not(within("words", "#a")))), "293", [("2", "9")]),
        (AllOf((ANY, Not(within("any", "#a")))), "223", []),
        (AllOf((ANY, Not(within("any", "#a")), Not(within("words", "#b")))), "294", [("3", "4")]),
        (AllOf((within("words", "#b"), Not(within("links", "#a")))), "194", [("2", "9")]),
        (AllOf((within("words", "#a"), Not(within("words", "#b")))), "293", [("1", "2")]),
        (AllOf((within("words", "#a"), Not(within("words", "#a b")))), "293", [("1", "2")]),
        (AllOf((within("words", "#a"), Not(within("words", "#b")))), "223", [("1", "2")]),
        (AllOf((AnyOf((WORDS, LINKS)), Not(within("words", "#a")))), "293", [("2", "9")]),
        (AllOf((WORDS, Not(within("words", "#a", direction="inserted")))), "293", []),
    ],
)
def test_each_interest_has_its_part_of_a_page(expression, new, expected):
    """NOT of a part removes it from what contains it, and is a veto beside what does not."""
    assert expected == find(expression, "123", new)


def test_selector_of_an_interest_is_within_that_of_the_sentinel():
    """Select, Exclude and Transform hold for every interest."""
    sentinel = Sentinel(
        name="s",
        pages=(Watched("http://x.org/"),),
        monitor=ANY,
        select=css("p"),
        exclude=(css("#b"), StopWords(("x",))),
        transform=(Transform("sort"),),
    )
    extraction = extraction_of(sentinel)

    assert Extraction((css("p"),), (css("#b"), StopWords(("x",))), (Transform("sort"),)) == extraction
    assert [("3", "4")] == find(within("words", "#c"), "123", "294", extraction)
    assert [] == find(within("words", "#b"), "123", "293", extraction)
    assert [] == find(WORDS, "123", "321", extraction)


def test_tokens_are_numbered_over_all_parts():
    """Those of a part follow those of the parts before it in the expression."""
    expression = AnyOf((within("words", "#c"), within("words", "#a")))
    change = evaluate(expression, pair(PAGE.format("1 2", "x", "3 4"), PAGE.format("1 9", "x", "3 8")))

    assert (Extraction((css("#c"),)), Extraction((css("#a"),))) == scopes_of(expression, WHOLE)
    assert [(1, 2), (3, 4)] == [(edit.old_start, edit.old_end) for edit in change.edits]


def test_missing_part_is_not_compared_and_a_new_one_is_inserted():
    """It is not empty, and the rest is compared. A part that appears came from nothing, unless its
    absence was in doubt.
    """
    both = AnyOf((within("words", "#a"), within("words", "#b")))

    assert [] == list(evaluate(within("words", "#a"), pair("<p id=a>1", "<p>1")).deleted)
    assert ["1"] == list(evaluate(within("words", "#a"), pair("<p>1", "<p id=a>1")).inserted)
    doubting = pair("<p>1", "<p id=a>1").doubting(frozenset({'css "#a"'}))
    assert [] == list(evaluate(within("words", "#a"), doubting).inserted)
    assert [("2", "3")] == list(evaluate(both, pair("<p id=a>1<p id=b>2", "<p id=b>3")).updated)


def test_part_is_selected_in_each_frame():
    """One frame may have it."""
    one, two = pair("<p>1", "<p>2"), pair("<p id=a>1", "<p id=a>2")

    assert [0, 1] == [len(change.updated) for change in evaluate_each(within("words", "#a"), [one, two])]


def test_impossible_part_is_refused():
    """An invalid XPath gives no comparison."""
    with pytest.raises(RefusedError):
        evaluate(Interest("words", selector=Selector("xpath", "count(//p)")), pair("<p>1", "<p>2"))


@pytest.mark.parametrize(
    ("expression", "extraction", "expected"),
    [
        (ANY, WHOLE, False),
        (Interest("number"), WHOLE, False),
        (Interest("regex", pattern="x"), WHOLE, False),
        (Interest("items"), WHOLE, True),
        (Interest("table"), WHOLE, True),
        (within("words", "#a"), WHOLE, True),
        (ANY, Extraction(transform=(Transform("sort"),)), True),
        (AllOf((ANY, Not(within("any", "#a")))), WHOLE, True),
    ],
)
def test_parse_tree_is_kept_only_for_parts(expression, extraction, expected):
    """Whole pages are compared without it."""
    assert expected == needs_nodes(expression, extraction)
