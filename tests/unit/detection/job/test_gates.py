"""Gates: digests that show that nothing changed, and old documents derived from new ones."""

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
from tidings.document.select.extraction import Extraction
from tidings.model.watch.interest import Selector
from tidings.model.watch.sentinel import Interest


def digest(body, url="http://x.org/"):
    return digest_of(parse(body.encode(), url=url))


def test_each_kind_has_its_own_digest():
    """They are of text, links and images; a session changes only that with queries."""
    first = digest("<p>a<a href=/l?s=1></a><img src=/i>")
    session = digest("<p>a<a href=/l?s=2></a><img src=/i>")

    assert not are_equal(["links"], first, session)
    assert are_equal(["text", "images", "links.plain", "images.plain"], first, session)
    assert not are_equal(["text"], first, digest("<p>b"))


def test_base_is_part_of_a_link():
    """The same relative link on a page that moved is another link."""
    assert not are_equal(["links.plain"], digest("<a href=l>"), digest("<a href=l>", "http://y.org/"))


def test_body_without_text_has_a_digest():
    """A changed PDF has another text digest, which estimators see."""
    assert not are_equal(["text", "body"], digest("GIF89a a"), digest("GIF89a b"))
    assert are_equal(["text", "body"], digest("GIF89a a"), digest("GIF89a a"))


def test_digest_of_other_rules_is_not_compared():
    """Nor is a missing one."""
    now = digest("<p>a")

    assert is_current(now)
    assert not is_current(dataclasses.replace(now, rules_version=now.rules_version - 1))
    assert not is_current(dataclasses.replace(now, extraction="css"))
    assert not is_current(None)


def test_requested_digest_is_computed_and_decides():
    """Lines have one if asked for; one that only one side has decides nothing."""
    one, same, other = (digest_of(parse(body), further=["lines"]) for body in (b"<p>a b", b"<p id=x>a b", b"<p>a<p>b"))

    assert {"lines"} == set(one.objects) - set(digest("<p>a b").objects)
    assert are_equal(["lines"], one, same)
    assert not are_equal(["lines"], one, other)
    assert not are_equal(["lines"], digest("<p>a b"), digest("<p>a b"))


def test_structure_distinguishes_data():
    """The same words in another place are other data; without a structure the text alone decides."""
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


def test_structure_that_cannot_be_found_has_no_digest():
    """The comparison then runs, and reports the refusal."""
    whole = parse(b"<a><b/></a>", "text/xml", keep_tree=True)
    part = dataclasses.replace(whole, extraction=Extraction((Selector("xpath", "count(//b)"),)))

    assert [True, False] == ["structure" in digest_of(document).objects for document in (whole, part)]


def test_digests_depend_on_the_seed():
    """They cannot be predicted from outside."""
    document = parse(b"<p>a<a href=x>")

    assert not any(are_equal([name], digest_of(document), digest_of(document, seed=7)) for name in ("text", "links"))


@pytest.mark.parametrize(
    ("family", "step"), [("terms-html", 180), ("terms-text", 180), ("docs-text", 30), ("feed", 30)]
)
def test_reported_change_is_never_empty(family, step):
    """For real successive versions it has edits or objects and a text, and the text changed exactly
    if the words did. `bench/detection.py` tests all pairs.
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
    """Return all that comparisons read of a document."""
    names = ("pieces", "links", "link_places", "images", "marks", "title", "scripts", "charset", "text", "chunks")
    more = ("tokens", "canonical", "lines", "line_ends", "words", "folded_text")
    whole = {name: getattr(document, name) for name in (*names, *more)}
    count = len(document.tokens)
    return whole | {"texts": [document.get_text(at, min(at + 3, count)) for at in range(count)]}


@pytest.mark.parametrize(("was", "now"), EDITS)
def test_page_with_one_edited_text_is_derived(was, now):
    """The text may be anything."""
    page = PAGE.format("edition 1")
    new = page.replace(was, now, 1)

    old, derived = derive(page, new)

    assert derived is not None
    assert describe(old) == describe(derived)


@pytest.mark.parametrize(("was", "now"), NOT_DERIVED)
def test_page_with_another_edit_is_parsed(was, now):
    """It is an edit of markup, of invisible or repeated text, of an entity, or of cents."""
    page = PAGE.format("edition 1")

    _, derived = derive(page, page.replace(was, now, 1))

    assert derived is None


def test_page_with_two_edits_is_parsed():
    """Two texts differ."""
    page = PAGE.format("edition 1")

    _, derived = derive(page, page.replace("left ", "far ").replace("last", "least"))

    assert derived is None


@pytest.mark.parametrize(("was", "now"), [("a, b", "a b"), ("a b", "a, b")])
def test_page_with_other_signs_is_parsed(was, now):
    """The digest cannot show which text was edited: here it is the title."""
    page = "<title>{}</title><p>" + now + "<p>more"

    _, derived = derive(page.format(was), page.format(now))

    assert derived is None


def test_derived_document_has_the_shares_of_its_version():
    """Its tokens are not computed again."""
    (old_body, old), (new_body, new) = read(PAGE.format("edition 1")), read(PAGE.format("edition 2"))

    derived = derive_old(new, new_body, old_body, digest_of(old, seed=7), digest_of(new, seed=7), 7, (0.25,))

    assert derived is not None
    assert (0.25,) == derived.changed_shares
    assert {"_counted", "chunks", "canonical"} <= vars(derived).keys()


@pytest.mark.parametrize("wrong", ["text", "links"])
def test_derived_document_must_have_the_stored_digest(wrong):
    """Otherwise it is not used."""
    (old_body, old), (new_body, new) = read(PAGE.format("edition 1")), read(PAGE.format("edition 2"))
    digest = digest_of(old, seed=7)
    other = (
        replace(digest, text="0" * 32) if wrong == "text" else replace(digest, objects={**digest.objects, "links": "0"})
    )

    assert derive_old(new, new_body, old_body, digest, digest_of(new, seed=7), 7) is not None
    assert derive_old(new, new_body, old_body, other, digest_of(new, seed=7), 7) is None
    assert derive_old(new, new_body, old_body, None, digest_of(new, seed=7), 7) is None


def test_page_in_another_charset_is_parsed():
    """Two charsets do not give one text."""
    old_body, old = read(PAGE.format("edition 1"), "utf-8")
    new_body, new = read(PAGE.format("edition 2"), "cp1252")

    assert derive_old(new, new_body, old_body, digest_of(old, seed=7), digest_of(new, seed=7), 7) is None


TEXTS = st.text(st.sampled_from("ab1 \n.,-$é\u00a0\u0301’<>&;\r\t/"), max_size=12)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
@example("", "\xa0", "1", "")
def test_derived_document_is_the_parsed_one(before, was, now, behind):
    """This is so for all texts and their surroundings."""
    page = f"<p>{before}<b>{{}}</b>{behind}<p><a href='/a'>one</a> two <i>three</i>"

    old, derived = derive(page.replace("{}", was), page.replace("{}", now))

    if derived is not None:
        assert describe(old) == describe(derived)
