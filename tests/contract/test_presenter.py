"""The contract of presentation, for every row of PRESENTERS and for messages."""

import re
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from tests.examples import share
from tests.unit.presentation.records import record
from tidings.errors import UsageError
from tidings.presentation.edits import edits_of
from tidings.presentation.hypertext import LETTER
from tidings.presentation.presenter import Caption, Form, View
from tidings.presentation.presenters import FORMS, PRESENTERS, VIEWS, presenter
from tidings.presentation.text import MESSAGE

TABLE = {**PRESENTERS, "message": MESSAGE, "letter": LETTER}
ROWS = tuple(TABLE)
TAGS = set(
    "html head meta title style body main h1 h2 article p a b br ul li del ins span bdi footer table thead tbody tr th td".split()
)  # nothing else is ours
ATTRIBUTES = {"charset", "class", "colspan", "content", "dir", "href", "http-equiv", "lang", "name", "rel", "scope"}
HOSTILE = [
    "<script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</style><svg onload=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "&lt;script&gt;",
    "&amp;amp;",
    "<!--",
    "]]>",
    "{{7*7}} ${7*7} %s {0}",
    "<noscript><p title='</noscript><img onerror>'>",
    "<base href=//x><meta http-equiv=refresh content=0>",
]
STEERING = {
    "\x1b[2J": "\\u001b[2J",
    "safe\u202egnp.exe": "safe\\u202egnp.exe",
    "\u2066x\u2069": "\\u2066x\\u2069",
    "a\rb\nc": "a b c",
    "\x00\x9b": "\\u0000\\u009b",
    "\ud800": "\\ud800",
}


@pytest.fixture(params=ROWS)
def row(request):
    return TABLE[request.param]


def everywhere(text):
    """Return a record with a foreign text in every field that can have one."""
    counts = [
        {"kind": "links", "object": text, "old": 3, "new": 2},
        {"kind": "images", "object": f"{text}i", "old": 0, "new": 1},
        {"kind": "keywords", "object": f"{text}k", "old": 0, "new": 1},
    ]
    lists = {name: [f"{text}{name}"] for name in ("deleted", "moved")}
    return record(
        url=text,
        kind=text,
        summary=text,
        inserted=[f"{text}i"],
        updated=[{"old": text, "new": text}],
        counts=counts,
        context=[
            {"of": of, "number": 0, **dict.fromkeys(("heading", "label", "above", "before", "after", "link"), text)}
            for of in ("updated", "deleted", "moved")
        ],
        **lists,
    )


def read(row, shown):
    """Return what a person reads of a text or a page: the visible part of its head, and its body."""
    if row.form == "text":
        return shown
    tree = LexborHTMLParser(shown)
    return "\n".join(node.text() for node in tree.css("title, body"))


def check(row, shown):
    """Assert that all elements, attributes and addresses are known ones of ours."""
    if row.form != "html":
        return
    tree = LexborHTMLParser(shown)
    nodes = [node for node in tree.css("*") if node.tag]
    assert {node.tag for node in nodes} <= TAGS
    assert {name for node in nodes for name in node.attributes} <= ATTRIBUTES
    assert all((n.attributes.get("href") or "http").lower().startswith(("http://", "https://", "http")) for n in nodes)


def test_each_view_and_form_has_one_row():
    """A row is found by its view and its form; its name has both."""
    assert {name: f"{row.view}-as-{row.form}" for name, row in PRESENTERS.items()} == {
        name: name for name in PRESENTERS
    }
    assert (VIEWS, FORMS) == (get_args(View), get_args(Form))
    assert all(presenter(row.view, row.form) is row for row in PRESENTERS.values())


def test_unknown_view_is_refused():
    """There is no fallback to another view."""
    with pytest.raises(UsageError, match='there is no presenter "gazette-as-text"'):
        presenter("gazette", "text")


@pytest.mark.parametrize("text", HOSTILE)
def test_page_text_stays_text(row, text):
    """H-077 to H-080, H-084: it is shown unchanged in every place and is never escaped or decoded
    twice.
    """
    one, two = everywhere(text), everywhere(text)
    parts = [row.present([one, two], Caption(heading=text, sentinel=text, between=text)), row.fragment(one)]

    for shown, times in zip(parts, (14, 6), strict=True):
        check(row, shown)
        assert read(row, shown).count(text) >= times


@pytest.mark.parametrize("text", STEERING)
def test_control_characters_are_spelled_out(row, text):
    """H-107: escapes, overrides, line ends and lone surrogates are visible and have no effect."""
    one = everywhere(text)
    shown = row.present([one, one], Caption(heading=text, sentinel=text, between=text)) + row.fragment(one)

    assert not set("\x1b\u202e\u2066\u2069\r\x00\x9b\ud800") & set(shown)
    assert read(row, shown).count(STEERING[text]) >= 10
    assert shown.encode().decode() == shown


