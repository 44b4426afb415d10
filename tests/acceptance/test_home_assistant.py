"""Promise: Home Assistant discovers each sentinel and gets its changes, and the end of the service."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import aiomqtt
import pytest

from tests.role_processes import Cluster
from tests.tcp_proxy import TcpProxy
from tests.world import World
from tidings.clock import HOUR
from tidings.errors import SettingError
from tidings.plugs.home_assistant import LONGEST_STATE, Broker, inform_home_assistant, read_broker
from tidings.service.run.monitor import Monitor
from tidings.storage.db import instance

HOST, PORT = "127.0.0.1", 1_883
SECONDS = 20.0


def _answers() -> bool:
    try:
        socket.create_connection((HOST, PORT), timeout=1).close()
    except OSError:
        return False
    return True


pytestmark = pytest.mark.skipif(not _answers(), reason="no MQTT broker on 127.0.0.1:1883")
REQUIRED = {"name", "unique_id", "state_topic", "availability_topic", "device", "origin"}
ALLOWED = REQUIRED | {"icon", "event_types", "json_attributes_topic", "device_class", "entity_category"}
"""Keys of https://www.home-assistant.io/integrations/mqtt/ for event, sensor and binary sensor."""


class FilteredFindings:
    """The messages of a broker, and those that it retains, for one installation."""

    def __init__(self, node: str) -> None:
        self.node = node
        self.said: list[tuple[str, str]] = []
        self.kept: dict[str, str] = {}

    async def listen(self) -> None:
        """Subscribe to all topics of the installation."""
        async with aiomqtt.Client(HOST, PORT) as client:
            await client.subscribe(f"tidings/{self.node}/#")
            await client.subscribe(f"homeassistant/+/{self.node}/#")
            async for message in client.messages:
                payload = bytes(message.payload).decode()
                self.said.append((str(message.topic), payload))
                self.kept[str(message.topic)] = payload

    async def until(self, is_so: Callable[[], object]) -> None:
        """Wait for a condition."""
        async with asyncio.timeout(SECONDS):
            while not is_so():  # noqa: ASYNC110 - what is waited for comes from the broker
                await asyncio.sleep(0.02)

    def has_last(self, wanted: list[str]) -> bool:
        """Return whether the last change of each sentinel has its words."""
        lasts = [self.kept.get(f"tidings/{self.node}/{number}/last", "") for number in range(1, len(wanted) + 1)]
        return all(words in last for words, last in zip(wanted, lasts, strict=True))

    async def clear(self) -> None:
        """Remove retained messages."""
        async with aiomqtt.Client(HOST, PORT) as client:
            for topic in self.kept:
                await client.publish(topic, b"", qos=1, retain=True)


def play(world: World, story: Callable[[Monitor, FilteredFindings], Coroutine[Any, Any, None]]) -> FilteredFindings:
    """Run a story with a broker, and clean up."""
    world.flags["serve.mqtt_url"] = f"mqtt://{HOST}:{PORT}"
    made: list[FilteredFindings] = []

    async def act() -> None:
        async with world.monitor() as monitor:
            found = await monitor.store.read(instance.load)
            broker = FilteredFindings(f"tidings_{re.sub('[^0-9a-z]', '', found.id.lower())[:16]}")
            made.append(broker)
            listening = asyncio.create_task(broker.listen())
            try:
                await story(monitor, broker)
            finally:
                listening.cancel()
                await asyncio.wait({listening})
                await broker.clear()

    asyncio.run(act())
    return made[0]


