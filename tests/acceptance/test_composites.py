"""Promises about changes of several pages that belong together: AND, OR, NOT with `of` (sentinels §4.5, W-4, W-65)."""

import random
from datetime import datetime

import pytest

from tests.world import play, serve
from tidings.clock import HOUR, MINUTE
from tidings.presentation.presenter import Caption
from tidings.presentation.presenters import PRESENTERS

PAIR = (
    "Create Sentinel pair Using {/a} As A, {/b} As B Monitor any change of A AND any change of B within 1 hour"
    " Fetch every 10 min Notify By webhook HOOK immediate"
)
SAVE = "Create Sentinel veto Using {/a} As A, {/b} As B Monitor any change of A AND NOT any change of B within 1 hour"


def list_records(world):
    """Return the records that the webhook got."""
    return [body["data"] for _, body in world.received]


def write(world, name, text):
    """Let a page say something."""
    world.page(f"/{name}", f"<title>{name.upper()}</title><p>{text}</p>")


def begin(world, text):
    """Three pages that say one, and a sentinel on them."""
    for name in "abc":
        write(world, name, "one")
    world.add(text.replace("HOOK", world.receiver()))


def test_both_pages_changed_within_an_hour(make_world):
    """Example 21: when A and then B change within an hour it is told once, with both pages, their versions, times and texts."""
    world = make_world()

    with serve(world) as service:
        begin(world, PAIR)
        service.pass_time(30 * MINUTE)
        write(world, "a", "two")
        service.pass_time(30 * MINUTE)
        assert [] == list_records(world)
        write(world, "b", "three")
        service.pass_time(3 * HOUR)
    (record,) = list_records(world)
    a, b = record["parts"]

    assert ("composite", "complete") == (record["kind"], record["verdict"])
    assert "any change of A AND any change of B" == record["monitor"]
    assert ("A", "changed", "1.1", "1.2", [{"old": "one", "new": "two"}]) == _spell(a)
    assert ("B", "changed", "2.1", "2.2", [{"old": "one", "new": "three"}]) == _spell(b)
    assert a["polled_at"] < b["polled_at"] == record["polled_at"]
    assert record["updated"] == a["updated"] + b["updated"]
    assert [record] == [r for r in world.changes() if not r["quiet"]]
    assert 2 == sum(r["quiet"] for r in world.changes())
    assert [] == world.violations()


def _spell(part):
    return (part["name"], part["status"], part["from_version"], part["to_version"], part["updated"])


def test_a_composite_is_readable_in_every_view(make_world):
    """As text and as HTML each page stands with its versions, its time and its edits."""
    world = make_world()

    with serve(world) as service:
        begin(world, PAIR)
        service.pass_time(30 * MINUTE)
        write(world, "a", "two")
        write(world, "b", "three")
        service.pass_time(HOUR)
    (record,) = list_records(world)
    text = PRESENTERS["changes-as-text"].present([record], Caption(heading="pair"))
    html = PRESENTERS["changes-as-html"].present([record], Caption(heading="pair"))

    for part, new in zip(record["parts"], ("two", "three"), strict=True):
        for written in (text, html):
            assert part["url"] in written
            assert f"version {part['from_version']} → {part['to_version']}" in written
        assert f"[-one-]{{+{new}+}}" in text
    assert "2 more" not in text


def test_a_part_expires(make_world):
    """Changes that are more than the window apart are not told together, and nothing is left of them."""
    world = make_world()

    with serve(world) as service:
        begin(world, PAIR)
        service.pass_time(30 * MINUTE)
        write(world, "a", "two")
        service.pass_time(80 * MINUTE)
        write(world, "b", "two")
        service.pass_time(3 * HOUR)

    assert [] == list_records(world)


def test_what_was_told_is_told_once(make_world):
    """A pair is consumed: a further change of B alone, within the hour, makes no second pair with the same change of A."""
    world = make_world()

    with serve(world) as service:
        begin(world, PAIR)
        service.pass_time(30 * MINUTE)
        for name, text in (("a", "two"), ("b", "two"), ("b", "three")):
            write(world, name, text)
            service.pass_time(10 * MINUTE)
        service.pass_time(HOUR)

    assert 1 == len(list_records(world))


