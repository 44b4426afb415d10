"""How the service grows with the number of pages: ready, memory, idle CPU, lateness.

    PYTHONPATH=. .venv/bin/python bench/scale.py [--pages 1000,5000,20000,50000] [--rate 100]
        [--seconds 60] [--plot FILE]

One sentinel watches all pages, which a server on loopback answers with 304 (250 addresses).
For each number of pages a real `tidings serve` is started three times:

    first   until every page has been fetched once; seconds until it is ready, by its own line
    idle    started again: seconds until it is ready; each page is due once in 30 days: seconds
            until it is at rest (`rest s`: from then on under 5 % of a core for 5 s; `inf` if that
            does not happen within 120 s), and afterwards CPU of all its processes in % of a core,
            and their memory (proportional). What it does until then is to index the pages that
            were just fetched
    busy    each page is due every pages/rate seconds, so that `rate` polls a second are due on
            average (pages that were fetched together stay together): over whole intervals CPU a
            poll, polls a second, and *late*, how much longer than the interval two polls of a
            page lie apart (p50, p99), by the times that the database has; `--rate 0` leaves it out

The machine's load is printed: other work makes polls late. `--plot` draws CPU and memory against
pages (docs/why/scale.svg). Ends by itself.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.measured import cpu_seconds, descendants, memory_mb
from bench.poll_loop import serve as serve_pages

HOSTS = 250
PATIENCE_SECONDS = 1_800
REST_SHARE, REST_SECONDS, REST_PATIENCE_SECONDS = 0.05, 5, 120
READY = re.compile(r"ready: .*\((\d+\.\d+) s\)")


def statement(port: int, pages: int, interval: str) -> str:
    """Return the text of the one sentinel."""
    urls = ", ".join(f"http://127.0.{2 + n % HOSTS // 250}.{1 + n % HOSTS % 250}:{port}/{n}" for n in range(pages))
    return f"Create Sentinel all Using {urls}\n  Monitor all words\n  Fetch every {interval}\n"


@contextmanager
def service(environment: dict[str, str]) -> Iterator[tuple[int, float]]:
    """Start the service; give its process and the seconds until it was ready; stop it."""
    command = [sys.executable, "-m", "tidings", "serve", "--port", "0"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if found := READY.search(line):
            threading.Thread(target=process.stdout.read, daemon=True).start()  # a full pipe would stop the service
            yield process.pid, float(found[1])
            break
    else:
        raise SystemExit("the service did not get ready")
    process.terminate()
    process.wait(timeout=60)


def tree(pid: int) -> list[int]:
    """Return a process and its descendants."""
    return [pid, *descendants(pid)]


def wait_for_rest(pid: int) -> float:
    """Wait until the service is at rest; return the seconds that it worked, inf if it did not stop."""
    begun = quiet = time.monotonic()
    while quiet - begun < REST_PATIENCE_SECONDS:
        cpu, since = cpu_seconds(tree(pid)), time.monotonic()
        time.sleep(1)
        if cpu_seconds(tree(pid)) - cpu > REST_SHARE * (time.monotonic() - since):
            quiet = time.monotonic()
        elif time.monotonic() - quiet >= REST_SECONDS:
            return quiet - begun
    return float("inf")


def count_polls(data: Path, since: int = 0) -> int:
    """Return how many polls have ended that began at or after a time in µs."""
    with sqlite3.connect(f"file:{data}/tidings.db?mode=ro", uri=True) as database:
        asked = "SELECT count(*) FROM poll WHERE finished_at IS NOT NULL AND charged_at >= ?"
        return int(database.execute(asked, (since,)).fetchone()[0])


def lateness(data: Path, since: int, interval: float) -> list[float]:
    """Return by how much more than the interval (s) polls of a page lie apart since a time (µs)."""
    with sqlite3.connect(f"file:{data}/tidings.db?mode=ro", uri=True) as database:
        asked = "SELECT page_id, charged_at FROM poll WHERE charged_at >= ? ORDER BY page_id, id"
        rows = database.execute(asked, (since,)).fetchall()
    pairs = pairwise(rows)
    return sorted((b - a) / 1e6 - interval for (page, a), (other, b) in pairs if page == other)


def run(environment: dict[str, str], *words: str) -> None:
    """Run a verb; end if it fails."""
    command = [sys.executable, "-m", "tidings", *words]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    if done.returncode:
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])


def measure(pages: int, port: int, rate: int, seconds: float) -> dict[str, float]:
    """Return the figures of one number of pages."""
    found: dict[str, float] = {"pages": pages}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TIDINGS_")} | {
            "TIDINGS_DATA": str(data),
            "TIDINGS_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
            "TIDINGS_FETCH_ROBOTS": "false",
            "TIDINGS_FETCH_HOST_GAP_SECONDS": "0",
            "TIDINGS_FETCH_PAGE_FLOOR_SECONDS": "0",
            "TIDINGS_BUDGET_POLLS_PER_DAY": "1e9",
            "TIDINGS_BUDGET_BURST": "1e9",
            "PYTHONUNBUFFERED": "1",
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        file = Path(folder) / "all.sentinel"
        file.write_text(statement(port, pages, "30 days"), encoding="utf-8")
        run(environment, "apply", "--no-check", str(file))
        with service(environment) as (pid, found["first ready"]):
            begun = time.monotonic()
            while count_polls(data) < pages:
                if time.monotonic() - begun > PATIENCE_SECONDS:
                    raise SystemExit("not every page was fetched")
                time.sleep(1)
            found["first ms"] = cpu_seconds(tree(pid)) * 1e3 / pages
        with service(environment) as (pid, found["ready"]):
            found["rest s"] = wait_for_rest(pid)
            found["rest CPU"] = cpu = cpu_seconds(tree(pid))
            begun = time.monotonic()
            time.sleep(seconds)
            found["idle %"] = (cpu_seconds(tree(pid)) - cpu) / (time.monotonic() - begun) * 100
            found["MB"], found["own MB"] = memory_mb(tree(pid)), memory_mb([pid])
        if not rate:
            return found
        interval = pages / rate
        file.write_text(statement(port, pages, f"{interval:g} seconds slack 0 s"), encoding="utf-8")
        run(environment, "apply", "--no-check", str(file))
        with service(environment) as (pid, _):
            time.sleep(interval * 1.2)  # what was due long ago is fetched first, as fast as it can be
            since, cpu = time.time_ns() // 1_000, cpu_seconds(tree(pid))
            measured = interval * max(1, round(seconds / interval))
            time.sleep(measured)
            polls = count_polls(data, since)
            found["busy ms"] = (cpu_seconds(tree(pid)) - cpu) * 1e3 / max(polls, 1)
            found["busy MB"] = memory_mb(tree(pid))
        late = lateness(data, since - int(interval * 1.05e6), interval) or [float("nan")]
        found["polls/s"] = polls / measured
        found["late p50"], found["late p99"] = statistics.median(late), late[int(len(late) * 0.99)]
    return found


LINES = (
    ("own MB", "#1c64b0", "MB, the service"),
    ("MB", "#6a9ad0", "MB, all processes"),
    ("rest CPU", "#b04a1c", "s of CPU from its start to rest"),
    ("idle %", "#3a8a3a", "% of a core, idle"),
)


def draw(rows: list[dict[str, float]], file: Path) -> None:
    """Draw CPU and memory against pages: a panel for each line, from 0."""
    width, height, left, room = 640, 120, 60, 470
    most = max(row["pages"] for row in rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height * len(LINES) + 20}" font-size="11" font-family="sans-serif">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for number, (name, colour, unit) in enumerate(LINES):
        foot = height * (number + 1) - 20
        top = max(*(row[name] for row in rows), 1e-9)
        spots = [(left + row["pages"] / most * room, foot - row[name] / top * (height - 50)) for row in rows]
        line = " ".join(f"{x:.0f},{y:.0f}" for x, y in spots)
        parts.append(f'<text x="{left}" y="{foot - height + 34}" fill="{colour}">{unit}</text>')
        parts.append(f'<path d="M{left},{foot}h{room}" stroke="#999"/>')
        parts.append(f'<polyline fill="none" stroke="{colour}" points="{line}"/>')
        for (x, y), row in zip(spots, rows, strict=True):
            parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="3" fill="{colour}"/>')
            parts.append(f'<text x="{x + 6:.0f}" y="{y + 12:.0f}" fill="{colour}">{row[name]:.3g}</text>')
            parts.append(f'<text x="{x:.0f}" y="{foot + 13}" text-anchor="middle">{row["pages"]:,.0f}</text>')
    file.write_text("\n".join([*parts, "</svg>\n"]), encoding="utf-8")


def main() -> None:
    """Measure each number of pages and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", default="1000,5000,20000,50000")
    parser.add_argument(
        "--rate", type=int, default=100, help="polls that are due each second when it is busy; 0: never"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="for how long idle and busy are measured, about")
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    port: Any = multiprocessing.Value("i", 0)
    mode: Any = multiprocessing.Array("i", [0, 1])
    server = multiprocessing.Process(target=serve_pages, args=(port, mode), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.05)
    names = ["pages", "first ready", "ready", "rest s", "rest CPU", "first ms", "MB", "own MB", "idle %"]
    names += ["busy MB", "busy ms", "polls/s", "late p50", "late p99"] if arguments.rate else []
    print("| " + " | ".join(names) + " |\n|" + "---:|" * len(names), flush=True)
    rows = []
    for pages in map(int, arguments.pages.split(",")):
        rows.append(measure(pages, port.value, arguments.rate, arguments.seconds))
        print(
            "| " + " | ".join(f"{rows[-1][name]:,.3g}" if name != "pages" else f"{pages:,}" for name in names) + " |",
            flush=True,
        )
    print(f"load {os.getloadavg()[0]:.1f}")
    if arguments.plot:
        draw(rows, arguments.plot)
    server.kill()


if __name__ == "__main__":
    main()
