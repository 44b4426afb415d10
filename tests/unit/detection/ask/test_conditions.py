"""Conditions: each measure of `where` as a table of cases (model.interest.Condition)."""

from decimal import Decimal

import pytest

from tidings.detection.ask.conditions import Seen, hold
from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.kinds.interests import uses_masks
from tidings.document.parse import parse
from tidings.model.observed.change import ChangeSet, Edit, ObjectCount
from tidings.model.watch.sentinel import AllOf, AnyOf, Condition, Interest, Not, Selector


def page(body, media="text/html"):
    return parse(body.encode(), media, url="http://x.org/", keep_tree=True)


def report(interest, old, new, media="text/html"):
    return bool(evaluate(interest, Pair(page(old, media), page(new, media))))


def number(measure, relation, value, *, is_percent=False):
    return Interest("number", where=(Condition(measure, relation, value, is_percent),))


def between(measure, lower, upper):
    return Interest("number", where=(Condition(measure, "between", lower, upper=upper),))


@pytest.mark.parametrize(
    ("interest", "old", "new", "expected"),
    [
        (number("value", "<", 100), "120", "90", True),
        (number("value", "<", 100), "90", "80", True),
        (number("value", "<", 100), "90", "100", False),
        (number("value", "<=", 100), "90", "100", True),
        (number("value", "=", 0.1), "5", "0.1", True),
        (number("value", "!=", 5), "4", "6", True),
        (number("value", "<", 100), "90", "sold out", False),
        (number("value", ">", -5), "-9", "−4", True),
        (number("becomes", "<", 100), "120", "90", True),
        (number("becomes", "<", 100), "90", "80", False),
        (number("becomes", "<", 100), "sold out", "80", True),
        (number("becomes", ">=", 100), "99", "100", True),
        (between("value", 5, 9), "1", "5", True),
        (between("value", 5, 9), "5", "9", True),
        (between("value", 5, 9), "9", "10", False),
        (between("becomes", 5, 9), "10", "9", True),
        (between("becomes", 5, 9), "5", "9", False),
        (number("changes", ">=", 5), "100", "95", True),
        (number("changes", ">", 5), "100", "95", False),
        (number("changes", ">", 5, is_percent=True), "100", "106", True),
        (number("changes", ">", 5, is_percent=True), "100", "105", False),
        (number("changes", ">", 5, is_percent=True), "100", "94.9", True),
        (number("changes", ">", 5, is_percent=True), "0", "1", True),
        (number("rises", ">=", 20, is_percent=True), "100", "120", True),
        (number("rises", ">=", 20, is_percent=True), "100", "80", False),
        (number("rises", ">=", 0), "100", "80", False),
        (number("drops", ">=", 20), "100", "80", True),
        (number("drops", ">=", 20), "-100", "-120", True),
        (number("drops", ">=", 20), "100", "120", False),
        (number("changes", ">=", 1), "sold out", "5", False),
    ],
)
def test_conditions_on_numbers(interest, old, new, expected):
    """They compare the new number, a crossing, and the distance from the old number."""
    assert expected == report(interest, f"<p>{old}</p>", f"<p>{new}</p>")


def counting(kind, measure, relation, value, *, is_percent=False, direction=None, terms=()):
    return Interest(kind, terms, direction, where=(Condition(measure, relation, value, is_percent),))


TEN = " ".join(f"w{n}" for n in range(10))
EIGHT = " ".join([*(f"w{n}" for n in range(8)), "x", "y"])
LINKS = "<a href=/1>a</a><a href=/2>a</a>"