def test_each_sentinel_is_a_device_with_changes(world: World) -> None:
    """Messages follow the rules of discovery; a change is an event and a state."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel kettle Using {/a} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor, broker: FilteredFindings) -> None:
        async with inform_home_assistant(monitor, world.settings):
            await broker.until(lambda: "online" in broker.kept.values())
            await world.pass_time(monitor, HOUR // 2)
            world.page("/a", f"<p>two {'{{ states }} ' * 60}</p>")
            await world.pass_time(monitor, HOUR)
            await broker.until(lambda: any(topic.endswith("/details") for topic in broker.kept))
        await broker.until(lambda: "offline" in broker.kept.values())

    broker = play(world, story)
    configs = {topic: json.loads(text) for topic, text in broker.kept.items() if topic.endswith("/config")}
    states = dict(broker.said)

    assert {"event", "sensor", "binary_sensor"} == {topic.split("/")[1] for topic in configs}
    for topic, config in configs.items():
        assert re.fullmatch(r"homeassistant/(event|sensor|binary_sensor)/[a-zA-Z0-9_-]+/[a-zA-Z0-9_-]+/config", topic)
        assert config.keys() >= REQUIRED
        assert config.keys() <= ALLOWED
        assert config["device"]["identifiers"] == [broker.node]
        assert config["name"].startswith("kettle ")
    assert 3 == len({config["unique_id"] for config in configs.values()})
    by_kind = {topic.split("/")[1]: config for topic, config in configs.items()}
    assert ["change"] == by_kind["event"]["event_types"]
    event = json.loads(states[by_kind["event"]["state_topic"]])
    assert "change" == event["event_type"]
    assert world.server.url("/a") == event["url"]
    last = states[by_kind["sensor"]["state_topic"]]
    assert last.startswith("one → two") or "two" in last
    assert len(last) <= LONGEST_STATE
    assert "OFF" == states[by_kind["binary_sensor"]["state_topic"]]
    assert "offline" == broker.kept[by_kind["event"]["availability_topic"]]


@pytest.mark.parametrize("is_connected", [False, True])
def test_dropped_sentinel_is_removed_and_an_error_is_a_problem(
    world: World, monkeypatch: pytest.MonkeyPatch, *, is_connected: bool
) -> None:
    """The broker retains nothing of a dropped sentinel."""
    monkeypatch.setattr("tidings.plugs.home_assistant.SYNC_SECONDS", 0.05)
    world.page("/a", "", status=500)
    for name in ("stays", "goes"):
        world.add(f"Create Sentinel {name} Using {{/a}} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor, broker: FilteredFindings) -> None:
        gone = world.sentinel("goes").id
        await world.pass_time(monitor, 3 * HOUR)
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(inform_home_assistant(monitor, world.settings))
            await broker.until(lambda: sum(topic.endswith("/config") for topic in broker.kept) == 6)
            await broker.until(lambda: sum(topic.endswith("/problem") for topic in broker.kept) == 2)
            if not is_connected:
                await stack.aclose()
            world.add("Drop goes")
            await world.pass_time(monitor, HOUR)
            if not is_connected:
                await stack.enter_async_context(inform_home_assistant(monitor, world.settings))
            await broker.until(lambda: not broker.kept[f"tidings/{broker.node}/{gone}/problem"])

    broker = play(world, story)
    problems = [text for topic, text in broker.said if topic.endswith("/problem")]

    assert "ON" in problems
    assert 6 == [*broker.kept.values()].count("")
    assert {"stays"} == {
        json.loads(text)["name"].split()[0] for topic, text in broker.kept.items() if topic.endswith("/config") and text
    }


@pytest.mark.parametrize(
    ("clause", "then", "published"),
    [
        ("To first change", "", ["two"]),
        ("For 3 hour", "", ["two"]),
        ("", "Disable s", ["two"]),
        ("", "Drop s", []),
    ],
)
def test_change_found_while_the_broker_was_away_is_published(
    world: World, monkeypatch: pytest.MonkeyPatch, clause: str, then: str, published: list[str]
) -> None:
    """Also the only one of a sentinel that has ended by it, of which the broker retains nothing."""
    for name, seconds in (("SYNC_SECONDS", 0.5), ("FIRST_WAIT", 0.05)):
        monkeypatch.setattr(f"tidings.plugs.home_assistant.{name}", seconds)
    world.page("/a", "<p>one</p>")
    world.add(f"Create Sentinel s Using {{/a}} Monitor all words Fetch every 1 hour {clause}")

    async def story(monitor: Monitor, broker: FilteredFindings) -> None:
        with TcpProxy((HOST, PORT)) as proxy:
            proxy.is_out = True
            world.flags["serve.mqtt_url"] = f"mqtt://{HOST}:{proxy.port}"
            async with inform_home_assistant(monitor, world.settings):
                await world.pass_time(monitor, HOUR // 2)
                world.page("/a", "<p>two</p>")
                await world.pass_time(monitor, 4 * HOUR)
                if then:
                    world.add(then)
                    await world.settle(monitor)
                proxy.mend()
                await broker.until(lambda: "online" in broker.kept.values())
                await broker.until(lambda: _list_changes(broker) or not published)
                if clause:  # it has ended
                    await broker.until(lambda: broker.kept.get(f"tidings/{broker.node}/1/problem") == "")

    broker = play(world, story)

    assert published == [word for text in _list_changes(broker) for word in ("two",) if word in text]
    if clause:
        assert {""} == {text for topic, text in broker.kept.items() if topic.endswith(("/config", "/last", "/details"))}


def _list_changes(broker: FilteredFindings) -> list[str]:
    """Return the events of changes that the broker got."""
    return [text for topic, text in broker.said if topic.endswith("/change")]


def test_one_of_several_planners_informs_the_broker(tmp_path, products) -> None:
    """It has the changes that all of them find, and no entity is removed. Another planner replaces
    it.
    """
    sites = 4

    async def follow(cluster: Cluster) -> FilteredFindings:
        found = cluster.main.read(instance.load)
        broker = FilteredFindings(f"tidings_{re.sub('[^0-9a-z]', '', found.id.lower())[:16]}")
        listening = asyncio.create_task(broker.listen())
        try:
            planners = [cluster.start("planner", name, ready=False) for name in ("first", "second")]
            await asyncio.to_thread(cluster.await_divided, *planners)
            for _ in range(2):
                await broker.until(
                    lambda: (
                        sum(bool(broker.kept[topic]) for topic in broker.kept if topic.endswith("/config")) == 3 * sites
                    )
                )
                await broker.until(lambda: broker.kept.get(f"tidings/{broker.node}/status") == "online")
                editions = await asyncio.to_thread(cluster.edit_all)
                wanted = [f'"{edition}" (was' for edition in editions]
                await broker.until(partial(broker.has_last, wanted))
                leader = next(run for run in cluster.runs() if run.leads)
                died = next(planner for planner in planners if f":{planner.process.pid}:" in leader.holder)
                planners.remove(died)
                died.kill()
                await broker.until(lambda: broker.kept[f"tidings/{broker.node}/status"] == "offline")
                if planners:
                    await asyncio.to_thread(cluster.await_divided, *planners)
        finally:
            listening.cancel()
            await asyncio.wait({listening})
            await broker.clear()
        return broker

    with (
        products.fresh("postgresql", tmp_path) as settings,
        Cluster(tmp_path, settings.store.url, sites=sites, TIDINGS_SERVE_MQTT_URL=f"mqtt://{HOST}:{PORT}") as cluster,
    ):
        broker = asyncio.run(follow(cluster))

    assert "" not in {text for topic, text in broker.said if topic.endswith("/config")}


def test_killed_service_is_offline(world: World) -> None:
    """The broker publishes the last will when the connection is cut."""
    world.page("/a", "<p>one</p>")
    world.add("Create Sentinel s Using {/a} Monitor all words Fetch every 1 hour")

    async def story(monitor: Monitor, broker: FilteredFindings) -> None:
        async with inform_home_assistant(monitor, world.settings):
            await broker.until(lambda: "online" in broker.kept.values())
            async with aiomqtt.Client(HOST, PORT, identifier=broker.node):  # the broker cuts off who had this name
                await broker.until(lambda: "offline" in broker.kept.values())

    play(world, story)


def test_broker_address_is_parsed() -> None:
    """It has user, password and port; another scheme, or a path, is refused with the right form."""
    assert Broker("h", 8_883, "a", "p@", is_encrypted=True) == read_broker("mqtts://a:p%40@h")
    for url in ("http://h", "mqtt://", "mqtt://h/topic", "mqtt://h:x"):
        with pytest.raises(SettingError, match="mqtt://user:password@host:1883"):
            read_broker(url)
