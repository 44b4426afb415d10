"""The search index on real documents that change: bytes, seconds of an addition, of a rebuild,
latency of real queries.

`PYTHONPATH=. python bench/search.py [--pages 50000]`. The documents are `evolving_collection`, the
queries
`queries_matching`, drawn by their frequency: real ones, which were not issued against these
documents. The 50,000 pages are 250 words each, cut from these documents.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.data_sets import files_of, rows_of
from tidings.detection.job.contract import Body
from tidings.search import snippets
from tidings.search.query import parse
from tidings.service.search.appraise import appraiser
from tidings.service.search.read_text import read_texts
from tidings.storage.search import find
from tidings.storage.search.index import IndexEntry, SearchIndex
from tidings.storage.search.log import SearchLog

BATCH = 40


def entries() -> list[IndexEntry]:
    """Return all versions in the order in which they were published."""
    files = dict(files_of("evolving_collection/docs.tar.zst"))
    rows = sorted(rows_of("evolving_collection/versions.csv.gz"), key=lambda row: (int(row["unix_time"]), row["doc"]))
    numbers: dict[str, int] = {}
    seqs: dict[str, int] = {}
    made = []
    for row in rows:
        doc = row["doc"]
        numbers.setdefault(doc, len(numbers) + 1)
        seqs[doc] = seqs.get(doc, 0) + 1
        text = files[row["file"]].decode("utf-8", "replace")
        made.append(
            IndexEntry(
                page_id=numbers[doc], seq=seqs[doc], at=int(row["unix_time"]) * 1_000_000, kind="text",
                host=row["site"], title=Path(row["path"]).stem, address=row["path"], text=text,
            )
        )  # fmt: skip
    return made


def read_pages() -> tuple[list[IndexEntry], float]:
    """Return versions of real HTML pages, in the order in which they were published, and the
    seconds of CPU that reading their text took.
    """
    files = dict(files_of("page_versions/terms-html.tar.zst"))
    rows = [row for row in rows_of("page_versions/index.csv.gz") if row["family"] == "terms-html"]
    rows.sort(key=lambda row: (int(row["unix_time"]), row["page"]))
    numbers: dict[str, int] = {}
    made, took = [], 0.0
    for row in rows:
        body = Body(data=files[row["file"]], content_type=row["content_type"], url=f"https://{row['site']}.example/")
        begun = time.process_time()
        (read,) = read_texts([(body,)])
        took += time.process_time() - begun
        made.append(
            IndexEntry(
                page_id=numbers.setdefault(row["page"], len(numbers) + 1), seq=int(row["version"]) + 1,
                at=int(row["unix_time"]) * 1_000_000, kind=read.kind, host=row["site"], title=read.title,
                address=row["path"], text=read.text,
            )
        )  # fmt: skip
    return made, took


def queries(count: int) -> list[str]:
    """Return real queries, drawn by how often they were asked."""
    rows = rows_of("evolving_collection/queries_matching.csv.gz")
    weights = [int(row["frequency"]) for row in rows]
    return random.Random(1).choices([row["query"] for row in rows], weights, k=count)


def fill(index: SearchIndex, rows: list[IndexEntry]) -> list[float]:
    """Add versions in batches; return the seconds of each batch, a version."""
    took = []
    for start in range(0, len(rows), BATCH):
        part = rows[start : start + BATCH]
        begun = time.perf_counter()
        index.put(part, cursor=start, moved_to=start + len(part))
        took.append((time.perf_counter() - begun) / len(part))
    begun = time.perf_counter()
    index.forget(0)
    print(f"  made ready in {time.perf_counter() - begun:.1f} s")
    return took


def ask(index: SearchIndex, text: str, **given: Any) -> int:
    """Do what a search does but for the rights; return how much was found."""
    query = parse(text)
    hits = find.find(index, query, **given)
    for found in find.texts(index, [hit.id for hit in hits[:20]]).values():
        snippets.snippet(found.text, query.phrases)
    return len(hits)


def latency(index: SearchIndex, texts: list[str], name: str, **given: Any) -> None:
    """Print the median and the 99th of a hundred, of CPU and of the time that passes."""
    spent, took, found = [], [], []
    for text in texts:
        begun, cpu = time.perf_counter(), time.process_time()
        found.append(ask(index, text, **given))
        spent.append(1000 * (time.process_time() - cpu))
        took.append(1000 * (time.perf_counter() - begun))
    said = ", ".join(
        f"p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms {what}"
        for what, cuts in (
            ("of CPU", statistics.quantiles(spent, n=100)),
            ("passed", statistics.quantiles(took, n=100)),
        )
    )
    print(f"{name}: {said}; {statistics.mean(found):.0f} results on average")


def overhead(rows: list[IndexEntry], texts: list[str], megabytes: Sequence[float], *, reading: float = 0.0) -> None:
    """Print what appraising refreshes by these queries adds to the CPU, measured in turns over the
    second half of the versions, at each size of their texts. `reading` is the CPU that the text of
    a version took to read (seconds).
    """
    took, size, wanted, read = {False: 0.0, True: 0.0}, 0.0, list(megabytes), 0.0
    half = BATCH * (len(rows) // BATCH // 2)
    newest = list({row.page_id: row for row in rows[:half]}.values())
    with tempfile.TemporaryDirectory() as folder:
        made = {}
        for appraised in took:
            (Path(folder) / str(appraised)).mkdir()
            made[appraised] = SearchIndex(Path(folder) / str(appraised))
            made[appraised].begin("bench")
            for start in range(0, len(newest), BATCH):
                made[appraised].put(newest[start : start + BATCH], cursor=start, moved_to=start + BATCH)
        log = SearchLog(Path(folder))
        log.bring(((str(parse(text)), 1) for text in texts), owner_id=1, at=0)
        said = appraiser(made[True], log, at=0)
        print(f"  {len(said.curves)} terms of {len({*texts})} queries")
        cursor = int(made[True].read_note("cursor"))
        for number, start in enumerate(range(half, len(rows), BATCH)):
            part = rows[start : start + BATCH]
            for appraised in (False, True) if number % 2 else (True, False):
                begun = time.process_time()
                made[appraised].put(part, cursor=cursor, moved_to=cursor + BATCH, appraise=said if appraised else None)
                took[appraised] += time.process_time() - begun
            cursor += BATCH
            read += reading * len(part)
            size += sum(len(row.text.encode()) for row in part) / 1e6
            if wanted and (size >= wanted[0] or start + BATCH >= len(rows)):
                more, whole = took[True] - took[False], took[False] + read
                print(
                    f"  {size:5.1f} MB: {took[False]:6.2f} s, {took[True]:6.2f} s: {more / took[False]:+.1%} of the"
                    f" index's time" + (f", {more / whole:+.1%} of {whole:.2f} s with reading" if reading else "")
                )
                del wanted[0]
            if not wanted:
                break
        gained = [gain for _, gain, _ in made[True].gains()]
        print(f"  {sum(gain > 0 for gain in gained):,} of {len(gained):,} pages gained, the least {min(gained):.2g}")
        for index in made.values():
            index.close()
        log.close()


def measure(rows: list[IndexEntry], texts: list[str], name: str, *, at: int | None = None) -> None:
    """Print all figures of an index of these versions."""
    with tempfile.TemporaryDirectory() as folder:
        index = SearchIndex(Path(folder))
        index.begin("bench")
        begun = time.perf_counter()
        took = fill(index, rows)
        whole = time.perf_counter() - begun
        many, newest = index.count()
        size, text = index.size(), sum(len(row.text.encode()) for row in rows)
        with index.reading() as run:
            kept = run("SELECT sum(length(text)) FROM doc").fetchone()[0]
        cuts = statistics.quantiles(took, n=100)
        print(f"{name}: {len(rows):,} versions, {many:,} texts, {newest:,} pages, {text / 1e6:.0f} MB of text")
        print(f"  {size / len(rows):,.0f} bytes a version ({size / 1e6:.0f} MB, of which texts {kept / 1e6:.0f} MB)")
        median, late = 1e3 * cuts[49], 1e3 * cuts[98]
        print(f"  rebuilt in {whole:.1f} s without reading pages; {median:.1f} ms a version, p99 {late:.1f}")
        update(index, rows)
        latency(index, texts, f"  {name}, now")
        if at is not None:
            latency(index, texts, f"  {name}, on a day", at=at)
        index.close()


def update(index: SearchIndex, rows: list[IndexEntry]) -> None:
    """Print what another version of a page costs once the index is made."""
    newest = {row.page_id: row for row in rows}
    took = []
    for number, row in enumerate(random.Random(3).sample(sorted(newest), 200)):
        old = newest[row]
        entry = replace(old, seq=old.seq + 1, text=f"{old.text}\nanother line, number {number}")
        cursor = int(index.read_note("cursor"))
        begun = time.perf_counter()
        index.put([entry], cursor=cursor, moved_to=cursor + 1)
        took.append(1000 * (time.perf_counter() - begun))
    cuts = statistics.quantiles(took, n=100)
    print(f"  one more version: p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms")


def cut(rows: list[IndexEntry], pages: int) -> list[IndexEntry]:
    """Return so many pages of 250 words, cut from documents."""
    chance, made = random.Random(2), []
    words = [row.text.split() for row in rows[:: max(1, len(rows) // 2_000)]]
    words = [one for one in words if len(one) > 300]
    for number in range(1, pages + 1):
        one = chance.choice(words)
        start = chance.randrange(len(one) - 250)
        text = " ".join(one[start : start + 250])
        made.append(
            IndexEntry(page_id=number, seq=1, at=number, kind="text", host="a.example", title=text[:40], text=text)
        )
    return made


def main() -> None:
    """Print all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=50_000)
    parser.add_argument("--queries", type=int, default=1_000)
    given = parser.parse_args()
    rows, texts = entries(), queries(given.queries)
    overhead(rows[:6_000], texts, (math.inf,))
    measure(rows, texts, "evolving_collection", at=rows[len(rows) // 2].at)
    measure(cut(rows, given.pages), texts, f"{given.pages:,} pages")


if __name__ == "__main__":
    main()
