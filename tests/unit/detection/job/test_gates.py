import dataclasses

import pytest

from tests import data_sets
from tidings.detection.job.contract import Body, Job, Wanted
from tidings.detection.job.examiner import examine
from tidings.detection.job.gates import are_equal, digest_of, is_current
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
