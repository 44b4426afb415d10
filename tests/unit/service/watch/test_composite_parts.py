"""What a sentinel compares on each of its pages."""

import pytest

from tidings.language.parser import parse
from tidings.model.watch.sentinel import Sentinel
from tidings.service.watch.composite_parts import composite_parts_of, list_asked

TWO = "Create Sentinel s Using https://a.example/ As A, https://b.example/ As B"


@pytest.mark.parametrize(
    ("clauses", "asked"),
    [
        ("Monitor all words", {"A": [(0, False)], "B": [(1, False)]}),
        ("Monitor links of A AND any change of B", {"A": [(0, True)], "B": [(1, True)]}),
    ],
)
def test_each_page_has_its_comparisons(clauses, asked):
    """Numbers run over the whole sentinel; what is combined with other pages is a part."""
    (sentinel,) = parse(f"{TWO} {clauses}").statements
    assert isinstance(sentinel, Sentinel)

    parts = {page: composite_parts_of(sentinel).list_asked(page) for page in ("A", "B", "C")}
    assert {page: [(one.number, one.is_part) for one in found] for page, found in parts.items() if found} == asked
    assert all(list_asked(sentinel, page) for page in ("A", "B"))
