"""The bodies at hand never take more memory than allowed."""

from tidings.archive.archive import BodyCache


def test_least_used_goes_first():
    """When the bound is passed, the body not used for longest goes."""
    bodies = BodyCache(10)
    bodies.keep("a", b"aaaa")
    bodies.keep("b", b"bbbb")
    bodies.get("a")
    bodies.keep("c", b"cccc")

    assert [b"aaaa", None, b"cccc"] == [bodies.get(name) for name in "abc"]


def test_keeping_again_counts_once():
    """A body kept twice takes its room once."""
    bodies = BodyCache(10)
    for _ in range(5):
        bodies.keep("a", b"aaaa")
    bodies.keep("b", b"bbbb")

    assert [b"aaaa", b"bbbb"] == [bodies.get(name) for name in "ab"]


def test_giant_is_not_kept():
    """A body of more than half the room would push all others out and is not kept."""
    bodies = BodyCache(10)
    bodies.keep("a", b"a")
    bodies.keep("b", b"b" * 6)

    assert [b"a", None] == [bodies.get(name) for name in "ab"]
