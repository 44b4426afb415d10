"""Promise: the user chooses which versions are compared, and each sentinel counts versions for
itself (W-14, W-63, W-85).
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.clock import HOUR
from tidings.isolation.runner import Died
from tidings.isolation.runners import InProcess
from tidings.service.run.monitor import Monitor
from tidings.storage.watches import subscriptions

EXPECTED = {
    "pairwise": [(k - 1, k) for k in range(2, 11)],
    "moving 3": [(1, 2), (1, 3), *((k - 3, k) for k in range(4, 11))],
    "every 3": [(1, 4), (4, 7), (7, 10)],
    "first": [(1, k) for k in range(2, 11)],
}


def pairs(world: World, sentinel: str) -> list[tuple[int, int]]:
    """Return the two versions of each change of a sentinel."""
    ends = [(c["from_version"], c["to_version"]) for c in world.changes(sentinel)]
    return [(int(old.partition(".")[2]), int(new.partition(".")[2])) for old, new in ends]


async def edit(world: World, monitor: Monitor, *bodies: str) -> None:
    """Serve each body for an hour."""
    for body in bodies:
        world.page("/a", f"<p>{body}</p>")
        await world.pass_time(monitor, HOUR)


def test_each_option_compares_the_versions_of_the_table(world: World):
    """W-14, W-63: four sentinels on one page with ten versions, across a restart, follow sentinels
    §4.4. An incomplete window is marked as partial; retention follows the table too.
    """
    for number, compare in enumerate(EXPECTED):
        world.add(
            f"Create Sentinel s{number} Using {{/a}} Monitor all words Fetch every 1 hour Compare {compare} Notify by console immediate"
        )

    with serve(world) as service:
        service.run(edit(world, service.monitor, *(f"word{k}" for k in range(1, 6))))
    with serve(world) as service:
        service.run(edit(world, service.monitor, *(f"word{k}" for k in range(6, 11))))

    assert EXPECTED == {compare: pairs(world, f"s{number}") for number, compare in enumerate(EXPECTED)}
    assert [True, True, *[False] * 7] == [c.get("partial", False) for c in world.changes("s1")]
    assert not any("partial" in c for name in ("s0", "s2", "s3") for c in world.changes(name))
    kept = [row.taken for row in world.read(subscriptions.listing)]
    assert [(10,), (8, 9, 10), (10,), (1,)] == kept
    assert [] == world.violations()


def test_slow_sentinel_is_independent_of_a_fast_one(world: World):
    """W-85: one polls every hour, one every three.

    The slow one compares its own versions only, and its `every 2` counts those.
    """
    world.add("Create Sentinel quick Using {/a} Monitor all words Fetch every 1 hour")
    world.add("Create Sentinel slow Using {/a} Monitor all words Fetch every 3 hour")
    world.add("Create Sentinel sparse Using {/a} Monitor all words Fetch every 3 hour Compare every 2")

    with serve(world) as service:
        service.run(edit(world, service.monitor, *(f"word{k}" for k in range(1, 14))))

    assert [(k - 1, k) for k in range(2, 14)] == pairs(world, "quick")
    assert [(1, 3), (3, 6), (6, 9), (9, 12)] == pairs(world, "slow")
    assert [(1, 6), (6, 12)] == pairs(world, "sparse")


def test_confirm_makes_the_newest_version_the_reference(world: World):
    """`Compare first` compares with an approved version.

    Confirm approves the present one, also across a restart.
    """
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour Compare first")

    with serve(world) as service:
        service.run(edit(world, service.monitor, "one", "two", "three"))
        world.add("Confirm s")
        service.run(edit(world, service.monitor, "four", "three", "two"))
    play(world, lambda monitor: edit(world, monitor, "one"))

    assert [(1, 2), (1, 3), (3, 4), (3, 6), (3, 7)] == pairs(world, "s")
    assert [("three", "four"), ("three", "two"), ("three", "one")] == [
        (u["old"], u["new"]) for c in world.changes("s")[2:] for u in c["updated"]
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("first", "pairwise", [(1, 2), (1, 3), (3, 4), (4, 5)]),
        ("pairwise", "first", [(1, 2), (2, 3), (3, 4), (3, 5)]),
        ("every 5", "pairwise", [(1, 4), (4, 5)]),
        ("moving 3", "every 2", [(1, 2), (1, 3), (3, 5)]),
    ],
)
def test_altered_compare_is_no_change_of_the_page(
    world: World, before: str, after: str, expected: list[tuple[int, int]]
):
    """After `Alter … Compare` nothing is reported twice and nothing is lost."""
    world.add(f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 1 hour Compare {before}")

    with serve(world) as service:
        service.run(edit(world, service.monitor, "one", "two", "three"))
        world.add(f"Alter s Compare {after}")
        service.run(edit(world, service.monitor, "three", "four", "five"))

    assert expected == pairs(world, "s")


def test_failed_comparison_is_retried_with_its_own_reference(world: World, monkeypatch: pytest.MonkeyPatch):
    """A job that dies leaves the comparison pending; it is made once when a job succeeds."""
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour Compare moving 2")
    lives = InProcess.run
    deaths: list[object] = []

    async def dies(runner: InProcess, fn: Any, job: object, **more: Any) -> Any:
        if len(deaths) < 1:
            deaths.append(job)
            return Died("crash", "killed")
        return await lives(runner, fn, job, **more)

    with serve(world) as service:
        service.run(edit(world, service.monitor, "one", "two", "three"))
        monkeypatch.setattr(InProcess, "run", dies)
        service.run(edit(world, service.monitor, "four"))

    assert [1] == [len(deaths)]
    assert [(1, 2), (1, 3), (2, 4)] == pairs(world, "s")
    assert [] == world.violations()