@pytest.mark.parametrize(
    ("interest", "old", "new", "expected"),
    [
        (counting("words", "share", ">", 20, is_percent=True), TEN, EIGHT, False),
        (counting("words", "share", ">=", 20, is_percent=True), TEN, EIGHT, True),
        (counting("words", "share", ">=", 0.2), TEN, EIGHT, True),
        (counting("words", "share", ">=", 100, is_percent=True), "a b", "c d", True),
        (counting("words", "inserted", ">=", 2), TEN, EIGHT, True),
        (counting("words", "inserted", ">", 2), TEN, EIGHT, False),
        (counting("words", "deleted", "=", 2), TEN, EIGHT, True),
        (counting("words", "changed", "=", 2), TEN, EIGHT, True),
        (counting("words", "changed", ">=", 20, is_percent=True), TEN, EIGHT, True),
        (counting("words", "changed", ">", 20, is_percent=True), TEN, EIGHT, False),
        (counting("words", "inserted", ">", 50, is_percent=True), "", "a", True),
        (counting("links", "inserted", "=", 1), LINKS, LINKS + "<a href=/3>a</a>", True),
        (counting("links", "inserted", "=", 50, is_percent=True), LINKS, LINKS + "<a href=/3>a</a>", True),
        (counting("links", "share", "=", 20, is_percent=True), LINKS, LINKS + "<a href=/3>a</a>", True),
        (counting("keywords", "changed", ">=", 2, terms=("oil",)), "oil", "oil oil", False),
        (counting("keywords", "changed", ">=", 2, terms=("oil",)), "oil", "oil oil oil", True),
        (counting("phrases", "changed", ">=", 1, terms=("big oil",)), "x", "big oil", True),
        (counting("list", "changed", "=", 1), "<ul><li>one two three<li>b", "<ul><li>one two threes<li>b", True),
        (counting("list", "inserted", "=", 0), "<ul><li>one two three<li>b", "<ul><li>one two threes<li>b", True),
        (counting("any", "share", ">", 0.9), "GIF89a a", "GIF89a b", True),
    ],
)
def test_conditions_on_shares_and_counts(interest, old, new, expected):
    """Words count one by one, all else object by object; a percentage is of the old version."""
    assert expected == report(interest, old, new)


def saying(kind, measure, text, *others, direction=None):
    return Interest(kind, (), direction, where=(Condition(measure, text=text, others=others),))


LONG = " ".join(f"w{n}" for n in range(3_000))


@pytest.mark.parametrize(
    ("interest", "old", "new", "expected"),
    [
        (saying("words", "contains", "RETRACTED"), "a", "a retracted", True),
        (saying("words", "contains", "retracted"), "retracted a", "retracted b", False),
        (saying("words", "contains", "retracted"), "a retracted", "a", False),
        (saying("words", "contains", "retracted", direction="deleted"), "a retracted", "a", True),
        (saying("words", "contains", "late"), "a", f"a {LONG} late", True),
        (saying("words", "contains", "two  words"), "a", "a two <b>words</b>", True),
        (saying("words", "matches", r"\d{3}"), "a", "a 123", True),
        (saying("words", "matches", r"^\d{3}$"), "a", "a 12", False),
        (saying("words", "contains", "gold", "RETRACTED"), "a", "a retracted", True),
        (saying("words", "contains", "gold", "silver"), "a", "a retracted", False),
        (saying("words", "lacks", "RETRACTED"), "a", "a retracted", False),
        (saying("words", "lacks", "RETRACTED"), "a", "a b", True),
        (saying("words", "lacks", "RETRACTED"), "a retracted", "a retracted b", True),
        (saying("words", "lacks", "RETRACTED"), "a", "a", False),
        (saying("words", "lacks", "gold", "silver"), "a", "a Silver", False),
        (saying("words", "lacks", "gold", direction="deleted"), "a gold", "a", False),
        (saying("words", "lacks", "late"), "a", f"a {LONG} late", False),
        (saying("links", "contains", "/new"), "", "<a href=/New>x</a>", True),
        (saying("links", "contains", "/new"), "<a href=/new>x</a>", "", False),
        (saying("keywords", "contains", "oil"), "a", "a", False),
        (saying("list", "contains", "b"), "<ul><li>a", "<ul><li>a<li>b", True),
        (saying("list", "contains", "threes"), "<ul><li>one two three", "<ul><li>one two threes", True),
        (
            saying("list", "contains", "threes", direction="inserted"),
            "<ul><li>one two three",
            "<ul><li>one two threes",
            False,
        ),
    ],
)
def test_conditions_on_texts(interest, old, new, expected):
    """Inserted text (or deleted text, if meant) is searched completely, whatever is shown of it."""
    assert expected == report(interest, old, new)


def test_all_conditions_of_an_interest_must_hold():
    """`but` joins them; they are about the same change."""
    both = Interest("words", where=(Condition("inserted", ">=", 2), Condition("contains", text="gold")))

    assert report(both, "a", "a gold rush")
    assert not report(both, "a", "a gold")
    assert not report(both, "a", "a b c")


def test_condition_belongs_to_its_interest():
    """If it fails, the interest found nothing: it cannot fulfil an AND, and NOT removes nothing."""
    rich = Interest("words", where=(Condition("inserted", ">=", 3),))
    links = Interest("links")
    old, new = "a", "a b<a href=/x></a>"

    assert not report(AllOf((rich, links)), old, new)
    assert report(AnyOf((rich, links)), old, new)
    assert report(AllOf((Interest("any"), Not(rich))), "a", "a b")
    assert not report(AllOf((Interest("words"), Not(rich))), "a", "a b c d")


