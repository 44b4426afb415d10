"""What comes next for a sentinel: its life, its checks and its messages."""

import pytest

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.model.observed.unit import SentinelMove
from tidings.record import replace
from tidings.service.explain.explain_sentinel import list_polls, list_prospects, roundly
from tidings.service.sentinels import register
from tidings.service.watch import by_name
from tidings.storage.watches import sentinels

NOW = 1_700_000_000 * SECOND
ONE = "Create Sentinel a Using https://a.example/ Monitor any change {}"


class House:
    def __init__(self, world):
        self.world = world

    def explain(self, clauses, *, state="enabled", now=NOW, settings=None, **more):
        """Return what comes next for a sentinel with these clauses."""
        world = self.world
        register.register(world.database, ONE.format(clauses), settings=world.settings, now=NOW)
        row = world.read(sentinels.find, "a")
        if state != "created":
            world.write(sentinels.move, SentinelMove(sentinel_id=row.id, state=state, at=NOW, reason="x"))
        return world.read(
            lambda c: [
                (one.what, one.at, one.why)
                for one in list_prospects(
                    c,
                    sentinels.get(c, row.id),
                    find=by_name.lives(c),
                    settings=settings or world.settings,
                    now=now,
                    **more,
                )
            ]
        )

    def check(self, at=NOW, **columns):
        """Let the page have been checked."""
        values = {"polled_at": at, "checked_at": at, "last_seq": 1} | columns
        text = ", ".join(f"{name} = :{name}" for name in values)
        self.world.write(lambda c: c.execute(f"UPDATE page SET {text}", **values))


@pytest.fixture
def house(world):
    return House(world)


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        (1, 0),
        (SECOND, SECOND),
        (3 * MINUTE - 1, 3 * MINUTE),
        (3 * MINUTE + 29 * SECOND, 3 * MINUTE),
        (3 * MINUTE + 31 * SECOND, 4 * MINUTE),
        (3 * HOUR - SECOND, 180 * MINUTE),
        (3 * HOUR + 29 * MINUTE, 3 * HOUR),
        (3 * DAY - HOUR, 71 * HOUR),
        (3 * DAY + 11 * HOUR, 3 * DAY),
    ],
)
def test_interval_is_shown_in_whole_units(period, expected):
    """From three of them on."""
    assert expected == roundly(period)


def test_ended_sentinel_has_nothing_to_come(house):
    """Neither life, checks nor messages."""
    assert [] == house.explain("Notify by console daily", state="ended")
    row = house.world.read(sentinels.last_of, "a") or house.world.read(sentinels.find, "a")
    assert [] == house.world.read(
        lambda c: [*list_polls(c, row, find=by_name.lives(c), settings=house.world.settings, now=NOW)]
    )


def test_messages_come_at_their_rate(house):
    """Those at once have no time."""
    found = house.explain("Notify by console every 2 hour Notify by console immediate", now=NOW + HOUR)

    assert [("news", NOW + 2 * HOUR)] == [(what, at) for what, at, _ in found if what == "news"]


def test_start_and_end_come_before_the_checks(house):
    """One that has not begun has no check yet."""
    found = house.explain("From now + 1 day For 2 day Fetch every 1 hour", state="created")

    assert [NOW + DAY, NOW + 3 * DAY] == [at for _, at, _ in found]


def test_no_check_comes_after_the_end(house):
    """It says so."""
    house.explain("For 1 hour Fetch at 08:00")
    house.check()
    row = house.world.read(sentinels.find, "a")
    (poll,) = house.world.read(
        lambda c: [*list_polls(c, row, find=by_name.lives(c), settings=house.world.settings, now=NOW + SECOND)]
    )

    assert poll.at is None
    assert poll.why.startswith("none, because the sentinel ends before that (")


@pytest.mark.parametrize(
    ("learned", "bounds", "expected", "how"),
    [
        ({}, "", None, "until more is known"),
        ({"period": 7200.0}, "", 2 * HOUR, "as it changes"),
        ({"period": 0.1}, "", SECOND, "as it changes"),
        ({"period": 7200.0}, " between 3 hour and 6 hour", 3 * HOUR, "as it changes"),
        ({"period": 72000.0}, " between 3 hour and 6 hour", 6 * HOUR, "as it changes"),
    ],
)
def test_check_on_change_comes_after_what_is_learned(house, learned, bounds, expected, how):
    """Within its bounds; before that after the pace."""
    settings = replace(house.world.settings, fetch=replace(house.world.settings.fetch, page_floor_seconds=1.0))
    house.explain(f"Fetch on change{bounds}")
    house.check()
    row = house.world.read(sentinels.find, "a")
    (poll,) = house.world.read(
        lambda c: [
            *list_polls(c, row, find=by_name.lives(c), settings=settings, now=NOW + SECOND, learned={1: learned})
        ]
    )

    pace = round(settings.schedule.pace_seconds) * SECOND
    assert how in poll.why
    assert NOW + (expected or pace) <= poll.at <= NOW + (expected or pace) + MINUTE
