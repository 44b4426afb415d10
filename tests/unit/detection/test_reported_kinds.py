"""Kinds of faults that users of such tools report in public (detection §6), each with a minimal
case of our own; the number is that of the list. The reports: changedetection.io 712 962 2469 2963
425 3127 855 3173, urlwatch 692 22 286, lxml PR 350, web-monitoring-processing 104 169,
web-monitoring-diff 10, htmldiff 2, html2text 38; of the same kinds: caxy/php-htmldiff 117, icdiff
213, cpython 106865, deepdiff 120, 189, 234.
"""

import random
from itertools import pairwise

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.bounded import bound_time
from tests.edit_scripts import apply_edits
from tidings.detection.compare.words import compare_sequences
from tidings.detection.job.contract import Body, Job, Wanted
from tidings.detection.job.examiner import compare_bodies, examine
from tidings.detection.job.merged import merge
from tidings.detection.kinds.registry import KINDS
from tidings.detection.kinds.status import evaluate_states
from tidings.detection.noise.memory import Place, Thing
from tidings.document.parse import parse
from tidings.document.select.extraction import WHOLE, Extraction
from tidings.model.watch.interest import Interest, Pattern, Selector
from tidings.presentation.presenters import PRESENTERS

ANY, WORDS = Interest("any"), Interest("words")
PAGE = Extraction((Selector("css", "#p"),))


def body(content, content_type="text/html; charset=utf-8"):
    data = content if isinstance(content, bytes) else content.encode()
    return Body(data=data, content_type=content_type, url="http://x.org/")


def find(old, new, interest=ANY, extraction=WHOLE):
    change, problem = compare_bodies(body(old), body(new), interest, extraction)
    assert not problem
    return change


def find_changes(old, new, interest=WORDS, extraction=PAGE):
    """Return what a job finds, and what it finds missing."""
    wanted = Wanted(key=1, reference=1, expression=interest, extraction=extraction)
    done = examine(Job(new=body(new), references={1: body(old)}, known={}, wanted=(wanted,)))
    return [one.change for one in done.found], [one.names for one in done.absent]


def test_01_change_has_edits_or_objects():
    """White space, a hard space and a line end are no change."""
    for other in ("<p>a </p>\n", "<p>a&nbsp;</p>", "<p>\n a</p>", "<div>a</div>"):
        assert not find("<p>a</p>", other)
        assert not find(other, "<p>a</p>")


def test_02_part_that_is_missing_once_is_no_change():
    """If it returns unchanged, nothing changed."""
    first, middle, last = "<b id=p>5</b>", "<i>loading</i>", "<b id=p>5</b>"
    changes, absent = find_changes(first, middle)

    assert ([], 1) == (changes, len(absent))
    assert ([], []) == find_changes(first, last)


def test_03_other_order_of_a_list_is_no_change():
    """Moved words are reported as one move."""
    items = [f"<li>{' '.join(f'{name}{number}' for number in range(9))}" for name in "abc"]
    old, new = "<ul>" + "".join(items), "<ul>" + "".join([items[1], items[0], items[2]])

    assert not find(old, new, Interest("list"))
    assert 1 == len(find(old, new, WORDS).moved)
    assert ((), (), ()) == (
        find(old, new, WORDS).inserted,
        find(old, new, WORDS).deleted,
        find(old, new, WORDS).updated,
    )


def test_04_other_charset_label_is_no_change():
    """The same bytes, once labelled Latin-1, are read as before if that gives the same text."""
    data = "<p>café naïve Überraschung".encode()
    first = examine(Job(new=body(data), references={}, known={}, wanted=()))
    wanted = (Wanted(key=1, reference=1, expression=ANY),)
    again = Job(
        new=body(data, "text/html; charset=iso-8859-1"), references={1: body(data)}, known={1: first.digest}, wanted=wanted,
        last_charset=first.charset, text_digest=first.digest.text,
    )  # fmt: skip

    assert () == examine(again).found
    assert not examine(again).text_changed


