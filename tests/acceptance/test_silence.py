"""Promise: no real news is suppressed: only proven noise is left out, and the owner is notified if
nothing else remains.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.world import World, play, serve
from tidings.cli.main import main
from tidings.clock import DAY, HOUR, MINUTE

HEAD, TAIL = "<h1>The shop of the town</h1>", "<p>Contact us at any time</p>"
ADS = """cheap red boots;win a car today;learn to sing in a week;the best soap of all;new roofs by Miller;fly to the moon;a warm coat;tea from
Assam;your own bakery;two for one;dance until dawn;the last tickets;oak tables;a quiet room;fresh fish daily;old books bought""".split(
    ";"
)


@pytest.fixture
def world(world: World) -> World:
    """Return an installation with second polls."""
    world.flags["detect.second_polls"] = "true"
    world.receiver()
    return world


def shows(world: World, text: Callable[[], str]) -> None:
    """Serve a text that is made for each request."""

    def answer(_: Any, wire: Any) -> None:
        body = f"{HEAD}<p>{text()}</p>{TAIL}".encode()
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    world.server.pages["/a"] = answer


def list_delivered(world: World) -> list[Any]:
    """Return the delivered changes."""
    return [message["data"] for _, message in world.received if message["type"] == "change.found"]


def list_silence(world: World) -> list[str]:
    """Return the notices of silence."""
    return [m["data"]["summary"] for _, m in world.received if m["data"].get("event") == "sentinel.silenced"]


def watch_polls(world: World, sentinel: str, polls: int, interval: int) -> None:
    """Watch the page for this many polls."""
    world.add(sentinel)
    play(world, lambda monitor: world.pass_time(monitor, polls * interval))


@pytest.mark.parametrize("minutes", [1, 60])
def test_number_that_changes_at_each_poll_is_always_notified(world: World, minutes: int) -> None:
    """Only differences at second polls count as noise."""
    begun = world.clock.now()
    shows(world, lambda: f"Level {100 + 7 * ((world.clock.now() - begun) // (minutes * MINUTE))} of the river")
    watch_polls(
        world,
        f"Create Sentinel a Using {{/a}} Monitor any change Fetch every {minutes} minutes Notify By webhook {{/hook}}",
        20,
        minutes * MINUTE,
    )

    assert len(list_delivered(world)) >= 19
    assert [] == list_silence(world)
    assert [] == world.violations()


@pytest.mark.parametrize(
    ("monitor", "least"), [("any change", 11), ('any change where contains "In stock"', 5), ('keyword "Sold"', 11)]
)
def test_alternating_state_is_notified_each_time(world: World, monitor: str, least: int) -> None:
    """Polls are five minutes apart."""
    begun = world.clock.now()
    shows(world, lambda: ("In stock", "Sold out")[(world.clock.now() - begun) // (10 * MINUTE) % 2])
    watch_polls(
        world,
        f"Create Sentinel a Using {{/a}} Monitor {monitor} Fetch every 5 minutes Notify By webhook {{/hook}}",
        24,
        5 * MINUTE,
    )

    assert len(list_delivered(world)) >= least


@pytest.mark.parametrize("monitor", ['number in css "b"', 'regex "Level .*"', 'any change in css "b"'])
def test_named_value_is_never_masked(world: World, monitor: str) -> None:
    """A number, a pattern or a selector of one value is notified at each poll, though each request
    differs.
    """
    count = itertools.count(1000, 7)
    shows(world, lambda: f"<b>Level {next(count)}</b> of the river")
    watch_polls(
        world,
        f"Create Sentinel a Using {{/a}} Monitor {monitor} Fetch every 1 hour Notify By webhook {{/hook}}",
        12,
        HOUR,
    )

    assert len(list_delivered(world)) >= 11


def test_owner_is_notified_once_when_all_news_is_masked(world: World, capsys: Any) -> None:
    """With the words and the command that undoes it; `list` and `mask` have the words too."""
    ads = itertools.cycle(ADS)
    shows(world, lambda: next(ads))
    watch_polls(
        world, "Create Sentinel a Using {/a} Monitor any change Fetch every 1 hour Notify By webhook {/hook}", 60, HOUR
    )

    (summary,) = list_silence(world)
    command = summary.rpartition("tidings ")[2].split()
    assert summary.startswith('all its changes in the last ten checks are now ignored as noise: "')
    assert any(ad in summary for ad in ADS)
    before = len(list_delivered(world))
    assert before <= 5
    assert 0 == main(["--data", str(world.directory), "list"])
    assert "1 place ignored as noise" in capsys.readouterr().out
    assert 0 == main(["--data", str(world.directory), *command])
    play(world, lambda monitor: world.pass_time(monitor, 3 * HOUR))
    assert before + 3 == len(list_delivered(world))
    assert [] == world.violations()


def test_silence_is_notified_once_a_day_per_recipient(world: World) -> None:
    """A second sentinel goes quiet on the next day."""
    ads = itertools.cycle(ADS)
    shows(world, lambda: next(ads))
    world.server.pages["/b"] = world.server.pages["/a"]
    world.add("Create Sentinel b Using {/b} Monitor any change Fetch every 1 hour Notify By webhook {/hook}")
    world.add("Create Sentinel a Using {/a} Monitor any change Fetch every 1 hour Notify By webhook {/hook}")
    play(world, lambda monitor: world.pass_time(monitor, 23 * HOUR))
    first = len(list_silence(world))
    play(world, lambda monitor: world.pass_time(monitor, DAY))

    assert (1, 2) == (first, len(list_silence(world)))


def test_small_mask_is_not_notified(world: World) -> None:
    """Other news was notified in the last ten polls."""
    ads = itertools.cycle(ADS)

    def text() -> str:
        return f"{next(ads)}</p><p>The paper of the town</p><p>headline number {(world.clock.now() // HOUR)} of x{world.clock.now() // HOUR}y"

    shows(world, text)
    watch_polls(
        world, "Create Sentinel a Using {/a} Monitor any change Fetch every 1 hour Notify By webhook {/hook}", 20, HOUR
    )

    assert 19 <= len(list_delivered(world))
    assert [] == list_silence(world)
    assert any(change.get("masked") for change in list_delivered(world)[-3:])


@pytest.mark.parametrize("beside", ["", "<p>The time of the node</p><p>k{}x</p>"])
def test_masked_place_that_settles_is_notified_once(world: World, beside: str) -> None:
    """An advertisement becomes a lasting notice, whether the rest of the page changes or not."""
    ads, count = itertools.cycle(ADS), itertools.count(100, 37)
    settled: list[str] = []
    shows(world, lambda: (settled[0] if settled else next(ads)) + beside.format(next(count)))
    world.add("Create Sentinel a Using {/a} Monitor any change Fetch every 1 hour Notify By webhook {/hook}")

    with serve(world) as service:
        service.pass_time(20 * HOUR)
        settled.append("we are closing down on Friday")
        service.pass_time(40 * HOUR)

    about = [json.dumps(change) for change in list_delivered(world) if "closing down" in json.dumps(change)]
    assert 1 == len(about)
    assert [] == world.violations()
