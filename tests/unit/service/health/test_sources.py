"""How the watching goes is told with the page, the host or the address that has trouble, since when, and what mends it."""

from dataclasses import replace

import pytest

from tests.stores import SECOND
from tidings.clock import DAY, HOUR, MINUTE
from tidings.model.event_type import EventType
from tidings.model.observed.page import HostState
from tidings.model.observed.unit import DeliveryResult, EndpointMove, Estimate, Event
from tidings.service.health import promises, sources
from tidings.service.show.finding import MOST_LINES
from tidings.settings import BudgetSettings, FetchSettings, ScheduleSettings, Settings
from tidings.storage.observed import hosts, pages
from tidings.storage.watches import deliveries, endpoints, events
from tidings.storage.write import charge

FLOOR = MINUTE
PACE = HOUR
SETTINGS = Settings(
    fetch=FetchSettings(page_floor_seconds=FLOOR / SECOND), schedule=ScheduleSettings(pace_seconds=PACE / SECOND)
)


def watch(world, *, fetch=None, key="a"):
    """Watch a page and look at it once."""
    row = world.watch(f"news-{key}", key, every=None if fetch is None else HOUR)
    text = f"Create Sentinel news-{key} Using http://{key}.example/ Monitor any change {fetch or ''}"
    world.write(
        lambda c: c.execute("UPDATE sentinel_revision SET text = :text WHERE sentinel_id = :id", text=text, id=row.id)
    )
    page_id = world.read(pages.find_by_key, f"key-{key}")
    world.commit(world.make_unchanged(page_id))
    world.write(lambda c: c.execute("UPDATE subscription SET next_tick = :at WHERE next_tick IS NOT NULL", at=world.at))
    return page_id


def put(world, page_id=1, **more):
    """Write what is known of a page."""
    state = replace(world.state(page_id), **more)
    world.write(pages.update, [(state, state.last_seq)])


def looks(world, later, *, polling=True):
    """Return the one line about looks, some time after the last one."""
    return lines(world, "checks", later=later, polling=polling)[0]


def lines(world, source, *, later=HOUR, polling=True):
    """Return what doctor says of one source."""
    now = world.at + later
    return world.read(lambda c: list(sources.findings(c, source, SETTINGS, now=now, is_polled=polling)))


# -- intervals ---------------------------------------------------------------------------------------------------------------------


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


def test_a_page_that_waits_as_its_policy_says_is_not_late(world):
    """What is learned of a page says how long it waits; three times as long is late."""
    watch(world)
    world.commit(
        replace(
            world.make_unchanged(1),
            estimates=(Estimate(page_id=1, name=SETTINGS.schedule.policy, state={"period": 86_400.0}, at=world.at),),
        )
    )

    assert "none of 1 page is overdue" == looks(world, DAY).detail
    assert "warn" == looks(world, 3 * DAY).status


# -- looks -------------------------------------------------------------------------------------------------------------------------


def test_nothing_is_watched(world):
    """Without a page there is nothing to be late for."""
    assert ("ok", "no page is watched now") == (looks(world, DAY).status, looks(world, DAY).detail)


@pytest.mark.parametrize(
    ("fetch", "interval"),
    [
        (None, PACE),
        ("Fetch 1 day", DAY),
        ("Fetch 1 s", FLOOR),
    ],
)
def test_overdue_is_later_than_two_intervals_and_the_floor(world, fetch, interval):
    """A page is overdue a moment after two intervals and the floor have passed since its last look, and not before."""
    watch(world, fetch=fetch)
    patience = 2 * interval + FLOOR

    assert "ok" == looks(world, patience).status
    assert "warn" == looks(world, patience + 1).status


def test_an_overdue_page_is_named(world):
    """The line names the page that waits longest, since when, and the command that looks at it."""
    watch(world, key="a")
    watch(world, key="b")
    line = looks(world, DAY)

    assert line.detail.startswith("http://a.example/: overdue since 2023-11-14 23:13:21 UTC (23 h ago")
    assert "tidings check news-a" == line.mend


def test_a_spent_budget_is_the_reason(world):
    """If the budget is spent, that is what must be mended."""
    watch(world)
    world.write(charge.set_budget, "default", rate_per_second=0.0, burst=0.0, at=world.at)

    assert "budget.polls_per_day" in looks(world, DAY).mend


