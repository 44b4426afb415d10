"""PDF: its words, whatever else differs in the file; what cannot be read is said (detection §5; decision 0031)."""

import pytest

from tests.pdfs import bomb, pdf, scan
from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.document import parse as parsing
from tidings.document.data.pdf import MOST_OF_A_STREAM
from tidings.document.parse import parse
from tidings.model.watch.interest import Interest

pytest.importorskip("pypdfium2", reason="the extra pdf is not installed")


def report(old, new):
    change = evaluate(Interest("any"), Pair(parse(old), parse(new)))
    return list(change.inserted), list(change.deleted), list(change.updated)


def test_words_are_put_together_over_lines_and_pages():
    """A word that a line or a page broke is one word; one that is written with a hyphen keeps it; the title is no text."""
    document = parse(
        pdf([["An exam-", "ple of well-", "Known words"], ["Caf\u00e9 bro-"], ["ken here"]], title="T"), "text/html"
    )

    assert ["An", "example", "of", "well", "Known", "words", "Café", "broken", "here"] == document.tokens
    assert ["An example of well-Known words", "Café broken here"] == document.lines
    assert ("pdf", "T", "", "") == (document.media, document.title, document.problem, document.note)


def test_a_new_export_of_the_same_text_is_no_change():
    """Dates and /ID mean nothing, neither does where lines and pages break; a changed word does."""
    old = pdf([["The price is", "five euro"]], made="2026-01")

    assert ([], [], []) == report(old, pdf([["The price is five eu-"], ["ro"]], made="2027-12"))
    assert ([], [], [("five", "six")]) == report(old, pdf([["The price is", "six euro"]]))


def test_a_scan_has_no_text_and_says_so():
    """Its pictures are compared, its dates are not; the user is told what is watched."""
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
def test_what_cannot_be_read_is_not_compared_and_never_unchanged(data, reason):
    """A PDF that is locked, damaged or too much has a problem that says so."""
    problem = parse(data, "application/pdf").problem

    assert problem.startswith("could not compare: ")
    assert reason in problem


def test_without_the_extra_a_pdf_is_compared_as_a_whole_and_that_is_said(monkeypatch):
    """The note tells what to install; another file is a change."""
    monkeypatch.setattr(parsing, "is_readable", lambda: False)
    old, new = parse(pdf([["a"]], made="1")), parse(pdf([["a"]], made="2"))

    assert 'pip install "tidings[pdf]"' in old.note
    assert ("body",) == evaluate(Interest("any"), Pair(old, new)).kinds
