"""Stories that are replayed with one refused write each: a full disk, or a unit that contradicts what
is stored. Each must end as it does without.

A `Player` runs a story on a manual clock. It counts the writes of the service, and refuses one. What
a user can see of the end is an `Ending`: the stored state without its times, and the messages.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.fakes import WebServer
from tests.world import World
from tidings.clock import DAY, HOUR, MINUTE, SECOND, Duration
from tidings.errors import StoreError, StoreFullError, StoreStalledError, UnitError
from tidings.service.run.monitor import Monitor
from tidings.service.watch.watchlist import Watchlist
from tidings.storage.db.connection import Connection
from tidings.storage.observed import hosts, pages, polls, versions
from tidings.storage.watches import changes, events, sentinels, subscriptions
from tidings.storage.write import commit

REFUSALS: dict[str, Callable[[], StoreError]] = {
    "full": lambda: StoreFullError("tidings.db cannot grow: database or disk is full; free some space"),
    "unit": lambda: UnitError("this unit contradicts what is stored; nothing was written"),
}
"""What a write is refused with. A contradiction refuses units only, and is itself recorded."""
OWN = frozenset({"service.stalled", "problem.unit", "schedule.priced", "page.looked"})
"""Events of the refusal itself, of what the budget has learned, and of polls within a deadline, which a delay may miss."""


class RefusingWorld(World):
    """A world whose service goes on after a refused step, as `serve` does."""

    async def settle(self, monitor: Monitor) -> None:
        """Step until nothing more is due; a second passes after a step that could store nothing."""
        while True:
            try:
                await super().settle(monitor)
            except StoreStalledError:
                self.clock.advance(SECOND)
            else:
                return


@dataclass
class Ending:
    """What a user can see of the end of a story. Times are left out: a refusal delays."""

    changes: list[Any]
    sentinels: list[Any]
    versions: list[Any]
    pages: list[Any]
    cursors: list[Any]
    paused: list[str]
    events: dict[str, int]
    messages: list[Any]
    open: list[Any]


@dataclass
class Player:
    """Runs one story. `refused` is the number of the write to refuse, 0 for none."""

    world: RefusingWorld
    refused: int = 0
    refusal: str = "full"
    writes: list[str] = field(default_factory=list)
    """what was written so far"""
    _stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    _monitor: Monitor | None = None

    @property
    def monitor(self) -> Monitor:
        """Return the running service."""
        assert self._monitor is not None
        return self._monitor

    async def start(self) -> None:
        """Start the service."""
        self._monitor = await self._stack.enter_async_context(self.world.monitor())
        database = self.monitor.store._database
        write = database.write

        def count(fn: Callable[..., Any], *args: Any, **kw: Any) -> Any:
            if self.refusal == "full" or fn is commit.commit:
                self.writes.append(_name(fn, args))
                if len(self.writes) in self._list_refused():
                    raise self.refuse()
            return write(fn, *args, **kw)

        database.write = count  # type: ignore[method-assign]

    def refuse(self) -> StoreError:
        return REFUSALS[self.refusal]()

    def _list_refused(self) -> tuple[int, ...]:
        """Return the numbers of the refused writes: a unit that contradicts is tried twice."""
        return (self.refused,)

    async def stop(self) -> None:
        """Stop the service."""
        await self._stack.aclose()
        self._monitor = None

    async def restart(self) -> None:
        """Stop and start the service."""
        await self.stop()
        await self.start()

    async def pass_time(self, duration: Duration) -> None:
        """Let so much time pass."""
        await self.world.pass_time(self.monitor, duration)

    def show(self, path: str, text: str, **more: Any) -> None:
        """Serve a text as a page from now on."""
        self.world.page(path, f"<title>{path}</title><p>{text}</p>", **more)


Story = Callable[[Player], Coroutine[Any, Any, None]]


def play(story: Story, directory: Path, server: WebServer, *, refused: int = 0, refusal: str = "full") -> Player:
    """Play a story to its end; what memory says then is what is stored."""
    server.pages.clear()
    flags = getattr(story, "flags", {})
    world = RefusingWorld(directory, server, **flags)
    player = Player(world, refused, refusal)

    async def act() -> None:
        await player.start()
        try:
            await story(player)
            await player.pass_time(30 * MINUTE)
            await _check_memory(player.monitor)
        finally:
            await player.stop()

    asyncio.run(act())
    return player


async def _check_memory(monitor: Monitor) -> None:
    """Raise unless the watchlist is what another service would load now."""
    fresh = Watchlist(
        monitor.store, sendable=monitor.watchlist._sendable, gathers_noise=monitor.watchlist._gathers_noise
    )
    await fresh.load()
    assert _spell(fresh) == _spell(monitor.watchlist)


def _spell(watchlist: Watchlist) -> Any:
    return {
        "pages": {
            number: (page.state, page.is_framed, {key: sub.row for key, sub in page.subscriptions.items()})
            for number, page in watchlist.pages.items()
        },
        "sentinels": {
            number: (replace(held.row, pages=0), held.endpoints) for number, held in watchlist.sentinels.items()
        },
    }


def read_ending(story: Story, world: World) -> dict[str, Any]:
    """Return the end of a story, from the database and the receiver."""
    found: Ending = world.read(_read, world)
    compared = getattr(story, "compared", ())
    return {name: value for name, value in asdict(found).items() if not compared or name in compared}


def _read(c: Connection, world: World) -> Ending:
    urls = {state.page_id: identity.given for identity, state in pages.listing(c)}
    return Ending(
        changes=sorted(
            (row.sentinel, row.url, row.row.summary, row.row.quiet) for row in changes.listing(c, quiet=True)
        ),
        sentinels=[(row.name, row.state, row.reason) for row in sentinels.listing(c)],
        versions=[(urls[n], [v.sha256 for v in reversed(versions.listing(c, n))]) for n in sorted(urls)],
        pages=[
            (identity.given, s.health, s.kind, s.last_seq, s.moved_to)
            for identity, s in pages.listing(c)
            if pages.is_watched(c, s.page_id)
        ],
        cursors=[
            (row.sentinel_id, row.page_id, row.base, row.taken, row.number, row.seen, row.active, row.remembered)
            for row in subscriptions.listing(c)
        ],
        paused=sorted(host.name for host in hosts.as_left(c, now=world.clock.now(), longest=0) if host.paused_until),
        events=dict(Counter(event.type for event in events.listing(c) if event.type not in OWN)),
        messages=list_messages(world),
        open=[*polls.open_polls(c), *[(d.status, d.subject) for d in _list_waiting(c)]],
    )


def _list_waiting(c: Connection) -> Iterator[Any]:
    from tidings.storage.watches import deliveries

    return (each for each in deliveries.listing(c) if each.status == "waiting")


def list_messages(world: World) -> list[str]:
    """Return what the receiver was sent, each message once, but for the report of the refusal. A
    check whose write is refused is a failed check, and the week's report counts it.
    """
    seen: dict[str, Any] = {}
    for headers, body in world.received:
        seen.setdefault(headers["webhook-id"], body["data"])
    records = [record for data in seen.values() for record in data.get("records", [data])]
    texts = [
        r.get("summary") or r.get("message") or json.dumps(r) for r in records if r.get("event") != "service.stalled"
    ]
    changing = r"\d+ (?:h|min|s)\b ?|[0-9a-f]{8}|\d+ checks made, [01] failed; a fixed pace would have made [\d,]+ more"
    return sorted(re.sub(changing, "", text) for text in texts)


def _name(fn: Callable[..., Any], args: tuple[Any, ...]) -> str:
    if fn is commit.commit:
        return json.dumps([[name for name in unit.__slots__ if getattr(unit, name)] for unit in args[0]])
    return getattr(fn, "__qualname__", repr(fn))


# -- the stories -------------------------------------------------------------------------------------


def with_flags(*compared: str, **flags: str) -> Callable[[Story], Story]:
    """Give a story settings of its own, and the only parts of its ending that no delay changes."""

    def mark(story: Story) -> Story:
        story.flags, story.compared = flags, compared  # type: ignore[attr-defined]
        return story

    return mark


async def first_change(player: Player) -> None:
    """A sentinel ends with its first change."""
    player.show("/a", "one")
    hook = player.world.receiver()
    player.world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 20 min To first change Notify By webhook {hook} immediate"
    )
    await player.pass_time(HOUR)
    player.show("/a", "two")
    await player.pass_time(2 * HOUR)
    player.show("/a", "three")
    await player.pass_time(HOUR)


async def joint_first_change(player: Player) -> None:
    """A sentinel ends with its first report across pages."""
    player.show("/a", "one")
    player.show("/b", "one")
    player.world.add(
        "Create Sentinel s Using {/a} As A, {/b} As B Monitor any change of A AND any change of B within 3 hour"
        f" Fetch every 20 min To first change Notify By webhook {player.world.receiver()} immediate"
    )
    await player.pass_time(HOUR)
    player.show("/a", "two")
    await player.pass_time(HOUR)
    player.show("/b", "two")
    await player.pass_time(2 * HOUR)


async def busy_host(player: Player) -> None:
    """A host asks for no requests for three hours; the service restarts meanwhile."""
    player.show("/a", "one")
    player.world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 20 min Notify By webhook {player.world.receiver()} immediate"
    )
    await player.pass_time(HOUR)
    player.show("/a", "busy", status=429, headers={"Retry-After": "10800"})
    await player.pass_time(40 * MINUTE)
    player.show("/a", "two")
    await player.restart()
    player.world.add("Create Sentinel t Using {/b} Monitor any change Fetch every 20 min")
    player.show("/b", "one")
    await player.pass_time(HOUR)
    assert [] == player.world.polls(2), "the host asked for no requests"
    await player.pass_time(3 * HOUR)


async def window(player: Player) -> None:
    """Two pages that change within an hour are one report; two that do not are none."""
    for name in "ab":
        player.show(f"/{name}", "one")
    player.world.add(
        "Create Sentinel pair Using {/a} As A, {/b} As B Monitor any change of A AND any change of B within 2 hour"
        f" Fetch every 20 min Notify By webhook {player.world.receiver()} immediate"
    )
    await player.pass_time(HOUR)
    player.show("/a", "two")
    await player.pass_time(HOUR)
    player.show("/b", "two")
    await player.pass_time(4 * HOUR)
    player.show("/a", "three")
    await player.pass_time(4 * HOUR)
    player.show("/b", "three")
    await player.pass_time(3 * HOUR)


async def digest(player: Player) -> None:
    """Changes of two days are two digests."""
    player.show("/a", "one")
    player.world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 3 hour Notify By webhook {player.world.receiver()} every 1 day"
    )
    await player.pass_time(5 * HOUR)
    for number in range(3):
        player.show("/a", f"another {number}")
        await player.pass_time(12 * HOUR)
    await player.pass_time(DAY)


async def moved(player: Player) -> None:
    """A page leads elsewhere for good."""
    player.show("/a", "one")
    player.show("/b", "one")
    hook = player.world.receiver()
    player.world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 1 hour Notify By webhook {hook} immediate Errors to webhook {hook}"
    )
    await player.pass_time(2 * HOUR)
    player.show("/a", "", status=301, headers={"Location": player.world.server.url("/b")})
    await player.pass_time(2 * DAY)
    player.show("/b", "two")
    await player.pass_time(3 * HOUR)


async def failing(player: Player) -> None:
    """A page fails for a day, and recovers."""
    player.show("/a", "one")
    hook = player.world.receiver()
    player.world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 1 hour Notify By webhook {hook} immediate Errors to webhook {hook}"
    )
    await player.pass_time(2 * HOUR)
    player.show("/a", "gone", status=404)
    await player.pass_time(DAY)
    player.show("/a", "two")
    await player.pass_time(DAY)


async def altered(player: Player) -> None:
    """A sentinel is altered and another one is created and dropped while the service runs."""
    player.show("/a", "one")
    player.show("/b", "one")
    hook = player.world.receiver()
    player.world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 20 min Notify By webhook {hook} every 3 changes"
    )
    await player.pass_time(HOUR)
    player.world.add(f"Alter s Fetch every 30 min Notify By webhook {hook} immediate")
    await player.pass_time(HOUR)
    player.show("/a", "two")
    await player.pass_time(2 * HOUR)
    player.world.add(f"Create Sentinel t Using {{/b}} Monitor any change Fetch every 20 min Notify By webhook {hook}")
    await player.pass_time(HOUR)
    player.show("/b", "two")
    await player.pass_time(2 * HOUR)


async def lives(player: Player) -> None:
    """Sentinels start and end at their times and with each other."""
    player.show("/a", "one")
    hook = player.world.receiver()
    player.world.add(
        f"Create Sentinel x Using {{/a}} Monitor any change Fetch every 1 hour From now + 2 hour For 5 hour Notify By webhook {hook}"
    )
    player.world.add(
        f"Create Sentinel y Using {{/a}} Monitor any change Fetch every 1 hour From end(x) For 8 hour Notify By webhook {hook}"
    )
    await player.pass_time(4 * HOUR)
    player.show("/a", "two")
    await player.pass_time(5 * HOUR)
    player.show("/a", "three")
    await player.pass_time(10 * HOUR)


async def deaf_receiver(player: Player) -> None:
    """A receiver refuses for two hours, and its owner is notified elsewhere."""
    player.show("/a", "one")
    is_up = [False]
    player.world.receiver("/deaf", lambda _: 200 if is_up[0] else 500)
    deaf = player.world.server.url("/deaf")
    player.world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 20 min Notify By webhook {deaf}, webhook {player.world.receiver()} immediate"
    )
    await player.pass_time(HOUR)
    player.show("/a", "two")
    await player.pass_time(4 * HOUR)
    is_up[0] = True
    await player.pass_time(12 * HOUR)


async def asked(player: Player) -> None:
    """A user asks for a check of a page that is fetched once a week."""
    player.show("/a", "one")
    player.world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 7 day Notify By webhook {player.world.receiver()} immediate"
    )
    await player.pass_time(HOUR)
    player.show("/a", "two")
    player.world.write(polls.request_polls, [1], player.world.clock.now())
    await player.pass_time(3 * HOUR)
    assert [] == player.world.read(polls.list_requests)


@with_flags(notify__weekly="true", schedule__pace_seconds="600")
async def weekly(player: Player) -> None:
    """The weekly report is sent once."""
    player.show("/a", "one")
    player.world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 1 day Notify By webhook {player.world.receiver()} immediate"
    )
    await player.pass_time(8 * DAY)


async def framed(player: Player) -> None:
    """A frame of a page changes."""
    player.show("/f", "one")
    player.world.page("/a", '<title>A</title><frameset cols="20%,80%"><frame src="/f"></frameset>')
    player.world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 1 hour Notify By webhook {player.world.receiver()} immediate"
    )
    await player.pass_time(2 * HOUR)
    player.show("/f", "two")
    await player.pass_time(3 * HOUR)


@with_flags(store__blob_file_bytes="0")
async def files(player: Player) -> None:
    """Bodies are files."""
    player.show("/a", "one")
    player.world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 1 hour Notify By webhook {player.world.receiver()} immediate"
    )
    await player.pass_time(2 * HOUR)
    player.show("/a", "two")
    await player.pass_time(2 * HOUR)
    player.show("/a", "three")
    await player.pass_time(2 * HOUR)


async def held(player: Player) -> None:
    """A change must last before it is reported."""
    player.show("/a", "one")
    player.world.add(
        "Create Sentinel s Using {/a} Monitor any change for at least 2 hour Fetch every 30 min"
        f" Notify By webhook {player.world.receiver()} immediate"
    )
    await player.pass_time(2 * HOUR)
    player.show("/a", "two")
    await player.pass_time(6 * HOUR)


@with_flags("sentinels", "messages", "open")
async def one_of_two(player: Player) -> None:
    """Two pages of a sentinel change at once, and only the first change is reported."""
    player.show("/a", "one")
    player.show("/b", "one")
    hook = player.world.receiver()
    player.world.add(
        f"Create Sentinel s Using {{/a}}, {{/b}} Monitor any change Fetch every 20 min To first change Notify By webhook {hook} immediate"
    )
    await player.pass_time(HOUR)
    player.show("/a", "two")
    player.show("/b", "two")
    await player.pass_time(2 * HOUR)


@with_flags("sentinels", "open", detect__second_polls="true")
async def silenced(player: Player) -> None:
    """A page shows something else to each request; that it is ignored as noise is reported once."""
    world = player.world
    ads = """cheap red boots;win a car today;learn to sing in a week;the best soap of all;new roofs by Miller;fly to the moon;a warm coat;
        tea from Assam;your own bakery;two for one;dance until dawn;the last tickets;oak tables;a quiet room;fresh fish daily;old books""".split(
        ";"
    )

    def answer(_: Any, wire: Any) -> None:
        text = ads[(world.clock.now() // SECOND * 2_654_435_761 >> 7) % len(ads)]
        body = f"<h1>The shop of the town</h1><p>{text}</p><p>Contact us at any time</p>".encode()
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    world.server.pages["/a"] = answer
    world.add(
        f"Create Sentinel s Using {{/a}} Monitor any change Fetch every 1 hour Notify By webhook {world.receiver()}"
    )
    await player.pass_time(22 * HOUR)
    assert 1 == sum("ignored as noise" in text for text in list_messages(world))


@with_flags("messages", "sentinels", "open")
async def collected(player: Player) -> None:
    """Pages of a site come and go."""

    def show(*names: str) -> None:
        links = " ".join(f'<a href="/docs/{name}">Page {name}</a>' for name in names)
        player.world.page("/docs/", f"<title>Docs</title>{links}")
        for name in names:
            text = " ".join(f"{name}{n}" for n in range(40))
            player.world.page(f"/docs/{name}", f"<title>Title {name}</title><p>{text}</p>")

    show("ab", "cd", "ef")
    player.world.add(
        f"Create Collection docs Using {{/docs/}} Depth 3 Budget 4000 per day Notify By webhook {player.world.receiver()}"
    )
    await player.pass_time(3 * HOUR)
    show("ab", "cd", "ef", "gh")
    await player.pass_time(6 * HOUR)


async def summoned(player: Player) -> None:
    """An event from outside starts a sentinel."""
    player.show("/a", "one")
    player.world.add("Create Event deploy Using webhook")
    player.world.add(
        "Create Sentinel s Using {/a} Monitor any change From event(deploy) + 1 hour Fetch every 20 min"
        f" Notify By webhook {player.world.receiver()} immediate"
    )
    await player.pass_time(HOUR)
    with contextlib.suppress(StoreError):
        await player.monitor.ways_in.events.take("deploy", {}, key="1")
    await player.monitor.ways_in.events.take("deploy", {}, key="1")
    await player.pass_time(3 * HOUR)
    player.show("/a", "two")
    await player.pass_time(2 * HOUR)


STORIES: dict[str, Story] = {
    story.__name__: story
    for story in (
        altered,
        asked,
        busy_host,
        collected,
        deaf_receiver,
        digest,
        failing,
        files,
        first_change,
        framed,
        held,
        joint_first_change,
        lives,
        moved,
        one_of_two,
        silenced,
        summoned,
        weekly,
        window,
    )
}
