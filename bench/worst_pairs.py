"""Measure time and memory of one examination of the worst pairs of pages, none over 2 MB.

    python bench/worst_pairs.py [--only WORDS]

Each pair was made to be slow or big to compare. Each is examined in a process of its own, set up as
a worker is: CPU seconds, and the growth of the peak of its memory over what it had before. The bar
is a second and 200 MB on an idle core. Other work on the machine makes CPU seconds longer too, so
the load is printed with them. Linux only. Ends with 1 if a pair is over a bar.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tidings.detection.job.contract import Body, Job, Wanted
from tidings.detection.job.examiner import examine
from tidings.isolation.runner import keep_memory
from tidings.model.watch.sentinel import Interest

MEGABYTE = 1_000_000
MOST_SECONDS = 1.0
MOST_MEGABYTES = 200.0
NUMBERS = [str(number) for number in range(300_000)]
SYLLABLES = [f"{a}{b}{c}" for a in "brtkls" for b in "aeiou" for c in ("nter", "st", "m", "lde", "ring")]

Pair = tuple[str, str]


def words(alphabet: Sequence[str], count: int, seed: int) -> str:
    """Return words of an alphabet, each as often as the others."""
    return " ".join(random.Random(seed).choices(alphabet, k=count))


def prose(size: int, seed: int) -> str:
    """Return text as uneven as real text is, of so many characters."""
    weights = [1 / (place + 1) for place in range(len(SYLLABLES))]
    return " ".join(random.Random(seed).choices(SYLLABLES, weights, k=size // 4))[:size]


def zipf(count: int, seed: int) -> str:
    """Return words of which few are frequent and many are rare."""
    rng = random.Random(seed)
    return " ".join(f"w{int(rng.paretovariate(1)) % 20_000}" for _ in range(count))


def shuffle(items: Sequence[str], seed: int = 5) -> list[str]:
    """Return the items in another order."""
    return random.Random(seed).sample(items, len(items))


def attributes(count: int, form: str) -> str:
    """Return a tag with so many attributes."""
    return f"<p {' '.join(form.format(number) for number in range(count))}>text"


def misnest(count: int) -> str:
    """Return formatting tags that overlap, each to be opened again after each other (lexbor issue 340)."""
    opened = "".join(f"<b i{n}>" for n in range(count)) + "".join(f"<i i{n}>" for n in range(count))
    return opened + "x</b>" * count


def end_differently(text: str, *, old: str = "one", new: str = "two") -> Pair:
    """Return two texts that differ at their end."""
    return f"{text}{old}", f"{text}{new}"


def _items(numbers: Sequence[str], form: str) -> str:
    return "".join(form.format(number) for number in numbers)


PAIRS: dict[str, Callable[[], Pair]] = {
    "10 edits in 700 kB": lambda: (prose(700_000, 1), prose(700_000, 1).replace(" bam ", " new ", 10)),
    "unrelated, 700 kB": lambda: (prose(700_000, 1), prose(700_000, 2)),
    "unrelated, 2 MB": lambda: (prose(2 * MEGABYTE, 1), prose(2 * MEGABYTE, 2)),
    "four words, 50,000": lambda: (words(["ab", "cd", "ef", "gh"], 50_000, 1), words(["ab", "cd", "ef", "gh"], 50_000, 2)),
    "two letters, 690,000": lambda: (words("ab", 690_000, 1), words("ab", 690_000, 2)),
    "Zipf, 150,000": lambda: (zipf(150_000, 1), zipf(150_000, 2)),
    "Zipf, 450,000": lambda: (zipf(450_000, 1), zipf(450_000, 2)),
    "disjoint, 150,000": lambda: (" ".join(NUMBERS[:150_000]), " ".join(f"x{n}" for n in range(150_000))),
    "reversed, 150,000": lambda: (" ".join(NUMBERS[:150_000]), " ".join(NUMBERS[149_999::-1])),
    "reversed, 300,000": lambda: (" ".join(NUMBERS), " ".join(NUMBERS[::-1])),
    "shuffled, 300,000": lambda: (" ".join(NUMBERS), " ".join(shuffle(NUMBERS))),
    "blocks of four letters moved": lambda: (
        words("abcd", 490_000, 3) + " q" * 200_000, "q " * 200_000 + words("abcd", 490_000, 3),
    ),
    "every second of 250,000 words": lambda: (
        " ".join(NUMBERS[:250_000]), " ".join(n if int(n) % 2 else f"y{n}" for n in NUMBERS[:250_000]),
    ),
    "every second of two letters": lambda: ("a b " * 340_000, "a c " * 340_000),
    "the last of 340,000": lambda: end_differently(words(NUMBERS[:60_000], 340_000, 4)),
    "Chinese without a space": lambda: ("漢字" * 330_000, "字漢" * 330_000),
    "one long word": lambda: ("a" * 2 * MEGABYTE, "a" * (2 * MEGABYTE - 1)),
    "one long number": lambda: end_differently("1." * 950_000, old="1", new="2"),
    "flags in a row": lambda: ("🇩🇪" * 240_000, "🇫🇷" * 240_000),
    "apples": lambda: ("🍎" * 480_000, "🍏🍎" * 240_000),
    "emoji that join": lambda: ("👩\u200d" * 280_000, "👩\u200d" * 279_999),
    "a letter with marks": lambda: ("e" + "\u0301" * 900_000, "e" + "\u0301" * 899_999),
    "only <": lambda: ("<" * 990_000, "<" * 990_001),
    "paragraphs of one letter": lambda: end_differently("<p>x" * 290_000),
    "line breaks": lambda: ("a<br>" * 290_000, "b<br>" * 290_000),
    "too many tags": lambda: end_differently("<p>x" * 480_000),
    "links turned round": lambda: (_items(NUMBERS[:39_000], "<a href=/{0}>x"), _items(NUMBERS[38_999::-1], "<a href=/{0}>x")),
    "links that climb": lambda: (_items(NUMBERS[:39_000], "<a href=/{0}/../x?q={0}>"), _items(NUMBERS[:39_000], "<a href=/{0}/../y?q={0}>")),
    "images": lambda: (_items(NUMBERS[:39_000], "<img src=/{0}>"), _items(NUMBERS[:39_000], "<img src=/{0}x>")),
    "too many images": lambda: (_items(NUMBERS[:110_000], "<img src=/{0}>"), _items(NUMBERS[:110_000], "<img src=/{0}x>")),
    "items shuffled": lambda: (_items(NUMBERS[:70_000], "<li><a>{0}</a>"), _items(shuffle(NUMBERS[:70_000]), "<li><a>{0}</a>")),
    "5,000 nested": lambda: end_differently("<div>" * 4_990),
    "5,000 nested and wide": lambda: end_differently("<div>" * 4_990 + "<p>x" * 280_000),
    "100,000 nested": lambda: end_differently("<div>" * 100_000),
    "900 attributes on many tags": lambda: end_differently(attributes(900, "a{}") * 100),
    "100,000 attributes": lambda: end_differently(attributes(100_000, "a{}")),
    "misnested 500": lambda: end_differently(misnest(500)),
    "misnested 700": lambda: end_differently(misnest(700)),
    "misnested 20,000": lambda: end_differently(misnest(20_000)),
    "unclosed tables": lambda: end_differently("<table>" * 20_000),
    "unclosed links": lambda: end_differently("<p>" + "<a>" * 20_000),
    "unclosed comments": lambda: end_differently("<!--" * 290_000),
    "a feed of HTML": lambda: end_differently("<rss>" + "<a>&lt;b>x</a>" * 100_000, old="</rss>", new="<a>y</a></rss>"),
    "XML": lambda: ("<?xml version='1.0'?><r>" + "<a>x</a>" * 200_000 + "</r>", "<?xml version='1.0'?><r>" + "<a>y</a>" * 200_000 + "</r>"),
    "a JSON array turned round": lambda: (f"[{','.join(NUMBERS[:95_000])}]", f"[{','.join(NUMBERS[94_999::-1])}]"),
    "a JSON object": lambda: ("{" + ",".join(f'"{n}":{n}' for n in NUMBERS[:95_000]) + "}", "{" + ",".join(f'"{n}":{n}1' for n in NUMBERS[:95_000]) + "}"),
    "nested arrays": lambda: end_differently("[" * 100_000),
    "declarations of charsets": lambda: end_differently("<meta charset=" * 140_000),
    "every line of 1,000,000": lambda: ("a\n" * MEGABYTE, "b\n" * MEGABYTE),
}  # fmt: skip
"""The adversaries of detection §2.4 and §2.5, at 2 MB where more of them is worse, and some of our own."""


def memory(name: str) -> float:
    """Return a line of /proc/self/status in MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


