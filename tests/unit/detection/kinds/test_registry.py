"""The change types together: words, links, images and bodies."""

import pytest

from tidings.detection.kinds.registry import KINDS
from tidings.document.parse import parse


def find(kind, old, new):
    return KINDS[kind].compare(parse(old.encode(), url="http://x.org/"), parse(new.encode(), url="http://x.org/"))


def kinds_of(kind, old, new):
    return [finding.kinds[0] for finding in find(kind, old, new)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<p>a b c</p>", "<ul><li>a<li>b<li>c</ul>"),
        ("<p>a</p>", "<p>a </p>\n"),
        ("<p>a</p>", "<p>a&nbsp;</p>"),
        ("<p>caf\u00e9 cr\u00e8me", "<p>cafe\u0301 cre\u0300me"),
        ("<p>שלום עולם", "<p>\u200fשלום\u200e \u202bעולם\u202c"),
        ("<p>&eacute;", "<p>&#233;"),
        ("<p>é", "<p>&eacute;"),
        ("<p>low risk", "<p>low&nbsp;risk"),
        ("<p>low risk", "<p>l&shy;ow ri\u200bsk"),
        ("<p>low risk", "<p><b>low</b> risk"),
        ("<p>low risk", "<p>lo<b>w</b> risk"),
        ("<p>low risk growth investing", "<p>low ri<!-- x -->sk growth investing"),
        ("<p>low risk growth investing", "<p>low risk<br>growth investing"),
        ("<p>Views", "<p class=x>Views<!-- other --><script>1</script>"),
        ("<a href=/a?session=1>l</a>", "<a href=/a?session=2>l</a>"),
        ("<img src=/i.png?v=1>", "<img src=/i.png?v=2>"),
        ("<a href=/a>l</a>", "<a href=http://X.org:80/a#top>l</a>"),
        ("<a href=javascript:a()>l</a>", "<a href=javascript:b()>l</a>"),
        ("<title>a</title><p>x", "<title>b</title><p>x"),
    ],
)
def test_changed_markup_is_no_change(old, new):
    """Vectors 24, 25, 27, 28 and 31 of detection §1.6, changedetection.io 712, and sessions are
    not.
    """
    assert [] == kinds_of("any", old, new)


@pytest.mark.parametrize(
    ("kind", "old", "new", "expected"),
    [
        ("any", "<p>a", "<p>b", ["words"]),
        ("any", "a<a href=1></a>", "a<a href=2></a><img src=3>", ["links", "images"]),
        ("words", "<a href=1>a", "<a href=2>a", []),
        ("links", "<a href=1>a</a>", "<a href=1>b</a>", []),
        ("links", "<a href=1>a</a>", "<a href=1>a</a><a href=1>b</a>", ["links"]),
        ("links", "<a href=1>x</a><a href=2>y</a>", "<a href=2>y</a><a href=1>x</a>", []),
        ("links", "<a href=/a?s=1>l</a>", "<a href=/a?s=2>l</a>", ["links"]),
        ("images", "<img src=a>", "<img src=b>", ["images"]),
        ("images", "<img src=a alt=x>", "<img src=a alt=y>", []),
        ("any", "<p>5 €", "<p>5 $", ["words"]),
        ("any", "<p>👍", "<p>👎", ["words"]),
        ("any", '{"price": 5}', '{"price": 6}', ["words"]),
        ("any", "<rss><title>a</title></rss>", "<rss><title>b</title></rss>", ["words"]),
    ],
)
def test_each_kind_has_its_content(kind, old, new, expected):
    """Words are in order, links and images are multisets; an explicit kind keeps queries; a sign
    with a meaning is a word.
    """
    assert expected == kinds_of(kind, old, new)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"status", "header", "price", "availability"}])
def test_body_without_text_is_compared_as_a_whole(kind):
    """Another picture is a change for every kind that a body may have, never "unchanged"; the same
    picture is none.
    """
    assert ["body"] == [name for name in kinds_of(kind, "GIF89a a", "GIF89a b") if name == "body"]
    assert [] == kinds_of(kind, "GIF89a a", "GIF89a a")


def test_page_that_became_a_picture_is_a_change():
    """Its words are deleted, and a body is inserted."""
    assert ["words", "body"] == kinds_of("any", "<p>a", "GIF89a")


@pytest.mark.parametrize(("old", "new"), [("<li>A<li>B<li>C", "<li>B<li>A<li>C"), ("", "<p>SALE"), ("<p>SALE", "")])
def test_other_order_and_returned_text_are_changes(old, new):
    """A text that comes, goes and returns is one each time (changedetection.io 855, 2469)."""
    assert ["words"] == kinds_of("any", old, new)
