import pytest

from tidings.language.asking import ASKING_READERS
from tidings.language.clauses import READERS
from tidings.language.later import LATER
from tidings.language.parser import parse, read
from tidings.language.words import CLAUSES


def test_each_clause_has_a_meaning_or_comes_later():
    """No clause of the language is forgotten: it is read, or refused by name."""
    rules = {"history" if word == "ChangeHistory" else word.lower() for word in CLAUSES}

    assert rules == {*READERS, *ASKING_READERS, "monitor", "notify"} | (rules & LATER.keys())
    assert not READERS.keys() & LATER.keys()


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
