"""Measure the comparison of JSON, XML, CSV, logs and PDF: ordinary cases and the worst ones.

    python bench/structures.py

CPU milliseconds of this process, the least of some rounds: reading both versions, comparing them,
and the digest that shows that nothing changed. `edits` is the number of differences that are
reported. Peak memory is that of the whole run.
"""

from __future__ import annotations

import gc
import json
import random
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.pdfs import pdf
from tidings.detection.ask.expression import evaluate
from tidings.detection.ask.pair import Pair
from tidings.detection.job.gates import digest_of
from tidings.document.parse import parse
from tidings.model.watch.interest import Interest

ROUNDS = 3
ITEMS = 2_000
MANY = 20_000
XML = "<?xml version='1.0'?>"


def main() -> None:
    """Print a line for each case."""
    print(f"{'case':<44}{'KB':>8}{'read':>8}{'compare':>9}{'digest':>8}{'edits':>8}")
    for name, media, old, new in cases():
        read, compare, digest, edits = measure_pair(media, old, new)
        print(f"{name:<44}{len(old) / 1_000:>8,.0f}{read:>8,.1f}{compare:>9,.1f}{digest:>8,.1f}{edits:>8,}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024:,.0f} MB")


def measure_pair(media: str, old: bytes, new: bytes) -> tuple[float, float, float, int]:
    """Return the least milliseconds of reading two versions, comparing them and digesting one, and how many edits there are."""
    best = [float("inf")] * 3
    edits = 0
    for _ in range(ROUNDS):
        gc.collect()
        times = [time.process_time()]
        before, after = parse(old, media), parse(new, media)
        times.append(time.process_time())
        change = evaluate(Interest("words"), Pair(before, after))
        times.append(time.process_time())
        digest_of(before)
        times.append(time.process_time())
        best = [min(least, 1_000 * (b - a)) for least, a, b in zip(best, times[:-1], times[1:], strict=True)]
        edits = len(change.inserted) + len(change.deleted) + len(change.updated) + len(change.moved)
    return best[0], best[1], best[2], edits


def cases() -> Iterator[tuple[str, str, bytes, bytes]]:
    """Yield (name, media, old, new)."""
    rng = random.Random(1)
    items = [{"id": n, "name": f"Item {n}", "price": n * 1.5, "stock": n % 7, "tags": ["a", "b"]} for n in range(ITEMS)]
    yield _json("JSON: an insert before 2,000 items", items, [{"id": -1, "name": "New", "price": 1}, *items])
    yield _json("JSON: one field of 2,000 items", items, [*items[:999], {**items[999], "price": 0}, *items[1_000:]])
    yield _json("JSON: 2,000 items in another order", items, rng.sample(items, ITEMS))
    unnamed = [[{"a": rng.randrange(9), "b": rng.randrange(9), "c": n % 11} for n in range(MANY)] for _ in range(2)]
    yield _json("JSON: 20,000 objects without an id, all others", *unnamed)
    numbers = [rng.randrange(4) for _ in range(10 * MANY)]
    yield _json("JSON: 200,000 numbers, all others", numbers, [rng.randrange(4) for _ in numbers])
    deep = ['{"a":' * 300 + f"[{'1,' * 10 * MANY}{last}]" + "}" * 300 for last in (1, 2)]
    yield "JSON: 200,000 values at depth 300", "application/json", deep[0].encode(), deep[1].encode()
    elements = [f"<i k='{n}'><t>text {n}</t><p>{n % 7}</p></i>" for n in range(MANY)]
    changed = [element.replace("<p>3", "<p>9") if n % 1_000 == 3 else element for n, element in enumerate(elements)]
    yield _xml("XML: 20 of 20,000 elements with a key", elements, changed)
    yield _xml("XML: 20,000 elements in another order", elements, rng.sample(elements, MANY))
    plain = [[f"<i><t>{rng.randrange(4)}</t><u>{rng.randrange(4)}</u></i>" for _ in range(MANY)] for _ in range(2)]
    yield _xml("XML: 20,000 elements without a key, all others", *plain)
    chain = [["<a>" * 240, *(f"<i>{n}</i>" for n in range(3 * MANY)), f"<z>{last}</z>", "</a>" * 240] for last in "12"]
    yield _xml("XML: 60,000 elements at depth 240", *chain)
    rows = [f"{n},name {n},{n * 1.5},{n % 7}" for n in range(MANY)]
    yield _csv("CSV: one cell of 20,000 rows", rows, [*rows[:777], "777,x,0,0", *rows[778:]])
    yield _csv("CSV: 20,000 rows in another order", rows, rng.sample(rows, MANY))
    log = "".join(f"10:00:{n % 60:02} request {n} answered\n" for n in range(5 * MANY))
    yield "log: a line behind 100,000", "text/plain", log.encode(), f"{log}11:00:00 stopped\n".encode()
    pages = [[f"line {line} of page {page} says this and that" for line in range(40)] for page in range(100)]
    yield "PDF: a word on 100 pages", "application/pdf", pdf(pages), pdf([*pages[:-1], [*pages[-1], "more"]])


def _json(name: str, old: object, new: object) -> tuple[str, str, bytes, bytes]:
    return name, "application/json", json.dumps(old).encode(), json.dumps(new).encode()


def _xml(name: str, old: list[str], new: list[str]) -> tuple[str, str, bytes, bytes]:
    first, second = (f"{XML}<r>{''.join(inside)}</r>".encode() for inside in (old, new))
    return name, "application/xml", first, second


def _csv(name: str, old: list[str], new: list[str]) -> tuple[str, str, bytes, bytes]:
    first, second = ("\n".join(["id,name,price,n", *rows]).encode() for rows in (old, new))
    return name, "text/csv", first, second


if __name__ == "__main__":
    main()
