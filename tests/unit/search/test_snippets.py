"""Snippets: what of a text is shown."""

from hypothesis import given
from hypothesis import strategies as st

from tidings.search.query import parse
from tidings.search.snippets import mark, snippet


def spell(stretches):
    """Return stretches as one text, hits in brackets."""
    return "".join(f"[{piece}]" if is_hit else piece for piece, is_hit in stretches)


TEXT = "Welcome to the shop\nOur Café is open\nEspresso costs 2.80\n東京の天気は晴れ"


def test_the_line_that_answers_is_shown():
    """With what was searched for marked, as it is written on the page; a second line if it has what
    the first lacks.
    """
    assert "Our [Café] is open" == spell(snippet(TEXT, parse("cafe").phrases))
    assert "[Espresso] costs 2.80 … Our [Café] is open" == spell(snippet(TEXT, parse("espresso cafe").phrases))
    assert "[東京]の天気は晴れ" == spell(snippet(TEXT, parse("東京").phrases))
    assert "[Espresso costs] 2.80" == spell(snippet(TEXT, parse('"espresso costs"').phrases))
    assert "Welcome to the [shop]" == spell(snippet(TEXT, parse("sho*").phrases))


def test_a_heading_is_shown_with_the_words_behind_it():
    """A line that is nothing but the words of the query says too little alone."""
    text = "Kettle\nIt costs 30 euro.\nLamps, small\nTables"

    assert "[Kettle] … It costs 30 euro. Lamps, small Tables" == spell(snippet(text, parse("kettle").phrases))
    assert "[Lamps], small" == spell(snippet(text, parse("lamps").phrases))
    assert "[Tables]" == spell(snippet(text, parse("tables").phrases))


def test_a_text_that_answers_elsewhere_shows_its_beginning():
    """Its title may hold what was searched for."""
    assert "Welcome to the shop Our Café is open Espresso…" == spell(snippet(TEXT, parse("zebra").phrases, most=46))
    assert [("A [b]", False)] == mark("A [b]", parse("zebra").phrases)


def test_long_lines_are_cut_around_the_hit():
    """At spaces, with an ellipsis on each side that is cut."""
    line = "before " * 200 + "needle " + "after " * 200

    shown = spell(snippet(line, parse("needle").phrases, most=80))

    assert shown.startswith("…before")
    assert shown.endswith("after…")
    assert "[needle]" in shown
    assert 90 > len(shown)


@given(st.text(max_size=300), st.sampled_from(["a", "a b", '"b c"', "é*", "京"]))
def test_nothing_is_invented(text, query):
    """Whatever a snippet shows stands in the text, but for ellipses."""
    for piece, is_hit in snippet(text, parse(query).phrases, most=40):
        assert piece in {"…", " … "} or is_hit or " ".join(piece.strip("…").split()) in " ".join(text.split())
