"""Compare after an import: both programs watch the same 100 pages through 60 states.

PYTHONPATH=. .venv/bin/python bench/moving.py PATH_TO_URLWATCH [--states 60] [--one-line]

Pages are made up, with a seed: most states change what is watched of a page, its surroundings, or
nothing. urlwatch runs once a state; Tidings runs on a manual clock and is asked for each page. With
`--one-line` each page is one source line.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import yaml

from tests.fakes import WebServer
from tests.world import World, play
from tidings.clock import DAY, MINUTE
from tidings.service.imports.take_in import take_in
from tidings.service.run.monitor import Monitor
from tidings.storage.observed import pages
from tidings.storage.watches import changes, requests

PAGES = 100
JOBS = {
    "prose": ["html2text"],
    "part": [{"css": "main"}, "html2text"],
    "line": ["html2text", {"grep": "EUR"}],
    "without": [{"css": {"selector": "body", "exclude": ".when"}}, "html2text"],
    "source": [],
}
"""What a job filters, by the kind of its page."""


def write_page(kind: str, number: int, state: dict[str, int]) -> str:
    """Return the page: its text, a price, what stands around it, and what nobody sees."""
    return (
        f"<html><head><title>{kind} {number}</title><meta name=build content={state['hidden']}></head><body>\n"
        f"<div class=when>seen {state['around']} times</div>\n<main><h1>Page {number}</h1>\n"
        f"<p>Edition {state['text']} of the notice of house {number}.</p>\n"
        f"<p>It costs {10 + state['price']}.50 EUR today.</p>\n"
        "</main></body></html>"
    )


def run_urlwatch(program: Path, folder: Path) -> Counter[str]:
    """Run it once; return `STATUS name` of what it reports."""
    files = ["--urls", "urls.yaml", "--config", "urlwatch.yaml", "--cache", "cache.db", "--hooks", "hooks.py"]
    done = subprocess.run([program, *files], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    return Counter(re.findall(r"^\d+\. ((?:CHANGED|NEW|ERROR): \w+)", done.stdout, re.MULTILINE))


def main() -> None:
    """Print how many states were reported by both, and by one alone, for each kind of page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("urlwatch", type=Path)
    parser.add_argument("--states", type=int, default=60)
    parser.add_argument("--one-line", action="store_true")
    arguments = parser.parse_args()
    rng = random.Random(1)
    kinds = [list(JOBS)[n % len(JOBS)] for n in range(PAGES)]
    states = [dict.fromkeys(("text", "price", "around", "hidden"), 0) for _ in kinds]
    told: dict[str, Counter[str]] = {kind: Counter() for kind in JOBS}
    examples: dict[str, str] = {}
    with WebServer() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        world = World(folder / "data", server)
        jobs = [
            {"name": f"p{n:03}", "url": server.url(f"/{n}"), **({"filter": JOBS[kind]} if JOBS[kind] else {})}
            for n, kind in enumerate(kinds)
        ]
        (folder / "urls.yaml").write_text(yaml.safe_dump_all(jobs), encoding="utf-8")
        report = {"text": {"details": False, "footer": False}, "stdout": {"enabled": True, "color": False}}
        (folder / "urlwatch.yaml").write_text(yaml.safe_dump({"report": report}), encoding="utf-8")
        (folder / "hooks.py").write_text("", encoding="utf-8")
        found = take_in(world.settings, folder / "urls.yaml", now=world.clock.now())
        print(f"imported: {dict(Counter(one.grade for one in found.judged))}")

        async def story(monitor: Monitor) -> None:
            seen: set[str] = set()
            for turn in range(arguments.states):
                moved = [rng.choice(["text", "price", "around", "hidden", "", ""]) if turn else "" for _ in kinds]
                for n, (kind, what) in enumerate(zip(kinds, moved, strict=True)):
                    if what:
                        states[n][what] += 1
                    page = write_page(kind, n, states[n])
                    world.page(f"/{n}", page.replace("\n", "") if arguments.one_line else page)
                theirs = {
                    one.partition(": ")[2]
                    for one in run_urlwatch(arguments.urlwatch, folder)
                    if one.startswith("CHANGED")
                }
                ids = [state.page_id for _, state in world.read(pages.population)]
                world.write(requests.ask, ids, world.clock.now())
                await world.pass_time(monitor, 10 * MINUTE)
                rows = {row.row.id: row for row in world.read(changes.listing)}
                ours = {row.sentinel for id_, row in rows.items() if id_ not in seen}
                seen |= rows.keys()
                for n, kind in enumerate(kinds):
                    job = f"p{n:03}"
                    who = {(True, True): "both", (True, False): "urlwatch", (False, True): "tidings"}.get(
                        (job in theirs, job in ours), "neither"
                    )
                    told[kind][who] += 1
                    if who in {"urlwatch", "tidings"}:
                        told[kind][f"{who} at {moved[n] or 'nothing'}"] += 1
                        examples.setdefault(f"{kind}, {who} at {moved[n] or 'nothing'}", f"{job} in state {turn}")
                world.clock.advance(DAY // 2)

        play(world, story)
        world.close()
    for kind, counts in told.items():
        print(f"{kind:8} {dict(sorted(counts.items()))}")
    for what, where in examples.items():
        print(f"e.g. {what}: {where}")


if __name__ == "__main__":
    main()
