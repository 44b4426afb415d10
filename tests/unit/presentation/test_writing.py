"""Texts of pages are cleaned and shortened."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.presentation.writing import (
    cut_text,
    is_part_of,
    length,
    more,
    most_that_fit,
    one_line,
    subject_line,
    tame,
    unmentioning,
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\r\n  b\tc", "a b c"),
        ("\x1b[31mred\x00", "\\u001b[31mred\\u0000"),
        ("safe\u202egnp.exe", "safe\\u202egnp.exe"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("נ\u200f و\u200cم 👩\u200d💻 wo\u00adman", "נ\u200f و\u200cم 👩\u200d💻 wo\u00adman"),
    ],
)
def test_control_characters_are_written_out(text, line):
    """H-107: escapes, overrides and half characters are visible and have no effect; what scripts
    need stays.
    """
    assert line == one_line(text)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("news\r\nBcc: everybody@example.org", "news Bcc: everybody@example.org"),
        ("a\x00b\x0bc", "a b c"),
        ("\u200f\u202e\u2067", ""),
        ("\u202egnp\u202c", "gnp"),
        ("a\u2028b", "a b"),
        ("x" * 10_000, "x" * 199 + "…"),
    ],
)
def test_subject_is_one_clean_line(text, subject):
    """H-104, H-105: a title cannot add a header, reverse the line or fill the screen."""
    assert subject == subject_line(text)


@given(st.text())
def test_subject_never_breaks_a_header(text):
    """It is short and without control characters for every title."""
    subject = subject_line(text)

    assert length(subject) <= 200
    assert not {"Cc", "Cs", "Zl", "Zp"} & {unicodedata.category(c) for c in subject}


@given(st.text(st.sampled_from("a 🙂é"), max_size=60), st.integers(0, 40))
def test_shortened_text_is_a_beginning_that_fits(text, most):
    """A text that fits is whole; otherwise its beginning and an ellipsis fit, and an emoji counts
    as two.
    """
    short = cut_text(text, most)

    assert length(short) <= most
    assert short == text if length(text) <= most else text.startswith(short.removesuffix("…"))
    assert length(short) >= min(length(text), most) - 3 or short.removesuffix("…") == short.removesuffix("…").rstrip()


def test_text_without_room_is_empty():
    """An ellipsis does not fit either."""
    assert "" == cut_text("abc", 0)
    assert "…" == cut_text("abc", 1)


def test_terminal_keeps_tabs():
    """Other control characters are removed."""
    assert "a\tb\\u000ac" == tame("a\tb\nc", keep="\t")
    assert "a\\u2028b" == tame("a\u2028b")


@given(st.text(st.characters(exclude_categories=())))
def test_clean_text_stays_the_same(text):
    """It has no control characters and can be written anywhere; cleaning it again changes nothing."""
    clean = tame(text)

    assert not {"Cc", "Cs", "Zl", "Zp"} & {unicodedata.category(c) for c in clean}
    assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") & set(clean)
    assert clean.encode().decode() == clean
    assert clean == tame(clean)


@given(st.lists(st.integers(0, 9), max_size=30).map(sorted), st.integers(0, 9))
def test_largest_number_that_fits_is_found(sizes, most):
    """It is 0 if none fits."""
    expected = sum(size <= most for size in sizes)

    assert expected == most_that_fit(len(sizes), lambda number: sizes[number - 1], most)


@pytest.mark.parametrize("text", ["@everyone", "hey @HERE!", "<!channel>", "<@U123>", "@all"])
def test_page_cannot_mention_members_of_a_chat(text):
    """A bot must not notify all members of a channel."""
    assert text != unmentioning(text)
    assert text == unmentioning(text).replace("\u2060", "")


def test_other_text_is_unchanged():
    """Addresses and comparisons are no mentions."""
    text = "anna@example.org 3 < 4 @annabell @hereford"

    assert text == unmentioning(text)


@pytest.mark.parametrize(
    ("heading", "title", "expected"),
    [
        ("Kettle", "kettle", True),
        ("Steel kettle 1.7 l", "Steel kettle 1.7 l – Kettle shop", True),
        ("Kettle shop", "Steel kettle 1.7 l | Kettle shop", True),
        ("Kettle", "Kettle shop", False),
        ("Board", "The board – Rowing club", False),
        ("", "Kettle shop", False),
    ],
)
def test_title_has_a_heading_as_a_part(heading, title, expected):
    """A word of the title is not enough: "Kettle" says more than "Kettle shop"."""
    assert expected is is_part_of(heading, title)


@pytest.mark.parametrize(
    ("count", "noun", "expected"),
    [(2, "", "and 2 more"), (1, "change", "and 1 more change"), (1_200, "change", "and 1,200 more changes")],
)
def test_rest_is_counted(count, noun, expected):
    """It is one change or two changes; a thousand has a comma."""
    assert expected == more(count, noun)
