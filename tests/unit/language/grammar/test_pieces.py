import collections

from tests.bounded import bound_time
from tidings.language.grammar.pieces import lexemes, split_text


def pieces(text):
    return [[text[piece.start : piece.end].strip() for piece in statement] for statement in split_text(text)]


def test_a_text_is_cut_at_statements_and_clauses():
    """Each statement is its head and its clauses; a semicolon ends a statement."""
    assert [
        ["Create Sentinel a Using https://x.example", "MONITOR links", "Fetch 2 day"],
        ["Drop b"],
        ["Drop c"],
    ] == pieces("Create Sentinel a Using https://x.example MONITOR links Fetch 2 day; Drop b\nDrop c")


def test_texts_addresses_and_comments_are_never_cut():
    """Words in quotes, in addresses and after `--` begin no clause."""
    text = 'x "Monitor \\" Fetch" https://x.example/Fetch,Monitor -- Fetch\ny Fetch'

    assert [['x "Monitor \\" Fetch" https://x.example/Fetch,Monitor -- Fetch\ny', "Fetch"]] == pieces(text)


def test_a_word_in_the_place_of_a_name_is_not_cut():
    """After Sentinel, Using, As, of, check and the verbs comes a name, whatever it is."""
    assert [["Create Sentinel monitor Using fetch As tags"], ["Disable zone"]] == pieces(
        "Create Sentinel monitor Using fetch As tags Disable zone"
    )


def test_to_between_two_times_is_not_cut():
    """The `to` of During and quiet joins clocks; after `at 08:00` it begins a clause."""
    assert [["During mon-fri 08:00 to 18:00", "Notify x quiet 20:00 to 07:00"]] == pieces(
        "During mon-fri 08:00 to 18:00 Notify x quiet 20:00 to 07:00"
    )
    assert [["Notify x at 08:00", "To 2030-01-01"]] == pieces("Notify x at 08:00 To 2030-01-01")


def test_an_open_quote_ends_with_its_line():
    """What follows on the next line is still cut."""
    assert [['Monitor phrase "low', "Fetch 2 day"]] == pieces('Monitor phrase "low\nFetch 2 day')


def test_nothing_but_marks_and_comments_is_no_statement():
    """Empty statements are none."""
    assert [] == pieces(" ;; -- Create\n ;")


def test_cutting_takes_time_in_proportion():
    """A long hostile text is cut at once: quotes, hyphens, schemes without an end, a hundred thousand of them."""
    for part in ('"', '"\\', "-", "a://", "a.", 'a"', "<"):
        with bound_time(2):  # at most 0.1 s
            collections.deque(lexemes(part * 100_000), maxlen=0)


def test_words_in_a_list_are_no_clauses():
    """A text with a fault elsewhere is not cut inside of `keywords <for sale, to let>`."""
    assert [["Monitor keywords <for, to>", "Fetch 1 month"]] == pieces("Monitor keywords <for, to> Fetch 1 month")


def test_how_long_a_change_stays_is_no_clause():
    """A text with a fault is not cut before `for at least`, but before the clause For."""
    text = "Create Sentinel s Using https://a.example/ Monitor text for at least 1 hour For 1 day"

    assert ["create", "monitor", "for"] == [piece.word for piece in next(split_text(text))]
