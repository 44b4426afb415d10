"""Promises about checks with a deadline: Then … check (001 §2.1; sentinels §1.5, examples 22 and
24).
"""

import pytest

from tests.world import play, serve
from tidings.clock import HOUR, MINUTE, SECOND
from tidings.service.explain.explain_sentinel import count_on_time
from tidings.service.run.check import check
from tidings.service.show.records import spell_reason
from tidings.service.watch.watchlist import WatchedSentinel, meaning
from tidings.storage.observed import pages

RSS = {"Content-Type": "application/rss+xml; charset=utf-8"}
OIL = (
    'Create Sentinel oil Using {/feed} As A, {/b} As B, {/c} As C Monitor items inserted of A where contains "oil"'
    " Then within 10 min check CHECKED Fetch every 3 min slack 2 min Notify By webhook HOOK immediate"
)


def feed(world, *titles):
    """Serve a feed with entries of these titles."""
    items = "".join(
        f"<item><guid>{t}</guid><title>{t}</title><link>https://x.example/{t}</link></item>" for t in titles
    )
    world.page("/feed", f"<rss version='2.0'><channel><title>F</title>{items}</channel></rss>", headers=RSS)


def write(world, name, text):
    """Serve a text as a page."""
    world.page(f"/{name}", f"<title>{name.upper()}</title><p>{text}</p>")


def begin(world, text=OIL, *, checked="B, C"):
    """Watch a blog and two pages."""
    feed(world, "grain up")
    for name in "bcd":
        write(world, name, "one")
    world.add(text.replace("HOOK", world.receiver()).replace("CHECKED", checked))


def list_records(world):
    """Return the change records that the webhook received."""
    return [body["data"] for _, body in world.received if body["data"]["record"] == "change"]


def list_polls(world, name):
    """Return the times at which a page was polled."""
    (page_id,) = [
        i for i in range(1, 5) if world.polls(i) and world.read(pages.identity, i).given == world.server.url(f"/{name}")
    ]
    return [poll.charged_at for poll in world.polls(page_id)]


def status_of(record):
    """Return the status of each part by its page's name."""
    return {part["name"]: part["status"] for part in record["parts"]}


def test_matching_entry_causes_checks_of_two_pages(make_world):
    """Example 22: the entry, the change on B and the content of C are one complete report; other
    entries cause nothing.
    """
    world = make_world()

    with serve(world) as service:
        begin(world)
        service.pass_time(HOUR)
        assert 1 == len(list_polls(world, "b")) == len(list_polls(world, "c"))
        write(world, "b", "oil at 90")
        feed(world, "grain up", "rain")
        service.pass_time(20 * MINUTE)
        assert 1 == len(list_polls(world, "b"))
        feed(world, "grain up", "rain", "oil up")
        service.pass_time(20 * MINUTE)
    (record,) = list_records(world)

    assert ("composite", "complete") == (record["kind"], record["verdict"])
    assert {"A": "changed", "B": "changed", "C": "unchanged"} == status_of(record)
    assert ["one"] == [pair["old"] for pair in record["parts"][1]["updated"]]
    assert "C" == record["parts"][2]["title"]
    assert "3.1" == record["parts"][2]["to_version"]
    assert 2 == len(list_polls(world, "b")) == len(list_polls(world, "c"))
    assert [record] == [r for r in world.changes() if not r["quiet"]]
    assert [] == world.violations()


def test_failing_page_makes_the_report_partial(make_world):
    """It is missed with its error; the rest is reported at the deadline."""
    world = make_world()

    with serve(world) as service:
        begin(world)
        service.pass_time(HOUR)
        world.page("/c", "no", status=500)
        feed(world, "grain up", "oil up")
        service.pass_time(5 * MINUTE)
        assert [] == list_records(world)
        service.pass_time(15 * MINUTE)
    (record,) = list_records(world)

    assert "partial" == record["verdict"]
    assert {"A": "changed", "B": "unchanged", "C": "missed"} == status_of(record)
    assert record["parts"][2]["reason"].startswith("5xx: ")
    assert record["reason"].startswith("C: 5xx: ")


