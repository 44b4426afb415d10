"""The clause Monitor: change types, joined and narrowed."""

import pytest

from tidings.language.clauses.clause import unquote
from tidings.language.clauses.monitor import joins_plain_types, never_fires
from tidings.language.parser import parse
from tidings.model.watch.sentinel import AllOf, AnyOf, Interest, Not, Sentinel

LINKS, IMAGES = Interest("links"), Interest("images")


@pytest.mark.parametrize(
    ("expression", "never"),
    [
        (LINKS, False),
        (Not(LINKS), True),
        (AnyOf((LINKS, Not(IMAGES))), True),
        (AllOf((LINKS, Not(IMAGES))), False),
        (AllOf((Not(LINKS), Not(IMAGES))), True),
        (AllOf((LINKS, Not(AllOf((Not(IMAGES), Not(LINKS)))))), True),
        (AllOf((LINKS, AnyOf((IMAGES, Not(LINKS))))), True),
        (AllOf((LINKS, Not(AnyOf((IMAGES, LINKS))))), False),
    ],
)
def test_not_needs_another_change_type(expression, never):
    """NOT alone, in an OR, or only beside NOTs would report every quiet check (E26)."""
    assert never == never_fires(expression)


@pytest.mark.parametrize(
    ("expression", "joins"),
    [
        (LINKS, False),
        (AllOf((LINKS, Not(IMAGES))), False),
        (AllOf((LINKS, IMAGES)), True),
        (AnyOf((LINKS, AllOf((LINKS, IMAGES)))), True),
        (AllOf((LINKS, Not(AllOf((LINKS, IMAGES))))), True),
    ],
)
def test_and_between_change_types_has_a_warning(expression, joins):
    """Both must happen at once, which surprises people (W8)."""
    assert joins == joins_plain_types(expression)


@pytest.mark.parametrize(
    ("monitor", "codes"),
    [
        ("price of A < 5 AND price of B < 5", ["W8"]),
        ("price of A is < 5 AND price of B between 1 and 5", ["W8"]),
        ("price of A < 5 AND price of B < 5 within 1 day", []),
        ("price of A < 5 OR price of B < 5", []),
        ("price of A < 5 AND NOT price of B < 5", []),
        ("price of A drops by 5% AND price of B drops by 5%", []),
        ('price < 5 AND availability is "in stock"', ["W8"]),
        ("price < 5 AND words", ["W8"]),
        ("all words of A AND all words of B", []),
    ],
)
def test_and_between_values_has_a_warning(monitor, codes):
    """Only what changes is reported, not that two values are low at the same time (W8)."""
    text = f"Create Sentinel s Using https://a.example/ As A, https://b.example/ As B Monitor {monitor}"

    assert codes == [warning.code for warning in parse(text).warnings]


def test_only_quotes_and_backslashes_are_escaped():
    r"""`"\d+"` means what it shows."""
    assert '\\d+ "x" \\' == unquote('"\\d+ \\"x\\" \\\\"')


@pytest.mark.parametrize(
    "pattern", ["(" * 9_000, "a{9999}", "(a{100}){100}", "[a", "(?P<x>", "(?=a)", "x" * 20_000, "\\ud800"]
)
def test_hostile_patterns_are_refused(pattern):
    """The fault is at their place; nothing is raised or warned of (H-070)."""
    (problem,) = parse(f'Create Sentinel a Using https://x.example Monitor regex "{pattern}"').problems

    assert "E11" == problem.code


HEAD = "Create Sentinel a Using https://x.example Monitor "


@pytest.mark.parametrize(
    ("clause", "meaning"),
    [
        ("keywords <merger, takeover>", Interest("keywords", ("merger", "takeover"))),
        ("keyword <oil> inserted", Interest("keywords", ("oil",), "inserted")),
        ('keyword "a, <b>"', Interest("keywords", ("a, <b>",))),
        ("keywords < oil ,oil,  crude   oil >", Interest("keywords", ("oil", "crude oil"))),
        ('phrase "we may \\"share\\" it"', Interest("phrases", ('we may "share" it',))),
        ("PHRASES <low risk, no fee> updated", Interest("phrases", ("low risk", "no fee"), "updated")),
        ("keywords <for sale, to let, C++>", Interest("keywords", ("for sale", "to let", "C++"))),
        (
            'phrase "from now" AND NOT keywords <x, y>',
            AllOf((Interest("phrases", ("from now",)), Not(Interest("keywords", ("x", "y"))))),
        ),
    ],
)
def test_keywords_and_phrases_are_split_into_terms(clause, meaning):
    """White space is collapsed, and each term is there once; text in quotes is one term."""
    parsed = parse(HEAD + clause)
    (sentinel,) = parsed.statements

    assert ((), ()) == (parsed.problems, parsed.warnings)
    assert isinstance(sentinel, Sentinel)
    assert meaning == sentinel.monitor


@pytest.mark.parametrize(
    ("clause", "warning"),
    [
        (
            "keywords <oil, ...>",
            'W3 "..." has no letter or digit and can never be found (hint: write a word of the page)',
        ),
        (
            'keyword ".NET"',
            'W3 ".NET" is searched for as the word "NET" (hint: punctuation separates words and is not compared)',
        ),
        (
            "links updated",
            (
                "W13 links are inserted or deleted, never updated: this condition never holds"
                " (hint: write inserted or deleted, or neither to be notified of both)"
            ),
        ),
        (
            "keyword <oil> updated",
            (
                "W13 keywords are inserted or deleted, never updated: this condition never holds"
                " (hint: write inserted or deleted, or neither to be notified of both)"
            ),
        ),
    ],
)
def test_term_that_is_never_found_has_a_warning(clause, warning):
    """So has one that is found differently from what it shows; the statement is accepted."""
    parsed = parse(HEAD + clause)

    assert [warning] == [str(each).split(" ", 1)[1] for each in parsed.warnings]
    assert 1 == len(parsed.statements)


@pytest.mark.parametrize("term", ["U.S.", "node.js", "we may share it.", "caf\u00e9", "cafe\u0301", "€", "🎉", "日本"])
def test_term_that_is_found_as_written_has_no_warning(term):
    """Punctuation between words, accents, symbols and repeated characters do not matter."""
    assert () == parse(f'{HEAD}keyword "{term}"').warnings
