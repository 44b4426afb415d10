"""Changes, checks and values as tables."""

from __future__ import annotations

import csv
import json

import pytest

from tests.stores import World
from tidings.service.export.rows import COLUMNS, FORMULA, read_rows, write_csv, write_jsonl


def test_change_is_a_row_with_its_texts(world: World):
    """Rows are in order of time. Names select sentinels."""
    world.report_change()
    (row,) = read_rows(world.read, "changes", None)

    assert ("change", "news", 1, 2) == (row["id"], row["sentinel"], row["from_version"], row["to_version"])
    assert (["one"], ["two"]) == (row["updated_old"], row["updated_new"])
    assert [*COLUMNS["changes"]] == [*row]
    assert [row] == list(read_rows(world.read, "changes", None, ["news"]))
    assert [] == list(read_rows(world.read, "changes", None, ["other"]))


def test_check_is_a_row_with_its_page(world: World):
    """Each poll is one row."""
    world.report_change()
    rows = list(read_rows(world.read, "checks", None))

    assert [("http://a.example/", "new"), ("http://a.example/", "changed")] == [
        (row["url"], row["outcome"]) for row in rows
    ]
    assert [*COLUMNS["checks"]] == [*rows[0]]
    assert rows[0]["id"] < rows[1]["id"]


def test_table_has_a_header_and_a_line_for_each_row():
    """Several texts of a cell are separate lines within it."""
    row = dict.fromkeys(COLUMNS["changes"]) | {"id": "c", "inserted": ["a", 'b "c"']}
    header, cells = csv.reader(write_csv([row], "changes"))

    assert [*COLUMNS["changes"]] == header
    assert ("c", 'a\nb "c"', "") == (cells[0], cells[header.index("inserted")], cells[1])


@pytest.mark.parametrize("sign", FORMULA)
def test_text_of_a_page_is_never_a_formula(sign: str):
    """A spreadsheet shows the text with an apostrophe; a number stays a number."""
    row = dict.fromkeys(COLUMNS["values"]) | {"value": f"{sign}1", "number": -1.5}
    header, cells = csv.reader(write_csv([row], "values"))

    assert (f"'{sign}1".replace("\r", "\n"), "-1.5") == (
        cells[header.index("value")].replace("\r", "\n"),
        cells[header.index("number")],
    )


def test_json_line_is_a_row_in_ascii():
    """No terminal and no editor breaks the line."""
    (line,) = write_jsonl([{"a": "é\n", "b": None}])

    assert ({"a": "é\n", "b": None}, True, True) == (json.loads(line), line.isascii(), line.endswith("}\n"))
    assert 1 == line.count("\n")
