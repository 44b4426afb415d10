"""Where the texts of a change stand.

What entries of a change say, for people.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import share
from tidings.detection.ask.contexts import AROUND, MOST
from tidings.detection.ask.summary import summary
from tidings.detection.job.contract import Body
from tidings.detection.job.examiner import compare_bodies
from tidings.document.parse import parse
from tidings.document.select.extraction import WHOLE, Extraction
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
    """Return what is known of the first text where `#` of a page became another, what is empty left out."""
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
def test_a_text_has_its_heading_label_and_neighbours(page, expected):
    """A reader knows what a value belongs to."""
    assert expected == report(page, "12", "3")


def test_a_part_has_the_heading_of_its_page():
    """What Select takes stands under a heading that it does not take."""
    page = "<h2>Kettle</h2><p class=price>Now # EUR</p><h2>Other</h2><p>9</p>"
    part = Extraction(selectors=(Selector("css", ".price"),))

    assert {"heading": "Kettle", "before": "Now ", "after": " EUR"} == report(page, "12", "3", extraction=part)


def test_texts_of_each_list_have_their_own_context():
    """What came and what went stand each where they stood."""
    change = find("<h2>A</h2><p>one two three<h2>B</h2><p>x", "<h2>A</h2><p>one three<h2>B</h2><p>x new words here")

    assert [("deleted", 0, "A"), ("inserted", 0, "B")] == [(one.of, one.number, one.heading) for one in change.contexts]


def test_equal_texts_have_contexts_in_their_order():
    """The same edit in two rows is told of two rows."""
    rows = "<table><tr><td>a<td>#<tr><td>b<td>#</table>"
    change = find(rows.replace("#", "1"), rows.replace("#", "2"))

    assert ["a", "b"] == [one.label for one in change.contexts]


def test_only_the_first_texts_of_a_large_change_have_a_context():
    """A change of everything stays small."""
    rows = ["".join(f"<p>line {number} is {number + more}" for number in range(0, 2_000, 2)) for more in (0, 1)]

    assert MOST == len(find(*rows).contexts)


def test_a_summary_with_a_label_stands_alone():
    """It says which database, not only that something is degraded."""
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
def test_what_is_said_of_a_text_stands_in_its_page(old, new):
    """Nothing is invented and nothing fails, whatever the markup."""
    change = find(old, new)
    texts = [" ".join(parse(page.encode(), "text/html", url=URL).text.split()) for page in (old, new)]

    for one in change.contexts:
        for part in (one.heading, *one.label.split(", "), one.above, one.before.strip(), one.after.strip()):
            assert any(part in text for text in texts), part
        assert max(len(one.before), len(one.after)) <= AROUND
        shown = {"updated": [pair[1] for pair in change.updated]}.get(one.of) or getattr(change, one.of)
        assert any(f"{one.before}{shown[one.number]}{one.after}" in text for text in texts)


def test_a_text_within_a_megabyte_without_white_space_has_no_context() -> None:
    """Where no token is looked for, nothing is shown of what stands beside it."""
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
    """Return the notes of what became of a feed."""
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
def test_a_new_entry_says_who_wrote_it_and_when(body, author, published):
    """As far as its feed says."""
    (note,) = notes(RSS.format(FIRST), RSS.format(ITEM.format(2, "Two", body) + FIRST))

    assert EntryNote("inserted", 0, "Two", "https://a.example/2", author, published) == note


def test_a_long_text_is_cut_between_words():
    """280 characters at most, without the title."""
    text = "<description>" + "words " * 100 + "</description>"
    (note,) = notes(RSS.format(FIRST), RSS.format(ITEM.format(2, "Two", text) + FIRST))

    assert note.text.startswith("words words")
    assert note.text.endswith("words…")
    assert len(note.text) <= 281


def test_an_edited_entry_says_what_of_it_is_another():
    """Its title and its text."""
    old, new = (
        ITEM.format(2, title, f"<description>It is {text}.</description>") + FIRST
        for title, text in (("Two", "a"), ("Zwei", "b"))
    )
    (note,) = notes(RSS.format(old), RSS.format(new))

    assert ("updated", "Zwei", "https://a.example/2", "") == (note.of, note.title, note.link, note.text)
    assert (("title", "Two", "Zwei"), ("text", "It is a.", "It is b.")) == note.edits


def test_entries_of_json_have_notes_too():
    """The fields that say who and when."""
    old = '[{"id": 1, "title": "One"}]'
    new = '[{"id": 2, "title": "Two", "url": "https://a.example/2", "author": "Ann", "created_at": "2026-11-27T07:40:00Z"}, {"id": 1, "title": "One"}]'
    (note,) = notes(old, new, "application/json")

    assert ("Two", "Ann", AT) == (note.title, note.author, note.published)