def test_a_restart_in_the_middle_of_a_window(make_world):
    """An open window survives to the instant: half of it before a restart, half after; and what ran out meanwhile is not told."""
    world = make_world()

    with serve(world) as service:
        begin(world, PAIR)
        service.pass_time(30 * MINUTE)
        write(world, "a", "two")
        service.pass_time(20 * MINUTE)
    with serve(world) as service:
        service.pass_time(10 * MINUTE)
        write(world, "b", "two")
        service.pass_time(20 * MINUTE)
        write(world, "a", "three")
        service.pass_time(20 * MINUTE)
    assert 1 == len(list_records(world))
    world.clock.move_to(world.clock.now() + 2 * HOUR)
    write(world, "b", "three")
    with serve(world) as service:
        service.pass_time(2 * HOUR)

    assert 1 == len(list_records(world))


def test_not_on_another_page_is_decided_when_the_window_is_over(make_world):
    """`A AND NOT B within 1 hour` tells a change of A an hour later, if B was looked at and did not change in that hour or the one before."""
    world = make_world()

    with serve(world) as service:
        begin(world, f"{SAVE} Fetch every 10 min Notify By webhook HOOK immediate")
        service.pass_time(3 * HOUR)
        write(world, "a", "two")
        service.pass_time(65 * MINUTE)
        assert [] == list_records(world)
        service.pass_time(10 * MINUTE)
        assert 1 == len(list_records(world))
        service.pass_time(2 * HOUR)
        write(world, "b", "two")
        service.pass_time(30 * MINUTE)
        write(world, "a", "three")
        service.pass_time(3 * HOUR)
        write(world, "a", "four")
        service.pass_time(30 * MINUTE)
        write(world, "b", "three")
        service.pass_time(3 * HOUR)
    (record,) = list_records(world)

    assert ["two"] == [pair["new"] for pair in record["updated"]]
    assert "complete" == record["verdict"]


def test_what_nobody_could_look_at_is_undecided(make_world):
    """If B could not be looked at around the change of A, the report says that it is undecided, and why."""
    world = make_world()

    with serve(world) as service:
        begin(world, f"{SAVE} Fetch every 10 min Notify By webhook HOOK immediate")
        service.pass_time(HOUR)
        world.page("/b", "gone", status=500)
        service.pass_time(2 * HOUR)
        write(world, "a", "two")
        service.pass_time(3 * HOUR)
    (record,) = [r for r in list_records(world) if r["record"] == "change"]

    assert "undecided" == record["verdict"]
    assert record["reason"].startswith("whether B changed is unknown")
    assert record["summary"].startswith("undecided: whether B changed is unknown")


def test_a_part_makes_a_need_of_the_others(make_world):
    """Pages that are looked at every six hours can meet within one: near its end the other page is looked at once more (AuctionWatch)."""
    world = make_world()

    with serve(world) as service:
        begin(world, PAIR.replace("every 10 min", "every 6 hour"))
        service.pass_time(5 * HOUR)
        write(world, "a", "two")
        service.pass_time(90 * MINUTE)
        write(world, "b", "two")
        service.pass_time(3 * HOUR)
    (record,) = list_records(world)

    assert 54 * MINUTE == _at(record["parts"][1]) - _at(record["parts"][0])
    assert ["A", "B"] == [part["name"] for part in record["parts"]]
    assert 3 == len(world.polls(2))


def test_a_need_of_not_keeps_the_report_from_being_undecided(make_world):
    """For `NOT any change of B` B is looked at before the window is over, however seldom it is by itself."""
    world = make_world()

    with serve(world) as service:
        begin(world, f"{SAVE} Fetch every 6 hour Notify By webhook HOOK immediate")
        service.pass_time(11 * HOUR)
        write(world, "a", "two")
        service.pass_time(3 * HOUR)
        write(world, "a", "three")
        service.pass_time(4 * HOUR + 30 * MINUTE)
        write(world, "b", "two")
        service.pass_time(3 * HOUR)

    assert ["complete"] == [record["verdict"] for record in list_records(world)]


def test_a_look_that_comes_anyway_makes_no_further_one(make_world):
    """Where a page is looked at near the end of the window anyway, the need of a meeting costs no look."""
    world = make_world()

    with serve(world) as service:
        begin(world, PAIR)
        service.pass_time(30 * MINUTE)
        write(world, "a", "two")
        service.pass_time(150 * MINUTE)

    assert 19 == len(world.polls(2))


