"""Promise: changes by noise are stored and listed but not notified; real changes are notified."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.cli.main import main
from tidings.clock import HOUR, MINUTE
from tidings.model.observed.poll_reason import Why
from tidings.service.run.monitor import Monitor

SENTINEL = "Create Sentinel shop Using {/a} Monitor any change Fetch every 1 hour Notify By webhook {/hook}"
ADS = """cheap red boots;win a car today;learn to sing in a week;the best soap of all;new roofs by Miller;fly to the moon;a warm coat;tea from
Assam;your own bakery;two for one;dance until dawn;the last tickets;oak tables;a quiet room;fresh fish daily;old books bought""".split(
    ";"
)


@pytest.fixture
def world(world: World) -> World:
    """Return an installation with second polls."""
    world.flags["detect.second_polls"] = "true"
    return world


def list_delivered(world: World) -> list[Any]:
    """Return the delivered changes: inserted and updated texts."""
    changes = [message["data"] for _, message in world.received if message["type"] == "change.found"]
    return [(*change["inserted"], *(pair["new"] for pair in change["updated"])) for change in changes]


def shop(world: World, price: str, text: Callable[[], str]) -> None:
    """Serve a price, and another text at each request."""

    def answer(_: Any, wire: Any) -> None:
        body = f"<h1>The shop of the town</h1><p>{text()}</p><p>Boots {price}</p><p>Contact us at any time</p>".encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
        wire.send(head.encode() + body)

    world.server.pages["/a"] = answer


def watch_hours(world: World, text: Callable[[], str], prices: list[str]) -> None:
    """Watch the shop for hours."""
    world.receiver()
    world.add(SENTINEL)

    with serve(world) as service:
        for price in prices:
            shop(world, price, text)
            service.pass_time(HOUR)


def run(world: World, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command and return its output."""
    assert 0 == main(["--data", str(world.directory), *words])
    return capsys.readouterr().out


def test_counter_is_quiet_and_the_price_is_notified(world: World) -> None:
    """From the first check on; the quiet changes are stored and listed."""
    count = itertools.count(100)
    watch_hours(world, lambda: f"{next(count)} views", ["€5"] * 3 + ["€6"] * 2)

    assert [("€6",)] == list_delivered(world) or [("6",)] == list_delivered(world)
    changes = world.changes()
    assert [True, True, True, False, True] == [change["quiet"] for change in changes]
    assert ["count"] == [one["mask"] for one in changes[3]["masked"]]
    assert [False] * 2 == [poll.text_changed for poll in world.polls()[1:3]]
    assert [] == world.violations()


def test_advertisement_is_learned_and_a_price_is_notified(world: World) -> None:
    """A few second polls, a minute later and paid for, are enough, also across restarts."""
    ads = itertools.cycle(ADS)
    watch_hours(world, lambda: next(ads), ["€5"] * 7)
    before = len(list_delivered(world))
    polls = world.polls()
    seconds = [poll for poll in polls if poll.reason.why is Why.SECOND]

    with serve(world) as service:
        for price in ["€5", "€5", "€7"]:
            shop(world, price, lambda: next(ads))
            service.pass_time(HOUR)

    assert 2 == len(seconds)
    assert all(poll.cost == 1 for poll in seconds)
    assert all(
        poll.charged_at - polls[place - 1].charged_at >= MINUTE for place, poll in enumerate(polls) if poll in seconds
    )
    assert before <= 3
    assert [before + 1] == [len(list_delivered(world))]
    assert "7" in list_delivered(world)[-1][0]
    assert [] == world.violations()


