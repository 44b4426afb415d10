"""Which occurrence of a link, an image or a keyword came or went (W-121)."""

import pytest

from tidings.presentation.edits import where
from tidings.presentation.presenters import PRESENTERS

LINK = "https://a.example/report"


def place(number, of, before="see", text="our report", after="of May", change="deleted"):
    return {
        "kind": "links", "object": LINK, "change": change, "number": number, "of": of, "start": 1, "end": 3,
        "before": before, "text": text, "after": after,
    }  # fmt: skip


def record(old, new, *places):
    return {
        "record": "change", "url": "https://a.example/", "kind": "links", "summary": "1 link removed", "updated": [], "moved": [],
        "deleted": [LINK] if new < old else [], "inserted": [LINK] if new > old else [],
        "counts": [{"kind": "links", "object": LINK, "old": old, "new": new}], "places": list(places),
    }  # fmt: skip


@pytest.mark.parametrize("name", list(PRESENTERS))
@pytest.mark.parametrize(
    ("old", "new", "change"), [(1, 0, "deleted"), (0, 1, "inserted"), (3, 2, "deleted"), (2, 3, "inserted")]
)
def test_every_view_shows_the_place(name, old, new, change):
    """It is the number among all and the words around, in text and in HTML, also if only one of
    several is gone.
    """
    most = max(old, new)
    shown = PRESENTERS[name].fragment(record(old, new, place(most, most, change=change)))

    is_below = "see […] of May" in shown and "our report" in shown  # the text of the link is its title

    assert is_below or f"{f'{most} of {most}: ' if most > 1 else ''}see [our report] of May" in shown


def test_place_fits_into_one_line():
    """An image has no text of its own; only the first of many are shown; texts of pages are
    cleaned.
    """
    assert "" == where([])
    assert "see […] of May" == where([place(1, 1, text="")])
    assert "1 of 9: see [a b] of May" == where([place(1, 9, text="a\nb")])
    assert where([place(n, 9) for n in range(1, 6)]).endswith("; and 2 more")
    assert "[x]" == where([place(1, 1, before="", text="x", after="")])


def test_record_without_places_is_shown_without():
    """Records of older versions have none."""
    old = {name: value for name, value in record(3, 2).items() if name != "places"}

    assert f"link {LINK}: 3 → 2" == PRESENTERS["changes-as-text"].fragment(old)
