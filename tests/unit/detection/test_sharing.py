"""A job reads each body, extracts each part and makes each comparison once, for any number of
sentinels (sentinels §4.3; W-61, W-62).
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tidings.detection.job.contract import Body, Examination, Job, Wanted, Work
from tidings.detection.job.examiner import examine
from tidings.detection.kinds import keywords
from tidings.document.select.extraction import WHOLE, Extraction
from tidings.model.watch.interest import AnyOf, Interest, Selector

WORDS, LINKS = Interest("words"), Interest("links")
PART = Extraction((Selector("css", "div"),))


def body(version: int, *, rest: str = "") -> Body:
    """Return a page of which a heading, a link and a part change with the version."""
    text = f"<h1>edition {version}</h1><a href=/{version}>more</a><div>part {version}</div><p>{rest}</p>"
    return Body(data=text.encode(), content_type="text/html", url="http://a.example/")


def run(new: int, *wanted: tuple[int, Any, Extraction], rest: str = "") -> Examination:
    """Compare version `new` for many; each wants (reference, expression, extraction)."""
    asked = tuple(Wanted(key=key, reference=r, expression=e, extraction=x) for key, (r, e, x) in enumerate(wanted))
    references = {r: body(r, rest=rest) for r, _, _ in wanted}
    return examine(Job(new=body(new, rest=rest), references=references, known={}, wanted=asked))


def test_hundreds_of_sentinels_share_a_comparison():
    """W-61: a hundred for the words of a pair, a hundred for links and a hundred for either read
    two bodies, and compare three pairs by two kinds; each has its finding.
    """
    found = run(2, *[(1, e, WHOLE) for _ in range(100) for e in (WORDS, LINKS, AnyOf((WORDS, LINKS)))])

    assert Work(bodies=2, parts=0, pairs=3, comparisons=2) == found.work
    assert list(range(300)) == [f.key for f in found.found]


def test_each_old_version_is_read_once():
    """Ten sentinels with windows over five versions read six bodies and compare five pairs; equal
    versions are read as one.
    """
    found = run(9, *[(seq, WORDS, WHOLE) for seq in (1, 2, 3, 4, 5)] * 2)
    back = body(7)
    wanted = tuple(Wanted(key=seq, reference=seq, expression=WORDS) for seq in (1, 2, 3))
    again = examine(Job(new=body(9), references={1: back, 2: body(8), 3: back}, known={}, wanted=wanted))

    assert Work(bodies=6, parts=0, pairs=5, comparisons=5) == found.work
    assert {1: [("1", "9")], 5: [("5", "9")]} == {
        f.reference: list(f.change.updated)[:1] for f in found.found if f.key in {0, 4}
    }
    assert 3 == again.work.bodies


def test_part_of_a_version_is_extracted_once():
    """Fifty sentinels select one part of two versions: three bodies and three parts."""
    found = run(9, *[(seq, WORDS, PART) for _ in range(25) for seq in (1, 2)])

    assert Work(bodies=3, parts=3, pairs=2, comparisons=2) == found.work
    assert 50 == len(found.found)


def test_sentinel_gets_only_its_own_findings():
    """W-62: no finding of another interest reaches it."""
    found = {f.key: f.change.kinds for f in run(2, (1, WORDS, WHOLE), (1, LINKS, WHOLE), (2, WORDS, WHOLE)).found}

    assert {0: ("words",), 1: ("links",)} == found


@pytest.mark.parametrize("seed", range(5))
def test_many_keywords_are_found_in_one_pass(seed: int, monkeypatch: pytest.MonkeyPatch):
    """Each finds the same as alone."""
    rng = random.Random(seed)
    vocabulary = [f"w{n}" for n in range(40)]
    pages = [" ".join(rng.choices(vocabulary, k=300)) for _ in range(2)]
    terms = [" ".join(rng.choices(vocabulary, k=rng.choice((1, 1, 1, 2)))) for _ in range(60)]
    bodies = [Body(data=f"<p>{page}</p>".encode(), content_type="text/html", url="http://a.example/") for page in pages]

    def counts(asked: list[str]) -> dict[str, Any]:
        wanted = tuple(
            Wanted(key=k, reference=1, expression=Interest("keywords", terms=(t,))) for k, t in enumerate(asked)
        )
        found = examine(Job(new=bodies[1], references={1: bodies[0]}, known={}, wanted=wanted)).found
        return {asked[f.key]: f.change.objects for f in found}

    together = counts(terms)
    monkeypatch.setattr(keywords, "MANY", 10**9)
    apart = {term: rows for one in terms for term, rows in counts([one]).items()}

    assert together == apart
    assert len(together) > 20
