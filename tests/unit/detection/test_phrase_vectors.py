"""The vectors of detection §1.6: phrases as in the thesis and resolved, objects, and many scripts."""

from collections import Counter

import pytest

from tidings.detection.compare.instances import RESOLVED, STRICT, Rules, compare_objects
from tidings.detection.compare.phrases import compare_phrase
from tidings.detection.kinds.keywords import Keywords, Phrases, words_of, words_of_term
from tidings.detection.kinds.registry import KINDS
from tidings.document.parse import parse
from tidings.model.observed.change import ObjectCount

P = "low risk growth investing"
A = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
Z = "lam mu nu xi omi pi rho sig tau ups"
FAR = " ".join(f"far{number}" for number in range(25))
OTHERS = [f"other{number}" for number in range(20)]
SCATTERED = " ".join(
    " ".join([*(f"w{part}_{number}" for number in range(24)), word]) for part, word in enumerate([*P.split(), ""])
)
VALUE = "low risk value investing"

VECTORS = {
    # number: (phrase, old, new, marks in the thesis' way, marks resolved, what an updated phrase reads now, resolved)
    "1 nothing": (P, f"{A} {P} {Z}", f"{A} {P} {Z}", "", "", ()),
    "2 three of four left": (P, f"{A} {P} {Z}", f"{A} {VALUE} {Z}", "u", "u", (VALUE,)),
    "3 two of four left": (P, f"{A} {P} {Z}", f"{A} high risk value investing {Z}", "d", "d", ()),
    "4 exactly 0.6": ("one two three four five", f"{A} one two three four five {Z}", f"{A} one two three x y {Z}", "d", "d", ()),
    "5 deleted": (P, f"{A} {P} {Z}", f"{A} {Z}", "d", "d", ()),
    "6 inserted": (P, f"{A} {Z}", f"{A} {P} {Z}", "i", "i", ()),
    "7 moved": (P, f"{A} {P} {Z} {FAR}", f"{A} {Z} {FAR} {P}", "d i", "d i", ()),
    "8 overlap": ("a a", "x a a a y", "x a a y", "d d i", "context d", ()),
    "9 overlap": ("ab cd ab", "q ab cd ab cd ab r", "q ab cd ab r", "d d i", "context d", ()),
    "10 page start": (P, f"{P} {Z}", f"{P} {Z} more", "", "", ()),
    "11 page start": (P, f"{P} {Z}", f"low risk bond investing {Z}", "u", "u", ("low risk bond investing",)),
    "12 page end": (P, f"{A} {P}", f"{A} low risk growth saving", "u", "u", ("low risk growth saving",)),
    "13 whole page": (P, P, "low risk growth saving", "u", "u", ("low risk growth saving",)),
    "14 one of three": (P, f"{A} {P} {Z} " * 3, f"{A} {P} {Z} " * 2, "d-", "d", ()),
    "15 the middle one": (P, f"{A} {P} {Z} " * 3, f"{A} {P} {Z} {A} {VALUE} {Z} {A} {P} {Z}", "d-", "u", (VALUE,)),
    "16 far box word": (P, f"{A} {P} {Z}", f"{A} {P} {Z}".replace("alpha", "omega"), "d i", "context", ()),
    "17 a word before": (P, f"{A} {P} {Z}", f"{A} very {P} {Z}", "i u", "context", ()),
    "18 all box words": (P, f"{A} {P} {Z}", " ".join([*OTHERS[:10], P, *OTHERS[10:]]), "d i", "d i", ()),
    "19 box and phrase": (P, f"{A} {P} {Z}", f"{A} {VALUE} {Z}".replace("alpha", "omega"), "d", "u", (VALUE,)),
    "20 neighbours": (P, f"{A} {P} and {P} {Z}", f"{A} {VALUE} and {P} {Z}", "d i u", "context u", (VALUE,)),
    "21 scattered": (P, f"{A} {P} {Z}", f"{A} {SCATTERED} {Z}", "u", "d", ()),
    "22 words inside": (P, f"{A} {P} {Z}", f"{A} low but not no risk growth investing {Z}", "u", "u", ("low but not no risk growth investing",)),
    "23 Japanese": ("価格は千円", "最新の価格は千円です。今日の値段", "最新の価格は二千円です。今日の値段", "u", "u", ("価格は二千円",)),
    "24 composed": ("café crème", f"{A} caf\u00e9 cr\u00e8me {Z}", f"{A} cafe\u0301 cre\u0300me {Z}", "", "", ()),
    "25 bidi marks": ("שלום עולם", f"{A} שלום עולם {Z}", f"{A} \u202bשלום\u200f \u2067עולם\u2069 {Z}", "", "", ()),
    "26 case": (P, f"{A} {P} {Z}", f"{A} Low Risk Growth Investing {Z}", "d", "", ()),
    "27 entities": ("café noir", f"{A} caf&eacute; noir {Z}", f"{A} caf&#233; noir {Z}", "", "", ()),
    "27 letters": ("café noir", f"{A} caf&#233; noir {Z}", f"{A} café noir {Z}", "", "", ()),
    "28 hard space": (P, f"{A} {P} {Z}", f"{A} low&nbsp;risk growth investing {Z}", "", "", ()),
    "28 soft hyphen": (P, f"{A} {P} {Z}", f"{A} low risk growth in&shy;vest\u00ading {Z}", "", "", ()),
    "28 tag between": (P, f"{A} {P} {Z}", f"{A} <b>low</b> risk growth investing {Z}", "", "", ()),
    "28 tag inside": (P, f"{A} {P} {Z}", f"{A} lo<b>w</b> risk growth investing {Z}", "", "", ()),
    "29 longer than the page": (f"{A} {P} {Z}", P, f"{P} {P}", "", "", ()),
    "29 nowhere": ("low risk saving", f"{A} {P} {Z}", f"{Z} {A}", "", "", ()),
    "30 sharp s": ("strasse", f"{A} STRASSE {Z}", f"{A} straße {Z}", None, "", ()),
    "31 comment": (P, f"{A} {P} {Z}", f"{A} low ri<!-- x -->sk growth investing {Z}", "", "", ()),
    "31 line break": (P, f"{A} {P} {Z}", f"{A} low risk<br>growth investing {Z}", "", "", ()),
}  # fmt: skip


