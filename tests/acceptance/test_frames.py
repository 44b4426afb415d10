"""Promise: pages with frames: framesets are always followed, iframes on request (sentinels §5.4,
W-120).
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.fakes import Page, WebServer
from tests.world import World, play, serve
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.isolation.runner import Died
from tidings.service.run.monitor import Monitor
from tidings.service.show.records import spell_poll, spell_reason
from tidings.storage.observed import members

FRAMES = '<title>Manual</title><frameset cols="20%,80%"><frame src="menu.html"><frame src="text.html"></frameset>'
WALL = "<title>Just a moment...</title><p>Checking your browser before accessing. Enable JavaScript and cookies to continue</p>"


def words(name: str, number: int = 30) -> str:
    return f"<h1>{name}</h1><p>{' '.join(f'{name}{n}' for n in range(number))}</p>"


def manual(world: World, **frames: str) -> None:
    """Serve a page with two frames."""
    world.page("/index.html", FRAMES, etag='"base"')
    for name, body in {"menu": words("menu"), "text": words("text")}.items():
        world.page(f"/{name}.html", frames.get(name, body), etag=f'"{name}"')


def watch(world: World, name: str = "s", path: str = "/index.html", more: str = "") -> None:
    world.add(f"Create Sentinel {name} Using {{{path}}} Monitor any change Fetch every 1 hour {more}")


def frames_of(world: World, page_id: int = 1) -> Any:
    return world.read(members.frames, page_id)


def test_change_in_a_frame_is_reported_with_its_frame(world: World):
    """W-120: the page itself answers 304 and one frame changes: one change, which names the frame."""
    manual(world)
    hook = world.receiver()
    watch(world, more=f"Notify By webhook {hook} immediate")

    with serve(world) as service:
        service.pass_time(HOUR)
        world.page("/text.html", words("text").replace("text7 ", "seven "), etag='"text 2"')
        service.pass_time(5 * HOUR)
    (change,) = world.changes()
    ((_, message),) = world.received
    url = world.server.url("/text.html")

    assert [{"old": "text7", "new": "seven"}] == change["updated"]
    assert [(url, [{"old": "text7", "new": "seven"}])] == [(f["url"], f["updated"]) for f in change["frames"]]
    assert "in text.html" == change["summary"].partition(":")[0]
    assert change["frames"] == message["data"]["frames"]
    assert [2, 2] == [version.frames for version in world.versions()]
    assert [2, 1, 2] == [len(world.versions(page_id)) for page_id in (1, 2, 3)]
    assert [] == world.violations()


def test_unchanged_page_with_frames_has_no_change(world: World):
    """Many checks are answered by 304: one version, and one request of each member per check."""
    manual(world)
    watch(world)

    play(world, lambda monitor: world.pass_time(monitor, 4 * HOUR + MINUTE))

    assert 1 == len(world.versions())
    assert [] == world.changes()
    assert 5 == world.server.paths().count("/text.html") == world.server.paths().count("/index.html")
    assert {"new", "unchanged"} == {poll.outcome for poll in world.polls()}
    assert [] == world.violations()


def test_each_frame_is_requested_conditionally(world: World):
    """Frames have validators of their own."""
    manual(world)
    watch(world)

    play(world, lambda monitor: world.pass_time(monitor, 2 * HOUR + MINUTE))
    asked = [seen.headers.get("if-none-match") for seen in world.server.seen if seen.path == "/text.html"]

    assert [None, '"text"', '"text"'] == asked


def test_every_request_belongs_to_a_paid_poll(world: World):
    """Each member has polls of its own."""
    manual(world)
    watch(world)

    play(world, lambda monitor: world.pass_time(monitor, 2 * HOUR + MINUTE))

    assert len(world.server.seen) == sum(poll.cost for poll in world.polls())
    assert ["frame"] * 3 == [spell_reason(poll.reason) for poll in world.polls(2)]


def test_host_gap_is_kept_between_members(make_world: Any):
    """With a gap of 5 s a check of a page with two frames takes 10 s."""
    world = make_world(fetch__host_gap_seconds="5")
    manual(world)
    watch(world)
    play(world, lambda monitor: world.pass_time(monitor, 2 * HOUR + MINUTE))
    at = sorted(poll.charged_at for poll in world.polls())

    assert 9 == len(world.server.seen) == len(at)
    assert all(later - earlier >= 5 * SECOND for earlier, later in itertools.pairwise(at))
    assert 10 * SECOND == world.polls(1)[0].finished_at - world.polls(1)[0].charged_at


def test_exhausted_budget_leaves_frames_unchanged(make_world: Any):
    """Two requests per check: one frame is skipped, the poll says so, and it is first at the next
    check.
    """
    world = make_world(budget__polls_per_day="48", budget__burst="2")
    manual(world)
    watch(world)
    play(world, world.settle)
    (poll,) = world.polls(1)

    assert ["/index.html", "/menu.html"] == world.server.paths()
    assert ("new", "partial") == (poll.outcome, poll.kind)
    assert "the budget" in poll.note
    play(world, lambda monitor: world.pass_time(monitor, 2 * DAY))
    assert {"/menu.html", "/text.html"} <= set(world.server.paths()[-6:])
    assert [] == world.changes()
    assert 2 == world.versions()[-1].frames
    assert [] == world.violations()


def test_failing_frame_keeps_its_version_and_is_notified_once(world: World):
    """It answers 500 for a day: no change, polls are partial, and the error and its end are
    notified once.
    """
    manual(world)
    hook = world.receiver()
    watch(world, more=f"Notify By webhook {hook} immediate")

    with serve(world) as service:
        service.pass_time(HOUR)
        world.page("/text.html", "", status=500)
        service.pass_time(DAY)
        world.page("/text.html", words("text"), etag='"text"')
        service.pass_time(DAY)
    reported = [message["type"] for _, message in world.received]
    partial = [poll for poll in world.polls(1) if poll.kind == "partial"]

    assert [] == world.changes()
    assert 1 == len(world.versions())
    assert ["page.partial", "page.whole"] == reported
    assert "text.html (5xx)" in world.received[0][1]["data"]["summary"]
    assert len(partial) > 5
    assert all("text.html" in poll.note and poll.outcome == "unchanged" for poll in partial)
    assert "" == world.polls(1)[-1].kind
    assert [] == world.violations()


def test_change_beside_a_failing_frame_is_reported(world: World):
    """The page is partial."""
    manual(world)
    watch(world)

    with serve(world) as service:
        service.pass_time(HOUR)
        world.page("/text.html", "", status=404)
        world.page("/menu.html", words("menu") + "<p>brand new</p>")
        service.pass_time(2 * HOUR)
    (change,) = world.changes()
    (poll,) = [poll for poll in world.polls(1) if poll.outcome == "changed"]

    assert ["brand new"] == change["inserted"]
    assert "partial" == poll.kind
    assert [] == world.violations()


def test_wall_in_a_frame_is_not_stored(world: World):
    """The frame keeps its last good version; the end of the wall is no change."""
    manual(world)
    watch(world)

    with serve(world) as service:
        service.pass_time(HOUR)
        world.page("/text.html", WALL)
        service.pass_time(6 * HOUR)
        world.page("/text.html", words("text"))
        service.pass_time(2 * DAY)

    assert [] == world.changes()
    assert "quarantined" in {poll.outcome for poll in world.polls(3)}
    assert 1 == len(world.versions()) == len(world.versions(3))
    assert ["page.partial", "page.whole"] == [e.type for e in world.events("page.partial", "page.whole")]
    assert [] == world.violations()


def test_first_answer_of_a_failing_frame_is_a_baseline(world: World):
    """The frame failed from the first check."""
    manual(world)
    world.page("/text.html", "", status=500)
    watch(world)

    with serve(world) as service:
        service.pass_time(3 * HOUR)
        world.page("/text.html", words("text"))
        service.pass_time(18 * HOUR)
        world.page("/text.html", words("text") + "<p>news</p>")
        service.pass_time(2 * HOUR)

    assert [1, 2, 2] == [version.frames for version in world.versions()]
    assert [["news"]] == [change["inserted"] for change in world.changes()]
    assert [] == world.violations()


def test_replaced_frame_is_deleted_and_inserted_whole(world: World):
    """The page names another frame instead."""
    manual(world)
    world.page("/news.html", "<p>hot news</p>")
    watch(world)

    with serve(world) as service:
        service.pass_time(HOUR)
        world.page("/index.html", FRAMES.replace("text.html", "news.html"), etag='"base 2"')
        service.pass_time(2 * HOUR)
    (change,) = world.changes()

    assert ["hot news"] == change["inserted"]
    assert change["deleted"][0].startswith("text text0 text1")
    assert ["news.html", "text.html"] == [frame["url"].rpartition("/")[2] for frame in change["frames"]]
    assert ["menu.html", "news.html"] == [f.identity.url.rpartition("/")[2] for f in frames_of(world)]
    assert [] == world.violations()


def test_page_that_loses_its_frames_becomes_an_ordinary_page(world: World):
    """The frames are deleted and its own text is inserted; later changes are reported as usual."""
    manual(world)
    watch(world)

    with serve(world) as service:
        service.pass_time(HOUR)
        world.page("/index.html", "<p>all on one page</p>", etag='"base 2"')
        service.pass_time(HOUR)
        world.page("/index.html", "<p>all on two pages</p>", etag='"base 3"')
        service.pass_time(HOUR)
    first, second = world.changes()

    assert (["all on one page"], 2) == (first["inserted"], len(first["deleted"]))
    assert [("one page", "two pages")] == [(pair["old"], pair["new"]) for pair in second["updated"]]
    assert [] == frames_of(world)
    assert [2, 0, 0] == [version.frames for version in world.versions()]
    assert [] == world.violations()


def test_iframes_are_followed_on_request(world: World):
    """`Frames 2` follows iframes and reads inline documents; without it, or with `Frames 1`, they
    are not requested.
    """
    world.page("/a", words("a") + '<iframe src="/inner"></iframe><iframe srcdoc="<p>written here</p>"></iframe>')
    world.page("/inner", words("inner"))
    watch(world, "plain", "/a")
    watch(world, "alone", "/a", "Frames 1")

    with serve(world) as service:
        service.settle()
        assert "/inner" not in world.server.paths()
        watch(world, "deep", "/a", "Frames 2")
        service.pass_time(HOUR)
        world.page("/inner", words("inner").replace("inner3 ", "third "))
        world.page("/a", words("a") + '<iframe src="/inner"></iframe><iframe srcdoc="<p>changed here</p>"></iframe>')
        service.pass_time(2 * HOUR)
    (change,) = world.changes()

    assert "deep" == change["sentinel"]
    assert [("written", "changed"), ("inner3", "third")] == [(p["old"], p["new"]) for p in change["updated"]]
    assert ["/a", "/inner"] == [f["url"].removeprefix(world.server.url("")) for f in change["frames"]]
    assert [] == world.violations()


def test_frames_can_be_switched_off(world: World):
    """`Frames 1` watches only the frameset."""
    manual(world)
    watch(world, more="Frames 1")

    play(world, lambda monitor: world.pass_time(monitor, 2 * HOUR))

    assert {"/index.html"} == set(world.server.paths())


def test_foreign_and_excess_frames_are_not_requested(world: World):
    """At most eight frames of the page's own site are, and never the page itself."""
    with WebServer("127.0.0.2") as other:
        other.pages["/ad"] = Page(b"<p>buy</p>", {"Content-Type": "text/html"})
        sources = [other.url("/ad"), "/a", "/a#again", "data:text/html,x", *(f"/{n}" for n in range(12))]
        world.page("/a", words("a") + "".join(f'<iframe src="{source}"></iframe>' for source in sources))
        for n in range(12):
            world.page(f"/{n}", words(f"frame{n}x"))
        watch(world, path="/a", more="Frames 2")
        play(world, world.settle)

        assert [] == other.seen
    assert ["/a", *(f"/{n}" for n in range(8))] == world.server.paths()
    assert 8 == world.versions()[0].frames