def test_05_ignored_text_is_neither_reported_nor_shown():
    """A counter alone is silent, and beside a price only the price is reported."""
    without = Extraction(exclude=(Pattern(r"Views: \d+"),))

    assert not find("<p>Views: 5|Price 3", "<p>Views: 6|Price 3", WORDS, without)
    assert (("3", "4"),) == find("<p>Views: 5|Price 3", "<p>Views: 6|Price 4", WORDS, without).updated


def test_06_rest_of_a_noisy_line_is_compared():
    """Only a part of it is noise."""
    without = Extraction(exclude=(Pattern(r"v=[\d.]+"),))

    assert (("10", "12"),) == find("<p>v=6.7.2 price 10", "<p>v=6.7.3 price 12", WORDS, without).updated


def test_07_returning_text_is_news_again():
    """Nothing, SALE, nothing, SALE: there are two inserts."""
    pages = ["<p>shop", "<p>shop SALE", "<p>shop", "<p>shop SALE"]
    inserted = Interest("words", direction="inserted")

    assert [("SALE",), (), ("SALE",)] == [find(old, new, inserted).inserted for old, new in pairwise(pages)]


def test_08_very_long_page_has_one_edit():
    """It has 225,000 words, of which the last differs."""
    rng = random.Random(8)
    words = [f"w{rng.randrange(50_000)}" for _ in range(225_000)]
    with bound_time(2):  # a few milliseconds
        (edit,) = compare_sequences(words, [*words[:-1], "other"])

    assert (224_999, 225_000) == (edit.old_start, edit.old_end)


def test_09_sentinel_of_additions_ignores_deletions():
    """Nothing deleted is reported."""
    assert not find("<p>one two", "<p>one", Interest("words", direction="inserted"))
    assert not find("<a href=/a>x</a>", "x", Interest("links", direction="inserted"))


def test_10_rotating_contents_become_noise():
    """A, B, A, B while a second poll within a minute differs too: the known contents are masked."""
    place = Place(b"the latest news", b"contact us", 12)
    block = Thing(id=place.id, sort="words", place=place)
    for poll, (old, new) in enumerate(pairwise("abab"), start=1):
        block = block.observe(old, new, before=0, is_second=poll > 1, at=poll)

    assert "rotating" == block.verdict
    assert block.covers("a", "b")
    assert not block.covers("b", "news")


def test_11_repeated_error_is_one_event():
    """200, 404, 404, 404, 200 are two events of the page's state."""
    states = ["ok", "404", "404", "404", "ok"]
    changes = [evaluate_states(Interest("status"), old, new) for old, new in pairwise(states)]

    assert [(("ok", "404"),), (), (), (("404", "ok"),)] == [change.updated for change in changes]


def test_12_inserted_block_is_exactly_its_words():
    """Those around it are similar."""
    old = "<div id=f>old text</div><div id=l>more old text</div>"
    new = "<div id=f>old text</div><div id=m>a middle text</div><div id=l>more old text</div>"

    assert ("a middle text",) == find(old, new, WORDS).inserted
    assert ((), ()) == (find(old, new, WORDS).deleted, find(old, new, WORDS).updated)


def test_13_marks_of_a_page_are_no_marks_of_ours():
    """`ins` of the page is text like any other."""
    change = find("<p><ins>a</ins> [-x-] {+y+}", "<p><ins>b</ins> [-x-] {+y+}", WORDS)
    record = {"url": "http://x.org/", "updated": [{"old": "<ins>a</ins>", "new": "[-b-] {+c+}"}]}

    assert (("a", "b"),) == change.updated
    assert "&lt;ins&gt;a&lt;/ins&gt;" in PRESENTERS["changes-as-html"].fragment(record)
    assert r"{+[-b-] {+c+\}+}" in PRESENTERS["changes-as-text"].fragment(record)


