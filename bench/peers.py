"""Tidings beside urlwatch, webchanges and changedetection.io on the same loopback pages, as commands,
in one run.

    .venv/bin/python bench/peers.py [--pages 500] [--rounds 2] [--tools urlwatch,webchanges,changedetection] [--text html2text|none]

The pages and their server are those of bench/poll_loop.py: 6 KB of HTML on 40 loopback hosts; a
changed page has one word changed. Every peer is installed with pip, at a pinned version, into a
virtual environment under --cache (outside the repository); one that cannot be installed is skipped
and named. Rounds are interleaved, so that all tools meet the same load of the machine:

    first        every page for the first time
    304          nothing changed; the server has ETags and answers 304 to who asks for it
    200          nothing changed; the server knows no ETags and sends every body
    changed      every page changed, with ETags
    one page     one page that answers 304, all others being known to the tool
    one changed  one page that changed, all others being known: the command's start, and that of the first worker
    nothing      `tidings check` when nothing is due

CPU is user and system time of the tool's whole process tree; the pages' server is not in it. "net"
is the cost of a page once everything runs: (CPU - CPU of "one page") / (pages - 1) for pages that
did not change, and (CPU - CPU of "one changed") / (pages - 1) for those that did, which need
Tidings' worker process. Both starts are printed. Peak memory counts what processes share once. A
round in which a tool did not do what the pages ask of it (wrong number of new or changed pages,
pages not asked for, any error) ends the run with status 1.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.peer_tools import Changedetection, Cost, JobFile, Tidings, Tool, install
from bench.poll_loop import serve, urls

PINNED = {
    "urlwatch": "urlwatch==2.29",
    "webchanges": "webchanges==3.37.0",
    "changedetection": "changedetection.io==0.60.10",
}
ROUNDS = ("set up", "first", "304", "200", "changed", "one page", "one changed", "nothing")
STARTS = {"first": "one changed", "304": "one page", "200": "one page", "changed": "one changed"}
"""What each round begins with: the same command for one page."""
Book = dict[tuple[str, str], list[Cost]]


class CountedMode:
    """The mode of poll_loop's server, which reads `mode[0]` once a request; this counts the requests."""

    def __init__(self, context: Any) -> None:
        self.mode = context.Array("i", [0, 1])
        self.hits = context.Value("i", 0)

    def __getitem__(self, index: int) -> int:
        """Return the edition (0), or whether there are ETags (1)."""
        if index == 0:
            with self.hits.get_lock():
                self.hits.value += 1
        return int(self.mode[index])

    def put(self, edition: int, *, tags: bool) -> None:
        """Show this edition of all pages from now on."""
        self.mode[0], self.mode[1] = edition, int(tags)


class Bench:
    """The tools, the pages and what has been measured."""

    def __init__(self, tools: list[Tool], mode: CountedMode, pages: int) -> None:
        self.tools = tools
        self.mode = mode
        self.pages = pages
        self.book: Book = {}
        self.faults: list[str] = []

    def run(self, addresses: list[str], rounds: int) -> None:
        """Measure everything."""
        for tool in self.tools:
            cost = tool.set_up(addresses)
            if cost is not None:
                self.book[tool.name, "set up"] = [cost]
        self._everybody("first", 0, tags=True)
        for turn in range(rounds):
            self._everybody("304", turn, tags=True)
            self._everybody("one page", turn, tags=True)
            self._everybody("200", turn, tags=False)
            for edition in (turn + 1, turn):
                self._everybody("one changed", edition, tags=True, changed=1)
            self._everybody("changed", turn + 1, tags=True, changed=self.pages)

    def _everybody(self, name: str, edition: int, *, tags: bool, **expected: int) -> None:
        self.mode.put(edition, tags=tags)
        for tool in self.tools:
            if name in STARTS.values():
                self._measure(tool, name, tool.check_one, 1, expected)
            elif name == "first":
                self._measure(tool, name, tool.check, self.pages - tool.seen, {"new": self.pages - tool.seen})
            else:
                self._measure(tool, name, tool.check, self.pages, expected)
            if name == "one page" and isinstance(tool, Tidings):
                self._measure(tool, "nothing", tool.check_nothing, 0, {})

    def _measure(self, tool: Tool, name: str, check: Callable[[], Cost], asked: int, expected: dict[str, int]) -> None:
        hits = self.mode.hits.value
        cost = check()
        hits = self.mode.hits.value - hits
        self.book.setdefault((tool.name, name), []).append(cost)
        print(f"  {tool.name:16}{name:12}{cost.cpu:8.2f} s CPU{cost.wall:8.1f} s  {hits} requests", file=sys.stderr)
        if cost.reported != Counter(expected) or hits < asked:
            self.faults.append(
                f"{tool.name}, {name}: reported {dict(cost.reported)}, not {expected}; {hits} requests for {asked} pages"
            )


