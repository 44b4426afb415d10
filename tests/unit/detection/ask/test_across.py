"""What each page of an expression decides alone, and what several pages must decide together."""

import pytest

from tidings.detection.ask.across import Alternatives, Leaf, Meeting, has_changed, join, leaves, meetings
from tidings.language import expressions
from tidings.language.parser import parse
from tidings.model.watch.sentinel import Sentinel

NAMES = ("A", "B", "C")


def monitor(text):
    """Return the expression of a Monitor clause over the pages A, B and C."""
    pages = ", ".join(f"https://{name.lower()}.example/ As {name}" for name in NAMES)
    parsed = parse(f"Create Sentinel s Using {pages} Monitor {text}", known=lambda _: None, now=0)
    assert not parsed.problems
    assert isinstance(parsed.statements[0], Sentinel)
    return parsed.statements[0].monitor


def spell(part):
    """Return a joined expression in short form: leaves by their text, joins in brackets,
    alternatives in parentheses.
    """
    match part:
        case Leaf(page, expression):
            return f"{page}: {expressions.to_text(expression)}"
        case Alternatives(parts):
            return f"({' | '.join(map(spell, parts))})"
        case Meeting(positive, negative):
            return f"[{' & '.join([*map(spell, positive), *(f'not {spell(part)}' for part in negative)])}]"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("links", "(A: all links | B: all links | C: all links)"),
        ("links of A OR words of B", "(A: all links of A | B: all words of B)"),
        ("any change of A AND any change of B", "([A: any change of A & B: any change of B])"),
        (
            "links of A AND NOT images of A AND words of B",
            "([A: all links of A AND NOT all images of A & B: all words of B])",
        ),
        ("words of A AND NOT words of B", "([A: all words of A & not B: all words of B])"),
        (
            "(links of A AND words of B) OR images of C OR links of C",
            "(C: all images of C OR all links of C | [A: all links of A & B: all words of B])",
        ),
        (
            "words of A AND (links of B OR links of C)",
            "([A: all words of A & (B: all links of B | C: all links of C)])",
        ),
        (
            "words of A AND links",
            "([A: all words of A & (A: all links of A | B: all links of B | C: all links of C)])",
        ),
        (
            "words of A AND NOT (links of B OR images of C)",
            "([A: all words of A & not (B: all links of B | C: all images of C)])",
        ),
    ],
    ids=["every page", "or", "and", "veto of one page", "veto of another", "both", "or inside", "any page", "not or"],
)
def test_interests_of_one_page_are_one_leaf(text, meant):
    """The rest of the expression waits for other pages."""
    assert meant == spell(join(monitor(text), NAMES))


def test_leaves_and_joins_are_counted_once():
    """An inner join comes before the outer one that needs it."""
    whole = join(
        monitor("(words of A AND (links of B OR (links of A AND links of C))) OR (words of A AND links of C)"), NAMES
    )

    assert ["A", "B", "A", "C"] == [leaf.page for leaf in leaves(whole)]
    assert [2, 2, 2] == [len(meeting.positive) for meeting in meetings(whole)]
    assert ["A", "C"] == [leaf.page for leaf in leaves(next(meetings(whole)))]


def test_changed_leaves_decide_the_expression():
    """AND needs all, OR one, NOT none."""
    whole = join(monitor("words of A AND (links of B OR links of C) AND NOT images of C"), NAMES)
    a, b, c, images = leaves(whole)

    assert not has_changed(whole, {a})
    assert has_changed(whole, {a, b})
    assert has_changed(whole, {a, c})
    assert not has_changed(whole, {a, b, images})
