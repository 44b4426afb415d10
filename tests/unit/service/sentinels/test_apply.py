"""Files are the source of truth: what they name is made, and what they name no more goes."""

import pytest

from tidings.clock import DAY, HOUR, SECOND
from tidings.errors import SentinelError, UsageError
from tidings.model.observed.unit import SentinelMove
from tidings.service.sentinels import apply, edit, register
from tidings.service.sentinels.apply import Step
from tidings.service.sentinels.author import Author
from tidings.service.sentinels.edit import APPLIED, is_of_files
from tidings.storage.watches import events, sentinels

NOW = 1_700_000_000 * SECOND
ONE = "Create Sentinel {} Using https://{}.example/ Monitor any change {}"


class House:
    def __init__(self, world):
        self.world = world

    def apply(self, *texts, now=NOW, prune=False):
        """Apply files with these texts; return what happens to each name."""
        files = {f"{number}.sentinel": text for number, text in enumerate(texts)}
        found = self.world.write(apply.apply, files, settings=self.world.settings, now=now, prune=prune)
        return [(step.name, step.action) for step in found.steps]

    def add(self, text):
        register.register(self.world.database, text, settings=self.world.settings, now=NOW)

    def names(self):
        return {row.name for row in self.world.read(sentinels.listing) if row.state != "ended"}

    def row(self, name="a"):
        return self.world.read(sentinels.find, name)


@pytest.fixture
def house(world):
    return House(world)


def test_sentinels_of_files_are_made_altered_or_left(house):
    """In the order of the files; others pages make another one."""
    text = f"{ONE.format('a', 'a', '')}; {ONE.format('b', 'b', '')}"

    assert [("a", "created"), ("b", "created"), ("c", "created")] == house.apply(text, ONE.format("c", "c", ""))
    assert [("a", "unchanged"), ("b", "unchanged")] == house.apply(text)
    other = f"{ONE.format('a', 'a', 'Fetch every 2 hour')}; {ONE.format('b', 'other', '')}"
    assert [("a", "altered"), ("b", "replaced")] == house.apply(other)
    assert {"a", "b", "c"} == house.names()


@pytest.mark.parametrize("life", ["", "To first change", "To 2023-12-01", "To now + 1 day", "For 2 hour"])
def test_ended_sentinel_stays_ended(house, life):
    """A nightly apply of the same file begins nothing anew, however the sentinel ended."""
    house.apply(ONE.format("a", "a", life))
    row = house.row()
    house.world.write(sentinels.move, SentinelMove(sentinel_id=row.id, state="ended", at=NOW + DAY, reason="x"))

    assert [("a", "unchanged")] * 2 == [house.apply(ONE.format("a", "a", life), now=NOW + 90 * DAY)[0] for _ in "12"]
    assert (row.id, "ended") == (house.row().id, house.row().state)


@pytest.mark.parametrize("life", ["", "To first change"])
def test_ended_sentinel_begins_anew_with_another_text_or_after_a_drop(house, life):
    """Both are done on purpose, and once."""
    house.apply(ONE.format("a", "a", life))
    house.world.write(sentinels.move, SentinelMove(sentinel_id=house.row().id, state="ended", at=NOW, reason="x"))
    other = ONE.format("a", "a", f"Fetch every 2 hour {life}")

    assert [[("a", "replaced")], [("a", "unchanged")]] == [house.apply(other), house.apply(other)]
    house.world.write(sentinels.drop, house.row().id, NOW)
    assert [[("a", "created")], [("a", "unchanged")]] == [house.apply(other), house.apply(other)]


@pytest.mark.parametrize("resume_at", [None, NOW + 3 * DAY])
def test_paused_sentinel_with_another_address_is_still_paused(house, resume_at):
    """It is another sentinel, paused for as long, and the step says so."""
    house.apply(ONE.format("a", "a", ""))
    pause = SentinelMove(sentinel_id=house.row().id, state="disabled", at=NOW, reason="by you", resume_at=resume_at)
    house.world.write(sentinels.move, pause)
    files = {"0.sentinel": ONE.format("a", "other", "")}
    (step,) = house.world.write(apply.apply, files, settings=house.world.settings, now=NOW).steps

    assert ("replaced", "its pages differ; it is still disabled") == (step.action, step.reason)
    assert ("disabled", resume_at, "by you") == (house.row().state, house.row().resume_at, house.row().reason)
    assert [("a", "unchanged")] == house.apply(files["0.sentinel"])