def test_failed_check_is_retried_before_the_deadline(make_world):
    """The page recovers, and the report is complete."""
    world = make_world()

    with serve(world) as service:
        begin(world)
        service.pass_time(HOUR)
        world.page("/c", "no", status=500)
        feed(world, "grain up", "oil up")
        service.pass_time(4 * MINUTE)
        write(world, "c", "one")
        service.pass_time(15 * MINUTE)
    (record,) = list_records(world)

    assert "complete" == record["verdict"]


def test_any_two_of_three_are_enough(make_world):
    """`any 2 of B, C, D` is complete with two of them."""
    world = make_world()
    text = OIL.replace("{/c} As C", "{/c} As C, {/d} As D")

    with serve(world) as service:
        begin(world, text, checked="any 2 of B, C, D")
        service.pass_time(HOUR)
        world.page("/b", "no", status=500)
        feed(world, "grain up", "oil up")
        service.pass_time(20 * MINUTE)
    (record,) = list_records(world)

    assert "complete" == record["verdict"]
    assert "missed" == status_of(record)["B"]


def test_check_of_another_sentinel_counts(make_world):
    """Two simultaneous needs cost one poll per page."""
    world = make_world()

    with serve(world) as service:
        begin(world)
        world.add(
            OIL.replace("oil Using", "two Using").replace("HOOK", world.server.url("/hook")).replace("CHECKED", "B")
        )
        service.pass_time(HOUR)
        before = len(list_polls(world, "b"))
        feed(world, "grain up", "oil up")
        service.pass_time(20 * MINUTE)
        assert before + 1 == len(list_polls(world, "b"))

    assert [("oil", "complete"), ("two", "complete")] == sorted(
        (r["sentinel"], r["verdict"]) for r in list_records(world)
    )


def test_exhausted_budget_is_the_reason_of_a_missed_page(make_world):
    """The budget is not exceeded."""
    world = make_world(budget__polls_per_day="1", budget__burst="4")

    with serve(world) as service:
        begin(world)
        service.settle()
        feed(world, "grain up", "oil up")
        service.pass_time(3 * MINUTE)
        service.pass_time(20 * MINUTE)
    (record,) = list_records(world)

    assert 4 == len(world.polls())
    assert "missed" == record["verdict"]
    assert {"budget"} == {part["reason"] for part in record["parts"] if part["status"] == "missed"}


def test_need_survives_a_restart(make_world):
    """Pages that were captured stay so, others are polled, and a passed deadline is reported."""
    world = make_world()

    with serve(world) as service:
        begin(world)
        service.pass_time(HOUR)
        world.page("/c", "no", status=500)
        feed(world, "grain up", "oil up")
        service.pass_time(4 * MINUTE)
    assert [] == list_records(world)
    write(world, "c", "two")
    with serve(world) as service:
        service.pass_time(20 * MINUTE)
        feed(world, "grain up", "oil up", "oil down")
        world.page("/c", "no", status=500)
        service.pass_time(4 * MINUTE)
    assert [("complete", "changed")] == [(r["verdict"], status_of(r)["C"]) for r in list_records(world)]
    world.clock.move_to(world.clock.now() + HOUR)
    with serve(world) as service:
        service.pass_time(MINUTE)

    assert ["complete", "partial"] == [r["verdict"] for r in list_records(world)]


def test_then_checks_the_other_page_after_any_change(make_world):
    """Without `of` every page counts; a change of the page that Then names is already there."""
    world = make_world()
    text = (
        "Create Sentinel any Using {/b} As B, {/c} As C Monitor any change Then within 5 min check C"
        " Fetch every 30 min Notify By webhook HOOK immediate"
    )

    with serve(world) as service:
        begin(world, text)
        service.pass_time(HOUR)
        write(world, "c", "two")
        service.pass_time(HOUR)
        write(world, "b", "two")
        service.pass_time(HOUR)

    assert [{"C": "changed"}, {"B": "changed", "C": "unchanged"}] == [status_of(r) for r in list_records(world)]