def play(pipe: Connection, name: str) -> None:
    """Examine one pair in this process; send back what came of it, CPU seconds, MB."""
    keep_memory()
    gc.freeze()
    gc.disable()
    old, new = (Body(data=text.encode()) for text in PAIRS[name]())
    wanted = (Wanted(key=1, reference=1, expression=Interest("any")),)
    job = Job(new=new, references={1: old}, known={}, wanted=wanted)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before, began = memory("VmRSS"), time.process_time()
    seen = examine(job)
    spent, grown = time.process_time() - began, memory("VmHWM") - before
    got = seen.problem or (f"{len(seen.found[0].change.edits):,} edits" if seen.found else "nothing")
    pipe.send((len(new.data), got, spent, grown))


def main() -> int:
    """Print the table; return 1 if a pair is over a bar."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="", help="pairs with these words in their name")
    chosen = options.parse_args()
    context = multiprocessing.get_context("fork")
    names = [name for name in PAIRS if chosen.only in name]
    right, worst = 0, 0.0
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| pair | MB each | CPU s | MB | what came of it |\n|---|---:|---:|---:|---|")
    for name in names:
        ours, theirs = context.Pipe()
        child = context.Process(target=play, args=(theirs, name))
        child.start()
        size, got, spent, grown = ours.recv()
        child.join()
        right += spent <= MOST_SECONDS and grown <= MOST_MEGABYTES
        worst = max(worst, spent)
        print(f"| {name} | {size / 1e6:.2f} | {spent:.3f} | {grown:.0f} | {got} |", flush=True)
    print(f"\n{right}/{len(names)} within {MOST_SECONDS:g} s and {MOST_MEGABYTES:g} MB; worst {worst:.2f} s")
    return int(right < len(names))


if __name__ == "__main__":
    sys.exit(main())
