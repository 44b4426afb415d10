"""What is remembered of a place: news, volatile, rotating."""

import itertools
import json
from dataclasses import replace

import pytest

from tidings.detection.noise.memory import MOST_THINGS, Memory, Place, Thing, from_plain, to_plain

PLACE = Place(b"the latest news", b"contact us", 12)


def thing(**more):
    return Thing(id=PLACE.id, sort="words", place=PLACE, **more)


def learn_contents(contents, *, quick=(), start=None, before=0):
    """Return a place after polls with these contents; polls numbered in `quick` came a minute after
    the one before.
    """
    one = start or thing()
    for number, (old, new) in enumerate(itertools.pairwise(contents), 1):
        one = one.observe(old, new, before=before, is_second=number in quick, at=number)
    return one


def test_content_that_differs_at_each_poll_and_within_a_minute_is_volatile():
    """Five polls are needed, two of them second polls: one alone may have met real news."""
    assert ["", "volatile", ""] == [
        learn_contents(contents, quick=quick).verdict
        for contents, quick in (("abcde", (2, 4)), ("abcdef", (2, 4)), ("abcdef", (2,)))
    ]


def test_content_that_differs_only_over_hours_is_news():
    """The front page of a newspaper differs every hour and is never masked."""
    assert "" == learn_contents([*map(str, range(60))]).verdict
    assert "" == learn_contents(["a", "a", *map(str, range(60))], quick=(1,)).verdict


def test_content_that_returned_twice_and_differs_within_a_minute_is_rotating():
    """Then its known contents are noise, and a new one is news."""
    one = learn_contents("abab", quick=(2, 3))

    assert "rotating" == one.verdict
    assert one.covers("a", "b")
    assert not one.covers("b", "c")


def test_unchanged_content_does_not_count_as_returned():
    """A return is a change back to an earlier content."""
    assert [0, 1, 2] == [learn_contents(contents).returns for contents in ("aaaa", "aba", "abbab")]
    assert (1, 0) == (
        learn_contents("ab").miss(before=0).lost,
        learn_contents("bb", start=learn_contents("ab").miss(before=0)).lost,
    )


def test_new_content_stays_news_until_it_is_reported():
    """It came at a poll without a report, and is still there at the next."""
    stays = learn_contents("cc", start=learn_contents("ababc", quick=(2, 3)))
    returns = learn_contents("cac", start=stays)

    assert ("rotating", False, True) == (stays.verdict, stays.covers("b", "c"), stays.covers("c", "a"))
    assert returns.covers("a", "c")


def test_returning_text_is_news_each_time():
    """`SALE`, nothing, `SALE` are events as long as it never differs within minutes."""
    assert "" == learn_contents(["", "SALE"] * 6, quick=()).verdict
    assert "" == learn_contents(["", "SALE", "SALE", "", "SALE", ""], quick=(2,)).verdict


def test_noise_that_rests_is_forgotten_slowly():
    """It is news again after some hundred polls, and not after ten."""
    noisy = learn_contents([*map(str, range(40))], quick=(3, 20))

    assert "volatile" == noisy.rest(3).verdict
    assert "" == noisy.rest(300).verdict
    assert not noisy.rest(400).is_worth_keeping


def test_quiet_second_polls_remove_a_mask():
    """A block that was noise and became news is reported again."""
    noisy = learn_contents([*map(str, range(10))], quick=(3, 5))
    calm = learn_contents(["a", "a", "a", "b"], quick=(1, 2, 3), start=noisy)

    assert ("volatile", "") == (noisy.verdict, calm.verdict)


def test_rotating_place_survives_some_quiet_second_polls():
    """One of two contents is unchanged every other time; real news is unchanged at all of them."""
    rotating = learn_contents("abab", quick=(2, 3))
    few, many = (learn_contents("b" * (n + 1), quick=range(1, n + 1), start=rotating) for n in (5, 13))

    assert ["rotating", "rotating", ""] == [one.verdict for one in (rotating, few, many)]
    assert "" == learn_contents("ababbbbbbb", quick=(2, *range(4, 10))).verdict  # it never was


def test_since_is_the_time_when_it_became_noise():
    """It is not when it was first seen."""
    assert 5 == learn_contents([*map(str, range(9))], quick=(2, 4)).since


