"""A text with a fault is cut into statements and clauses."""

import collections

from tests.bounded import bound_time
from tidings.language.grammar.pieces import lexemes, split_text


def pieces(text):
    return [[text[piece.start : piece.end].strip() for piece in statement] for statement in split_text(text)]


def test_text_is_cut_at_statements_and_clauses():
    """A statement is its head and its clauses; a semicolon ends it."""
    assert [
        ["Create Sentinel a Using https://x.example", "MONITOR links", "Fetch 2 day"],
        ["Drop b"],
        ["Drop c"],
    ] == pieces("Create Sentinel a Using https://x.example MONITOR links Fetch 2 day; Drop b\nDrop c")


def test_strings_addresses_and_comments_are_not_cut():
    """Words in quotes, in addresses and after `--` begin no clause."""
    text = 'x "Monitor \\" Fetch" https://x.example/Fetch,Monitor -- Fetch\ny Fetch'

    assert [['x "Monitor \\" Fetch" https://x.example/Fetch,Monitor -- Fetch\ny', "Fetch"]] == pieces(text)


def test_name_is_not_cut():
    """After Sentinel, Using, As, of, check and the verbs any word is a name."""
    assert [["Create Sentinel monitor Using fetch As tags"], ["Disable zone"]] == pieces(
        "Create Sentinel monitor Using fetch As tags Disable zone"
    )


def test_to_between_two_times_is_no_clause():
    """The `to` of During and quiet joins times; after `at 08:00` it begins a clause."""
    assert [["During mon-fri 08:00 to 18:00", "Notify x quiet 20:00 to 07:00"]] == pieces(
        "During mon-fri 08:00 to 18:00 Notify x quiet 20:00 to 07:00"
    )
    assert [["Notify x at 08:00", "To 2030-01-01"]] == pieces("Notify x at 08:00 To 2030-01-01")


def test_open_quote_ends_with_its_line():
    """The next line is still cut."""
    assert [['Monitor phrase "low', "Fetch 2 day"]] == pieces('Monitor phrase "low\nFetch 2 day')


def test_marks_and_comments_are_no_statement():
    """Empty statements are none."""
    assert [] == pieces(" ;; -- Create\n ;")


def test_cutting_takes_linear_time():
    """The long hostile text has quotes, hyphens and schemes without an end, a hundred thousand of
    them.
    """
    for part in ('"', '"\\', "-", "a://", "a.", 'a"', "<"):
        with bound_time(2):  # at most 0.1 s
            collections.deque(lexemes(part * 100_000), maxlen=0)


def test_words_of_a_list_are_no_clauses():
    """A text with a fault elsewhere is not cut inside `keywords <for sale, to let>`."""
    assert [["Monitor keywords <for, to>", "Fetch 1 month"]] == pieces("Monitor keywords <for, to> Fetch 1 month")


def test_duration_of_a_change_is_no_clause():
    """A text with a fault is not cut before `for at least`, but before the clause For."""
    text = "Create Sentinel s Using https://a.example/ Monitor text for at least 1 hour For 1 day"

    assert ["create", "monitor", "for"] == [piece.word for piece in next(split_text(text))]
