"""Promise: a user sees what "not relevant" would hide before it is stored, and can undo it, and an
end too.
"""

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


def test_not_relevant_is_previewed_and_can_be_undone(world: World) -> None:
    """An unwanted counter: 2 of 3 changes would have been hidden; the price is still notified."""
    world.page("/a", "<p>Seen by 5 people</p><p>Price 129 EUR</p>")
    world.add("Create Sentinel shop Using {/a} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            for seen, price in ((6, 129), (7, 129), (7, 99)):
                world.page("/a", f"<p>Seen by {seen} people</p><p>Price {price} EUR</p>")
                await world.pass_time(monitor, HOUR)
            ids = re.findall(r'id="c([0-9a-f]+)"', await see(app, "/"))
            text = words_of(await see(app, f"/changes/{ids[-1]}/fewer"))
            assert "Such edits would be left out, with any other number" in text
            assert "It would have hidden 2 of 3 changes in 30 days" in text
            assert "still have been notified of 1" in text
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


def test_page_can_be_quiet_until_an_unusual_change(world: World) -> None:
    """The usual size is that of the page's earlier changes."""
    world.page("/a", "<p>start</p>")
    world.add("Create Sentinel wiki Using {/a} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor) -> None:
        async with face(world, monitor) as app:
            await world.settle(monitor)
            for number in range(6):
                world.page("/a", f"<p>{'word ' * number}number{'one two three' if number == 5 else number}</p>")
                await world.pass_time(monitor, HOUR)
            newest = re.findall(r'id="c([0-9a-f]+)"', await see(app, "/"))[0]
            text = words_of(await see(app, f"/changes/{newest}/fewer?how=size"))
            assert "where changed >" in unescape(text)
            assert re.search(r"would have hidden \d of 6 changes", text)
            await send(app, f"/changes/{newest}/fewer", ("how", "size"), ("edit", "0"))
            assert "where changed >" in text_of(world, "wiki")

    play(world, story)


def test_ended_sentinel_can_be_restored_for_a_day(world: World) -> None:
    """It gets its name back and the changes meanwhile; not after a day, nor if the name is taken."""
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
def test_change_that_cannot_be_narrowed_offers_other_ways(world: World, how: str) -> None:
    """No button is shown that has no effect, and no text of the page becomes markup."""
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
