import itertools
import json
from dataclasses import replace

import pytest

from tidings.detection.noise.memory import MOST_THINGS, Memory, Place, Thing, from_plain, to_plain

PLACE = Place(b"the latest news", b"contact us", 12)


def thing(**more):
    return Thing(id=PLACE.id, sort="words", place=PLACE, **more)


def learn_contents(contents, *, quick=(), start=None, before=0):
    """A thing after looks at these contents in turn; the looks numbered in `quick` came a minute after the one before."""
    one = start or thing()
    for number, (old, new) in enumerate(itertools.pairwise(contents), 1):
        one = one.hear(old, new, before=before, is_second=number in quick, at=number)
    return one


def test_what_differs_at_each_look_and_in_a_minute_is_volatile():
    """After five looks, two of them second looks: one alone may have come upon real news."""
    assert ["", "volatile", ""] == [
        learn_contents(contents, quick=quick).verdict
        for contents, quick in (("abcde", (2, 4)), ("abcdef", (2, 4)), ("abcdef", (2,)))
    ]


def test_what_differs_at_each_look_and_not_in_a_minute_is_news():
    """The front page of a newspaper differs every hour and is never silenced, however long it goes on."""
    assert "" == learn_contents([*map(str, range(60))]).verdict
    assert "" == learn_contents(["a", "a", *map(str, range(60))], quick=(1,)).verdict


def test_what_came_back_twice_and_differs_in_a_minute_is_rotating():
    """Then its known contents are noise, and a new one is news."""
    one = learn_contents("abab", quick=(2, 3))

    assert "rotating" == one.verdict
    assert one.covers("a", "b")
    assert not one.covers("b", "c")


def test_what_stays_as_it_is_does_not_return():
    """A return is a change back to what was there before; what is found again is lost no more."""
    assert [0, 1, 2] == [learn_contents(contents).returns for contents in ("aaaa", "aba", "abbab")]
    assert (1, 0) == (
        learn_contents("ab").miss(before=0).lost,
        learn_contents("bb", start=learn_contents("ab").miss(before=0)).lost,
    )


def test_something_new_stays_news_while_it_is_shown():
    """Until everybody has looked: at a look that nobody was told of it came, and at theirs it stands there still."""
    stays = learn_contents("cc", start=learn_contents("ababc", quick=(2, 3)))
    returns = learn_contents("cac", start=stays)

    assert ("rotating", False, True) == (stays.verdict, stays.covers("b", "c"), stays.covers("c", "a"))
    assert returns.covers("a", "c")


def test_a_sign_that_comes_back_is_news_each_time():
    """`SALE`, nothing, `SALE`: two events and more, as long as it never differs within minutes."""
    assert "" == learn_contents(["", "SALE"] * 6, quick=()).verdict
    assert "" == learn_contents(["", "SALE", "SALE", "", "SALE", ""], quick=(2,)).verdict


def test_a_thing_that_rests_is_forgotten_slowly():
    """Noise for long, then still: it is news again after some hundred looks, and not after ten."""
    noisy = learn_contents([*map(str, range(40))], quick=(3, 20))

    assert "volatile" == noisy.rest(3).verdict
    assert "" == noisy.rest(300).verdict
    assert not noisy.rest(400).is_worth_keeping


def test_second_looks_that_find_it_still_take_a_mask_off():
    """A block that was noise and has become news is told again."""
    noisy = learn_contents([*map(str, range(10))], quick=(3, 5))
    calm = learn_contents(["a", "a", "a", "b"], quick=(1, 2, 3), start=noisy)

    assert ("volatile", "") == (noisy.verdict, calm.verdict)


def test_what_shows_few_things_in_turn_is_kept_through_some_that_find_it_still():
    """One of two contents is found as it was every other time; what has become news is so at all of them."""
    rotating = learn_contents("abab", quick=(2, 3))
    few, many = (learn_contents("b" * (n + 1), quick=range(1, n + 1), start=rotating) for n in (5, 13))

    assert ["rotating", "rotating", ""] == [one.verdict for one in (rotating, few, many)]
    assert "" == learn_contents("ababbbbbbb", quick=(2, *range(4, 10))).verdict  # it never was


def test_since_is_when_it_became_noise():
    """Not when it was first seen."""
    assert 5 == learn_contents([*map(str, range(9))], quick=(2, 4)).since


