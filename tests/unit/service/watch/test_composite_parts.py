"""The comparisons of a sentinel on each of its pages."""

import pytest

from tidings.language.parser import parse
from tidings.model.watch.sentinel import Sentinel
from tidings.service.watch.composite_parts import list_asked

TWO = "Create Sentinel s Using https://a.example/ As A, https://b.example/ As B"


@pytest.mark.parametrize(
    ("clauses", "asked"),
    [
        ("Monitor all words", {"A": [(0, False)], "B": [(1, False)]}),
        ("Monitor links of A OR any change of B", {"A": [(0, False)], "B": [(1, False)]}),
        ("Monitor links of A AND any change of B", {"A": [(0, True)], "B": [(1, True)]}),
        ("Monitor links of A Then within 10 min check B", {"A": [(0, True)], "B": [(1, True)]}),
    ],
)
def test_each_page_has_its_comparisons(clauses, asked):
    """Numbers count over the whole sentinel. A comparison that is combined with other pages is a
    part; others have the name of the whole clause.
    """
    (sentinel,) = parse(f"{TWO} {clauses}").statements
    assert isinstance(sentinel, Sentinel)

    found = {page: list_asked(sentinel, page) for page in ("A", "B", "C")}
    assert asked == {page: [(one.number, one.is_part) for one in some] for page, some in found.items() if some}
    assert all(one.is_part or one.named == sentinel.monitor for some in found.values() for one in some)