def test_frame_of_two_pages_is_requested_once(world: World):
    """Both pages are due at the same time, and both have its change."""
    manual(world)
    world.page("/other.html", FRAMES.replace("Manual", "Other").replace("menu.html", "index2.html"))
    world.page("/index2.html", words("index"))
    watch(world)
    watch(world, "t", "/other.html")

    with serve(world) as service:
        service.pass_time(MINUTE)
        assert 1 == world.server.paths().count("/text.html")
        world.page("/text.html", words("text") + "<p>news</p>")
        service.pass_time(HOUR)

    assert 2 == len([s for s in world.server.seen if s.path == "/text.html" and "if-none-match" not in s.headers])
    assert {"s": ["news"], "t": ["news"]} == {change["sentinel"]: change["inserted"] for change in world.changes()}
    assert [] == world.violations()


def test_watched_frame_shares_the_polls_of_its_page(world: World):
    """It is requested once and reported to both sentinels."""
    manual(world)
    watch(world)
    watch(world, "frame", "/text.html")

    with serve(world) as service:
        service.pass_time(MINUTE)
        assert 1 == world.server.paths().count("/text.html")
        world.page("/text.html", words("text") + "<p>news</p>")
        service.pass_time(HOUR)
    alone, whole = sorted(world.changes(), key=lambda change: str(change["sentinel"]))

    assert 2 == len([s for s in world.server.seen if s.path == "/text.html" and "if-none-match" not in s.headers])
    assert (["news"], ["news"]) == (alone["inserted"], whole["inserted"])
    assert "frames" not in alone
    assert [] == world.violations()


