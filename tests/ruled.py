"""A sentinel of several pages whose rules are played without a service: what its behaviour reports,
needs and remembers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from tests.stores import START, World
from tidings.clock import DAY, SECOND
from tidings.events.occurrence import Occurrence
from tidings.service.behaviour import Effects, Moment
from tidings.service.sentinels import register
from tidings.service.watch.composite_parts import composite_parts_of
from tidings.service.watch.watchlist import WatchedSentinel, Watchlist
from tidings.storage.watches import sentinels, subscriptions
from tidings.storage.write.store import Store

PAGES = "Create Sentinel s Using https://a.example/ As A, https://b.example/ As B, https://c.example/ As C Monitor {}"
AT = START + DAY


class RuledHouse:
    """A sentinel of three pages, one of its behaviours, and what that reports and needs."""

    def __init__(self, world: World, monitor: str, make: Callable[[Any, Any, Any], Any]) -> None:
        self.world = world
        register.register(world.database, PAGES.format(monitor), settings=world.settings, now=START)
        self.id = world.read(sentinels.find, "s").id
        world.write(lambda c: c.execute("UPDATE sentinel SET state = 'enabled', started_at = :at", at=START))
        self.subs = {sub.label: sub for sub in world.read(subscriptions.listing, sentinel_id=self.id)}
        self.make = make
        self.reports: list[Any] = []
        self.needed: list[Any] = []
        self.memory: dict[str, Any] = {}
        self.watched: WatchedSentinel = asyncio.run(self._watch())

    async def _watch(self) -> WatchedSentinel:
        store = Store(self.world.reopen())
        watchlist = Watchlist(store)
        await watchlist.load()
        await store.close()
        return watchlist.sentinels[self.id]

    def play(self, story: Callable[[Any, Moment], Any], *, at: int = AT, **more: Any) -> Any:
        """Return what the behaviour answers at a moment."""

        async def act() -> Any:
            store: Any = SimpleNamespace(read=self._read)
            reporter: Any = SimpleNamespace(effects=self._report)
            needs: Any = SimpleNamespace(settle=lambda *given: self.needed.append(given))
            moment = Moment(self.watched, self.memory, at, 0, **more)
            return await story(self.make(store, reporter, needs), moment)

        return asyncio.run(act())

    async def _read(self, fn: Callable[..., Any], *args: Any, **named: Any) -> Any:
        return self.world.read(fn, *args, **named)

    async def _report(self, watched: WatchedSentinel, report: Any, *, at: int) -> Effects:
        self.reports.append(report)
        return Effects()

    def find(self, id: str, page: str, at: int = AT) -> dict[str, Any]:
        """Store a change of a page; return it as a part."""
        asked = composite_parts_of(self.watched.sentinel).list_asked(page)[0]
        sub = self.subs[page]
        row = replace(
            self.world.change(id),
            sentinel_id=self.id,
            subscription_id=sub.id,
            page_id=sub.page_id,
            kind=asked.kind,
            polled_at=at,
            quiet=True,
        )
        self.world.commit(self.world.unit(changes=(row,)))
        return {"change": id, "at": at, "leaf": asked.number}

    def act(self, rule: str, *, at: int = AT, pauses: Any = (), **params: Any) -> Effects:
        firing: Any = SimpleNamespace(rule=SimpleNamespace(name=rule), occurrence=Occurrence.at("x", at, params))
        effects: Effects = self.play(lambda behaviour, moment: behaviour.act(moment, firing), at=at, pauses=pauses)
        return effects

    def raised(self, effects: Effects) -> list[tuple[str, list[str]]]:
        return [(each.type.partition("(")[0], [p["change"] for p in each.params["parts"]]) for each in effects.raised]

    def poll(self, page: str, at: int) -> None:
        """Store a good poll of a page."""
        self.world.at = at - SECOND
        self.world.commit(self.world.make_unchanged(self.subs[page].page_id))