def print_table(book: Book, tools: list[str], pages: int) -> None:
    """Print medians, and the spread of the CPU where there are several rounds."""
    print(
        f"{'tool':16}{'round':12}{'CPU s':>7}{'(spread)':>14}{'ms/page':>9}{'net':>7}{'wall s':>8}{'pages/CPU-s':>13}"
        f"{'peak MB':>9}{'x Tidings':>11}{'net x':>7}"
    )
    for name in ROUNDS:
        for tool in tools:
            if (tool, name) in book:
                print(f"{tool:16}{name:12}{_row(book, tool, name, pages)}")
        print()


def _row(book: Book, tool: str, name: str, pages: int) -> str:
    costs = book[tool, name]
    cpu = _cpu(book, tool, name)
    spread = f"{min(c.cpu for c in costs):.2f}-{max(c.cpu for c in costs):.2f}" if len(costs) > 1 else ""
    wall, peak = statistics.median(c.wall for c in costs), max(c.peak_mb for c in costs)
    ratio = (
        f"{cpu / _cpu(book, 'tidings', name):11.2f}" if ("tidings", name) in book and name != "set up" else f"{'':11}"
    )
    if name not in STARTS:
        return f"{cpu:7.2f}{spread:>14}{'':16}{wall:8.1f}{'':13}{peak:9.0f}{ratio}"
    net, ours = _net(book, tool, name, pages), _net(book, "tidings", name, pages)
    times = f"{net / ours:7.1f}" if min(net, ours) > 0 else f"{'-':>7}"  # few pages: the start hides what they cost
    return f"{cpu:7.2f}{spread:>14}{cpu / pages * 1e3:9.2f}{net:7.2f}{wall:8.1f}{pages / cpu:13.0f}{peak:9.0f}{ratio}{times}"


def _cpu(book: Book, tool: str, name: str) -> float:
    return statistics.median(cost.cpu for cost in book[tool, name])


def _net(book: Book, tool: str, name: str, pages: int) -> float:
    """Return CPU ms of a page without what has to start."""
    return (_cpu(book, tool, name) - _cpu(book, tool, STARTS[name])) / (pages - 1) * 1e3


def build(arguments: argparse.Namespace, folder: Path, hits: Any) -> list[Tool]:
    """Install and make the tools; say which are left out."""
    tools: list[Tool] = []
    for name in ["tidings", "notify", *arguments.tools]:
        own = folder / name
        own.mkdir()
        if name in {"tidings", "notify"}:
            tools.append(Tidings(own, notify=name == "notify"))
            continue
        try:
            binaries = install(getattr(arguments, name), arguments.cache)
        except subprocess.CalledProcessError as error:
            reason = (error.stderr or error.stdout or "").strip().splitlines()
            print(f"skipped: {getattr(arguments, name)} cannot be installed: {reason[-1] if reason else error}")
            continue
        if name == "changedetection":
            tools.append(Changedetection(binaries / "changedetection.io", own, hits))
        else:
            database, filters = ("--cache", "filter") if name == "urlwatch" else ("--database", "filters")
            is_text = arguments.text == "html2text"
            tools.append(JobFile(name, binaries / name, own, database=database, filters=filters, text=is_text))
    return tools


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--tools", type=lambda text: text.split(","), default=list(PINNED), help="peers, with commas")
    parser.add_argument("--text", choices=["html2text", "none"], default="html2text", help="filter of job files")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "tidings-bench-peers")
    for name, requirement in PINNED.items():
        parser.add_argument(f"--{name}", default=requirement, help="what pip installs")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.tools if name not in PINNED]:
        parser.error(f"no such tool: {', '.join(unknown)}; there are {', '.join(PINNED)}")
    return arguments


def main() -> int:
    arguments = parse()
    context = multiprocessing.get_context("spawn")
    port, mode = context.Value("i", 0), CountedMode(context)
    server = context.Process(target=serve, args=(port, mode), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.01)
    with tempfile.TemporaryDirectory() as directory:
        tools = build(arguments, Path(directory), mode.hits)
        bench = Bench(tools, mode, arguments.pages)
        try:
            bench.run(urls(port.value, arguments.pages), arguments.rounds)
        finally:
            for tool in tools:
                tool.close()
    server.kill()
    installed = ", ".join(getattr(arguments, name) for name in arguments.tools)
    print(f"{arguments.pages} pages, {arguments.rounds} rounds, text of job files: {arguments.text}; {installed}")
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load at the end {load}\n")
    print_table(bench.book, [tool.name for tool in tools], arguments.pages)
    for fault in bench.faults:
        print(f"FAULT {fault}")
    return 1 if bench.faults else 0


if __name__ == "__main__":
    sys.exit(main())
