"""What an alteration changes, and what stays (sentinels §2.2)."""

import pytest

from tidings.clock import DAY, HOUR, SECOND
from tidings.detection.find import window
from tidings.language.parser import parse
from tidings.model.event_type import EventType
from tidings.model.observed.unit import CursorMove, SentinelMove
from tidings.model.watch.sentinel import Sentinel
from tidings.service.sentinels import alter, register
from tidings.service.watch import by_name
from tidings.storage.watches import events, sentinels, subscriptions

NOW = 1_700_000_000 * SECOND
ONE = "Create Sentinel {} Using https://{}.example/ Monitor any change {}"


@pytest.fixture
def house(world):
    """A database with functions to register, and to read sentinels and subscriptions."""
    return House(world)


class House:
    def __init__(self, world):
        self.world = world
        self.write, self.read = world.write, world.read

    def do(self, text, now=NOW):
        register.register(self.world.database, text, settings=self.world.settings, now=now)

    def row(self, name="a"):
        return self.read(sentinels.find, name)

    def sub(self, name="a"):
        (found,) = self.read(subscriptions.listing, sentinel_id=self.row(name).id)
        return found

    def move(self, name, state, at=NOW, reason=""):
        self.write(sentinels.move, SentinelMove(sentinel_id=self.row(name).id, state=state, at=at, reason=reason))

    def take(self, *, base, taken, number=1):
        """Let the sentinel take versions."""
        sub = self.sub()
        move = CursorMove(
            subscription_id=sub.id, revision=sub.revision, base=base, taken=taken, number=number, seen=taken[-1]
        )
        self.write(subscriptions.move, [move])

    def versions(self):
        sub = self.sub()
        return sub.base, sub.taken, sub.number


def test_same_meaning_changes_nothing(house):
    """However it is written."""
    house.do(ONE.format("a", "a", "Fetch every 2 hour"))
    before = house.row()
    house.do("Alter a Fetch every 120 min", now=NOW + HOUR)

    assert before == house.row()


@pytest.mark.parametrize(
    ("clause", "ticks_anew", "compares_anew"),
    [
        ("Notify by console immediate", False, False),
        ("Importance 0.7", False, False),
        ("Fetch every 3 hour", True, False),
        ("During mon 08:00-10:00", True, False),
        ("Zone Europe/Oslo", True, False),
        ("Monitor links", False, True),
        ('Select css "p"', False, True),
        ('Exclude css "p"', False, True),
        ("Transform sort", False, True),
        ("Compare first", False, True),
        ('Header "X" "y"', False, True),
    ],
)
def test_alteration_begins_anew_only_what_it_concerns(house, monkeypatch, clause, ticks_anew, compares_anew):
    """Receivers and importance neither; the schedule restarts ticks; comparison and request compare
    once more.
    """
    house.do(ONE.format("a", "a", "Fetch every 2 hour"))
    asked = {}
    stored = sentinels.alter

    def note(*given, **named):
        asked.update(named)
        return stored(*given, **named)

    monkeypatch.setattr(sentinels, "alter", note)
    house.do(f"Alter a {clause}")

    assert (ticks_anew, compares_anew) == (asked["ticks_anew"], asked["compares_anew"])
    assert 2 == house.row().revision


def calendar(clauses):
    (statement,) = parse(ONE.format("a", "a", clauses), now=NOW, known=lambda _: None).statements
    assert isinstance(statement, Sentinel)
    return alter.calendar(statement, NOW)


@pytest.mark.parametrize(
    ("clauses", "start", "end"),
    [
        ("", NOW, None),
        ("For 2 day", NOW, NOW + 2 * DAY),
        ("From now + 1 day For 2 day", NOW + DAY, NOW + 3 * DAY),
        ("To now + 3 day", NOW, NOW + 3 * DAY),
    ],
)
def test_calendar_has_the_dates_that_depend_on_nobody(clauses, start, end):
    """Relative ones count from the present."""
    assert (start, end) == calendar(clauses)


def test_date_of_another_sentinel_is_none_of_the_calendar(house):
    """It is computed when it is needed."""
    house.do(f"{ONE.format('b', 'b', '')}; {ONE.format('a', 'a', 'From end(b) For 2 day')}")

    assert (None, None) == (house.row().start_at, house.row().end_at)


def test_past_start_stays(house):
    """An altered end counts from it; before the start it counts from the alteration."""
    house.do(ONE.format("a", "a", "From now + 1 day For 2 day"))
    house.do("Alter a For 3 day", now=NOW + HOUR)
    start = NOW + HOUR + DAY
    assert (start, start + 3 * DAY) == (house.row().start_at, house.row().end_at)
    house.move("a", "enabled", start + SECOND)
    house.do("Alter a For 5 day", now=NOW + 2 * DAY)

    assert (start, start + SECOND + 5 * DAY) == (house.row().start_at, house.row().end_at)


