"""The syntax of whole texts."""

import re
from importlib.resources import files

from tidings.language.grammar.syntax import Compound, Order, Unclear, read_syntax
from tidings.language.parser import parse
from tidings.language.problems import ProblemReport
from tidings.language.words import CLAUSES, STATEMENTS, is_reserved

GRAMMAR = files("tidings.language.grammar").joinpath("sentinel.lark").read_text(encoding="utf-8")


def test_valid_text_has_statements_without_a_fault():
    """Create statements and commands come in the order of the text."""
    report = ProblemReport(text := "Create Sentinel a Using https://x.example Monitor links; Disable a")
    creation, order = read_syntax(text, report)
    assert isinstance(creation, Compound)
    assert isinstance(order, Order)

    assert (["monitor"], "a", ()) == ([clause.data for clause in creation.clauses], str(order.name), report.problems)


def test_text_with_a_fault_keeps_its_other_parts():
    """The clauses around a fault are read; a head that cannot be read still names its sentinel."""
    report = ProblemReport(
        text := "Create Sentinel a Using https://x.example Monitor lnks Fetch 2 day; Create Sentinel b Usng x"
    )
    creation, unclear = read_syntax(text, report)
    assert isinstance(creation, Compound)

    assert (["fetch"], False, Unclear("b")) == ([clause.data for clause in creation.clauses], creation.whole, unclear)
    assert ["E10", "E03"] == [problem.code for problem in report.problems]


def test_grammar_and_list_of_words_agree():
    """Each word that begins a statement or clause is one at which texts are cut, and no name."""
    clause = GRAMMAR[GRAMMAR.index("\nclause:") : GRAMMAR.index("// Monitor: `within`")]
    begins = {name.replace("_", "") for name in re.findall(r"(?:clause:|\|) ([A-Z_]+)(?= )", clause) if name in GRAMMAR}
    wanted = {word.upper() for word in CLAUSES}

    assert wanted <= begins
    assert all(is_reserved(word) for word in (*CLAUSES, *STATEMENTS))


def test_long_text_with_faults_takes_little_time():
    """Ten faults are enough, also for five thousand broken statements."""
    parsed = parse("Create Sentinel a Using https://x.example Monitor lnks Fetch 2\n" * 5_000)

    assert 10 == len(parsed.problems)
