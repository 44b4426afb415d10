"""Home Assistant by MQTT discovery: a device per installation, three entities per sentinel (0084).

An event that fires at each change, a sensor with the last summary, a problem sensor. What the
broker retains of a dropped sentinel is removed; the last will of the connection marks the service
as offline. Page texts are only payloads: no topic, template or name contains one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from tidings import __version__
from tidings.errors import SettingError, StoreError, UnknownNameError, spell_install
from tidings.model.event_type import EventType
from tidings.record import dataclass
from tidings.service.health.sources import health_of
from tidings.service.show.records import rfc3339
from tidings.storage.db import instance
from tidings.storage.watches import changes, events, sentinels

if TYPE_CHECKING:
    from aiomqtt import Client

    from tidings.model.observed.unit import Unit
    from tidings.service.run.monitor import Monitor
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.changes import StoredChange

log = logging.getLogger("tidings.service")
LONGEST_STATE: Final = 255
"""characters of a state that Home Assistant takes"""
SYNC_SECONDS: Final = 30.0
END_SECONDS: Final = 2.0
MOST_AT_ONCE: Final = 1_000
"""changes that are read at once"""
FIRST_WAIT, LONGEST_WAIT = 2.0, 300.0
PORTS: Final = {"mqtt": 1_883, "mqtts": 8_883}
DISCOVERY: Final = "homeassistant"


@dataclass(frozen=True, slots=True)
class Broker:
    """Where `serve.mqtt_url` leads."""

    host: str
    port: int
    username: str | None
    password: str | None
    is_encrypted: bool


def read_broker(url: str) -> Broker:
    """Return the broker of `mqtt[s]://[user:password@]host[:port]`. Raises `SettingError`."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in PORTS or not parts.hostname or port == -1 or parts.path.strip("/") or parts.query:
        raise SettingError("serve.mqtt_url is mqtt://user:password@host:1883 or mqtts://… (TLS)")
    username, password = (unquote(one) if one else None for one in (parts.username, parts.password))
    return Broker(parts.hostname, port or PORTS[parts.scheme], username, password, parts.scheme == "mqtts")