@pytest.mark.parametrize("name", ["deleted", "inserted", "moved", "updated"])
def test_each_edit_names_its_kind(row, name):
    """The kind is readable without colour, style sheet or picture."""
    kinds = ("deleted", "inserted", "moved", "updated")
    change = {kind: [{"old": "same", "new": "same"}] if kind == "updated" else ["same"] for kind in kinds}
    bare = {
        kind: re.sub(r' class="[^"]*"', "", row.fragment(record(**{"updated": [], kind: texts})))
        for kind, texts in change.items()
    }

    assert "same" in read(row, bare[name])
    assert [name] == [kind for kind in kinds if bare[kind] == bare[name]]


def test_marks_are_words_or_signs(row):
    """An edit is recognisable by more than its element."""
    went, came, moved = (
        read(row, row.fragment(record(**{"updated": [], n: ["x"]}))).strip() for n in ("deleted", "inserted", "moved")
    )

    assert 3 == len({went, came, moved})
    assert "moved" in moved


def test_object_counts_are_shown(row):
    """An object whose number changed is shown once, with both numbers."""
    counts = [{"kind": "links", "object": "https://a.example/x", "old": 3, "new": 2}]
    shown = read(row, row.fragment(record(updated=[], deleted=["https://a.example/x"], counts=counts)))

    assert "https://a.example/x: 3 → 2" in shown
    assert 1 == shown.count("https://a.example/x")
    assert "removed" not in shown


def test_moved_paragraph_is_shown_as_moved(row):
    """It is neither inserted nor deleted."""
    shown = read(row, row.fragment(record(updated=[], moved=["a paragraph of words"])))

    assert re.search(r'moved:?\s+"?a paragraph of words', shown)
    assert not re.search(r"added|removed|\{\+|\[-", shown)


def test_record_without_edits_says_so(row):
    """The page is not empty."""
    empty = record(updated=[], summary="no difference")

    assert "no difference in what is watched" in read(row, row.fragment(empty))
    assert "no difference in what is watched" in read(row, row.present([empty], Caption(heading="h")))


def test_notice_has_no_edits(row):
    """A page in error has no edits: the message has the event, the place and the time."""
    notice = {
        "record": "problem",
        "summary": "the page cannot be watched for now (404): not found",
        "url": "https://a.example/",
        "kind": "404",
        "detected_at": "2023-11-14T22:13:20.000000Z",
    }
    shown = [read(row, row.present(change)) for change in ([notice], [notice, record()])]
    bounded = read(row, row.present([notice], Caption(heading="h"), most=row.least + 60))

    assert all("the page cannot be watched for now (404): not found" in text for text in shown[1:])
    assert all("https://a.example/" in text for text in (*shown, bounded))
    assert not any("no difference" in text or "0 more" in text for text in (*shown, bounded))
    assert ["", ""] == [row.fragment(notice), row.fragment(notice, most=row.least)]


MERGED = [
    [["same", "The price is"], ["deleted", "5 euro"], ["inserted", "6 euro"], ["same", "for today"]],
    [["inserted", "<b>new</b>"], ["same", "… (40 words)"], ["moved", "the end"]],
]


def test_context_is_shown_where_requested(row):
    """Views in one frame and two show the text around the changes; others only the changes."""
    shown = read(row, row.fragment(record(merged=MERGED)))

    assert (row.view in {"single", "dual"}) == ("for today" in shown)
    assert (row.view not in {"single", "dual"}) == bool(re.search(r"\b5\b(?! euro)", shown))
    assert {"single": 1, "dual": 2}.get(row.view, 0) == shown.count("The price is")
    assert ("<b>new</b>" in shown) == (row.view in {"single", "dual"})


def test_omitted_context_is_counted(row):
    """The bounds hold for context as for edits."""
    change = record(
        updated=[{"old": "x" * 50, "new": "y" * 50}] * 3_000,
        merged=[[["inserted", f"w{n}" * 20]] for n in range(3_000)],
    )
    fragment = row.fragment(change, most=row.least + 300)

    assert row.size(fragment) <= row.least + 300
    assert "more" in read(row, fragment)


def test_record_needs_only_the_address(row):
    """All other fields are optional."""
    shown = read(row, row.present([{"url": "https://a.example/"}]))

    assert "https://a.example/" in shown


def test_empty_list_gives_no_message(row):
    """Nobody is notified of nothing."""
    with pytest.raises(ValueError, match="at least one change"):
        row.present([])