def _at(part):
    return round(datetime.fromisoformat(part["polled_at"]).timestamp() * 1_000_000)


def test_or_over_pages_waits_for_nothing(make_world):
    """`links of A OR any change of B` tells a change as it is found, as a change of its page."""
    world = make_world()

    with serve(world) as service:
        begin(
            world,
            "Create Sentinel either Using {/a} As A, {/b} As B Monitor links of A OR any change of B"
            " Fetch every 10 min Notify By webhook HOOK immediate",
        )
        service.pass_time(30 * MINUTE)
        write(world, "a", "two")
        write(world, "b", "two")
        service.pass_time(20 * MINUTE)
    (record,) = list_records(world)

    assert world.server.url("/b") == record["url"]
    assert "parts" not in record


def test_an_alternative_of_one_page_does_not_wait_for_the_others(make_world):
    """In `A AND B OR any change of C` a change of C is told at once, and A and B are told when both are there."""
    world = make_world()

    with serve(world) as service:
        begin(
            world,
            "Create Sentinel some Using {/a} As A, {/b} As B, {/c} As C"
            " Monitor (any change of A AND any change of B) OR any change of C"
            " Fetch every 10 min Notify By webhook HOOK immediate",
        )
        service.pass_time(30 * MINUTE)
        for name in "abc":
            write(world, name, "two")
        service.pass_time(20 * MINUTE)

    assert [None, ["A", "B"]] == sorted(
        ([p["name"] for p in r["parts"]] if "parts" in r else None for r in list_records(world)), key=bool
    )


def test_without_a_window_it_is_the_interval_of_the_looks(make_world):
    """Without `within`, changes count together that are at most the fetch interval apart."""
    world = make_world()
    text = (
        "Create Sentinel pair Using {/a} As A, {/b} As B Monitor any change of A AND any change of B Fetch every 1 hour"
    )

    with serve(world) as service:
        begin(world, text)
        service.pass_time(90 * MINUTE)
        write(world, "a", "two")
        service.pass_time(HOUR)
        write(world, "b", "two")
        service.pass_time(HOUR)
        assert 1 == len([r for r in world.changes() if not r["quiet"]])
        write(world, "a", "three")
        service.pass_time(2 * HOUR)
        write(world, "b", "three")
        service.pass_time(2 * HOUR)

    assert 1 == len([r for r in world.changes() if not r["quiet"]])


def test_pages_fetched_on_change_meet_within_their_interval(make_world):
    """On change the window is the current interval of the pages."""
    world = make_world()
    text = "Create Sentinel pair Using {/a} As A, {/b} As B Monitor any change of A AND any change of B"

    with serve(world) as service:
        begin(world, text)
        service.pass_time(6 * HOUR)
        write(world, "a", "two")
        write(world, "b", "two")
        service.pass_time(12 * HOUR)

    assert 1 == len([r for r in world.changes() if not r["quiet"]])


def test_not_on_pages_fetched_on_change_is_decided_at_the_end_of_their_interval(make_world):
    """The window is the current interval, an hour here; its end is met to the second, not some quarter of an hour later."""
    world = make_world(schedule__policy="round_robin", schedule__pace_seconds="3600")
    text = "Create Sentinel pair Using {/a} As A, {/b} As B Monitor any change of A AND NOT any change of B"

    with serve(world) as service:
        begin(world, text)
        service.pass_time(3 * HOUR + MINUTE)
        write(world, "a", "two")
        service.pass_time(4 * HOUR)
    (part, whole) = world.changes()
    seen, decided = (datetime.fromisoformat(record["detected_at"]) for record in (part, whole))

    assert ("complete", True) == (whole["verdict"], part["quiet"])
    assert 3600 == (decided - seen).total_seconds()


def test_the_first_report_of_several_pages_ends_a_sentinel(make_world):
    """`To first change` ends with the report, not with one of its parts."""
    world = make_world()

    with serve(world) as service:
        begin(world, PAIR.replace(" Notify", " To first change Notify"))
        service.pass_time(30 * MINUTE)
        write(world, "a", "two")
        service.pass_time(20 * MINUTE)
        assert "enabled" == world.sentinel("pair").state
        write(world, "b", "two")
        service.pass_time(20 * MINUTE)

    assert "ended" == world.sentinel("pair").state
    assert 1 == len(list_records(world))


