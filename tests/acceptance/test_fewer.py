"""Promise: what silence would hide is shown before it is made, and can be undone, as an end can."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import quote

import pytest

from tests.acceptance.test_screens import edit, face, see, send, words_of
from tests.world import World, play
from tidings.clock import DAY, HOUR
from tidings.service.run.monitor import Monitor
from tidings.storage.watches import sentinels


def text_of(world: World, name: str) -> str:
    return str(world.read(sentinels.find, name).text)


def test_what_is_not_relevant_is_previewed_left_out_and_can_be_taken_back(world: World) -> None:
    """A counter that nobody wants: 2 of 3 changes would have been hidden, the price stays."""
    world.page("/a", "<p>Seen by 5 people</p><p>Price 129 EUR</p>")
    world.add("Create Sentinel shop Using {/a} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            for seen, price in ((6, 129), (7, 129), (7, 99)):
                world.page("/a", f"<p>Seen by {seen} people</p><p>Price {price} EUR</p>")
                await world.pass_time(monitor, HOUR)
            ids = re.findall(r'id="c([0-9a-f]+)"', await see(app, "/"))
            said = words_of(await see(app, f"/changes/{ids[-1]}/fewer"))
            assert r'Exclude regex "Seen\s+by:? \d+' in unescape(said)
            assert "It would have hidden 2 of 3 changes in 30 days" in said
            assert "still have been notified of 1" in said
            for edit in ("9", "0099", "-1", "x"):
                await see(app, f"/changes/{ids[-1]}/fewer?edit={edit}")
            before = text_of(world, "shop")
            done = await send(app, f"/changes/{ids[-1]}/fewer", ("how", "noise"), ("edit", "0"))
            assert "/sentinels/shop?undo=1" == done.headers["location"]
            assert "Exclude" in text_of(world, "shop")
            world.page("/a", "<p>Seen by 900 people</p><p>Price 99 EUR</p>")
            await world.pass_time(monitor, 2 * HOUR)
            assert 3 == len(world.changes("shop"))
            assert "Undo" in words_of(await see(app, done.headers["location"]))
            await send(app, "/sentinels/shop", ("act", "undo"), ("revision", "1"))
            assert before == text_of(world, "shop")

    play(world, story)


def test_a_page_can_be_quiet_until_it_changes_more_than_usual(world: World) -> None:
    """What is usual is what the page itself has done so far."""
    world.page("/a", "<p>start</p>")
    world.add("Create Sentinel wiki Using {/a} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            for number in range(6):
                world.page("/a", f"<p>{'word ' * number}number{'one two three' if number == 5 else number}</p>")
                await world.pass_time(monitor, HOUR)
            newest = re.findall(r'id="c([0-9a-f]+)"', await see(app, "/"))[0]
            said = words_of(await see(app, f"/changes/{newest}/fewer?how=size"))
            assert "where changed >" in unescape(said)
            assert re.search(r"would have hidden \d of 6 changes", said)
            await send(app, f"/changes/{newest}/fewer", ("how", "size"), ("edit", "0"))
            assert "where changed >" in text_of(world, "wiki")

    play(world, story)


def test_what_was_ended_can_be_taken_back_for_a_day(world: World) -> None:
    """Under its name, with what happened meanwhile; not after a day, nor if the name is taken."""
    world.page("/a", "<p>Price 129 EUR</p>")
    world.add("Create Sentinel shop Using {/a} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            await send(app, "/sentinels/shop", ("act", "drop"))
            await world.pass_time(monitor, HOUR)
            assert "can be taken back" in words_of(await see(app, "/sentinels/shop"))
            await edit(world, monitor, "109")
            assert [] == world.changes("shop")
            await send(app, "/sentinels/shop", ("act", "return"))
            await world.pass_time(monitor, 2 * HOUR)
            assert "enabled" == world.read(sentinels.find, "shop").state
            assert 1 == len(world.changes("shop"))
            await send(app, "/sentinels/shop", ("act", "drop"))
            world.add("Create Sentinel shop Using {/b} Monitor all words")
            assert 422 == (await send(app, "/sentinels/shop", ("act", "return"))).status
            await send(app, "/sentinels/shop", ("act", "drop"))
            await world.pass_time(monitor, DAY + HOUR)
            assert "can be taken back" not in words_of(await see(app, "/sentinels/shop"))

    play(world, story)


@pytest.mark.parametrize("how", ["noise", "size", "nonsense"])
def test_a_change_of_which_nothing_can_be_left_out_says_what_else_helps(world: World, how: str) -> None:
    """No button that would do nothing, and no text of a page that is taken for markup."""
    world.page("/a", "<p>a</p>")
    world.add("Create Sentinel shop Using {/a} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            world.page("/a", f"<p>{' '.join(f'&lt;b&gt;w{k}' for k in range(40))}</p>")
            await world.pass_time(monitor, HOUR)
            newest = re.findall(r'id="c([0-9a-f]+)"', await see(app, "/"))[0]
            page = await see(app, f"/changes/{newest}/fewer?how={quote(how)}&edit=7")
            assert "<b>w" not in page
            assert "Leave it out" not in words_of(page)
            refused = await send(app, f"/changes/{newest}/fewer", ("how", how), ("edit", "7"))
            assert 400 == refused.status

    play(world, story)