@pytest.mark.parametrize(("away", "seconds"), [(MINUTE, 1), (HOUR // 2, 0)])
def test_pending_second_poll_survives_a_restart(world: World, away: int, seconds: int) -> None:
    """It is made only while it can tell noise from news; half an hour later the next poll is an
    ordinary one.
    """
    ads = itertools.cycle(ADS)
    world.receiver()
    world.add(SENTINEL)

    with serve(world) as service:
        shop(world, "€5", lambda: next(ads))
        service.pass_time(HOUR // 2)
        world.clock.advance(HOUR // 2)
        service.settle()
    assert [2, 0] == [len(world.versions()), sum(poll.reason.why is Why.SECOND for poll in world.polls())]
    world.clock.advance(away)
    play(world, lambda monitor: world.pass_time(monitor, 5 * MINUTE))

    assert seconds == sum(poll.reason.why is Why.SECOND for poll in world.polls()[2:3])
    assert [] == world.violations()


def test_change_at_a_second_poll_is_reported_by_the_next(world: World) -> None:
    """The cursor stays where it was."""
    world.receiver()
    world.add(SENTINEL)
    meanwhile: list[Any] = []

    with serve(world) as service:
        for price in ("€1", "€1", "€1", "€1", "€1", "€1", "€2"):  # after five polls a change waits for no second one
            world.page("/a", f"<p>Boots now {price} in the shop of the town</p>")
            service.pass_time(HOUR)
        world.page("/a", "<p>Boots now €3 in the shop of the town</p>")
        service.pass_time(2 * MINUTE)
        meanwhile.extend(list_delivered(world))
        service.pass_time(HOUR)

    assert Why.SECOND is world.polls()[-2].reason.why
    assert (1, 2) == (len(meanwhile), len(list_delivered(world)))
    assert "3" in list_delivered(world)[-1][0]
    assert [] == world.violations()


def test_every_mask_is_shown_and_can_be_undone(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`mask` and `show` have its place, reason, start and samples; `--off` reports the place again,
    `--on` does not.
    """
    ads = itertools.cycle(ADS)
    watch_hours(world, lambda: next(ads), ["€5"] * 8)
    (mask,) = [
        m for m in map(json.loads, run(world, capsys, "mask", "shop", "--json").splitlines()) if m["of"] == "words"
    ]
    shown = run(world, capsys, "show", "shop")
    before = len(list_delivered(world))

    assert 'between "the town" and "Boots' in mask["where"] or "the town" in mask["where"]
    assert mask["showed"] in ADS
    assert mask["id"] in shown
    assert mask["off"] is False
    assert "OFF" in run(world, capsys, "mask", "shop", "--off", mask["id"])

    async def story(monitor: Monitor) -> None:
        for _ in range(2):
            await world.pass_time(monitor, HOUR)

    play(world, story)
    assert before + 2 == len(list_delivered(world))
    file = tmp_path / "other.sentinel"
    file.write_text(world.text("Create Sentinel other Using {/a} Monitor all words"))
    sets = [part for name, value in world.flags.items() for part in ("--set", f"{name}={value}")]
    assert 0 == main(["--data", str(world.directory), *sets, "test", str(file)])
    assert f"mask {mask['id']}" in capsys.readouterr().out
    assert "OFF" not in run(world, capsys, "mask", "shop", "--on", mask["id"])
    play(world, story)
    assert before + 2 == len(list_delivered(world))
    assert 2 == main(["--data", str(world.directory), "mask", "shop", "--off", "nothing"])


def test_quiet_changes_are_listed_on_request(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """`tidings changes` shows the notified ones and what was left out, `--quiet` all."""
    count = itertools.count(100)
    watch_hours(world, lambda: f"{next(count)} views", ["€5", "€5", "€6", "€6"])
    plain, all_ = run(world, capsys, "changes"), run(world, capsys, "changes", "--quiet")

    assert (False, True) == ("(noise)" in plain, "(noise)" in all_)
    assert "ignored as noise" in plain


def test_trial_of_an_altered_sentinel_shows_its_reports(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over the stored versions: the number of changes, of quiet ones, and the masks; nothing is
    stored.
    """
    count = itertools.count(100)
    watch_hours(world, lambda: f"{next(count)} views", ["€5", "€5", "€6"])
    file = tmp_path / "other.sentinel"
    file.write_text(world.text("Create Sentinel other Using {/a} Monitor all words"))
    sets = [part for name, value in world.flags.items() for part in ("--set", f"{name}={value}")]

    assert 0 == main(["--data", str(world.directory), *sets, "test", str(file)])
    assert "1 change: 3→4; 2 more would be quiet, because they are only noise" in capsys.readouterr().out
