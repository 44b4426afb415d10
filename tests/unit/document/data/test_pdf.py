"""PDF: its words are compared; an unreadable one has a reason (detection §5; decision 0031)."""

import pytest

from tests.pdfs import bomb, pdf, scan
from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.document import parse as parsing
from tidings.document.data.pdf import MOST_OF_A_STREAM
from tidings.document.parse import parse
from tidings.errors import spell_install
from tidings.model.watch.interest import Interest

pytest.importorskip("pypdfium2", reason="the extra pdf is not installed")


def report(old, new):
    change = evaluate(Interest("any"), Pair(parse(old), parse(new)))
    return list(change.inserted), list(change.deleted), list(change.updated)


def test_words_are_joined_over_lines_and_pages():
    """A word broken by a line or a page is one word; one written with a hyphen keeps it; the title
    is no text.
    """
    document = parse(
        pdf([["An exam-", "ple of well-", "Known words"], ["Caf\u00e9 bro-"], ["ken here"]], title="T"), "text/html"
    )

    assert ["An", "example", "of", "well", "Known", "words", "Café", "broken", "here"] == document.tokens
    assert ["An example of well-Known words", "Café broken here"] == document.lines
    assert ("pdf", "T", "", "") == (document.media, document.title, document.problem, document.note)


def test_new_export_of_the_same_text_is_no_change():
    """Dates and /ID do not count, nor where lines and pages break; a changed word does."""
    old = pdf([["The price is", "five euro"]], made="2026-01")

    assert ([], [], []) == report(old, pdf([["The price is five eu-"], ["ro"]], made="2027-12"))
    assert ([], [], [("five", "six")]) == report(old, pdf([["The price is", "six euro"]]))


def test_scan_without_text_has_a_note():
    """Its pictures are compared, its dates are not."""
    old, same, other = (
        parse(scan(pixels, made=made)) for pixels, made in ((bytes(64), "1"), (bytes(64), "2"), (b"1" * 64, "1"))
    )

    assert "no text" in old.note
    assert not evaluate(Interest("any"), Pair(old, same))
    ((before, after),) = evaluate(Interest("any"), Pair(old, other)).updated
    assert before.startswith("PDF of ")
    assert before != after


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf([["x"]], encrypted=True), "locked with a password"),
        (b"%PDF-1.7\nnothing of the sort", "damaged"),
        (pdf([["x"]])[:300], "damaged"),
        (bomb(MOST_OF_A_STREAM + 1_000_000), "draws more than"),
    ],
    ids=["locked", "damaged", "cut", "bomb"],
)
def test_unreadable_pdf_has_a_problem(data, reason):
    """It is locked, damaged or too large, and never counts as unchanged."""
    problem = parse(data, "application/pdf").problem

    assert problem.startswith("could not compare: ")
    assert reason in problem


def test_pdf_is_compared_as_a_whole_without_the_extra(monkeypatch):
    """The note says what to install; another file is a change."""
    monkeypatch.setattr(parsing, "is_readable", lambda: False)
    old, new = parse(pdf([["a"]], made="1")), parse(pdf([["a"]], made="2"))

    assert spell_install("pdf") in old.note
    assert ("body",) == evaluate(Interest("any"), Pair(old, new)).kinds
