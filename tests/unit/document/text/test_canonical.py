from hypothesis import given

from tests.strategies import any_text, texts
from tidings.document.text.canonical import canonical_text, multiset_digest, text_digest
from tidings.document.text.words import tokens_of


@given(texts)
def test_canonical_text_is_the_tokens(text):
    """The quick way over bytes gives the tokens with one space between them."""
    assert " ".join(tokens_of(text)).encode() == canonical_text(text)


@given(any_text)
def test_equal_tokens_have_equal_canonical_text(text):
    """White space of any kind and length is no part of the canonical text."""
    spread = " \n\u00a0".join(text.split())

    assert canonical_text(text) == canonical_text(spread)


def test_digest_is_stable_and_seeded():
    """A digest is the same in every process; an installation's seed makes it another."""
    assert "c142a88dee936f125868096c16df7a8e" == text_digest(b"a b")
    assert text_digest(b"a b") != text_digest(b"a b", seed=1)
    assert text_digest(b"a b") != text_digest(b"a c")


def test_multiset_digest_knows_counts_and_no_order():
    """The same objects in another order are the same; one more of them is not."""
    assert multiset_digest(["a", "b", "a"]) == multiset_digest(["a", "a", "b"])
    assert multiset_digest(["a", "b"]) != multiset_digest(["a", "a", "b"])
    assert multiset_digest(["ab"]) != multiset_digest(["a", "b"])