def test_without_of_each_page_is_reported_alone(make_world):
    """Example 24: links or images on any of three pages."""
    world = make_world()

    with serve(world) as service:
        for name in "abc":
            world.page(f"/{name}", "<a href='/one'>x</a>")
        world.add("Create Sentinel multi Using {/a}, {/b}, {/c} Monitor links OR images Fetch every 1 hour")
        service.pass_time(HOUR)
        for name in "ab":
            world.page(f"/{name}", "<a href='/two'>x</a>")
        service.pass_time(HOUR)

    assert 2 == len(world.changes())
    assert all("parts" not in record and not record["quiet"] for record in world.changes())


def test_combined_change_can_cause_a_check_of_a_third_page(make_world):
    """When A and B changed, C is polled, and the report has all three."""
    world = make_world()

    with serve(world) as service:
        for name in "bcd":
            write(world, name, "one")
        hook = world.receiver()
        world.add(
            "Create Sentinel three Using {/b} As A, {/c} As B, {/d} As C"
            " Monitor any change of A AND any change of B within 1 hour Then within 5 min check C"
            f" Fetch every 10 min Notify By webhook {hook} immediate"
        )
        service.pass_time(HOUR)
        write(world, "b", "two")
        service.pass_time(30 * MINUTE)
        assert 1 == len(list_polls(world, "d"))
        write(world, "c", "two")
        write(world, "d", "two")
        service.pass_time(30 * MINUTE)
    (record,) = list_records(world)

    assert {"A": "changed", "B": "changed", "C": "changed"} == status_of(record)
    assert 2 == len(list_polls(world, "d"))


def test_need_keeps_to_the_hours(make_world):
    """With During, pages that are missing at the end of the hours are missed, and reported so."""
    world = make_world()  # it begins at 22:13:20 UTC

    with serve(world) as service:
        begin(world, OIL.replace(" Notify", " During mon-sun 08:00 to 22:30 Zone UTC Notify"))
        service.pass_time(12 * MINUTE)
        feed(world, "grain up", "oil up")
        world.page("/b", "no", status=500)
        service.pass_time(HOUR)
    (record,) = list_records(world)
    closes = world.polls()[0].charged_at + 16 * MINUTE + 40_000_000

    assert ("partial", "missed") == (record["verdict"], status_of(record)["B"])
    assert max(poll.charged_at for poll in world.polls()) < closes


def test_single_check_reports_a_combined_change(make_world):
    """`tidings check` from cron: the parts are of two checks, and the second reports."""
    world = make_world()

    async def once(monitor):
        return [change.row.kind for change in (await check(monitor)).changes]

    async def story(monitor):
        found.append(await once(monitor))

    found: list[list[str]] = []
    for name in "bc":
        write(world, name, "one")
    world.add(
        "Create Sentinel two Using {/b} As A, {/c} As B Monitor any change of A AND any change of B within 1 hour"
        " Fetch every 10 min"
    )
    play(world, story)
    for name in "bc":
        world.clock.move_to(world.clock.now() + 10 * MINUTE)
        write(world, name, "two")
        play(world, story)

    assert [[], [], ["any change of A AND any change of B"]] == found


PROMPT = "Create Sentinel prompt Using {/b} Monitor any change Fetch on change within 5 min"


def beat(world, changed_every, hours):
    """Change a page every so many minutes, and let time pass."""

    async def story(monitor):
        for minute in range(0, hours * 60, changed_every):
            write(world, "b", f"at {minute}")
            await world.pass_time(monitor, changed_every * MINUTE)

    return story


