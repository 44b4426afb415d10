"""Promise: a page that scripts build is watched as a person sees it, at its real cost."""

from __future__ import annotations

import json

import pytest

from tests.browsers import need_chromium
from tests.fakes import Page
from tests.world import World, play, serve
from tidings.cli.main import main
from tidings.clock import HOUR, MINUTE
from tidings.service.on_demand.seen_now import SCRIPTS_ONLY, page_warnings
from tidings.service.run.monitor import Monitor

SHELL = "<!doctype html><title>Shop</title><body><div id=app></div><script src=/app.js></script>"
APP = b"""
fetch('/goods.json').then(r => r.json()).then(goods => {
  document.getElementById('app').innerHTML = goods.map(g => `<h2>${g.name}</h2><p>costs ${g.price} euro</p>`).join('');
});
"""


def open_shop(world: World, price: int) -> None:
    world.page("/", SHELL)
    world.server.pages["/app.js"] = Page(APP, {"Content-Type": "text/javascript"})
    goods = [{"name": "Kettle", "price": price}, {"name": "Teapot", "price": 30}]
    world.server.pages["/goods.json"] = Page(json.dumps(goods).encode(), {"Content-Type": "application/json"})


def test_change_of_rendered_text_is_notified(world, monkeypatch, capsys, tmp_path):
    """The document never changes, its data do: a picture of each version is stored, and each poll
    records its cost.
    """
    need_chromium()
    open_shop(world, 20)
    hook = world.receiver()
    world.add(
        f"Create Sentinel shop Using {{/}} Monitor all words Render browser screenshot Fetch every 1 hour Notify By webhook {hook}"
    )

    with serve(world) as service:
        service.pass_time(10 * MINUTE)
        open_shop(world, 25)
        service.pass_time(2 * HOUR)
    (change,) = world.changes()
    polls = world.polls()
    kept = world.versions()

    assert ([{"old": "20", "new": "25"}], 1) == (change["updated"], len(world.received))
    assert ["new", "changed", "unchanged"] == [poll.outcome for poll in polls]
    assert [(10.0, 3)] * 3 == [(poll.cost, poll.requests) for poll in polls]
    assert 2 == len({version.screenshot for version in kept if version.screenshot})
    assert [] == world.violations()

    monkeypatch.setenv("TIDINGS_DATA", str(world.directory))
    assert 0 == main(["history", "shop"])
    assert "PICTURE" in capsys.readouterr().out
    assert 0 == main(["history", "shop", "--screenshot", "2", "--output", str(tmp_path / "page.webp")])
    assert b"WEBP" == (tmp_path / "page.webp").read_bytes()[8:12]
    assert 2 == main(["history", "shop", "--screenshot", "9", "--output", str(tmp_path / "none.webp")])
    assert "there is no version 9 of this page" in capsys.readouterr().err


def test_page_without_rendered_text_suggests_the_clause(world):
    """The first check finds no words, and its answer names the clause."""
    open_shop(world, 20)
    world.add("Create Sentinel shop Using {/} Monitor all words Fetch every 1 hour")
    play(world, lambda monitor: world.pass_time(monitor, MINUTE))
    (first,) = world.events("page.first")

    assert first.data["scripts_only"]
    assert [SCRIPTS_ONLY] == page_warnings(scripts_only=True, login=False, problem="")
    assert "Render browser" in SCRIPTS_ONLY


def test_trial_renders_the_page(world, monkeypatch, capsys, tmp_path):
    """`tidings test` renders it once, stores nothing, and prints its words."""
    need_chromium()
    open_shop(world, 20)
    for name, value in {**world.flags, "data": str(world.directory)}.items():
        monkeypatch.setenv(f"TIDINGS_{name}".upper().replace(".", "_"), value)
    statement = world.text("Create Sentinel shop Using {/} Monitor all words Render browser")
    (tmp_path / "shop.txt").write_text(statement, encoding="utf-8")

    assert 0 == main(["test", str(tmp_path / "shop.txt"), "--json"])
    (tried,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert ("ok", "Kettle costs 20 euro Teapot costs 30 euro", []) == (
        tried["outcome"],
        " ".join(tried["first_words"].split()),
        tried["warnings"],
    )


def test_failed_data_request_is_no_empty_list(world):
    """No version, no change, an error that names the part; then all is as before."""
    need_chromium()
    open_shop(world, 20)
    world.add("Create Sentinel shop Using {/} Monitor all words Render browser Fetch every 1 hour")

    with serve(world) as service:
        service.pass_time(10 * MINUTE)
        world.server.pages["/goods.json"] = Page(b"[]", status=503)
        service.pass_time(51 * MINUTE)
        open_shop(world, 20)
        service.pass_time(5 * MINUTE)

    assert [] == world.changes()
    assert 1 == len(world.versions())
    failed = [poll for poll in world.polls() if poll.outcome == "error"]
    assert {"busy"} == {poll.kind for poll in failed}
    assert all("/goods.json" in poll.note for poll in failed)
    assert "unchanged" == world.polls()[-1].outcome


@pytest.mark.parametrize("burst", ["15", "5"])
def test_expensive_page_is_neither_starved_nor_over_budget(make_world, burst):
    """Plain pages that demand more than the budget do not block a rendered one."""
    need_chromium()
    world: World = make_world(
        budget__polls_per_day="960", budget__burst=burst, schedule__policy="round_robin", schedule__pace_seconds="60"
    )
    open_shop(world, 20)
    world.add("Create Sentinel shop Using {/} Monitor all words Render browser")
    for n in range(5):
        world.page(f"/{n}", f"<p>{n}</p>")
        world.add(f"Create Sentinel s{n} Using {{/{n}}} Monitor any change")

    play(world, lambda monitor: world.pass_time(monitor, 40 * MINUTE))
    polls = world.polls()
    rendered = [poll for poll in polls if poll.page_id == 1]

    assert {min(10.0, float(burst))} == {poll.cost for poll in rendered}
    assert 2 <= len(rendered)
    assert sum(poll.cost for poll in polls) <= float(burst) + 40 * 960 / 1440
    assert {1.0} == {poll.cost for poll in polls if poll.page_id != 1}


def test_requests_beyond_the_grant_are_charged_singly(make_world):
    """Three requests, two of them paid by the grant: the poll costs three."""
    need_chromium()
    world: World = make_world(fetch__browser_cost="2")
    open_shop(world, 20)
    world.add("Create Sentinel shop Using {/} Monitor all words Render browser Fetch every 1 hour")
    play(world, lambda monitor: world.pass_time(monitor, MINUTE))

    assert [(3.0, 3)] == [(poll.cost, poll.requests) for poll in world.polls()]


def test_pages_that_wait_for_the_browser_are_not_charged(make_world):
    """Four rendered pages and one browser: all are polled in turn."""
    need_chromium()
    world: World = make_world()
    for n in range(4):
        world.page(f"/{n}", f"<p>page {n}</p><script>document.body.append('made')</script>")
        world.add(f"Create Sentinel s{n} Using {{/{n}}} Monitor all words Render browser Fetch every 1 hour")
    open_at_once = []

    async def story(monitor: Monitor) -> None:
        choose = monitor.planner.choose

        def choosing(*args, **more):
            grants = choose(*args, **more)
            open_at_once.append(len(grants))
            return grants

        monitor.planner.choose = choosing  # type: ignore[method-assign]
        await world.pass_time(monitor, MINUTE)

    play(world, story)

    assert ["new"] * 4 == [poll.outcome for poll in world.polls()]
    assert 1 == max(open_at_once)