def page(body):
    return parse(f"<!doctype html><body><p>{body}".encode(), "text/html; charset=utf-8")


def marks(old, new, phrase, rules):
    before, after = (words_of(page(body), exact=rules.exact).words for body in (old, new))
    change = compare_phrase(before, after, words_of_term(phrase, exact=rules.exact), rules)
    return sorted(edit.status for edit in change.edits)


@pytest.mark.parametrize("vector", [name for name, row in VECTORS.items() if row[3] is not None])
def test_phrases_agree_with_the_thesis(vector):
    """A to C of detection §1.5 are corrected, and nothing else."""
    phrase, old, new, expected, _, _ = VECTORS[vector]

    assert sorted((expected or "").split()) == marks(old, new, phrase, STRICT)


@pytest.mark.parametrize("vector", VECTORS)
def test_phrases_agree_with_the_resolved_rules(vector):
    """With D to F too: instances are paired, and a phrase elsewhere or with other surroundings did
    not change.
    """
    phrase, old, new, _, expected, texts = VECTORS[vector]
    (finding,) = Phrases(phrase).compare(page(old), page(new)) or (None,)

    assert sorted(expected.split()) == marks(old, new, phrase, RESOLVED)
    assert bool(set(expected.split()) - {"context"}) == (finding is not None)
    assert texts == (tuple(text for _, text in finding.updated) if finding else ())


def test_all_vectors_are_tested():
    """The table has all 31; number 30 is undefined in the thesis, which has no folding."""
    numbers = {int(name.split()[0]) for name in VECTORS}

    assert set(range(1, 32)) == numbers
    assert [30] == [int(name.split()[0]) for name, row in VECTORS.items() if row[3] is None]


def test_strict_phrase_has_case():
    """Vector 26 again: with case, nothing of the phrase is left."""
    _, old, new, *_ = VECTORS["26 case"]

    assert ["d"] == marks(old, new, P, Rules(exact=True))


def test_moved_text_has_two_edits():
    """Vector 7: one text moved, neither inserted nor deleted."""
    _, old, new, *_ = VECTORS["7 moved"]
    (finding,) = Phrases(P).compare(page(old), page(new))

    assert ((P,), (), ()) == (finding.moved, finding.inserted, finding.deleted)
    assert ["delete", "insert"] == sorted(edit.op for edit in finding.edits)
    assert () == finding.objects


def test_middle_occurrence_is_reported_in_its_place():
    """Vector 15: the edit leads from the second occurrence to its new text, and the counts are 3 →
    2.
    """
    _, old, new, *_ = VECTORS["15 the middle one"]
    (finding,) = Phrases(P).compare(page(old), page(new))
    (edit,) = finding.edits

    assert (34, 38, 34, 38) == (edit.old_start, edit.old_end, edit.new_start, edit.new_end)
    assert (ObjectCount("phrases", P, 3, 2),) == finding.objects


