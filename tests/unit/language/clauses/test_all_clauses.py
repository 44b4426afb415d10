"""All clauses of the language: each is read, printed and altered."""

import pytest

from tidings.language.clauses.all_clauses import READERS
from tidings.language.clauses.asking import ASKING_READERS
from tidings.language.parser import parse, read
from tidings.language.words import CLAUSES
from tidings.language.write.printer import clause_lines
from tidings.language.write.table import ASKING, FIELDS, GATHERED, JOINED, NOTHING, ORDER, REACH


def test_each_clause_is_read_printed_and_altered():
    """None of the language is forgotten."""
    rules = {"login", *("history" if word == "ChangeHistory" else word.lower() for word in CLAUSES)}

    rules |= {"scope", "depth", "budget"}

    assert rules == {"monitor", *READERS}
    assert rules - {"watch", "depth", "budget"} == set(ORDER) == REACH.keys()
    assert len(ORDER) == len(set(ORDER))


def test_tables_have_the_same_clauses():
    """Each fills a field of the sentinel or of its request; repeatable and removable ones are
    clauses.
    """
    assert set(ORDER) == {"monitor", *FIELDS, *ASKING}
    assert set(ASKING) == ASKING_READERS.keys()
    assert set(ORDER) >= GATHERED | JOINED | NOTHING.keys()


@pytest.mark.parametrize("word", NOTHING)
def test_removable_clause_is_written_with_none(word):
    """`Exclude none` and similar ones are printed as they are read."""
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
def test_absurd_values_are_refused(clause):
    """Endless numbers and unknown zones are not computed with."""
    parsed = parse(f"Create Sentinel a Using https://x.example Monitor links {clause}")

    assert [] != list(parsed.problems)
    assert all(len(str(problem)) < 6_000 for problem in parsed.problems)


def test_digits_of_other_scripts_are_numbers():
    """A number may have the decimal digits of any script."""
    (arabic,) = read("Create Sentinel a Using https://x.example Monitor links Fetch ٣ hour")
    (latin,) = read("Create Sentinel a Using https://x.example Monitor links Fetch 3 hour")

    assert latin == arabic
