import pytest

from tests.strategies_language import ACCEPTED, KNOWN
from tidings.language.later import LATER, understood
from tidings.language.parser import parse

HEAD = "Create Sentinel s Using https://x.example As A{monitor}\n"
WHOLE = ("Alter", "Defaults", "Confirm", "Enable", "Create")

LATE = {
    "file": ("Create Sentinel s Using file:///srv/x Monitor any change", 25),
    "within": ("Monitor any change within 1 hour", 20),
    "of": ("Monitor any change of A", 20),
    "then": ("Then within 10 min check A", 1),
    "prompt": ("Fetch on change within 5 min", 17),
    "feed": ("Notify by feed", 11),
    "stream": ("Notify by stream", 11),
}


def test_each_later_thing_says_what_to_do_instead():
    """No row is without a name and advice."""
    assert all(row.word and row.hint for row in LATER.values())


@pytest.mark.parametrize("row", LATER)
def test_what_comes_later_is_refused_by_name_and_place(row):
    """Nothing is ignored: each row of the table of later things is refused where it stands, with what to do instead."""
    clause, column = LATE[row]
    monitor = "" if clause.startswith("Monitor") else " Monitor any change"
    head = "" if clause.startswith(WHOLE) else HEAD.format(monitor=monitor)
    parsed = parse(head + clause, known=KNOWN.get, files=True)
    (problem,) = understood(parsed).problems

    assert () == parsed.problems
    assert (
        2 if head else 1,
        column,
        "E40",
        f'"{LATER[row].word}" is understood but not supported yet',
        LATER[row].hint,
    ) == (
        problem.line,
        problem.column,
        problem.code,
        problem.message,
        problem.hint,
    )


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_can_be_done_passes(text):
    """A text without a later part is what it was."""
    parsed = parse(text, known=KNOWN.get)

    assert parsed == understood(parsed)


def test_statements_with_a_later_part_are_kept_back():
    """The others stay, each with the places of its parts; faults of the language come before in the order of the text."""
    text = (
        "Create Sentinel a Using https://x.example Monitor links; Create Sentinel b Using https://x.example Monitor links Notify by feed;"
        " Create Sentinel c Using x.example Monitor links"
    )
    parsed = understood(parse(text))

    assert (1, 1, ["E40", "E22"]) == (
        len(parsed.statements),
        len(parsed.places),
        [problem.code for problem in parsed.problems],
    )


def test_ten_problems_are_told_at_once():
    """More than ten would not be read."""
    text = "\n".join(
        f"Create Sentinel s{n} Using https://x.example Monitor links Notify by feed, stream" for n in range(9)
    )

    assert 10 == len(understood(parse(text)).problems)
