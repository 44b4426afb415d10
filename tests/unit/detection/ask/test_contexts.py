"""The surroundings of the texts of a change, and notes on its entries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import share
from tidings.detection.ask.contexts import AROUND, MOST, with_contexts
from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.ask.summary import summary
from tidings.detection.job.contract import Body
from tidings.detection.job.examiner import compare_bodies
from tidings.document.parse import parse
from tidings.document.select.extraction import WHOLE, Extraction
from tidings.document.text.placed import place_text
from tidings.model.observed.change import ChangeSet, EntryNote
from tidings.model.watch.interest import Selector
from tidings.model.watch.sentinel import Interest

URL = "https://a.example/"


def find(old: str, new: str, *, content_type: str = "text/html", extraction: Extraction = WHOLE) -> ChangeSet:
    """Return what `any change` finds."""
    before, after = (Body(data=text.encode(), content_type=content_type, url=URL) for text in (old, new))
    change, problem = compare_bodies(before, after, Interest("any"), extraction)
    assert "" == problem
    return change


def report(page: str, old: str, new: str, **options) -> dict[str, str]:
    """Return what is known of the first text if `#` of a page is replaced, without empty fields."""
    change = find(page.replace("#", old), page.replace("#", new), **options)
    if not change.contexts:
        return {}
    names = ("heading", "label", "above", "before", "after", "link", "area")
    return {name: value for name in names if (value := getattr(change.contexts[0], name))}


TABLE = "<h2>Shows</h2><table>{}<tr><td>Hamlet<td>19:30<td>#<tr><td>Faust<td>20:00<td>4</table><p>end"
HEADS = "<tr><th>Show<th>Begins<th>Free"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (TABLE.format(HEADS), {"heading": "Shows", "label": "Hamlet, Free"}),
        (TABLE.format(""), {"heading": "Shows", "label": "Hamlet"}),
        (TABLE.format(f"<caption>Tonight</caption>{HEADS}"), {"heading": "Tonight", "label": "Hamlet, Free"}),
        ("<h1>Status</h1><dl><dt>Web<dd>ok<dt>Database:<dd>#</dl>", {"heading": "Status", "label": "Database"}),
        ("<dl><dt>Web<dd>ok</dl><p>then #</p>", {"before": "then "}),
        ("<h1>Menu</h1><ul><li>Soup<li>Cake #</ul>", {"heading": "Menu", "before": "Cake "}),
        ("<h2>Soup</h2><p>hot</p><h2>Cake # new</h2>", {"before": "Cake ", "after": " new"}),
        ("<h2>Fees</h2><p>We charge. It is # € a day. Bye.", {"heading": "Fees", "before": "It is ", "after": " € a day."}),
        ("<p>Open until: #", {"label": "Open until", "before": "Open until: "}),
        ("<h3>State</h3><div>Queue</div><div>#</div>", {"heading": "State", "above": "Queue"}),
        ("<p>see <a href='/x'>part #</a> now", {"before": "see part ", "after": " now", "link": "https://a.example/x"}),
        ("<h2>News</h2><p>a</p><footer><p>Visits #</footer>", {"before": "Visits ", "area": "footer"}),
        ("<table><tr><td>a<table><tr><td>b<td>#</table><td>c</table>", {"label": "b"}),
    ],
)  # fmt: skip
def test_text_has_heading_label_and_neighbours(page, expected):
    """They show a reader what a value belongs to."""
    assert expected == report(page, "12", "3")


def test_selected_part_has_the_heading_of_its_page():
    """Select does not contain that heading."""
    page = "<h2>Kettle</h2><p class=price>Now # EUR</p><h2>Other</h2><p>9</p>"
    part = Extraction(selectors=(Selector("css", ".price"),))

    assert {"heading": "Kettle", "before": "Now ", "after": " EUR"} == report(page, "12", "3", extraction=part)


def test_inserted_and_deleted_texts_have_their_own_contexts():
    """Each has that of its own version."""
    change = find("<h2>A</h2><p>one two three<h2>B</h2><p>x", "<h2>A</h2><p>one three<h2>B</h2><p>x new words here")

    assert [("deleted", 0, "A"), ("inserted", 0, "B")] == [(one.of, one.number, one.heading) for one in change.contexts]


def test_equal_texts_have_contexts_in_order():
    """The same edit in two rows is reported for both."""
    rows = "<table><tr><td>a<td>#<tr><td>b<td>#</table>"
    change = find(rows.replace("#", "1"), rows.replace("#", "2"))

    assert ["a", "b"] == [one.label for one in change.contexts]


def test_large_change_has_few_contexts():
    """Only its first texts have one."""
    rows = ["".join(f"<p>line {number} is {number + more}" for number in range(0, 2_000, 2)) for more in (0, 1)]

    assert MOST == len(find(*rows).contexts)


def test_summary_has_the_label():
    """It names the database, not only "degraded"."""
    page = "<h1>Status page</h1><dl><dt>Database<dd>#<dt>Web<dd>ok</dl>"

    assert 'Status page: Database "ok" → "degraded"' == summary(
        find(page.replace("#", "ok"), page.replace("#", "degraded"))
    )


PIECES = st.sampled_from(
    "<h1> </h1> <h2> <table> </table> <tr> <td> <th> <caption> <dl> <dt> <dd> </dl> <li> <p> <footer> </footer> <a\thref=/x> </a> one two 3 4.5 6: . … 日本 é".split(
        " "
    )
)
PAGES = st.lists(PIECES, max_size=40).map(" ".join)


@share(1)
@given(PAGES, PAGES)
def test_context_is_text_of_the_page(old, new):
    """Nothing is invented and nothing fails, for all markup."""
    change = find(old, new)
    texts = [" ".join(parse(page.encode(), "text/html", url=URL).text.split()) for page in (old, new)]

    for one in change.contexts:
        for part in (one.heading, *one.label.split(", "), one.above, one.before.strip(), one.after.strip()):
            assert any(part in text for text in texts), part
        assert max(len(one.before), len(one.after)) <= AROUND
        shown = {"updated": [pair[1] for pair in change.updated]}.get(one.of) or getattr(change, one.of)
        assert any(f"{one.before}{shown[one.number]}{one.after}" in text for text in texts)


def test_text_in_a_megabyte_without_spaces_has_no_context() -> None:
    """No token is searched there, and no neighbours are shown."""
    row = "漢字" * 40_000
    change = find(f"<p>{row}乙</p><p>one</p>", f"<p>{row}丙</p><p>two</p>")
    assert change
    assert {text for one in change.contexts for text in (one.before, one.after)} <= {""}


RSS = '<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1"><channel><title>t</title>{}</channel></rss>'
ITEM = "<item><title>{1}</title><link>/{0}</link><guid>{0}</guid>{2}</item>"
FIRST = ITEM.format(1, "One", "")
DATED = "<dc:creator>Ann</dc:creator><pubDate>Fri, 27 Nov 2026 07:40:00 GMT</pubDate>"
AT = 1_795_765_200_000_000


def notes(old, new, media="application/rss+xml"):
    """Return the notes on a changed feed."""
    before, after = (Body(data=text.encode(), content_type=media, url="https://a.example/") for text in (old, new))
    change, _ = compare_bodies(before, after, Interest("items"))
    return change.entries


@pytest.mark.parametrize(
    ("body", "author", "published"),
    [
        (DATED, "Ann", AT),
        ("<author>a@b.example (Bo)</author>", "Bo", None),
        ("<author>Cy</author><pubDate>soon</pubDate>", "Cy", None),
        ("", "", None),
    ],
)
def test_new_entry_has_author_and_date(body, author, published):
    """They are those of the feed."""
    (note,) = notes(RSS.format(FIRST), RSS.format(ITEM.format(2, "Two", body) + FIRST))

    assert EntryNote("inserted", 0, "Two", "https://a.example/2", author, published) == note


def test_long_note_is_cut_between_words():
    """It has at most 280 characters without the title."""
    text = "<description>" + "words " * 100 + "</description>"
    (note,) = notes(RSS.format(FIRST), RSS.format(ITEM.format(2, "Two", text) + FIRST))

    assert note.text.startswith("words words")
    assert note.text.endswith("words…")
    assert len(note.text) <= 281


def test_edited_entry_says_what_changed():
    """It is the title, the text, or both."""
    old, new = (
        ITEM.format(2, title, f"<description>It is {text}.</description>") + FIRST
        for title, text in (("Two", "a"), ("Zwei", "b"))
    )
    (note,) = notes(RSS.format(old), RSS.format(new))

    assert ("updated", "Zwei", "https://a.example/2", "") == (note.of, note.title, note.link, note.text)
    assert (("title", "Two", "Zwei"), ("text", "It is a.", "It is b.")) == note.edits


def test_entries_of_json_have_notes():
    """Their fields have author and date."""
    old = '[{"id": 1, "title": "One"}]'
    new = '[{"id": 2, "title": "Two", "url": "https://a.example/2", "author": "Ann", "created_at": "2026-11-27T07:40:00Z"}, {"id": 1, "title": "One"}]'
    (note,) = notes(old, new, "application/json")

    assert ("Two", "Ann", AT) == (note.title, note.author, note.published)


def test_change_in_a_calendar_has_the_event_as_its_heading():
    """Fields have their names in words, and a new event is its name, time and place."""
    event = "BEGIN:VEVENT\nUID:{0}\nDTSTART:2026120{0}T100000\nSUMMARY:Event {0}\nLOCATION:{1}\nEND:VEVENT\n"
    old, new = (
        parse(f"BEGIN:VCALENDAR\n{events}END:VCALENDAR\n".encode(), "text/calendar", url="http://x.org/")
        for events in (event.format(1, "Hall"), event.format(1, "Room 5") + event.format(2, "Hall"))
    )
    pair = Pair(old, new)
    found = with_contexts(evaluate(Interest("any"), pair), pair, (WHOLE,))

    text, context = place_text(found.inserted[0], found.contexts[0])
    assert "Event 1, 2026-12-01 10:00: LOCATION:Room 5; Event 2, 2026-12-02 10:00, Hall" == text
    assert "" == context.heading
