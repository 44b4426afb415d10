import pytest

from tidings.language.clauses.all_clauses import READERS
from tidings.language.clauses.asking import ASKING_READERS
from tidings.language.parser import parse, read
from tidings.language.words import CLAUSES
from tidings.language.write.printer import clause_lines
from tidings.language.write.table import ASKING, FIELDS, GATHERED, JOINED, NOTHING, ORDER, REACH


def test_each_clause_has_a_meaning():
    """No clause of the language is forgotten: it is read, printed in its order, and altered by its class."""
    rules = {"login", *("history" if word == "ChangeHistory" else word.lower() for word in CLAUSES)}

    rules |= {"scope", "depth", "budget"}

    assert rules == {"monitor", *READERS}
    assert rules - {"watch", "depth", "budget"} == set(ORDER) == REACH.keys()
    assert len(ORDER) == len(set(ORDER))


def test_the_tables_of_clauses_speak_of_the_same_clauses():
    """Each fills a field of the sentinel, or one of its asking; what is repeated or taken away is a clause."""
    assert set(ORDER) == {"monitor", *FIELDS, *ASKING}
    assert set(ASKING) == ASKING_READERS.keys()
    assert set(ORDER) >= GATHERED | JOINED | NOTHING.keys()


@pytest.mark.parametrize("word", NOTHING)
def test_what_can_be_taken_away_is_written_none(word):
    """`Exclude none` and the like are read as what they print."""
    (line,) = clause_lines(word, NOTHING[word])

    parsed = parse(f"Create Sentinel a Using https://x.example Monitor links {line}")

    assert line.endswith(" none")
    assert (1, ()) == (len(parsed.statements), parsed.problems)


@pytest.mark.parametrize(
    "clause",
    [
        f"Fetch {'9' * 5_000} week",
        f"Fetch 0.{'0' * 5_000}1 s",
        f"Importance {'9' * 5_000}",
        f"Importance 0.{'0' * 5_000}1",
        f"Compare moving {'9' * 5_000}",
        f"From now + {'9' * 5_000} day",
        f"Zone {'A' * 5_000}",
        "Zone ../../etc/passwd",
        "Fetch ²  s",
    ],
)
def test_absurd_values_are_faults(clause):
    """Numbers without end and names of no zone are told, not computed with."""
    parsed = parse(f"Create Sentinel a Using https://x.example Monitor links {clause}")

    assert [] != list(parsed.problems)
    assert all(len(str(problem)) < 6_000 for problem in parsed.problems)


def test_digits_of_other_scripts_are_digits():
    """A number may be written in any script's decimal digits."""
    (arabic,) = read("Create Sentinel a Using https://x.example Monitor links Fetch ٣ hour")
    (latin,) = read("Create Sentinel a Using https://x.example Monitor links Fetch 3 hour")

    assert latin == arabic
