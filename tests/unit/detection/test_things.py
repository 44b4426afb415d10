"""Tables, lists, entries, patterns and the first number: what was inserted, deleted and updated
(004 §3.4.2; detection §1.4, §5).
"""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.data import tabular
from tidings.detection.job.contract import Body
from tidings.detection.job.examiner import compare_bodies
from tidings.detection.kinds import number
from tidings.document.extract import extract, take
from tidings.document.parse import parse
from tidings.document.select.chosen import RefusedError
from tidings.document.select.extraction import Extraction
from tidings.document.structures import entries, lists, tables
from tidings.model.watch.interest import Selector
from tidings.model.watch.sentinel import Interest


def page(body, media):
    return parse(body.encode(), media, url="http://x.org/a/", keep_tree=True)


def find(interest, old, new, media="text/html; charset=utf-8"):
    """Return (inserted, deleted, updated)."""
    interest = Interest(interest) if isinstance(interest, str) else interest
    change = evaluate(interest, Pair(page(old, media), page(new, media)))
    return list(change.inserted), list(change.deleted), list(change.updated)


NOTHING: tuple[list[str], list[str], list[tuple[str, str]]] = ([], [], [])


def table(*rows, head=("Land", "Rate", "Note")):
    top = "".join(f"<th>{name}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{f'<tr>{top}</tr>' if head else ''}{body}</table>"


NO, SE, DK = ("NO", "4.1", "x"), ("SE", "3.0", "x"), ("DK", "2.2", "x")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (table(NO, SE), table(SE, NO), NOTHING),
        (table(NO, SE), table(NO, ("SE", "3.5", "x")), ([], [], [("SE, Rate: 3.0", "SE, Rate: 3.5")])),
        (table(NO, SE), table(NO, DK, SE), (["DK | 2.2 | x"], [], [])),
        (table(NO, SE), table(SE), ([], ["NO | 4.1 | x"], [])),
        (
            table(NO, head=()),
            table(("NO", "4.2", "x"), head=()),
            ([], [], [("NO, column 2: 4.1", "NO, column 2: 4.2")]),
        ),
        (table(("a", "b", "c"), ("a", "b", "c")), table(("a", "b", "c")), ([], ["a | b | c"], [])),
        (
            table(("a", "1", "c"), ("a", "2", "c")),
            table(("a", "1", "c"), ("a", "2", "d")),
            ([], [], [("2, Note: c", "2, Note: d")]),
        ),
        (
            table(("NO", "4.1"), ("SE", "3.0"), head=("Land", "Rate")),
            table(("NO", "4.1", "y"), ("SE", "3.0", "z")),
            (["column Note"], [], []),
        ),
        (
            table(NO, SE),
            table(("4.1", "NO", "x"), ("3.0", "SE", "x"), head=("Rate", "Land", "Note")),
            NOTHING,
        ),
        (
            table(NO, SE, DK),
            table(("NO", "4.1", "x"), ("SE", "3.1", "x"), ("DK", "2.2", "x"), head=("Land", "Price", "Note")),
            ([], [], [("column Rate", "column Price"), ("SE, Price: 3.0", "SE, Price: 3.1")]),
        ),
        (table(NO, SE), table(NO, SE, head=("Country", "Rate", "Note")), ([], [], [("column Land", "column Country")])),
        (
            table(("NO", "4"), ("SE", "3"), head=()),
            table(("NO", "4", "x"), ("SE", "3", "y"), head=()),
            (["column 3"], [], []),
        ),
        (table(NO), "<p>no table</p>", ([], ["NO | 4.1 | x"], [])),
        ("<p>no table</p>", table(NO), (["NO | 4.1 | x"], [], [])),
    ],
)
def test_rows_have_keys_and_columns_have_names(old, new, expected):
    """The key is the first column with different texts, otherwise rows are a multiset; a column is
    reported once.
    """
    assert expected == find("table", old, new)


def test_spanning_cell_is_in_each_of_its_rows():
    """A span of a million is cut, and tables with too many cells are refused."""
    spanned = "<table><tr><td>a<td rowspan=2>both<tr><td>b</table>"
    (grid,) = tables.tables_of(page(spanned, "text/html"))

    assert (("a", "both"), ("b", "both")) == grid.rows
    with pytest.raises(RefusedError):
        tables.tables_of(page(f"<table>{'<tr><td colspan=1000>x' * 300}</table>", "text/html"))