@pytest.mark.parametrize("seed", range(2))
def test_over_random_traces_the_reports_are_those_of_the_definition(make_world, seed):
    """Whatever the pages do, over restarts too: AND is told when the words say so and NOT where they do, by trying all that was found."""
    world = make_world()
    chance = random.Random(seed)
    both = PAIR.replace("within 1 hour", "within 35 min")
    save = SAVE.replace("within 1 hour", "within 35 min") + " Fetch every 10 min"

    async def some_time(monitor):
        for _ in range(chance.randrange(10, 20)):
            if chance.random() < 0.3:
                write(world, chance.choice("ab"), f"text {chance.random()}")
            await world.pass_time(monitor, 10 * MINUTE)

    with serve(world) as service:
        begin(world, f"{both}; {save}")
        service.pass_time(10 * MINUTE)
        service.run(some_time(service.monitor))
    play(world, some_time)
    with serve(world) as service:
        service.run(some_time(service.monitor))
        service.pass_time(HOUR)
    found = world.changes("pair")
    seen = [(_at(r), "ab"[int(r["page"]) - 1]) for r in found if r["quiet"]]
    told_pairs = [tuple(_at(part) for part in r["parts"]) for r in found if not r["quiet"]]
    told_saves = [_at(r["parts"][0]) for r in world.changes("veto") if not r["quiet"]]

    assert pairs(seen, 35 * MINUTE) == told_pairs
    assert (
        saves([(_at(r), "ab"[int(r["page"]) - 1]) for r in world.changes("veto") if r["quiet"]], 35 * MINUTE)
        == told_saves
    )


def pairs(seen, window):
    """Return (when A, when B) of all meetings: the latest of each side, at most the window apart, used up once told."""
    latest: dict[str, int] = {}
    met = []
    for at, page in seen:
        latest = {p: t for p, t in latest.items() if at - t <= window} | {page: at}
        if len(latest) == 2:
            met.append((latest["a"], latest["b"]))
            latest = {}
    return met


def saves(seen, window):
    """Return the changes of A around which there is none of B."""
    return [at for at, page in seen if page == "a" and not any(p == "b" and abs(t - at) <= window for t, p in seen)]


def show_text(world, path, text, version):
    """Let a page show a text from now on, and be answered with a header."""
    world.page(path, f"<p>{text}</p>", headers={"Content-Type": "text/html", "X-Version": version})


@pytest.mark.parametrize("pages", ["{/a}", "{/a} As A, {/b} As B"])
@pytest.mark.parametrize(
    ("version", "text", "told"), [("2", "two", ["shown and answered"]), ("1", "two", []), ("2", "one", [])]
)
def test_a_header_and_a_text_of_one_page_are_told_when_both_change(world, pages, version, text, told):
    """One look brings both: one change with its two parts. One of them alone is not what was asked for."""
    show_text(world, "/a", "one", "1")
    show_text(world, "/b", "one", "1")
    world.add(f'Create Sentinel s Using {pages} Monitor all words AND header "X-Version" Fetch every 30 min')

    with serve(world) as service:
        service.pass_time(HOUR)
        show_text(world, "/a", text, version)
        service.pass_time(2 * HOUR)
    made = [record for record in world.changes("s") if not record["quiet"]]

    assert len(told) == len(made)
    assert [2] * len(told) == [len(record["parts"]) for record in made]
    assert [] == world.violations()


def test_a_text_that_changes_while_a_header_does_not(world):
    """NOT of a header: the window after the change must be over; a header that changes in it takes the change back."""
    show_text(world, "/a", "one", "1")
    world.add('Create Sentinel s Using {/a} Monitor all words AND NOT header "X-Version" Fetch every 30 min')

    with serve(world) as service:
        service.pass_time(HOUR)
        show_text(world, "/a", "two", "1")
        service.pass_time(3 * HOUR)
        show_text(world, "/a", "three", "2")
        service.pass_time(3 * HOUR)

    assert [[{"old": "one", "new": "two"}]] == [r["parts"][0]["updated"] for r in world.changes("s") if not r["quiet"]]
    assert [] == world.violations()
