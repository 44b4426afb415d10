"""Disturb processes of all roles on one PostgreSQL database in many ways, and count violations.

    PYTHONPATH=. python bench/cluster.py [--rounds 60] [--seed 1] [--planners 2] [--pollers 3]

Planners, two notifiers and a web process run on loopback, each with a data directory of its own and
behind a proxy of its own to the database, and pollers that get their work through a NATS server
that the bench starts. Half of the machines have clocks that are five minutes ahead or behind. Each
round changes all pages and then disturbs one process: it is killed (SIGKILL), stopped for two
leases (SIGSTOP), cut off (resets, a silent network, or a slow one that loses a part), asked to end,
or joined by another one; or what is on the bus is deleted, the NATS server is killed and started
with an empty store, or all connections to the database are ended. A round ends when the receiver
was notified of all editions. The ledgers are those of the pages' servers and of the receiver.

Violations: more requests than were paid for, or than the budget allows in any stretch of time; a
gap of a host that was not kept, also by pages that lead to another planner's host; a change that
was not reported within 60 s, or under two ids; a version that is missing; messages out of order; no
answer of the web process. Ends with status 1 if there is one.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import signal
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from tests.buses import make_name, remove_stream
from tests.nats_server import NatsServer
from tests.role_processes import Cluster
from tests.services import Service, until
from tests.stores import end_connections, own_postgres
from tests.tcp_proxy import TcpProxy
from tests.wrong_clocks import library
from tidings.storage.observed import versions
from tidings.storage.watches import deliveries

GAP = 0.1
SLACK = 0.05
"""seconds that a busy machine blurs between the permit of a request and its arrival"""
SITES = 6
RATE, BURST = 15.0, 30.0
"""the budget, in requests a second and as what it can save up"""
UNDER_WAY = 12.0
"""Requests that were paid and left late, e.g. by a process that was stopped: at most so many are
under way.
"""
LEASE_SECONDS = 3.0
"""longer than in tests, since a busy machine renews late"""
START_SECONDS = 180.0
REPORTED_SECONDS = 60.0
FETCH_SECONDS = 5
SKEWS = ("+5m", "-5m", "", "")


WHOLE = ("database", "wiped bus", "killed bus")
"""What disturbs all processes."""


class Play:
    """The processes by name, and what was counted."""

    def __init__(self, cluster: Cluster, url: str, bus: NatsServer | None, arguments: argparse.Namespace) -> None:
        self.cluster = cluster
        self.bus = bus
        self.rng = random.Random(arguments.seed)
        self.done: Counter[str] = Counter()
        self.seconds: dict[str, list[float]] = {}
        self.violations: list[str] = []
        self.services: dict[str, Service] = {}
        self.proxies: dict[str, TcpProxy] = {}
        self._url = url
        self._most = arguments.planners
        self._number = 0
        self._stack = contextlib.ExitStack()
        self._ways: dict[str, Callable[[str], None]] = {
            "kill": self._kill,
            "stop": self._stop,
            "reset": self._reset,
            "silence": self._silence,
            "slow": self._slow,
            "leave": self._leave,
            "join": self._join,
            "database": self._end_connections,
        }
        if bus is not None:
            self._ways |= {"wiped bus": self._wipe, "killed bus": self._restart_bus}
        for role, count in (
            ("planner", arguments.planners),
            ("notifier", 2),
            ("web", 1),
            ("poller", arguments.pollers),
        ):
            for _ in range(count):
                self.start(role)
        numbers = [site.number + 1 for site in cluster.sites]
        until(
            lambda: all(cluster.main.read(versions.listing, number) for number in numbers),
            START_SECONDS,
            "not every page has a version",
            pause=0.5,
        )

    def close(self) -> None:
        """Remove the proxies."""
        self._stack.close()

    def start(self, role: str) -> None:
        """Start a process on a machine of its own."""
        self._number += 1
        name = f"{role}-{self._number}"
        parts = urlsplit(self.bus.url if role == "poller" and self.bus else self._url)
        proxy = self.proxies[name] = self._stack.enter_context(TcpProxy((parts.hostname or "", parts.port or 0)))
        user = f"{parts.username}:{parts.password}@" if parts.username else ""
        own = {"TIDINGS_STORE_URL": f"postgresql://{user}127.0.0.1:{proxy.port}{parts.path}"}
        if role == "poller":
            own = {"TIDINGS_BUS_URL": f"nats://127.0.0.1:{proxy.port}", "TIDINGS_STORE_URL": ""}
        skew, ahead = library(), SKEWS[self._number % len(SKEWS)]
        if skew is not None and ahead:
            own |= {"LD_PRELOAD": str(skew), "FAKETIME": ahead, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
            self.done["machines with a wrong clock"] += 1
        self.cluster.own[name] = own
        self.services[name] = self.cluster.start(role, name, ready=False)

    def round(self, number: int) -> None:
        """Disturb one process while all pages change."""
        way = self.rng.choice([*self._ways, "kill", "kill", "stop"])
        name = self._choose(way)
        if name is None:
            return
        if self.rng.random() < 0.5:
            self.cluster.holding.set()  # messages are under way when it happens
        editions = self.cluster.edit_all()
        time.sleep(self.rng.uniform(0, 1.2))  # any moment between two checks
        begun, what = time.monotonic(), way if way in WHOLE else f"{way} {name.partition('-')[0]}"
        self.done[what] += 1
        self._ways[way](name)
        self.cluster.holding.clear()
        self._ask_web(name)
        try:
            self.cluster.await_told(*editions, seconds=REPORTED_SECONDS)
        except AssertionError as error:
            self.violations.append(f"round {number} ({way} {name}): {error}")
        self.seconds.setdefault(what, []).append(time.monotonic() - begun)

    def _choose(self, way: str) -> str | None:
        """Return the process that is to be disturbed: planners as often as all others together."""
        planners = [name for name in self.services if name.startswith("planner")]
        if way in {"leave", "join"}:
            is_possible = len(planners) > 1 if way == "leave" else len(planners) <= self._most
            return self.rng.choice(planners) if is_possible else None
        others = sorted(self.services.keys() - {*planners})
        return self.rng.choice(planners if self.rng.random() < 0.5 else others)

    def _kill(self, name: str) -> None:
        self.cluster.holding.clear()
        self.services.pop(name).kill()
        self.start(name.partition("-")[0])

    def _stop(self, name: str) -> None:
        process = self.services[name].process
        process.send_signal(signal.SIGSTOP)
        self.cluster.holding.clear()
        self._ask_web(name)
        time.sleep(2 * LEASE_SECONDS)
        process.send_signal(signal.SIGCONT)

    def _reset(self, name: str) -> None:
        proxy = self.proxies[name]
        proxy.is_out = True
        proxy.cut()
        time.sleep(self.rng.choice((0.0, 2 * LEASE_SECONDS)))
        proxy.mend()

    def _silence(self, name: str) -> None:
        self.proxies[name].block()
        time.sleep(self.rng.uniform(0.5, 3) * LEASE_SECONDS)
        self.proxies[name].mend()

    def _slow(self, name: str) -> None:
        """Let each piece take a while; one in twenty is lost and sent again."""
        self.proxies[name].lag = lambda: self.rng.choice([self.rng.uniform(0.0, 0.01)] * 19 + [0.3])
        time.sleep(2 * LEASE_SECONDS)
        self.proxies[name].mend()

    def _leave(self, name: str) -> None:
        until(lambda: self.services[name].err, START_SECONDS, "it does not start")  # before, SIGTERM just ends it
        code, _ = self.services.pop(name).terminate()
        if code:
            self.violations.append(f"{name} ended with {code}")

    def _join(self, name: str) -> None:  # noqa: ARG002 - another one comes
        self.start("planner")

    def _wipe(self, name: str) -> None:  # noqa: ARG002 - nobody in particular
        if self.bus is not None:
            asyncio.run(remove_stream("nats", self.bus.url, self.cluster.variables["TIDINGS_BUS_NAME"]))

    def _restart_bus(self, name: str) -> None:  # noqa: ARG002 - nobody in particular
        if self.bus is not None:
            self.bus.kill()
            time.sleep(self.rng.choice((0.0, LEASE_SECONDS)))
            self.bus.start()

    def _end_connections(self, name: str) -> None:  # noqa: ARG002 - all of them
        end_connections(self._url)

    def _ask_web(self, failed: str) -> None:
        web = next((name for name in self.services if name.startswith("web")), failed)
        if web == failed or "listening on" not in self.services[web].err:
            return
        try:
            for path in ("/", "/plan", "/healthz"):
                self.cluster.ask(self.services[web], path)
            self.done["answers of the web process"] += 3
        except OSError as error:
            self.violations.append(f"the web process did not answer: {error}")


def find_excess(arrivals: list[float]) -> float:
    """Return by how many requests the budget was exceeded at the worst."""
    level, last, worst = BURST, arrivals[0], 0.0
    for at in arrivals:
        level = min(BURST, level + RATE * (at - last)) - 1
        last, worst = at, min(worst, level)
    return -worst


def find_lost_versions(cluster: Cluster) -> list[str]:
    """Return the sites whose editions were not all stored, each once and in order."""
    found = []
    for site in cluster.sites:
        stored = [version.seq for version in cluster.main.read(versions.listing, site.number + 1)]
        if stored != list(range(1, len(stored) + 1)) or len(stored) != 1 + len(site.editions):
            found.append(f"site {site.number} has {len(stored)} versions for {1 + len(site.editions)} texts")
    return found


def list_waiting(cluster: Cluster) -> list[str]:
    """Return the messages that were not delivered at the end."""
    rows = cluster.main.read(deliveries.listing)
    return [
        f"message {row.id} of endpoint {row.endpoint_id} is {row.status} after {row.attempt} attempts: {row.error}"
        for row in rows
        if row.status != "delivered"
    ]


def open_cluster(folder: Path, url: str, bus: NatsServer | None) -> Cluster:
    """Return the cluster; its last page leads to the host of another one."""
    own = {
        "TIDINGS_FETCH_HOST_GAP_SECONDS": str(GAP),
        "TIDINGS_BUDGET_POLLS_PER_DAY": str(round(RATE * 86_400)),
        "TIDINGS_BUDGET_BURST": str(BURST),
        "TIDINGS_SERVE_LEASE_SECONDS": str(LEASE_SECONDS),
    }
    if bus is not None:
        own |= {
            "TIDINGS_BUS_URL": bus.url,
            "TIDINGS_BUS_NAME": make_name(),
            "TIDINGS_BUS_SECRET": "a secret of a bench",
            "TIDINGS_FETCH_TOTAL_SECONDS": str(FETCH_SECONDS),
        }
    return Cluster(folder, url, sites=SITES, **own)


def main() -> None:
    """Play, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--planners", type=int, default=2)
    parser.add_argument("--pollers", type=int, default=3)
    arguments = parser.parse_args()
    with (
        own_postgres() as url,
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as store,
        NatsServer(Path(store)) if arguments.pollers else contextlib.nullcontext() as bus,
        open_cluster(Path(folder), url, bus) as cluster,
    ):
        for site, other in zip(cluster.sites, [*cluster.sites[1:], cluster.sites[0]], strict=True):
            site.leads_to = other.server.url("/")
        away = " ".join(
            f"Create Sentinel away{site.number} Using {site.server.url('/away')} Monitor any change Fetch every 1 s"
            for site in cluster.sites
        )
        cluster.main.run("add", "-", "--no-check", text=away)
        begun = time.monotonic()
        play = Play(cluster, url, bus, arguments)
        try:
            for number in range(arguments.rounds):
                play.round(number)
            with contextlib.suppress(AssertionError):
                until(
                    lambda: not cluster.violations() and not list_waiting(cluster), 30, "the ledgers differ", pause=0.2
                )
            report(play, cluster, begun)
        finally:
            for service in play.services.values():
                service.end()
            play.close()
        if play.violations:
            raise SystemExit(1)