def test_sentinel_of_files_that_is_edited_is_still_of_the_files(house):
    """The web gave it another address: prune still drops it, and marks it once."""
    house.apply(ONE.format("a", "a", ""))
    text, author = ONE.format("a", "other", ""), Author()
    house.world.write(edit.replace_text, house.row(), text, settings=house.world.settings, now=NOW, author=author)

    assert house.world.read(is_of_files, house.row().id)
    house.apply(text)
    assert 2 == len(house.world.read(events.listing, types=(APPLIED,)))
    assert [("a", "dropped")] == house.apply("", prune=True)


@pytest.mark.parametrize("prune", [False, True])
def test_only_what_files_made_is_dropped(house, prune):
    """And only if it was asked for; all else is left alone and named."""
    house.add(f"{ONE.format('own', 'o', '')}; Create Event mine Using webhook")
    house.apply(f"{ONE.format('a', 'a', '')}; Create Event deploy Using webhook; {ONE.format('b', 'b', '')}")
    steps = house.apply(ONE.format("b", "b", ""), prune=prune)

    left = [("own", "left alone"), ("a", "dropped"), ("deploy", "dropped"), ("mine", "left alone")]
    assert [("b", "unchanged"), *(left if prune else [])] == [steps[0], *sorted(steps[1:], key=left.index)]
    assert ({"own", "b"} if prune else {"own", "a", "b"}) == house.names()
    assert (True, False) == tuple(house.world.read(is_of_files, house.row(name).id) for name in ("b", "own"))


def test_sentinel_of_a_file_that_was_made_by_hand_is_of_the_files_then(house):
    """It is pruned once no file has it."""
    house.add(ONE.format("a", "a", ""))
    assert [("a", "unchanged")] == house.apply(ONE.format("a", "a", ""))

    assert [("a", "dropped")] == house.apply("", prune=True)


def test_relative_date_counts_from_the_creation(house):
    """It does not move at each apply; another one does."""
    text = ONE.format("a", "a", "To now + 7 day")
    house.apply(text)
    assert [("a", "unchanged")] == house.apply(text, now=NOW + DAY)
    assert NOW + 7 * DAY == house.row().end_at
    assert [("a", "altered")] == house.apply(ONE.format("a", "a", "To now + 8 day"), now=NOW + DAY)
    assert NOW + 9 * DAY == house.row().end_at


def test_files_know_each_other(house):
    """A sentinel derives from one of another file; defaults are those of all files, in any order."""
    derived = f"Create Sentinel b Using a Monitor links; {ONE.format('c', 'c', 'Tags t')}"
    found = house.apply(ONE.format("a", "a", ""), derived, "Defaults For Tags t Fetch every 3 hour")

    assert [("a", "created"), ("b", "created"), ("c", "created")] == found
    assert "a.example" in house.row("b").text
    assert "every 3 hour" in house.row("c").text


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("Create Sentinel b Using", SentinelError),
        ("Drop a", UsageError),
        ("Alter a Monitor links", UsageError),
        ("Create Sentinel b Using file:///etc/passwd Monitor any change", UsageError),
    ],
)
def test_nothing_is_written_unless_all_files_are_valid(house, text, error):
    """Problems name their file."""
    house.apply(ONE.format("a", "a", ""))
    with pytest.raises(error) as caught:
        house.apply(ONE.format("c", "c", ""), text)

    assert {"a"} == house.names()
    if error is SentinelError:
        assert "1.sentinel:" in str(caught.value)


def test_event_that_a_sentinel_waits_for_is_not_dropped(house):
    """The sentinel goes first, if no file has it either."""
    waits = ONE.format("a", "a", "Fetch on event(deploy)")
    house.apply(f"Create Event deploy Using webhook; {waits}")
    house.add("Create Event other Using webhook")
    house.add(ONE.format("own", "o", "Fetch on event(deploy)"))
    with pytest.raises(UsageError):
        house.apply("", prune=True)
    assert {"a", "own"} == house.names()
    house.add("Drop own")

    assert {("a", "dropped"), ("deploy", "dropped")} <= {*house.apply("", prune=True)}


def test_event_made_again_by_hand_is_not_of_the_files(house):
    """The mark was of an earlier one of that name."""
    house.apply("Create Event deploy Using webhook", now=NOW - HOUR)
    house.add("Drop Event deploy")
    house.add("Create Event deploy Using webhook")

    assert [("deploy", "left alone")] == house.apply("", prune=True)


def test_difference_has_only_the_clauses_that_differ():
    """Removed ones first."""
    step = Step(
        "a",
        "altered",
        "Create Sentinel a\n  Monitor links\n  Tags t",
        before="Create Sentinel a\n  Monitor any change\n  Tags t",
    )

    assert ["- Monitor any change", "+ Monitor links"] == step.difference
