"""Run a thousand calls that write, and `check`, beside a running `tidings serve`.

    .venv/bin/python bench/doors.py [--calls 1000] [--writers 4] [--warm]

Several processes write. Each adds, disables, enables and drops sentinels of its own and keeps a
ledger. Meanwhile the service polls pages that change at every poll, commits and notifies, and
`tidings check` asks it for polls. Afterwards the database is compared with the ledgers. Without
`--warm` each call is a process of its own, as from a shell. With it a writer calls the command line
in one process, without a pause. Ends with status 1 if a call failed, a write was lost, or an
invariant is broken.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests import command_writers
from tests.fakes import Page, WebServer, response
from tests.invariants import check_invariants
from tests.services import Installation, until
from tidings.storage.observed import polls

PAGES = 20
VARIABLES = {"TIDINGS_FETCH_ROBOTS": "false", "TIDINGS_FETCH_HOST_GAP_SECONDS": "0"}
PATIENCE = 3_600.0


def print_latencies(name: str, seconds: Sequence[float]) -> None:
    """Print median, 99th percentile and the worst."""
    if len(seconds) < 2:
        return
    percentiles = statistics.quantiles(seconds, n=100)
    print(
        f"{name:10}{len(seconds):6} calls   p50 {percentiles[49] * 1e3:7.1f} ms   p99 {percentiles[98] * 1e3:7.1f} ms"
        f"   worst {max(seconds) * 1e3:7.1f} ms"
    )


def checks_beside(place: Installation, is_over: object) -> tuple[list[float], list[str]]:
    """Ask the running service for polls until the writers have ended; return how long each took and what went wrong."""
    took, faults = [], []
    while not is_over():  # type: ignore[operator]
        begun = time.perf_counter()
        done = place.run("check", "standing0", "--json", timeout=180)
        took.append(time.perf_counter() - begun)
        records = [json.loads(line)["record"] for line in done.stdout.splitlines()]
        if done.returncode or "poll" not in records:
            faults.append(f"check ended with {done.returncode}: {done.stdout}{done.stderr}")
    return took, faults


def run(arguments: argparse.Namespace, folder: Path) -> list[str]:
    """Let all doors be used at once and return what went wrong."""
    with WebServer("127.0.0.2") as web:
        edition = itertools.count()
        for n in range(PAGES):
            web.pages[f"/{n}"] = lambda _, wire: wire.send(
                response(Page(b"<p>edition %d</p>" % next(edition), {"Content-Type": "text/html"}))
            )
        web.pages["/hook"] = Page(status=204)
        place = Installation(folder / "data", VARIABLES)
        try:
            return _run(arguments, place, web)
        finally:
            place.close()


def _run(arguments: argparse.Namespace, place: Installation, web: WebServer) -> list[str]:
    urls = [web.url(f"/{n}") for n in range(PAGES)]
    hook = web.url("/hook")
    standing = ";\n".join(
        f"Create Sentinel standing{n} Using {url} Monitor any change Fetch every 1 s Notify By webhook {hook} immediate"
        for n, url in enumerate(urls)
    )
    added = place.run("add", "-", "--no-check", text=standing)
    assert added.returncode == 0, added.stderr
    service = place.serve()
    service.wait_ready()
    begun = time.perf_counter()
    share = arguments.calls // arguments.writers
    writers = [
        command_writers.start(place, f"w{n}x", share, urls, cold=not arguments.warm) for n in range(arguments.writers)
    ]
    took, faults = checks_beside(place, lambda: all(writer.poll() is not None for writer in writers))
    calls = [call for writer in writers for call in command_writers.finish(writer, timeout=PATIENCE)]
    seconds = time.perf_counter() - begun
    faults += [f"{call.verb} {call.name} ended with {call.status}: {call.said}" for call in calls if call.status]
    if service.process.poll() is not None:
        faults.append(f"the service ended by itself: {service.err[-2000:]}")
        return faults
    expected = {**command_writers.ledger(calls), **{f"standing{n}": "enabled" for n in range(PAGES)}}
    until(lambda: not place.read(command_writers.not_taken_in), 30, "the service has not taken in all that was written")
    status, stopped = service.terminate()
    faults += place.read(command_writers.list_lost_writes, expected)
    faults += check_invariants(place.settings, outputs=place.outputs())
    _, complained, report = service.err.partition(" ERROR ")
    faults += [f"the service complained: {report[:3000]}"] if complained else []
    doctor = place.run("doctor", "--json", "--deep")
    faults += [line for line in doctor.stdout.splitlines() if json.loads(line)["status"] == "fail"]
    if status:
        faults.append(f"the service stopped with status {status}")

    count = len(place.read(polls.listing))
    kind = "in one process each" if arguments.warm else "a process each"
    print(
        f"{len(calls)} writing calls by {len(writers)} writers ({kind}) in {seconds:.0f} s, {len(took)} checks beside them"
    )
    print(
        f"the service made {count} polls and sent {web.paths().count('/hook')} webhooks meanwhile; stopped in {stopped:.2f} s"
    )
    by_verb = Counter(call.verb for call in calls)
    for verb in sorted(by_verb):
        print_latencies(verb, [call.seconds for call in calls if call.verb == verb])
    print_latencies("all writes", [call.seconds for call in calls])
    print_latencies("check", took)
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--warm", action="store_true", help="a writer calls the command line within its own process")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidings-doors-") as folder:
        faults = run(arguments, Path(folder))
    print(f"{len(faults)} faults")
    for fault in faults[:20]:
        print(f"  {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
