"""What entries of a change say, for people."""

import pytest

from tidings.detection.job.contract import Body
from tidings.detection.job.examiner import compare_bodies
from tidings.model.observed.change import EntryNote
from tidings.model.watch.sentinel import Interest

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
