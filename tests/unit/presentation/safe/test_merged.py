"""Two versions of a page are shown as one page with marks."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import data_sets
from tests.strategies import pages
from tests.unit.presentation.safe.pages import PAGES, acting
from tidings.detection.compare.words import compare_sequences
from tidings.document.document import Document
from tidings.document.extract import extract
from tidings.document.parse import parse
from tidings.document.select.extraction import Extraction
from tidings.model.watch.interest import Selector
from tidings.presentation.safe.merged import merge_page

DELETED = re.compile('<del class="tidings[^>]*>.*?</del>', re.DOTALL)
INSERTED = re.compile('<ins class="tidings[^>]*>.*?</ins>', re.DOTALL)


def page(source: bytes, content_type: str = "text/html; charset=utf-8") -> Document:
    """Return a page with its tree."""
    return parse(source, content_type, keep_tree=True)


def merge(old: Document, new: Document) -> str:
    """Return two versions as one page."""
    return merge_page(compare_sequences(old.tokens, new.tokens), old, new).html


def words_without(marks: re.Pattern[str], html: str) -> list[str]:
    """Return the words of a merged page without some of its marks."""
    return page(marks.sub("", html).encode()).tokens


@given(pages, pages)
def test_merged_page_contains_both_versions(first, second):
    """Without deleted text it has the words of the new version, without inserted text those of the
    old one.
    """
    old, new = page(first.encode()), page(second.encode())
    html = merge(old, new)

    assert words_without(DELETED, html) == new.tokens
    assert words_without(INSERTED, html) == old.tokens


WORDS = [
    "a",
    "A-5",
    "-5",
    "5",
    "(",
    ")",
    ".",
    ", ",
    "$5",
    "19.99",
    "价",
    "格",
    "👍",
    "🇩🇪",
    "naïve",
    " ",
    " ",
    "</p><p>",
    "<b>",
    "</b>",
    "<br>",
    "<td>",
]


@given(st.lists(st.sampled_from(WORDS), max_size=14), st.data())
def test_signs_and_borders_beside_a_change_keep_the_words(words, data):
    """Signs, brackets, single letters and borders of paragraphs leave both versions unchanged."""
    new = list(words)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(new)))
        new[start : start + data.draw(st.integers(0, 3))] = data.draw(st.lists(st.sampled_from(WORDS), max_size=3))
    before, after = (page(f"<p>{''.join(one)}".encode()) for one in (words, new))
    html = merge(before, after)

    assert words_without(DELETED, html) == after.tokens
    assert words_without(INSERTED, html) == before.tokens


def test_merged_real_pages_contain_both_versions():
    """They are every fortieth pair of real versions; `bench/merged.py` has all."""
    for pair in data_sets.page_pairs("terms-html")[::40]:
        old, new = page(pair.old, pair.content_type), page(pair.new, pair.content_type)
        html = merge(old, new)

        assert words_without(DELETED, html) == new.tokens
        assert words_without(INSERTED, html) == old.tokens


def test_marks_are_at_their_words():
    """A number in bold stays in bold; deleted text is before inserted text, inside the element."""
    html = merge(page(b"<p>It costs <b>14</b> EUR."), page(b"<p>It costs <b>7</b> EUR."))

    expected = '<b><del class="tidings" title="removed">14</del> <ins class="tidings" title="added">7</ins></b> EUR.'
    assert expected in html


def test_moved_sentence_is_marked_as_moved():
    """It is neither new nor deleted."""
    sentence, rest = (
        b"<p>Disputes are settled by the courts of our town alone.",
        b"<p>" + b" ".join(b"w%d" % at for at in range(30)),
    )
    html = merge(page(sentence + rest), page(rest + sentence))

    assert '<ins class="tidings tidings-moved" title="moved here">' in html
    assert '<del class="tidings tidings-moved" title="moved elsewhere">' in html


@pytest.mark.parametrize("source", PAGES.values(), ids=PAGES)
def test_deleted_text_is_as_safe_as_the_rest(source):
    """Neither version acts in a merged page, whichever is hostile."""
    plain, hostile = page(b"<p>Some words."), page(source.encode())

    assert [] == acting(merge(hostile, plain))
    assert [] == acting(merge(plain, hostile))


def test_part_of_a_page_is_not_merged():
    """The view says why; the same is true of data."""
    whole = page(b"<main>a</main>b")
    part = extract(whole, Extraction(selectors=(Selector("css", "main"),)))

    assert "Only a part of the page is watched." == merge_page((), part, part).why_not
    assert merge_page((), page(b"a", "text/plain"), page(b"a", "text/plain")).why_not