def test_a_page_that_backs_off_is_not_overdue(world):
    """A page that is left alone on purpose, or whose host is, waits for a visible reason; its time counts from then."""
    watch(world)
    put(world, retry_at=world.at + 9 * HOUR)

    assert "ok" == looks(world, 10 * HOUR).status
    assert "warn" == looks(world, 12 * HOUR).status

    put(world, retry_at=None)
    world.write(hosts.put, [HostState(name="a.example", paused_until=world.at + 9 * HOUR)])

    assert "ok" == looks(world, 10 * HOUR).status
    assert "warn" == looks(world, 12 * HOUR).status


def test_a_page_that_is_said_to_be_fresh_is_not_overdue(world):
    """What holds its look back is known; its time counts from the end of that, an hour after its last look at most."""
    watch(world)
    last = looks(world, 3 * HOUR)
    put(world, fresh_until=world.at + 9 * HOUR, polls=1)

    assert ("warn", "ok") == (last.status, looks(world, 3 * HOUR).status)
    assert "warn" == looks(world, 3 * HOUR + FLOOR + 1).status


def test_a_tick_that_lies_ahead_is_not_overdue(world):
    """A page with a fixed interval waits for its tick, however long ago its last look was."""
    watch(world, fetch="Fetch 1 hour")
    world.write(lambda c: c.execute("UPDATE subscription SET next_tick = :at", at=world.at + 30 * DAY))

    assert "ok" == looks(world, 29 * DAY).status


def test_a_page_never_looked_at_counts_from_its_start(world):
    """A sentinel that was just made is not late; one that has waited for hours is."""
    world.watch()

    assert "ok" == looks(world, HOUR).status
    assert "warn" == looks(world, 3 * HOUR).status


def test_a_paused_sentinel_is_never_late(world):
    """Nobody waits for the pages of a sentinel that is disabled."""
    world.watch(state="disabled")

    assert "ok" == looks(world, 30 * DAY).status


def test_without_a_poller_the_last_look_is_told(world):
    """If no process is checking pages the line says so and when the last look was; late pages ask for one to be started."""
    watch(world)
    soon, late = looks(world, HOUR, polling=False), looks(world, DAY, polling=False)

    assert ("ok", "") == (soon.status, soon.mend)
    assert soon.detail.startswith(
        "no process is checking pages; the last check was at 2023-11-14 22:13:21 UTC (60 min ago)"
    )
    assert ("warn", True) == (late.status, late.mend.startswith("tidings serve"))


def test_without_a_poller_and_without_a_look(world):
    """If nothing was ever looked at the line says that."""
    world.watch()

    assert "no process is checking pages; nothing has been checked yet" in looks(world, HOUR, polling=False).detail


# -- pages and hosts ---------------------------------------------------------------------------------------------------------------


def test_a_page_in_error(world):
    """A page in error is told with its address, its kind, since when, and its reason."""
    watch(world)
    put(world, health="error", kind="5xx", reason="503 Service Unavailable", failing_since=world.at)
    (line,) = lines(world, "pages")

    assert ("warn", "pages", "tidings check news-a") == (line.status, line.what, line.mend)
    assert (
        "http://a.example/: error(5xx) since 2023-11-14 22:13:21 UTC (60 min ago): 503 Service Unavailable"
        == line.detail
    )


@pytest.mark.parametrize(
    ("kind", "mend"), [("404", "tidings drop news-a"), ("robots", "fetch.robots"), ("address", "fetch.allow_networks")]
)
def test_the_kind_of_error_decides_what_mends_it(world, kind, mend):
    """Looking again does not help a page that is gone, forbidden or refused."""
    watch(world)
    put(world, health="error", kind=kind)
    (line,) = lines(world, "pages")

    assert mend in line.mend


def test_pages_that_failed_once_are_only_noted(world):
    """One failure is no error: that such a page is tried again is said, and is no warning."""
    watch(world)
    put(world, health="shaky", kind="net", failures=1)
    (line,) = lines(world, "pages")

    assert ("ok", True) == (line.status, line.detail.endswith("(Tidings tries again)"))


def test_pages_that_nobody_watches_are_not_told(world):
    """A page in error that no active sentinel watches is nobody's trouble."""
    world.watch(state="disabled")
    put(world, health="error", kind="404")
    (line,) = lines(world, "pages")

    assert "ok" == line.status


def test_many_pages_in_error_are_counted(world):
    """Of many pages in error the first are told and the rest is counted."""
    world.watch("many", *(f"p{i}" for i in range(MOST_LINES + 2)))
    for page_id in range(1, MOST_LINES + 3):
        put(world, page_id, health="error", kind="net")
    found = lines(world, "pages")

    assert MOST_LINES + 1 == len(found)
    assert ("warn", "and 2 more", "tidings list") == (found[-1].status, found[-1].detail, found[-1].mend)


