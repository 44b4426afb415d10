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


def test_both_texts_are_told_as_the_pages_write_them():
    """Without their markup; the edit is a replacement of these tokens."""
    finding = share(TERMS.format(SHARE), TERMS.format(SELL))

    assert (("We may share your data", "We may sell your data"),) == finding.updated
    assert ((), (), ()) == (finding.inserted, finding.deleted, finding.moved)
    assert (Edit("replace", 4, 9, 4, 9),) == finding.edits
    assert (ObjectCount("phrases", "we may share your data", 1, 0),) == finding.objects
    assert 'phrase "We may share your data" → "We may sell your data"' == summary(finding)


def test_what_came_and_went_is_told_as_it_stands_there():
    """In the case of the page, not of the sentinel."""
    gone = share(TERMS.format(SHARE), TERMS.format(""))
    come = share(TERMS.format(""), TERMS.format("WE MAY SHARE your data"))

    assert (("We may share your data",), (Edit("delete", 4, 9, 4, 4),)) == (gone.deleted, gone.edits)
    assert (("WE MAY SHARE your data",), "insert") == (come.inserted, come.edits[0].op)
    assert 'phrase removed "We may share your data"' == summary(gone)


@pytest.mark.parametrize("direction", ["inserted", "deleted", "updated"])
def test_directions_are_apart(direction):
    """A phrase that was reworded was neither inserted nor deleted, though it stands there less often now (004 §5.4)."""
    updated = share(TERMS.format(SHARE), TERMS.format(SELL))
    gone = share(TERMS.format(SHARE), TERMS.format(""))
    come = share(TERMS.format(""), TERMS.format(SHARE))
    found = {"inserted": come, "deleted": gone, "updated": updated}

    assert {direction} == {name for name, finding in found.items() if narrow(finding, direction)}


def test_a_move_is_both_inserted_and_deleted():
    """As for words (004 §5.3.1)."""
    far = " ".join(f"w{number}" for number in range(30))
    finding = share(f"{SHARE}, it says. {far} end", f"it says. {far} end {SHARE}")

    assert ("We may share your data",) == finding.moved
    assert ("We may share your data",) == narrow(finding, "inserted").inserted
    assert ("We may share your data",) == narrow(finding, "deleted").deleted
    assert not narrow(finding, "updated")


def test_of_too_many_only_the_number_is_told():
    """With the direction in which it went."""
    (finding,) = Phrases("a").compare(page("a " * (MOST_INSTANCES + 1)), page("a " * MOST_INSTANCES))

    assert (ObjectCount("phrases", "a", MOST_INSTANCES + 1, MOST_INSTANCES),) == finding.objects
    assert (("a",), ()) == (finding.deleted, finding.edits)
    assert finding == narrow(finding, "deleted")
    assert not narrow(finding, "inserted")
    assert not narrow(finding, "updated")


@given(old=bodies, new=bodies)
def test_directions_make_up_the_whole(old, new):
    """Every edit goes in one direction, and a finding without any direction is none."""
    found = Phrases("low risk").compare(page(old), page(new))
    parts = [narrow(finding, way) for finding in found for way in ("inserted", "deleted", "updated")]

    assert sorted(map(str, (edit for finding in found for edit in finding.edits))) == sorted(
        str(edit) for part in parts for edit in part.edits
    )
    assert bool(found) == any(parts)


def test_the_thesis_way_is_there_for_comparison():
    """Vector 16: a word far away makes its signature another one."""
    box = "a b c d e f g h i j"
    old, new = page(f"{box} low risk"), page(f"{box} low risk".replace("a", "z"))
    (strict,) = Phrases("low risk", rules=STRICT).compare(old, new)

    assert (("low risk",), ("low risk",)) == (strict.inserted, strict.deleted)
    assert () == Phrases("low risk").compare(old, new)


def test_a_body_that_cannot_be_read_is_neither_silence_nor_a_deletion():
    """The page became a PDF: nobody knows whether the phrase stands in it, and so it is said."""
    (finding,) = Phrases("low risk").compare(page("low risk"), parse(b"GIF89a ...", "image/gif"))

    assert ("body",) == finding.kinds


def test_spans_are_where_it_stands_and_what_became_of_it():
    """With a direction only those that changed in it."""
    old, new = page(TERMS.format(SHARE) + " No fee."), page(TERMS.format(SELL) + f" {SHARE}!")
    phrase = Phrases("we may share your data")

    assert ([(4, 9), (4, 9)], [(4, 9), (15, 20), (15, 20)]) == tuple(map(sorted, phrase.spans(old, new, None)))
    assert ([(4, 9)], [(4, 9)]) == phrase.spans(old, new, "updated")
    assert [(15, 20)] == phrase.spans(old, new, "inserted")[1]
    assert ([], []) == phrase.spans(old, new, "deleted")
