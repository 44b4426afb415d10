"""Count false suspicions on real pages.

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR python bench/plausibility.py [--show] [--times]

Judged are every version of every real page, and every page of `html_corpus` at a first poll, as a
poll would judge them. No page is a wall, so each suspicion but an honest
`collapsed` or `empty` is false. `usual` is the median of the five versions before; the title is
that of the version before. `--show` lists each suspicion with its reason, `--times` measures what
the judgement costs. Ends with 1 if a wall, a log-in or an error was seen.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tests.data_sets import files_of, html_pages
from tests.replay import FAMILIES, RealPage, real_pages
from tidings.detection.doubt.plausibility import Answer, Suspicion, judge
from tidings.detection.job.contract import Body
from tidings.document.document import Document
from tidings.document.parse import parse

KINDS: tuple[Suspicion, ...] = ("blocked", "soft_error", "login", "empty", "collapsed")
AMONG = 5


@dataclass(frozen=True, slots=True)
class Judged:
    """One judgement: of which family, of which page and version, and what it was."""

    family: str
    name: str
    kind: Suspicion
    why: str
    words: int
    usual: int | None
    seconds: float


def judge_answer(answer: Answer, family: str, name: str) -> Judged:
    """Judge one answer, with the time that it takes once the text is there."""
    words = answer.document.words
    begun = time.thread_time()
    kind, why = judge(answer)
    return Judged(family, name, kind, why, words, answer.usual_words, time.thread_time() - begun)


def pairs(page: RealPage) -> Iterator[Judged]:
    """Judge each version of a page but the first beside those before it; the first as a first poll."""
    url = f"https://example.org/{page.family}/{page.name}"
    bodies = [Body(data=version.body, content_type=version.content_type, url=url) for version in page.versions]
    documents: list[Document] = []
    for number, body in enumerate(bodies):
        document = parse(body.data, body.content_type, url=url)
        newest = documents[-1] if documents else None
        answer = Answer(
            document=document,
            data=body.data,
            url=url,
            asked_url=url,
            usual_words=int(statistics.median(d.words for d in documents[-AMONG:])) if documents else None,
            usual_title=newest.title if newest else "",
            reference_data=bodies[number - 1].data if number else b"",
            reference_url=url if number else "",
            reference=lambda newest=newest: newest,  # type: ignore[misc]
        )
        yield judge_answer(answer, page.family, f"{page.name} version {number}")
        documents.append(document)


def first_polls() -> Iterator[Judged]:
    """Judge each single real page as a first poll."""
    for number, body in enumerate(html_pages()):
        document = parse(body, "text/html", url="https://example.org/")
        yield judge_answer(Answer(document=document, data=body), "html_corpus", f"page {number}")
    for name, body in files_of("html_corpus/charsets.tar.zst"):
        document = parse(body, url="https://example.org/")
        yield judge_answer(Answer(document=document, data=body), "charsets", name)


def table(found: list[Judged]) -> Iterator[str]:
    """Yield how many of each family were suspected of what."""
    yield f"{'family':<15}{'judged':>8}" + "".join(f"{kind:>12}" for kind in KINDS)
    for family in [*dict.fromkeys(one.family for one in found), "all"]:
        of = [one for one in found if family in {one.family, "all"}]
        counts = Counter(one.kind for one in of)
        yield f"{family:<15}{len(of):>8}" + "".join(f"{counts[kind]:>12}" for kind in KINDS)


def main() -> int:
    """Print the tables; return 1 if a real page was taken for a wall, a log-in or an error."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--show", action="store_true", help="list each suspicion")
    options.add_argument("--times", action="store_true", help="print what the judgement costs")
    chosen = options.parse_args()
    polls = list(first_polls())
    versions = [one for page in real_pages(FAMILIES) for one in pairs(page)]
    steps = [one for one in versions if one.usual is not None]
    print("first polls", *table([*polls, *(one for one in versions if one.usual is None)]), sep="\n")
    print("\nsuccessive versions", *table(steps), sep="\n")
    everything = [*polls, *versions]
    if chosen.show:
        print()
        for one in everything:
            if one.kind:
                print(f"{one.kind:<11}{one.family}/{one.name}: {one.why}")
    if chosen.times:
        times = sorted(one.seconds * 1e6 for one in everything)
        small = sorted(one.seconds * 1e6 for one in everything if one.words <= 400)
        for name, of in (("all", times), ("up to 400 words", small)):
            print(
                f"\nµs a judgement, {name}: median {of[len(of) // 2]:.1f}, p99 {of[len(of) * 99 // 100]:.0f}, most {of[-1]:.0f}"
            )
    return 1 if any(one.kind in {"blocked", "soft_error", "login"} for one in everything) else 0


if __name__ == "__main__":
    sys.exit(main())
