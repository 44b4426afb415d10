"""Expressions of change types as text."""

import pytest

from tidings.language.clauses.clause import unquote
from tidings.language.expressions import quote, to_text
from tidings.model.watch.sentinel import AllOf, AnyOf, Interest, Not, Selector

LINKS, IMAGES, WORDS = Interest("links"), Interest("images"), Interest("words")

ROWS = [
    (Interest("any"), "any change"),
    (Interest("links", direction="inserted"), "all links inserted"),
    (AllOf((LINKS, IMAGES)), "all links AND all images"),
    (AnyOf((LINKS, AllOf((IMAGES, Not(WORDS))))), "all links OR all images AND NOT all words"),
    (
        AllOf((AnyOf((LINKS, IMAGES)), Not(AnyOf((WORDS, LINKS))))),
        "(all links OR all images) AND NOT (all words OR all links)",
    ),
    (AllOf((AllOf((LINKS, IMAGES)), WORDS)), "(all links AND all images) AND all words"),
    (AnyOf((AnyOf((LINKS, IMAGES)), WORDS)), "(all links OR all images) OR all words"),
    (Interest("keywords", ('a "b" \\',), of="A"), 'keyword "a \\"b\\" \\\\" of A'),
    (Interest("keywords", ("oil", "gas"), "inserted"), "keywords <oil, gas> inserted"),
    (Interest("phrases", ("we may share your data",)), 'phrase "we may share your data"'),
    (Interest("phrases", ("low risk", "no fee")), "phrases <low risk, no fee>"),
    (Interest("any", selector=Selector("css", 'a[href="x"]')), 'any change in css "a[href=\\"x\\"]"'),
]


@pytest.mark.parametrize(("expression", "text"), ROWS)
def test_expression_has_few_parentheses(expression, text):
    """They are only where parts are joined inside parts."""
    assert text == to_text(expression)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('a "b"', '"a \\"b\\""'),
        ("\\d+\\.", '"\\d+\\."'),
        ("end\\", '"end\\\\"'),
        ("\\\\d", '"\\\\\\d"'),
        ('\\"', '"\\\\\\""'),
        ("'é'", "\"'é'\""),
    ],
)
def test_only_quotes_and_their_backslashes_are_escaped(text, written):
    """A pattern is written as people write it, and each text is read again."""
    assert (written, text) == (quote(text), unquote(written))
