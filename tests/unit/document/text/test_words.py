"""Words: the tokens of texts in all scripts."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import any_text, texts
from tidings.document.document import Document
from tidings.document.text.words import (
    _TOKEN,
    _find_in_rows,
    canonical_text,
    multiset_digest,
    spans_of_chunk,
    text_digest,
    thesis_words,
    tokens_of,
    whole_clusters,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Price: 3.5% of 1,000", ["Price", "3.5", "of", "1,000"]),
        ("ALGOR&DATASTRUC snake_case re-use", ["ALGOR", "DATASTRUC", "snake", "case", "re", "use"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("مُحَمَّدٌ رَسُول", ["مُحَمَّدٌ", "رَسُول"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("最新の価格は千円", list("最新の価格は千円")),
        ("한국어 문장", ["한국어", "문장"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("iPhone价格5元", ["iPhone", "价", "格", "5", "元"]),
    ],
)
def test_words_are_split_in_all_scripts(text, expected):
    """Letters, digits and marks make words; Han, Kana and Thai characters are words; punctuation
    separates.
    """
    assert expected == tokens_of(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,5 1.5 15", ["1,5", "1.5", "15"]),
        ("19.99€ 1,234.50 10.0.0.1 v1.2.3", ["19.99", "€", "1,234.50", "10.0.0.1", "v1.2.3"]),
        ("5. ,5 a.5 5.a 5..5 5 .5", ["5", "5", "a", "5", "5", "a", "5", "5", "5", "5"]),
        ("-5 (-5) −5 -0,5 --5", ["-5", "-5", "-5", "-0,5", "-5"]),
        ("A-5 10-20 2026-11-27 - 5", ["A", "5", "10", "20", "2026", "11", "27", "5"]),
        ("-$5 -€5 −€5 A-$5", ["-", "$", "5", "-", "€", "5", "−", "€", "5", "A", "$", "5"]),
        ("\u200e-5 ١٫٥ -١٬٠٠٠", ["-5", "١٫٥", "-١٬٠٠٠"]),
    ],
)
def test_number_is_one_token_with_its_signs(text, expected):
    """Points and commas between digits and a minus before them belong to it, so another sign is a
    change; dates and ranges have none.
    """
    assert expected == tokens_of(text)


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("19.99", ["19", "99"]),
        ("-5", ["5"]),
        ("€", []),
        ("-", []),
        ("word", ["word"]),
        ("हिन्दी", ["हिन्दी"]),
        ("👍🏽", []),
    ],
)
def test_thesis_words_have_no_symbols(token, expected):
    """Signs of numbers separate too (004 §5.3.1)."""
    assert expected == thesis_words(token)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$5 → €5", ["$", "5", "→", "€", "5"]),
        ("a+b=c <x> |", ["a", "+", "b", "=", "c", "<", "x", ">", "|"]),
        ("👍🏽👍", ["👍🏽", "👍"]),
        ("👨‍👩‍👧x", ["👨‍👩‍👧", "x"]),
        ("🇩🇪🇫🇷🇩", ["🇩🇪", "🇫🇷", "🇩"]),
        ("☺️ ≠ =\u0338", ["☺️", "≠", "≠"]),
    ],
)
def test_symbol_is_a_token_of_one_cluster(text, expected):
    """A currency sign, an arrow or an emoji is, with any number of code points."""
    assert expected == tokens_of(text)


@pytest.mark.parametrize("sign", ["\u00ad", "\u200b", "\u2060", "\ufeff", "\u200e", "\u200f", "\u202a", "\u2069"])
def test_invisible_characters_are_dropped(sign):
    """A soft hyphen, a zero-width space or a bidi mark inside or beside a word changes nothing."""
    assert ["lowrisk", "now"] == tokens_of(f"{sign}low{sign}risk{sign} now{sign}")


def test_joiners_inside_a_word_stay():
    """ZWNJ and ZWJ distinguish words in Persian and Hindi; at the end of a word they mean nothing."""
    assert ["می\u200cخواهم", "क्\u200dष"] == tokens_of("می\u200cخواهم\u200c क्\u200dष\u200d")


def test_tokens_are_in_nfc():
    """`café` is one word with one code point or two, and so is が."""
    assert tokens_of("caf\u00e9 \u304c") == tokens_of("cafe\u0301 \u304b\u3099")


@given(any_text | texts)
def test_spans_have_the_tokens(text):
    """Each span of a chunk has its token, except for dropped and composed characters; there are as
    many spans as tokens.
    """
    for chunk in text.split():
        spans = spans_of_chunk(chunk)

        assert [tokens_of(chunk[start:end]) or ["-"] for start, end in spans] == [
            [token if token != "−" else "-"] for token in tokens_of(chunk)
        ]


@given(any_text | texts)
def test_quick_way_for_ascii_agrees_with_the_pattern(text):
    """Both give the same tokens."""
    ascii_only = text.encode("ascii", "ignore").decode()

    expected = [token for chunk in ascii_only.split() for token in _TOKEN.findall(chunk)]

    assert expected == tokens_of(ascii_only)


@given(
    st.lists(
        st.sampled_from("漢字かな々ไทยกำักขລາວខ្មែរ가é\u0301\u0e31\u200d\u00ad,.5-👍🏽"), min_size=50, max_size=90
    ).map("".join)
)
def test_long_chunk_has_the_tokens_of_short_ones(chunk):
    """A text without spaces is cut in rows if it is long."""
    assert [chunk[start:end] for start, end in spans_of_chunk(chunk)] == _find_in_rows(chunk)


@given(texts)
def test_canonical_text_has_the_tokens(text):
    """The quick way over bytes gives them with one space between."""
    assert " ".join(tokens_of(text)).encode() == canonical_text(text)


@given(any_text)
def test_white_space_does_not_change_the_canonical_text(text):
    """This is so for every kind and length."""
    spread = " \n\u00a0".join(text.split())

    assert canonical_text(text) == canonical_text(spread)


def test_digest_is_stable_and_depends_on_the_seed():
    """It is the same in every process; another installation's seed gives another."""
    assert "c142a88dee936f125868096c16df7a8e" == text_digest(b"a b")
    assert text_digest(b"a b") != text_digest(b"a b", seed=1)
    assert text_digest(b"a b") != text_digest(b"a c")


