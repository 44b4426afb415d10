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

WENT = re.compile('<del class="tidings[^>]*>.*?</del>', re.DOTALL)
CAME = re.compile('<ins class="tidings[^>]*>.*?</ins>', re.DOTALL)


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
def test_taking_the_marks_out_gives_both_versions(first, second):
    """Without what went a merged page has the words of the new version, without what came those of the old one."""
    old, new = page(first.encode()), page(second.encode())
    html = merge(old, new)

    assert words_without(WENT, html) == new.tokens
    assert words_without(CAME, html) == old.tokens


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
def test_signs_and_borders_beside_a_change_make_no_other_words(words, data):
    """Signs, brackets, letters that stand alone and borders of paragraphs beside a change leave both versions as they were."""
    new = list(words)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(new)))
        new[start : start + data.draw(st.integers(0, 3))] = data.draw(st.lists(st.sampled_from(WORDS), max_size=3))
    before, after = (page(f"<p>{''.join(one)}".encode()) for one in (words, new))
    html = merge(before, after)

    assert words_without(WENT, html) == after.tokens
    assert words_without(CAME, html) == before.tokens


def test_taking_the_marks_out_gives_both_versions_of_real_pages():
    """So it is of successive versions of real pages, every fortieth here; `bench/merged.py` plays all of them."""
    for pair in data_sets.page_pairs("terms-html")[::40]:
        old, new = page(pair.old, pair.content_type), page(pair.new, pair.content_type)
        html = merge(old, new)

        assert words_without(WENT, html) == new.tokens
        assert words_without(CAME, html) == old.tokens


def test_marks_stand_where_the_words_stand():
    """A number in bold stays in bold; what went stands before what came, inside the element."""
    html = merge(page(b"<p>It costs <b>14</b> EUR."), page(b"<p>It costs <b>7</b> EUR."))

    expected = '<b><del class="tidings" title="removed">14</del> <ins class="tidings" title="added">7</ins></b> EUR.'
    assert expected in html


def test_what_moved_is_marked_as_moved():
    """A sentence that stands elsewhere now is neither new nor gone."""
    sentence, rest = (
        b"<p>Disputes are settled by the courts of our town alone.",
        b"<p>" + b" ".join(b"w%d" % at for at in range(30)),
    )
    html = merge(page(sentence + rest), page(rest + sentence))

    assert '<ins class="tidings tidings-moved" title="moved here">' in html
    assert '<del class="tidings tidings-moved" title="moved elsewhere">' in html


@pytest.mark.parametrize("source", PAGES.values(), ids=PAGES)
def test_what_went_is_shown_as_safely_as_what_is_there(source):
    """Neither version acts in a merged page, whichever is the hostile one."""
    plain, hostile = page(b"<p>Some words."), page(source.encode())

    assert [] == acting(merge(hostile, plain))
    assert [] == acting(merge(plain, hostile))


def test_a_part_of_a_page_is_not_merged():
    """Who watches a part of a page reads why the page is not shown; so does who watches data."""
    whole = page(b"<main>a</main>b")
    part = extract(whole, Extraction(selectors=(Selector("css", "main"),)))

    assert "Only a part of the page is watched." == merge_page((), part, part).why_not
    assert merge_page((), page(b"a", "text/plain"), page(b"a", "text/plain")).why_not