@pytest.mark.parametrize("across", [2, 3, 100, 1_000])
def test_span_beyond_the_table_makes_no_columns(across):
    """A column in which no other cell begins is none: new rows are reported, each once."""
    head = "<tr><th>Name<th>State<tr><td>web<td>up"
    more = f"<tr><td colspan={across}>Second site<tr><td>mail<td>up"
    (grid,) = tables.tables_of(page(f"<table>{head}{more}</table>", "text/html"))

    assert (("Name", "State"), 2) == (grid.columns, grid.width)
    assert (("web", "up"), ("Second site", "Second site"), ("mail", "up")) == grid.rows
    assert (["Second site | Second site", "mail | up"], [], []) == find(
        "table", f"<table>{head}</table>", f"<table>{head}{more}</table>"
    )


@pytest.mark.parametrize("text", ["<td colspan=50>a<td>b", "<td colspan=2 rowspan=3>a<td>b<tr><td>c<tr><td>d"])
def test_cell_after_a_wide_one_keeps_its_column(text):
    """It is where a reader sees it."""
    (grid,) = tables.tables_of(page(f"<table><tr>{text}</table>", "text/html"))

    assert ["a", "b"] == [grid.rows[0][0], grid.rows[0][-1]]
    assert 1 == len({len(row) for row in grid.rows})


def test_row_is_read_up_to_the_limit(monkeypatch):
    """One that is too wide is refused before its rest is read."""
    read: list[str] = []

    def note(line: str, _: object) -> str:
        read.append(line)
        return line

    monkeypatch.setattr(tables, "MOST_CELLS", 10)
    monkeypatch.setattr(tables, "clean", note)

    with pytest.raises(RefusedError):
        tables.tables_of(page(table(("x",) * 100, head=()), "text/html"))
    assert 11 == len(read)


def test_span_covers_missing_cells_of_a_short_row():
    """A cell from above is in its column, after empty cells; after the last of them the row ends."""
    spanned = "<table><tr><td>a<td rowspan=3>b<td>c<td rowspan=2>d<td>e<tr><tr><td>f</table>"
    (grid,) = tables.tables_of(page(spanned, "text/html"))

    assert (("a", "b", "c", "d", "e"), ("", "b", "", "d", ""), ("f", "b", "", "", "")) == grid.rows


def test_very_many_columns_are_inserted_and_deleted(monkeypatch):
    """Renamed ones are not searched; nothing is lost."""
    head = ("Land", "Price", "Remark")
    monkeypatch.setattr(tabular, "MOST_RENAMED", 1)

    assert (["column Price", "column Remark"], ["column Rate", "column Note"], []) == find(
        "table", table(NO, SE), table(NO, SE, head=head)
    )


def test_lists_are_compared_in_linear_time():
    """It does not grow with the square of their number."""
    walks: Counter[str] = Counter()

    class Lists(tuple[Any, ...]):
        __slots__ = ()

        def __iter__(self):
            walks["all"] += 1
            return super().__iter__()

    part = take(page("<ul><li>a<ul><li>b</ul></ul>" * 10, "text/html"))
    assert part is not None
    nodes = lists._nodes(replace(part, lists=Lists(part.lists)), None)

    assert 10 == len(nodes)
    assert 2 == walks["all"]


def test_tables_are_found_by_their_columns():
    """A new table before another moves nothing."""
    other = table(("a", "1"), head=("Name", "Size"))

    assert (["a | 1"], [], [("SE, Rate: 3.0", "SE, Rate: 9")]) == find(
        "table", table(NO, SE), other + table(NO, ("SE", "9", "x"))
    )
    assert ([], ["a | 1"], []) == find("table", other + table(NO), table(NO))


def test_table_or_list_is_selected_by_number():
    """The others are silent, and a missing one is not compared."""
    two = table(NO) + table(SE)

    assert ([], [], [("SE, Rate: 3.0", "SE, Rate: 9")]) == find(
        Interest("table", ordinal=2), two, table(DK) + table(("SE", "9", "x"))
    )
    assert NOTHING == find(Interest("table", ordinal=2), two, table(NO))
    assert (["c"], [], []) == find(
        Interest("list", ordinal=2), "<ul><li>a</ul><ol><li>b</ol>", "<ol><li>b<li>c</ol>" * 2
    )


