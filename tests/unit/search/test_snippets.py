"""Snippets: the part of a text that a result shows."""

from hypothesis import given
from hypothesis import strategies as st

from tidings.search.query import parse
from tidings.search.snippets import mark, snippet


def spell(pieces):
    """Return pieces as one text, with hits in brackets."""
    return "".join(f"[{piece}]" if is_hit else piece for piece, is_hit in pieces)


TEXT = "Welcome to the shop\nOur Café is open\nEspresso costs 2.80\n東京の天気は晴れ"


def test_line_with_the_words_is_shown():
    """The words are marked as the page writes them; a second line is shown if it has what the first
    one lacks.
    """
    assert "Our [Café] is open" == spell(snippet(TEXT, parse("cafe").phrases))
    assert "[Espresso] costs 2.80 … Our [Café] is open" == spell(snippet(TEXT, parse("espresso cafe").phrases))
    assert "[東京]の天気は晴れ" == spell(snippet(TEXT, parse("東京").phrases))
    assert "[Espresso costs] 2.80" == spell(snippet(TEXT, parse('"espresso costs"').phrases))
    assert "Welcome to the [shop]" == spell(snippet(TEXT, parse("sho*").phrases))


def test_heading_is_shown_with_the_text_after_it():
    """A line that only has the words of the query says too little."""
    text = "Kettle\nIt costs 30 euro.\nLamps, small\nTables"

    assert "[Kettle] … It costs 30 euro. Lamps, small Tables" == spell(snippet(text, parse("kettle").phrases))
    assert "[Lamps], small" == spell(snippet(text, parse("lamps").phrases))
    assert "[Tables]" == spell(snippet(text, parse("tables").phrases))


def test_text_without_the_words_shows_its_beginning():
    """Its title may have them."""
    assert "Welcome to the shop Our Café is open Espresso…" == spell(snippet(TEXT, parse("zebra").phrases, most=46))
    assert [("A [b]", False)] == mark("A [b]", parse("zebra").phrases)


def test_long_line_is_cut_around_the_hit():
    """It is cut at spaces, with an ellipsis on each side that is cut."""
    line = "before " * 200 + "needle " + "after " * 200

    shown = spell(snippet(line, parse("needle").phrases, most=80))

    assert shown.startswith("…before")
    assert shown.endswith("after…")
    assert "[needle]" in shown
    assert 90 > len(shown)


@given(st.text(max_size=300), st.sampled_from(["a", "a b", '"b c"', "é*", "京"]))
def test_snippet_only_shows_text_of_the_page(text, query):
    """Only the ellipses are added."""
    for piece, is_hit in snippet(text, parse(query).phrases, most=40):
        assert piece in {"…", " … "} or is_hit or " ".join(piece.strip("…").split()) in " ".join(text.split())
