"""CSV: rows by their keys, cells, columns; as `any change`, as `table` and with the conditions of
both (detection §5).
"""

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.document.data import csv_rows
from tidings.document.parse import parse
from tidings.model.watch.interest import Condition, Interest

TEXT = "land,rate,note\nNO,4.1,x\nSE,3.0,y\nDK,1.5,z\n"
NOTHING: tuple[list[str], list[str], list[tuple[str, str]]] = ([], [], [])


def read(text, media="text/csv"):
    return parse(text.encode(), media, url="http://x.org/", keep_tree=True)


def report(old, new, interest="words", media="text/csv"):
    interest = Interest(interest) if isinstance(interest, str) else interest
    change = evaluate(interest, Pair(read(old, media), read(new, media)))
    return list(change.inserted), list(change.deleted), list(change.updated)


@pytest.mark.parametrize("interest", ["words", "any", "table"])
@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ("land,rate,note\r\nDK,1.5,z\r\nNO,4.1,x\r\nSE,3.0,y\r\n", NOTHING),
        ('"land";"rate";"note"\nNO;4.1;x\nSE;3.0;y\nDK;1.5;z', NOTHING),
        (TEXT.replace("3.0", "3.5"), ([], [], [("SE, rate: 3.0", "SE, rate: 3.5")])),
        (TEXT + "FI,2,\n", (["FI | 2 | "], [], [])),
        (TEXT.replace("SE,3.0,y\n", ""), ([], ["SE | 3.0 | y"], [])),
        ("land,rate\nNO,4.1\nSE,3.0\nDK,1.5\n", ([], ["column note"], [])),
        ("new,land,rate,note\n1,NO,4.1,x\n2,SE,3.0,y\n3,DK,1.5,z\n", (["column new"], [], [])),
        (TEXT.replace("note", "remark"), ([], [], [("column note", "column remark")])),
    ],
    ids=["order", "form", "cell", "row", "row gone", "column gone", "column", "name of a column"],
)
def test_rows_and_cells_are_reported_as_of_a_table(interest, new, expected):
    """This is so for `any change`, `all words` and `table`: order and form do not matter, and a
    column is reported once.
    """
    assert expected == report(TEXT, new, interest)


def test_edits_have_the_tokens_of_their_cell():
    """A digit of one cell never joins that of the next."""
    old, new = read("a,b\n1,2\n3,4\n"), read("a,b\n1,2\n3,5\n")
    (edit,) = evaluate(Interest("words"), Pair(old, new)).edits

    assert ["a", "b", "1", "2", "3", "4"] == old.tokens
    assert ((5, 6), (5, 6)) == ((edit.old_start, edit.old_end), (edit.new_start, edit.new_end))


def test_conditions_and_other_types_read_cells():
    """They are keywords, numbers and `contains`."""
    changed = TEXT.replace("3.0", "3.5")

    assert NOTHING == report(TEXT, changed, Interest("words", where=(Condition("contains", text="4.1"),)))
    assert NOTHING != report(TEXT, changed, Interest("words", where=(Condition("contains", text="3.5"),)))
    assert ([], [], [("4.1", "5")]) == report(TEXT, TEXT.replace("4.1", "5"), "number")


def test_table_that_is_too_large_is_compared_as_words(monkeypatch):
    """It has hundreds of thousands of columns, or more cells than the limit."""
    wide = "a," * 300_000
    monkeypatch.setattr(csv_rows, "MOST_CELLS", 8)

    assert "text" == read(wide).media
    assert ([], [], [("3.0", "3.5")]) == report(TEXT, TEXT.replace("3.0", "3.5"))


def test_plain_text_that_is_a_table_is_compared_by_rows():
    """All its lines look like rows."""
    assert ([], [], [("SE, rate: 3.0", "SE, rate: 3.5")]) == report(
        TEXT, TEXT.replace("3.0", "3.5"), media="text/plain"
    )