def report(play: Play, cluster: Cluster, begun: float) -> None:
    """Print what was counted."""
    gaps, arrivals = cluster.gaps(), sorted(at for site in cluster.sites for at in site.arrivals)
    excess = find_excess(arrivals)
    play.violations += [*cluster.violations(), *find_lost_versions(cluster), *list_waiting(cluster)]
    play.violations += [f"a gap of {gap:.3f} s" for gap in gaps if gap < GAP - SLACK]
    if excess > UNDER_WAY:
        play.violations.append(f"{excess:.1f} requests beyond the budget")
    reported = cluster.editions_told()
    for what, count in sorted(play.done.items()):
        took = play.seconds.get(what)
        shown = f"  reported after {statistics.median(took):.1f} s (median), {max(took):.1f} s (most)" if took else ""
        print(f"{what:28} {count:5}{shown}")
    print(f"{'runs of planners':28} {cluster.lease().epoch:5}")
    print(f"{'requests':28} {len(arrivals):5}  least gap {min(gaps):.3f} s of {GAP} s")
    print(f"{'beyond the budget':28} {excess:5.1f}  requests, of {RATE:g} a second and {BURST:g} saved")
    twice = len(reported) - len(set(reported))
    print(f"{'changes reported':28} {len(set(reported)):5}  {twice} sent twice, with the same id")
    print(f"{'other messages':28} {len(cluster.notices):5}  e.g. that checks could not be stored")
    print(f"load {os.getloadavg()[0]:.1f} at the end, on {os.cpu_count()} cores")
    print(f"{'violations':28} {len(play.violations):5}  in {time.monotonic() - begun:.0f} s")
    for text in play.violations:
        print(f"  {text}")


if __name__ == "__main__":
    main()