@pytest.mark.parametrize(("fresh", "expected"), [(False, (1, (3,), 1)), (True, (0, (), 0))])
def test_enabled_sentinel_goes_on_or_begins_anew(house, fresh, expected):
    """Its next comparison spans the pause, or has a new baseline."""
    house.do(ONE.format("a", "a", ""))
    house.move("a", "enabled")
    house.take(base=1, taken=(3,))
    house.move("a", "disabled", NOW + HOUR)
    house.write(lambda c: alter.enable(c, sentinels.find(c, "a"), fresh=fresh, find=by_name.lives(c), now=NOW + DAY))

    assert ("enabled", expected) == (house.row().state, house.versions())


def test_start_within_a_pause_is_at_its_end(house):
    """One that is still to come is not moved."""
    house.do(
        f"{ONE.format('a', 'a', 'From now + 1 hour')}; {ONE.format('b', 'b', 'From now + 3 day')}; Disable a; Disable b"
    )
    house.do("Enable a; Enable b", now=NOW + DAY)

    assert ("created", NOW + DAY) == (house.row().state, house.row().start_at)
    assert ("created", NOW + 3 * DAY) == (house.row("b").state, house.row("b").start_at)


@pytest.mark.parametrize(("compare", "expected", "logged"), [("Compare first", (5, (5,), 1), 1), ("", (2, (5,), 4), 0)])
def test_confirmed_version_is_the_reference(house, compare, expected, logged):
    """The newest that was taken, for a sentinel that compares with the first."""
    house.do(ONE.format("a", "a", compare))
    house.take(base=2, taken=(5,), number=4)
    house.do("Confirm a", now=NOW + HOUR)

    confirmed = house.read(events.since, EventType.SENTINEL_CONFIRMED, 0)
    assert (expected, logged) == (house.versions(), len(confirmed))


@pytest.mark.parametrize(
    ("before", "taken", "after", "expected"),
    [
        ("Compare moving 3", (2, 3, 4), "Compare moving 2", (2, (3, 4), 2)),
        ("Compare moving 3", (2, 3, 4), "Compare first", (2, (4,), 1)),
        ("Compare first", (2, 3, 4), "Compare moving 3", (4, (4,), window.TO_BEGIN)),
        ("Compare first", (4,), "Compare moving 3", (4, (4,), window.TO_BEGIN)),
        ("Compare moving 3", (2, 3, 4), "Compare moving 3", (2, (2, 3, 4), 1)),
    ],
)
def test_other_comparison_begins_with_what_was_taken(house, before, taken, after, expected):
    """Nothing is reported twice, and nothing is lost."""
    house.do(ONE.format("a", "a", before))
    house.take(base=2, taken=taken)
    house.do(f"Alter a {after}")

    assert expected == house.versions()


def test_sentinel_without_a_version_has_nothing_to_confirm(house):
    """Its cursor stays at the beginning."""
    house.do(f"{ONE.format('a', 'a', 'Compare first')}; Confirm a")

    assert (0, ()) == house.versions()[:2]


def test_dates_of_a_dropped_sentinel_are_fixed_before_its_name_is_used_again(house):
    """What began after it began, ends with it; others of the same text do not depend on it."""
    house.do(
        f"{ONE.format('x', 'x', '')}; {ONE.format('after', 'a', 'From end(x) + 1 hour')}; {ONE.format('until', 'b', 'To end(x) + 2 hour')};"
        f" {ONE.format('other', 'c', 'From now + 3 day')}; {ONE.format('begun', 'd', 'From start(x)')}"
    )
    house.move("x", "enabled")
    house.move("begun", "enabled", NOW + SECOND)
    house.do("Drop x", now=NOW + HOUR)
    house.do(ONE.format("x", "y", ""), now=NOW + 2 * HOUR)

    found = {name: (house.row(name).start_at, house.row(name).end_at) for name in ("after", "until", "other", "begun")}
    assert {
        "after": (NOW + 2 * HOUR, None),
        "until": (NOW, NOW + 3 * HOUR),
        "other": (NOW + 3 * DAY, None),
        "begun": (None, None),
    } == found


def test_sentinel_that_can_never_start_ends_then(house):
    """It would begin with one that was dropped before it began."""
    house.do(f"{ONE.format('x', 'x', 'From now + 1 day')}; {ONE.format('after', 'a', 'From start(x)')}; Drop x")
    house.do(ONE.format("x", "y", ""), now=NOW + HOUR)

    assert "ended" == house.read(sentinels.last_of, "after").state
