"""Measure the CPU of a worker for a page that changed: µs a job, by kind of page and by stage.

    PYTHONPATH=. .venv/bin/python bench/examine.py [--against SRC] [--rounds 7] [--only WORDS] [--stages]

Jobs are made as the service makes them, page by page and version by version, with what was learned
of the page's noise. They are replayed in memory: no pipe, no store. `--against` names the `src`
folder of another commit (of a worktree). Both then run in turn, in processes of their own, and what
each job found is compared. `--stages` prints the exclusive time of the stages of one kind of page
instead. The meters themselves cost some 0.5 µs a call.
"""

from __future__ import annotations

import argparse
import functools
import gc
import hashlib
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = (
    "river stone lantern market quiet amber falcon orchard thunder velvet harbour meadow copper winter saffron".split()
)
EDITS = 6
"""Versions of each page; the first two teach what is met at the others."""
SECOND = 1_000_000


def _make_prose(page: int, lines: int, edit: int, shift: int = 0) -> str:
    """Return paragraphs as `bench/poll_loop.py` has them; another `edit` changes one word."""
    paragraphs = "".join(
        f'<p class="c{i % 7}">{" ".join(WORDS[(page + i * j + j + shift) % len(WORDS)] for j in range(14))} <a href="/l/{page}/{i}">item {i}</a></p>\n'
        for i in range(lines)
    )
    return f"<!doctype html><html><head><title>Page {page}</title></head><body><h1>Page {page}</h1><p>edition {edit}</p>{paragraphs}</body></html>"


def _make_news(page: int, lines: int, edit: int) -> str:
    """Return a front page of which one headline is new, with a counter and a clock that run."""
    items = "".join(
        f'<li><a href="/n/{page}/{edit - i}">{" ".join(WORDS[(edit + page + 31 - i * j + j * j) % len(WORDS)] for j in range(9))} {edit - i}</a> <span>{i * 7 + edit} views</span></li>'
        for i in range(lines)
    )
    return f"<!doctype html><html><head><title>News {page}</title></head><body><h1>News</h1><p>Updated 12:{edit:02d}</p><ul>{items}</ul></body></html>"


def _make_feed(page: int, edit: int) -> str:
    items = "".join(
        f"<item><title>Title {n}</title><link>http://news.example/{page}/{n}</link><guid>{page}-{n}</guid><description>&lt;p&gt;{' '.join(WORDS[(n * j + j) % len(WORDS)] for j in range(30))}&lt;/p&gt;</description></item>"
        for n in range(edit + 20, edit, -1)
    )
    return f"<?xml version='1.0'?><rss version='2.0'><channel><title>Feed {page}</title><link>http://news.example/</link>{items}</channel></rss>"


def _make_json(page: int, edit: int) -> str:
    rows = [
        {
            "id": n,
            "name": WORDS[n % len(WORDS)],
            "price": 10 + n + (edit if n == 7 else 0),
            "tags": WORDS[n % 9 : n % 9 + 3],
        }
        for n in range(60)
    ]
    return json.dumps({"page": page, "items": rows})


def _make_table(page: int, edit: int) -> str:
    rows = "".join(
        f"<tr><td>{WORDS[n % len(WORDS)]} {n}</td><td>{n * 3 + (edit if n == 11 else 0)} €</td><td>{'in stock' if n % 3 else 'sold out'}</td></tr>"
        for n in range(60)
    )
    return f"<!doctype html><html><head><title>Prices {page}</title></head><body><h1>Prices</h1><table><tr><th>What</th><th>Price</th><th>Stock</th></tr>{rows}</table></body></html>"


KINDS: dict[str, tuple[str, str, Callable[[int, int], str]]] = {
    "page of 6 KB": ("any change", "text/html", lambda page, edit: _make_prose(page, 38, edit)),
    "page of 1 KB": ("any change", "text/html", lambda page, edit: _make_prose(page, 6, edit)),
    "page of 100 KB": ("any change", "text/html", lambda page, edit: _make_prose(page, 700, edit)),
    "page rewritten": ("any change", "text/html", lambda page, edit: _make_prose(page, 38, edit, shift=edit * 5)),
    "front page, noisy": ("any change", "text/html", lambda page, edit: _make_news(page, 40, edit)),
    "words of a part": ("words in p", "text/html", lambda page, edit: _make_prose(page, 38, edit)),
    "feed": ("items", "application/rss+xml", _make_feed),
    "JSON": ("any change", "application/json", _make_json),
    "table": ("table", "text/html", _make_table),
}
"""What is watched, the type, and the page by its number and version."""

