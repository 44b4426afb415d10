from __future__ import annotations

from tidings.detection.job import Body
from tidings.detection.merged import AROUND, merge_bodies
from tidings.document.extraction import WHOLE
from tidings.model.sentinel import AnyOf, Expression, Interest

WORDS = Interest("words")


def merged(old: str, new: str, expression: Expression = WORDS) -> list[list[tuple[str, str]]]:
    bodies = [
        Body(data=f"<p>{text}</p>".encode(), content_type="text/html; charset=utf-8", url="https://a.example/")
        for text in (old, new)
    ]
    return [list(stretch) for stretch in merge_bodies(bodies[0], bodies[1], expression, WHOLE)]


def words(name: str, number: int) -> str:
    return " ".join(f"{name}{n}" for n in range(number))


def test_a_change_stands_among_what_stayed():
    """The words before and after it are there, in the order of the page."""
    assert [[("same", "the price is"), ("deleted", "5"), ("inserted", "6"), ("same", "euro")]] == merged(
        "the price is 5 euro", "the price is 6 euro"
    )


def test_changes_that_are_far_apart_are_stretches_of_their_own():
    """What lies between is left out and counted."""
    middle = words("m", 100)
    first, second = merged(f"one {middle} two", f"1 {middle} 2")

    assert [("deleted", "one"), ("inserted", "1"), ("same", words("m", AROUND))] == first
    assert ("same", f"… ({100 - 2 * AROUND} words)") == second[0]
    assert [("deleted", "two"), ("inserted", "2")] == second[2:]


def test_the_new_side_of_the_stretches_is_the_new_page():
    """Nothing of the new version is lost or twice in a page that is shown whole."""
    old, new = "a b c d e f g h", "a x c d f g y h z"
    (stretch,) = merged(old, new)

    assert new == " ".join(text for kind, text in stretch if kind != "deleted")
    assert old == " ".join(text for kind, text in stretch if kind != "inserted")


def test_links_are_not_merged():
    """They are counted, and a table tells them and where they stand."""
    assert [] == merged('<a href="/a">x</a>', '<a href="/b">x</a>', Interest("links"))


def test_a_keyword_is_shown_where_it_came_or_went():
    """In the words around it; where all words are watched too, it is shown once."""
    gold = Interest("keywords", terms=("gold",))

    assert [[("deleted", "gold"), ("same", "lead falls")]] == merged("gold falls", "lead falls", gold)
    assert [[("deleted", "gold"), ("inserted", "lead"), ("same", "falls")]] == merged(
        "gold falls", "lead falls", AnyOf((Interest("words"), gold))
    )