def test_multiset_digest_depends_on_counts_only():
    """The order of the objects does not matter; one more of them does."""
    assert multiset_digest(["a", "b", "a"]) == multiset_digest(["a", "a", "b"])
    assert multiset_digest(["a", "b"]) != multiset_digest(["a", "a", "b"])
    assert multiset_digest(["ab"]) != multiset_digest(["a", "b"])


SIGNS = "กำ ລຳ नी क्ष e\u0301 한 각 🇩🇪 🇫🇷 👩\u200d👩\u200d👧 👍🏽 a🏽 1\ufe0f\u20e3 x\u200d ❤\ufe0f € \u0600 1".split(
    " "
)
clusters = st.lists(st.sampled_from(SIGNS) | st.sampled_from(list(" ab1.\n")), max_size=20).map("".join)


def borders(text):
    return {0, *(match.end() for match in regex.finditer(r"\X", text))}


@pytest.mark.parametrize(
    ("text", "span", "expected"),
    [
        ("กำ", (0, 1), (0, 2)),
        ("กำ", (1, 2), (0, 2)),
        ("a🏽b", (0, 1), (0, 2)),
        ("x\u200d.", (0, 1), (0, 2)),
        ("🇩🇪🇫🇷", (2, 4), (2, 4)),
        ("abc", (1, 2), (1, 2)),
        ("日本", (1, 2), (1, 2)),
    ],
)
def test_span_is_extended_to_whole_clusters(text, span, expected):
    """If a token ends inside a cluster, its rest is shown too, and nothing more."""
    assert expected == whole_clusters(text, *span)


@given(clusters | texts)
def test_shown_text_splits_no_cluster(text):
    """Each token of every text is shown from border to border of clusters."""
    document = Document(media="text", pieces=(text,))
    for chunk in document.chunks:
        part = Document(media="text", pieces=(chunk,))
        for token in range(len(part.tokens)):
            shown = part.get_text(token, token + 1)
            starts = [at for at in range(len(chunk)) if chunk.startswith(shown, at)]

            assert any({at, at + len(shown)} <= borders(chunk) for at in starts), (chunk, shown)
