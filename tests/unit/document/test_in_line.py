"""Inline text: raised cents, excluded parts of words, hidden text."""

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.document.extract import extract
from tidings.document.parse import parse
from tidings.document.select.extraction import Extraction
from tidings.model.watch.interest import HIDDEN, Condition, Interest, Selector


def page(body):
    return parse(body.encode(), "text/html", url="http://x.org/", keep_tree=True)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("$19<sup>99</sup>", "$19.99"),
        ("<b>$</b>1,119<sup>99</sup>", "$1,119.99"),
        ("<sup>$</sup>19<sup><span>99</span></sup> each", "$19.99 each"),
        ("19<sup>99</sup> \u20ac", "19.99 \u20ac"),
        ("EUR 19<sup>99</sup>", "EUR 19.99"),
        ("19<sup>99</sup><i> kr</i>", "19.99 kr"),
        ("$19.<sup>99</sup>", "$19.99"),
        ("$19.99<sup>12</sup>", "$19.9912"),
        ("10<sup>12</sup> stars", "1012 stars"),
        ("10<sup>2</sup> \u20ac", "102 \u20ac"),
        ("$19<sup>1</sup>", "$191"),
        ("\u20ac 5 <sup>20</sup>", "\u20ac 5 20"),
    ],
)
def test_raised_cents_are_cents(body, expected):
    """They are two digits after an amount with a currency; powers and notes stay. This is so in a
    part as in a whole page.
    """
    whole = page(f"<p>{body}</p>")
    part = extract(whole, Extraction(selectors=(Selector("css", "p"),)))

    assert [[expected]] * 2 == [list(document.lines) for document in (whole, part)]


def test_price_with_raised_cents_is_compared_with_a_bound():
    """119.99 is not 11,999."""
    interest = Interest("number", where=(Condition("value", "<", 100),))

    assert evaluate(interest, Pair(page("<p>$119<sup>99</sup>"), page("<p>$19<sup>99</sup>")))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Donau<span class=x>-</span>dampf", ["Donaudampf"]),
        ("Donau<b class=x><i>1</i></b>dampf", ["Donaudampf"]),
        ("Donau <sup class=x>1</sup> dampf", ["Donau dampf"]),
        ("Donau<div class=x>-</div>dampf", ["Donau", "dampf"]),
        ("Donau<br class=x>dampf", ["Donau", "dampf"]),
    ],
)
def test_excluded_inline_element_splits_no_word(body, expected):
    """A block and a line break do."""
    left = extract(page(f"<p>{body}"), Extraction(exclude=(Selector("css", ".x"),)))

    assert expected == list(left.lines)


@pytest.mark.parametrize(
    ("element", "is_hidden"),
    [
        ("<p hidden>", True),
        ("<p hidden=until-found>", True),
        ("<p style='display:none'>", True),
        ("<p style='color: red; DISPLAY: None'>", True),
        ("<p style='visibility: hidden'>", True),
        ("<p aria-hidden=true>", False),
        ("<p class=hidden>", False),
        ("<p style='display:block'>", False),
        ("<p>", False),
    ],
)
def test_hidden_text_is_read_unless_excluded(element, is_hidden):
    """The words of a closed tab are news; `Exclude hidden` leaves out elements that are marked as
    hidden themselves.
    """
    body = page(f"<main>Seen {element}kept</main>")
    extraction = Extraction(exclude=(HIDDEN,))

    assert "kept" in body.tokens
    assert is_hidden is ("kept" not in extract(body, extraction).tokens)
