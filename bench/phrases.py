"""Measure what keywords and phrases cost, and what adapting to a page's history is worth.

    TIDINGS_DATA_SETS=... python bench/phrases.py

Times are CPU times of this process, the least of some rounds, on an ordinary page and on the worst
that a page can do. The last table asks for phrases at the edits of real successive pages
(`page_versions`). An alignment of all words gives what became of each: *kept* beside an edit,
*reworded* (a few of its words are others, the words on both sides are as they were), or *gone*. The
table counts what is reported wrongly, with ten words and 0.6 and with rules adapted to the shares
of the page's earlier changes (W-122, W-124).
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests import data_sets
from tidings.detection.ask.pair import Pair
from tidings.detection.compare.instances import RESOLVED, Rules, occurrences
from tidings.detection.compare.phrases import adapt, compare_phrase, measure_changed_share
from tidings.detection.compare.words import compare_sequences
from tidings.detection.kinds.keywords import Keywords, Phrases
from tidings.document.parse import parse
from tidings.model.observed.change import Edit
from tidings.model.watch.interest import Interest

PHRASE = "low risk growth investing".split()
REWORDED = "low risk value investing".split()
MANY = 10_000
WIDE = [f"w{number}" for number in range(5_000)]
NARROW = ["a", "b"]
ORDINARY_WORDS = 1_700
LARGE_WORDS = 30_000
TERMS = 50
REAL_PAIRS = 420
EDITS_A_PAIR = 6


def main() -> None:
    """Print a line for each case."""
    print(f"{'ordinary pages':<58}{'CPU ms':>10}")
    for words in (ORDINARY_WORDS, LARGE_WORDS):
        ordinary(words)
    print(f"\n{'adversaries':<58}{'CPU ms':>10}")
    adversaries()
    if data_sets.folder() is not None:
        print()
        history()


def ordinary(words: int) -> None:
    """Measure one term and many on a page on which one phrase was reworded."""
    before = make_page(words // 10, [])
    middle = len(before) // 2
    pages = [
        parse(f"<p>{' '.join([*before[:middle], *text, *before[middle:]])}</p>".encode(), "text/html")
        for text in (PHRASE, REWORDED)
    ]
    old, new = pages
    _ = old.folded, new.folded
    name = f"{words:,} words"
    report(f"{name}: a keyword", lambda: Keywords("growth").compare(old, new), rounds=20)
    report(f"{name}: a phrase, reworded", lambda: Phrases(" ".join(PHRASE)).compare(old, new), rounds=20)
    report(f"{name}: a phrase, as it was", lambda: Phrases(" ".join(before[20:25])).compare(old, new), rounds=20)
    report(f"{name}: {TERMS} keywords", lambda: several(Pair(old, new), WIDE[:TERMS]), rounds=5)


def several(pair: Pair, terms: Sequence[str]) -> int:
    """Return how many of the keywords changed."""
    return sum(1 for term in terms if pair.compare(Interest("keywords", terms=(term,)), term))


def adversaries() -> None:
    """Measure pages that have a phrase ten thousand times, and boxes that stand everywhere."""
    old, narrow = make_page(MANY, PHRASE), make_page(MANY, PHRASE, words=NARROW)
    alike = [*["a"] * 10, *PHRASE]
    many = f"{MANY:,}"
    cases: dict[str, tuple[Sequence[str], Sequence[str], Sequence[str]]] = {
        f"{many} reworded": (old, make_page(MANY, REWORDED), PHRASE),
        f"{many} gone": (old, make_page(MANY, []), PHRASE),
        f"{many} elsewhere": (old, make_page(MANY, PHRASE, seed=2), PHRASE),
        f"{many} with a word before": (old, make_page(MANY, ["x", *PHRASE]), PHRASE),
        f"{many} between two words, all elsewhere": (narrow, make_page(MANY, PHRASE, words=NARROW, seed=3), PHRASE),
        f"{many} between two words, then a million of these": (
            narrow,
            random.Random(4).choices(NARROW, k=10**6),
            PHRASE,
        ),
        f"{many} alike, half of them left": (alike * MANY, alike * (MANY // 2), PHRASE),
        f"{many} alike, then a million box words": (alike * MANY, ["a"] * 10**6, PHRASE),
        f"a a, {MANY:,} times to 9,000 times": (["a"] * (MANY + 1), ["a"] * 9_001, ["a", "a"]),
        "a a, a million times": (["a"] * 10**6, ["a"] * (10**6 - 1), ["a", "a"]),
    }
    for name, (before, after, phrase) in cases.items():
        report(name, partial(count_edits, before, after, phrase), rounds=2)


def count_edits(old: Sequence[str], new: Sequence[str], phrase: Sequence[str]) -> str:
    """Return how many edits of each sort there are."""
    change = compare_phrase(old, new, phrase)
    return f"{change.old:,} → {change.new:,}" if change.counted else str(dict(Counter(e.status for e in change.edits)))


@dataclass(frozen=True)
class Asked:
    """A phrase of a real page, what became of it, and the shares of the page's earlier changes, the newest first."""

    became: str
    phrase: Sequence[str]
    old: Sequence[str]
    new: Sequence[str]
    shares: tuple[float, ...]

    def list_marks(self, rules: Rules) -> set[str]:
        """Return the marks of what is reported of it."""
        return {edit.status for edit in compare_phrase(self.old, self.new, self.phrase, rules).edits}


