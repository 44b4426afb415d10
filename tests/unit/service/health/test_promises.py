"""Fixed intervals that cannot be kept are reported in advance."""

from dataclasses import replace

from tests.health import SETTINGS, watch
from tests.stores import SECOND
from tidings.clock import HOUR
from tidings.service.health import doctor
from tidings.settings import BudgetSettings


def list_promised(world, settings):
    """Return the findings about fixed intervals."""
    return world.read(lambda c: list(doctor.promises(c, settings=settings)))


def test_fixed_intervals_that_cannot_be_kept_are_reported(world):
    """The limit is the budget, or the gap of a host with too many pages."""
    watch(world, fetch="Fetch every 1 hour")
    (fine,) = list_promised(world, SETTINGS)
    tight = replace(SETTINGS, budget=BudgetSettings(polls_per_day=10))
    slow = replace(SETTINGS, fetch=replace(SETTINGS.fetch, host_gap_seconds=2 * HOUR / SECOND))
    (poor,) = list_promised(world, tight)
    (crowded,) = list_promised(world, slow)

    assert ("ok", "all can be kept: 1 page, 0% of the budget") == (fine.status, fine.detail)
    assert "warn" == poor.status
    assert "the budget cannot have all checks in time: they are 2.4 times" in poor.detail
    assert "2.0 times" in crowded.detail


def test_page_that_is_only_checked_by_then_has_no_interval(world):
    """The sentinel polls another page every hour, and this one when that one changes."""
    watch(world, fetch="Fetch every 1 hour")
    shown = watch(world, fetch="Fetch every 1 hour", key="b")
    text = (
        "Create Sentinel news-b Using http://a.example/ As A, http://b.example/ As B"
        " Monitor any change of A Then within 30 min check B Fetch every 1 hour"
    )
    of_page = "SELECT sentinel_id FROM subscription WHERE page_id = :page"
    world.write(lambda c: c.execute("UPDATE subscription SET label = 'B' WHERE page_id = :page", page=shown))
    world.write(
        lambda c: c.execute(
            f"UPDATE sentinel_revision SET text = :text WHERE sentinel_id IN ({of_page})", text=text, page=shown
        )
    )

    assert ["all can be kept: 1 page, 0% of the budget"] == [line.detail for line in list_promised(world, SETTINGS)]


def test_without_fixed_intervals_all_is_ok(world):
    """Pages on change use the rest of the budget."""
    watch(world)

    assert "ok" == list_promised(world, SETTINGS)[0].status