def test_entry_is_searched_completely():
    """Its text counts, not only its title."""
    interest = Interest("items", direction="inserted", where=(Condition("contains", text="oil"),))
    old = '[{"id": 1, "title": "a", "body": "x"}]'

    assert report(
        interest, old, '[{"id": 2, "title": "b", "body": "crude OIL"}, {"id": 1, "title": "a"}]', "application/json"
    )
    assert not report(interest, old, '[{"id": 1, "title": "a", "body": "oil"}]', "application/json")


FEED = "<?xml version='1.0'?><rss version='2.0'><channel><title>Blog</title>{}</channel></rss>"


def feed(*entries):
    return FEED.format(
        "".join(
            f"<item><guid isPermaLink='false'>{id_}</guid><title>{title}</title><description>{text}</description></item>"
            for id_, title, text in entries
        )
    )


def rows(*pairs):
    return "<table><tr><th>Name</th><th>State</th></tr>{}</table>".format(
        "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in pairs)
    )


def items(*texts, form="ul"):
    return f"<{form}>{''.join(f'<li>{text}</li>' for text in texts)}</{form}>"


OLD, CAKE, HOLE = ("1", "Hello", "world"), ("2", "Party", "cake"), ("3", "Update", "a SECURITY hole")
DATA = '[{"id": 11, "title": "Hello"}]'
MORE = '[{"id": 13, "title": "New", "body": "security"}, {"id": 12, "title": "New", "body": "cake"}, {"id": 11, "title": "Hello"}]'


def choose(interest, old, new, media="text/html"):
    """Return all that is reported."""
    change = evaluate(interest, Pair(page(old, media), page(new, media)))
    assert change or not (change.inserted or change.deleted or change.updated or change.moved)
    return [*change.inserted, *change.deleted, *(new for _, new in change.updated), *change.moved]


def asking(kind, text, direction=None, measure="contains", **more):
    return Interest(kind, (), direction, where=(Condition(measure, text=text),), **more)


@pytest.mark.parametrize(
    ("interest", "old", "new", "expected"),
    [
        (asking("items", "security", "inserted"), feed(OLD), feed(HOLE, CAKE, OLD), ["Update"]),
        (asking("items", "security"), feed(OLD), feed(HOLE, CAKE, ("1", "Hello", "you")), ["Update"]),
        (asking("items", "(?i)cake|world", "inserted", "matches"), feed(OLD), feed(HOLE, CAKE, OLD), ["Party"]),
        (asking("items", "security", "inserted", "lacks"), feed(OLD), feed(HOLE, CAKE, OLD), ["Party"]),
        (asking("items", "beer", "inserted", "lacks"), feed(OLD), feed(HOLE, CAKE, OLD), ["Update", "Party"]),
        (asking("items", "beer", "inserted"), feed(OLD), feed(HOLE, CAKE, OLD), []),
        (asking("items", "security", "inserted"), DATA, MORE, ["New"]),
        (asking("items", "security", "deleted"), MORE, DATA, ["New"]),
        (asking("links", "/job/", "inserted"), "", "<a href=/job/1>a</a><a href=/about>b</a>", ["http://x.org/job/1"]),
        (asking("links", "/job/", "deleted"), "<a href=/job/1>a</a><a href=/about>b</a>", "", ["http://x.org/job/1"]),
        (asking("images", "cat"), "", "<img src=cat.png><img src=logo.png>", ["http://x.org/cat.png"]),
        (asking("table", "open"), rows(("a", "shut")), rows(("a", "shut"), ("b", "open"), ("c", "?")), ["b | open"]),
        (
            asking("table", "open"),
            rows(("a", "shut"), ("b", "shut")),
            rows(("a", "open"), ("b", "?")),
            ["a, State: open"],
        ),
        (asking("list", "fix"), items("old one"), items("old one", "a fix", "a party"), ["a fix"]),
        (asking("list", "ccc"), items("aaa", "bbb", "ccc", form="ol"), items("ccc", "aaa", "bbb", form="ol"), ["ccc"]),
        (asking("list", "aaa"), items("aaa", "bbb", "ccc", form="ol"), items("ccc", "aaa", "bbb", form="ol"), []),
        (asking("regex", "^v2", measure="matches", pattern=r"v[0-9]+"), "<p>v1", "<p>v1 v2 v3", ["v2"]),
        # a run of words is no list
        (asking("words", "security"), "<p>a", "<p>a security and cake", ["security and cake"]),
        (asking("any", "security"), "<p>a", "<p>a security<a href=/x>", ["security", "http://x.org/x"]),
    ],
)
def test_text_condition_selects_items_of_a_list(interest, old, new, expected):
    """Entries, links, images, rows, cells, items and matches are reported one by one: those with
    the text, not all that came.
    """
    media = "application/json" if old[:1] == "[" else "application/rss+xml" if old[:5] == "<?xml" else "text/html"

    assert expected == choose(interest, old, new, media)


