import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.presentation.writing import (
    cut_text,
    length,
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
def test_what_steers_a_screen_is_spelled_out(text, line):
    """H-107: escapes, overrides and half characters are visible and do nothing; what scripts need stays."""
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
def test_a_subject_is_one_clean_line(text, subject):
    """H-104, H-105: nothing in a title can add a header, turn the line around or fill the screen."""
    assert subject == subject_line(text)


@given(st.text())
def test_no_subject_breaks_a_header(text):
    """Whatever a page is called, its subject is short and free of control characters."""
    subject = subject_line(text)

    assert length(subject) <= 200
    assert not {"Cc", "Cs", "Zl", "Zp"} & {unicodedata.category(c) for c in subject}


@given(st.text(st.sampled_from("a 🙂é"), max_size=60), st.integers(0, 40))
def test_a_cut_text_fits_and_is_a_beginning(text, most):
    """It is whole if it fits; else its beginning and an ellipsis fit, with emoji counted as two."""
    short = cut_text(text, most)

    assert length(short) <= most
    assert short == text if length(text) <= most else text.startswith(short.removesuffix("…"))
    assert length(short) >= min(length(text), most) - 3 or short.removesuffix("…") == short.removesuffix("…").rstrip()


def test_a_text_without_room_is_nothing():
    """Not even an ellipsis fits into no space."""
    assert "" == cut_text("abc", 0)
    assert "…" == cut_text("abc", 1)


def test_on_a_terminal_a_tab_may_stay():
    """A line for people keeps the tabs that we put there, and nothing else that steers."""
    assert "a\tb\\u000ac" == tame("a\tb\nc", keep="\t")
    assert "a\\u2028b" == tame("a\u2028b")


@given(st.text(st.characters(exclude_categories=())))
def test_a_tamed_text_steers_nothing_and_is_tame(text):
    """Whatever was in it: no control is left, it can be written anywhere, and taming it again changes nothing."""
    tamed = tame(text)

    assert not {"Cc", "Cs", "Zl", "Zp"} & {unicodedata.category(c) for c in tamed}
    assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") & set(tamed)
    assert tamed.encode().decode() == tamed
    assert tamed == tame(tamed)


@given(st.lists(st.integers(0, 9), max_size=30).map(sorted), st.integers(0, 9))
def test_as_many_are_kept_as_fit(sizes, most):
    """The largest number whose size is within the bound, 0 if none is."""
    expected = sum(size <= most for size in sizes)

    assert expected == most_that_fit(len(sizes), lambda number: sizes[number - 1], most)


@pytest.mark.parametrize("text", ["@everyone", "hey @HERE!", "<!channel>", "<@U123>", "@all"])
def test_pages_call_nobody_in_a_chat(text):
    """A page cannot make a bot ring every member of a channel."""
    assert text != unmentioning(text)
    assert text == unmentioning(text).replace("\u2060", "")


def test_other_text_stays_as_it_is():
    """Addresses and comparisons are no calls."""
    text = "anna@example.org 3 < 4 @annabell @hereford"

    assert text == unmentioning(text)