@pytest.mark.parametrize(
    ("separator", "old", "media"),
    [
        ("\t", "land\trate\nNO\t4,1\nSE\t3,0\n", "text/tab-separated-values"),
        ("\t", "land\tnote\nNO\tred, big, old\nSE\tblue, small, 4,1\n", "text/tab-separated-values"),
        ("\t", "NO\t4,1\nSE\t3,0\n", "text/csv"),
        (";", "land;rate\nNO;4,1\nSE;3,0\n", "text/csv"),
        (";", "NO;4,1\nSE;3,0\n", "text/csv"),
        (";", "4,1;2,0\n4,2;3,0\n", "text/csv"),
        (";", "Land, name;Rate\nNO, N;4,1\nSE, S;3,0\n", "text/csv"),
        (";", "Rates, of today\nland;rate\nNO;4,1\nSE;3,0\n", "text/csv"),
        (";", "land;rate;note\nNO;4,1;x\nSE;3,0;y\n", "text/plain"),
        ("|", "NO|4,1\nSE|3,0\n", "text/csv"),
        (",", "id,tags\n1,a;b\n2,c;4,1\n3,e;f\n", "text/csv"),
        (",", "x,a;b\ny,c|d\nz,e;f\n", "text/csv"),
        (",", "1,2\n3,4\n", "text/csv"),
        (",", "NO,4.1\nSE\nDK,3.0\n", "text/csv"),
        ("", "land\nNO\nSE\n", "text/tab-separated-values"),
    ],
)
def test_decimal_comma_separates_no_cells(separator, old, media):
    """A character that cuts all rows alike does, a tab first; a comma of numbers and sentences only
    if nothing else does.
    """
    assert separator == csv_rows.separator_of(old, is_declared=media != "text/plain")


def test_number_with_a_comma_is_one_cell():
    """It is reported whole, with the name of its column."""
    old = "land\trate\nNorge\t4,1\nSverige\t3,0\n"

    assert ([], [], [("Norge, rate: 4,1", "Norge, rate: 4,2")]) == report(
        old, old.replace("4,1", "4,2"), "any", "text/tab-separated-values; charset=utf-8"
    )


FARES = "<table><tr><th>fare<th>Price (EUR)<th>note{rows}</table>"
OLD = FARES.format(rows="<tr><td>adult<td>120<td>x<tr><td>child 12<td>60<td>y")
NEW = FARES.format(rows="<tr><td>adult<td>99<td>changed<tr><td>child 12<td>70<td>z<tr><td>dog<td>5<td>new")


def column(name: str, *where: Condition) -> Interest:
    """Return the interest in a column of the first table."""
    return Interest("table", ordinal=1, column=name, where=where)


@pytest.mark.parametrize(
    ("interest", "inserted", "updated"),
    [
        (column("Price (EUR)"), ["dog | 5"], ["adult, Price (EUR): 99", "child 12, Price (EUR): 70"]),
        (column("price"), ["dog | 5"], ["adult, Price (EUR): 99", "child 12, Price (EUR): 70"]),
        (
            column("2", Condition("value", "<", 100)),
            ["dog | 5"],
            ["adult, Price (EUR): 99", "child 12, Price (EUR): 70"],
        ),
        (column("price", Condition("becomes", "<", 100)), ["dog | 5"], ["adult, Price (EUR): 99"]),
        (column("price", Condition("rises", ">=", 10)), [], ["child 12, Price (EUR): 70"]),
        (column("price", Condition("value", ">", 200)), [], []),
        (column("note", Condition("contains", text="changed")), [], ["adult, note: changed"]),
        (column("4"), [], []),
    ],
    ids=["name", "part of it", "number", "becomes", "rises", "none", "text", "no such column"],
)
def test_column_is_compared_alone_and_conditions_choose_its_cells(interest, inserted, updated):
    """A number in the name of a row is none of the cell."""
    found = report(OLD, NEW, interest, "text/html")

    assert (inserted, [], updated) == (found[0], found[1], [new for _, new in found[2]])
