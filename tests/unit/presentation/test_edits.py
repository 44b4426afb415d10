import pytest

from tests.unit.presentation.records import record
from tidings.model.observed.change import EditContext
from tidings.presentation.edits import EditLine, edits_of, headline, more, newest_first, starts_of_frames, times
from tidings.presentation.presenters import PRESENTERS


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


def change(inserted=(), deleted=(), updated=(), *, url="https://a.example/", kind="words", number=1, **more):
    pairs = [{"old": old, "new": new} for old, new in updated]
    return {
        "record": "change", "sentinel": "s", "url": url, "kind": kind, "from_version": f"1.{number}", "to_version": f"1.{number + 1}",
        "inserted": list(inserted), "deleted": list(deleted), "updated": pairs, "moved": [], "summary": "1 text updated",
        "polled_at": "2026-01-01T00:00:00Z", "detected_at": "2026-01-01T00:00:00Z", **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([{"updated": [("1", "2")]}, {"updated": [("2", "3")]}], '"1" → "3"'),
        ([{"updated": [("1", "2")]}, {"updated": [("2", "1")]}], "as it was before"),
        ([{"inserted": ["x"]}, {"deleted": ["x"]}, {"inserted": ["y"]}], '+"y"'),
        ([{"deleted": ["x"]}, {"inserted": ["x"]}], "as it was before"),
        ([{"inserted": ["x"]}, {"updated": [("x", "y")]}], '+"y"'),
        ([{"updated": [("1", "2")]}, {"deleted": ["2"]}], '-"1"'),
        ([{"updated": [("1", "3"), ("2", "3")]}, {"inserted": ["x"]}], '"1" → "3"; "2" → "3"; +"x"'),
        ([{"updated": [("1", "3"), ("2", "3")]}, {"updated": [("3", "4")]}], '"2" → "3"; "1" → "4"'),
        ([{"inserted": list("abc")}, {"inserted": list("de")}], '+"a"; +"b"; +"c"; and 2 more'),
    ],
)
def test_edits_are_followed_from_the_first_to_the_last(changes, said):
    """What came and went again is left out; what became something else is told from its beginning to its end."""
    records = [change(**edits, number=n) for n, edits in enumerate(changes, 1)]
    (net, *rest) = newest_first(records, net=True)

    assert f"{len(changes)} changes, net: {said}" == net["summary"]
    assert ("1.1", f"1.{len(changes) + 1}") == (net["from_version"], net["to_version"])
    assert records[::-1] == rest


def test_only_pages_that_changed_more_than_once_have_one():
    """Each page and kind by itself; composites and notices have none."""
    once = change(inserted=["x"], url="https://b.example/")
    several = change(inserted=["x"], parts=[{"url": "https://a.example/"}])
    notice = {"record": "notice", "event": "page.error", "url": "https://a.example/"}
    records = [once, change(updated=[("1", "2")]), several, notice, several, change(updated=[("2", "3")], number=2)]
    told = newest_first(records, net=True)

    assert [*records[:0:-1], once] == [record for record in told if "net" not in record.get("summary", "")]
    assert [0] == [place for place, record in enumerate(told) if "net" in record.get("summary", "")]


@pytest.mark.parametrize("name", sorted(PRESENTERS))
def test_every_view_can_draw_it(name):
    """It is a change record like others."""
    told = newest_first([change(updated=[("1", "2")]), change(updated=[("2", "3")], number=2)], net=True)

    assert "2 changes, net:" in PRESENTERS[name].present(told)


def test_the_newest_is_read_first():
    """Page by page, so that nobody jumps between pages: the page that changed last, and of each page its last change."""
    a, b = ([change(inserted=[f"{name}{n}"], url=f"https://{name}.example/") for n in range(2)] for name in "ab")
    told = newest_first([a[0], b[0], b[1], a[1]])

    assert ["a1", "a0", "b1", "b0"] == [record["inserted"][0] for record in told]
