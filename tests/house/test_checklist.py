"""The checklist of the thesis is complete, and its tests exist."""

import ast
import re
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "why" / "checklist.md"
NEVER_GIVEN = {
    29,
    *range(35, 40),
    *range(45, 50),
    *range(57, 60),
    *range(67, 70),
    89,
    *range(102, 110),
    *range(126, 130),
}
ROW = re.compile(r"^\| W-(\d+) \| ([ABC]) \| (.+?) \| (.+) \|$", re.MULTILINE)
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")


def rows() -> list[tuple[int, str, str, str]]:
    """Return number, priority, rule and evidence of each row of the page."""
    return [(int(number), *rest) for number, *rest in ROW.findall(PAGE.read_text())]


@cache
def names_in(path: str) -> frozenset[str]:
    """Return the names of the tests in a file, without importing it; none if it is missing."""
    file = REPOSITORY / "tests" / path
    if not file.is_file():
        return frozenset()
    return frozenset(
        node.name
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_")
    )


def test_every_rule_has_one_row():
    """The rules are W-1 to W-142, without the numbers that were never given.

    Every row can be parsed.
    """
    numbers = [number for number, *_ in rows()]

    assert sorted(set(range(1, 143)) - NEVER_GIVEN) == sorted(numbers)
    assert len(numbers) == PAGE.read_text().count("\n| W-")


def test_every_named_test_exists():
    """Update the page when you move or rename a test."""
    named = [found for *_, shown in rows() for found in TEST.findall(shown)]

    assert [] == [f"{path}::{name}" for path, name in named if name not in names_in(path)]


def test_row_without_a_test_says_what_is_missing():
    """Every name in the column is parsed as a name."""
    silent = [number for number, _, _, shown in rows() if not TEST.search(shown) and "not yet: " not in shown]
    unread = [number for number, _, _, shown in rows() if shown.count("::") != len(TEST.findall(shown))]

    assert ([], []) == (silent, unread)
