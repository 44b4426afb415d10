"""What the screens hold for users, and how much of it at once."""

from tidings.web.screens.desk import CachedCopies


def test_users_keep_their_copies_whoever_else_sends_some():
    """The newest of each user; all together have four times as many."""
    copies = CachedCopies[str](2)
    first = copies.keep("ada's", 1)
    bobs = [copies.keep(f"bob's {number}", 2) for number in range(9)]

    assert "ada's" == copies.get(first, 1)
    assert [None] * 7 + ["bob's 7", "bob's 8"] == [copies.get(name, 2) for name in bobs]
    for owner in range(3, 20):
        copies.keep("x", owner)
    assert 8 == len(copies)
