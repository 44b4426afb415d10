"""Kill and stop processes of all roles on one PostgreSQL database, and count violations.

    PYTHONPATH=. python bench/cluster.py [--kills 50] [--seed 1]

Two planners, two notifiers and a web process run on loopback, each with a data directory of its
own. In each round the page changes, and one process is killed (SIGKILL) or stopped for two leases
(SIGSTOP, SIGCONT); a killed one is started again. A round ends when the receiver was notified of
the edition. The ledgers are those of the page's server and of the receiver. Violations: more
requests than paid polls, a gap that was not kept, a change that was not reported or under two ids,
messages out of order, no answer of the web process. Ends with status 1 if there is one.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import signal
import statistics
import tempfile
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

from tests.roles import LEASE_SECONDS, Cluster
from tests.services import Service, until

GAP = 0.1
SLACK = 0.03
"""seconds that a busy machine blurs between the permit of a request and its arrival"""


class Play:
    """The processes by name, and what was counted."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster = cluster
        self.rng = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.seconds: dict[str, list[float]] = {}
        self.violations: list[str] = []
        self.services: dict[str, Service] = {}
        for name in ("planner-1", "planner-2", "notifier-1", "notifier-2", "web-1"):
            self.start(name)
        until(lambda: any(self.services[f"planner-{n}"].is_ready for n in (1, 2)), 60, "no planner works")

    def start(self, name: str) -> None:
        """Start a process."""
        self.services[name] = self.cluster.start(name.partition("-")[0], name, ready=False)

    def round(self, number: int) -> None:
        """Let one process fail while the page changes."""
        way = self.rng.choice(("kill", "kill", "kill", "stop"))
        name = self._choose()
        if self.rng.random() < 0.5:
            self.cluster.holding.set()  # a message is under way when it happens
        edition = self.cluster.edit()
        time.sleep(self.rng.uniform(0, 1.2))  # any moment between two checks
        process, begun = self.services[name].process, time.monotonic()
        process.send_signal(signal.SIGKILL if way == "kill" else signal.SIGSTOP)
        self.done[f"{way} {name.partition('-')[0]}"] += 1
        self.cluster.holding.clear()
        self._ask_web(name)
        if way == "kill":
            process.wait()
            self.start(name)
        else:
            time.sleep(2 * LEASE_SECONDS)
            process.send_signal(signal.SIGCONT)
        try:
            self.cluster.await_told(edition)
        except AssertionError as error:
            self.violations.append(f"round {number} ({way} {name}): {error}")
        self.seconds.setdefault(f"{way} {name.partition('-')[0]}", []).append(time.monotonic() - begun)

    def _choose(self) -> str:
        """Return the process that is to fail: the planner that works as often as all others."""
        working = self.cluster.lease().holder
        if self.rng.random() < 0.4:
            for name, service in self.services.items():
                if f":{service.process.pid}:" in working:
                    return name
        return self.rng.choice(sorted(self.services))

    def _ask_web(self, failed: str) -> None:
        if failed == "web-1" or "listening on" not in self.services["web-1"].err:
            return
        try:
            for path in ("/", "/plan", "/healthz"):
                self.cluster.ask(self.services["web-1"], path)
            self.done["answers of the web process"] += 3
        except OSError as error:
            self.violations.append(f"the web process did not answer: {error}")


def find_gaps(cluster: Cluster) -> list[float]:
    """Return the seconds between two requests at the page's server."""
    arrived = sorted(seen.arrived or seen.at for seen in cluster.server.seen if seen.path == "/")
    return [later - earlier for earlier, later in pairwise(arrived)]


def main() -> None:
    """Play, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        Cluster(Path(folder), TIDINGS_FETCH_HOST_GAP_SECONDS=str(GAP)) as cluster,
    ):
        begun = time.monotonic()
        play = Play(cluster, arguments.seed)
        number = 0
        while sum(count for what, count in play.done.items() if what.startswith("kill")) < arguments.kills:
            number += 1
            play.round(number)
        with contextlib.suppress(AssertionError):
            until(lambda: not cluster.violations(), 30, "the ledgers still differ", pause=0.2)
        gaps = find_gaps(cluster)
        play.violations += cluster.violations()
        play.violations += [f"a gap of {gap:.3f} s" for gap in gaps if gap < GAP - SLACK]
        told = cluster.editions_told()
        for what, count in sorted(play.done.items()):
            took = play.seconds.get(what)
            shown = f"  told after {statistics.median(took):.1f} s (median), {max(took):.1f} s (most)" if took else ""
            print(f"{what:28} {count:5}{shown}")
        print(f"{'epochs of the lease':28} {cluster.lease().epoch:5}")
        print(f"{'requests of the page':28} {len(gaps) + 1:5}  least gap {min(gaps):.3f} s of {GAP} s")
        print(f"{'changes reported':28} {len(set(told)):5}  {len(told) - len(set(told))} sent twice, with the same id")
        print(f"{'violations':28} {len(play.violations):5}  in {time.monotonic() - begun:.0f} s")
        for text in play.violations:
            print(f"  {text}")
        if play.violations:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
