"""Keywords and phrases: what one costs on an ordinary page, and the worst that a page can do.

    python bench/phrases.py

Times are CPU times of this process, the least of some rounds.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from tidings.detection.compare.phrases import compare_phrase
from tidings.detection.keywords import Keywords
from tidings.detection.pair import Pair
from tidings.detection.phrases import Phrases
from tidings.document.parse import parse

PHRASE = "low risk growth investing".split()
REWORDED = "low risk value investing".split()
MANY = 10_000
WIDE = [f"w{number}" for number in range(5_000)]
NARROW = ["a", "b"]
ORDINARY_WORDS = 1_700
LARGE_WORDS = 30_000
TERMS = 50


def main() -> None:
    """Print a line for each case."""
    print(f"{'ordinary pages':<58}{'CPU ms':>10}")
    for words in (ORDINARY_WORDS, LARGE_WORDS):
        ordinary(words)
    print(f"\n{'adversaries':<58}{'CPU ms':>10}")
    adversaries()


def ordinary(words: int) -> None:
    """Measure one term and many on a page on which one phrase was reworded."""
    before = made(words // 10, [])
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
    return sum(1 for term in terms if pair.compare("keywords", term))


def adversaries() -> None:
    """Measure pages that have a phrase ten thousand times, and boxes that stand everywhere."""
    old, narrow = made(MANY, PHRASE), made(MANY, PHRASE, words=NARROW)
    alike = [*["a"] * 10, *PHRASE]
    many = f"{MANY:,}"
    cases: dict[str, tuple[Sequence[str], Sequence[str], Sequence[str]]] = {
        f"{many} reworded": (old, made(MANY, REWORDED), PHRASE),
        f"{many} gone": (old, made(MANY, []), PHRASE),
        f"{many} elsewhere": (old, made(MANY, PHRASE, seed=2), PHRASE),
        f"{many} with a word before": (old, made(MANY, ["x", *PHRASE]), PHRASE),
        f"{many} between two words, all elsewhere": (narrow, made(MANY, PHRASE, words=NARROW, seed=3), PHRASE),
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
        report(name, partial(told, before, after, phrase), rounds=2)


def told(old: Sequence[str], new: Sequence[str], phrase: Sequence[str]) -> str:
    """Return how many edits of each sort there are."""
    change = compare_phrase(old, new, phrase)
    return f"{change.old:,} → {change.new:,}" if change.counted else str(dict(Counter(e.status for e in change.edits)))


def made(count: int, text: Sequence[str], *, words: Sequence[str] = WIDE, seed: int = 1) -> list[str]:
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
