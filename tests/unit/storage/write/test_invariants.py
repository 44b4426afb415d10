from __future__ import annotations

import pytest

from tests.stores import World, sha256
from tidings.storage.observed import members
from tidings.storage.write.invariants import check

ONE, TWO = sha256(b"one"), sha256(b"two")

FAULTS = {
    "a version with another's number": ("UPDATE version SET seq = 3 WHERE seq = 2", "newest version is 2, but it is 3"),
    "a gap between versions": (
        "DELETE FROM version WHERE seq = 1",
        "page 1 has 1 versions and has let go of 0, but 2 were stored",
    ),
    "a deleted version that a cursor needs": (
        "DELETE FROM version WHERE seq = 2",
        "subscription 1 needs version 1.2, which is not there",
    ),
    "equal neighbours": (f"UPDATE version SET sha256 = '{ONE}'", "has the body of the version before it"),
    "a page with an older last version": ("UPDATE page SET last_seq = 1", "says that its newest version is 1"),
    "a lost body": (f"DELETE FROM blob WHERE sha256 = '{ONE}'", f"the body {ONE} is named, but missing"),
    "a cycle of deltas": (
        f"UPDATE blob SET base = CASE sha256 WHEN '{ONE}' THEN '{TWO}' ELSE '{ONE}' END",
        "go in a circle",
    ),
    "a lost picture": ("UPDATE version SET screenshot = 'ff' WHERE seq = 2", "the body ff is named, but missing"),
    "a lost base": (f"UPDATE blob SET base = 'ff' WHERE sha256 = '{ONE}'", "leans on ff"),
    "another body": (f"UPDATE blob SET frame = x'00' WHERE sha256 = '{ONE}'", "is not the one that was kept"),
    "a body without bytes": (f"UPDATE blob SET frame = NULL WHERE sha256 = '{ONE}'", "cannot be restored"),
    "a lost event": ("DELETE FROM event WHERE seq = 2", "the newest event has number 1"),
    "a gap between events": ("DELETE FROM event WHERE seq = 1", "there are gaps"),
    "a change without its event": ("UPDATE change SET event_seq = 1", "change change has no event"),
    "a change of no version": ("UPDATE change SET to_seq = 9", "names version 1.9"),
    "a change backwards": ("UPDATE change SET from_seq = 2", "goes from version 2 to 2"),
    "news of the future": ("UPDATE delivery SET last_seq = 9", "names the events 2 to 9"),
    "a poll that was not charged": ("UPDATE poll SET charged_at = finished_at + 1", "was not charged before"),
    "a failed poll that made a version": ("UPDATE poll SET outcome = 'error' WHERE id = 2", "polls that stored one"),
    "a cursor to nowhere": ("UPDATE subscription SET taken = '[7]'", "points to version 7"),
    "a comparison without its version": (
        "INSERT INTO comparison (subscription_id, page_id, from_seq, to_seq, revision, status, at) VALUES (1, 1, 2, 5, 1, 'pending', 0)",
        "owed a comparison with version 1.5",
    ),
    "a charge of a later epoch": ("UPDATE poll SET epoch = 9", "charged in epoch 9"),
}


FRAME_FAULTS = {
    "a member too few": (
        "DELETE FROM version_member WHERE position = 2",
        "has 2 frames, but its members stand at [0, 1]",
    ),
    "members of a page without": ("UPDATE version SET frames = 0 WHERE page_id = 1", "has 0 frames"),
    "another member": ("UPDATE version_member SET key = 'b' WHERE position = 1", "is not named after its members"),
    "a holder with another key": ("UPDATE page SET key = 'b' WHERE id = 1", "is not the page itself"),
    "a member that its page does not have": (
        "UPDATE version_member SET seq = 9 WHERE position = 1",
        "has no such body",
    ),
    "a gap between frames": (
        "UPDATE page_member SET position = 5 WHERE position = 1",
        "names 2 frames, the last of them at place 5",
    ),
}


@pytest.mark.parametrize("name", FRAME_FAULTS)
def test_planted_fault_of_frames_is_found(world: World, name: str):
    """Each violation of the rules for versions with frames is reported; without it nothing is."""
    text, expected = FRAME_FAULTS[name]
    world.watch()
    world.write(members.ensure, [world.page("menu"), world.page("text")])
    world.commit(world.make_stored(b"menu", page_id=2))
    world.commit(world.make_stored(b"text", page_id=3))
    world.commit(world.make_framed(b"base", {2: b"menu", 3: b"text"}))
    assert [] == world.faults()
    world.database._driver._raw.execute("PRAGMA foreign_keys = OFF")  # type: ignore[attr-defined]
    world.write(lambda c: c.execute(text))

    assert any(expected in fault for fault in world.faults()), world.faults()


@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_is_found(world: World, name: str):
    """Each violation of an invariant is reported in a sentence; without it nothing is."""
    text, expected = FAULTS[name]
    world.report_change()
    assert [] == world.faults()
    world.database._driver._raw.execute("PRAGMA foreign_keys = OFF")  # type: ignore[attr-defined]
    world.write(lambda c: c.execute(text))

    assert any(expected in fault for fault in world.faults()), world.faults()


def test_event_without_a_delivery_is_found(world: World):
    """A sentinel that is notified at once must have a delivery for each event (I-3)."""
    world.report_change()
    later = world.news(world.change(id="later"), world.endpoint())
    world.commit(world.unit(changes=later["changes"], events=later["events"]))

    assert ["I-3: event 3 of sentinel 1, which is notified at once, has no delivery"] == world.faults()


def test_bodies_are_verified_only_if_they_can_be_restored(world: World):
    """Without a function that restores bodies, the other invariants are checked."""
    world.report_change()
    world.write(lambda c: c.execute("UPDATE blob SET frame = NULL"))

    assert [] == world.read(check)
    assert 2 == len(world.faults())
