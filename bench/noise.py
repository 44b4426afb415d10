"""Count false alarms and missed changes. The kinds of noise of real pages are planted on real edits
at real times.

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR python bench/noise.py [KIND…] [--pages 40] [--polls 100]
        [--seed 1] [--show]
    PYTHONPATH=. TIDINGS_DATA_SETS=DIR python bench/noise.py --real [FAMILY…] [--show]

A *series* is one page of `page_versions` shown at the times of one page of
`change_traces/text_change_times`. Where that page changed its visible text, ours goes on to its
next version, and after the last one begins again. Where only its markup changed, ours stays as it
is. One kind of noise is planted at one place that all versions have, drawn anew at each fetch.
Second polls that the learner asks for are made a minute later. In the first five polls, and while a
place is suspected, what a poll found waits for the second poll, as in the service (0048). The bench
compares what is reported with what would be reported if every difference were reported.
docs/why/noise.md argues the method. bench/noise_kinds.py has several kinds at once, and kinds of
news, on made-up pages.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime

import numpy as np

from tests.data_sets import files_of, rows_of
from tests.replay import FAMILIES, RealPage, is_churn, real_pages
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.detection.job.contract import Body, Job, Noise, Wanted
from tidings.detection.job.examiner import compare_bodies, examine
from tidings.detection.noise.memory import Memory
from tidings.detection.noise.polls import NumberedPoll, calm
from tidings.model.interval import Instant
from tidings.model.observed.change import ChangeSet
from tidings.model.watch.interest import Interest

ANY = Interest("any")
URL = "http://page.example/"
MANY = 0.2
"""A series of which more of the whole text's false alarms are reported is listed."""
MOST_BYTES = 60_000
SEPARATORS = (b"</p>", b"</li>", b"</div>", b"</h2>", b"\n\n")
Rng = np.random.Generator
Plant = Callable[[Rng, Instant], str]


# -- noise -------------------------------------------------------------------------------------------------------------------------

WORDS = """offer summer ticket garden market winter travel coffee harbour museum engine silver window planet bridge forest
letter camera pocket island breeze violet copper meadow anchor candle rocket velvet timber saddle""".split()


def _sentence(rng: Rng, least: int, most: int) -> str:
    return " ".join(rng.choice(WORDS, int(rng.integers(least, most))))


