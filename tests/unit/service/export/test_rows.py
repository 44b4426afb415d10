"""Changes, checks and values as tables."""

from __future__ import annotations

import csv
import json

import pytest

from tests.stores import World
from tidings.service.export.rows import COLUMNS, FORMULA, read_rows, write_csv, write_jsonl


def test_a_change_is_a_row_with_its_texts(world: World):
    """Oldest first; of the chosen sentinels only."""
    world.report_change()
    (row,) = read_rows(world.read, "changes", None)

    assert ("change", "news", 1, 2) == (row["id"], row["sentinel"], row["from_version"], row["to_version"])
    assert (["one"], ["two"]) == (row["updated_old"], row["updated_new"])
    assert [*COLUMNS["changes"]] == [*row]
    assert [row] == list(read_rows(world.read, "changes", None, ["news"]))
    assert [] == list(read_rows(world.read, "changes", None, ["other"]))


def test_a_check_is_a_row_with_its_page(world: World):
    """Each poll once, with what it cost."""
    world.report_change()
    rows = list(read_rows(world.read, "checks", None))

    assert [("http://a.example/", "new"), ("http://a.example/", "changed")] == [
        (row["url"], row["outcome"]) for row in rows
    ]
    assert [*COLUMNS["checks"]] == [*rows[0]]
    assert rows[0]["id"] < rows[1]["id"]


def test_a_table_has_a_header_and_a_line_a_row():
    """Several texts of a cell stand on lines of their own."""
    row = dict.fromkeys(COLUMNS["changes"]) | {"id": "c", "inserted": ["a", 'b "c"']}
    header, cells = csv.reader(write_csv([row], "changes"))

    assert [*COLUMNS["changes"]] == header
    assert ("c", 'a\nb "c"', "") == (cells[0], cells[header.index("inserted")], cells[1])


@pytest.mark.parametrize("sign", FORMULA)
def test_no_text_of_a_page_is_a_formula(sign: str):
    """A spreadsheet shows it with an apostrophe; a number stays one."""
    row = dict.fromkeys(COLUMNS["values"]) | {"value": f"{sign}1", "number": -1.5}
    header, cells = csv.reader(write_csv([row], "values"))

    assert (f"'{sign}1".replace("\r", "\n"), "-1.5") == (
        cells[header.index("value")].replace("\r", "\n"),
        cells[header.index("number")],
    )


def test_a_line_of_json_is_a_row_in_ascii():
    """So that no terminal and no editor breaks it."""
    (line,) = write_jsonl([{"a": "é\n", "b": None}])

    assert ({"a": "é\n", "b": None}, True, True) == (json.loads(line), line.isascii(), line.endswith("}\n"))
    assert 1 == line.count("\n")
