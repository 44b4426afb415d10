"""Pages made to be slow: each pair is compared soon, or refused with a reason.
`bench/worst_pairs.py` measures the time.
"""

import random

import pytest

from tests.bounded import bound_time
from tidings.detection.job.contract import Body, Job, Wanted
from tidings.detection.job.examiner import examine
from tidings.model.watch.sentinel import Interest


def words(alphabet, count, seed):
    return " ".join(random.Random(seed).choices(alphabet, k=count))


def attributes(count, form):
    return f"<p {' '.join(form.format(number) for number in range(count))}>text"


def misnest(count):
    opened = "".join(f"<b i{n}>" for n in range(count)) + "".join(f"<i i{n}>" for n in range(count))
    return opened + "x</b>" * count


NUMBERS = [str(number) for number in range(60_000)]
LOW = "abcd"

PAIRS = {
    "5,000 nested": lambda: ("<div>" * 5_000 + "one", "<div>" * 5_000 + "two"),
    "100,000 nested": lambda: ("<div>" * 100_000 + "one", "<div>" * 100_000 + "two"),
    "100,000 attributes": lambda: (attributes(100_000, "a{}"), attributes(100_001, "a{}")),
    "5,000 attributes that hide their ends": lambda: (
        attributes(5_000, 'a{}="<>"'),
        attributes(5_000, 'a{}="<>"') + "s",
    ),
    "misnested 500": lambda: (misnest(500), misnest(500) + "y"),
    "misnested 20,000": lambda: (misnest(20_000), misnest(20_000) + "y"),
    "unclosed links": lambda: ("<p>" + "<a>" * 20_000 + "one", "<p>" + "<a>" * 20_000 + "two"),
    "unclosed tables": lambda: ("<table>" * 20_000 + "one", "<table>" * 20_000 + "two"),
    "only <": lambda: ("<" * 500_000, "<" * 500_001),
    "two letters": lambda: (words("ab", 60_000, 1), words("ab", 60_000, 2)),
    "four words": lambda: (words(["ab", "cd", "ef", "gh"], 50_000, 1), words(["ab", "cd", "ef", "gh"], 50_000, 2)),
    "disjoint": lambda: (" ".join(NUMBERS), " ".join(f"x{number}" for number in NUMBERS)),
    "reversed": lambda: (" ".join(NUMBERS), " ".join(NUMBERS[::-1])),
    "low blocks moved": lambda: (words(LOW, 40_000, 3) + " q" * 20_000, "q " * 20_000 + words(LOW, 40_000, 3)),
    "last of 225,000 words": lambda: (words(NUMBERS, 225_000, 4), words(NUMBERS, 225_000, 4) + " end"),
    "one long word": lambda: ("a" * 1_000_000, "a" * 999_999),
    "Chinese without a space": lambda: ("漢字" * 60_000, "字漢" * 60_000),
    "one run of flags": lambda: ("🇩🇪" * 50_000, "🇫🇷" * 50_000),
    "one run of joined emoji": lambda: ("👩\u200d" * 60_000, "👩\u200d" * 59_999),
    "one letter with marks": lambda: ("e" + "\u0301" * 300_000, "e" + "\u0301" * 299_999),
    "one long number": lambda: ("1." * 150_000, "1." * 149_999 + "2."),
    "links that climb": lambda: (
        "".join(f"<a href=/{n}/../x?q={n}>" for n in range(10_000)),
        "".join(f"<a href=/{n}/../y?q={n}>" for n in range(10_000)),
    ),
    "items of a feed that are HTML": lambda: (
        "<rss>" + "<a>&lt;b>x</a>" * 15_000 + "</rss>",
        "<rss>" + "<a>&lt;b>x</a>" * 14_999 + "</rss>",
    ),
    "nested arrays": lambda: ("[" * 100_000 + "1", "[" * 100_000 + "2"),
    "unclosed comments": lambda: ("<!--" * 100_000, "<!--" * 100_001 + "x"),
    "declarations of charsets": lambda: ("<meta charset=" * 50_000, "<meta charset=" * 50_001),
    "list of 20,000 turned round": lambda: (
        "".join(f"<li><a>{n}</a>" for n in range(20_000)),
        "".join(f"<li><a>{n}</a>" for n in range(20_000, 0, -1)),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_slow_pairs_are_compared_in_limited_time(name):
    """Each has a change or a reason, and is never silent for other words."""
    old, new = (Body(data=page.encode()) for page in PAIRS[name]())
    wanted = (Wanted(key=1, reference=1, expression=Interest("any")),)
    with bound_time(5):  # at most 0.3 s
        seen = examine(Job(new=new, references={1: old}, known={}, wanted=wanted))

    assert seen.problem or seen.found
