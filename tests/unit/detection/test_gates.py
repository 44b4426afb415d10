import dataclasses

from tidings.detection.gates import are_equal, digest_of, is_current
from tidings.document.parse import parse


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


def test_seed_makes_other_digests():
    """An installation's digests cannot be aimed at from outside."""
    document = parse(b"<p>a<a href=x>")

    assert not any(are_equal([name], digest_of(document), digest_of(document, seed=7)) for name in ("text", "links"))