def test_circular_frames_terminate(world: World):
    """Two watched framesets are frames of each other: every check ends, and both report changes."""
    for name, other in (("a", "b"), ("b", "a")):
        world.page(f"/{name}", f"<title>{name}</title><frameset><frame src=/{other}><frame src=/c></frameset>")
        watch(world, name, f"/{name}")
    world.page("/c", words("c"))

    with serve(world) as service:
        service.pass_time(2 * HOUR)
        world.page("/c", words("c") + "<p>news</p>")
        service.pass_time(2 * HOUR)

    assert {"a", "b"} == {change["sentinel"] for change in world.changes()}
    assert all(change["inserted"] == ["news"] for change in world.changes())
    assert [] == world.violations()


def test_frames_survive_a_restart(world: World):
    """A change of a frame during the downtime is found."""
    manual(world)
    watch(world)
    play(world, lambda monitor: world.pass_time(monitor, MINUTE))
    world.page("/text.html", words("text") + "<p>news</p>")
    world.clock.move_to(world.clock.now() + 2 * HOUR)
    play(world, lambda monitor: world.pass_time(monitor, HOUR))

    assert [["news"]] == [change["inserted"] for change in world.changes()]
    assert [] == world.violations()


def test_frame_that_becomes_a_frameset_is_read_whole(world: World):
    """The outer page has only its own body; a sentinel on the frame has its frames."""
    world.page("/outer", "<frameset><frame src=/inner></frameset>")
    world.page("/inner", "<title>i</title><frameset><frame src=/leaf></frameset>")
    world.page("/leaf", words("leaf"))
    watch(world, "outer", "/outer")

    with serve(world) as service:
        service.pass_time(HOUR)
        assert "/leaf" not in world.server.paths()
        watch(world, "inner", "/inner")
        service.pass_time(2 * HOUR)
        world.page("/leaf", words("leaf") + "<p>news</p>")
        service.pass_time(2 * HOUR)

    assert [("inner", ["news"])] == [(change["sentinel"], change["inserted"]) for change in world.changes()]
    assert [] == world.violations()


