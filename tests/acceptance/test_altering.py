"""Promise: sentinels follow their files, and an altered sentinel is never reported as a change of
the page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.clock import DAY, HOUR
from tidings.errors import SentinelError
from tidings.service.on_demand.trial import Tried, trial
from tidings.service.sentinels.apply import Applied, apply
from tidings.storage.db.database import open_database


def _apply(world: World, *files: str, prune: bool = False) -> list[tuple[str, str]]:
    database = open_database(world.settings)
    texts = {f"{n}.sentinel": world.text(text) for n, text in enumerate(files)}
    try:
        done: Applied = database.write(apply, texts, settings=world.settings, now=world.clock.now(), prune=prune)
    finally:
        database.close()
    return [(step.name, step.action) for step in done.steps]


def _try_text(world: World, text: str) -> list[Tried]:
    database = open_database(world.settings)
    try:
        return asyncio.run(trial(database, text, world.settings))[0]
    finally:
        database.close()


def test_files_create_alter_replace_and_prune(world: World):
    """Each sentinel matches its file. Pruning drops only what `apply` made and no file names."""
    world.page("/a", "x")
    world.page("/b", "y")
    world.add("Create Sentinel mine Using {/a} Monitor links")
    one = "Create Sentinel one Using {/a} Monitor any change"
    two = "Create Sentinel two Using {/a} Monitor links"

    first = _apply(world, one, two)
    again = _apply(world, two, one)
    altered = _apply(world, one.replace("any change", "links"), two.replace("/a", "/b"))
    pruned = _apply(world, one, prune=True)

    assert [("one", "created"), ("two", "created")] == first
    assert [("two", "unchanged"), ("one", "unchanged")] == again
    assert [("one", "altered"), ("two", "replaced")] == altered
    assert [("one", "altered"), ("mine", "left alone"), ("two", "dropped")] == pruned


def test_relative_end_is_not_altered_by_each_apply(world: World):
    """`To now + 7 day` counts from the creation, however often the files are applied."""
    world.page("/a", "x")
    text = "Create Sentinel one Using {/a} Monitor any change To now + 7 day"
    _apply(world, text)
    end = world.sentinel("one").end_at
    world.clock.advance(DAY)

    assert [("one", "unchanged")] == _apply(world, text)
    assert end == world.sentinel("one").end_at


def test_file_sentinel_can_be_applied_repeatedly(make_world: Callable[..., World], disk: Path):
    """It keeps its name, and its end does not move."""
    watched = disk / "watched.txt"
    watched.write_text("one", encoding="utf-8")
    world = make_world(fetch__allow_files=str(disk))
    text = f"Create Sentinel one Using file://{watched} Monitor any change To now + 7 day"
    first = _apply(world, text)
    world.clock.advance(DAY)

    assert [("one", "created")] == first
    assert [("one", "unchanged")] == _apply(world, text)
    assert ["ok"] == [page.outcome for page in _try_text(world, text)]


def test_event_in_two_files_is_refused(world: World):
    """The second file is refused, and nothing is stored."""
    text = "Create Event tick Using webhook"

    with pytest.raises(SentinelError, match=r"1\.sentinel:1:14: E21"):
        _apply(world, text, text)
    assert [("tick", "created")] == _apply(world, text)


def test_altered_clause_is_not_a_change_of_the_page(world: World):
    """After a switch from words to links, only the next change of links is reported."""
    world.page("/a", '<p>one</p><a href="/x">x</a>')
    _apply(world, "Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        _apply(world, "Create Sentinel s Using {/a} Monitor links Fetch every 1 hour")
        service.pass_time(3 * HOUR)
        world.page("/a", '<p>two</p><a href="/x">x</a>')
        service.pass_time(HOUR)
        assert [] == world.changes()
        world.page("/a", '<p>two</p><a href="/y">x</a>')
        service.pass_time(HOUR)
    (change,) = world.changes()

    assert "all links" == change["kind"]
    assert 2 == world.sentinel("s").revision
    assert [] == world.violations()


@pytest.mark.roles
def test_altered_rate_loses_no_gathered_news(world: World):
    """The new clause sends what a removed `Every 4 day` clause had gathered."""
    world.page("/a", "<p>count 0</p>")
    hook = world.receiver()
    text = "Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour slack 1 s Notify By webhook " + hook
    _apply(world, text + " Every 4 day")

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>count 1</p>")
        service.pass_time(2 * HOUR)
        _apply(world, text + " immediate")
        service.pass_time(HOUR)
        world.page("/a", "<p>count 2</p>")
        service.pass_time(2 * HOUR)

    assert ["change.found", "change.found"] == [m["type"] for _, m in world.received]
    assert ["1", "2"] == [m["data"]["updated"][0]["new"] for _, m in world.received]
    assert [] == world.violations()


def test_robots_txt_is_kept_across_restarts(make_world):
    """It is requested once and obeyed after the restart."""
    world: World = make_world(fetch__robots="true")
    world.page("/robots.txt", "User-agent: *\nAllow: /", headers={"Content-Type": "text/plain"})
    world.page("/a", "x")
    world.add("Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour")

    for _ in range(3):
        play(world, lambda monitor: world.pass_time(monitor, HOUR))

    assert 1 == world.server.paths().count("/robots.txt")
    assert 3 <= world.server.paths().count("/a")


def test_altered_filter_is_not_a_change_of_a_page_that_answers_304(world: World):
    """The next check sends no validators, so that a 304 hides nothing; the next change is reported
    (sentinels §5.2).
    """
    world.page("/a", '<p class="a">one</p><p class="b">1</p>', etag='"1"')
    world.add('Create Sentinel s Using {/a} Monitor all words in css ".a" Fetch every 1 hour')

    with serve(world) as service:
        service.pass_time(2 * HOUR)
        before = len(world.server.seen)
        world.add('Alter s Monitor all words in css ".b"')
        service.pass_time(2 * HOUR)
        after = world.server.seen[before:]
        assert [False, True] == ["if-none-match" in seen.headers for seen in after][:2]
        assert [] == world.changes()
        world.page("/a", '<p class="a">two</p><p class="b">2</p>', etag='"2"')
        service.pass_time(HOUR)
    (change,) = world.changes()

    assert [{"old": "1", "new": "2"}] == change["updated"]
    assert [] == world.violations()


def test_change_at_the_time_of_an_edit_is_reported_by_the_new_filter(world: World):
    """The page changes between the last check and the edit, and its validators are wrong: one
    report.
    """
    world.page("/a", '<p class="a">one</p><p class="b">1</p>', etag='"same"')
    world.add('Create Sentinel s Using {/a} Monitor all words in css ".a" Fetch every 1 hour')

    with serve(world) as service:
        service.pass_time(2 * HOUR)
        world.page("/a", '<p class="a">two</p><p class="b">2</p>', etag='"same"')
        world.add('Alter s Monitor all words in css ".b"')
        service.pass_time(3 * HOUR)
    (change,) = world.changes()
    revisions = world.read(lambda c: c.rows("SELECT revision FROM change"))

    assert [{"old": "1", "new": "2"}] == change["updated"]
    assert [(2,)] == revisions


def test_class_a_alteration_keeps_the_tick_and_class_b_resets_it(world: World):
    """New receivers keep the tick; a new interval starts at once, in the phase of the sentinel's
    start. Each is a revision.
    """
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 4 hour slack 0 s")
    begun = world.clock.now()

    with serve(world) as service:
        service.pass_time(HOUR)
        world.add("Alter s Notify By console immediate Importance 0.9")
        service.pass_time(8 * HOUR)
        world.add("Alter s Fetch every 3 hour slack 0 s")
        service.pass_time(4 * HOUR)
    polls = [(p.charged_at - begun) // HOUR for p in world.polls()]
    texts = world.read(lambda c: c.rows("SELECT number, text FROM sentinel_revision ORDER BY number"))

    assert [0, 4, 8, 9, 12] == polls
    assert [1, 2, 3] == [number for number, _ in texts]
    assert "Fetch every 4 hour" in texts[1][1]
    assert "Importance 0.9" in texts[1][1]
    assert "Fetch every 3 hour" in texts[2][1]


def test_altered_header_starts_a_new_baseline(world: World):
    """The page with another header is another page: its first version is not reported, later
    changes are.
    """

    def answer(seen, wire) -> None:
        body = b"<p>for members 1</p>" if seen.headers.get("x-who") else b"<p>for all</p>"
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    world.server.pages["/a"] = answer
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.pass_time(2 * HOUR)
        world.add('Alter s Header "X-Who" "me"')
        service.pass_time(2 * HOUR)
        assert 2 == len({p.page_id for p in world.polls()})
        assert 1 != world.polls()[-1].page_id
        world.add("Alter s Header none")
        service.pass_time(2 * HOUR)
        assert 1 == world.polls()[-1].page_id
        service.pass_time(2 * HOUR)
        world.page("/a", "<p>for nobody</p>")
        service.pass_time(2 * HOUR)

    assert ["1"] == [c["page"] for c in world.changes()]
    assert 1 == world.sentinel("s").pages
    assert [] == world.violations()


def test_apply_alters_a_sentinel_with_a_new_header(world: World):
    """The sentinel is not replaced, and its history stays."""
    world.page("/a", "x")
    text = "Create Sentinel one Using {/a} Monitor any change"
    _apply(world, text)

    assert [("one", "altered")] == _apply(world, text + ' Header "Accept-Language" "fr"')
    assert [("one", "unchanged")] == _apply(world, text + ' Header "Accept-Language" "fr"')
    assert 2 == world.sentinel("one").revision


def test_invalid_alteration_is_refused_with_its_reason(world: World):
    """Names cannot be altered, cycles are named, and an ended sentinel stays ended (E33, E35)."""
    world.page("/a", "x")
    world.add(
        "Create Sentinel x Using {/a} Monitor any change; Create Sentinel s Using {/a} Monitor any change From end(x); "
        "Create Sentinel over Using {/a} Monitor any change For 1 hour"
    )
    play(world, lambda monitor: world.pass_time(monitor, 2 * HOUR))

    output = []
    for text in ("Alter x From end(s)", "Alter x To start(s)", "Alter over To 2030-01-01"):
        with pytest.raises(SentinelError) as refused:
            world.add(text)
        output.append(next(p.as_dict() for p in refused.value.problems))

    assert ["E35", "E35", "E33"] == [problem["code"] for problem in output]
    assert "x → s → x" in str(output[0]["message"])
    assert 1 == world.sentinel("x").revision


def test_altered_life_counts_from_the_original_start(world: World):
    """A waiting sentinel gets a new start; an end in the past ends it now."""
    world.page("/a", "x")
    world.add(
        "Create Sentinel s Using {/a} Monitor any change Fetch every 1 hour For 10 day; "
        "Create Sentinel w Using {/a} Monitor any change Fetch every 1 hour From now + 5 day; "
        "Create Sentinel after Using {/a} Monitor any change Fetch every 1 hour From end(s) + 1 day"
    )
    begun = world.clock.now()

    with serve(world) as service:
        service.pass_time(DAY)
        world.add("Alter s For 2 day; Alter w From now + 1 hour")
        service.pass_time(4 * DAY)
    rows = [world.sentinel(name) for name in ("s", "w", "after")]

    assert ("ended", 2 * DAY) == (rows[0].state, rows[0].ended_at - begun)
    assert ("enabled", DAY + HOUR) == (rows[1].state, rows[1].started_at - begun)
    assert ("enabled", 3 * DAY) == (rows[2].state, rows[2].started_at - begun)


def test_changes_in_a_pause_are_one_marked_change(world: World):
    """The page is not polled in the pause; one comparison spans it.

    The next change has no mark (W-52).
    """
    world.page("/a", "<p>count 0</p>")
    world.add(
        "Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour; Create Sentinel c Using {/a} Monitor all words"
    )

    with serve(world) as service:
        service.pass_time(2 * HOUR)
        world.add("Disable s; Disable c")
        before = len(world.polls())
        for number in range(1, 4):
            world.page("/a", f"<p>count {number}</p>")
            service.pass_time(DAY)
        assert before == len(world.polls())
        world.add("Enable s; Enable c")
        service.pass_time(2 * HOUR)
        world.page("/a", "<p>count 4</p>")
        service.pass_time(3 * HOUR)

    for name in ("s", "c"):
        across, plain = world.changes(name)
        assert [{"old": "0", "new": "3"}] == across["updated"]
        assert across["summary"].endswith("(across a pause of 3 d)")
        assert "pause" not in plain["summary"]


def test_change_after_a_quiet_pause_has_no_mark(world: World):
    """The first check after the pause found the page unchanged."""
    world.page("/a", "<p>count 0</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.pass_time(2 * HOUR)
        world.add("Disable s")
        service.pass_time(DAY)
        world.add("Enable s")
        service.pass_time(2 * HOUR)
        world.page("/a", "<p>count 1</p>")
        service.pass_time(2 * HOUR)
    (change,) = world.changes()

    assert "pause" not in change["summary"]


def test_enable_fresh_skips_changes_in_the_pause(world: World):
    """The next check is the baseline, even if another sentinel polled the page meanwhile."""
    world.page("/a", "<p>count 0</p>")
    world.add(
        "Create Sentinel s Using {/a} Monitor all words Fetch every 4 hour; Create Sentinel other Using {/a} Monitor all words Fetch every 1 day slack 0 s"
    )

    with serve(world) as service:
        service.pass_time(2 * HOUR)
        world.add("Disable s")
        world.page("/a", "<p>count 1</p>")
        service.pass_time(2 * DAY)
        world.page("/a", "<p>count 2</p>")
        world.add("Enable s fresh")
        service.pass_time(HOUR)
        world.page("/a", "<p>count 3</p>")
        service.pass_time(5 * HOUR)

    assert [[{"old": "2", "new": "3"}]] == [c["updated"] for c in world.changes("s")]


def test_reused_name_does_not_affect_dependents_of_the_old_sentinel(world: World):
    """A sentinel that ends a week after the end of x does so although there is a new x."""
    world.page("/a", "x")
    world.add(
        "Create Sentinel x Using {/a} Monitor any change Fetch every 1 day; "
        "Create Sentinel s Using {/a} Monitor any change Fetch every 1 day To end(x) + 7 day"
    )
    begun = world.clock.now()

    with serve(world) as service:
        service.pass_time(DAY)
        world.add("Drop x")
        world.add("Create Sentinel x Using {/a} Monitor any change Fetch every 1 day")
        service.pass_time(9 * DAY)

    assert ("ended", 8 * DAY) == (world.sentinel("s").state, world.sentinel("s").ended_at - begun)


def test_sentinel_made_from_an_ended_one_has_its_own_life(world: World):
    """W2: the clauses are copied except the past schedule, so it starts now and has no end."""
    world.page("/a", "x")
    world.add("Create Sentinel base Using {/a} Monitor links Fetch every 1 hour For 1 day")
    play(world, lambda monitor: world.pass_time(monitor, 2 * DAY))
    world.add("Create Sentinel child Using base Monitor all images")

    play(world, lambda monitor: world.pass_time(monitor, 2 * DAY))

    assert "enabled" == world.sentinel("child").state
    assert "Fetch every 1 hour" in world.sentinel("child").text


def test_defaults_of_tags_apply_to_later_sentinels_only(world: World):
    """They survive restarts and are copied into each new sentinel with the tag; existing ones stay."""
    world.page("/a", "x")
    world.add("Defaults For Tags shop, all Fetch 2 hour Notify By console immediate")
    world.add("Create Sentinel one Using {/a} Monitor links Tags shop")
    world.add("Defaults For Tags shop Fetch 3 hour")
    world.add(
        "Create Sentinel two Using {/a} Monitor links Tags shop; Create Sentinel three Using {/a} Monitor links Tags all Fetch 5 hour"
    )
    world.add("Defaults For Tags shop; Create Sentinel four Using {/a} Monitor links Tags shop")

    texts = {name: world.sentinel(name).text for name in ("one", "two", "three", "four")}

    assert "Fetch every 2 hour" in texts["one"]
    assert "console" in texts["one"]
    assert "Fetch every 3 hour" in texts["two"]
    assert "console" not in texts["two"]
    assert "Fetch every 5 hour" in texts["three"]
    assert "console" in texts["three"]
    assert "Fetch" not in texts["four"]


def test_defaults_in_files_apply_to_sentinels_of_all_files(world: World):
    """The order of the files does not matter; changed defaults alter the sentinels of the files."""
    world.page("/a", "x")
    one = "Create Sentinel one Using {/a} Monitor links Tags shop"
    _apply(world, one, "Defaults For Tags shop Fetch 2 hour")
    first = world.sentinel("one").text

    assert "Fetch every 2 hour" in first
    assert [("one", "unchanged")] == _apply(world, one)
    assert [("one", "altered")] == _apply(world, one, "Defaults For Tags shop Fetch 3 hour")
    assert "Fetch every 3 hour" in world.sentinel("one").text


def _altering_answer(world: World, text: str, body: str) -> None:
    """Answer the next check with another body, and alter the sentinel during that check."""

    def answer(seen: Any, wire: Any) -> None:
        world.add(text)
        world.page("/a", body)
        data = body.encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(data)}\r\n\r\n"
        wire.send(head.encode() + data)

    world.server.pages["/a"] = answer


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Compare first", "Compare pairwise", ["one→two", "one→three", "three→four"]),
        ("Compare first", "Compare moving 2", ["one→two", "one→three", "three→four"]),
        ("", "Compare first", ["one→two", "two→three", "three→four"]),
        ("", "Compare moving 2", ["one→two", "two→three", "three→four"]),
        ("Compare moving 2", "Compare pairwise", ["one→two", "one→three", "three→four"]),
    ],
)
def test_compare_altered_during_a_check_reports_nothing_twice(
    world: World, before: str, after: str, expected: list[str]
):
    """That check is reported by the old option; later ones by the new option, from its version on."""
    world.page("/a", "<p>one</p>")
    world.add(f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 1 hour {before}")

    with serve(world) as service:
        service.settle()
        world.page("/a", "<p>two</p>")
        service.pass_time(HOUR)
        _altering_answer(world, f"Alter s {after}", "<p>three</p>")
        service.pass_time(4 * HOUR)
        world.page("/a", "<p>four</p>")
        service.pass_time(4 * HOUR)

    assert expected == [f"{pair['old']}→{pair['new']}" for record in world.changes() for pair in record["updated"]]
    assert [] == world.violations()


def test_monitor_altered_during_a_check_reports_no_switch(world: World):
    """Words and links change in that check: its words are reported once, its links never."""
    world.page("/a", '<p>one</p><a href="/1">x</a>')
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    with serve(world) as service:
        service.settle()
        _altering_answer(world, "Alter s Monitor all links", '<p>two</p><a href="/2">x</a>')
        service.pass_time(4 * HOUR)
        world.page("/a", '<p>three</p><a href="/3">x</a>')
        service.pass_time(4 * HOUR)
    words, links = world.changes()

    assert ("all words", [{"old": "one", "new": "two"}]) == (words["kind"], words["updated"])
    assert ("all links", 1, 1) == (links["kind"], len(links["inserted"]), len(links["deleted"]))
    assert links["inserted"][0].endswith("/3")
    assert links["deleted"][0].endswith("/2")
