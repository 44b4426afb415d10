"""Promise: operators monitor Tidings by metrics, a ping and a weekly report."""

from __future__ import annotations

import asyncio
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from tests.asgi import ask
from tests.world import World, play, serve
from tidings import __version__
from tidings.clock import DAY, HOUR, MINUTE
from tidings.errors import StoreStalledError
from tidings.service.run.monitor import Monitor
from tidings.web.routes import application
from tidings.web.server import HttpServer

TOKEN = "r" * 24
HOURLY = "Create Sentinel {name} Using {{{path}}} Monitor all words Fetch every 1 hour"


def live(world: World, *asked: dict[str, str]) -> list[Any]:
    """Return the answers of /metrics, after hours in which one page changed and one failed."""
    world.page("/a", "<p>one</p>")
    world.page("/gone", "", status=500)
    world.add(HOURLY.format(name="a", path="/a"))
    world.add(HOURLY.format(name="gone", path="/gone"))
    found: list[Any] = []

    with serve(world) as service:
        door = HttpServer(world.settings)
        service.monitor.committer.listen(door.note)
        service.pass_time(HOUR // 2)
        world.page("/a", "<p>two</p>")
        service.pass_time(3 * HOUR)
        found.extend(
            [service.run(ask(application(door.inside(service.monitor)), "/metrics", headers=each)) for each in asked]
        )
    return found


def test_metrics_match_the_database(world: World) -> None:
    """Counters are its polls and changes; no label names a page or sentinel."""
    (answer,) = live(world, {})
    families = {family.name: family for family in text_string_to_metric_families(answer.body.decode())}
    polls = {sample.labels["outcome"]: sample.value for sample in families["tidings_polls"].samples}
    kept = [poll.outcome for poll in world.polls()]

    assert "text/plain; version=0.0.4; charset=utf-8" == answer.headers["content-type"]
    assert {outcome: kept.count(outcome) for outcome in polls} == polls
    assert {"new": 1, "changed": 1} == {name: polls[name] for name in ("new", "changed")}
    assert polls["error"] > 0
    assert [("words", 1)] == [(one.labels["kind"], one.value) for one in families["tidings_changes"].samples]
    count = next(one for one in families["tidings_poll_duration_seconds"].samples if one.name.endswith("_count"))
    assert len(kept) == count.value
    assert [({"version": __version__}, 1)] == [(s.labels, s.value) for s in families["tidings_build_info"].samples]
    values = {
        name: families[name].samples[0].value
        for name in ("tidings_pages", "tidings_pages_in_error", "tidings_overdue_pages")
    }
    assert {"tidings_pages": 2, "tidings_pages_in_error": 1, "tidings_overdue_pages": 0} == values
    labels = {name for family in families.values() for sample in family.samples for name in sample.labels}
    assert {"outcome", "le", "kind", "class", "version"} == labels - {"role"}  # of processes on PostgreSQL
    assert "127.0.0.1" not in answer.body.decode()


def test_metrics_need_a_reader_s_token(world: World) -> None:
    """Without a configured token they are open."""
    world.flags["serve.token"] = TOKEN

    answers = live(world, {}, {"authorization": f"Bearer {TOKEN}"})

    assert [401, 200] == [answer.status for answer in answers]


def test_working_service_sends_a_ping_each_minute(world: World) -> None:
    """The answer does not matter; a stalled service sends none."""
    world.page("/a", "<p>one</p>")
    world.page("/ping/uuid", "", status=500)
    world.flags |= {"serve.ping_url": world.server.url("/ping/uuid")}
    world.add(HOURLY.format(name="a", path="/a"))
    pings: list[int] = []

    async def story(monitor: Monitor) -> None:
        await world.pass_time(monitor, HOUR - MINUTE)
        pings.append(world.server.paths().count("/ping/uuid"))

        async def refuse() -> None:
            raise StoreStalledError("the disk is full")

        make_ready, monitor.upkeep.make_ready = monitor.upkeep.make_ready, refuse  # type: ignore[method-assign]
        world.clock.advance(HOUR)
        for _ in range(3):
            try:
                await monitor.step()
            except StoreStalledError:
                await asyncio.sleep(0)
        pings.append(world.server.paths().count("/ping/uuid"))
        monitor.upkeep.make_ready = make_ready  # type: ignore[method-assign]
        await world.pass_time(monitor, MINUTE)
        pings.append(world.server.paths().count("/ping/uuid"))

    play(world, story)

    assert [60, 60, 62] == pings


def test_weekly_report_is_sent_on_monday(world: World) -> None:
    """Each receiver of changes gets it once, or at the next start; it names no sentinel."""
    world.flags |= {"notify.weekly": "true", "schedule.pace_seconds": "600"}
    hook, errors = world.receiver(), world.server.url("/errors")
    world.page("/a", "<p>one</p>")
    for name in ("a", "b"):
        world.add(f"{HOURLY.format(name=name, path='/a')} Notify by webhook {hook} Errors to webhook {errors}")

    async def starts(monitor: Monitor) -> None:
        await world.pass_time(monitor, 2 * HOUR)

    with serve(world) as service:
        service.pass_time(HOUR)
        world.page("/a", "<p>two</p>")
        service.pass_time(4 * DAY)
    world.clock.advance(2 * DAY)
    play(world, starts)
    play(world, starts)
    reports = [body["data"] for _, body in world.received if body["data"].get("event") == "week.reported"]
    checks = sum(
        1 for poll in world.polls() if poll.finished_at < world.events("week.reported")[0].data["since"] + 7 * DAY
    )

    assert 1 == len(reports)
    assert 0 == world.server.paths().count("/errors")
    subjects = world.read(lambda c: [*c.rows("SELECT subject FROM delivery WHERE changes = 0")])
    assert [("2 sentinels found 2 changes on 1 page in the week from 2023-11-13. All…",)] == subjects
    expected = (
        "2 sentinels found 2 changes on 1 page in the week from 2023-11-13. All pages can be read now."
        f" {checks} checks made, 0 failed; a fixed pace would have made {1008 - checks} more"
    )
    assert ("report", expected) == (reports[0]["record"], reports[0]["message"])


def test_no_report_is_sent_without_the_setting(world: World) -> None:
    """Without the setting a Monday passes in silence."""
    world.page("/a", "<p>one</p>")
    world.add(f"{HOURLY.format(name='a', path='/a')} Notify by webhook {world.receiver()}")

    with serve(world) as service:
        service.pass_time(8 * DAY)

    assert [] == world.received
