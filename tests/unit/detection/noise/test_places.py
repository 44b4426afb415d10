"""Places of noise, named by the words around them."""

import pytest

from tidings.detection.find.findings import finding_of_words
from tidings.detection.noise.memory import MOST_WORDS
from tidings.detection.noise.places import WordString, find, hunks_of, place_of, room_of, shuffles_of
from tidings.document.parse import parse
from tidings.model.observed.change import Edit


def page(*lines):
    return parse("".join(f"<p>{line}</p>" for line in lines).encode(), "text/html")


def place_words(old, new):
    edits = finding_of_words(old, new).edits
    before, after = WordString(old), WordString(new)
    (hunk,) = hunks_of(edits, before, after)
    return place_of(hunk, before, after, room_of(hunk, [hunk], after.length)), before, after


HEAD, TAIL = "Welcome to the shop", "Contact us here"


def test_place_is_found_with_every_content():
    """The words around name it, in new versions, also if it is empty."""
    place, *_ = place_words(page(HEAD, "buy red boots", TAIL), page(HEAD, "a green scarf", TAIL))

    assert (4, 7) == find(place, WordString(page(HEAD, "wool for winter", TAIL)))
    assert (4, 4) == find(place, WordString(page(HEAD, TAIL)))
    assert (7, 10) == find(place, WordString(page("something quite new", HEAD, "wool for winter", TAIL)))


def test_numbers_around_a_place_may_differ():
    """A counter beside it names it with every value."""
    place, *_ = place_words(page("Views 17", "red", TAIL), page("Views 17", "green", TAIL))

    assert (2, 3) == find(place, WordString(page("Views 1834", "blue", TAIL)))


@pytest.mark.parametrize(
    "new",
    [
        page(HEAD, "buy one, and then a whole new paragraph that has never been in this place before", TAIL),
        page("Another head", "red", TAIL),
        page(HEAD, "red", "Write to them"),
        page(HEAD, HEAD, "red", TAIL),
    ],
)
def test_ambiguous_place_is_not_found(new):
    """There is more text than in the same place, or other words around, or the same words twice:
    then nothing is masked.
    """
    place, *_ = place_words(page(HEAD, "red", TAIL), page(HEAD, "green", TAIL))

    assert find(place, WordString(new)) is None


def test_place_has_enough_words_to_be_unique():
    """Among many equal neighbours it takes more of them; if none are enough, there is no place."""
    rows = [line for name in ("boots", "scarf") for line in (name, "Price", "1", "Add to cart")]
    other = [*rows[:-2], "2", rows[-1]]
    place, *_ = place_words(page(*rows), page(*other))
    nowhere, *_ = place_words(page("a a 1 a a 1 a a"), page("a a 2 a a 1 a a"))

    assert place.before.startswith(b"scarf")
    assert nowhere is None or find(nowhere, WordString(page("a a 3 a a 1 a a"))) is not None


def test_long_text_is_no_place():
    """Text longer than any advertisement is never learned."""
    long = " ".join(f"w{n}x" for n in range(MOST_WORDS + 1))
    place, *_ = place_words(page(HEAD, "short", TAIL), page(HEAD, long, TAIL))

    assert place is None


def test_edits_separated_by_chance_are_one_place():
    """Two quotes share a word by chance; `5 | Price 3` has two changes."""

    def hunks(old, new):
        return len(hunks_of(finding_of_words(old, new).edits, WordString(old), WordString(new)))

    assert 1 == hunks(page("all that glitters is not gold my friend"), page("no man is an island entire of itself"))
    assert 1 == hunks(page("buy seven red boots today from $ 17"), page("try a green silk scarf from $ 18"))
    assert 2 == hunks(page("17 Price 3"), page("18 Price 4"))
    assert 2 == hunks(
        page("Views of this page 17 and the price of it is now $ 3"),
        page("Views of this page 18 and the price of it is now $ 4"),
    )


def test_other_order_is_recognized():
    """The same words in another order are one run; with one word more they are not."""
    old, new = (
        page(HEAD, "red boots", "wool hat", "rain coat", TAIL),
        page(HEAD, "rain coat", "red boots", "wool hat", TAIL),
    )
    more = page(HEAD, "rain coat", "red boots", "wool hat", "silk", TAIL)

    def shuffles(a, b):
        return shuffles_of(
            hunks_of(finding_of_words(a, b).edits, WordString(a), WordString(b)), WordString(a), WordString(b)
        )

    assert [Edit("replace", 4, 10, 4, 10)] == shuffles(old, new)
    assert [] == shuffles(old, more)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (2, 3, (3, 3)),
        (6, 6, (3, 4)),
        (10, 12, (4, 3)),
        (15, 17, (3, 4)),
        (6, 12, (3, 3)),
        (2, 17, (3, 4)),
        (4, 5, (1, 1)),
    ],
)
def test_run_ends_at_its_neighbours(start, end, expected):
    """Or one beyond the first and the last word of the page; text within the run is no neighbour."""
    spans = [(2, 3), (6, 6), (10, 12), (15, 17)]
    hunks = [Edit("replace", 0, 0, *span) for span in spans]

    assert expected == room_of(Edit("replace", 0, 0, start, end), hunks, 20)
