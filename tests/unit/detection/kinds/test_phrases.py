"""Phrases as a change type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.detection.ask.summary import summary
from tidings.detection.compare.instances import STRICT
from tidings.detection.compare.phrases import MOST_INSTANCES
from tidings.detection.find.findings import narrow
from tidings.detection.kinds.keywords import Phrases
from tidings.document.parse import parse
from tidings.model.observed.change import Edit, ObjectCount

TERMS = "Dear friends, please read: {} with our partners, always and everywhere."
SHARE, SELL = "We may share your data", "We may <b>sell</b> your&nbsp;data"
bodies = st.lists(st.sampled_from(["low", "risk", "fund", "Low-risk", "x", "y"]), max_size=25).map(" ".join)


def page(body):
    return parse(f"<!doctype html><body><p>{body}".encode(), "text/html; charset=utf-8")


def share(old, new):
    (finding,) = Phrases("we may share your data").compare(page(old), page(new))
    return finding


def test_reworded_phrase_is_reported_with_both_texts():
    """They have no markup; the edit replaces these tokens."""
    finding = share(TERMS.format(SHARE), TERMS.format(SELL))

    assert (("We may share your data", "We may sell your data"),) == finding.updated
    assert ((), (), ()) == (finding.inserted, finding.deleted, finding.moved)
    assert (Edit("replace", 4, 9, 4, 9),) == finding.edits
    assert (ObjectCount("phrases", "we may share your data", 1, 0),) == finding.objects
    assert 'phrase "We may share your data" → "We may sell your data"' == summary(finding)


def test_inserted_and_deleted_phrases_are_shown_as_on_the_page():
    """They have the case of the page."""
    gone = share(TERMS.format(SHARE), TERMS.format(""))
    come = share(TERMS.format(""), TERMS.format("WE MAY SHARE your data"))

    assert (("We may share your data",), (Edit("delete", 4, 9, 4, 4),)) == (gone.deleted, gone.edits)
    assert (("WE MAY SHARE your data",), "insert") == (come.inserted, come.edits[0].op)
    assert 'removed phrase "We may share your data"' == summary(gone)


@pytest.mark.parametrize("direction", ["inserted", "deleted", "updated"])
def test_reworded_phrase_is_only_updated(direction):
    """It was neither inserted nor deleted, although its count is lower (004 §5.4)."""
    updated = share(TERMS.format(SHARE), TERMS.format(SELL))
    gone = share(TERMS.format(SHARE), TERMS.format(""))
    come = share(TERMS.format(""), TERMS.format(SHARE))
    found = {"inserted": come, "deleted": gone, "updated": updated}

    assert {direction} == {name for name, finding in found.items() if narrow(finding, direction)}


def test_moved_phrase_is_inserted_and_deleted():
    """So are words (004 §5.3.1)."""
    far = " ".join(f"w{number}" for number in range(30))
    finding = share(f"{SHARE}, it says. {far} end", f"it says. {far} end {SHARE}")

    assert ("We may share your data",) == finding.moved
    assert ("We may share your data",) == narrow(finding, "inserted").inserted
    assert ("We may share your data",) == narrow(finding, "deleted").deleted
    assert not narrow(finding, "updated")


def test_too_many_phrases_are_only_counted():
    """The direction is reported."""
    (finding,) = Phrases("a").compare(page("a " * (MOST_INSTANCES + 1)), page("a " * MOST_INSTANCES))

    assert (ObjectCount("phrases", "a", MOST_INSTANCES + 1, MOST_INSTANCES),) == finding.objects
    assert (("a",), ()) == (finding.deleted, finding.edits)
    assert finding == narrow(finding, "deleted")
    assert not narrow(finding, "inserted")
    assert not narrow(finding, "updated")


@given(old=bodies, new=bodies)
def test_each_edit_has_one_direction(old, new):
    """A finding without any direction is none."""
    found = Phrases("low risk").compare(page(old), page(new))
    parts = [narrow(finding, way) for finding in found for way in ("inserted", "deleted", "updated")]

    assert sorted(map(str, (edit for finding in found for edit in finding.edits))) == sorted(
        str(edit) for part in parts for edit in part.edits
    )
    assert bool(found) == any(parts)


def test_thesis_way_is_available():
    """Vector 16: a distant word changes the signature."""
    box = "a b c d e f g h i j"
    old, new = page(f"{box} low risk"), page(f"{box} low risk".replace("a", "z"))
    (strict,) = Phrases("low risk", rules=STRICT).compare(old, new)

    assert (("low risk",), ("low risk",)) == (strict.inserted, strict.deleted)
    assert () == Phrases("low risk").compare(old, new)


def test_phrase_in_an_unreadable_body_is_reported_as_unknown():
    """The page became a PDF: it is neither silent nor a deletion."""
    (finding,) = Phrases("low risk").compare(page("low risk"), parse(b"GIF89a ...", "image/gif"))

    assert ("body",) == finding.kinds


def test_spans_of_a_phrase_are_its_places():
    """With a direction only the changed ones are listed."""
    old, new = page(TERMS.format(SHARE) + " No fee."), page(TERMS.format(SELL) + f" {SHARE}!")
    phrase = Phrases("we may share your data")

    assert ([(4, 9), (4, 9)], [(4, 9), (15, 20), (15, 20)]) == tuple(map(sorted, phrase.spans(old, new, None)))
    assert ([(4, 9)], [(4, 9)]) == phrase.spans(old, new, "updated")
    assert [(15, 20)] == phrase.spans(old, new, "inserted")[1]
    assert ([], []) == phrase.spans(old, new, "deleted")
