"""Count messages over crashes: real services are killed (kill -9) two seconds after each start.

    .venv/bin/python bench/deliveries.py [--deliveries 10000] [--sentinels 100] [--receivers 10] [--kill-every 2] [--outage 4]

The messages are written into a new data directory first. The services send them to receivers on
loopback. All receivers answer 503 for the first seconds (`--outage`), then 200. It prints the
messages that arrived of those that were written, ids that arrived twice (after a crash a message
may), messages that overtook an earlier one of their (receiver, sentinel), services that were
killed, and seconds. It ends after an hour at the latest. Exit code 1 if a message is missing or
overtook another.
"""

from __future__ import annotations

import argparse
import contextlib
import http.server
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tidings.model.observed.unit import DeliveryDraft, Event, Unit
from tidings.service.sentinels import register
from tidings.settings import load
from tidings.storage.db.database import Database, open_database
from tidings.storage.watches import deliveries, endpoints, sentinels
from tidings.storage.write import commit

LONGEST = 60 * 60.0
A_UNIT = 500
VARIABLES = {
    "TIDINGS_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
    "TIDINGS_SERVE_PORT": "0",
    "TIDINGS_SERVE_TICK_SECONDS": "0.05",
}


class Receivers:
    """One server on loopback; each path is a receiver. It notes (path, id, sequence) of all that it takes, in the order of arrival."""

    def __init__(self, outage: float) -> None:
        self.taken: list[tuple[str, str, int]] = []
        self.refused = 0
        self._up_at: float | None = None
        self._outage = outage
        receivers = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                status = receivers.take(self.path, self.headers["webhook-id"], int(self.headers["tidings-sequence"]))
                self.wfile.write(f"HTTP/1.1 {status} Said\r\nContent-Length: 0\r\n\r\n".encode())

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign] - a service that was killed has left
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, path: str, id_: str, sequence: int) -> int:
        """Return the status of the answer."""
        now = time.monotonic()
        self._up_at = now + self._outage if self._up_at is None else self._up_at
        if now < self._up_at:
            self.refused += 1
            return 503
        self.taken.append((path, id_, sequence))
        return 200

    def close(self) -> None:
        """Take nothing more."""
        self._server.shutdown()
        self._server.server_close()


def write_messages(database: Database, url: str, arguments: argparse.Namespace) -> None:
    """Write the sentinels and their messages, in turn."""
    settings, now = load(arguments.data, environment=VARIABLES), time.time_ns() // 1_000
    count = arguments.sentinels
    text = "\n\n".join(
        f"Create Sentinel s{n} Using {url}/page Monitor all words Fetch on demand Notify By webhook {url}/hook{n % arguments.receivers}"
        for n in range(count)
    )
    register.register(database, text, settings=settings, now=now)
    ids = database.read(lambda c: [sentinels.find(c, f"s{n}").id for n in range(count)])
    hooks = [row.id for row in database.read(endpoints.listing)]  # in the order in which the first sentinels name them
    places = [(ids[n], hooks[n % arguments.receivers]) for n in range(count)]
    for start in range(0, arguments.deliveries, A_UNIT):
        part = [places[n % count] for n in range(start, min(start + A_UNIT, arguments.deliveries))]
        unit = Unit(
            at=now,
            epoch=0,
            events=tuple(Event(type="bench.news", at=now, sentinel_id=sentinel) for sentinel, _ in part),
            deliveries=tuple(
                DeliveryDraft(
                    endpoint_id=endpoint,
                    sentinel_id=sentinel,
                    content_type="application/json",
                    body=b'{"type":"bench"}',
                    due_at=now,
                    events=(place,),
                )
                for place, (sentinel, endpoint) in enumerate(part)
            ),
        )
        database.write(commit.commit, [unit])


def run_services(data: Path, receivers: Receivers, arguments: argparse.Namespace) -> int:
    """Start and kill services until all messages have arrived; return how many were killed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TIDINGS_")}
    environment |= {**VARIABLES, "TIDINGS_DATA": str(data)}
    ends_at, killed = time.monotonic() + LONGEST, 0
    while time.monotonic() < ends_at and len({taken[1] for taken in receivers.taken}) < arguments.deliveries:
        log = data.parent / f"serve-{killed}.log"
        with log.open("wb") as output:
            command = [sys.executable, "-m", "tidings", "serve"]
            service = subprocess.Popen(command, env=environment, stdout=output, stderr=output, start_new_session=True)
        while service.poll() is None and time.monotonic() < ends_at and b"ready:" not in log.read_bytes():
            time.sleep(0.02)
        with contextlib.suppress(subprocess.TimeoutExpired):
            service.wait(arguments.kill_every)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(service.pid, signal.SIGKILL)
        service.wait()
        killed += 1
    return killed


def count_overtaken(receivers: Receivers, owner: dict[str, int]) -> int:
    """Return how many messages came, for the first time, after a later one of their receiver and sentinel."""
    newest: dict[tuple[str, int], int] = {}
    met: set[str] = set()
    found = 0
    for path, id_, sequence in receivers.taken:
        if id_ in met:
            continue
        met.add(id_)
        line = (path, owner[id_])
        found += sequence < newest.get(line, 0)
        newest[line] = max(sequence, newest.get(line, 0))
    return found


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deliveries", type=int, default=10_000)
    parser.add_argument("--sentinels", type=int, default=100)
    parser.add_argument("--receivers", type=int, default=10)
    parser.add_argument("--kill-every", type=float, default=2.0)
    parser.add_argument("--outage", type=float, default=4.0)
    arguments = parser.parse_args()
    receivers = Receivers(arguments.outage)
    with tempfile.TemporaryDirectory() as folder:
        arguments.data = Path(folder) / "data"
        arguments.data.mkdir(mode=0o700)
        database = open_database(load(arguments.data, environment=VARIABLES))
        write_messages(database, receivers.url, arguments)
        written = {row.id: row.sentinel_id for row in database.read(deliveries.listing)}
        begun = time.monotonic()
        killed = run_services(arguments.data, receivers, arguments)
        seconds = time.monotonic() - begun
        states = Counter(row.status for row in database.read(deliveries.listing))
        database.close()
    receivers.close()
    arrived = {id_ for _, id_, _ in receivers.taken}
    late = count_overtaken(receivers, written)
    print(
        f"written {len(written):,}, arrived {len(arrived & written.keys()):,}, ids nobody wrote {len(arrived - written.keys()):,}"
    )
    print(f"arrived twice {len(receivers.taken) - len(arrived):,}, refused with 503 {receivers.refused:,}")
    print(f"overtook an earlier message of their receiver and sentinel {late:,}")
    print(
        f"services killed {killed:,}, {seconds:.0f} s, {len(arrived) / seconds:.0f} messages a second; stored as {dict(states)}"
    )
    return int(bool(late or arrived != written.keys()))


if __name__ == "__main__":
    sys.exit(main())