def test_a_memory_survives_as_json_and_stays_small():
    """What is stored is what was known, and some kilobytes at most."""
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
def test_a_second_look_is_wanted_where_it_would_tell(one, expected):
    """Not for what is still, and not for what is noise already."""
    assert expected == one.is_doubtful


def test_polls_that_happen_to_be_close_prove_nothing():
    """What differs at every poll is news until fetches made for that purpose find it different too."""
    assert "" == learn_contents([*map(str, range(60))], quick=(7,)).verdict
    assert "volatile" == learn_contents([*map(str, range(60))], quick=(7, 9)).verdict


def test_second_looks_end_where_they_have_found_a_place_as_it_was():
    """Three times for what only changes, six times for what returns; eight are made for what differed at one."""
    assert [True, False] == [
        learn_contents("abb" + "c" * n, quick=(2, *range(4, 4 + n - 1))).is_doubtful for n in (2, 3)
    ]
    assert [True, False] == [learn_contents("abab" + "b" * n, quick=range(4, 4 + n)).is_doubtful for n in (5, 6)]
    assert [True, False] == [learn_contents("ab" + "b" * n, quick=range(1, n + 1)).is_doubtful for n in (7, 8)]


def test_what_was_left_out_and_stays_is_settled_once():
    """Five polls for what differed at each; second looks count for nothing."""
    noisy = learn_contents([*map(str, range(10))], quick=(3, 5))
    still = learn_contents("9" * 5, start=noisy)

    assert (True, 5, 1) == (noisy.owed, noisy.polls_to_settle, still.polls_to_settle)
    assert 1 == learn_contents("99", quick=(1,), start=still).polls_to_settle
    settled = Memory(things=(learn_contents("99", start=still),)).settle()
    assert (PLACE.id,) == settled.settled
    assert () == settled.settle().settled


def test_a_silence_is_named_once_and_not_beside_other_news():
    """All that was found in the newest ten polls lies within masks, told at first or not."""
    noisy = learn_contents([*map(str, range(10))], quick=(3, 5))
    memory = Memory(things=(noisy,)).with_heard(7, 11, [noisy.id]).with_heard(7, 12, [noisy.id, "time"])

    assert {noisy.id} == memory.silences(7, 12)
    assert set() == memory.with_heard(7, 13, None).silences(7, 14)
    assert {noisy.id} == memory.with_heard(7, 13, None).with_heard(7, 23, [noisy.id]).silences(7, 23)
    assert set() == replace(memory, said={7: (noisy.id,)}).silences(7, 12)


def test_what_was_masked_stays_masked_at_an_upgrade():
    """Data of before has evidence from polls that were only close: nothing is told for that, second looks judge it anew."""
    plain = to_plain(Memory(polls=9, seconds=4, things=(learn_contents([*map(str, range(10))], quick=(3, 5)),)))
    old = {name: plain[name] for name in ("polls", "seconds", "things")}
    old["things"] = [{**plain["things"][0], "quick": 0.98, "slow": 0.1}]
    (kept,) = from_plain(old).things

    assert ("volatile", 0) == (kept.verdict, from_plain(old).seconds)
    assert "" == learn_contents("99999", quick=(1, 2, 3, 4), start=kept).verdict


def test_noise_of_which_something_else_differs_too_is_doubtful():
    """A second look says which part of it is noise."""
    noisy = learn_contents("abcdef", quick=(2, 4))

    assert (False, True) == (noisy.is_doubtful, replace(noisy, apart=True).is_doubtful)
    assert not replace(thing(), apart=True).is_doubtful


def test_second_looks_are_given_back_for_noise_that_edits_have_renamed():
    """Once for each, when it was not found for six checks in a row; not for what was noise for a short time."""
    noisy = learn_contents([*map(str, range(30))], quick=(3, 5))
    memory = Memory(things=(noisy,), seconds=8)
    found = []
    for _ in range(8):
        memory = memory.with_things(one.miss(before=0) for one in memory.things)
        found.append(memory.seconds)
    young = Memory(things=(replace(learn_contents("abcdef", quick=(2, 4)), lost=5),), seconds=8)

    assert [8, 8, 8, 8, 8, 5, 5, 5] == found
    assert 8 == young.with_things(one.miss(before=0) for one in young.things).seconds