@dataclass(frozen=True, slots=True)
class Device:
    """The topics and discovery messages of an installation; `node` is derived from its id."""

    node: str
    public_url: str = ""

    @property
    def availability(self) -> str:
        """Return the topic with the payload `online` or `offline`."""
        return f"tidings/{self.node}/status"

    def topic(self, sentinel_id: int, kind: str) -> str:
        """Return the topic of an entity's state."""
        return f"tidings/{self.node}/{sentinel_id}/{kind}"

    def discovery(self, sentinel_id: int, component: str, kind: str) -> str:
        """Return the topic under which an entity is announced."""
        return f"{DISCOVERY}/{component}/{self.node}/{sentinel_id}_{kind}/config"

    def announce(self, sentinel_id: int, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the (topic, message) that announce the entities of a sentinel."""
        device: dict[str, Any] = {
            "identifiers": [self.node],
            "name": "Tidings",
            "manufacturer": "Tidings",
            "sw_version": __version__,
        }
        if self.public_url:
            device["configuration_url"] = self.public_url
        for component, kind, more in (
            ("event", "change", {"event_types": ["change"], "icon": "mdi:bell-ring-outline"}),
            ("sensor", "last", {"json_attributes_topic": self.topic(sentinel_id, "details"), "icon": "mdi:text"}),
            ("binary_sensor", "problem", {"device_class": "problem", "entity_category": "diagnostic"}),
        ):
            yield (
                self.discovery(sentinel_id, component, kind),
                {
                    "name": f"{name} {kind}",
                    "unique_id": f"{self.node}_{sentinel_id}_{kind}",
                    "state_topic": self.topic(sentinel_id, kind),
                    "availability_topic": self.availability,
                    "device": device,
                    "origin": {"name": "Tidings", "sw_version": __version__},
                    **more,
                },
            )

    def list_topics(self, sentinel_id: int) -> list[str]:
        """Return the topics of a sentinel under which the broker retains something."""
        states = [self.topic(sentinel_id, kind) for kind in ("last", "details", "problem")]
        return [*(topic for topic, _ in self.announce(sentinel_id, "")), *states]

    def states(self, change: StoredChange) -> Iterator[tuple[str, str, bool]]:
        """Yield (topic, payload, retained) of a change."""
        row = change.row
        details = {"url": change.url, "detected_at": rfc3339(row.detected_at), "change": row.id}
        event = {"event_type": "change", "summary": _cut(row.summary), **details}
        yield self.topic(row.sentinel_id, "change"), json.dumps(event), False
        yield self.topic(row.sentinel_id, "last"), _cut(row.summary), True
        yield self.topic(row.sentinel_id, "details"), json.dumps(details), True


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_STATE else f"{line[: LONGEST_STATE - 1]}…"


class HomeAssistant:
    """Keeps a broker informed of all sentinels, which a monitor that leads knows, and of the
    changes that are stored after event number `seen`, by any planner.
    """

    def __init__(self, monitor: Monitor, settings: Settings, device: Device, seen: int) -> None:
        self._monitor = monitor
        self._settings = settings
        self._device = device
        self._seen = seen
        self._arrived = asyncio.Event()
        self._announced: dict[int, str] = {}
        self._next_sync = 0.0

    def note(self, unit: Unit) -> None:
        """Wake for the changes of a committed unit."""
        if unit.changes:
            self._arrived.set()

    def note_written(self) -> None:
        """Wake: others have written."""
        self._arrived.set()

    async def serve(self, client: Client) -> None:
        """Announce all sentinels, then publish changes until the connection ends."""
        self._announced.clear()
        self._arrived.set()
        own = f"{DISCOVERY}/+/{self._device.node}/+/config"
        await client.subscribe(own)
        await client.subscribe(f"{DISCOVERY}/status")
        await self.synchronise(client)
        await client.publish(self._device.availability, "online", qos=1, retain=True)
        listening = asyncio.create_task(self._listen(client))
        try:
            while not listening.done():
                await self._publish_new(client, listening)
            listening.result()
        finally:
            await _end(listening)

    async def _publish_new(self, client: Client, listening: asyncio.Task[None]) -> None:
        """Wait for changes and publish them; announce again every `SYNC_SECONDS`."""
        loop = asyncio.get_running_loop()
        arriving = asyncio.create_task(self._arrived.wait())
        timeout = max(0.0, self._next_sync - loop.time())
        await asyncio.wait({arriving, listening}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        arriving.cancel()
        if loop.time() >= self._next_sync:
            await self.synchronise(client)
        self._arrived.clear()
        try:
            found, upto, is_all = await self._monitor.store.read(_list_found, self._seen)
            for seq, change in found:
                await self._publish(client, change)
                self._seen = seq  # only now: if the connection is lost meanwhile it is published again
        except StoreError:
            return  # read after the next synchronisation
        self._seen = upto
        if not is_all:
            self._arrived.set()

    async def _publish(self, client: Client, change: StoredChange) -> None:
        """Publish a change, unless its sentinel was dropped meanwhile.

        One that has ended, perhaps by this change, is announced for it; the next synchronisation
        removes it.
        """
        sentinel_id = change.row.sentinel_id
        if sentinel_id not in self._announced:
            await self.synchronise(client)
        if sentinel_id not in self._announced:
            if not (name := await self._monitor.store.read(_find_name, sentinel_id)):
                return
            self._announced[sentinel_id] = name  # first: `_listen` removes what is not in it
            await self._announce(client, sentinel_id, name)
        for topic, payload, is_retained in self._device.states(change):
            await client.publish(topic, payload, qos=1, retain=is_retained)

    async def synchronise(self, client: Client) -> None:
        """Announce new and renamed sentinels, remove dropped ones, publish which have a problem."""
        self._next_sync = asyncio.get_running_loop().time() + SYNC_SECONDS
        watched = {sentinel.row.id: sentinel.row.name for sentinel in self._monitor.watchlist.sentinels.values()}
        for sentinel_id, name in watched.items():
            if self._announced.get(sentinel_id) != name:
                await self._announce(client, sentinel_id, name)
        gone = self._announced.keys() - watched.keys()
        self._announced = watched
        for sentinel_id in gone:
            await self._remove(client, sentinel_id)
        try:
            troubled = await self._monitor.store.read(_list_failing, self._settings, self._monitor.clock.wall())
        except StoreError:
            return
        for sentinel_id, name in watched.items():
            state = "ON" if name in troubled else "OFF"
            await client.publish(self._device.topic(sentinel_id, "problem"), state, qos=1, retain=True)

    async def _announce(self, client: Client, sentinel_id: int, name: str) -> None:
        for topic, message in self._device.announce(sentinel_id, name):
            await client.publish(topic, json.dumps(message), qos=1, retain=True)

    async def _remove(self, client: Client, sentinel_id: int) -> None:
        """Remove from the broker what it retains of a sentinel: entities first, then states."""
        for topic in self._device.list_topics(sentinel_id):
            await client.publish(topic, b"", qos=1, retain=True)

    async def _listen(self, client: Client) -> None:
        """Announce all again when Home Assistant starts; remove what an earlier run left."""
        async for message in client.messages:
            topic = str(message.topic)
            if topic == f"{DISCOVERY}/status":
                if message.payload == b"online":
                    self._announced.clear()
                    await self.synchronise(client)
                continue
            found = re.search(r"/(\d{1,18})_\w+/config$", topic)
            if found and message.payload and int(found[1]) not in self._announced:
                await self._remove_ended(client, int(found[1]))

    async def _remove_ended(self, client: Client, sentinel_id: int) -> None:
        """Remove a sentinel unless the database has it: another planner may have announced one that
        this process does not know yet.
        """
        with contextlib.suppress(StoreError):
            if not await self._monitor.store.read(sentinels.is_living, sentinel_id):
                await self._remove(client, sentinel_id)


def _list_found(c: Connection, after: int) -> tuple[list[tuple[int, StoredChange]], int, bool]:
    """Return the reported changes after an event number, each with its own, the number up to which
    these are all, and whether that is the last one.
    """
    last = events.last_seq(c)
    rows = events.listing(c, after=after, upto=last, types=(EventType.CHANGE_FOUND,), limit=MOST_AT_ONCE)
    known = changes.of(c, [row.change_id for row in rows if row.change_id is not None])
    found = [(row.seq, known[row.change_id]) for row in rows if row.change_id in known]
    is_all = len(rows) < MOST_AT_ONCE
    return [each for each in found if not each[1].row.quiet], last if is_all else rows[-1].seq, is_all


def _find_name(c: Connection, sentinel_id: int) -> str:
    """Return the name of a sentinel, empty if it was dropped or erased."""
    try:
        row = sentinels.get(c, sentinel_id)
    except UnknownNameError:
        return ""
    return "" if row.reason == "dropped" else row.name


def _list_failing(c: Connection, settings: Settings, now: int) -> set[str]:
    """Return the names of the sentinels that something keeps from checking or notifying."""
    troubles = health_of(c, settings, now=now, is_polled=True).troubles
    return {name for trouble in troubles if trouble.severity == "warn" for name in trouble.sentinels}


@contextlib.asynccontextmanager
async def inform_home_assistant(monitor: Monitor, settings: Settings) -> AsyncIterator[None]:
    """Keep the broker of `serve.mqtt_url` informed meanwhile, if there is one; of several planners,
    the one that leads.

    Raises `SettingError` for an invalid address, or without the extra `mqtt`.
    """
    if not settings.serve.mqtt_url or not monitor.leads:
        yield
        return
    broker = read_broker(settings.serve.mqtt_url)
    try:
        import aiomqtt
    except ImportError as error:
        raise SettingError(f"serve.mqtt_url needs the extra `mqtt`: {spell_install('mqtt')}") from error
    found = await monitor.store.read(instance.load)
    device = Device(f"tidings_{re.sub('[^0-9a-z]', '', found.id.lower())[:16]}", settings.serve.public_url)
    plug = HomeAssistant(monitor, settings, device, await monitor.store.read(events.last_seq))
    monitor.listen_to_writing(plug.note_written)
    stop_listening = monitor.committer.listen(plug.note)
    working = asyncio.create_task(_keep_connected(plug, broker, device, aiomqtt))
    try:
        yield
    finally:
        stop_listening()
        await _end(working)


async def _end(task: asyncio.Task[None]) -> None:
    """Cancel a task until it ends: `asyncio.wait_for` of Python 3.11, by which aiomqtt waits, may
    lose a cancellation.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=END_SECONDS)


