"""Retention on both databases: pictures, withheld bodies, and what cannot be removed (sentinels
§6.1).
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.stores import World, sha256
from tidings.clock import DAY, SECOND
from tidings.errors import StaleEpochError
from tidings.model.observed.unit import ComparisonRow, Estimate, Quarantined, SentinelMove
from tidings.model.observed.version import Blob
from tidings.model.watch.sentinel import History
from tidings.storage.observed import estimates, hints, pages, versions
from tidings.storage.observed.hints import HintRow
from tidings.storage.watches import sentinels
from tidings.storage.write import retention
from tidings.storage.write.retention import Terms


def terms(world: World, later: int, history: History | None = None) -> Terms:
    """Return the terms at `later` µs after now: ten days for changes, five for withheld bodies."""
    return Terms(
        at=world.at + later,
        undo=DAY,
        young=DAY,
        age=10 * DAY,
        afterlife=5 * DAY,
        values=20 * DAY,
        history=lambda text: history,
    )


def test_expired_pictures_and_withheld_bodies_are_removed(world: World):
    """A withheld body stays while the state of the page names it.

    The bodies that may be unused are returned.
    """
    world.watch()
    for body in (b"one", b"two", b"three"):
        picture = b"picture of " + body
        unit = world.make_stored(body, cursors=(world.cursor(taken=(world.state().last_seq + 1,)),))
        assert unit.version is not None
        version = replace(unit.version, screenshot=sha256(picture))
        blob = Blob(sha256(picture), len(picture), "", 0, picture)
        world.commit(replace(unit, version=version, blobs=(*unit.blobs, blob)))
    for kind in (b"wall", b"error"):
        held = Quarantined(page_id=1, at=world.at, kind="blocked", sha256=sha256(kind), reason="")
        state = replace(world.state(), suspect_sha256=sha256(b"error"))
        world.commit(world.unit(page=state, quarantined=(held,), blobs=(Blob(sha256(kind), len(kind), "", 0, kind),)))
    day = terms(world, DAY + SECOND)
    week = terms(world, 7 * DAY)

    assert [1, 2] == world.read(retention.dead, 1, day)
    assert 0 == world.read(retention.withheld, 1, day)
    gone = world.write(retention.let_go, 1, week, epoch=world.epoch, limit=10)
    expected = {sha256(body) for body in (b"one", b"picture of one", b"two", b"picture of two", b"wall")}
    assert (2, 1, expected) == (gone.versions, gone.withheld, set(gone.named))
    assert [3] == [v.seq for v in world.read(versions.listing, 1)]
    assert [sha256(b"error")] == [row.sha256 for row in world.read(versions.withheld, 1)]
    assert expected == set(world.read(retention.orphans, 100))
    assert all(world.write(retention.remove_body, name, (), epoch=world.epoch) for name in sorted(expected))
    assert [] == world.faults()


def test_needed_body_cannot_be_removed(world: World):
    """A version or a delta needs it. A stale epoch cannot remove anything."""
    world.report_change()
    one = world.read(versions.blob, sha256(b"one"))
    assert one is not None
    world.write(versions.put_blobs, [replace(one, base=sha256(b"two"))])

    assert not world.write(retention.remove_body, sha256(b"one"), (), epoch=world.epoch)
    assert not world.write(retention.remove_body, sha256(b"two"), (), epoch=world.epoch)
    with pytest.raises(StaleEpochError):
        world.write(retention.let_go, 1, terms(world, 90 * DAY), epoch=world.epoch - 1, limit=10)


@pytest.mark.parametrize(
    ("history", "later", "expected"),
    [
        (None, 9 * DAY, []),
        (None, 11 * DAY, [1]),
        (History(changes=1), 90 * DAY, []),
        (History(age=2 * DAY), 3 * DAY, [1]),
    ],
    ids=["inside the setting", "outside the setting", "the last change", "an age of its own"],
)
def test_versions_of_a_kept_change_stay(world: World, history: History | None, later: int, expected: list[int]):
    """A change is kept for the ChangeHistory of its sentinel, or else for the operator's setting."""
    world.report_change()

    assert expected == world.read(retention.dead, 1, terms(world, later, history))


@pytest.mark.parametrize(("after", "expected"), [(DAY, []), (DAY + 1, [1, 2])])
def test_what_a_dropped_sentinel_needs_stays_while_the_drop_can_be_undone(
    world: World, after: int, expected: list[int]
) -> None:
    """Its baseline, the versions of its owed comparison, and its values, however short the
    afterlife is.
    """
    world.report_change()
    row = ComparisonRow(subscription_id=1, page_id=1, from_seq=1, to_seq=2, revision=1, status="pending")
    world.commit(world.unit(comparisons=(row,)))
    world.write(sentinels.drop, 1, world.at + 30 * DAY)
    at = replace(terms(world, 30 * DAY + after), afterlife=0, age=0)

    assert expected == world.read(retention.dead, 1, at)
    assert len(expected) == world.write(retention.let_go, 1, at, epoch=world.epoch, limit=10).versions
    assert [] == world.faults()


def test_learned_state_of_an_unwatched_page_is_removed_after_five_days(world: World):
    """A page is watched by a sentinel, paused or not, or as a frame of a watched page."""
    for name, key in (("dropped", "a"), ("paused", "b"), ("framing", "c"), ("young", "e")):
        world.watch(name, key)
    page_ids = {key: world.write(pages.ensure, world.page(key)) for key in "abcde"}
    world.write(
        lambda c: c.execute(
            "INSERT INTO page_member (page_id, position, member_id) VALUES (:c, 0, :d)",
            c=page_ids["c"],
            d=page_ids["d"],
        )
    )
    for key, page_id in page_ids.items():
        at = world.at + (5 * DAY if key == "e" else 0)
        world.write(estimates.put, [Estimate(page_id=page_id, name="noise", state={}, at=at)])
        world.write(hints.put, [], [HintRow(page_id, "signal", (at,), {}, at)])
    for name in ("dropped", "young"):
        world.write(sentinels.drop, world.read(sentinels.find, name).id, world.at)
    world.write(
        sentinels.move, SentinelMove(sentinel_id=world.read(sentinels.find, "paused").id, state="disabled", at=world.at)
    )

    assert 0 == world.write(retention.forget_learned, terms(world, 5 * DAY), epoch=world.epoch)
    assert 2 == world.write(retention.forget_learned, terms(world, 6 * DAY), epoch=world.epoch)
    left = {page_ids[key] for key in "bcde"}
    assert left == set(world.read(estimates.load_all, "noise"))
    assert left == {row.page_id for row in world.read(hints.load)[1]}
    with pytest.raises(StaleEpochError):
        world.write(retention.forget_learned, terms(world, 6 * DAY), epoch=world.epoch - 1)
