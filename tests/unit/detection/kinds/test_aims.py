"""Which part of a page each interest looks at, and what of an expression is about one page of several (sentinels §4.1, §4.5)."""

import pytest

from tidings.detection.ask.expression import evaluate, evaluate_each
from tidings.detection.ask.pair import Pair
from tidings.detection.job.selectors import absence
from tidings.detection.kinds.aims import needs_nodes, scopes_of
from tidings.detection.kinds.interests import is_across, on_page
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
def test_parts_of_one_page(expression, new, expected):
    """Each interest sees its part; NOT of a part takes it out of what contains it, and is a veto beside what does not."""
    assert expected == find(expression, "123", new)


def test_a_selector_stands_within_what_the_sentinel_selects():
    """Select, Exclude and Transform hold for every interest of a sentinel."""
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


def test_tokens_of_several_parts_are_counted_on():
    """The tokens of a part follow those of the parts before it, in the order in which the expression names them."""
    expression = AnyOf((within("words", "#c"), within("words", "#a")))
    change = evaluate(expression, pair(PAGE.format("1 2", "x", "3 4"), PAGE.format("1 9", "x", "3 8")))

    assert (Extraction((css("#c"),)), Extraction((css("#a"),))) == scopes_of(expression, WHOLE)
    assert [(1, 2), (3, 4)] == [(edit.old_start, edit.old_end) for edit in change.edits]


def test_a_part_that_is_gone_is_not_compared_and_one_that_appears_is_new():
    """It is no empty part; what else is looked at is compared. What appears came from nothing, unless it is doubted that it was away."""
    both = AnyOf((within("words", "#a"), within("words", "#b")))

    assert [] == list(evaluate(within("words", "#a"), pair("<p id=a>1", "<p>1")).deleted)
    assert ["1"] == list(evaluate(within("words", "#a"), pair("<p>1", "<p id=a>1")).inserted)
    doubting = pair("<p>1", "<p id=a>1").doubting(frozenset({'css "#a"'}))
    assert [] == list(evaluate(within("words", "#a"), doubting).inserted)
    assert [("2", "3")] == list(evaluate(both, pair("<p id=a>1<p id=b>2", "<p id=b>3")).updated)


@pytest.mark.parametrize(
    ("expression", "names", "is_all"),
    [
        (within("words", "#a"), (), False),
        (within("words", "#x"), ('css "#x"',), True),
        (AnyOf((within("words", "#x"), within("words", "#a"))), ('css "#x"',), False),
        (AnyOf((within("words", "#x"), within("links", "#y"))), ('css "#x"', 'css "#y"'), True),
        (AllOf((within("words", "#a"), Not(within("words", "#x")))), (), False),
        (Interest("table", ordinal=2), ("table 2",), True),
        (Interest("list", ordinal=1), (), False),
        (ANY, (), False),
    ],
)
def test_what_is_not_there_has_a_name(expression, names, is_all):
    """In the words of the language; what NOT names is nobody's loss."""
    document = parse(b"<p id=a>1<table><tr><td>1</table><ul><li>x</ul>", "text/html", keep_tree=True)
    lacking = absence(expression, WHOLE, [document])

    assert (names, is_all) == (lacking.names, lacking.is_all)
    assert not absence(within("words", "#x"), WHOLE, [document, parse(b"<b id=x>", "text/html", keep_tree=True)]).names


def test_members_of_a_page_with_frames_are_selected_each():
    """A part that one frame has is looked at there."""
    one, two = pair("<p>1", "<p>2"), pair("<p id=a>1", "<p id=a>2")

    assert [0, 1] == [len(change.updated) for change in evaluate_each(within("words", "#a"), [one, two])]


def test_what_cannot_be_taken_is_refused():
    """An XPath that is none is no comparison."""
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
def test_the_parsed_page_is_kept_only_where_it_is_needed(expression, extraction, expected):
    """Whole pages are compared as they were before there were parts."""
    assert expected == needs_nodes(expression, extraction)


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
def test_what_of_an_expression_is_about_one_page(expression, a, b, is_joined):
    """Parts of other pages are left to whoever combines pages; a NOT that is left alone is asked for what it names."""
    assert (a, b, is_joined) == (on_page(expression, "A"), on_page(expression, "B"), is_across(expression))
