"""Detection on real pages: from bytes to the digests of all kinds, and the gates; peers in the same run.

    TIDINGS_DATA_SETS=... python bench/detection.py

Times are CPU times of this process, the least of some rounds. Charset decoding is a row of its own and no part of the sum.
"""

from __future__ import annotations

import difflib
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lxml import etree
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests import data_sets
from tidings.detection.compare.sequence import compare_sequences
from tidings.detection.examiner import examine
from tidings.detection.gates import are_equal, digest_of
from tidings.detection.job import Body, Examination, Job, Wanted
from tidings.detection.kinds import KINDS
from tidings.document.charset import Decoded, decode
from tidings.document.document import Document
from tidings.document.parse import parse, read
from tidings.document.prescan import too_hard
from tidings.document.walk import walk
from tidings.model.sentinel import Interest

ROUNDS = 7


def main() -> None:
    """Print a table of stages."""
    pages = data_sets.html_pages()
    size = sum(map(len, pages))
    print(f"{len(pages)} pages, {size / 1e6:.1f} MB, mean {size / len(pages) / 1e3:.0f} kB")
    decoded = [decode(page, "text/html") for page in pages]
    report("decode (apart)", lambda page: decode(page, "text/html"), pages, size)
    stages(decoded, size)
    gates(pages)
    peers(pages, size)


def stages(decoded: Sequence[Decoded], size: int) -> None:
    """Measure each stage, and all together as a job does them."""
    sources = [one.utf8 for one in decoded]
    trees = [LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS, scripting=True) for source in sources]
    roots = [tree.root for tree in trees if tree.root is not None]
    report("  pre-scan", too_hard, sources, size)
    report(
        "  parse (lexbor)",
        lambda s: LexborHTMLParser(s, options=LexborDocumentOptions.WO_EVENTS, scripting=True),
        sources,
        size,
    )
    report("  walk", walk, roots, size)
    documents = [read(one, "text/html") for one in decoded]
    report("  canonical text", lambda document: again(document).canonical, documents, size)
    warm = [read(one, "text/html") for one in decoded]
    for document in warm:
        document.canonical  # noqa: B018 - computed and kept
    report("  digests of it, links, images", digest_of, warm, size)
    report("text to digests, parse included", lambda one: digest_of(read(one, "text/html")), decoded, size)
    trees.clear()


def again(document: Document) -> Document:
    """Return a document that has computed nothing yet."""
    return Document(media=document.media, pieces=document.pieces)


def gates(pages: Sequence[bytes]) -> None:
    """Measure the gate of equal digests, and whole jobs."""
    page = pages[len(pages) // 2]
    digest = digest_of(parse(page, "text/html"))
    names = KINDS["any"].digests
    count = 100_000
    seconds = least(lambda _: [are_equal(names, digest, digest) for _ in range(count)], [0])
    print(f"{'gate: equal digests':34} {count / seconds:12,.0f} a second")
    body = Body(data=page, content_type="text/html")
    first = examine(Job(new=body, references={}, known={}, wanted=()))
    wanted = (Wanted(key=1, reference=1, expression=Interest("any")),)
    report_job("job, markup changed only", body, Body(data=page + b"<!-- -->", content_type="text/html"), first, wanted)
    changed = page.replace(b"</body>", b"<p>one more paragraph</p></body>")
    report_job("job, one paragraph more", body, Body(data=changed, content_type="text/html"), first, wanted)


def report_job(name: str, old: Body, new: Body, first: Examination, wanted: tuple[Wanted, ...]) -> None:
    """Measure one job with a known digest of its reference."""
    job = Job(new=new, references={1: old}, known={1: first.digest}, wanted=wanted, text_digest=first.digest.text)
    seconds = least(examine, [job] * 20) / 20
    print(f"{name:34} {seconds * 1e3:12.3f} ms for {len(new.data) / 1e3:.0f} kB, {len(examine(job).found)} found")


def peers(pages: Sequence[bytes], size: int) -> None:
    """Measure what others use for one of the stages, in the same run."""
    report("peer: lxml.etree.HTML, parse only", etree.HTML, pages, size)
    big = max((parse(page, "text/html") for page in pages), key=lambda document: document.words)
    old = big.tokens
    new = [*old[: len(old) // 3], "inserted", *old[len(old) // 3 : -50], "other", *old[-49:]]
    ours = least(lambda _: compare_sequences(old, new), [0])
    theirs = least(lambda _: difflib.SequenceMatcher(None, old, new).get_opcodes(), [0], rounds=2)
    print(f"compare {len(old):,} words, 2 edits: ours {ours * 1e3:.2f} ms, difflib {theirs * 1e3:.1f} ms")


def report(name: str, work: Callable[[Any], object], items: Sequence[Any], size: int) -> None:
    """Print how fast one stage goes through all pages."""
    seconds = least(work, items)
    print(f"{name:34} {size / seconds / 1e6:9.0f} MB/s {seconds / len(items) * 1e3:9.3f} ms a page")


def least(work: Callable[[Any], object], items: Sequence[Any], *, rounds: int = ROUNDS) -> float:
    """Return the least CPU seconds of some rounds through all items."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        for item in items:
            work(item)
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    main()
