"""The edits of a change as a reader sees them."""

import pytest

from tests.unit.presentation.records import record
from tidings.model.observed.change import EditContext
from tidings.presentation.edits import EditLine, edits_of, headline, newest_first, starts_of_frames, times
from tidings.presentation.presenters import PRESENTERS
from tidings.presentation.text import ChangesAsText


def test_edits_are_in_reading_order():
    """Replaced, deleted, inserted and moved text comes first, then objects whose number differs."""
    counts = [
        {"kind": "images", "object": "x.png", "old": 3, "new": 2},
        {"kind": "links", "object": "new", "old": 0, "new": 1},
    ]
    shown = record(deleted=["gone", "x.png"], inserted=["come", "new"], moved=["par"], counts=counts)
    edits, rest = edits_of(shown, most=9)

    assert [
        EditLine("updated", "5", "6"),
        EditLine("deleted", old="gone"),
        EditLine("inserted", new="come"),
        EditLine("inserted", new="new", sort="link"),
        EditLine("moved", new="par"),
        EditLine("counted", "x.png", "3 → 2", "image"),
    ] == edits
    assert 0 == rest


def test_omitted_edits_are_counted():
    """A number replaces them."""
    edits, rest = edits_of(record(inserted=["a"] * 10, deleted=["b"] * 5), most=3)

    assert (3, 13) == (len(edits), rest)


def test_texts_of_pages_are_cleaned():
    """Line ends and escapes of a page do not reach a message."""
    edits, _ = edits_of(record(updated=[{"old": "a\nb", "new": "\x1b]0;x\x07"}]), most=1)

    assert [EditLine("updated", "a b", "\\u001b]0;x\\u0007")] == edits


def test_text_that_resembles_a_counted_object_stays():
    """Only as many as the numbers show are left out of the lists."""
    counts = [{"kind": "links", "object": "https://a.example/", "old": 1, "new": 2}]
    edits, rest = edits_of(record(updated=[], inserted=["https://a.example/"] * 3, counts=counts))
    word = EditLine("inserted", new="https://a.example/")

    assert [word, word, EditLine("counted", "https://a.example/", "1 → 2", "link")] == edits
    assert 0 == rest


def test_object_that_only_the_numbers_show_is_listed():
    """Each row of the table is listed, and an omitted one counts as one."""
    counts = [{"kind": "keywords", "object": "sale", "old": 0, "new": 1_200}]
    shown = record(updated=[], counts=counts)

    assert ([EditLine("counted", "sale", "0 → 1,200", "keyword")], 0) == edits_of(shown)
    assert ([], 1) == edits_of(shown, most=0)


def test_kind_without_a_word_keeps_its_name():
    """An example is `body`."""
    counts = [{"kind": "body", "object": "pdf", "old": 0, "new": 1}]

    assert ([EditLine("inserted", new="pdf", sort="body")], 0) == edits_of(
        record(updated=[], inserted=["pdf"], counts=counts)
    )


def test_long_text_is_whole_in_views_without_a_limit():
    """Other views show only its beginning."""
    shown = record(updated=[], inserted=["x" * 9_000])

    assert [8_001, 9_000] == [len(edits_of(shown, longest=longest)[0][0].new) for longest in (8_000, None)]


def test_change_always_has_a_headline():
    """It is that of the record, else the number of edits, else the change type, else that the page
    changed.
    """
    assert ['1 text updated: "5" → "6"', "1 updated, 2 moved", "words", "changed"] == [
        headline(shown)
        for shown in (record(), record(summary="", moved=["a", "b"]), record(summary="", updated=[]), {})
    ]


def test_time_is_shown_to_the_minute():
    """It is in UTC and says so; a record without a time shows none."""
    assert ("seen Tue 2023-11-14 22:13 UTC", "") == (times(record()), times({}))


def _make_framed():
    menu = record(updated=[], inserted=["new"], url="https://shop.example/menu")
    text = record(updated=[{"old": "5", "new": "6"}], deleted=["old", "older"], url="https://shop.example/te\nxt")
    return record(inserted=["new"], deleted=["old", "older"], frames=[menu, text])


