"""Measure detection on real pages: from bytes to the digests of all kinds, gates, and peers.

    TIDINGS_DATA_SETS=... python bench/detection.py [--pairs N] [--peers PYTHON]

Times are CPU times of this process, the least of some rounds. The process keeps its memory as a
worker does. Charset decoding has a row of its own and is no part of the sums. `--pairs N` takes
every N-th pair of successive versions; 1 takes all. `--peers` is the Python of an environment with
lxml, html2text and web-monitoring-diff (`bench/detection_peers.py`). These compare the HTML pairs
in the same run.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lxml import etree
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests import data_sets
from tidings.detection.compare.words import compare_sequences
from tidings.detection.job.contract import Body, Examination, Job, Wanted
from tidings.detection.job.examiner import compare_bodies, examine
from tidings.detection.job.gates import are_equal, digest_of
from tidings.detection.kinds.registry import KINDS
from tidings.document.document import Document
from tidings.document.html.prescan import too_hard
from tidings.document.html.walk import Walked, walk
from tidings.document.parse import parse, read
from tidings.document.text.charset import Decoded, decode
from tidings.isolation.runner import keep_memory
from tidings.model.watch.sentinel import Interest

ROUNDS = 7


FAMILIES = ("terms-html", "terms-text", "docs-text", "json", "feed", "election", "list", "jobboard")
KINDS_OF_ALL = tuple(Interest(kind) for kind in ("any", "words", "links", "images"))


def main() -> None:
    """Print a table of stages, one of gates, and peers."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pairs", type=int, default=1)
    options.add_argument("--peers", default="")
    chosen = options.parse_args()
    keep_memory()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    pages = data_sets.html_pages()
    size = sum(map(len, pages))
    print(f"{len(pages)} pages, {size / 1e6:.1f} MB, mean {size / len(pages) / 1e3:.0f} kB")
    decoded = [decode(page, "text/html") for page in pages]
    report("decode (apart)", lambda page: decode(page, "text/html"), pages, size)
    stages(decoded, size)
    gates(pages)
    peers(pages, size)
    pairs = [pair for family in FAMILIES for pair in data_sets.page_pairs(family)][:: chosen.pairs]
    versions(pairs)
    if chosen.peers:
        beside(chosen.peers, [pair for pair in pairs if pair.content_type == "text/html"])


def versions(pairs: Sequence[data_sets.Pair]) -> None:
    """Count where each pair of successive versions ends and what that took; no change may be empty, nor an unequal text without one."""
    ends: Counter[str] = Counter()
    took: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    empty = silent = 0
    for pair in pairs:
        old, new = (
            Body(data=data, content_type=pair.content_type, url="http://x.example/") for data in (pair.old, pair.new)
        )
        first = examine(Job(new=old, references={}, known={}, wanted=()))
        wanted = tuple(Wanted(key=key, reference=1, expression=kind) for key, kind in enumerate(KINDS_OF_ALL))
        job = Job(new=new, references={1: old}, known={1: first.digest}, wanted=wanted, text_digest=first.digest.text)
        began = time.process_time()
        seen = examine(job)
        spent = time.process_time() - began
        kinds = {found.key for found in seen.found}
        empty += sum(not (found.change.edits or found.change.objects) for found in seen.found)
        silent += not seen.problem and seen.text_changed != (1 in kinds)
        end = (
            "L0 bytes"
            if pair.old == pair.new
            else "L1, L2 digests"
            if not kinds
            else "L3 objects"
            if 1 not in kinds
            else "L4 words"
        )
        ends[end] += 1
        took[end] += spent
        sizes[end] += len(pair.new)
    print(f"\n{len(pairs):,} pairs of successive versions, four kinds of change wanted of each; where they end:")
    for end in sorted(ends):
        rate = sizes[end] / took[end] / 1e6
        print(f"{end:34} {ends[end]:9,} pairs {took[end] / ends[end] * 1e3:9.3f} ms a pair {rate:9.0f} MB/s")
    print(f"changes that are empty: {empty}; texts that differ without a change of words, or the other way: {silent}")


def ask_peers(python: str, pairs: Sequence[data_sets.Pair]) -> dict[str, dict[str, Any]]:
    """Return what each peer took for pairs of HTML: `seconds`, `failed`, `changed`.

    A peer that is not there has `absent`, which says why.

    Args:
        python: The interpreter of the environment.
        pairs: The pairs.
    """
    with tempfile.TemporaryDirectory() as folder:
        for number, pair in enumerate(pairs):
            for side, data in (("old", pair.old), ("new", pair.new)):
                Path(folder, f"{number}.{side}.html").write_bytes(decode(data, pair.content_type).utf8)
        script = Path(__file__).with_name("detection_peers.py")
        printed = subprocess.run([python, str(script), folder], capture_output=True, text=True, check=True).stdout
    found: dict[str, dict[str, Any]] = json.loads(printed.splitlines()[-1])
    return found


def beside(python: str, pairs: Sequence[data_sets.Pair]) -> None:
    """Compare the HTML pairs with what an environment of peers holds."""
    peers = ask_peers(python, pairs)
    began = time.process_time()
    changed = sum(bool(_words(pair)) for pair in pairs)
    ours = time.process_time() - began
    size = sum(len(pair.new) for pair in pairs)
    said = sum(pair.text_changed for pair in pairs)
    print(
        f"\n{len(pairs):,} pairs of HTML, nothing known of the old one; the data set says that {said:,} texts changed:"
    )
    print(
        f"{'tidings, all words':34} {ours / len(pairs) * 1e3:9.3f} ms a pair {size / ours / 1e6:7.1f} MB/s {changed:7,} changed"
    )
    for name, got in peers.items():
        if "absent" in got:
            print(f"{name:34} not there: {got['absent'][:80]}")
            continue
        rate = size / got["seconds"] / 1e6
        figures = f"{got['seconds'] / len(pairs) * 1e3:9.3f} ms a pair {rate:7.1f} MB/s {got['changed']:7,} changed"
        print(f"{name:34} {figures}, {got['failed']} failed, {got['seconds'] / ours:.1f} times ours")


def _words(pair: data_sets.Pair) -> object:
    bodies = (Body(data=data, content_type=pair.content_type) for data in (pair.old, pair.new))
    return compare_bodies(*bodies, Interest("words"))[0]


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
    report("walk to digests", lambda root: digest_of(of_walk(walk(root))), roots, size)
    report("text to digests, parse included", lambda one: digest_of(read(one, "text/html")), decoded, size)
    trees.clear()


def of_walk(walked: Walked) -> Document:
    """Return a document of what was walked through."""
    return Document(media="html", pieces=tuple(walked.pieces), links=tuple(walked.links), images=tuple(walked.images))


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
