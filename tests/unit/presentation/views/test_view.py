"""Views of a change: in the page, side by side, changes only, as a table."""

import re
from typing import Any

import pytest

from tests.unit.presentation.safe.pages import PAGES
from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.document.document import Document
from tidings.document.parse import parse
from tidings.errors import UsageError
from tidings.model.observed.change import ChangeSet, Edit, Masked, ObjectCount
from tidings.model.watch.sentinel import Interest
from tidings.presentation.safe.markup import frame
from tidings.presentation.views.paragraphs import MOST_EDITED
from tidings.presentation.views.rows import rows_of
from tidings.presentation.views.script import MOST_EDITS, script_of
from tidings.presentation.views.view import NAMES, View, view_of

FEES = "<h2>Fees</h2><p>Delivery is free.<p>The fee for a parcel held longer than <b>14</b> days is 2.50 EUR."
MANY = "".join(f"<p>Paragraph {number} says nothing new." for number in range(20))


def page(source: str, content_type: str = "text/html; charset=utf-8") -> Document:
    """Return a page."""
    return parse(source.encode(), content_type)


def change(old: Document, new: Document, kind: str = "any") -> ChangeSet:
    """Return the change that detection finds."""
    return evaluate(Interest(kind), Pair(old, new))


def show(old: str, new: str, view: str = "", kind: str = "any", **more: Any) -> View:
    """Return a view of two pages."""
    before, after = page(old), page(new)
    return view_of(change(before, after, kind), before, after, view, **more)


def test_one_page_marks_words_and_folds_the_rest():
    """Numbers that changed are struck and underlined in their sentence; twenty paragraphs far away
    are one folded line.
    """
    made = show(FEES + MANY, FEES.replace("14", "7").replace("2.50", "4.90") + MANY, "page", ignore="/changes/9?edit=")

    assert '<h2 dir="auto">Fees</h2>' in made.html
    assert '<p class="ch at" id="e1"' in made.html
    assert '<small class="mn">2 values updated<br><a href="/changes/9?edit=0">Not relevant</a></small>' in made.html
    assert '<del>14</del> <span class="sr">added: </span><ins>7</ins> days' in made.html
    assert '<details class="fold"><summary>19 unchanged paragraphs</summary>' in made.html
    assert 1 == made.edits
    assert (2, 2, 0) == made.words


def test_jump_bar_names_each_edit():
    """A cell for each edit has heading and kind as its name, so neither colour nor a pointer is
    needed.
    """
    made = show(FEES + MANY, FEES.replace("14", "7") + MANY + "<p>A new paragraph of six words.", "page")

    assert ["#e1", "#e2"] == re.findall('<a href="(#e[0-9]+)"', made.jump)
    assert "<title>Fees, updated</title>" in made.jump
    assert "<title>Fees, inserted</title>" in made.jump
    assert made.whole.startswith('<div class="diff"><svg class="jump"')
    assert all(f'id="{place}"' in made.html for place in ("e1", "e2"))


def test_side_by_side_has_a_row_for_each_paragraph():
    """The old side has no inserted word, the new one no deleted word; a new paragraph has nothing
    beside it.
    """
    made = show(FEES, FEES.replace("14", "7") + "<p>A new paragraph.", "two", captions=("Version 6", "Version <7>"))
    rows = re.findall(r'<tr id="e\d"><td dir="auto">(.*?)</td><td dir="auto">(.*?)</td></tr>', made.html)

    assert '<th scope="col">Version 6</th><th scope="col">Version &lt;7&gt;</th>' in made.html
    assert [True, False] == ["<del>14</del>" in rows[0][0], "<ins>" in rows[0][0]]
    assert [True, False] == ["<ins>7</ins>" in rows[0][1], "<del>" in rows[0][1]]
    assert '<span class="soft">nothing</span>' == rows[1][0]
    assert "<ins>A new paragraph.</ins>" in rows[1][1]


def test_replaced_paragraphs_are_beside_the_new_ones():
    """If as many came as went, each is beside the one it replaces."""
    made = show("<p>a b c<p>d e f<p>end", "<p>u v w<p>x y z<p>end", "two")
    rows = re.findall(r'<tr id="e\d"><td dir="auto">(.*?)</td><td dir="auto">(.*?)</td></tr>', made.html)

    assert [("a b c", "u v w"), ("d e f", "x y z")] == [
        tuple(re.sub("<span.*?</span>|<[^>]*>", "", side).strip() for side in row) for row in rows
    ]


def test_changes_only_shows_words_beside_a_change():
    """One word in a paragraph of a hundred is shown with twelve on each side."""
    words = " ".join(f"w{number}" for number in range(100))
    made = show(f"<p>{words}", f"<p>{words.replace('w50', 'new')}", "only")
    text = re.sub("<small.*?</small>|<span.*?</span>|<[^>]*>", "", made.html).split()

    assert ["…", "w38"] == text[:2]
    assert ["w62", "…"] == text[-2:]


def test_moved_paragraph_shows_its_old_place():
    """It is marked as moved, with the heading that it left."""
    moved = "<p>Disputes are settled by the courts of our town alone."
    rest = "<p>" + " ".join(f"w{number}" for number in range(30))
    made = show(f"<h2>One</h2>{moved}<h2>Two</h2>{rest}", f"<h2>One</h2><h2>Two</h2>{rest}{moved}", "page")

    assert "moved here from One" in made.html
    assert "moved to Two" in made.html
    assert '<bdi class="moved">Disputes' in made.html