def _pool(seed: int, size: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [
        f"<b>{_sentence(rng, 3, 6)}</b> {_sentence(rng, 8, 25)} from ${int(rng.integers(5, 900))}" for _ in range(size)
    ]


ADS, TEASERS = _pool(11, 60), _pool(12, 5)


def _ago(rng: Rng, at: Instant) -> str:
    number = int(rng.integers(1, 59))
    return f"Updated {rng.choice([f'{number} minutes ago', f'{number % 23 + 1} hours ago', 'yesterday', 'just now'])}"


def _ago_elsewhere(rng: Rng, at: Instant) -> str:
    number = int(rng.integers(2, 23))
    return str(rng.choice([f"vor {number} Stunden", f"vor {number} Minuten"]))


def _clock(rng: Rng, at: Instant) -> str:
    now = datetime.fromtimestamp(at / SECOND, UTC)
    return f"It is {now:%A, %d %B %Y, %H:%M:%S}"


def _counter(rng: Rng, at: Instant) -> str:
    return f"{at // MINUTE % 900_000 + int(rng.integers(0, 9)):,} views | {int(rng.integers(2, 400))} users online"


def _took(rng: Rng, at: Instant) -> str:
    return f"Page generated in 0.{int(rng.integers(100, 999))} seconds by node-{int(rng.integers(1, 12))}"


def _token(rng: Rng, length: int = 16) -> str:
    return "".join(rng.choice([*"abcdef0123456789"], length))


def _bare_number(rng: Rng, at: Instant) -> str:
    return f"Reference {_token(rng, 10)}"


def _session(rng: Rng, at: Instant) -> str:
    return f'<a href="/help?sid={_token(rng)}">Help</a><a href="/search;jsessionid={_token(rng)}?q=1">Search</a><img src="/p.gif?cb={_token(rng)}">'


def _path(rng: Rng, at: Instant) -> str:
    token = f"{_token(rng, 6)}4x9k2{_token(rng, 6)}"
    return f'<a href="/go/{token}/deal">Deal</a><img src="https://cdn.example/i/{token}/a.png">'


def _ad(rng: Rng, at: Instant) -> str:
    number = int(rng.integers(0, len(ADS)))
    return f'<a href="https://ads.example/click/{number}">{ADS[number]}</a>'


def _teaser(rng: Rng, at: Instant) -> str:
    return TEASERS[int(rng.integers(0, len(TEASERS)))]


def _variant(rng: Rng, at: Instant) -> str:
    return str(rng.choice(["Start your free trial today", "Try it now for nothing, cancel at any time"]))


def _banner(rng: Rng, at: Instant) -> str:
    shown = rng.random() < 0.4
    return "We use cookies to make this site better. Accept all or choose which" if shown else ""


def _reorder(rng: Rng, at: Instant) -> str:
    items = ["red boots", "green scarf", "wool hat", "rain coat", "straw bag", "silk tie"]
    return "<ul>" + "".join(f"<li>{item}</li>" for item in rng.permutation(items)) + "</ul>"


def _blank(rng: Rng, at: Instant) -> str:
    order = rng.permutation(['class="a"', f'id="x{int(rng.integers(0, 99))}"', f'data-n="{_token(rng)}"'])
    return f"<p {' '.join(order)}>{' ' * int(rng.integers(1, 9))}Terms{chr(10) * int(rng.integers(1, 4))}apply</p>"


KINDS: Mapping[str, Plant] = {
    "relative times": _ago,
    "relative times, German": _ago_elsewhere,
    "clock and date": _clock,
    "counters": _counter,
    "time taken, node": _took,
    "nonce in the text": _bare_number,
    "session, cache buster": _session,
    "token in a path": _path,
    "advertisements": _ad,
    "rotating teasers": _teaser,
    "A/B variant": _variant,
    "consent banner": _banner,
    "order of a list": _reorder,
    "white space, attributes": _blank,
}


# -- what is replayed --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Page:
    """A real page whose successive versions differ in words, links or images; `split` are its
    versions at the planted place.
    """

    name: str
    versions: tuple[bytes, ...]
    split: tuple[tuple[bytes, bytes], ...]


def pages(most: int, rng: Rng) -> Iterator[Page]:
    """Yield HTML pages of the set in an order of chance."""
    files = dict(files_of("page_versions/terms-html.tar.zst"))
    found: dict[str, list[bytes]] = defaultdict(list)
    for row in rows_of("page_versions/index.csv.gz"):
        if row["family"] == "terms-html":
            found[row["page"]].append(files.get(row["file"]) or files[row["file"].partition("/")[2]])
    names = sorted(found)
    made = 0
    for name in (names[number] for number in rng.permutation(len(names))):
        bodies = [body for body in found[name] if len(body) <= MOST_BYTES]
        kept = bodies[:1]
        for body in bodies[1:]:
            if not _is_same(kept[-1], body):
                kept.append(body)
        if len(kept) < 3 or _is_same(kept[-1], kept[0]) or (split := _split(kept, rng)) is None:
            continue
        yield Page(name, tuple(kept), split)
        made += 1
        if made == most:
            return


def _is_same(old: bytes, new: bytes) -> bool:
    change, problem = compare_bodies(_body(old), _body(new), ANY)
    return not change or bool(problem)


def _split(versions: Sequence[bytes], rng: Rng) -> tuple[tuple[bytes, bytes], ...] | None:
    """Return the versions cut at a place that the same 60 bytes before it name alone in each; None
    if they have none.
    """
    first = versions[0]
    ends = [at + len(mark) for mark in SEPARATORS[:4] for at in _all(first, mark) if at > first.find(b"<body")]
    for end in (ends[number] for number in rng.permutation(len(ends))[:200]):
        anchor = first[end - 60 : end]
        if all(version.count(anchor) == 1 for version in versions):
            split = tuple((v[: (at := v.index(anchor) + 60)], v[at:]) for v in versions)
            if all(_is_seen(head, tail) for head, tail in split):
                return split
    return None


def _is_seen(head: bytes, tail: bytes) -> bool:
    """Return whether what stands at a place is text that people see."""
    change, _ = compare_bodies(_body(head + tail), _body(head + b"<div>Plantedhere</div>" + tail), ANY)
    return "Plantedhere" in " ".join(change.inserted)


def _all(data: bytes, mark: bytes) -> Iterator[int]:
    at = data.find(mark)
    while at >= 0:
        yield at
        at = data.find(mark, at + 1)


def timelines(polls: int, rng: Rng) -> Iterator[list[tuple[Instant, bool]]]:
    """Yield (when, whether the text changed) of so many raw changes in a row of one real page after
    another, for ever.
    """
    found: dict[str, list[tuple[Instant, bool]]] = defaultdict(list)
    for row in rows_of("change_traces/text_change_times.csv.gz"):
        found[row["page_id"]].append((int(row["unix_time"]) * SECOND, row["visible_text_changed"] == "1"))
    series = [sorted(times) for times in found.values() if len(times) > polls]
    while True:
        for number in rng.permutation(len(series)):
            start = int(rng.integers(0, len(series[number]) - polls))
            yield series[number][start : start + polls]


# -- a watch -----------------------------------------------------------------------------------------------------------------------


class Watch:
    """One subscription to any change of one page, as the service keeps it: a base, the newest
    version, what is known of its noise.
    """

    def __init__(self) -> None:
        self.memory = Memory()
        self.bodies: dict[int, Body] = {}
        self.times: dict[int, Instant] = {}
        self.digests: dict[int, object] = {}
        self.base = self.newest = self.polls = 0
        self.seconds = 0
        self.digest: object = None
        """of all words and all addresses as they are written: what whole-text comparison reports
        of"""

    def poll(
        self, body: Body, at: Instant, *, is_second: bool = False, takes: bool = True
    ) -> tuple[ChangeSet, bool, bool]:
        """Return (what was found, whether it is quiet, whether a second poll is wanted). `takes`:
        it is compared with the base, which it becomes.
        """
        self.polls += 1
        references = {self.base, self.newest} - {0}
        wanted = (Wanted(key=1, reference=self.base, expression=ANY),) if takes and self.base else ()
        noise = Noise(
            memory=self.memory,
            at=at,
            times={seq: self.times[seq] for seq in references},
            learns=True,
            polls=self.polls,
            is_second=is_second,
        )
        seen = examine(
            Job(
                new=body,
                references={seq: self.bodies[seq] for seq in references},
                known={seq: self.digests[seq] for seq in references},
                wanted=wanted,
                text_digest=self.digests[self.newest].text if self.newest else "",
                noise=noise,
            )
        )
        seq = self.newest + 1
        self._before = self.base, self.bodies.get(self.base)
        self.bodies = {seq: body, **({} if takes else {self.base: self.bodies[self.base]})}
        self.times = {**self.times, seq: at}
        self.digests = {**self.digests, seq: seen.digest}
        self.digest = (seen.digest.text, seen.digest.objects)
        self.newest = seq
        if takes:
            self.base = seq
        self.seconds += is_second
        if seen.memory is not None:
            self.memory = seen.memory
        found = seen.found[0] if seen.found else None
        return (found.change, found.quiet, seen.second_poll) if found else (ChangeSet(), False, seen.second_poll)

    def wait(self) -> None:
        """Undo the last poll: what it found waits for a second one."""
        self.base, body = self._before
        self.bodies[self.base] = body

    def rest(self, at: Instant) -> None:
        """Poll a page a second time that has not changed."""
        self.polls += 1
        self.seconds += 1
        self.memory = calm(self.memory, NumberedPoll(self.polls, at, is_second=True))


@dataclass(slots=True)
class Tally:
    """Counts of one kind of noise over all its series."""

    polls: int = 0
    days: float = 0.0
    true: int = 0
    caught: int = 0
    words: int = 0
    words_caught: int = 0
    false: int = 0
    false_whole: int = 0
    seconds: int = 0
    late: int = 0
    missed: list[str] = field(default_factory=list)
    unlearned: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add the counts of another kind; what is listed of it stays its own."""
        for name in (one.name for one in fields(self) if one.name not in {"missed", "unlearned"}):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def _body(data: bytes) -> Body:
    return Body(data=data, content_type="text/html; charset=utf-8", url=URL)


def _texts(change: ChangeSet) -> list[str]:
    return " ".join(
        (*change.inserted, *change.deleted, *change.moved, *(text for both in change.updated for text in both))
    ).split()


FIRST_POLLS = 5


def replay(page: Page, times: Sequence[tuple[Instant, bool]], plant: Plant, rng: Rng, tally: Tally) -> None:
    """Show a page at these times with noise in it and count what is reported."""
    watch = Watch()
    number = 0
    false, whole = tally.false, tally.false_whole
    shown, digest = False, None

    def fetch(at: Instant) -> Body:
        head, tail = page.split[number]
        return _body(head + b"<div>" + plant(rng, at).encode() + b"</div>" + tail)

    for place, (at, advances) in enumerate(times):
        before = number
        number = (number + advances) % len(page.versions)
        body = fetch(at)
        suspects = watch.memory.suspects
        change, quiet, second = watch.poll(body, at)
        second = second and place + 1 < len(times)
        reported, reported_words = bool(change) and not quiet, set(_texts(change))
        now = watch.digest
        if second:
            waits = reported and (0 < place <= FIRST_POLLS or suspects)
            if waits:
                watch.wait()
            change, quiet, _ = watch.poll(fetch(at + MINUTE), at + MINUTE, is_second=True, takes=waits)
            if waits:
                reported, reported_words = bool(change) and not quiet, set(_texts(change))
        if shown:
            tally.polls += 1
            differs = now != digest
            if advances:
                meant, _ = compare_bodies(_body(page.versions[before]), _body(page.versions[number]), ANY)
                tally.true += 1
                tally.caught += reported
                wanted, got = _texts(meant), reported_words if reported else set()
                tally.words += len(wanted)
                tally.words_caught += sum(word in got for word in wanted)
                if not reported or (wanted and not set(wanted) & got):
                    tally.missed.append(f"missed: {page.name} poll {place}: {' '.join(wanted)[:150]}")
            else:
                tally.false += reported
                tally.late += reported and place > len(times) // 4
                tally.false_whole += differs
        shown, digest = True, now
    if tally.false - false > MANY * (tally.false_whole - whole):
        tally.unlearned.append(f"{page.name}: {tally.false - false} of {tally.false_whole - whole} reported")
    tally.days += (times[-1][0] - times[0][0]) / DAY
    tally.seconds += watch.seconds


# -- real pairs, nothing planted ---------------------------------------------------------------------------------------------------


def real(families: Sequence[str], *, shows: bool) -> None:
    """Show every version of every real page an hour after the one before and print what is reported of
    pairs that the index calls text or markup-only.
    """
    print(
        f"{'family':<15}{'text':>6}{'reported':>10}{'quiet':>7}{'nothing':>9}{'markup':>8}{'reported':>10}{'quiet':>7}{'URLs alone':>12}{'masks':>7}"
    )
    whole: Counter[tuple[str, str]] = Counter()
    for family in families:
        counts: Counter[tuple[str, str]] = Counter()
        quiet: list[str] = []
        for page in real_pages([family]):
            _real_page(page, counts, quiet)
        whole += counts
        print(_real_line(family, counts), flush=True)
        for line in quiet if shows else ():
            print(f"    {line}")
    print(_real_line("all", whole))


def _real_page(page: RealPage, counts: Counter[tuple[str, str]], quiet: list[str]) -> None:
    watch = Watch()
    for number, version in enumerate(page.versions):
        at = HOUR * (number + 1)
        body = Body(data=version.body, content_type=version.content_type, url=URL)
        change, is_quiet, second = watch.poll(body, at)
        if second:
            watch.rest(at + MINUTE)
        if not version.label:
            continue
        counts[version.label, "pairs"] += 1
        counts[version.label, "quiet" if change and is_quiet else "reported" if change else "nothing"] += 1
        counts[version.label, "urls"] += bool(change) and not is_quiet and is_churn(change)
        if change and is_quiet:
            quiet.append(f"{family_name(page)} version {number}, {version.label}: {change.masked[:4]}")
    counts["text", "masks"] += len(watch.memory.masks)


def family_name(page: RealPage) -> str:
    """Return how a page is called in the set."""
    return f"{page.family}/{page.name}"


def _real_line(name: str, c: Counter[tuple[str, str]]) -> str:
    t, m = "text", "markup-only"
    return (
        f"{name:<15}{c[t, 'pairs']:>6}{c[t, 'reported']:>10}{c[t, 'quiet']:>7}{c[t, 'nothing']:>9}{c[m, 'pairs']:>8}{c[m, 'reported']:>10}{c[m, 'quiet']:>7}"
        f"{c[m, 'urls']:>12}{c[t, 'masks']:>7}"
    )


def times() -> None:
    """Print how often hashing bytes would alarm for nothing where the visible text stayed, in 1,000
    days of a page.
    """
    found: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for row in rows_of("change_traces/text_change_times.csv.gz"):
        found[row["page_id"]].append((int(row["unix_time"]), row["visible_text_changed"] == "1"))
    days = sum((max(at for at, _ in one) - min(at for at, _ in one)) / 86_400 for one in found.values())
    raw, text = sum(map(len, found.values())), sum(changed for one in found.values() for _, changed in one)
    print(
        f"{len(found)} pages, {days:,.0f} page-days, {raw:,} changes of bytes, {text:,} of the visible text: by bytes {1000 * (raw - text) / days:,.0f}"
    )
    print("false alarms in 1,000 page-days, by the visible text none of these")


def _line(name: str, t: Tally) -> str:
    down = 1 - t.false / t.false_whole if t.false_whole else 1.0
    return (
        f"{name:<26}{t.polls:>7}{t.true:>6}{t.caught / max(1, t.true):>9.4f}{t.words_caught / max(1, t.words):>9.4f}{t.false_whole:>9}{t.false:>7}"
        f"{down:>8.1%}{t.late:>6}{1000 * t.false / t.days:>10.1f}{t.seconds / max(1, t.polls):>9.1%}"
    )


def main() -> int:
    """Print a line a kind and one for all; return 1 if a bar is missed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("kinds", nargs="*", default=[*KINDS], metavar="KIND")
    options.add_argument("--pages", type=int, default=40)
    options.add_argument("--polls", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument(
        "--show",
        action="store_true",
        help="list the changes that were missed and the series whose noise was not learned",
    )
    options.add_argument(
        "--real", action="store_true", help="real pairs instead, with nothing planted; KINDs are families"
    )
    chosen = options.parse_args()
    if chosen.real:
        real(FAMILIES if chosen.kinds == [*KINDS] else chosen.kinds, shows=chosen.show)
        times()
        return 0
    begun = time.process_time()
    shown = list(pages(chosen.pages, np.random.default_rng(chosen.seed)))
    print(f"{len(shown)} pages, {chosen.polls} polls each, seed {chosen.seed}")
    print(
        f"{'planted':<26}{'polls':>7}{'true':>6}{'recall':>9}{'words':>9}{'whole':>9}{'false':>7}{'down':>8}{'late':>6}{'/1000 d':>10}{'second':>9}"
    )
    whole = Tally()
    for name in chosen.kinds:
        rng = np.random.default_rng([chosen.seed, [*KINDS].index(name)])
        lines = timelines(chosen.polls, rng)
        tally = Tally()
        for page in shown:
            replay(page, next(lines), KINDS[name], rng, tally)
        print(_line(name, tally), flush=True)
        whole.add(tally)
        for line in (*tally.missed, *tally.unlearned) if chosen.show else ():
            print(f"    {line}")
    print(_line("all", whole))
    print(f"{time.process_time() - begun:.0f} s of processor")
    good = whole.caught >= 0.99 * whole.true and whole.false <= 0.1 * whole.false_whole
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