def test_other_conditions_count_the_selected_items():
    """`contains "security" but inserted >= 2` needs two with the text."""
    for count, expected in ((1, ["Update"]), (2, [])):
        interest = Interest(
            "items", (), "inserted", where=(Condition("contains", text="security"), Condition("inserted", ">=", count))
        )
        assert expected == choose(interest, feed(OLD), feed(HOLE, CAKE, OLD), "application/rss+xml")


def test_several_text_conditions_select_together():
    """An item must have all of them."""
    both = (Condition("contains", text="security"), Condition("contains", text="update"))
    new = feed(("4", "Security", "party"), HOLE, CAKE, OLD)

    assert ["Update"] == choose(Interest("items", where=both), feed(OLD), new, "application/rss+xml")


def test_not_removes_the_selected_items():
    """`AND NOT links where contains "/job/"` leaves the other links."""
    jobs = asking("links", "/job/")
    new = "<p>b<a href=/job/1>a</a><a href=/about>b</a>"

    assert ["http://x.org/about"] == choose(AllOf((Interest("links"), Not(jobs))), "<p>b", new)
    assert ["http://x.org/about"] == [
        text for text in choose(AllOf((Interest("any"), Not(jobs))), "<p>b", new) if "http" in text
    ]
    assert ["Update"] == choose(
        AllOf((Interest("items"), Not(asking("items", "cake")))),
        feed(OLD),
        feed(HOLE, CAKE, OLD),
        "application/rss+xml",
    )


COUNTED = ChangeSet(
    ("links",),
    objects=(
        ObjectCount("links", "come", 0, 1),
        ObjectCount("links", "gone", 2, 0),
        *(ObjectCount("links", f"same {number}", 1, 1) for number in range(3)),
    ),
    updated=(("was", "now"),),
)
"""One came, one went that stood twice, three are as many as they were but changed."""
PHRASES = ChangeSet(
    ("phrases",),
    edits=(
        Edit("insert", 0, 0, 0, 1),
        *(Edit("delete", 0, 1, 0, 0) for _ in range(2)),
        *(Edit("replace", 0, 1, 0, 1) for _ in range(4)),
    ),
    objects=(ObjectCount("phrases", "x", 0, 9),),
)


def holds(measure, relation, value, *findings, direction=None, sizes=(20, 20), is_percent=False, text=""):
    """Return whether a condition holds for findings in a page that had so many objects, and has."""
    old, new = page("<p>before"), page("<p>after")
    seen = Seen(old, new, findings, lambda one: sizes[one is new])
    return hold((Condition(measure, relation, value, is_percent, text),), (seen,), direction)


@pytest.mark.parametrize(
    ("direction", "text"),
    [(None, {"come", "now"}), ("inserted", {"come"}), ("updated", {"now"}), ("deleted", {"gone"})],
)
def test_new_items_are_searched_or_deleted_ones_if_meant(direction, text):
    """Items with the same count do not matter, nor does the old side of an update."""
    words = {"come", "now", "gone", "was", "same"}

    assert text == {word for word in words if holds("contains", "=", 0, COUNTED, direction=direction, text=word)}


def test_items_are_searched_by_name():
    """A row of a table has edits of its words; its name is the whole row."""
    row = ChangeSet(("table",), edits=(Edit("insert", 0, 0, 0, 1),), objects=(ObjectCount("table", "row", 0, 1),))

    assert (True, False) == (
        holds("contains", "=", 0, row, text="row"),
        holds("contains", "=", 0, row, text="after"),
    )


@pytest.mark.parametrize(
    ("finding", "measure", "count"),
    [
        (COUNTED, "inserted", 1),
        (COUNTED, "deleted", 2),
        (COUNTED, "changed", 6),
        (PHRASES, "inserted", 1),
        (PHRASES, "deleted", 2),
        (PHRASES, "changed", 7),
        (None, "inserted", 0),
        (None, "deleted", 0),
        (None, "changed", 0),
    ],
)
def test_items_are_counted(finding, measure, count):
    """They are objects, or occurrences of phrases; without a finding the number is 0."""
    assert holds(measure, "=", count, *([finding] if finding else []))


