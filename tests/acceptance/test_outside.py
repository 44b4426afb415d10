"""Promise: external events by webhook, file or command start, end and poll sentinels, once and at
once.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.world import World, play, serve
from tidings.clock import HOUR, MINUTE, SECOND
from tidings.errors import SentinelError, UsageError
from tidings.service.sentinels import register
from tidings.service.show.records import spell_reason
from tidings.service.sources.outside_sources import PROBLEM
from tidings.storage.db.database import open_database
from tidings.storage.observed import pages
from tidings.storage.watches import outside
from tidings.storage.watches.outside import HAPPENED

HOOKS = "Create Event deploy Using webhook Create Event done Using webhook "


def begin(world: World, text: str) -> int:
    """Register events and sentinels on a page; return the time."""
    world.page("/a", "<p>one</p>")
    world.add(HOOKS + text)
    return world.clock.now()


def describe_life(world: World, name: str, since: int) -> tuple[str, int | None, int | None]:
    """Return the state of a sentinel, with its start and end."""
    row = world.sentinel(name)
    return row.state, *(None if at is None else at - since for at in (row.started_at, row.ended_at))


def list_polls(world: World, since: int) -> list[tuple[int, str]]:
    """Return when the page was polled, and why."""
    return [(poll.charged_at - since, spell_reason(poll.reason)) for poll in world.polls(1)]


def list_params(world: World) -> list[dict[str, object]]:
    """Return the parameters of the events."""
    return [dict(row.data["params"]) for row in world.events(HAPPENED)]


def test_sentinel_starts_and_ends_with_events(world):
    """From the first deploy after its creation, an hour later, to the first `done` after its start."""
    since = begin(
        world, "Create Sentinel s Using {/a} Monitor all words From event(deploy) + 1 hour To event(done) Fetch 1 hour"
    )

    with serve(world) as service:
        take = service.monitor.ways_in.events.take
        service.pass_time(MINUTE)
        service.run(take("done", {}))  # before its start: not its end
        service.pass_time(MINUTE)
        service.run(take("deploy", {"n": 1}))
        service.pass_time(10 * MINUTE)
        service.run(take("deploy", {"n": 2}))  # it starts with the first
        service.pass_time(2 * HOUR)
        assert ("enabled", HOUR + 2 * MINUTE, None) == describe_life(world, "s", since)
        service.run(take("done", {}))
        service.settle()

    assert ("ended", HOUR + 2 * MINUTE, 2 * HOUR + 12 * MINUTE) == describe_life(world, "s", since)
    assert 2 == len(world.polls(1))
    assert [] == world.violations()


def test_same_event_starts_and_ends_a_sentinel(world):
    """From event(deploy) To event(deploy) lasts from one deploy to the next."""
    since = begin(world, "Create Sentinel s Using {/a} Monitor all words From event(deploy) To event(deploy)")

    with serve(world) as service:
        for _ in range(2):
            service.pass_time(MINUTE)
            service.run(service.monitor.ways_in.events.take("deploy", {}))
        service.settle()

    assert ("ended", MINUTE, 2 * MINUTE) == describe_life(world, "s", since)


def test_dependents_follow_an_end_by_an_event(world):
    """A sentinel with end(x) starts when an event ends x."""
    since = begin(
        world,
        "Create Sentinel s Using {/a} Monitor all words To event(done)"
        " Create Sentinel t Using {/a} Monitor all words From end(s) + 1 min",
    )

    with serve(world) as service:
        service.pass_time(HOUR)
        service.run(service.monitor.ways_in.events.take("done", {}))
        service.pass_time(2 * MINUTE)

    assert ("ended", 0, HOUR) == describe_life(world, "s", since)
    assert ("enabled", HOUR + MINUTE, None) == describe_life(world, "t", since)


def test_event_before_a_crash_is_not_lost(world):
    """The next service starts the sentinel and polls, with the time of the event."""
    since = begin(
        world,
        "Create Sentinel s Using {/a} Monitor all words From event(deploy)"
        " Create Sentinel t Using {/a} Monitor all words Fetch on event(deploy)",
    )

    with serve(world) as service:
        service.pass_time(HOUR)
        world.page("/a", "<p>two</p>")
        service.run(service.monitor.ways_in.events.take("deploy", {}, key="k"))  # and not a step more
    world.clock.move_to(since + 2 * HOUR)
    with serve(world) as service:
        assert not (service.run(service.monitor.ways_in.events.take("deploy", {}, key="k"))).is_new
        service.pass_time(MINUTE)

    assert ("enabled", HOUR, None) == describe_life(world, "s", since)
    assert [(0, "interval"), (2 * HOUR, "event deploy, late")] == list_polls(world, since)[:1] + list_polls(
        world, since
    )[-1:]
    assert ["t"] == [change["sentinel"] for change in world.changes()]
    assert 1 == len(list_params(world))


def test_event_causes_a_poll_at_once(world):
    """Fetch on event: a baseline at the start, then a poll for each event, which is its reason."""
    since = begin(world, "Create Sentinel s Using {/a} Monitor all words Fetch on event(deploy) or on event(done)")

    with serve(world) as service:
        service.pass_time(HOUR)
        for name, text in (("deploy", "two"), ("done", "three")):
            world.page("/a", f"<p>{text}</p>")
            service.run(service.monitor.ways_in.events.take(name, {}))
            service.pass_time(HOUR)

    assert [(0, "interval"), (HOUR, "event deploy"), (2 * HOUR, "event done")] == list_polls(world, since)
    assert [["two"], ["three"]] == [
        change["inserted"] or [u["new"] for u in change["updated"]] for change in world.changes()
    ]


def test_events_are_added_to_the_interval(world):
    """`or on event` moves no tick; two events before the poll cause one."""
    since = begin(world, "Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour or on event(deploy)")

    with serve(world) as service:
        service.pass_time(30 * MINUTE)
        service.run(service.monitor.ways_in.events.take("deploy", {}))
        service.run(service.monitor.ways_in.events.take("deploy", {}))
        service.pass_time(40 * MINUTE)

    assert [(0, "interval"), (30 * MINUTE, "event deploy"), (HOUR, "interval")] == list_polls(world, since)


def test_failed_poll_does_not_use_the_event_up(world):
    """The page is polled again when it answers."""
    since = begin(world, "Create Sentinel s Using {/a} Monitor all words Fetch on event(deploy)")

    with serve(world) as service:
        service.pass_time(HOUR)
        world.page("/a", "", status=503)
        service.run(service.monitor.ways_in.events.take("deploy", {}))
        service.pass_time(MINUTE)
        world.page("/a", "<p>two</p>")
        service.pass_time(5 * HOUR)

    assert ["new", "error", "changed"] == [poll.outcome for poll in world.polls(1)][:3]
    assert 3 == len(list_polls(world, since))
    assert "two" in str(world.changes())


def test_hours_apply_to_events(world):
    """The poll waits for the hours of the page."""
    since = begin(
        world, "Create Sentinel s Using {/a} Monitor all words Fetch on event(deploy) During daily 10:00 to 11:00"
    )
    day = 24 * HOUR

    with serve(world) as service:
        service.pass_time(2 * day - (since % day) + HOUR)
        count = len(world.polls(1))
        service.run(service.monitor.ways_in.events.take("deploy", {}))
        service.pass_time(8 * HOUR)
        assert count == len(world.polls(1))
        service.pass_time(2 * HOUR)

    assert 10 * HOUR == world.polls(1)[-1].charged_at % day
    assert "event deploy" == spell_reason(world.polls(1)[-1].reason)


def test_altered_sentinel_forgets_earlier_events(world):
    """After Alter … Fetch 1 day no poll is due for them."""
    begin(world, "Create Sentinel s Using {/a} Monitor all words Fetch on event(deploy) During daily 10:00 to 10:01")

    with serve(world) as service:
        service.run(service.monitor.ways_in.events.take("deploy", {}))
        service.settle()
        world.add("Alter s Fetch on event(done)")
        service.pass_time(49 * HOUR)

    assert [] == [poll.reason for poll in world.polls(1) if "deploy" in spell_reason(poll.reason)]


def test_event_in_use_cannot_be_dropped(world):
    """The error names the sentinels; dropped in the same text, all go, with the token."""
    begin(world, "Create Sentinel s Using {/a} Monitor all words To event(done)")
    with pytest.raises(SentinelError, match=r'E46 the event "done" cannot be dropped: s waits for it'):
        world.add("Drop Event done")
    world.add("Drop s Drop Event done")

    assert ["deploy"] == [row.name for row in world.read(outside.listing)]
    with pytest.raises(SentinelError, match=r'E20 there is no event "done"'):
        world.add("Create Sentinel t Using {/a} Monitor all words To event(done)")


@pytest.fixture
def folder(disk: Path) -> Path:
    """Return a directory in which files may cause events."""
    made = disk / "in"
    made.mkdir()
    return made


def test_file_causes_events_when_its_content_changes(make_world, folder):
    """Appearing, changing and disappearing are one event each; a new modification time and the
    first reading are none.
    """
    world = make_world(events__allow_files=str(folder))
    file = folder / "report.csv"
    world.add(f'Create Event report Using file "{file}" every 10 min')

    def write(text: str, number: int) -> None:
        file.write_text(text, encoding="utf-8")
        os.utime(file, ns=(number, number))

    with serve(world) as service:
        service.pass_time(MINUTE)
        write("one", 1)
        service.pass_time(10 * MINUTE)
        write("two", 2)
        service.pass_time(10 * MINUTE)
        write("two", 3)
        service.pass_time(10 * MINUTE)
        file.unlink()
        service.pass_time(10 * MINUTE)

    assert ["appeared", "changed", "went"] == [params["change"] for params in list_params(world)]
    assert {str(file)} == {params["path"] for params in list_params(world)}


def test_command_causes_events_when_its_output_changes(make_world, tmp_path):
    """The first and an equal output are none, another exit code is one; it runs once per due
    instant.
    """
    world = make_world(events__allow_commands="true")
    counter = tmp_path / "runs"
    script = (
        f"import pathlib, sys; f = pathlib.Path({str(counter)!r}); n = len(f.read_text()) + 1 if f.exists() else 1;"
        " f.write_text('x' * n); print(n // 2); sys.exit(n == 4)"
    )
    assert '"' not in script
    world.add(f'Create Event load Using command "{sys.executable}" "-c" "{script}" every 1 min')

    with serve(world) as service:
        service.pass_time(3 * MINUTE + SECOND)

    assert "xxxx" == counter.read_text()
    assert [(0, "1\n"), (1, "2\n")] == [(params["exit_code"], params["output"]) for params in list_params(world)]


@pytest.mark.parametrize(
    ("flags", "source", "why"),
    [
        ({}, 'file "/etc/hostname"', "files are not allowed for events here"),
        ({"events__allow_files": "/srv"}, 'file "/etc/hostname"', "not in a directory of events.allow_files: /srv"),
        ({}, 'command "uptime"', "commands are not allowed for events here"),
    ],
)
def test_files_and_commands_are_off_by_default(make_world, flags, source, why):
    """Nothing is stored, and the error names the setting."""
    world = make_world(**flags)
    with pytest.raises(UsageError, match=why):
        world.add(f"Create Event x Using {source}")

    assert [] == world.read(outside.listing)


def test_failing_command_is_notified_once(make_world, tmp_path):
    """When it works again, its first output is compared with the last one."""
    world = make_world(events__allow_commands="true")
    program = tmp_path / "load"
    world.add(f'Create Event load Using command "{program}" every 1 min')

    with serve(world) as service:
        service.pass_time(3 * MINUTE)
        (row,) = world.read(outside.listing)
        assert "cannot be run: No such file" in row.problem
        program.write_text(f"#!{sys.executable}\nprint(1)\n", encoding="utf-8")
        program.chmod(0o700)
        service.pass_time(2 * MINUTE)

    assert ["load"] == [row.data["event"] for row in world.events(PROBLEM)]
    assert [] == list_params(world)
    assert [""] == [row.problem for row in world.read(outside.listing)]


def test_page_can_be_a_file(make_world, folder):
    """A file: address in an allowed directory is watched without gap and robots.txt."""
    world = make_world(fetch__allow_files=str(folder), fetch__host_gap_seconds="3600")
    for name in ("a", "b"):
        (folder / f"{name}.html").write_text("<title>A</title><p>one</p>", encoding="utf-8")
    world.add(f"Create Sentinel s Using file://{folder}/a.html, file://{folder}/b.html Monitor all words Fetch 10 min")
    since = world.clock.now()

    with serve(world) as service:
        service.pass_time(MINUTE)
        (folder / "a.html").write_text("<title>A</title><p>two</p>", encoding="utf-8")
        service.pass_time(10 * MINUTE)

    assert [0, 0, 10 * MINUTE, 10 * MINUTE] == sorted(poll.charged_at - since for poll in world.polls())
    assert [f"file://{folder}/a.html"] == [change["url"] for change in world.changes()]
    assert [] == world.violations()


def test_file_outside_the_allowed_directories_is_refused(make_world, folder):
    """E22 when the sentinel is made; off by default."""
    text = "Create Sentinel s Using file:///etc/hostname Monitor all words"
    with pytest.raises(SentinelError, match="E22 file: addresses are not allowed here"):
        make_world().add(text)
    world = make_world(fetch__allow_files=str(folder))
    database = open_database(world.settings)
    with pytest.raises(UsageError, match=r"not in a directory of fetch\.allow_files"):
        register.register(database, text, settings=world.settings, now=1)
    database.close()


def test_failing_command_page_is_no_change(make_world, tmp_path):
    """Changes of its output are notified.

    A non-zero exit code is an error with the last words of the output.
    """
    program = tmp_path / "disk"
    world = make_world(fetch__allow_commands="true")
    world.add(
        f'Create Sentinel disk Using command "{program}" "-h" Monitor all words Fetch every 1 min Notify By console'
    )

    def say(script: str) -> None:
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o700)

    with serve(world) as service:
        say("echo 12 GB free")
        service.pass_time(2 * MINUTE)
        say("echo mount is gone >&2; exit 2")
        service.pass_time(MINUTE)
        (_, state) = world.read(pages.get, 1)
        assert ("command", f"{program} ended with exit code 2: mount is gone") == (state.kind, state.reason)
        say("echo 3 GB free")
        service.pass_time(5 * MINUTE)

    assert 1 == len(world.changes())
    assert 2 == world.read(pages.get, 1)[1].last_seq
    assert '"12" → "3"' in world.console.getvalue()


def test_commands_do_not_wait_for_each_other(make_world):
    """No server is asked, so the gap of hosts does not count."""
    world = make_world(fetch__allow_commands="true", fetch__host_gap_seconds="3600")
    for name in ("a", "b"):
        world.add(f'Create Sentinel {name} Using command "/bin/echo" "{name}" Monitor all words Fetch every 10 min')
    since = world.clock.now()

    with serve(world) as service:
        service.pass_time(11 * MINUTE)

    assert [0, 0, 10 * MINUTE, 10 * MINUTE] == sorted(poll.charged_at - since for poll in world.polls())


def test_command_pages_need_the_operator_s_permission(make_world):
    """Without it they are neither made, altered nor run."""
    world = make_world(fetch__allow_commands="true")
    world.add('Create Sentinel disk Using command "/bin/echo" "1" Monitor all words Fetch every 1 min')
    other = make_world()
    for text in ('Create Sentinel t Using command "true" Monitor any change', "Alter disk Fetch every 2 min"):
        with pytest.raises(UsageError, match="commands are not allowed here"):
            other.add(text)
    play(other, lambda monitor: other.pass_time(monitor, MINUTE))

    assert "address" == other.read(pages.get, 1)[1].kind
