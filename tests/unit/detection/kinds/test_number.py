"""The first number of a text, and the matches of a pattern (sentinels §1.3; detection §1.4)."""

from decimal import Decimal

import pytest

from tests.bounded import bound_time
from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.kinds import number
from tidings.detection.kinds.number import Number, Regex, find_number, matches_in, number_digest, numbers
from tidings.detection.kinds.registry import describe_lack
from tidings.document.parse import parse
from tidings.document.select.chosen import RefusedError
from tidings.model.watch.sentinel import Interest


def page(body):
    return parse(body.encode(), "text/html; charset=utf-8", url="http://x.org/a/", keep_tree=True)


def find(interest, old, new):
    """Return (inserted, deleted, updated)."""
    interest = Interest(interest) if isinstance(interest, str) else interest
    change = evaluate(interest, Pair(page(old), page(new)))
    return list(change.inserted), list(change.deleted), list(change.updated)


NOTHING: tuple[list[str], list[str], list[tuple[str, str]]] = ([], [], [])


@pytest.mark.parametrize(
    ("pattern", "old", "new", "expected"),
    [
        (r"v(\d+\.\d+)", "v1.2 v1.2", "v1.3 v1.2", (["1.3"], ["1.2"], [])),
        (r"v\d+", "v1", "v1", NOTHING),
        (r"(\w+)=(\d+)", "a=1", "a=2", (["a 2"], ["a 1"], [])),
        (r"^\d+$", "<p>5<p>x 6", "<p>5<p>7", (["7"], [], [])),
        (r"(?P<n>\d+)|x", "1", "2", (["2"], ["1"], [])),
        ("", "a", "b", NOTHING),
        ("é+", "café", "caféé", (["éé"], ["é"], [])),
    ],
)
def test_matches_have_no_order(pattern, old, new, expected):
    """A match is its group if there is one, several with a space between; `^` and `$` are the ends
    of a line.
    """
    assert expected == find(Interest("regex", pattern=pattern), old, new)


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", r"\s+$", "(a|aa)+b", "(.*)*x"], ids=["H-068", "H-069", "alternatives", "dots"]
)
def test_h_068_h_069_patterns_take_linear_time(pattern):
    """RE2 reads a megabyte once for every pattern."""
    for text in ("a" * 1_000_000, "x" + " " * 50_000 + "x"):
        with bound_time(2):  # at most 0.05 s
            find(Interest("regex", pattern=pattern), "b", text)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Price 5 of 9", "Price 6 of 9", ([], [], [("5", "6")])),
        ("1,234.50", "1.234,50", NOTHING),
        ("€5", "$5", NOTHING),
        ("-5", "5", ([], [], [("-5", "5")])),
        ("5", "sold out", ([], ["5"], [])),
        ("sold out", "5", (["5"], [], [])),
        ("none", "still none", NOTHING),
    ],
)
def test_first_number_is_compared_by_value(old, new, expected):
    """Another number is an update; one may come or go; its notation does not matter."""
    assert expected == find("number", old, new)


def test_changed_number_has_its_tokens():
    """They are in both versions."""
    change = evaluate(Interest("number"), Pair(*(page(t) for t in ("was 1,200.50 x", "x y 3 z"))))
    (edit,) = change.edits

    assert ((1, 2), (2, 3)) == ((edit.old_start, edit.old_end), (edit.new_start, edit.new_end))


def test_number_that_comes_or_goes_has_a_place_at_the_end():
    """Its edit is an insert or a delete."""
    old, new = page("x y"), page("a 5 b c")
    (come,), (gone,) = (Number().compare(*pair)[0].edits for pair in ((old, new), (new, old)))

    assert ("insert", 2, 2, 1, 2) == (come.op, come.old_start, come.old_end, come.new_start, come.new_end)
    assert ("delete", 1, 2, 2, 2) == (gone.op, gone.old_start, gone.old_end, gone.new_start, gone.new_end)


@pytest.mark.parametrize(
    "interest",
    [
        Interest("number"),
        Interest("number", ordinal=1),
        Interest("number", ordinal=2),
        Interest("number", after="Left:"),
        Interest("number", before="seats"),
        Interest("number", after="Left:", before="seats"),
        Interest("number", ordinal=2, after="Left:"),
        Interest("number", ordinal=2, before="seats"),
    ],
    ids=lambda interest: f"{interest.ordinal}-{interest.after}-{interest.before}",
)
@pytest.mark.parametrize("body", ["Left: none seats", "sold out"])
def test_number_that_is_lost_is_a_change_or_a_missing_part(interest, body):
    """Whichever number it is, and also if the text around it is lost."""
    old, new = page("Left: 3 of 12 seats"), page(body)

    change, lack = evaluate(interest, Pair(old, new)), describe_lack(interest, Pair(old, new).new)

    assert bool(change) != bool(lack)


def test_pages_have_one_number_or_none():
    """The first one."""
    pages = page("a 5 6"), page("a")

    assert (Decimal(5), None) == numbers(*pages)
    assert [1, 0] == [Number().size(one) for one in pages]
    assert find_number(pages[1]) is None


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [("5", "x 5 y 6", True), ("5", "-5", False), ("5", "6", False), ("5", "", False), ("", "none", True)],
)
def test_digest_is_that_of_the_number(old, new, is_same):
    """Where it is the same, nothing is found."""
    old, new = page(old), page(new)

    assert is_same is (number_digest(old) == number_digest(new))
    assert not (is_same and Number().compare(old, new))


@pytest.mark.parametrize("kind", [Number(), Regex("x")])
def test_body_without_text_is_compared_as_a_whole(kind):
    """On either side."""
    text, picture = page("x"), parse(b"\x89PNG\r\n\x1a\n0", "image/png")

    assert ("body",) == kind.compare(text, picture)[0].kinds == kind.compare(picture, text)[0].kinds


def test_matches_are_counted_up_to_a_limit(monkeypatch):
    """Beyond it there is no comparison. A group without text is no match."""
    monkeypatch.setattr(number, "MOST_MATCHES", 3)

    assert 3 == Regex("x").size(page("x x x"))
    with pytest.raises(RefusedError):
        matches_in("x", page("<p>x x<p>x x"))
    assert ["a"] == matches_in("(a)|(b)?", page("a c"))