def rss(*items, more=""):
    """Return a feed of (id, title, text, link)."""
    inside = "".join(
        f"<item><title>{title}</title>{f'<guid>{id_}</guid>' if id_ else ''}<link>{link}</link><description>{text}</description>"
        f"<pubDate>{more}</pubDate></item>"
        for id_, title, text, link in items
    )
    return f"<rss version='2.0'><channel><title>f</title>{inside}</channel></rss>"


A, B, C, D = (
    ("1", "Alpha", "first text", "http://x.org/1"),
    ("2", "Beta", "second text", "http://x.org/2"),
    ("3", "Gamma", "third text", "http://x.org/3"),
    ("4", "Delta", "fourth text", "http://x.org/4"),
)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ((B, A), (C, B, A), (["Gamma http://x.org/3"], [], [])),
        ((B, A), (A, B), NOTHING),
        ((C, B, A), (D, C, B), (["Delta http://x.org/4"], [], [])),
        ((C, B, A), (C, B), NOTHING),
        ((C, B, A), (C, A), ([], ["Beta http://x.org/2"], [])),
        ((A, B, C), (B, C, D), (["Delta http://x.org/4"], [], [])),
        ((C, B, A), (B, A), ([], ["Gamma http://x.org/3"], [])),
        (
            (A,),
            (("1", "Alpha (new)", "first text", "http://x.org/1"),),
            ([], [], [("Alpha http://x.org/1", "Alpha (new) http://x.org/1")]),
        ),
        ((A,), (("1", "Alpha", "other text", "http://x.org/1"),), ([], [], [("Alpha first text", "Alpha other text")])),
        ((B, A), tuple((f"new{n}", *item[1:]) for n, item in enumerate((B, A))), NOTHING),
        ((B, A), tuple(("same", *item[1:]) for item in (C, B, A)), (["Gamma http://x.org/3"], [], [])),
        ((B, A), tuple(("", *item[1:]) for item in (C, B, A)), (["Gamma http://x.org/3"], [], [])),
        (
            (B, A),
            tuple((f"n{item[0]}", item[1], item[2], f"{item[3]}?s=9") for item in (C, B, A)),
            (["Gamma http://x.org/3?s=9"], [], []),
        ),
        ((A,), (A, A), (["Alpha http://x.org/1"], [], [])),
    ],
    ids=range(14),
)
def test_entries_of_feeds_are_known_by_their_ids(old, new, expected):
    """Shared and changing ids are handled; an entry that falls off the end is not deleted; an edit
    is an update.
    """
    assert expected == find("items", rss(*old), rss(*new), "application/rss+xml")


def test_new_date_is_no_change_of_an_entry():
    """Its text is the same."""
    assert NOTHING == find("items", rss(A, more="now"), rss(A, more="later"), "application/rss+xml")


def test_atom_entry_has_text_without_markup():
    """Other markup is no change."""
    atom = "<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>1</id><title type='html'>A &amp;amp; B</title><link href='/1'/><content type='html'>{}</content></entry></feed>"
    old, same, new = (atom.format(text) for text in ("&lt;p&gt;one", "&lt;b&gt;one&lt;/b&gt;", "two"))

    assert NOTHING == find("items", old, same, "application/atom+xml")
    assert ([], [], [("A & B one", "A & B two")]) == find("items", old, new, "application/atom+xml")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([{"id": 1, "name": "a"}], [{"name": "a", "id": 1}, {"id": 2, "name": "b"}], (["b"], [], [])),
        ([{"id": 1, "n": 1}, {"id": 2, "n": 2}], [{"id": 2, "n": 2}, {"id": 1, "n": 1}], NOTHING),
        (
            [{"id": 1, "name": "a", "s": "up"}],
            [{"id": 1, "name": "a", "s": "down"}],
            ([], [], [("id 1 name a s up", "id 1 name a s down")]),
        ),
        ([{"id": 1, "name": "a", "updated": 1}], [{"id": 1, "name": "a", "updated": 2}], NOTHING),
        ([{"id": 1, "name": "a"}], [], ([], ["a"], [])),
        (["x", "y"], ["y", "z"], (["z"], ["x"], [])),
        (
            {"total": 1, "items": [{"id": 1, "name": "a"}]},
            {"total": 2, "items": [{"id": 1, "name": "a"}, {"id": 2, "url": "/b", "name": "b"}]},
            (["b http://x.org/b"], [], []),
        ),
    ],
)
def test_entries_of_json_are_members_with_ids(old, new, expected):
    """The order of keys and members does not matter."""
    assert expected == find("items", json.dumps(old), json.dumps(new), "application/json")