@pytest.mark.parametrize(
    ("old", "new", "kind", "first"),
    [
        (FEES, FEES.replace("14", "7"), "any", "page"),
        (FEES, "<p>Another text with nothing of it left at all.", "any", "two"),
        (MANY * 3, (MANY * 3).replace("nothing", "something"), "any", "only"),
        ("<a href=/a>x</a>", "<a href=/b>x</a>", "links", "table"),
        ("<img src=/a>x", "<img src=/b>x", "images", "table"),
    ],
    ids=["a value", "rewritten", "many places", "links", "images"],
)
def test_first_view_depends_on_kind_and_size(old, new, kind, first):
    """A value is shown in its page, a rewritten page side by side, many places alone, objects in a
    table (004 §5.5).
    """
    assert first == show(old, new, kind=kind).view


def test_data_is_first_shown_as_a_table():
    """It has the old and the new value, and the difference."""
    before, after = (page(f'{{"plan": "Team", "price": {price}}}', "application/json") for price in (149, 179))
    made = view_of(change(before, after), before, after)

    assert "table" == made.view
    assert "<del>149</del>" in made.html
    assert "<ins>179</ins>" in made.html
    assert "+20.1\u00a0%" in made.html


def test_table_of_objects_has_old_and_new_counts():
    """An address is more frequent, gone or new (004 Figures 5.12 and 5.13)."""
    rows = (
        ObjectCount("links", "http://a.example/", 3, 2),
        ObjectCount("links", "http://b.example/", 1, 0),
        ObjectCount("links", "javascript:x", 0, 1),
    )
    found = ChangeSet(
        ("links",), objects=rows, deleted=("http://a.example/", "http://b.example/"), inserted=("javascript:x",)
    )
    made = view_of(found, page(""), page(""))

    assert "3 → 2" in made.html
    assert '<del><a href="http://b.example/" rel="noreferrer nofollow">' in made.html
    assert '<ins><span dir="ltr">javascript:x</span></ins>' in made.html
    assert ["No words changed: the table shows what did."] == list(
        {c.why_not for c in made.choices if c.view in {"only", "page", "two"}}
    )


def test_all_views_show_the_same_words():
    """Switching needs no other comparison."""
    views = [show(FEES, FEES.replace("14", "7"), name, rendered=frame("/shown", "x")) for name in NAMES]

    assert {("page", (1, 1, 0), 1)} == {(view.first, view.words, view.edits) for view in views}
    assert [["Changes only", "One page", "Two pages", "Table", "Rendered"]] * 5 == [
        [c.name for c in view.choices] for view in views
    ]
    assert '<iframe class="copy" sandbox=""' in views[-1].html


def test_rewritten_page_is_named_as_such():
    """More than half of the words differ: a line above the view says so."""
    assert "rewritten" in show("<p>a b c d", "<p>e f g h").notice
    assert "" == show(FEES, FEES.replace("14", "7")).notice


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("source", PAGES.values(), ids=PAGES)
def test_hostile_page_is_text_in_every_view(source, name):
    """No element and no attribute of a view comes from a page; its texts are escaped (R-11, H-078,
    H-079).
    """
    hostile = show("<h1>x</h1><p>plain", f"<h1>x&lt;b&gt;</h1>{source}", name).html
    tags = set(re.findall(r"<([a-zA-Z!/?][^\s>]*)", hostile))

    assert tags <= {"article", "p", "small", "span", "ins", "del", "h2", "div", "table", "thead", "tbody", "tr", "th", "td", "a", "br", "bdi", "svg", "use", "details", "summary"} | {f"/{tag}" for tag in ("article", "p", "small", "span", "ins", "del", "h2", "div", "table", "thead", "tbody", "tr", "th", "td", "a", "bdi", "svg", "use", "details", "summary")}  # fmt: skip
    assert not re.search(r'href="(?!#|https?:)', hostile)


def test_direction_marks_are_shown_by_their_code():
    """They have no effect on the view."""
    assert "\\u202e" in show("<p>a", "<p>a \u202eevil", "page").html


def test_ignored_noise_is_named_at_the_end():
    """An ignored date is named with its mask, so that nobody wonders."""
    before, after = page(FEES), page(FEES.replace("14", "7"))
    found = ChangeSet(edits=change(before, after).edits, masked=(Masked("21 <March>", "28 March", "a date"),))
    made = view_of(found, before, after, "page")

    assert "Ignored: “<s>21 &lt;March&gt;</s> 28 March”, a date" in made.html


def test_omitted_changes_are_counted():
    """Ten more than fit are counted at the end."""
    old = "".join(f"<p>Number {number} is old." for number in range(MOST_EDITED + 10))
    made = show(old, old.replace("old", "new"), "page")

    assert 10 == made.left
    assert "and 10 more changes" in made.html


def test_very_many_edits_are_marked_in_part():
    """A page of megabytes that changed everywhere is drawn in limited time, and the view says that
    it is not complete.
    """
    old, new = page("<p>" + "x " * (2 * MOST_EDITS + 2)), page("<p>" + "x y " * (MOST_EDITS + 1))
    edits = tuple(Edit("replace", at, at + 1, at, at + 1) for at in range(1, 2 * MOST_EDITS + 2, 2))
    made = view_of(ChangeSet(("words",), edits=edits), old, new, "only")

    assert (MOST_EDITS, MOST_EDITS, 0) == made.words
    assert made.notice.endswith("Only the first 5,000 of 5,001 edits are marked.")


def test_unknown_view_is_refused():
    """The message names the views."""
    with pytest.raises(UsageError, match="choose only, page, two, table, rendered"):
        show("<p>a", "<p>b", "three")


def test_paragraphs_of_plain_text_end_at_blank_lines():
    """Other line ends do not separate them."""
    old, new = (page(f"One\nline.\n\nTwo {word}.", "text/plain") for word in ("a", "b"))
    rows = rows_of(script_of(change(old, new).edits, old, new), old, new)

    assert ["same", "changed"] == [row.kind for row in rows]
    assert "One line." == rows[0].text
