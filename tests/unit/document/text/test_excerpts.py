"""Two long texts are shown around their difference."""

import pytest

from tidings.document.text.excerpts import common_start, excerpts

LONG = "x" * 8_000_000


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("one", "two", ("one", "two")),
        ("same", "same", ("same", "same")),
        ("a" * 50 + "1", "a" * 50 + "2", ("…" + "a" * 18 + "1", "…" + "a" * 18 + "2")),
        ("1" + "a" * 50, "2" + "a" * 50, ("1" + "a" * 18 + "…", "2" + "a" * 18 + "…")),
        ("b" * 30 + "1" + "a" * 30, "b" * 30 + "2" + "a" * 30, ("…bbbbbbbb1aaaaaaaaa…", "…bbbbbbbb2aaaaaaaaa…")),
        ("", "a" * 50, ("", "a" * 19 + "…")),
    ],
)
def test_texts_are_cut_around_their_difference(old, new, expected):
    """It is shown with at most 20 characters on each side."""
    assert expected == excerpts(old, new, 20)


@pytest.mark.parametrize("place", [0, 1, 100, 199, 200, 4_000_000, 7_999_999])
@pytest.mark.parametrize("more", ["2", "22222", ""])
def test_word_of_eight_megabytes_shows_its_difference(place, more):
    """Both sides differ and have at most 200 characters, at every place and length of the
    difference.
    """
    old, new = excerpts(LONG[:place] + "1" + LONG[place + 1 :], LONG[:place] + more + LONG[place + 1 :], 200)

    assert old != new
    assert max(len(old), len(new)) <= 200
    assert "1" in old


def test_common_start_is_exact():
    """No character more or less counts."""
    assert [0, 3, 3, 0] == [common_start(a, b) for a, b in (("", "a"), ("abc", "abcd"), ("abcx", "abcy"), ("x", "y"))]
