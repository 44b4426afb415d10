"""The cache of bodies never takes more memory than allowed."""

from tidings.archive.archive import BodyCache


def test_least_recently_used_body_is_evicted_first():
    """A read counts as a use."""
    bodies = BodyCache(10)
    bodies.keep("a", b"aaaa")
    bodies.keep("b", b"bbbb")
    bodies.get("a")
    bodies.keep("c", b"cccc")

    assert [b"aaaa", None, b"cccc"] == [bodies.get(name) for name in "abc"]


def test_keeping_a_body_twice_counts_once():
    """Otherwise repeated polls of one page would evict all others."""
    bodies = BodyCache(10)
    for _ in range(5):
        bodies.keep("a", b"aaaa")
    bodies.keep("b", b"bbbb")

    assert [b"aaaa", b"bbbb"] == [bodies.get(name) for name in "ab"]


def test_body_above_half_the_limit_is_not_cached():
    """One large body would evict all others."""
    bodies = BodyCache(10)
    bodies.keep("a", b"a")
    bodies.keep("b", b"b" * 6)

    assert [b"a", None] == [bodies.get(name) for name in "ab"]