@pytest.mark.parametrize(
    ("finding", "sizes", "share"),
    [
        (COUNTED, (20, 20), Decimal("0.225")),  # 1 + 2 + twice 3, of 40
        (COUNTED, (1, 1), 1),
        (PHRASES, (0, 0), 1),
        (ChangeSet(("links",), objects=(ObjectCount("links", "x", 0, 1),)), (0, 0), 1),
        (None, (20, 20), 0),
    ],
)
def test_share_is_of_both_versions_and_at_most_all(finding, sizes, share):
    """An update counts in both; a page without objects counts one, so that the share is a number."""
    findings = [finding] if finding else []

    assert holds("share", "=", share, *findings, sizes=sizes)
    assert holds("share", "=", share * 100, *findings, sizes=sizes, is_percent=True)


@pytest.mark.parametrize(("findings", "expected"), [((), True), ((COUNTED,), False)])
def test_percentage_of_an_empty_version(findings, expected):
    """Nothing of nothing is 0 %; something of nothing is more than any share."""
    assert expected == holds("changed", "=", 0, *findings, sizes=(0, 6), is_percent=True)
    assert expected != holds("changed", ">", 1_000_000, *findings, sizes=(0, 6), is_percent=True)


@pytest.mark.parametrize(
    ("measure", "rest", "expected"),
    [
        ("page has", "<p>In  Stock</p>", True),
        ("page has", "<p>sold out</p>", False),
        ("page has", "<p>Available</p>", True),
        ("page lacks", "<p>Available</p>", False),
        ("page lacks", "<p>In Stock</p>", False),
        ("page lacks", "<p>sold out</p>", True),
    ],
)
def test_condition_on_the_page_reads_the_new_page(measure, rest, expected):
    """It is the whole page, whichever part is compared."""
    interest = Interest(
        "words", selector=Selector("css", "h1"), where=(Condition(measure, text="in stock", others=("available",)),)
    )

    assert expected == report(interest, "<h1>Kettle</h1><p>sold in stock</p>", f"<h1>Teapot</h1>{rest}")


def test_condition_on_the_page_keeps_noise_masked():
    """It names no value of the change."""
    assert uses_masks(Interest("words", where=(Condition("page has", text="open"),)))
    assert not uses_masks(Interest("words", where=(Condition("contains", text="open"),)))


@pytest.mark.parametrize("is_old", [True, False])
def test_picture_that_replaces_a_text_is_reported_whole(is_old):
    """New lines are only found if both versions have a text."""
    picture = parse(b"\x89PNG\r\n\x1a\n" + b"0" * 50, "image/png", url="http://x.org/", keep_tree=True)
    pair = Pair(picture, page("tea")) if is_old else Pair(page("tea"), picture)

    found = evaluate(Interest("words", where=(Condition("never seen", "=", True),)), pair)

    assert "body" in found.kinds


STATS = "<p>42 rows</p><dl><dt>Total:<dd>7 of 12 seats<dt>Rest<dd>{}</dl><p>{} left, 5 gone</p>"


@pytest.mark.parametrize(
    ("fields", "place", "expected"),
    [
        ({"after": "Rest"}, 0, [("3", "4")]),
        ({"after": "rest"}, 1, []),
        ({"before": "left"}, 1, [("3", "4")]),
        ({"after": "Rest", "before": "gone"}, 0, [("3", "4")]),
        ({"ordinal": 4}, 0, [("3", "4")]),
        ({"ordinal": 5}, 1, [("3", "4")]),
        ({}, 0, []),
        ({"after": "nowhere"}, 0, []),
        ({"ordinal": 4, "where": (Condition("value", ">", 3),)}, 0, [("3", "4")]),
        ({"ordinal": 4, "where": (Condition("value", ">", 4),)}, 0, []),
        ({"before": "left", "where": (Condition("becomes", ">", 3),)}, 1, [("3", "4")]),
    ],
)
def test_number_is_found_by_the_texts_around_it_or_its_place(fields, place, expected):
    """Before a text it is the nearest one, which is the last."""
    old, new = (STATS.format(*(value if at == place else "3" for at in (0, 1))) for value in "34")

    assert expected == list(evaluate(Interest("number", **fields), Pair(page(old), page(new))).updated)


def test_words_between_two_texts_are_compared():
    """They may be on several lines; what stands around them does not count."""
    old, new = "<p>a Open</p><p>one</p><p>Closed b</p>", "<p>c Open</p><p>two</p><p>Closed d</p>"
    interest = Interest("words", after="open", before="closed")

    assert (("one", "two"),) == evaluate(interest, Pair(page(old), page(new))).updated
