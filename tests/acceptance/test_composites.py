"""Promises about combined changes of several pages: AND, OR, NOT with `of` (sentinels §4.5, W-4,
W-65).
"""

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
    """Return the records that the webhook received."""
    return [body["data"] for _, body in world.received]


def write(world, name, text):
    """Serve a text as a page."""
    world.page(f"/{name}", f"<title>{name.upper()}</title><p>{text}</p>")


def begin(world, text):
    """Serve three pages with the text one, and watch them."""
    for name in "abc":
        write(world, name, "one")
    world.add(text.replace("HOOK", world.receiver()))


@pytest.mark.roles
def test_two_changes_within_the_window_are_one_report(make_world):
    """Example 21: A and B change within an hour; the report has both pages, versions, times and
    texts.
    """
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


def test_composite_is_readable_in_every_view(make_world):
    """Text and HTML have each page with its versions, time and edits."""
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


def test_changes_further_apart_than_the_window_are_not_combined(make_world):
    """No state is left of them."""
    world = make_world()

    with serve(world) as service:
        begin(world, PAIR)
        service.pass_time(30 * MINUTE)
        write(world, "a", "two")
        service.pass_time(80 * MINUTE)
        write(world, "b", "two")
        service.pass_time(3 * HOUR)

    assert [] == list_records(world)


def test_change_is_part_of_one_report_only(make_world):
    """After a report another change of B does not pair with the same change of A."""
    world = make_world()

    with serve(world) as service:
        begin(world, PAIR)
        service.pass_time(30 * MINUTE)
        for name, text in (("a", "two"), ("b", "two"), ("b", "three")):
            write(world, name, text)
            service.pass_time(10 * MINUTE)
        service.pass_time(HOUR)

    assert 1 == len(list_records(world))


def test_open_window_survives_a_restart(make_world):
    """It still ends at its instant; a window that ends during the downtime is not reported."""
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


def test_not_of_another_page_is_decided_when_the_window_ends(make_world):
    """`A AND NOT B within 1 hour` reports a change of A an hour later, if B was polled and
    unchanged for an hour before and after.
    """
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


def test_unpolled_page_makes_the_report_undecided(make_world):
    """B could not be polled around the change of A; the report has the reason."""
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


def test_pending_part_causes_a_poll_of_the_other_page(make_world):
    """Pages with a six-hour interval can meet within one: the other page is polled near the end of
    the window (AuctionWatch).
    """
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


def test_not_causes_a_poll_of_its_page(make_world):
    """For `NOT any change of B` B is polled before the window ends, whatever its interval."""
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


def test_no_extra_poll_if_one_is_due_anyway(make_world):
    """A page with a poll near the end of the window gets no other."""
    world = make_world()

    with serve(world) as service:
        begin(world, PAIR)
        service.pass_time(30 * MINUTE)
        write(world, "a", "two")
        service.pass_time(150 * MINUTE)

    assert 19 == len(world.polls(2))


def _at(part):
    return round(datetime.fromisoformat(part["polled_at"]).timestamp() * 1_000_000)


def test_or_of_pages_does_not_wait(make_world):
    """`links of A OR any change of B` reports each change when it is found."""
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


def test_or_alternative_of_one_page_does_not_wait(make_world):
    """In `A AND B OR any change of C` a change of C is reported at once, A and B when both changed."""
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


def test_default_window_is_the_fetch_interval(make_world):
    """Without `within` changes count together if they are at most one interval apart."""
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


def test_default_window_of_pages_on_change_is_their_current_interval(make_world):
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


def test_not_on_pages_on_change_is_decided_at_the_end_of_their_interval(make_world):
    """The window is the current interval, an hour here; it ends at that second."""
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


def test_to_first_change_ends_with_the_combined_report(make_world):
    """A single part does not end the sentinel."""
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
def test_reports_of_random_traces_match_the_definition(make_world, seed):
    """AND and NOT are compared with a brute-force search, over restarts too."""
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
    """Return (time of A, time of B) of all pairs: the latest of each side, at most the window
    apart, each used once.
    """
    latest: dict[str, int] = {}
    met = []
    for at, page in seen:
        latest = {p: t for p, t in latest.items() if at - t <= window} | {page: at}
        if len(latest) == 2:
            met.append((latest["a"], latest["b"]))
            latest = {}
    return met


def saves(seen, window):
    """Return the changes of A without a change of B around them."""
    return [at for at, page in seen if page == "a" and not any(p == "b" and abs(t - at) <= window for t, p in seen)]


def show_text(world, path, text, version):
    """Serve a page with this text and header from now on."""
    world.page(path, f"<p>{text}</p>", headers={"Content-Type": "text/html", "X-Version": version})


@pytest.mark.parametrize("pages", ["{/a}", "{/a} As A, {/b} As B"])
@pytest.mark.parametrize(
    ("version", "text", "reported"), [("2", "two", ["shown and answered"]), ("1", "two", []), ("2", "one", [])]
)
def test_header_and_text_of_one_page_are_combined(world, pages, version, text, reported):
    """One poll finds both: one change with two parts. A single one is not reported."""
    show_text(world, "/a", "one", "1")
    show_text(world, "/b", "one", "1")
    world.add(f'Create Sentinel s Using {pages} Monitor all words AND header "X-Version" Fetch every 30 min')

    with serve(world) as service:
        service.pass_time(HOUR)
        show_text(world, "/a", text, version)
        service.pass_time(2 * HOUR)
    made = [record for record in world.changes("s") if not record["quiet"]]

    assert len(reported) == len(made)
    assert [2] * len(reported) == [len(record["parts"]) for record in made]
    assert [] == world.violations()


def test_text_change_without_a_header_change(world):
    """NOT of a header is decided after the window; a header change within it cancels the report."""
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