async def _keep_connected(plug: HomeAssistant, broker: Broker, device: Device, aiomqtt: Any) -> None:
    wait, logged = FIRST_WAIT, ""
    while True:
        try:
            async with aiomqtt.Client(**_parameters(broker, device, aiomqtt)) as client:
                wait = FIRST_WAIT
                if logged:
                    log.info("the MQTT broker is reached again")
                logged = ""
                try:
                    await plug.serve(client)
                finally:
                    with contextlib.suppress(aiomqtt.MqttError):
                        await client.publish(device.availability, "offline", qos=1, retain=True)
        except aiomqtt.MqttError as error:
            if str(error) != logged:
                log.warning("the MQTT broker cannot be reached, and is tried again: %s", error)
            logged = str(error)
        except Exception:  # whatever it was, the watching goes on, and this is tried again
            log.exception("Home Assistant is not informed")
        await asyncio.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT)


def _parameters(broker: Broker, device: Device, aiomqtt: Any) -> Mapping[str, Any]:
    return {
        "hostname": broker.host,
        "port": broker.port,
        "username": broker.username,
        "password": broker.password,
        "identifier": device.node,
        "will": aiomqtt.Will(device.availability, "offline", qos=1, retain=True),
        "tls_params": aiomqtt.TLSParameters() if broker.is_encrypted else None,
        "timeout": 10,
    }
