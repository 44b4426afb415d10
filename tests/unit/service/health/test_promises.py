"""Whether fixed intervals can be kept is said before they are missed."""

from dataclasses import replace

from tests.health import SETTINGS, watch
from tests.stores import SECOND
from tidings.clock import HOUR
from tidings.service.health import promises
from tidings.settings import BudgetSettings


def list_promised(world, settings):
    """Return what is said of fixed intervals."""
    return world.read(lambda c: list(promises.promises(c, settings=settings)))


def test_fixed_intervals_that_cannot_be_kept_are_said(world):
    """By the budget, and by the host that may be asked less often than its pages together ask."""
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


def test_a_page_that_only_then_asks_for_is_promised_no_interval(world):
    """Its sentinel looks at another page every hour, and at this one when that one changes."""
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


def test_without_fixed_intervals_nothing_is_promised(world):
    """Pages on change take what there is."""
    watch(world)

    assert "ok" == list_promised(world, SETTINGS)[0].status
