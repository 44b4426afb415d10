"""A change as a picture is SVG with its edits and without scripts or links."""

from __future__ import annotations

from lxml import etree

from tidings.model.observed.change import EditContext
from tidings.presentation.edits import EditLine
from tidings.web.markup.card import COLUMNS, MOST_LINES, picture

SVG = "{http://www.w3.org/2000/svg}"
PRICE = EditLine("updated", "129.00 EUR", "109.00 EUR", context=EditContext("updated", 0, label="Price"))


def spans(drawn: str) -> list[tuple[str, str]]:
    """Return the texts of a picture, each with its decoration."""
    tree = etree.fromstring(drawn)
    return [(one.get("text-decoration"), one.text) for one in tree.iter(f"{SVG}tspan")]


def test_deleted_text_is_struck_and_inserted_text_underlined():
    """The label is first. Page and time are shown around the edits."""
    drawn = picture("Kettle", "shop.example", [PRICE], 2, "11:31")

    assert [
        ("none", "Price: "),
        ("line-through", "129.00 "),
        ("line-through", "EUR"),
        ("none", " "),
        ("none", "→ "),
        ("underline", "109.00 "),
        ("underline", "EUR"),
        ("none", "and 2 more"),
    ] == [(kind, text or "") for kind, text in spans(drawn)]
    assert "Kettle" in drawn
    assert "shop.example · 11:31 · Tidings" in drawn


def test_text_of_a_hostile_page_is_escaped():
    """A long word is cut, and many lines are left out."""
    hostile = EditLine("inserted", "", "<script>alert(1)</script>" + "x" * 10_000)
    drawn = picture('"><image href="//evil.example/"/>', "", [hostile] * 3, 0, "")
    tree = etree.fromstring(drawn)

    assert {"svg", "rect", "text", "tspan"} == {etree.QName(one).localname for one in tree.iter()}
    assert MOST_LINES + 2 == len(tree.findall(f"{SVG}text"))
    assert all(len("".join(one.itertext()).rstrip()) <= COLUMNS for one in tree.findall(f"{SVG}text"))


def test_counts_and_moves_are_not_struck():
    """The thing that is counted is not deleted."""
    edits = [EditLine("counted", "kettle", "3 → 2"), EditLine("moved", "", "pan"), EditLine("deleted", "pot", "")]

    assert [("none", "kettle: 3 → 2"), ("none", "pan"), ("line-through", "pot")] == [
        (next(iter(kinds)), text)
        for row in etree.fromstring(picture("", "", edits, 0, "")).findall(f"{SVG}text")
        if (text := "".join(one.text for one in row)) and (kinds := {one.get("text-decoration") for one in row})
    ]


def test_long_title_without_spaces_is_cut_and_control_characters_are_spelt():
    """A Japanese title has no spaces. XML has no control characters."""
    assert f"{'湯' * 67}…" in picture("湯" * 100, "", [PRICE], 0, "")
    assert spans(picture("a\x01\ud800b", "", [PRICE], 0, ""))