@pytest.mark.parametrize(("policy", "pace"), [("best_effort", HOUR), ("price", 3 * HOUR)])
def test_polls_follow_expected_updates(make_world, policy, pace):
    """`Fetch on change within 5 min`: once the period is known, polls follow the updates and have
    that reason.
    """
    world = make_world(schedule__policy=policy, schedule__pace_seconds=str(pace // SECOND))
    write(world, "b", "before")
    world.add(PROMPT)

    play(world, beat(world, 90, 36))
    reasons = [spell_reason(poll.reason) for poll in world.polls()]
    made = world.read(count_on_time, get_watched(world, "prompt"), now=world.clock.now())

    assert "an update was predicted, to be checked within 5 min" in reasons
    assert made["expected"]["captured"] == sum(reason.startswith("an update was predicted") for reason in reasons)
    assert 0 == made["expected"]["missed"]


def test_late_poll_misses_an_expected_update(make_world):
    """The poll has that reason; the next update is expected again."""
    world = make_world()
    write(world, "b", "before")
    world.add(PROMPT)

    play(world, beat(world, 90, 36))
    world.clock.move_to(world.clock.now() + 5 * HOUR)
    play(world, beat(world, 90, 6))
    made = world.read(count_on_time, get_watched(world, "prompt"), now=world.clock.now())

    assert 1 <= made["expected"]["missed"]


def test_ticks_are_counted(make_world):
    """Each tick of a fixed interval is captured, partial if one of the pages failed, or missed."""
    world = make_world()

    with serve(world) as service:
        for name in "bc":
            write(world, name, "one")
        world.add("Create Sentinel s Using {/b}, {/c} Monitor any change Fetch every 1 hour")
        service.pass_time(4 * HOUR + 30 * MINUTE)
        world.page("/c", "no", status=500)
        service.pass_time(2 * HOUR)
        world.page("/b", "no", status=500)
        service.pass_time(3 * HOUR)

    assert {"interval": {"captured": 5, "partial": 2, "missed": 3}} == world.read(
        count_on_time, get_watched(world, "s"), now=world.clock.now()
    )


def test_needs_are_counted(make_world):
    """`show` has the numbers of complete, partial and missed needs."""
    world = make_world()

    with serve(world) as service:
        begin(world)
        service.pass_time(HOUR)
        feed(world, "grain up", "oil up")
        service.pass_time(20 * MINUTE)
        world.page("/c", "no", status=500)
        feed(world, "grain up", "oil up", "oil down")
        service.pass_time(20 * MINUTE)

    assert {"captured": 1, "partial": 1, "missed": 0} == world.read(
        count_on_time, get_watched(world, "oil"), now=world.clock.now()
    )["then"]


def get_watched(world, name):
    """Return a sentinel as the service holds it."""
    row = world.sentinel(name)
    return WatchedSentinel(row, meaning(row.text), {})


def test_more_important_need_is_complete_when_not_all_fit(make_world):
    """Three pages of one host are needed within 8 minutes, but it permits two polls."""
    world = make_world(fetch__host_gap_seconds="200")
    feed(world, "grain up")
    for name in "bcd":
        write(world, name, "one")
    oil = OIL.replace("every 3 min slack 2 min", "every 1 hour").replace("10 min", "8 min")
    oil = oil.replace("HOOK", world.receiver())
    less = oil.replace("oil Using", "less Using").replace("CHECKED", "B, C")
    more = (
        oil.replace("oil Using", "more Using").replace("{/c} As C", "{/c} As C, {/d} As D").replace("CHECKED", "C, D")
    )
    world.add(f"{less} Importance 0.2;{more} Importance 0.8")

    with serve(world) as service:
        service.pass_time(90 * MINUTE)
        feed(world, "grain up", "oil up")
        service.pass_time(90 * MINUTE)

    assert {"less": "partial", "more": "complete"} == {
        record["sentinel"]: record["verdict"] for record in list_records(world)
    }
    assert [] == world.violations()