STAGES = {
    "charset, kind, pre-scan": (
        "document.parse:_decode", "document.parse:media_of_bytes", "document.parse:media_of_text", "document.parse:past_lead", "document.parse:too_hard",
    ),
    "lexbor": ("document.parse:_tree",),
    "walk": ("document.parse:walk",),
    "canonical text": ("document.document:canonical_text",),
    "tokens": ("document.document:Document._counted",),
    "lines": ("document.document:lines_of", "document.document:Document.line_ends"),
    "digests": ("detection.job.examiner:digest_of",),
    "words found, readable": ("detection.find.findings:readable", "detection.find.findings:finding_of_edits"),
    "alignment": ("detection.find.findings:compare_sequences",),
    "noise: learning": ("detection.job.quiet:learn_from_poll", "detection.job.quiet:Quieter.learn"),
    "noise: news": ("detection.job.quiet:Quieter.is_news",),
    "noise: masked evaluation": ("detection.job.quiet:Quieter.quiet",),
    "noise: strings of words": ("detection.noise.places:WordString.__init__",),
    "links and images": ("detection.kinds.registry:AddressChanges.addresses",),
    "evaluation": ("detection.job.quiet:evaluate",),
    "contexts": ("detection.job.examiner:with_contexts",),
    "judging": ("detection.job.examiner:judge",),
    "facts": ("detection.job.examiner:facts_of",),
}  # fmt: skip


def jobs_of(kind: str, pages: int) -> list[Any]:
    """Return the jobs of one kind of page: each version beside the one before, from the third on."""
    from tidings.detection.job.contract import Body, Job, Noise, Wanted
    from tidings.detection.job.examiner import examine
    from tidings.document.select.extraction import WHOLE
    from tidings.model.watch.interest import Interest, Selector

    asked, content_type, text = KINDS[kind]
    interest = {
        "any change": Interest("any"),
        "words in p": Interest("words", selector=Selector("css", "p")),
        "items": Interest("items"),
        "table": Interest("table"),
    }[asked]
    jobs = []
    for page in range(pages):
        url = f"http://127.0.0.2/{page}"
        bodies = [Body(data=text(page, n).encode(), content_type=content_type, url=url) for n in range(1, EDITS + 1)]
        known = None
        for n, body in enumerate(bodies, start=1):
            before = bodies[n - 2] if n > 1 else None
            memory = {} if known is None or known.memory is None else {"memory": known.memory}
            job = Job(
                new=body,
                references={}
                if before is None
                else {n - 1: Body(data=before.data, content_type=content_type, url=url, charset="utf-8")},
                known={} if known is None else {n - 1: known.digest},
                wanted=(Wanted(key=1, reference=n - 1, expression=interest, targets=(), mends=False),),
                last_charset="" if known is None else "utf-8",
                text_digest="" if known is None else known.digest.text,
                seed=7,
                usual_words=None if known is None else known.facts.words,
                usual_title="" if known is None else known.title,
                asked_url=url,
                noise=Noise(
                    at=n * 3_600 * SECOND,
                    times={n - 1: (n - 1) * 3_600 * SECOND},
                    learns=n > 1,
                    polls=n,
                    asked=((interest, WHOLE),),
                    **memory,
                ),
            )
            known = examine(job)
            if n > 2:
                jobs.append(job)
    return jobs


def describe_found(examination: Any) -> str:
    """Return what a job found, in one string; how much work it was is no part of it."""
    from dataclasses import fields

    return repr([(one.name, getattr(examination, one.name)) for one in fields(examination) if one.name != "work"])


