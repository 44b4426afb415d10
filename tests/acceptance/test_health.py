"""Promise: whatever keeps a sentinel from finding or sending changes is shown by `list`, `show`,
`doctor` and at the end of `check`, in the same words, as long as it lasts.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

import tidings.cli.health
import tidings.cli.run.check
import tidings.cli.show.doctor
import tidings.cli.show.show
from tests.world import World, play
from tidings.cli.main import main
from tidings.clock import DAY, HOUR
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event
from tidings.service.health.sources import SOURCES, health_of
from tidings.service.run.assembly import poller
from tidings.storage.watches import events, sentinels

HOURLY = "Create Sentinel s Using {/a} Monitor {what} Fetch every 1 hour"
LINKS = "".join(f"<a href=/{n}>x</a>" for n in range(25_001))
FEED = "<rss><channel>" + "".join(f"<item><guid>{n}</guid></item>" for n in range(50_001)) + "</channel></rss>"
COSTLY = "<i>x</i>" * 15_000

Act = Callable[[World], None]


class Tidings:
    """The commands, at the time of a world's clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, world: World, *words: str) -> str:
        """Run a command and return its output."""
        for name, value in world.flags.items():
            self._monkeypatch.setenv(f"TIDINGS_{name.upper().replace('.', '_')}", value)
        for module in (tidings.cli.run.check, tidings.cli.show.doctor, tidings.cli.health, tidings.cli.show.show):
            self._monkeypatch.setattr(module, "SystemClock", lambda: world.clock)
        self._monkeypatch.setattr(
            tidings.cli.run.check, "poller", lambda settings, **more: poller(settings, clock=world.clock, **more)
        )
        assert main(["--data", str(world.directory), *words]) in {0, 3}
        return self._capsys.readouterr().out


@pytest.fixture
def tidings_at(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tidings:
    return Tidings(monkeypatch, capsys)


def watch(world: World, what: str = "all words", more: str = "") -> None:
    """Watch the page /a every hour."""
    world.add(f"Create Sentinel s Using {{/a}} Monitor {what} Fetch every 1 hour {more}")


def hours(world: World, number: float) -> None:
    """Let this number of hours pass."""
    play(world, lambda monitor: world.pass_time(monitor, round(number * HOUR)))


# -- the stories, each ends in one trouble -----------------------------------------------------------------------------------------


def _make_gone(world: World) -> None:
    world.page("/a", "", status=404)
    watch(world)
    hours(world, 5)


def _fail_once(world: World) -> None:
    world.page("/a", "", status=500)
    watch(world)
    hours(world, 0)


def _many_links(world: World) -> None:
    world.page("/a", LINKS)
    watch(world, "links")
    hours(world, 0)


def _many_links_later(world: World) -> None:
    world.page("/a", "<p>fine")
    watch(world, "links")
    hours(world, 0)
    world.page("/a", LINKS)
    hours(world, 1)


def _many_entries(world: World) -> None:
    world.page("/a", FEED, headers={"Content-Type": "application/rss+xml"})
    watch(world, "items inserted")
    hours(world, 0)


def _costly_selector(world: World) -> None:
    world.page("/a", COSTLY)
    watch(world, 'all words in xpath "//*[count(//*)>0]"')
    hours(world, 0)


def _costly_comparison(world: World) -> None:
    _costly_selector(world)
    world.page("/a", f"<p>other{COSTLY}")
    hours(world, 1)


def _part_missing(world: World) -> None:
    world.page("/a", "<p>one")
    watch(world, 'all words in css ".none"')
    hours(world, 0)


def _refusing(world: World) -> None:
    world.page("/a", "<p>one")
    watch(world, more=f"Notify By webhook {world.receiver(statuses=lambda _: 503)} immediate")
    hours(world, 0)
    world.page("/a", "<p>two")
    hours(world, 2)  # a first change waits a minute


def _switch_off(world: World) -> None:
    world.page("/a", "<p>one")
    watch(world, more=f"Notify By webhook {world.receiver(statuses=lambda _: 410)} immediate")
    hours(world, 0)
    world.page("/a", "<p>two")
    hours(world, 2)  # a first change waits a minute


def _restless(world: World) -> None:
    turns = itertools.count()

    def answer(_: Any, wire: Any) -> None:
        rows = "".join(f"<tr><td>n{(next(turns) * 7919 + row * 31) % 99991}</td></tr>" for row in range(150))
        page = f"<table>{rows}</table>".encode()
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(page), page))

    world.server.pages["/a"] = answer
    watch(world)
    hours(world, 48)