def test_14_shuffled_list_is_compared_in_limited_time():
    """It has 20,000 links, none inserted or deleted, and all words are compared."""
    numbers = list(range(20_000))
    old = parse(
        b"<ul>" + b"".join(b"<li><a href=/%d>%d</a>" % (n, n) for n in numbers), "text/html", url="http://x.org/"
    )
    random.Random(14).shuffle(numbers)
    new = parse(
        b"<ul>" + b"".join(b"<li><a href=/%d>%d</a>" % (n, n) for n in numbers), "text/html", url="http://x.org/"
    )
    with bound_time(5):  # 0.1 s
        (finding,) = KINDS["words"].compare(old, new)
        links = KINDS["links"].compare(old, new)

    assert () == links
    assert new.tokens == apply_edits(finding.edits, old.tokens, new.tokens)


def test_15_page_cannot_hide_our_marks():
    """No style of a page is shown: its tags are text, and the only style sheet is ours."""
    style = "<style>ins,del,span{background:#fff!important;display:none}</style>"
    record = {"url": "http://x.org/", "inserted": [style], "summary": style, "kind": "words"}
    shown = PRESENTERS["changes-as-html"].present([record])

    assert 1 == shown.count("<style>")
    assert "&lt;style&gt;ins,del,span{background:#fff!important" in shown


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<p>a</p><p>t</p>", "<p>a</p><p>b</p><p>t</p>"),
        ("<table><tr><td>1<td>2</table>", "<table><tr><td>1<td>2<tr><td>3<td>4</table>"),
        ("<ul><li>x<li>y", "<ul><li>y<li>z<li>x"),
    ],
)
def test_16_merged_page_contains_both_versions(old, new):
    """Without our marks it is the new text, with deleted text the old one; as HTML it is read again
    as written.
    """
    before, after = parse(old.encode(), "text/html"), parse(new.encode(), "text/html")
    edits = compare_sequences(before.tokens, after.tokens)
    pieces = [piece for stretch in merge(before, after, edits) for piece in stretch]
    record = {"url": "http://x.org/", "hunks": [pieces]}
    fragment = PRESENTERS["single-as-html"].fragment(record)
    tree = LexborHTMLParser(f"<!DOCTYPE html><html><head></head><body>{fragment}</body></html>")

    assert after.tokens == " ".join(text for kind, text in pieces if kind in {"same", "inserted"}).split()
    assert before.tokens == " ".join(text for kind, text in pieces if kind in {"same", "deleted"}).split()
    assert tree.body is not None
    assert fragment.strip() == (tree.body.inner_html or "").strip()


def test_17_word_inserted_into_a_long_paragraph_is_one_word():
    """No line is wrapped, also with 500 words and a long link."""
    words = [f"word{number}" for number in range(500)]
    words[250] = f'<a href="http://x.org/{"long-" * 40}">link</a>'
    change = find(f"<p>{' '.join(words)}", f"<p>{' '.join([*words[:100], 'new', *words[100:]])}")

    assert (("new",), (), (), ()) == (change.inserted, change.deleted, change.updated, change.objects)


def test_of_the_same_kinds_chinese_characters_are_words():
    """One character of a sentence without spaces is the change, not the sentence."""
    assert (("千", "万"),) == find("<p>最新の価格は千円です", "<p>最新の価格は万円です", WORDS).updated


def test_of_the_same_kinds_types_and_counts_differ():
    """In JSON `1` → `true` is a change, and so is another number of the same items."""
    for old, new in (('{"a": 1}', '{"a": true}'), ('["b1", "b2", "b1"]', '["b1", "b2"]'), ('{"a": 0}', '{"a": false}')):
        change, problem = compare_bodies(body(old, "application/json"), body(new, "application/json"), ANY)

        assert not problem
        assert change


def test_of_the_same_kinds_frequent_words_take_limited_time():
    """The texts have one word repeated, or few words."""
    rng = random.Random(1)
    few, other = rng.choices("abcd", k=20_000), rng.choices("abcd", k=20_000)

    with bound_time(3):  # 0.1 s
        compare_sequences(["a"] * 60_000, ["a"] * 59_000 + ["b"])
        compare_sequences(few, other)
