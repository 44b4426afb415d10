"""Compare after an import: both programs watch the same 100 pages through 60 states.

PYTHONPATH=. .venv/bin/python bench/moving.py PROGRAM [--states 60] [--one-line]
PYTHONPATH=. .venv/bin/python bench/moving.py --first-week [--budgets 60 120 240]

PROGRAM is the path of an installed `urlwatch`, `webchanges` or `changedetection.io`. Pages are made
up, with a seed: most states change what is watched of a page, its surroundings, or nothing. The
other program runs once a state; Tidings runs on a manual clock and is asked for each page. With
`--one-line` each page is one source line.

`--first-week` needs no other program: it imports a directory of changedetection.io with 30 pages,
which change between four times a day and once a month, with and without their history of 60 days
(`--schedule learn`). It prints how soon the changes of the first week are seen, at each budget.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Protocol

import yaml

from tests.fakes import WebServer
from tests.world import World, play
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.service.imports.import_jobs import take_in
from tidings.service.run.monitor import Monitor
from tidings.storage.observed import pages, polls
from tidings.storage.watches import changes

PAGES = 100
KINDS = ("prose", "part", "line", "without", "source")

FILTERS = {
    "prose": ["html2text"],
    "part": [{"css": "main"}, "html2text"],
    "line": ["html2text", {"{keep}": "EUR"}],
    "without": [{"css": {"selector": "body", "exclude": ".when"}}, "html2text"],
    "source": [],
}
"""How urlwatch and webchanges filter each kind of page."""
FIELDS: dict[str, dict[str, list[str]]] = {
    "prose": {},
    "part": {"include_filters": ["main"]},
    "line": {"extract_lines_containing": ["EUR"]},
    "without": {"subtractive_selectors": [".when"]},
    "source": {},
}
ENVIRONMENT = {
    "ALLOW_IANA_RESTRICTED_ADDRESSES": "true",
    "MINIMUM_SECONDS_RECHECK_TIME": "0",
    "DISABLE_VERSION_CHECK": "true",
}


def write_page(kind: str, number: int, state: dict[str, int]) -> str:
    """Return the page: its text, a price, what stands around it, and what nobody sees."""
    return (
        f"<html><head><title>{kind} {number}</title><meta name=build content={state['hidden']}></head><body>\n"
        f"<div class=when>seen {state['around']} times</div>\n<main><h1>Page {number}</h1>\n"
        f"<p>Edition {state['text']} of the notice of house {number}.</p>\n"
        f"<p>It costs {10 + state['price']}.50 EUR today.</p>\n"
        "</main></body></html>"
    )


class Peer(Protocol):
    """Another program: its jobs are in `jobs`, which Tidings imports."""

    jobs: Path

    def run(self) -> set[str]:
        """Check every job once; return the names of those that changed."""
        ...


class Urlwatch:
    """urlwatch or webchanges, whose jobs and reports are alike."""

    def __init__(self, program: Path, folder: Path, urls: list[str]) -> None:
        self.jobs = folder / "urls.yaml"
        self._folder = folder
        is_old = program.name == "urlwatch"
        filters = json.loads(json.dumps(FILTERS).replace("{keep}", "grep" if is_old else "keep_lines_containing"))
        jobs = [
            {"name": f"p{n:03}", "url": url, **({"filter": filters[kind]} if filters[kind] else {})}
            for n, (url, kind) in enumerate(zip(urls, list_kinds(), strict=True))
        ]
        self.jobs.write_text(yaml.safe_dump_all(jobs), encoding="utf-8")
        report = {"text": {"details": False, "footer": False}, "stdout": {"enabled": True, "color": False}}
        (folder / "config.yaml").write_text(yaml.safe_dump({"report": report}), encoding="utf-8")
        (folder / "hooks.py").write_text("", encoding="utf-8")
        (folder / "hooks.py").chmod(0o600)
        options = ("--urls", "--cache") if is_old else ("--jobs", "--database")
        self._command = [program, options[0], "urls.yaml", "--config", "config.yaml", options[1], "stored.db"]
        self._command += ["--hooks", "hooks.py"]

    def run(self) -> set[str]:
        """Run the program once, and read its report."""
        done = subprocess.run(self._command, cwd=self._folder, capture_output=True, text=True, timeout=300, check=False)
        print(done.stderr[-500:] if done.returncode else "", end="")
        return set(re.findall(r"^\d+\. CHANGED: (\w+)", done.stdout, re.MULTILINE))


class ChangeDetection:
    """changedetection.io in its batch mode, which checks everything once and ends."""

    def __init__(self, program: Path, folder: Path, urls: list[str]) -> None:
        self.jobs = folder / "stored"
        self.jobs.mkdir()
        self._command = [program, "-d", self.jobs, "-h", "127.0.0.1", "-p", "0", "-l", "ERROR"]
        self._first: list[str] = []
        for n, (url, kind) in enumerate(zip(urls, list_kinds(), strict=True)):
            address = f"source:{url}" if kind == "source" else url
            self._first += ["-u", address, f"-u{n}", json.dumps({"title": f"p{n:03}", **FIELDS[kind]})]
        self._seen: dict[str, int] = {}
        self.run()

    def run(self) -> set[str]:
        """Run the program once, and count the stored texts."""
        first, self._first = self._first, []
        done = subprocess.run(
            [*self._command, *first, "-r", "all", "-b"],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env=os.environ | ENVIRONMENT,
        )
        print(done.stderr[-500:] if done.returncode else "", end="")
        found = {}
        for file in self.jobs.glob("*/watch.json"):
            lines = file.with_name("history.txt")
            title = json.loads(file.read_text("utf-8"))["title"]
            found[title] = len(lines.read_text("utf-8").splitlines()) if lines.exists() else 0
        changed = {title for title, count in found.items() if 1 < count != self._seen.get(title)}
        self._seen = found
        return changed


WEEK_PAGES = 30
HISTORY = 60 * DAY


def compare_first_week(budgets: list[float]) -> None:
    """Print the polls of the first week after an import, and how long changes waited for them."""
    for budget in budgets:
        for is_known in (False, True):
            polls_made, waits, seen = watch_a_week(budget, is_known=is_known)
            print(
                f"{budget:5.0f} polls a day, {'learned' if is_known else 'cold   '}: {polls_made} polls,"
                f" {seen} of {len(waits)} changes seen by themselves, mean wait {sum(waits) / len(waits) / HOUR:.1f} h",
                flush=True,
            )


def watch_a_week(budget: float, *, is_known: bool) -> tuple[int, list[int], int]:
    """Return the number of polls, how long each change waited for one, and the number of changes
    that no other one covered.
    """
    rng = random.Random(1)
    rates = [4.0 * (1 / 120) ** (n / (WEEK_PAGES - 1)) for n in range(WEEK_PAGES)]
    rng.shuffle(rates)
    with WebServer() as server, tempfile.TemporaryDirectory() as name:
        world = World(Path(name) / "data", server, budget__polls_per_day=str(budget), budget__burst="0")
        now = world.clock.now()
        times = [draw_times(rng, rate, now - HISTORY, now + 7 * DAY) for rate in rates]
        for n, moments in enumerate(times):
            world.page(f"/{n}", write_page("prose", n, dict.fromkeys(("text", "price", "around", "hidden"), 0)))
            write_watch(Path(name) / "theirs" / f"u{n}", server.url(f"/{n}"), moments if is_known else [], now)
        take_in(world.settings, Path(name) / "theirs", now=now, learn=True)
        due = sorted((at, n) for n, moments in enumerate(times) for at in moments if at > now)

        async def story(monitor: Monitor) -> None:
            for number, (at, n) in enumerate(due):
                await world.pass_time(monitor, at - world.clock.now())
                state = {"text": number, "price": 0, "around": number, "hidden": 0}
                world.page(f"/{n}", write_page("prose", n, state))
            await world.pass_time(monitor, now + 7 * DAY - world.clock.now())

        play(world, story)
        paths = {state.page_id: int(page.url.rpartition("/")[2]) for page, state in world.read(pages.population)}
        made: dict[int, list[int]] = {}
        charged = world.read(polls.list_charged, 0)
        for poll in charged:
            made.setdefault(paths[poll.page_id], []).append(poll.at)
        world.close()
    end = now + 7 * DAY
    found = [next((poll for poll in made.get(n, []) if poll >= at), end) for at, n in due]
    seen = len({(n, at) for (_, n), at in zip(due, found, strict=True) if at < end})
    return len(charged), [at - changed for (changed, _), at in zip(due, found, strict=True)], seen


def draw_times(rng: random.Random, rate: float, start: int, end: int) -> list[int]:
    """Return the instants of changes, so many a day on average."""
    found, at = [], float(start)
    while (at := at + rng.expovariate(rate) * DAY) < end:
        found.append(int(at))
    return found


def write_watch(folder: Path, url: str, changed_at: list[int], now: int) -> None:
    """Write a watch of changedetection.io that was checked each three hours until now."""
    folder.mkdir(parents=True)
    record = {"url": url, "last_checked": now // SECOND}
    (folder / "watch.json").write_text(json.dumps(record), encoding="utf-8")
    checks = {-(-at // (3 * HOUR)) * 3 * HOUR // SECOND for at in changed_at if at < now - 3 * HOUR}
    lines = [(now - HISTORY) // SECOND, *sorted(checks)] if changed_at else []
    (folder / "history.txt").write_text("".join(f"{at},x.txt\n" for at in lines), encoding="utf-8")


def list_kinds() -> list[str]:
    """Return the kind of each page."""
    return [KINDS[n % len(KINDS)] for n in range(PAGES)]


def main() -> None:
    """Print how many states were reported by both, and by one alone, for each kind of page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path, nargs="?")
    parser.add_argument("--states", type=int, default=60)
    parser.add_argument("--one-line", action="store_true")
    parser.add_argument("--first-week", action="store_true")
    parser.add_argument("--budgets", type=float, nargs="+", default=[60, 120, 240])
    arguments = parser.parse_args()
    if arguments.first_week:
        compare_first_week(arguments.budgets)
        return
    if arguments.program is None:
        parser.error("which program?")
    rng = random.Random(1)
    kinds = list_kinds()
    states = [dict.fromkeys(("text", "price", "around", "hidden"), 0) for _ in kinds]
    reported: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    examples: dict[str, str] = {}
    with WebServer() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        world = World(folder / "data", server)

        def publish() -> None:
            for n, kind in enumerate(kinds):
                page = write_page(kind, n, states[n])
                world.page(f"/{n}", page.replace("\n", "") if arguments.one_line else page)

        publish()
        urls = [server.url(f"/{n}") for n in range(PAGES)]
        of_name = ChangeDetection if "changedetection" in arguments.program.name else Urlwatch
        peer: Peer = of_name(arguments.program.absolute(), folder, urls)
        found = take_in(world.settings, peer.jobs, now=world.clock.now())
        print(f"imported: {dict(Counter(one.grade for one in found.judged))}")

        async def story(monitor: Monitor) -> None:
            seen: set[str] = set()
            for turn in range(arguments.states):
                moved = [rng.choice(["text", "price", "around", "hidden", "", ""]) if turn else "" for _ in kinds]
                for n, what in enumerate(moved):
                    if what:
                        states[n][what] += 1
                publish()
                theirs = peer.run()
                ids = [state.page_id for _, state in world.read(pages.population)]
                world.write(polls.request_polls, ids, world.clock.now())
                await world.pass_time(monitor, 10 * MINUTE)
                rows = {row.row.id: row for row in world.read(changes.listing)}
                ours = {row.sentinel for id_, row in rows.items() if id_ not in seen}
                seen |= rows.keys()
                for n, kind in enumerate(kinds):
                    job = f"p{n:03}"
                    who = {(True, True): "both", (True, False): "theirs", (False, True): "tidings"}.get(
                        (job in theirs, job in ours), "neither"
                    )
                    reported[kind][who] += 1
                    if who in {"theirs", "tidings"}:
                        reported[kind][f"{who} at {moved[n] or 'nothing'}"] += 1
                        examples.setdefault(f"{kind}, {who} at {moved[n] or 'nothing'}", f"{job} in state {turn}")
                world.clock.advance(DAY // 2)

        play(world, story)
        world.close()
    for kind, counts in reported.items():
        print(f"{kind:8} {dict(sorted(counts.items()))}")
    for what, where in examples.items():
        print(f"e.g. {what}: {where}")


if __name__ == "__main__":
    main()