def _hold(world: World) -> None:
    world.page("/a", "", status=429, headers={"Retry-After": "7200"})
    watch(world)
    hours(world, 0)


def _move(world: World) -> None:
    world.page("/b", "<p>here")
    world.page("/a", "", status=301, headers={"Location": "/b"})
    watch(world)
    hours(world, 49)


def _frame_fails(world: World) -> None:
    world.page("/a", "<frameset><frame src=/menu><frame src=/text></frameset>")
    world.page("/menu", "<p>menu")
    world.page("/text", "", status=410)
    watch(world)
    hours(world, 3)


def _nobody_polls(world: World) -> None:
    world.page("/a", "<p>one")
    watch(world)
    hours(world, 0)
    world.clock.advance(DAY)


def _class_lost(world: World) -> None:
    world.page("/a", "<p>one")
    world.flags["budget.classes"] = "gentle: 100 per day"
    watch(world, more="Class gentle")
    hours(world, 0)
    world.flags["budget.classes"] = "other: 1 per week"


def _event_fails(world: World) -> None:
    file = world.directory.parent / "report"
    file.write_text("one")
    world.flags["events.allow_files"] = str(file)
    world.page("/a", "<p>one")
    world.add(f'Create Event report Using file "{file}" every 10 min')
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch on event(report)")
    hours(world, 1)
    file.unlink()
    hours(world, 1)


def _not_stored(world: World) -> None:
    world.page("/a", "<p>one")
    watch(world)
    hours(world, 0)
    broken = Event(
        type=EventType.PROBLEM_UNIT, at=world.clock.now(), page_id=1, data={"error": "the disk took nothing"}
    )
    world.write(events.append, [broken])


def _heal(world: World) -> None:
    words = " ".join(f"word{n}" for n in range(30))
    world.page("/a", f'<p>top</p><div class="news" id="x"><h2>News</h2><p>{words}</p></div>')
    watch(world, 'all words in css ".news"')
    hours(world, 1)
    world.page("/a", f'<p>top</p><div class="fresh" id="x"><h2>News</h2><p>{words} more</p></div>')
    hours(world, 3)


def _text_unreadable(world: World) -> None:
    world.page("/a", "<p>one")
    watch(world)
    hours(world, 0)
    world.write(lambda c: sentinels.reword(c, 1, "Create nonsense", at=world.clock.wall()))
    hours(world, 1)


STORIES: dict[str, tuple[Act, str, str]] = {
    "gone": (_make_gone, "error(404)", "error(404) since"),
    "failed once": (_fail_once, "shaky(5xx)", "Tidings tries again"),
    "too many links": (_many_links, "not compared", "more than 25,000 links"),
    "too many links, later": (_many_links_later, "not compared", "more than 25,000 links"),
    "too many entries": (_many_entries, "not compared", "more than 50,000 entries"),
    "a costly selector": (_costly_selector, "not compared", "elements of this page"),
    "a costly comparison": (_costly_comparison, "not compared", "versions 1 and 2 of"),
    "a part is missing": (_part_missing, "part missing", "matches nothing"),
    "a receiver refuses": (_refusing, "not delivered", "accepts no messages since"),
    "a receiver is off": (_switch_off, "switched off", "is switched off after failures since"),
    "restless": (_restless, "restless", "differs at each check"),
    "a host is held": (_hold, "held", "requests paused until"),
    "moved": (_move, "moved", "has moved permanently to"),
    "a frame fails": (_frame_fails, "partial", "its last content is kept"),
    "a class is lost": (_class_lost, "no such class", "names the class gentle, which is not defined"),
    "an event fails": (_event_fails, "event fails", "report cannot happen"),
    "a text is unreadable": (_text_unreadable, "unreadable", "cannot be read, so its pages are not checked"),
    "not stored": (_not_stored, "not stored", "the disk took nothing"),
    "healed": (_heal, "healed", "selector healed"),
}


