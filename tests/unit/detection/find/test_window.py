"""Which versions are compared, and which are kept (sentinels §4.4; W-14, W-63)."""

from collections.abc import Iterator

import pytest

from tidings.detection.find.window import Window, after, is_partial, reference, switch
from tidings.model.watch.sentinel import Compare

PAIRWISE = Compare()
TABLE = {
    "pairwise": (PAIRWISE, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], (10,)),
    "moving 3": (Compare("moving", 3), [0, 1, 1, 1, 2, 3, 4, 5, 6, 7], (8, 9, 10)),
    "every 3": (Compare("every", 3), [0, 0, 0, 1, 0, 0, 4, 0, 0, 7], (10,)),
    "first": (Compare("first"), [0, 1, 1, 1, 1, 1, 1, 1, 1, 1], (1,)),
}
OPTIONS = [PAIRWISE, Compare("first"), *(Compare(mode, n) for mode in ("moving", "every") for n in range(1, 9))]


def life(compare: Compare, versions: int) -> Iterator[tuple[int, Window, int]]:
    """Yield (number, window before it, version that it is compared with) of each version in turn."""
    window = Window()
    for seq in range(1, versions + 1):
        yield seq, window, reference(compare, window)
        window = after(compare, window, seq)


@pytest.mark.parametrize("name", TABLE)
def test_compared_versions_agree_with_the_table(name):
    """Ten versions are compared, and kept, as the table of sentinels §4.4 says."""
    compare, compared, kept = TABLE[name]
    window = Window()
    for seq in range(1, 11):
        window = after(compare, window, seq)

    assert compared == [seen for _, _, seen in life(compare, 10)]
    assert kept == window.needed


def test_window_is_partial_until_it_is_full():
    """Of `moving 3` the second and third version are compared with a nearer one; no other option
    does so.
    """
    flags = {
        name: [is_partial(row[0], w) and seen > 0 for _, w, seen in life(row[0], 6)] for name, row in TABLE.items()
    }

    assert [False, True, True, False, False, False] == flags.pop("moving 3")
    assert not any(flag for row in flags.values() for flag in row)


@pytest.mark.parametrize("compare", OPTIONS, ids=lambda c: f"{c.mode} {c.n}")
def test_kept_versions_are_the_least_that_suffice(compare):
    """For n ≤ 8 and 60 versions: each is compared as the formulas say, and is kept exactly as long
    as a later one needs it.
    """
    formulas = {
        "pairwise": lambda k: k - 1,
        "moving": lambda k: max(k - compare.n, min(1, k - 1)),
        "every": lambda k: k - compare.n if k > 1 and (k - 1) % compare.n == 0 else 0,
        "first": lambda k: min(1, k - 1),
    }
    lives = list(life(compare, 60 + compare.n))
    needed = {k: {seen for later, _, seen in lives if later > k and 0 < seen <= k} for k in range(1, 60)}

    assert [formulas[compare.mode](k) for k in range(1, 60)] == [seen for _, _, seen in lives[:59]]
    assert needed == {k: set(window.needed) for k, (_, window, _) in enumerate(lives[1:60], 1)}


@pytest.mark.parametrize("after_", OPTIONS, ids=lambda c: f"to {c.mode} {c.n}")
@pytest.mark.parametrize("before", OPTIONS, ids=lambda c: f"{c.mode} {c.n}")
def test_altered_compare_repeats_and_loses_nothing(before, after_):
    """The first comparison after it begins at a version up to which all was reported, and no
    further back than the kept ones.
    """
    window = Window()
    reported_to = 1
    for seq in range(1, 13):
        reported_to = seq if reference(before, window) or not window.needed else reported_to
        window = after(before, window, seq)
    now = switch(before, after_, window, 12)
    if before == after_:
        assert window == now
        return
    seq = 13
    while not (found := reference(after_, now)):
        now = after(after_, now, seq)
        seq += 1

    assert found <= reported_to
    assert found == reported_to or (before.mode == "moving" and after_.mode == "moving")
