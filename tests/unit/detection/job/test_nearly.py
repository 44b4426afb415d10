"""An old version that is derived from the new one is what parsing its body gives."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.detection.job.contract import Body
from tidings.detection.job.examiner import parse_body
from tidings.detection.job.gates import digest_of
from tidings.detection.job.nearly import derive_old
from tidings.document.document import Document

PAGE = (
    "<!doctype html><html><head><title>Stock</title></head><body><h1>Stock</h1><!-- <i>note</i> -->"
    "<script>var a = '<b>inside</b>';</script><p>left <b>bo</b>ld right</p><ul><li><a href='/one'>One</a>"
    "<li>Two words</ul><table> <tr><td>1,299.00<td>café</table><pre>\nas it\n is</pre><p>twin<p>twin"
    "<p>R&amp;D<p>{}<textarea>typed</textarea><p>$19<sup>99</sup><p>last</body></html>"
)
EDITS = [
    ("edition 1", "edition 2"),
    ("edition 1", "another and longer, with 1,000.50 in it"),
    ("café", "thé"),
    ("bo</b>", "co</b>"),
    ("left ", "right "),
    ("ld right", "ld  left\n right"),
    ("One", "Eins"),
    ("1,299.00", "1,199.00"),
    ("last", "last words"),
    ("twin", "other"),
]
NOT_DERIVED = [
    ("$19", "19"),
    ("as it\n is", "as it\n was"),
    ("edition 1", "twin"),
    ("Stock", "Shares"),
    ("note", "comment"),
    ("inside", "outside"),
    ("/one", "/two"),
    ("R&amp;D", "R&amp;E"),
    ("edition 1", "edition <b>2</b>"),
    ("edition 1", " "),
    ("edition 1", ""),
    ("edition 1", "a&lt;b"),
]


def read(text: str, charset: str = "utf-8") -> tuple[Body, Document]:
    """Return a body and its document."""
    body = Body(data=text.encode(charset), content_type="text/html", url="http://a.example/", charset=charset)
    return body, parse_body(body)


def derive(old_text: str, new_text: str) -> tuple[Document, Document | None]:
    """Return the old document as it is parsed, and as it is derived from the new one."""
    (old_body, old), (new_body, new) = read(old_text), read(new_text)
    return old, derive_old(new, new_body, old_body, digest_of(old, seed=7), digest_of(new, seed=7), 7)


def describe(document: Document) -> dict[str, object]:
    """Return all that comparisons ask of a document."""
    names = ("pieces", "links", "link_places", "images", "marks", "title", "scripts", "charset", "text", "chunks")
    more = ("tokens", "canonical", "lines", "line_ends", "words", "folded_text")
    whole = {name: getattr(document, name) for name in (*names, *more)}
    count = len(document.tokens)
    return whole | {"texts": [document.get_text(at, min(at + 3, count)) for at in range(count)]}


@pytest.mark.parametrize(("was", "now"), EDITS)
def test_one_text_differs(was, now):
    """A page in which one text was edited is derived, whatever stands there."""
    page = PAGE.format("edition 1")
    new = page.replace(was, now, 1)

    old, derived = derive(page, new)

    assert derived is not None
    assert describe(old) == describe(derived)


@pytest.mark.parametrize(("was", "now"), NOT_DERIVED)
def test_what_is_more_is_parsed(was, now):
    """An edit of markup, of what is not shown or stands twice, of an entity, of cents."""
    page = PAGE.format("edition 1")

    _, derived = derive(page, page.replace(was, now, 1))

    assert derived is None


def test_two_edits_are_parsed():
    """Two texts that differ are more than one."""
    page = PAGE.format("edition 1")

    _, derived = derive(page, page.replace("left ", "far ").replace("last", "least"))

    assert derived is None


@pytest.mark.parametrize(("was", "now"), [("a, b", "a b"), ("a b", "a, b")])
def test_a_sign_is_parsed(was, now):
    """Where only signs differ, the digest cannot tell which text of the page was edited: here its title."""
    page = "<title>{}</title><p>" + now + "<p>more"

    _, derived = derive(page.format(was), page.format(now))

    assert derived is None


def test_shares_are_kept_with_what_is_known():
    """A derived document has the shares of its version, and its tokens are not made again."""
    (old_body, old), (new_body, new) = read(PAGE.format("edition 1")), read(PAGE.format("edition 2"))

    derived = derive_old(new, new_body, old_body, digest_of(old, seed=7), digest_of(new, seed=7), 7, (0.25,))

    assert derived is not None
    assert (0.25,) == derived.changed_shares
    assert {"_counted", "chunks", "canonical"} <= vars(derived).keys()


@pytest.mark.parametrize("wrong", ["text", "links"])
def test_digest_decides(wrong):
    """What is derived and is not what was stored is not believed."""
    (old_body, old), (new_body, new) = read(PAGE.format("edition 1")), read(PAGE.format("edition 2"))
    digest = digest_of(old, seed=7)
    other = (
        replace(digest, text="0" * 32) if wrong == "text" else replace(digest, objects={**digest.objects, "links": "0"})
    )

    assert derive_old(new, new_body, old_body, digest, digest_of(new, seed=7), 7) is not None
    assert derive_old(new, new_body, old_body, other, digest_of(new, seed=7), 7) is None
    assert derive_old(new, new_body, old_body, None, digest_of(new, seed=7), 7) is None


def test_bytes_of_another_charset_are_parsed():
    """Bodies in two charsets are not one text."""
    old_body, old = read(PAGE.format("edition 1"), "utf-8")
    new_body, new = read(PAGE.format("edition 2"), "cp1252")

    assert derive_old(new, new_body, old_body, digest_of(old, seed=7), digest_of(new, seed=7), 7) is None


TEXTS = st.text(st.sampled_from("ab1 \n.,-$é\u00a0\u0301’<>&;\r\t/"), max_size=12)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_whatever_the_texts(before, was, now, behind):
    """Whatever two texts are and stand between, the derived document is the parsed one."""
    page = f"<p>{before}<b>{{}}</b>{behind}<p><a href='/a'>one</a> two <i>three</i>"

    old, derived = derive(page.replace("{}", was), page.replace("{}", now))

    if derived is not None:
        assert describe(old) == describe(derived)