@pytest.mark.parametrize("name", STORIES)
def test_each_trouble_is_shown_alike_by_all_commands(
    make_world: Callable[..., World], tidings_at: Tidings, name: str
) -> None:
    """`list` has it in a column and below, `show` and `doctor` as a line, `check` before its last
    line, which counts it.
    """
    world = make_world(detect__second_polls="true", fetch__page_floor_seconds="60")
    act, brief, part = STORIES[name]
    act(world)
    output = {
        verb: tidings_at(world, *words)
        for verb, words in {"list": ["list"], "show": ["show", "s"], "doctor": ["doctor"]}.items()
    }
    record = json.loads(tidings_at(world, "list", "--json").splitlines()[0])
    (words,) = {t["message"] for t in record["troubles"] if t["trouble"] == brief and part in t["message"]}
    checked = tidings_at(world, "check")

    assert dict.fromkeys(output, True) == {verb: words in text for verb, text in output.items()}
    assert brief in output["list"].splitlines()[1] or "+" in output["list"].splitlines()[1]
    assert words in checked
    assert " trouble" in checked.splitlines()[-1]


def test_missing_service_is_shown(world: World, tidings_at: Tidings) -> None:
    """No process polled for a day: `list`, `show` and `doctor` say that the page is overdue and
    why, until a check.
    """
    _nobody_polls(world)
    output = [tidings_at(world, *words) for words in (["list"], ["show", "s"], ["doctor"])]
    checked = tidings_at(world, "check")

    assert [True] * 3 == ["overdue since" in text and "no process is checking pages" in text for text in output]
    assert "1 checked, 0 changed" == checked.splitlines()[-1]
    assert "overdue" not in tidings_at(world, "list")


def test_healthy_page_has_no_extra_line(world: World, tidings_at: Tidings) -> None:
    """Its status is ok."""
    world.page("/a", "<p>one")
    watch(world)
    hours(world, 0)
    table = tidings_at(world, "list").splitlines()

    assert 2 == len(table)
    assert "ok" in table[1].split()
    assert "1 checked, 0 changed" == tidings_at(world, "check", "s").splitlines()[-1]


def test_page_that_can_be_compared_again_is_healthy(world: World, tidings_at: Tidings) -> None:
    """The trouble ends with its cause; the failed comparison is listed for a week."""
    _many_links_later(world)
    world.page("/a", "<p>fine again")
    hours(world, 1)
    world.page("/a", "<p>fine as ever")
    hours(world, 1)
    after = world.read(health_of, world.settings, now=world.clock.wall(), is_polled=True)
    world.clock.advance(8 * DAY)
    hours(world, 0)
    later = world.read(health_of, world.settings, now=world.clock.wall(), is_polled=True)

    assert ("ok", {"note"}) == (after.status, {t.severity for t in after.troubles})
    assert () == later.troubles


def test_page_that_cannot_be_compared_is_notified_at_the_first_check(world: World) -> None:
    """The owner need not wait for news that cannot come."""
    hook = world.receiver()
    world.page("/a", LINKS)
    watch(world, "links", f"Notify By webhook {hook} immediate")
    hours(world, 0)

    assert ["comparison.given_up"] == [m["data"]["event"] for _, m in world.received]
    assert "so no change can be reported" in world.received[0][1]["data"]["summary"]


def test_every_kind_of_trouble_has_a_story() -> None:
    """A new kind needs a story here, or a test of its own."""
    reported = {
        "lease": "test_takeover",
        "comparisons": "a costly comparison",
        "deliveries": "test_service/test_health",
        "checks": "above",
        "secrets": "test_every_fault",
        "clock": "test_wrong_clock",
        "stalls": "unit/service/health/test_interruptions",
        "outages": "unit/service/health/test_interruptions",
        "second checks": "test_first_changes",
        "masks": "unit/service/health/test_interruptions",
        "search index": "unit/service/health/test_interruptions",
        "processes": "unit/service/health/test_cluster",
    }

    assert set(SOURCES) == {
        "pages", "comparable pages", "frames", "parts", "healed parts", "restless pages", "moved pages", "hosts", "receivers",
        "events", "classes", "texts", "problems", *reported,
    }  # fmt: skip