SCRIPTS = {
    # script: (keyword of one word or more, a page with it once, the page with it twice, with a longer word that is not it)
    "Hindi": ("हिन्दी", "मैं हिन्दी बोलता हूँ।", "मैं हिन्दी बोलता हूँ, हिन्दी लिखता हूँ।", "मैं हिन्दीभाषी हूँ।"),
    "Tamil": ("தமிழ்", "நான் தமிழ் பேசுகிறேன்.", "தமிழ்! நான் தமிழ் பேசுகிறேன்.", "நான் தமிழ்நாடு செல்கிறேன்."),
    "Arabic": ("كِتَابٌ", "هٰذَا كِتَابٌ جَدِيدٌ.", "هٰذَا كِتَابٌ وَكَلِمَةٌ، كِتَابٌ جَدِيدٌ.", "هٰذَا كِتَابُهُ."),
    "Hebrew": ("שלום עולם", "אמר שלום עולם היום.", "שלום עולם! אמר \u200fשלום\u200f עולם היום.", "אמר שלום לעולם."),
    "Chinese": ("价格", "今日价格上涨", "今日价格与昨日价格", "今日价位格外高"),
    "Japanese": ("価格", "最新の価格です", "価格、最新の価格です", "価値と格式です"),
    "Korean": ("가격", "오늘 가격 정보", "가격: 오늘 가격 정보", "오늘 가격은 정보"),
    "Thai": ("ราคา", "วันนี้ราคาขึ้น", "ราคาวันนี้ราคาขึ้น", "วันนี้ราดคาขึ้น"),
    "Greek": ("ὁδός", "ἡ ὉΔΌΣ αὕτη", "ὁδός, ἡ ὁδός αὕτη", "ἡ ὁδοί αὕτη"),
    "Emoji": ("👍🏽", "good 👍🏽", "👍🏽👍🏽", "good 👍"),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_keywords_are_counted_in_all_scripts(script):
    """They are whole words, or characters in a row in scripts without spaces."""
    keyword, once, twice, never = SCRIPTS[script]

    def rows(old, new):
        return [row for finding in Keywords(keyword).compare(page(old), page(new)) for row in finding.objects]

    assert [ObjectCount("keywords", keyword, 1, 2)] == rows(once, twice)
    assert [ObjectCount("keywords", keyword, 1, 0)] == rows(once, never)
    assert [] == rows(once, f"{never} {once}")


PHRASES = {
    "Hindi": ("हम आपका डेटा साझा कर सकते हैं", "हम आपका डेटा बेच कर सकते हैं", "ग्राहक कृपया पढ़ें", "धन्यवाद और नमस्ते"),
    "Tamil": ("நாங்கள் உங்கள் தரவைப் பகிரலாம் இன்று", "நாங்கள் உங்கள் தரவைப் விற்கலாம் இன்று", "வணக்கம்", "நன்றி"),
    "Arabic": ("قَدْ نُشَارِكُ بَيَانَاتِكَ مَعَ الآخَرِينَ", "قَدْ نَبِيعُ بَيَانَاتِكَ مَعَ الآخَرِينَ", "مَرْحَبًا", "شُكْرًا"),
    "Hebrew": ("אנחנו עשויים לשתף את המידע שלך", "אנחנו עשויים למכור את המידע שלך", "שלום", "תודה"),
    "Chinese": ("我们可能分享您的数据", "我们可能出售您的数据", "尊敬的客户", "谢谢"),
    "Japanese": ("データを共有することがあります", "データを販売することがあります", "お客様へ", "以上"),
    "Korean": (
        "우리는 당신의 데이터를 공유할 수 있습니다",
        "우리는 당신의 데이터를 판매할 수 있습니다",
        "안녕",
        "감사",
    ),
}


@pytest.mark.parametrize("script", PHRASES)
def test_phrases_are_compared_in_all_scripts(script):
    """A reworded one has both texts of the pages; new surroundings are silent."""
    phrase, reworded, before, after = PHRASES[script]
    old = page(f"{before} <b>{phrase}</b>。 {after}")
    (updated,) = Phrases(phrase).compare(old, page(f"{before} {reworded}。 {after}"))
    (deleted,) = Phrases(phrase).compare(old, page(f"{before} {after}"))

    assert ((phrase, reworded),) == updated.updated
    assert ((phrase,), ()) == (deleted.deleted, deleted.updated)
    assert () == Phrases(phrase).compare(old, page(f"{before} \u200f{phrase} · {after} 2"))


def counts(old, new):
    rows = compare_objects("links", Counter(old).elements(), Counter(new).elements())
    return {row.object: (row.old, row.new) for row in rows}


def test_worked_example_of_the_thesis():
    """Figures 5.9 and 5.11: d is deleted, a and e are new, b and c are unchanged."""
    assert {"d": (2, 0), "a": (0, 1), "e": (0, 1)} == counts({"d": 2, "b": 2, "c": 2}, {"a": 1, "c": 2, "b": 2, "e": 1})


def test_worked_example_with_keywords():
    """It has the same result through pages and keywords."""
    old, new = page("d d b b c c"), page("a c c b b e")
    rows = [row for keyword in "abcde" for finding in Keywords(keyword).compare(old, new) for row in finding.objects]

    assert {"d": (2, 0), "a": (0, 1), "e": (0, 1)} == {row.object: (row.old, row.new) for row in rows}


OBJECTS = [
    ("links", "<a href=/a>1</a><a href=/a>2</a><a href=/a>3</a>", "<a href=/a>1</a><a href=/a>2</a>", [("/a", 3, 2)]),
    ("images", "<img src=/x>", "", [("/x", 1, 0)]),
    ("images", "", "<img src=/x>", [("/x", 0, 1)]),
    ("links", "<a href=/a>one</a><a href=/a>two</a>", "<a href=/a>two</a><a href=/a>other</a>", []),
    ("links", "<a href=/a>one</a>", "<a href=/a>two</a>", []),
    ("links", "<a href=/a>1</a><a href=/b>2</a>", "<a href=/b>2</a><a href=/a>1</a>", []),
    ("links", "<a href=/Aa>1</a>", "<a href=/BB>1</a>", [("/BB", 0, 1), ("/Aa", 1, 0)]),
]


@pytest.mark.parametrize(("kind", "old", "new", "rows"), OBJECTS)
def test_objects_are_compared_by_count(kind, old, new, rows):
    """Anchor texts and order do not matter, and no hash code is used as a name."""
    found = KINDS[kind].compare(page(old), page(new))

    assert rows == [(row.object, row.old, row.new) for finding in found for row in finding.objects]


def test_changed_anchor_text_is_a_change_of_words():
    """It is no change of links."""
    old, new = page("<a href=/a>one</a>"), page("<a href=/a>two</a>")

    assert () == KINDS["links"].compare(old, new)
    assert (("one", "two"),) == KINDS["words"].compare(old, new)[0].updated


def test_paragraph_that_becomes_a_list_is_no_change():
    """Its words are the same."""
    assert () == KINDS["any"].compare(page("one two three"), page("<ul><li>one<li>two<li>three</ul>"))


def test_swapped_words_are_two_edits():
    """From a b c d to a c b d one word is deleted and one inserted, whichever of the two."""
    (finding,) = KINDS["words"].compare(page("a b c d"), page("a c b d"))

    assert 1 == sum(edit.old_end - edit.old_start for edit in finding.edits)
    assert 1 == sum(edit.new_end - edit.new_start for edit in finding.edits)


# The slips of the thesis' code, detection §1.3.

SLIPS = {
    # what went wrong there: (term, old, new, (old count, new count) or None for no change)
    "1 equal hash codes are taken for equal words: gone": ("Aa", "Aa", "BB", (1, 0)),
    "1 equal hash codes are taken for equal words: come": ("BB", "Aa", "BB", (0, 1)),
    "2 the third condition is always true: a word between the bounds": ("b", "a c", "b", (0, 1)),
    "2 the third condition is always true: words outside the bounds": ("z", "m n", "a z", (0, 1)),
    "3 an empty old set fails": ("a", "", "a b", (0, 1)),
    "3 an empty new set": ("a", "a b", "", (1, 0)),
    "3 both sets empty": ("a", "", "", None),
    "4 counts are dropped: fewer": ("a", "a a a", "a a", (3, 2)),
    "4 counts are dropped: more": ("a", "a", "a a a", (1, 3)),
    "5 absent is -1": ("a", "b", "b c", None),
}


@pytest.mark.parametrize(("term", "old", "new", "expected"), SLIPS.values(), ids=list(SLIPS))
def test_errors_of_the_thesis_in_keywords_are_corrected(term, old, new, expected):
    """Strings are compared, empty sides are not special, and counts are never below 0."""
    rows = [
        (row.old, row.new)
        for finding in Keywords(term, exact=True).compare(page(old), page(new))
        for row in finding.objects
    ]

    assert ([] if expected is None else [expected]) == rows


@pytest.mark.parametrize(("term", "old", "new", "expected"), SLIPS.values(), ids=list(SLIPS))
@pytest.mark.parametrize("rules", [STRICT, RESOLVED], ids=["strict", "resolved"])
def test_errors_of_the_thesis_in_phrases_are_corrected(term, old, new, expected, rules):
    """A phrase of one word is found as often as the keyword, in both ways."""
    before, after = (words_of(page(body), exact=True).words for body in (old, new))
    change = compare_phrase(before, after, words_of_term(term, exact=True), rules)
    reported = Counter(edit.status[0] for edit in change.edits)

    assert (expected or (change.old, change.old)) == (change.old, change.new)
    assert (expected is not None) == bool(reported["i"] or reported["d"] or reported["u"])
