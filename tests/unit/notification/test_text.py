import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.notification.records import record
from tidings.notification.text import plain, unmentioning
from tidings.notification.writing import length


def test_a_change_is_read_without_colour():
    """What went and what came stand in marks, below where and when."""
    text = plain([record(deleted=["gone"], inserted=["come"], moved=["par"])], heading="price: 5 → 6")

    assert (
        "price: 5 → 6\n"
        "https://shop.example/a?x=1&y=2\n"
        "2023-11-14 22:13 UTC\n"
        "[-5-] {+6+}\n"
        "[-gone-]\n"
        "{+come+}\n"
        "moved: par"
    ) == text


def test_several_changes_have_a_headline_each():
    """An empty line stands between changes."""
    text = plain([record(summary="one"), record(summary="two", updated=[])], heading="price: 2 changes")

    assert (
        "price: 2 changes\n\n"
        "one\nhttps://shop.example/a?x=1&y=2\n2023-11-14 22:13 UTC\n[-5-] {+6+}\n\n"
        "two\nhttps://shop.example/a?x=1&y=2\n2023-11-14 22:13 UTC"
    ) == text


@pytest.mark.parametrize("most", [4_096, 2_000, 1_000, 300])
def test_a_digest_is_cut_at_a_change(most):
    """Telegram's 4096, Discord's 2000 and shorter: whole changes, then how many more."""
    records = [record(summary=f"change {n}", inserted=[f"text {n}"]) for n in range(100)]
    text = plain(records, heading="price: 100 changes", most=most)
    *blocks, rest = text.split("\n\n")
    kept = len(blocks) - 1

    assert length(text) <= most
    assert f"and {100 - kept} more changes" == rest
    assert all(block.endswith(f"{{+text {n}+}}") for n, block in enumerate(blocks[1:]))
    assert length(text) + length(blocks[1]) + 2 > most


def test_one_long_change_keeps_its_first_edits():
    """What does not fit of a single change is counted."""
    text = plain([record(updated=[], inserted=[f"line {n}" for n in range(500)])], heading="h", most=200)
    shown = text.count("{+")

    assert length(text) <= 200
    assert text.endswith(f"and {500 - shown} more")
    assert shown >= 8


def test_one_long_text_is_shortened_before_edits_are_dropped():
    """Three long paragraphs are better shown short than one of them whole."""
    text = plain([record(updated=[], inserted=["x" * 5_000] * 3)], heading="h", most=2_000)

    assert 3 == text.count("…+}")


def test_a_short_message_says_what_and_where():
    """160 characters: the headline and the address, if it fits."""
    heading = "price: " + "very " * 20
    url = "https://shop.example/" + "a" * 200

    assert f"{heading.strip()}\nhttps://s.example/" == plain(
        [record(url="https://s.example/", inserted=["y" * 200])], heading=heading, most=130
    )
    assert heading.strip() == plain([record(url=url)], heading=heading, most=160)


def test_nothing_is_no_message():
    """Nobody is told of nothing."""
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
def test_every_text_fits_and_can_be_sent(told, heading, most):
    """Whatever pages say, the text has no more than was asked for and is UTF-8."""
    text = plain(told, heading=heading, most=most)

    assert length(text) <= most
    assert text.encode().decode() == text
    assert "\x1b" not in text


def test_a_hostile_change_is_cut_quickly():
    """A million edits cost what is shown of them, not what there is."""
    many = record(inserted=["x"] * 1_000_000)

    assert "and 99" in plain([many], most=4_096)


@pytest.mark.parametrize("text", ["@everyone", "hey @HERE!", "<!channel>", "<@U123>", "@all"])
def test_pages_call_nobody_in_a_chat(text):
    """A page cannot make a bot ring every member of a channel."""
    assert text != unmentioning(text)
    assert text == unmentioning(text).replace("\u2060", "")


def test_other_text_stays_as_it_is():
    """Addresses and comparisons are no calls."""
    text = "anna@example.org 3 < 4 @annabell @hereford"

    assert text == unmentioning(text)