@pytest.mark.parametrize("path", ["$..views", "$.items[*].views", "$.items[0]"])
def test_excluded_field_is_in_no_entry_of_json(path):
    """An excluded entry is none."""
    scope = Extraction(exclude=(Selector("jsonpath", path),))
    old, new = (
        page(json.dumps({"items": [{"id": 1, "views": views}, {"id": 2, "tags": [["x"]]}]}), "application/json")
        for views in (5, 6)
    )

    assert not evaluate(Interest("items"), Pair(old, new), scope)
    assert "views" not in entries.entries_of(extract(old, scope))[0].text
    assert "id 2 tags x" == entries.entries_of(extract(old, scope))[-1].text


@pytest.mark.parametrize("kind", ["item", "row"])
def test_excluded_element_is_in_no_entry_of_xml(kind):
    """It may be at any depth; the text after it stays."""
    text = f"<r><{kind}><title>A</title><description>x <p>y <s>5 <s>6</s></s> z</p></description></{kind}><{kind}/></r>"
    scope = Extraction(exclude=(Selector("xpath", "//s"),))

    assert "A x y z" == entries.entries_of(extract(page(text, "application/xml"), scope))[0].text


def test_selected_parts_are_the_entries_of_a_page():
    """Each is known by its id or its first link."""
    css = Interest("items", selector=None)
    old = "<ul><li id=a>one<li><a href=x>two</a></ul>"

    assert (["three"], [], [("one", "one more")]) == find(
        css, old, "<ul><li id=a>one more<li><a href=x>two</a><li>three</ul>"
    )


def test_h_062_feed_with_an_entity_bomb_is_read_at_once():
    """The document type is removed, so no entity can grow."""
    bomb = "<!DOCTYPE l [<!ENTITY a0 'lol'>" + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 10))
    text = f"<?xml version='1.0'?>{bomb}]><rss version='2.0'><channel><item><guid>1</guid><title>&a9;</title></item></channel></rss>"

    assert "lollol" not in "".join(entry.text for entry in entries.entries_of(page(text, "application/rss+xml")))


def test_too_many_entries_or_matches_are_refused(monkeypatch):
    """There is no comparison, and never "unchanged"."""
    monkeypatch.setattr(entries, "MOST_ENTRIES", 3)
    monkeypatch.setattr(number, "MOST_MATCHES", 3)

    with pytest.raises(RefusedError):
        find("items", "[]", "[1,2,3,4]", "application/json")
    with pytest.raises(RefusedError):
        find(Interest("regex", pattern="x"), "x", "x x x x")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (")]}',\n%s", ")]}',\n%s"),
        ("while(1);%s", "while(1);%s"),
        ("for (;;);%s", "for (;;);%s"),
        ("told(%s);", "told(%s)"),
        ("/**/a.b(%s)", "/**/a.b(%s)"),
        ('%s\n{"c": 1}', '%s\n{"c": 1}\n'),
    ],
)
def test_json_in_a_wrapper_is_compared_as_json(old, new):
    """It is a guard against scripts, a call (JSONP), or one value a line: the order of keys does
    not matter, a value does, and paths find it.
    """

    def find(before, after, interest):
        old_body, new_body = (
            Body(data=text.encode(), content_type="application/json", url="http://x.org/") for text in (before, after)
        )
        return compare_bodies(old_body, new_body, interest)[0]

    first, swapped, other = '{"a": 1, "b": 2}', '{"b": 2, "a": 1}', '{"b": 3, "a": 1}'
    part = Interest("any", selector=Selector("jsonpath", "$..b"))

    assert not find(old % first, new % swapped, Interest("any"))
    assert "3" in str(find(old % first, new % other, Interest("any")).updated)
    assert "3" in str(find(old % first, new % other, part).updated)


LEAGUE = (("Ada", 90), ("Bo", 80), ("Cy", 70), ("Di", 60), ("Ed", 50))
STATES = (("up", "x"), ("up", "x"), ("down", "x"))