def test_unbounded_message_is_complete(row):
    """It has every edit and every character."""
    change = record(updated=[], inserted=[f"word{n} " + "x" * 9_000 for n in range(300)])

    for shown in (row.fragment(change), row.present([change, change])):
        assert "word299 " in shown
        assert "more" not in read(row, shown)
        assert 9_000 in {len(run) for run in re.findall("x+", shown)}


def test_omitted_edits_are_counted(row):
    """Edits are omitted first, then changes; the number is exact."""
    change = record(updated=[], inserted=[f"w{n}." for n in range(10_000)])
    fragment = read(row, row.fragment(change, most=row.least + 300))
    many = read(
        row,
        row.present([record(updated=[], inserted=["y" * 300], summary=f"c{n}.") for n in range(3_000)], most=50_000),
    )

    assert f"and {10_000 - len(re.findall(r'w[0-9]+[.]', fragment)):,} more" in fragment
    assert f"and {3_000 - len(re.findall(r'c[0-9]+[.]', many)):,} more changes" in many


def test_million_edits_cost_only_what_is_shown(row):
    """A hostile page cannot make a message slow."""
    change = record(inserted=["x"] * 1_000_000)

    assert "and 99" in read(row, row.present([change], most=row.least + 4_096))


texts = st.one_of(st.sampled_from([*HOSTILE, *STEERING]), st.text(st.characters(exclude_categories=()), max_size=40))
several = st.lists(texts, max_size=6)
rows = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["links", "images", "body", "keywords", "x<y"]),
            "object": texts,
            "old": st.integers(0, 3),
            "new": st.integers(0, 3),
        }
    ),
    max_size=4,
)
records = st.builds(
    record,
    inserted=several,
    deleted=several,
    moved=several,
    updated=st.lists(st.fixed_dictionaries({"old": texts, "new": texts}), max_size=4),
    counts=rows,
    summary=texts,
    kind=texts,
    url=texts,
)
captions = st.builds(Caption, heading=texts, sentinel=texts, between=texts)


@pytest.mark.parametrize("name", ROWS)
@share(0.5)
@given(st.lists(records, min_size=1, max_size=4), captions, st.integers(0, 4_000))
@example(
    [record(url="https://" + '"' * 50_000, kind="&" * 50_000)] * 3,
    Caption(heading="'" * 9_999, sentinel="🙂" * 999, between='"' * 500),
    0,
)
def test_any_page_text_fits_the_bound_and_has_no_effect(name, change, caption, over):
    """The message is valid UTF-8, and only our elements are parsed from it."""
    row = TABLE[name]
    most = row.least + over
    parts = [row.present(change, caption, most=most), row.fragment(change[0], most=most)]

    for shown in parts:
        assert row.size(shown) <= most
        assert shown.encode().decode() == shown
        check(row, shown)


@pytest.mark.parametrize("name", [name for name, row in PRESENTERS.items() if row.form == "html"])
@share(0.5)
@given(records)
def test_html_round_trips(name, change):
    """A parsed document has the texts that were put in, each escaped once; elements are closed."""
    shown = PRESENTERS[name].present([change])
    tree = LexborHTMLParser(shown)
    edits, _ = edits_of(change, longest=None)

    assert shown.startswith("<!DOCTYPE html>\n")
    assert shown.endswith("</html>\n")
    assert [e.new for e in edits if e.kind in {"updated", "inserted"}] == [node.text() for node in tree.css("ins")]
    assert [e.old for e in edits if e.kind in {"updated", "deleted"}] == [node.text() for node in tree.css("del")]
    assert [e.new for e in edits if e.kind == "moved"] == [node.text() for node in tree.css("bdi.moved")]
    for tag in ("main", "article", "ul", "li", "del", "ins", "bdi", "span", "p", "a", "h1", "h2"):
        assert len(re.findall(rf"<{tag}[ >]", shown)) == shown.count(f"</{tag}>") == len(tree.css(tag))


def test_text_is_shown_under_its_heading_with_its_context(row):
    """A reader learns what changed and where without opening the page."""
    one = {"of": "updated", "number": 0, "heading": "Fees", "label": "Adults", "before": "from ", "after": " €"}
    shown = read(row, row.present([record(context=[one])]))

    assert re.search("Fees(?: ›|:) Adults", shown)
    assert all(word in shown for word in ("from", "€") if row.view in {"changes", "single"})


def test_prices_come_first_and_footers_last(row):
    """The less important edits are cut first."""
    texts = ["visits", "news", "9 EUR"]
    context = [{"of": "inserted", "number": 0, "area": "footer"}, {"of": "inserted", "number": 1, "heading": "Now"}]
    shown = read(row, row.fragment(record(updated=[], inserted=texts, context=context)))

    assert ["9 EUR", "news", "visits"] == sorted(texts, key=shown.index)
