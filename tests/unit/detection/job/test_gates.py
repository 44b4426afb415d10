import dataclasses
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests import data_sets
from tidings.detection.job.contract import Body, Job, Wanted
from tidings.detection.job.examiner import examine, parse_body
from tidings.detection.job.gates import are_equal, derive_old, digest_of, is_current
from tidings.document.document import Document
from tidings.document.parse import parse
from tidings.model.watch.sentinel import Interest


def digest(body, url="http://x.org/"):
    return digest_of(parse(body.encode(), url=url))


def test_each_digest_sees_its_own_kind():
    """Text, links and images have digests of their own; a session moves the one with queries only."""
    first = digest("<p>a<a href=/l?s=1></a><img src=/i>")
    session = digest("<p>a<a href=/l?s=2></a><img src=/i>")

    assert not are_equal(["links"], first, session)
    assert are_equal(["text", "images", "links.plain", "images.plain"], first, session)
    assert not are_equal(["text"], first, digest("<p>b"))


def test_the_base_is_part_of_a_link():
    """The same relative link on a page that moved is another link."""
    assert not are_equal(["links.plain"], digest("<a href=l>"), digest("<a href=l>", "http://y.org/"))


def test_a_body_without_text_has_a_digest():
    """A PDF that changed has another text digest, so that estimators see it."""
    assert not are_equal(["text", "body"], digest("GIF89a a"), digest("GIF89a b"))
    assert are_equal(["text", "body"], digest("GIF89a a"), digest("GIF89a a"))


def test_a_digest_of_other_rules_is_not_compared():
    """Digests of an older tokenizer say nothing; neither does none."""
    now = digest("<p>a")

    assert is_current(now)
    assert not is_current(dataclasses.replace(now, rules_version=now.rules_version - 1))
    assert not is_current(dataclasses.replace(now, extraction="css"))
    assert not is_current(None)


def test_a_digest_that_somebody_watches_is_made_and_decides():
    """Lines are digested where they are asked for; a digest that only one side has says nothing."""
    one, same, other = (digest_of(parse(body), further=["lines"]) for body in (b"<p>a b", b"<p id=x>a b", b"<p>a<p>b"))

    assert {"lines"} == set(one.objects) - set(digest("<p>a b").objects)
    assert are_equal(["lines"], one, same)
    assert not are_equal(["lines"], one, other)
    assert not are_equal(["lines"], digest("<p>a b"), digest("<p>a b"))


def test_data_is_told_apart_by_its_structure():
    """The same words in another place are other data; what has no structure is told apart by its text alone."""
    one, other, plain = (
        digest_of(parse(body, media))
        for body, media in (
            (b'{"a": "b"}', "application/json"),
            (b'{"b": "a"}', "application/json"),
            (b"<p>a", "text/html"),
        )
    )

    assert [True, True, False] == ["structure" in digest.objects for digest in (one, other, plain)]
    assert not are_equal(["structure"], one, other)


def test_seed_makes_other_digests():
    """An installation's digests cannot be aimed at from outside."""
    document = parse(b"<p>a<a href=x>")

    assert not any(are_equal([name], digest_of(document), digest_of(document, seed=7)) for name in ("text", "links"))


@pytest.mark.parametrize(
    ("family", "step"), [("terms-html", 180), ("terms-text", 180), ("docs-text", 30), ("feed", 30)]
)
def test_no_verdict_is_ever_empty(family, step):
    """On real successive versions: what is told has edits or objects and a text, and the text has changed exactly where words have.

    `bench/detection.py` does the same with all pairs.
    """
    kinds = ("words", "any", "links", "images")
    wanted = tuple(Wanted(key=key, reference=1, expression=Interest(kind)) for key, kind in enumerate(kinds))
    for pair in data_sets.page_pairs(family)[::step]:
        old, new = (Body(data=data, content_type=pair.content_type) for data in (pair.old, pair.new))
        first = examine(Job(new=old, references={}, known={}, wanted=()))
        job = Job(new=new, references={1: old}, known={1: first.digest}, wanted=wanted, text_digest=first.digest.text)
        seen = examine(job)
        changes = {found.key: found.change for found in seen.found}

        assert "" == seen.problem
        assert all(change.edits or change.objects for change in changes.values()), pair.file
        assert all(change.inserted or change.deleted or change.updated or change.moved for change in changes.values())
        assert seen.text_changed == (0 in changes), pair.file


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
@example("", "\xa0", "1", "")
def test_whatever_the_texts(before, was, now, behind):
    """Whatever two texts are and stand between, the derived document is the parsed one."""
    page = f"<p>{before}<b>{{}}</b>{behind}<p><a href='/a'>one</a> two <i>three</i>"

    old, derived = derive(page.replace("{}", was), page.replace("{}", now))

    if derived is not None:
        assert describe(old) == describe(derived)