class Meters:
    """Exclusive time by stage, of functions that are replaced by metered ones."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = dict.fromkeys(STAGES, 0.0)
        self._inner: list[float] = []
        for stage, names in STAGES.items():
            for name in names:
                self._replace(stage, *name.split(":"))

    def _replace(self, stage: str, module: str, name: str) -> None:
        holder: Any = importlib.import_module(f"tidings.{module}")
        *owners, last = name.split(".")
        for owner in owners:
            holder = getattr(holder, owner, None)
        plain = getattr(holder, "__dict__", {}).get(last)
        if plain is None:
            return  # another commit names it otherwise
        if isinstance(plain, functools.cached_property):
            metered = functools.cached_property(self._meter(stage, plain.func))
            setattr(holder, last, metered)
            metered.__set_name__(holder, last)
        else:
            setattr(holder, last, self._meter(stage, plain))

    def _meter(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        inner, spent, clock = self._inner, self.spent, time.process_time

        def measure(*arguments: Any, **named: Any) -> Any:
            inner.append(0.0)
            begun = clock()
            try:
                return function(*arguments, **named)
            finally:
                took = clock() - begun
                spent[stage] += took - inner.pop()
                if inner:
                    inner[-1] += took

        return measure


def child(pages: int) -> None:
    """Answer lines of stdin (the name of a kind, or of a kind behind `stages `) with µs of a job and what was found."""
    from tidings.detection.job.examiner import examine

    made: dict[str, list[Any]] = {}
    for line in sys.stdin:
        asked = line.strip()
        kind = asked.removeprefix("stages ")
        if kind not in made:
            many = max(1, pages // 10) if kind == "page of 100 KB" else pages
            made[kind] = jobs_of(kind, many)
            gc.collect()
            gc.freeze()
        jobs = made[kind]
        if kind != asked:
            meters = Meters()
            for job in jobs:
                examine(job)
            meters.spent.update(dict.fromkeys(meters.spent, 0.0))
            begun = time.process_time()
            for _ in range(5):
                for job in jobs:
                    examine(job)
            whole = (time.process_time() - begun) / 5 / len(jobs) * 1e6
            answer: Any = {stage: spent / 5 / len(jobs) * 1e6 for stage, spent in meters.spent.items()}
            answer["rest"] = whole - sum(answer.values())
        else:
            said = hashlib.sha256()
            begun = time.process_time()
            found = [examine(job) for job in jobs]
            spent = (time.process_time() - begun) / len(jobs) * 1e6
            for one in found:
                said.update(describe_found(one).encode())
            reported = sum(bool(one.found) for one in found) / len(jobs)
            answer = (spent, reported, said.hexdigest()[:12])
        print(json.dumps(answer), flush=True)


class Tree:
    """A process that runs one commit."""

    def __init__(self, source: Path, pages: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--child", "--pages", str(pages)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(source), "PYTHONHASHSEED": "0"},
        )

    def ask(self, what: str) -> Any:
        """Return the answer of the process to a line."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def main() -> int:
    """Print the table; return 1 if two commits found something else."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="the `src` of another commit")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--only", default="", help="kinds with these words in their name")
    parser.add_argument("--stages", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.pages)
        return 0
    here = Path(__file__).resolve().parents[1] / "src"
    sources = [*([arguments.against.resolve()] if arguments.against else []), here]
    kinds = [kind for kind in KINDS if arguments.only in kind]
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; µs of CPU a job\n")
    if arguments.stages:
        kind = kinds[0]
        tables = [Tree(source, arguments.pages).ask(f"stages {kind}") for source in sources]
        print(f"| {kind} | {' | '.join(str(source) for source in sources)} |\n|---|{'---:|' * len(sources)}")
        for stage in tables[0]:
            print(f"| {stage} | {' | '.join(f'{table[stage]:,.0f}' for table in tables)} |")
        print(f"| all | {' | '.join(f'{sum(table.values()):,.0f}' for table in tables)} |")
        return 0
    trees = [Tree(source, arguments.pages) for source in sources]
    print("| page | reported | before | now | ratio | the same found |\n|---|---:|---:|---:|---:|---|")
    differ = 0
    for kind in kinds:
        for tree in trees:
            tree.ask(kind)
        rounds = [[tree.ask(kind) for tree in trees] for _ in range(arguments.rounds)]
        medians = [sorted(one[at][0] for one in rounds)[len(rounds) // 2] for at in range(len(trees))]
        is_same = rounds[0][0][2] == rounds[0][-1][2]
        differ += not is_same
        print(
            f"| {kind} | {rounds[0][-1][1]:.2f} | {medians[0]:,.0f} | {medians[-1]:,.0f} | {medians[-1] / medians[0]:.2f} | {'yes' if is_same else 'NO'} |",
            flush=True,
        )
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