def test_memory_is_small_json():
    """It is restored unchanged, and has some kilobytes at most."""
    things = [
        Thing(id=f"{n:06x}", sort="words", place=Place(b"word " * 12, b"word " * 8, 9), seen=("12345678",) * 8, changed=float(n), examples=("x" * 60, "y" * 60))
        for n in range(80)
    ]  # fmt: skip
    memory = Memory(polls=7, seconds=2).with_things([*things, learn_contents("abcdefg", quick=(2, 4))])
    text = json.dumps(to_plain(memory))

    assert json.loads(text) == to_plain(from_plain(json.loads(text)))
    assert MOST_THINGS == len(memory.things)
    assert PLACE.id in {kept.id for kept in memory.masks}
    assert len(text) < 40_000


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (learn_contents("ab"), True),
        (learn_contents("aa"), False),
        (learn_contents("aab", quick=(1,)), True),
        (learn_contents("abcdefg", quick=(2, 4)), False),
    ],
)
def test_second_poll_is_made_if_it_can_decide(one, expected):
    """It cannot for unchanged places and for noise."""
    assert expected == one.is_doubtful


def test_polls_that_are_close_by_chance_prove_nothing():
    """Content that differs at each poll is news until second polls find it different too."""
    assert "" == learn_contents([*map(str, range(60))], quick=(7,)).verdict
    assert "volatile" == learn_contents([*map(str, range(60))], quick=(7, 9)).verdict


def test_second_polls_end_after_some_quiet_ones():
    """It is three times for content that only changes, six times for one that returns; eight are
    made if one differed.
    """
    assert [True, False] == [
        learn_contents("abb" + "c" * n, quick=(2, *range(4, 4 + n - 1))).is_doubtful for n in (2, 3)
    ]
    assert [True, False] == [learn_contents("abab" + "b" * n, quick=range(4, 4 + n)).is_doubtful for n in (5, 6)]
    assert [True, False] == [learn_contents("ab" + "b" * n, quick=range(1, n + 1)).is_doubtful for n in (7, 8)]


def test_masked_content_that_stays_is_settled_once():
    """It needs five polls if it differed at each; second polls do not count."""
    noisy = learn_contents([*map(str, range(10))], quick=(3, 5))
    still = learn_contents("9" * 5, start=noisy)

    assert (True, 5, 1) == (noisy.owed, noisy.polls_to_settle, still.polls_to_settle)
    assert 1 == learn_contents("99", quick=(1,), start=still).polls_to_settle
    settled = Memory(things=(learn_contents("99", start=still),)).settle()
    assert (PLACE.id,) == settled.settled
    assert () == settled.settle().settled


def test_masked_page_is_reported_once():
    """All that was found in the newest ten polls is within masks, and no other news was reported."""
    noisy = learn_contents([*map(str, range(10))], quick=(3, 5))
    memory = Memory(things=(noisy,)).with_findings(7, 11, [noisy.id]).with_findings(7, 12, [noisy.id, "time"])

    assert {noisy.id} == memory.silences(7, 12)
    assert set() == memory.with_findings(7, 13, None).silences(7, 14)
    assert {noisy.id} == memory.with_findings(7, 13, None).with_findings(7, 23, [noisy.id]).silences(7, 23)
    assert set() == replace(memory, reported={7: (noisy.id,)}).silences(7, 12)


def test_masks_survive_an_upgrade():
    """Older data has evidence only from close polls: nothing is reported for it, and second polls
    judge it again.
    """
    plain = to_plain(Memory(polls=9, seconds=4, things=(learn_contents([*map(str, range(10))], quick=(3, 5)),)))
    old = {name: plain[name] for name in ("polls", "seconds", "things")}
    old["things"] = [{**plain["things"][0], "quick": 0.98, "slow": 0.1}]
    (kept,) = from_plain(old).things

    assert ("volatile", 0) == (kept.verdict, from_plain(old).seconds)
    assert "" == learn_contents("99999", quick=(1, 2, 3, 4), start=kept).verdict


def test_noise_beside_another_difference_is_in_doubt():
    """A second poll shows which part is noise."""
    noisy = learn_contents("abcdef", quick=(2, 4))

    assert (False, True) == (noisy.is_doubtful, replace(noisy, apart=True).is_doubtful)
    assert not replace(thing(), apart=True).is_doubtful


def test_second_polls_are_returned_for_renamed_noise():
    """This happens once for each place, if it was not found for six checks in a row and was noise
    for long.
    """
    noisy = learn_contents([*map(str, range(30))], quick=(3, 5))
    memory = Memory(things=(noisy,), seconds=8)
    found = []
    for _ in range(8):
        memory = memory.with_things(one.miss(before=0) for one in memory.things)
        found.append(memory.seconds)
    young = Memory(things=(replace(learn_contents("abcdef", quick=(2, 4)), lost=5),), seconds=8)

    assert [8, 8, 8, 8, 8, 5, 5, 5] == found
    assert 8 == young.with_things(one.miss(before=0) for one in young.things).seconds
