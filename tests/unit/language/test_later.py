import pytest

from tests.strategies_language import ACCEPTED, KNOWN
from tidings.language import later
from tidings.language.later import LATER, Later, understood
from tidings.language.parser import parse
from tidings.model.sentinel import Sentinel

LATE = {"file": ("Create Sentinel s Using file:///srv/x Monitor any change", 1, 25)}
PLANTED = {
    "feed": Later("feed", "look at a clock", lambda s: isinstance(s, Sentinel) and s.notify[0].channels[0].kind == "feed"),
    "tags": Later("Tags", "", lambda s: isinstance(s, Sentinel) and bool(s.tags)),
}  # fmt: skip


@pytest.fixture
def planted(monkeypatch):
    """Let two parts of the language be what Tidings does not do, so that this is shown while there are none or others."""
    monkeypatch.setattr(later, "LATER", PLANTED)


def test_each_later_thing_says_what_to_do_instead():
    """No row is without a name and advice."""
    assert all(row.word and row.hint for row in LATER.values())


@pytest.mark.parametrize("row", LATER)
def test_what_comes_later_is_refused_by_name_and_place(row):
    """Nothing is ignored: each row of the table of later things is refused where it stands, with what to do instead."""
    text, line, column = LATE[row]
    parsed = parse(text, known=KNOWN.get, files=True)
    (problem,) = understood(parsed).problems

    assert () == parsed.problems
    assert (line, column, "E40", LATER[row].hint) == (problem.line, problem.column, problem.code, problem.hint)
    assert f'"{LATER[row].word}" is understood but not supported yet' == problem.message


@pytest.mark.usefixtures("planted")
def test_a_later_part_is_refused_where_it_stands():
    """The problem points at the part, names it and says what helps."""
    (problem,) = understood(parse("Create Sentinel s Using https://x.example Monitor links\nNotify by feed")).problems

    assert '2:11: E40 "feed" is understood but not supported yet (hint: look at a clock)' == str(problem)


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_can_be_done_passes(text):
    """A text without a later part is what it was."""
    parsed = parse(text, known=KNOWN.get)

    assert parsed == understood(parsed)


@pytest.mark.usefixtures("planted")
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


@pytest.mark.usefixtures("planted")
def test_ten_problems_are_told_at_once():
    """More than ten would not be read."""
    text = "\n".join(
        f"Create Sentinel s{n} Using https://x.example Monitor links Notify by feed Tags t" for n in range(9)
    )

    assert 10 == len(understood(parse(text)).problems)
