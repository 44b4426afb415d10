from tests.unit.notification.records import record
from tidings.notification.edits import Edit, edits_of, headline, more, seen_at


def test_edits_come_in_the_order_people_read():
    """What was replaced, what went, what came, what moved, what is there more often."""
    counts = [
        {"kind": "images", "object": "x.png", "old": 3, "new": 2},
        {"kind": "links", "object": "new", "old": 0, "new": 1},
    ]
    edits, rest = edits_of(record(deleted=["gone"], inserted=["come"], moved=["par"], counts=counts), most=9)

    assert [
        Edit("updated", "5", "6"),
        Edit("deleted", old="gone"),
        Edit("inserted", new="come"),
        Edit("moved", new="par"),
        Edit("counted", "x.png", "3 → 2"),
    ] == edits
    assert 0 == rest


def test_edits_that_are_left_out_are_counted():
    """Nothing disappears without a number."""
    edits, rest = edits_of(record(inserted=["a"] * 10, deleted=["b"] * 5), most=3)

    assert (3, 13) == (len(edits), rest)


def test_texts_of_pages_are_tamed():
    """Line ends and escapes of a page do not reach a message."""
    edits, _ = edits_of(record(updated=[{"old": "a\nb", "new": "\x1b]0;x\x07"}]), most=1)

    assert [Edit("updated", "a b", "\\u001b]0;x\\u0007")] == edits


def test_a_change_without_summary_is_called_by_its_kind():
    """There is always a headline."""
    assert ("words", "changed") == (headline(record(summary="")), headline({}))


def test_the_minute_is_shown():
    """Times are in UTC and say so; a record without one shows none."""
    assert ("2023-11-14 22:13 UTC", "") == (seen_at(record()), seen_at({}))


def test_counts_have_their_number():
    """One change, two changes, a thousand with a comma."""
    assert ["and 1 more change", "and 2 more changes", "and 1,000 more"] == [
        more(1, "change"),
        more(2, "change"),
        more(1_000),
    ]