def write_rows(rows, start=1, form="{}"):
    return [(form.format(number), *row) for number, row in enumerate(rows, start)]


def league_as(sort, rows):
    """Return (body, media, interest) of rows with a number, a name and points."""
    if sort == "table":
        return table(*rows, head=("#", "Name", "Points")), "text/html", "table"
    if sort == "csv":
        return "\n".join(",".join(map(str, row)) for row in (("#", "Name", "Points"), *rows)), "text/csv", "any"
    names = ("id", "player" if sort == "json" else "name", "points")
    return (
        json.dumps([dict(zip(names, row, strict=True)) for row in rows]),
        "application/json",
        "items" if sort == "items" else "any",
    )


def of_league(sort, old, new):
    """Return how many (came, went, were updated), and all changes that were reported."""
    (before, media, interest), (after, _, _) = (league_as(sort, rows) for rows in (old, new))
    come, gone, updates = find(interest, before, after, media)
    return (len(come), len(gone), len(updates)), " ".join([*come, *gone, *(text for pair in updates for text in pair)])


@pytest.mark.parametrize("sort", ["table", "csv", "json", "items"])
@pytest.mark.parametrize(
    ("old", "new", "expected", "words"),
    [
        (write_rows(LEAGUE), write_rows([("Zoe", 95), *LEAGUE]), (1, 0, 0), "Zoe"),
        (write_rows(LEAGUE, 0), write_rows([("Zoe", 95), *LEAGUE], 0), (1, 0, 0), "Zoe"),
        (write_rows(LEAGUE, form="{}."), write_rows([("Zoe", 95), *LEAGUE], form="{}."), (1, 0, 0), "Zoe"),
        (write_rows(LEAGUE), write_rows([*LEAGUE[:2], ("Zoe", 75), *LEAGUE[2:]]), (1, 0, 0), "Zoe"),
        (write_rows(LEAGUE), write_rows(LEAGUE[1:]), (0, 1, 0), "Ada"),
        (write_rows(STATES), write_rows([("new", "x"), *STATES]), (1, 0, 0), "new"),
        # numbers that are names
        (write_rows(LEAGUE), write_rows([*LEAGUE, ("Zoe", 5)]), (1, 0, 0), "Zoe"),
        (write_rows(LEAGUE), write_rows([("Adah", 90), *LEAGUE[1:]]), (0, 0, 1), "Adah"),
        (write_rows(LEAGUE), write_rows(LEAGUE)[::-1], (0, 0, 0), ""),
        (write_rows(LEAGUE), write_rows(LEAGUE)[:4], (0, 1, 0), "Ed"),
        (write_rows(STATES), write_rows([STATES[0], STATES[2], STATES[2]]), (0, 0, 1), "down"),
        (write_rows([("on", "x"), ("off", "x")]), write_rows([("off", "x"), ("on", "x")]), (0, 0, 2), "off"),
    ],
    ids=[
        "first", "from 0", "with dots", "between", "the first went", "no names", "last", "reworded", "order", "the last went", "a state",
        "two states",
    ],
)  # fmt: skip
def test_running_numbers_are_positions_if_rows_match_better(sort, old, new, expected, words):
    """They start at 1, and a new row is one insert. Otherwise they are names."""
    reported, text = of_league(sort, old, new)

    assert expected == reported
    assert words in text


@pytest.mark.parametrize("sort", ["table", "csv", "json", "items"])
def test_row_that_moved_among_running_numbers_is_reported(sort):
    """In a ranking the last one rose to the top: its new place is reported, not that all others
    moved down.
    """
    reported, text = of_league(sort, write_rows(LEAGUE), write_rows([("Ed", 50), *LEAGUE[:4]]))

    assert (0, 0, 1) == reported
    assert "Ed" in text
    assert "Ada" not in text


@pytest.mark.parametrize("sort", ["table", "csv", "json", "items"])
def test_numbers_with_a_gap_are_names_of_rows(sort):
    """One id is missing, however well the rest matches without them."""
    old, new = (("A", 1), ("B", 2), ("C", 3)), (("C", 3), ("A", 1), ("B", 2))
    reported, _ = of_league(sort, *([(n, *row) for n, row in zip((1, 2, 4), rows, strict=True)] for rows in (old, new)))

    assert (0, 0) == reported[:2]
    assert reported[2] > 2