def test_edits_are_grouped_by_frame():
    """Each edit names its frame. Edits of the whole page are not repeated, and all are counted."""
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
def test_value_is_named_by_the_line_above(of, place):
    """An updated value belongs to the line above it; a new one comes after that line."""
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
    ("changes", "headline"),
    [
        ([{"updated": [("1", "2")]}, {"updated": [("2", "3")]}], '"1" → "3"'),
        ([{"updated": [("1", "2")]}, {"updated": [("2", "1")]}], "as it was before"),
        ([{"inserted": ["x"]}, {"deleted": ["x"]}, {"inserted": ["y"]}], '+"y"'),
        ([{"deleted": ["x"]}, {"inserted": ["x"]}], "as it was before"),
        ([{"inserted": ["x"]}, {"updated": [("x", "y")]}], '+"y"'),
        ([{"updated": [("1", "2")]}, {"deleted": ["2"]}], '-"1"'),
        ([{"updated": [("1", "3"), ("2", "3")]}, {"inserted": ["x"]}], '"1" → "3"; "2" → "3"; +"x"'),
        ([{"updated": [("1", "3"), ("2", "3")]}, {"updated": [("3", "4")]}], '"2" → "3"; "1" → "4"'),
        ([{"inserted": list("abc")}, {"inserted": list("de")}], '+"a"; +"b"; +"c"; and 2 more changes'),
    ],
)
def test_edits_of_several_changes_are_combined(changes, headline):
    """A text that came and went is left out; one that changed twice is shown from its first form to
    its last.
    """
    records = [change(**edits, number=n) for n, edits in enumerate(changes, 1)]
    (combined, *rest) = newest_first(records, net=True)

    assert f"{len(changes)} changes, net: {headline}" == combined["summary"]
    assert ("1.1", f"1.{len(changes) + 1}") == (combined["from_version"], combined["to_version"])
    assert records[::-1] == rest


def test_combination_needs_two_changes_of_a_page():
    """Each page and kind is combined by itself; composites and notices are not."""
    once = change(inserted=["x"], url="https://b.example/")
    several = change(inserted=["x"], parts=[{"url": "https://a.example/"}])
    notice = {"record": "notice", "event": "page.error", "url": "https://a.example/"}
    records = [once, change(updated=[("1", "2")]), several, notice, several, change(updated=[("2", "3")], number=2)]
    shown = newest_first(records, net=True)

    assert [*records[:0:-1], once] == [record for record in shown if "net" not in record.get("summary", "")]
    assert [0] == [place for place, record in enumerate(shown) if "net" in record.get("summary", "")]


@pytest.mark.parametrize("name", sorted(PRESENTERS))
def test_every_view_shows_a_combination(name):
    """It is a change record like others."""
    shown = newest_first([change(updated=[("1", "2")]), change(updated=[("2", "3")], number=2)], net=True)

    assert "2 changes, net:" in PRESENTERS[name].present(shown)


def test_newest_change_is_first():
    """The pages are in the order of their last change, and so are the changes of a page."""
    a, b = ([change(inserted=[f"{name}{n}"], url=f"https://{name}.example/") for n in range(2)] for name in "ab")
    shown = newest_first([a[0], b[0], b[1], a[1]])

    assert ["a1", "a0", "b1", "b0"] == [record["inserted"][0] for record in shown]


def test_updates_of_one_sentence_are_one_line():
    """The sentence is shown once, in every view, and counts once."""
    context = [
        {"of": "updated", "number": 0, "heading": "About", "before": "We are a ", "after": " shop in York."},
        {"of": "updated", "number": 1, "heading": "About", "before": "We are a large shop in ", "after": "."},
    ]
    change = record(updated=[{"old": "small", "new": "large"}, {"old": "Leeds", "new": "York"}], context=context)
    shown = ChangesAsText().fragment(change)
    lines, more = edits_of(change)

    assert "About: We are a [-small-]{+large+} shop in [-Leeds-]{+York+}." == shown
    assert (1, 0) == (len(lines), more)
    assert ("small shop in Leeds", "large shop in York") == (lines[0].old, lines[0].new)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("form", "form"), 'link "form": [-https://a.example/1-]{+https://a.example/2+}'),
        (("form 1", "form 2"), "link: [-form 1 (https://a.example/1)-]{+form 2 (https://a.example/2)+}"),
        (("form", None), "removed link: form\n  https://a.example/1\nnew link: https://a.example/2"),
    ],
)
def test_link_with_another_address_is_one_line(names, expected):
    """It has the text of the link and both addresses."""
    urls = ["https://a.example/1", "https://a.example/2"]
    place = {"number": 1, "of": 1, "before": "", "after": "", "kind": "links"}
    change = record(
        updated=[],
        deleted=urls[:1],
        inserted=urls[1:],
        counts=[{"kind": "links", "object": url, "old": 1 - n, "new": n} for n, url in enumerate(urls)],
        places=[
            {**place, "object": url, "change": kind, "text": name}
            for url, kind, name in zip(urls, ("deleted", "inserted"), names, strict=True)
        ],
    )

    assert expected == ChangesAsText().fragment(change).replace(f" ([{names[0]}])", "").replace(" ([…])", "")


def test_address_of_a_new_text_is_not_reported_again():
    """The new text is shown with its link, so the link is no second change."""
    url = "https://a.example/2"
    change = record(
        updated=[],
        inserted=["Form 2026", url],
        counts=[{"kind": "links", "object": url, "old": 0, "new": 1}],
        context=[{"of": "inserted", "number": 0, "heading": "Docs", "link": url}],
    )

    assert f"Docs: {{+Form 2026+}} (link {url})" == ChangesAsText().fragment(change)
