"""Measure what a keyword costs beside all words (W-101: at most a third).

    TIDINGS_DATA_SETS=... python bench/keywords.py

The pages are one of 1 MB and the long pages of `html_corpus`. The page of 1 MB is made of ordinary
real ones, one after the other, so that it has as much text as pages have. The long ones are mostly
script. Some words of each are changed, as an edit does. *compared*: both pages are read and the new
one has its digest, as every job needs; the rest is what the change type costs. *job*: the whole job
of one sentinel, charset to edits, with the stored digests of the old version. Times are CPU times
of this process, the least of some rounds. Both columns of a row come from one run. The bar is on
*compared*: a page is read once for all who watch it.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests import data_sets
from tidings.detection.job.contract import Body, Job, Wanted
from tidings.detection.job.examiner import examine
from tidings.detection.job.gates import digest_of
from tidings.detection.kinds.keywords import Keywords
from tidings.detection.kinds.registry import WordChanges
from tidings.document.parse import parse
from tidings.model.watch.interest import Expression, Interest

BAR = 1 / 3
ROUNDS = 7
SIZES = (500_000, 2_000_000)
EDITS = 10
WHOLE = 1_000_000


def main() -> None:
    """Print a row for each page and the medians."""
    print(
        f"{'page':>10}{'words':>9}{'':3}{'compared: words':>16}{'keyword':>9}{'ratio':>7}{'':3}{'job: words':>11}{'keyword':>9}{'ratio':>7}  ms"
    )
    pages = sorted(data_sets.html_pages(), key=len)
    whole = row(join_pages(pages))
    print(f"page of 1 MB: {whole[0]:.2f} of what all words cost to compare, bar {BAR:.2f}; whole job {whole[1]:.2f}")
    ratios = [row(page) for page in pages if SIZES[0] <= len(page) <= SIZES[1]]
    middle = [median(column) for column in zip(*ratios, strict=True)]
    print(
        f"median of {len(ratios)} long pages: {middle[0]:.2f} of what all words cost to compare, whole job {middle[1]:.2f}"
    )


def join_pages(pages: Sequence[bytes]) -> bytes:
    """Return a page of 1 MB, made of the bodies of every few real pages."""
    found = b""
    for page in pages[:: len(pages) // 20]:
        if len(found) < WHOLE:
            found += page.partition(b"<body")[2].partition(b">")[2].partition(b"</body")[0]
    return b"<!doctype html><meta charset=utf-8><body>" + found[:WHOLE]


def row(page: bytes) -> tuple[float, float]:
    """Print what one page takes; return both ratios."""
    other = edit_page(page)
    term = parse(page, "text/html").tokens[-1]
    compared = [least(partial(time_of_compare, kind, page, other)) for kind in (WordChanges(), Keywords(term))]
    interests: tuple[Expression, ...] = (Interest("words"), Interest("keywords", terms=(term,)))
    jobs = [least(partial(time_of_job, interest, page, other)) for interest in interests]
    ratios = compared[1] / compared[0], jobs[1] / jobs[0]
    words = parse(page, "text/html").words
    print(
        f"{len(page):>10,}{words:>9,}{'':3}{compared[0]:>16.2f}{compared[1]:>9.2f}{ratios[0]:>7.2f}"
        f"{'':3}{jobs[0]:>11.2f}{jobs[1]:>9.2f}{ratios[1]:>7.2f}"
    )
    return ratios


def edit_page(page: bytes) -> bytes:
    """Return a page with some of its words changed: letters between tags, in ten places."""
    rng = random.Random(1)
    changed = bytearray(page)
    places = [
        at for at in range(len(page) // 20, len(page)) if page[at - 3 : at].isalpha() and page[at - 4 : at - 3] == b" "
    ]
    for at in rng.sample(places, min(EDITS, len(places))):
        changed[at - 3 : at] = b"zzq"
    return bytes(changed)


def time_of_compare(kind: WordChanges | Keywords, page: bytes, other: bytes) -> float:
    """Return the seconds of one comparison of two documents that were just read."""
    old, new = parse(page, "text/html"), parse(other, "text/html")
    digest_of(new)
    begun = time.process_time()
    kind.compare(old, new)
    return time.process_time() - begun


def time_of_job(interest: Expression, page: bytes, other: bytes) -> float:
    """Return the seconds of one job, its reference's digests known."""
    old, new = (Body(data=data, content_type="text/html", url="http://example.org/") for data in (page, other))
    first = examine(Job(new=old, references={}, known={}, wanted=(Wanted(key=1, reference=0, expression=interest),)))
    job = Job(
        new=new,
        references={1: old},
        known={1: first.digest},
        wanted=(Wanted(key=1, reference=1, expression=interest),),
        text_digest=first.digest.text,
    )
    begun = time.process_time()
    examine(job)
    return time.process_time() - begun


def least(work: Callable[[], float]) -> float:
    """Return the least milliseconds of some rounds."""
    return 1e3 * min(work() for _ in range(ROUNDS))


if __name__ == "__main__":
    main()