WRONG = {"kept": {"d", "i", "i+", "d-"}, "reworded": {"d"}, "gone": {"u"}}
"""What is reported wrongly, by what became of a phrase."""


def history() -> None:
    """Print how much is reported wrongly with fixed rules and with adapted ones, resolved and in the thesis' way."""
    asked = list(phrases_at_edits())
    numbers = Counter(one.became for one in asked)
    titles = {
        "kept": "kept, reported gone or new",
        "reworded": "reworded, reported gone",
        "gone": "gone, reported reworded",
    }
    print(
        f"{'phrases at edits of real pages':<34}"
        + "".join(f"{title + f' (of {numbers[name]:,})':>40}" for name, title in titles.items())
    )
    for way, fixed in {"resolved": RESOLVED, "the thesis' way": replace(RESOLVED, resolved=False)}.items():
        for name, of in {"10 words, 0.6": fixed, "adapted": None}.items():
            wrong = Counter(
                one.became for one in asked if one.list_marks(of or adapt(one.shares, fixed)) & WRONG[one.became]
            )
            print(f"{f'{way}, {name}':<34}" + "".join(f"{wrong[became]:>40,}" for became in titles))


def phrases_at_edits() -> Iterator[Asked]:
    """Yield phrases beside, over and in the edits of pages that have changed before."""
    rng = random.Random(5)
    shares: dict[str, list[float]] = {}
    pairs = [pair for pair in data_sets.page_pairs("terms-html") if pair.text_changed]
    for pair in pairs[:REAL_PAIRS]:
        old, new = (parse(body, pair.content_type).folded for body in (pair.old, pair.new))
        before = shares.setdefault(pair.file.rpartition("/")[0], [])
        if before:
            edits = compare_sequences(old, new)
            for edit in rng.sample(edits, min(EDITS_A_PAIR, len(edits))):
                for became, start, end in spans_at(edit, edits, rng, len(old)):
                    phrase = old[start:end]
                    there, here = (sum(1 for _ in occurrences(words, phrase)) for words in (old, new))
                    if (there == here) == (became == "kept"):
                        yield Asked(became, phrase, old, new, tuple(before))
        before.insert(0, measure_changed_share(old, new))


def spans_at(edit: Edit, edits: Sequence[Edit], rng: random.Random, length: int) -> Iterator[tuple[str, int, int]]:
    """Yield (what became of it, start, end) of phrases at an edit of the old words."""

    def is_untouched(start: int, end: int) -> bool:
        return 0 <= start < end <= length and not any(
            other.old_start < end and (other.old_end > start or start < other.old_start) for other in edits
        )

    lost, won = edit.old_end - edit.old_start, edit.new_end - edit.new_start
    size, away = rng.randint(3, 8), rng.randint(0, 6)
    for start in (edit.old_start - size - away, edit.old_end + away):
        if is_untouched(start, start + size):
            yield "kept", start, start + size
    left, right = rng.randint(1, 4), rng.randint(1, 4)
    if 1 <= lost <= 3 and 1 <= won <= 5:
        if is_untouched(edit.old_start - left, edit.old_start) and is_untouched(edit.old_end, edit.old_end + right):
            yield "reworded", edit.old_start - left, edit.old_end + right
    elif lost >= 3:
        yield "gone", edit.old_start, edit.old_start + min(lost, size)


def make_page(count: int, text: Sequence[str], *, words: Sequence[str] = WIDE, seed: int = 1) -> list[str]:
    """Return a page that has a text so many times, ten random words before each."""
    rng = random.Random(seed)
    page: list[str] = []
    for _ in range(count):
        page += rng.choices(words, k=10)
        page += text
    return page + rng.choices(words, k=10)


def report(name: str, work: Callable[[], object], *, rounds: int) -> None:
    """Print the least time of some rounds, and what came of it if it is a text."""
    times = []
    result: object = None
    for _ in range(rounds):
        begun = time.process_time()
        result = work()
        times.append(time.process_time() - begun)
    print(f"{name:<58}{1e3 * min(times):>10.2f}  {result if isinstance(result, str) else ''}")


if __name__ == "__main__":
    main()