@pytest.mark.parametrize("name", ["menu", "text"])
def test_robots_txt_is_obeyed_for_each_frame(make_world: Any, name: str):
    """A forbidden frame is not requested and the owner is notified; the rest of the page is
    watched.
    """
    world = make_world(fetch__robots="true")
    manual(world)
    disallowed = f"User-agent: *\nDisallow: /{name}.html\n".encode()
    world.server.pages["/robots.txt"] = Page(disallowed, {"Content-Type": "text/plain"})
    watch(world)
    play(world, lambda monitor: world.pass_time(monitor, 2 * HOUR))

    assert f"/{name}.html" not in world.server.paths()
    assert 1 == world.versions()[0].frames
    assert [["robots"]] == [[f["kind"] for f in e.data["frames"]] for e in world.events("page.partial")]
    assert [] == world.violations()


def test_ignored_robots_txt_is_ignored_for_frames_too(make_world: Any):
    """The reason holds for the site; the polls of the frames have it."""
    world = make_world(fetch__robots="true")
    manual(world)
    world.server.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /\n", {"Content-Type": "text/plain"})
    watch(world, more='Robots ignored because "it is mine"')
    play(world, lambda monitor: world.pass_time(monitor, HOUR + MINUTE))

    assert 2 == world.versions()[0].frames
    assert all(spell_poll(poll).endswith("robots.txt ignored: it is mine") for poll in world.polls())


@pytest.mark.parametrize("job", ["examine", "examine_framed"])
def test_failed_job_loses_no_change_of_a_page_with_frames(world: World, job: str):
    """The worker dies over the outer page or over all: the version is stored and its change
    reported once, later.
    """
    manual(world)
    watch(world)

    async def story(monitor: Monitor) -> None:
        await world.pass_time(monitor, MINUTE)
        detector: Any = monitor.polling.poller._detector
        run, left = detector._runner.run, [job]

        async def mortal(function: Any, argument: Any, *, seconds: float | None = None) -> Any:
            if function.__name__ in left:
                left.remove(function.__name__)
                return Died("crash", "the worker died")
            return await run(function, argument, seconds=seconds)

        detector._runner = type("Mortal", (), {"run": staticmethod(mortal)})()
        world.page("/index.html", FRAMES.replace("20%,80%", "30%,70%"), etag='"base 2"')
        world.page("/text.html", words("text") + "<p>news</p>")
        await world.pass_time(monitor, 2 * HOUR)
        detector._runner = type("Alive", (), {"run": staticmethod(run)})()

    play(world, story)

    assert [["news"]] == [change["inserted"] for change in world.changes()]
    assert 2 == world.versions()[-1].frames == len(frames_of(world))
    assert [] == world.violations()
