"""Hints that a serving process stores for the polling one."""

from __future__ import annotations

import asyncio

from tests.unit.web.insides import Watched, inside, watch
from tidings.scheduling import index
from tidings.service.sources.signals import LeftSignals
from tidings.storage.observed import hints


def test_left_hint_is_taken_over_once(tmp_path):
    """Afterwards it is like a hint that the polling process accepted. A repeated key leaves no
    hint.
    """

    async def play() -> None:
        async with inside(tmp_path) as service:
            await watch(service, "shop")
            left = LeftSignals(service.store, service.clock, reads=index.HINTS, zone="UTC")
            found = await left.find(["https://shop.example/", "https://other.example/", "nonsense"], [99])
            assert {"https://shop.example/": [1], "https://other.example/": [], "nonsense": []} == found.by_url
            assert ({1}, {1}) == (found.watched, found.weighed)
            taken = [await left.take([1], kind="bell", key="once") for _ in range(2)]
            assert [(1, True), (1, False)] == [(each.pages, each.is_new) for each in taken]
            assert [(1, "new:bell", 1)] == [(r.page_id, r.kind, len(r.waiting)) for r in await rows(service)]
            signals = service.signals
            assert isinstance(signals, Watched)
            signals.note_written()
            for work in await signals.due(service.clock.now()):
                await work

            assert {"bell"} == signals.tracker.kinds(1)
            assert [] == await rows(service)
            assert ["bell"] == [row.kind for row in (await service.store.read(hints.load))[1]]

    async def rows(service):
        return await service.store.read(hints.list_left)

    asyncio.run(play())


def test_hint_left_meanwhile_stays(tmp_path):
    """Only hints that were read are deleted."""

    async def play() -> None:
        async with inside(tmp_path) as service:
            await watch(service, "shop")
            now = service.clock.now()
            await service.store.write(hints.leave, [1], "api", at=now, now=now)
            read = await service.store.read(hints.list_left)
            await service.store.write(hints.leave, [1], "api", at=now + 1, now=now)
            await service.store.write(hints.take_left, read)
            (row,) = await service.store.read(hints.list_left)

            assert (now, now + 1) == row.waiting

    asyncio.run(play())