def test_a_host_that_fails(world):
    """A host is told with its failures in a row and until when it is left alone."""
    watch(world)
    world.write(hosts.put, [HostState(name="a.example", failures=3, paused_until=world.at + 2 * HOUR)])
    (line,) = lines(world, "hosts")

    assert ("warn", "a.example: 3 failures in a row, requests paused until 2023-11-15 00:13:21 UTC") == (
        line.status,
        line.detail,
    )


def test_a_pause_that_is_over_is_not_told(world):
    """Once a host may be asked again there is nothing to tell; nor is there of a host that nobody watches."""
    watch(world)
    states = [HostState(name="a.example", paused_until=world.at), HostState(name="elsewhere.example", failures=9)]
    world.write(hosts.put, states)
    (line,) = lines(world, "hosts")

    assert ("ok", "1 host watched, none fails") == (line.status, line.detail)


# -- news --------------------------------------------------------------------------------------------------------------------------


def test_news_that_waits_too_long(world):
    """News that is due for more than ten minutes is told, with who would deliver it."""
    world.report_change()
    due = world.read(deliveries.next_due, now=world.at, tried_every=DAY)
    assert due is not None
    patience = due + 10 * MINUTE - world.at
    early = lines(world, "deliveries", later=patience, polling=False)
    late = lines(world, "deliveries", later=patience + 1, polling=False)

    assert ["ok"] == [line.status for line in early]
    assert [("warn", True)] == [(line.status, line.mend.startswith("tidings serve")) for line in late]


def test_many_dead_letters_are_one_line(world):
    """Dead letters are counted in one line that names the newest."""
    endpoint, drafts = world.endpoint(), []
    world.watch()
    world.commit(world.make_stored(b"0"))
    for number in range(1, 4):
        change = world.change(f"change-{number}", from_seq=number, to_seq=number + 1)
        world.commit(world.make_stored(b"%d" % number, **world.news(change, endpoint)))
        drafts = world.read(lambda c: c.rows("SELECT id FROM delivery WHERE status = 'waiting'"))
        for (id_,) in drafts:
            world.commit(world.unit(results=(DeliveryResult(delivery_id=id_, status="dead", attempt=1, at=world.at),)))
    (line,) = lines(world, "deliveries", polling=True)

    assert line.detail.startswith("3 dead letters of news; the newest given up at")
    assert drafts[0][0] in line.mend


def test_an_endpoint_that_was_switched_off(world):
    """An endpoint that is off is told without its path and query, which may hold a secret."""
    endpoint = world.write(endpoints.ensure, "webhook", "https://name:word@hooks.example/T0KEN?key=S3CRET")
    world.commit(
        world.unit(endpoints=(EndpointMove(endpoint_id=endpoint, failing_since=world.at, enabled=False, reason="410"),))
    )
    (line,) = lines(world, "receivers")

    assert line.detail.startswith(
        f"webhook {endpoint} at hooks.example is switched off after failures since 2023-11-14"
    )
    assert not [secret for secret in ("T0KEN", "S3CRET", "word") if secret in line.detail + line.mend]


def test_an_address_without_a_web_host_is_not_shown(world):
    """The address of a chat service is a token: only its kind and number are shown."""
    endpoint = world.write(endpoints.ensure, "url", "tgram://B0TT0KEN/42")
    world.commit(world.unit(endpoints=(EndpointMove(endpoint_id=endpoint, failing_since=world.at),)))
    (line,) = lines(world, "receivers")

    assert ("warn", True) == (line.status, line.detail.startswith(f"url {endpoint} accepts no messages since"))
    assert "B0TT0KEN" not in line.detail


# -- problems ----------------------------------------------------------------------------------------------------------------------


def test_outcomes_that_could_not_be_stored(world):
    """A unit that broke is told for a week."""
    world.write(
        events.append, [Event(type=EventType.PROBLEM_UNIT, at=world.at, page_id=7, data={"error": "a broken unit"})]
    )
    (line,) = lines(world, "problems")
    (later,) = lines(world, "problems", later=7 * DAY)

    assert ("warn", True) == (
        line.status,
        "1 outcome could not be stored" in line.detail and "a broken unit" in line.detail,
    )
    assert "ok" == later.status
