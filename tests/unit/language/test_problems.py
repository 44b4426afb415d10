"""Problems: their place, code, message and hint."""

from tidings.language.problems import Problem, ProblemReport, closest, did_you_mean, either
from tidings.language.words import is_reserved


def test_problem_is_one_line():
    """It has place, code and message; expectation and hint are optional."""
    assert "2:13: E10 found x; expected words (hint: did you mean that?)" == str(
        Problem(2, 13, "E10", "found x", "words", "did you mean that?")
    )
    assert "1:1: E20 no x" == str(Problem(1, 1, "E20", "no x"))


def test_problem_is_a_record():
    """The keys are those of the JSON record."""
    assert {
        "line": 2,
        "column": 13,
        "code": "E10",
        "message": "found x",
        "expected": "words",
        "hint": "",
    } == Problem(2, 13, "E10", "found x", "words").as_dict()


def test_places_are_lines_and_columns_from_1():
    """A column counts characters, a line ends at a line feed, and the end of the text is a place
    too.
    """
    report = ProblemReport("ab\r\n\nécd")
    for offset in (0, 1, 3, 4, 5, 8):
        report.fault(offset, "E01", "x")

    assert [(1, 1), (1, 2), (1, 4), (2, 1), (3, 1), (3, 4)] == [(p.line, p.column) for p in report.problems]


def test_report_has_the_first_ten_faults_in_order():
    """It has all warnings."""
    report = ProblemReport("x" * 30)
    for offset in reversed(range(20)):
        report.fault(offset, "E01", "x")
        report.warn(offset, "W1", "y")

    assert (list(range(1, 11)), 20, 20) == (
        [problem.column for problem in report.problems],
        len(report.warnings),
        report.faults,
    )


def test_words_that_begin_or_join_clauses_are_reserved():
    """In any case of letters; other words of the language may be names: `quiet` is one of the
    examples.
    """
    assert [True, True, True, False, False] == [
        is_reserved(word) for word in ("monitor", "USING", "Or", "quiet", "links")
    ]


def test_word_is_suggested_for_a_typo():
    """It has the spelling of the language; nothing is suggested for distant or endless words."""
    assert ("Sentinel", None, None) == (
        closest("sentinl", ["Create", "Sentinel"]),
        closest("banana", ["Create", "Sentinel"]),
        closest("s" * 100_000, ["s" * 100_000]),
    )
    assert ('did you mean "Notify"?', "") == (did_you_mean("Notfy", ["Notify"]), did_you_mean("x", ["Notify"]))


def test_choices_are_joined_as_in_a_sentence():
    """There are commas, and `or` before the last."""
    assert ["", "a", "a or b", "a, b or c"] == [either(choices) for choices in ([], ["a"], ["a", "b"], ["a", "b", "c"])]
