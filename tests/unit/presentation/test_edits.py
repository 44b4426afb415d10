import pytest

from tests.unit.presentation.records import record
from tidings.model.observed.change import EditContext
from tidings.presentation.edits import EditLine, edits_of, headline, more, starts_of_frames, times


def test_edits_come_in_the_order_people_read():
    """What was replaced, what went, what came, what moved, what is there more often."""
    counts = [
        {"kind": "images", "object": "x.png", "old": 3, "new": 2},
        {"kind": "links", "object": "new", "old": 0, "new": 1},
    ]
    told = record(deleted=["gone", "x.png"], inserted=["come", "new"], moved=["par"], counts=counts)
    edits, rest = edits_of(told, most=9)

    assert [
        EditLine("updated", "5", "6"),
        EditLine("deleted", old="gone"),
        EditLine("inserted", new="come"),
        EditLine("inserted", new="new", sort="link"),
        EditLine("moved", new="par"),
        EditLine("counted", "x.png", "3 → 2", "image"),
    ] == edits
    assert 0 == rest


def test_edits_that_are_left_out_are_counted():
    """Nothing disappears without a number."""
    edits, rest = edits_of(record(inserted=["a"] * 10, deleted=["b"] * 5), most=3)

    assert (3, 13) == (len(edits), rest)


def test_texts_of_pages_are_tamed():
    """Line ends and escapes of a page do not reach a message."""
    edits, _ = edits_of(record(updated=[{"old": "a\nb", "new": "\x1b]0;x\x07"}]), most=1)

    assert [EditLine("updated", "a b", "\\u001b]0;x\\u0007")] == edits


def test_a_text_that_only_looks_like_a_counted_object_stays():
    """As many as the numbers tell are left out of the lists, not one more."""
    counts = [{"kind": "links", "object": "https://a.example/", "old": 1, "new": 2}]
    edits, rest = edits_of(record(updated=[], inserted=["https://a.example/"] * 3, counts=counts))
    word = EditLine("inserted", new="https://a.example/")

    assert [word, word, EditLine("counted", "https://a.example/", "1 → 2", "link")] == edits
    assert 0 == rest


def test_an_object_that_only_the_numbers_tell_is_told():
    """No row of the table is silent, and what is left out counts as one."""
    counts = [{"kind": "keywords", "object": "sale", "old": 0, "new": 1_200}]
    told = record(updated=[], counts=counts)

    assert ([EditLine("counted", "sale", "0 → 1,200", "keyword")], 0) == edits_of(told)
    assert ([], 1) == edits_of(told, most=0)


def test_a_sort_without_a_word_of_its_own_keeps_its_name():
    """A body is a body."""
    counts = [{"kind": "body", "object": "pdf", "old": 0, "new": 1}]

    assert ([EditLine("inserted", new="pdf", sort="body")], 0) == edits_of(
        record(updated=[], inserted=["pdf"], counts=counts)
    )


def test_long_texts_are_whole_if_asked():
    """Only views with a bound look at the beginning alone."""
    told = record(updated=[], inserted=["x" * 9_000])

    assert [8_001, 9_000] == [len(edits_of(told, longest=longest)[0][0].new) for longest in (8_000, None)]


def test_there_is_always_a_headline():
    """What the record says, else how many of what, else its change type, else that it changed."""
    assert ['1 text updated: "5" → "6"', "1 updated, 2 moved", "words", "changed"] == [
        headline(told) for told in (record(), record(summary="", moved=["a", "b"]), record(summary="", updated=[]), {})
    ]


def test_the_minute_is_shown():
    """Times are in UTC and say so; a record without one shows none."""
    assert ("seen Tue 2023-11-14 22:13 UTC", "") == (times(record()), times({}))


def test_counts_have_their_number():
    """One change, two changes, a thousand with a comma."""
    assert ["and 1 more change", "and 2 more changes", "and 1,000 more"] == [
        more(1, "change"),
        more(2, "change"),
        more(1_000),
    ]


def _make_framed():
    menu = record(updated=[], inserted=["new"], url="https://shop.example/menu")
    text = record(updated=[{"old": "5", "new": "6"}], deleted=["old", "older"], url="https://shop.example/te\nxt")
    return record(inserted=["new"], deleted=["old", "older"], frames=[menu, text])


def test_edits_of_a_page_with_frames_stand_frame_by_frame():
    """Each edit says in which frame it lies; those of the whole page are not told a second time, and all are counted."""
    edits, rest = edits_of(_make_framed(), most=3)
    menu, text = "https://shop.example/menu", "https://shop.example/te xt"

    assert [
        EditLine("inserted", new="new", frame=menu),
        EditLine("updated", "5", "6", frame=text),
        EditLine("deleted", old="old", frame=text),
    ] == edits
    assert 1 == rest
    assert [menu, text, ""] == [frame for _, frame in starts_of_frames(edits)]


@pytest.mark.parametrize(("of", "place"), [("updated", "Status › Queue"), ("inserted", 'Status › after "Queue:"')])
def test_the_line_above_names_a_value(of, place):
    """A value that was updated is that of the line above it; what is new stands after that line."""
    context = EditContext(of, 0, heading="Status", above="Queue:")

    assert place == EditLine("updated", context=context).place
