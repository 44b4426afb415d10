"""Conditions on texts and patterns use the visible text: invisible characters and other spellings
hide no word.
"""

import pytest

from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.ask.summary import summary
from tidings.document.extract import extract
from tidings.document.html.lines import matches_of
from tidings.document.parse import parse
from tidings.document.select.extraction import Extraction
from tidings.model.observed.change import ChangeSet, Edit
from tidings.model.watch.interest import Condition, Interest, Pattern, Transform

WRITTEN = {
    "Versicherung": "Ver&shy;sicherung",
    "Ministerium": "Mini\u200bste\u2060rium",
    "can't": "can\u2019t",
    "e-mail": "e\u2011mail",
    "caf\u00e9": "cafe\u0301",
    "no risk": "no&nbsp;risk",
    "\u05e9\u05dc\u05d5\u05dd": "\u05e9\u05dc\u200e\u05d5\u05dd",
}
"""What is asked for, and how pages write it."""
CASES = [pair for sought, page in WRITTEN.items() for pair in ((sought, page), (page.replace("&shy;", "\u00ad").replace("&nbsp;", "\u00a0"), sought))]  # fmt: skip


def page(body):
    return parse(
        f"<h1>Notice</h1><p>Open from nine.</p>{body}".encode(), "text/html", url="http://x.org/", keep_tree=True
    )


def report(interest, body):
    return evaluate(interest, Pair(page(""), page(body)))


@pytest.mark.parametrize(("sought", "written"), CASES)
@pytest.mark.parametrize("kind", ["contains", "matches", "items", "regex", "keyword"])
def test_every_text_condition_finds_the_word(kind, sought, written):
    """The page or the sentinel may write it in another way."""
    interest = {
        "contains": Interest("words", where=(Condition("contains", text=sought),)),
        "matches": Interest("words", where=(Condition("matches", text=sought),)),
        "items": Interest("list", where=(Condition("contains", text=sought),)),
        "regex": Interest("regex", pattern=sought),
        "keyword": Interest("keywords", terms=(sought,)),
    }[kind]
    body = f"<ul><li>the {written} of 2026</li></ul>"

    assert report(interest, body)
    assert not report(interest, body.replace(written, "other"))


@pytest.mark.parametrize(("sought", "written"), CASES)
@pytest.mark.parametrize("is_pattern", [False, True])
def test_matching_lines_are_kept(sought, written, is_pattern):
    """`Transform keep lines` drops the others."""
    extraction = Extraction(transform=(Transform("keep", sought, is_pattern),))
    kept = extract(page(f"<p>the {written} of 2026</p>"), extraction)

    assert 1 == len(kept.lines)


def test_match_is_shown_as_on_the_page():
    """Curly apostrophes and joiners stay; invisible characters are removed."""
    change = report(Interest("regex", pattern="c.n't \\w+"), "<p>we can\u2019t op&shy;en</p>")

    assert ("can\u2019t open",) == change.inserted


def test_other_spelling_of_a_match_is_no_change():
    """It has a soft hyphen, or a curly apostrophe."""
    pair = Pair(page("<p>we can't open"), page("<p>we can\u2019t op&shy;en"))

    assert not evaluate(Interest("regex", pattern="can't open"), pair)


def test_pattern_may_match_invisible_characters():
    """If the plain text has no match, the page's own text is searched."""
    assert report(Interest("regex", pattern=r"r\x{AD}s"), "<p>ver&shy;s")
    assert report(Interest("words", where=(Condition("matches", text=r"\x{2019}"),)), "<p>can\u2019t")
    assert report(Interest("regex", pattern="[a-\u2019]+"), "<p>ab\u2019")


@pytest.mark.parametrize(
    ("pattern", "line", "expected"),
    [
        (r"b(c)?(d)", "\u00e4b\u00add \u00e9 bcd", [(1, 4, "b\u00add", (None, "d")), (7, 10, "bcd", ("c", "d"))]),
        ("\u00e9(t)", "e\u0301t", [(0, 3, "e\u0301t", ("t",))]),
        ("x*", "a\u00ady", [(0, 0, "", ()), (2, 2, "", ()), (3, 3, "", ())]),
    ],
)
def test_matches_have_their_place_in_the_line(pattern, line, expected):
    """It is in characters of the page's own line, with groups."""
    assert expected == [(match.start, match.end, match.text, match.groups) for match in matches_of(pattern, line)]


def test_exclusions_and_replacements_use_the_visible_text():
    """They are `Exclude regex` and `Transform replace`."""
    text = page("<p>the Ver&shy;sicherung of 2026")
    without = extract(text, Extraction(exclude=(Pattern("Versicherung"),)))
    replaced = extract(text, Extraction(transform=(Transform("replace", "Versi(ch)erung", True, r"<\1>"),)))

    assert "the of 2026" == without.lines[-1]
    assert "the <ch> of 2026" == replaced.lines[-1]


@pytest.mark.parametrize(
    ("one", "other"), [("\u0130STANBUL", "istanbul"), ("DI\u015e", "d\u0131\u015f"), ("\u0130zmir", "\u0130ZM\u0130R"), ("KIRIK", "k\u0131r\u0131k"), ("i\u0307z", "IZ")]
)  # fmt: skip
@pytest.mark.parametrize("kind", ["keywords", "words"])
def test_turkish_letters_i_are_equal_without_case(kind, one, other):
    """The language of capitals is unknown, so each i matches each other."""
    for sought, written in ((one, other), (other, one)):
        interest = (
            Interest("keywords", terms=(sought,))
            if kind == "keywords"
            else Interest("words", where=(Condition("contains", text=sought),))
        )
        assert report(interest, f"<p>{written} 2026")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\u0dc1\u0dca\u200d\u0dbb\u0dd3 \u0dbd\u0d82\u0d9a\u0dcf\u0dc0", None),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", None),
        ("Ver\u00adsicherung", "Versicherung"),
        ("a\u200bb\u2060c", "abc"),
        ("\u202eevil\u202c", "evil"),
        ("a\x07b\nc", "a b c"),
    ],
)
def test_summary_has_whole_words(text, expected):
    """Joiners stay, invisible characters are removed, and control characters become spaces."""
    change = ChangeSet(("words",), inserted=(text,), edits=(Edit("insert", 0, 0, 0, 1),))

    assert f'added "{expected or text}"' == summary(change)
