"""Changes as plain text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.presentation.records import record
from tidings.presentation.presenter import Caption
from tidings.presentation.text import ChangesAsText
from tidings.presentation.writing import length


def plain(records, *, heading="", most=60_000):
    return ChangesAsText().present(records, Caption(heading=heading), most=most)


def test_change_is_readable_without_colour():
    """Deleted and inserted text is in marks, above place and time."""
    text = plain([record(deleted=["gone"], inserted=["come"], moved=["par"])], heading="price: 5 → 6")

    assert (
        "price: 5 → 6\n[-5-]{+6+}\n[-gone-]\n{+come+}\nmoved: par\n"
        "https://shop.example/a?x=1&y=2\nseen Tue 2023-11-14 22:13 UTC"
    ) == text


def test_each_of_several_changes_has_a_headline():
    """An empty line separates them."""
    text = plain([record(summary="one"), record(summary="two", updated=[], inserted=["x"])], heading="price: 2 changes")

    assert (
        "price: 2 changes\n\n"
        "one\n[-5-]{+6+}\nhttps://shop.example/a?x=1&y=2\nseen Tue 2023-11-14 22:13 UTC\n\n"
        "two\n{+x+}\nhttps://shop.example/a?x=1&y=2\nseen Tue 2023-11-14 22:13 UTC"
    ) == text


@pytest.mark.parametrize("most", [4_096, 2_000, 1_000, 300])
def test_digest_is_cut_at_a_change(most):
    """Whole changes come first, then how many more there are, e.g. for the 4096 characters of
    Telegram and the 2000 of Discord.
    """
    records = [record(summary=f"change {n}", inserted=[f"text {n}"]) for n in range(100)]
    text = plain(records, heading="price: 100 changes", most=most)
    *blocks, rest = text.split("\n\n")
    kept = len(blocks) - 1

    assert length(text) <= most
    assert f"and {100 - kept} more changes" == rest
    assert all(f"\n{{+text {n}+}}\nhttps://" in block for n, block in enumerate(blocks[1:]))
    assert length(text) + length(blocks[1]) + 2 > most


def test_long_change_keeps_its_first_edits():
    """The others are counted."""
    text = plain([record(updated=[], inserted=[f"line {n}" for n in range(500)])], heading="h", most=200)
    shown = text.count("{+")

    assert length(text) <= 200
    assert f"\nand {500 - shown} more\nhttps://" in text
    assert shown >= 8


def test_long_texts_are_shortened_before_edits_are_omitted():
    """Three shortened paragraphs are better than one whole."""
    text = plain([record(updated=[], inserted=["x" * 5_000] * 3)], heading="h", most=2_000)

    assert 3 == text.count("…+}")


def test_short_message_has_headline_and_address():
    """In 160 characters the headline comes first, then the address if it fits."""
    heading = "price: " + "very " * 20
    url = "https://shop.example/" + "a" * 200

    assert f"{heading.strip()}\nhttps://s.example/" == plain(
        [record(url="https://s.example/", inserted=["y" * 200])], heading=heading, most=130
    )
    assert heading.strip() == plain([record(url=url)], heading=heading, most=160)


def test_no_change_is_no_message():
    """Nobody is notified of nothing."""
    with pytest.raises(ValueError, match="at least one change"):
        plain([])


texts = st.text(st.characters(exclude_categories=()), max_size=40)
records = st.builds(
    record,
    inserted=st.lists(texts, max_size=8),
    deleted=st.lists(texts, max_size=8),
    updated=st.lists(st.fixed_dictionaries({"old": texts, "new": texts}), max_size=4),
    summary=texts,
    url=texts,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(records, min_size=1, max_size=6), texts, st.integers(20, 2_000))
def test_every_text_fits_and_is_utf_8(shown, heading, most):
    """For every page it has at most as many characters as asked for."""
    text = plain(shown, heading=heading, most=most)

    assert length(text) <= most
    assert text.encode().decode() == text
    assert "\x1b" not in text


def test_hostile_change_is_cut_in_limited_time():
    """A million edits cost only what is shown of them."""
    many = record(inserted=["x"] * 1_000_000)

    assert "and 99" in plain([many], most=4_096)


def test_objects_are_named_with_their_change():
    """The address is at the end of its line, where chats make a link of it."""
    counts = [
        {"kind": "links", "object": "https://a.example/new", "old": 0, "new": 1},
        {"kind": "images", "object": "https://a.example/old.png", "old": 2, "new": 0},
        {"kind": "links", "object": "https://a.example/twice", "old": 3, "new": 2},
        {"kind": "keywords", "object": "tree", "old": 0, "new": 4},
    ]
    shown = record(
        updated=[],
        deleted=["https://a.example/old.png", "https://a.example/twice"],
        inserted=["https://a.example/new"],
        counts=counts,
    )

    assert (
        "removed image: https://a.example/old.png\n"
        "new link: https://a.example/new\n"
        "link https://a.example/twice: 3 → 2\n"
        "keyword tree: 0 → 4"
    ) == ChangesAsText().fragment(shown)


def test_text_cannot_end_its_mark():
    """A page that writes our marks cannot imitate another edit."""
    shown = record(updated=[{"old": "1-] {+", "new": "a+} [-b-]"}])

    assert r"[- 1-\] {+ -]{+a+\} [-b-]+}" == ChangesAsText().fragment(shown)


def test_minus_of_a_number_is_outside_its_mark():
    """It is separated by a space."""
    assert "[-4-]{+ -11 +}" == ChangesAsText().fragment(record(updated=[{"old": "4", "new": "-11"}]))


def test_comparison_on_demand_names_its_versions():
    """They replace the time."""
    text = ChangesAsText().present([record()], Caption(between="version 2 → version 3"))

    assert "https://shop.example/a?x=1&y=2\nversion 2 → version 3\n[-5-]{+6+}" == text


def test_text_without_a_limit_is_whole():
    """On a terminal, a paragraph of 50,000 characters is whole."""
    shown = record(updated=[], inserted=["x" * 50_000] * 3)

    assert 3 == ChangesAsText().fragment(shown).count("x" * 50_000)
    assert 3 == ChangesAsText().present([shown, record()]).count("x" * 50_000)


def test_edits_of_a_frame_are_below_its_address():
    """A frame is named once; if space is short, the address counts as part of the line."""
    frames = [
        record(url=f"https://shop.example/{name}", updated=[], inserted=["a b", "c"]) for name in ("menu", "text")
    ]
    shown = record(updated=[], inserted=["a b", "c"] * 2, frames=frames)
    row = ChangesAsText()
    whole = row.fragment(shown)
    short = row.fragment(shown, most=50)

    assert [
        "in https://shop.example/menu", "{+a b+}", "{+c+}", "in https://shop.example/text", "{+a b+}", "{+c+}",
    ] == whole.split("\n")  # fmt: skip
    assert ["in https://shop.example/menu", "{+a b+}", "and 3 more"] == short.split("\n")
