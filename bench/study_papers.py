"""Print the worked numbers of the study of scheduling from our code, beside the printed ones.

    PYTHONPATH=. .venv/bin/python bench/study_papers.py [--seeds 8]

They are those of scheduling §1.3, §1.5, §6 and figures 7 to 9 of 000. The auction trace of 000 §5
is lost. As in the study a synthetic one replaces it, of 7,550 pages and 1,440 minutes. The study
says of it: numbers of bids negative binomial (mean 3), 30 % of the pages with a burst at their end,
a wave of the day. Dispersion (.5) and burst (four bids of five, exponential, 20 minutes before the
end) were found by hand on what r = 0 and r = 1 capture at C = 8. The other lines are a check.
Estimates are spread by σ = 2 minutes, and a tenth of the changes are at other times (FPN). Means of
the seeds ± half of their 95 % intervals.
"""

from __future__ import annotations

import argparse

import numpy as np
from bench.intervals import interval
from scipy.stats import norm

from tidings.lab import wic as law
from tidings.lab.refresh import allot_observations, azar, cam, first_come, harmonic, lambda_crawl
from tidings.lab.wic import WicPage, best, top, utility, wic
from tidings.scheduling.population import Floats, Ids

PAGES, MINUTES = 7_550, 1_440
BIDS, DISPERSION = 3.0, 0.5
BURST, BURST_MINUTES = 0.8, 20
SPREAD, MISPLACED = 2.0, 0.1
REACH = 10
"""Minutes to which a spread reaches: five deviations."""


def example() -> None:
    """Print scheduling §1.3: gains, schedules and optima of three pages over six instants."""
    chances = (
        np.full(6, 0.5),
        np.array([0.9, 0, 0, 0.9, 0, 0]),
        np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
    )
    worths = {
        "uniform": law.uniform(),
        "r=.5": law.exponential(0.5),
        "r=.9": law.exponential(0.9),
        "SW(0)": law.sliding_window(0),
        "SW(1)": law.sliding_window(1),
    }
    kept = {
        "unbounded": (law.forever(), ".9 .6 .832 .4 .7", "1.5 .875 1.355 .5 1.0"),
        "TW(1)": (law.time_window(1), "", "1.0 .75 .95 .5 1.0"),
        "CW(2)": (law.change_window(2), ".876 .594 .81256 .4 .7", "1.375 .84375 1.25375 .5 1.0"),
        "overwrite": (law.overwrite(), ".664 .511 .63004 .4 .58", ".875 .65625 .82625 .5 .75"),
    }
    print("scheduling §1.3: g of pages 1 and 3 from 1 to 4 by urgency " + ", ".join(worths))
    for name, (life, third, first) in kept.items():
        for page, printed in ((0, first), (2, third)):
            ours = [utility(chances[page], life, worth, 1, 4) for worth in worths.values()]
            print(f"  {name:10} page {page + 1}  " + " ".join(f"{g:.6g}" for g in ours) + f"   study {printed or '–'}")
    print("scheduling §1.3: WIC (which pages are polled) and the optimum")
    for kind, worth, printed in (
        ("unbounded", "uniform", "5.9 (2,1,3,1,2,3) 6.4"),
        ("unbounded", "r=.5", "4.73125 (2,1,1,2,3,1) 4.803125"),
        ("unbounded", "r=.9", "5.171 (2,1,3,1,3,1) 6.04"),
        ("unbounded", "SW(0)", "3.9 (2,1,1,2,1,3) 3.9"),
        ("CW(2)", "uniform", "5.774 6.155"),
        ("overwrite", "uniform", "4.7738 (2,1,1,2,3,1) 4.801"),
        ("overwrite", "r=.5", "4.21005 4.27576"),
    ):
        pages = [WicPage(page, kept[kind][0], worths[worth]) for page in chances]
        found = wic(pages, top(1))
        polls = ",".join(str(polled[0] + 1) for polled in found.polls)
        print(f"  {kind:10} {worth:8} {found.utility:.6g} ({polls}) {best(pages, 1).utility:.6g}   study {printed}")
    print("scheduling §1.3, tight: WIC and the optimum where the bound 1 + a is reached")
    for name, printed in (("uniform", "1 2"), ("r=.9", "1 1.9"), ("r=.5", "1 1.5"), ("SW(0)", "1 1")):
        once = np.array([1.0, 0.0])
        pages = [WicPage(once, law.forever(), worths[name]), WicPage(once, law.time_window(0), worths[name])]
        print(f"  {name:8} {wic(pages, top(1)).utility:g} {best(pages, 1).utility:g}   study {printed}")


def rates() -> None:
    """Print the tests line of scheduling §6."""
    changes = np.array([0.1, 1.0, 5.0])
    fresh, crawl = azar(changes, 3.0), lambda_crawl(changes, 3.0)
    share = fresh.rates / (fresh.rates + changes)
    penalty = -np.log(crawl.rates / (crawl.rates + changes)).mean()
    exact = np.abs(harmonic(changes, np.ones(3), crawl.price) - crawl.rates).max()
    print("\nscheduling §6: λ = (.1, 1, 5), μ = 1, R = 3")
    print(f"  Azar ρ {_row(fresh.rates)}, objective {share.sum():.6f}; price {fresh.price:.6f}")
    print("  study  .710088 1.561724 0.728188, objective 1.613318; λ .152383")
    print(f"  LambdaCrawl ρ {_row(crawl.rates)}, J {penalty:.6f}; price {crawl.price:.6f} (optimal to {exact:.0e})")
    print("  study  .407174 1.021538 1.571288, J .777659; λ .484243")
    allotted = allot_observations(np.array([1.0, 2.0, 4.0]), 3.0, np.array([1.0, 3.0, 1.0]))
    print(f"  complete observation p {_row(allotted)}; study .6 .9 .15")


def _row(values: Floats) -> str:
    return " ".join(f"{value:.6f}" for value in values)


def auctions(rng: np.random.Generator) -> tuple[np.ndarray, Floats]:
    """Return which pages change at which minutes, shape (minutes, pages), and the chances that are estimated of it."""
    instants = np.arange(MINUTES)
    wave = 1 + 0.8 * np.sin(2 * np.pi * (instants / MINUTES - 0.4))
    changes = np.zeros((MINUTES, PAGES), dtype=np.bool_)
    counts = rng.negative_binomial(DISPERSION, DISPERSION / (DISPERSION + BIDS), PAGES)
    ends = np.where(rng.random(PAGES) < 0.3, rng.integers(60, MINUTES, PAGES), -1)
    for page in np.flatnonzero(counts).tolist():
        number, end = int(counts[page]), int(ends[page])
        last = MINUTES if end < 0 else end
        at = rng.choice(instants[:last], number, p=wave[:last] / wave[:last].sum())
        if end >= 0:
            late = rng.random(number) < BURST
            at = np.where(late, np.maximum(end - rng.exponential(BURST_MINUTES, number).astype(np.int64), 0), at)
        changes[at, page] = True
    return changes, estimates(changes, rng)


def estimates(changes: np.ndarray, rng: np.random.Generator) -> Floats:
    """Return the chances of 000 §5: some changes put elsewhere, then each spread over its neighbourhood."""
    at, page = np.nonzero(changes)
    at = np.where(rng.random(len(at)) < MISPLACED, rng.integers(0, MINUTES, len(at)), at)
    chances = np.zeros(changes.shape, dtype=np.float32)
    for offset in range(-REACH, REACH + 1):
        there = (at + offset >= 0) & (at + offset < MINUTES)
        weight = norm.cdf(offset + 0.5, scale=SPREAD) - norm.cdf(offset - 0.5, scale=SPREAD)
        np.add.at(chances, (at[there] + offset, page[there]), weight)
    return np.minimum(chances, 1.0)


def schedule(chances: Floats, ratio: float, capacity: int) -> list[Ids]:
    """Return WIC's polls for what is appended, urgency r^t; where ratio is 0 also for what is overwritten."""
    gains = np.zeros(PAGES, dtype=np.float32)
    polls = []
    for chance in chances:
        gains = gains * np.float32(ratio) + chance
        chosen = np.argpartition(-gains, capacity)[:capacity]
        gains[chosen] = 0.0
        polls.append(chosen)
    return polls


def delays(changes: np.ndarray, polls: list[Ids], *, overwrites: bool = False) -> np.ndarray:
    """Return the delay (minutes) of each change that polls captured; what is overwritten before a poll is lost."""
    waiting: dict[int, list[int]] = {}
    found: list[int] = []
    for now, (changed, polled) in enumerate(zip(changes, polls, strict=True)):
        for page in np.flatnonzero(changed).tolist():
            if overwrites:
                waiting[page] = [now]
            else:
                waiting.setdefault(page, []).append(now)
        for page in np.asarray(polled).tolist():
            found += [now - at for at in waiting.pop(page, ())]
    return np.array(found, dtype=np.int64)


def count_found_at_once(changes: np.ndarray, polls: list[Ids]) -> int:
    """Return how many changes are found in their minute, where changes overwrite."""
    return int((delays(changes, polls, overwrites=True) == 0).sum())


def punctual(tasks: list[tuple[int, int]], capacity: int) -> list[Ids]:
    """Return which pages are polled if tasks that are not served in their minute are dropped."""
    polls: list[list[int]] = [[] for _ in range(MINUTES)]
    for now, page in tasks:
        if len(polls[now]) < capacity:
            polls[now].append(page)
    return [np.array(polled, dtype=np.int64) for polled in polls]


def noise(seeds: int) -> None:
    """Print scheduling §1.5, CAM beside WIC, and the figures 7 to 9 of WIC."""
    found: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    for seed in range(seeds):
        changes, chances = auctions(np.random.default_rng(seed))
        total = int(changes.sum())
        ties = 1 + 1e-6 * np.random.default_rng(seed).random(PAGES)
        note("changes", total)
        for capacity in (4, 8, 12, 16):
            tasks = cam(chances.T, ties, capacity * MINUTES)
            line = [np.array(polled, dtype=np.int64) for polled in first_come(tasks, capacity, MINUTES)]
            at_once = count_found_at_once(changes, schedule(chances, 0.0, capacity))
            note(f"WIC/CAM C={capacity}", at_once / count_found_at_once(changes, line))
            note(
                f"WIC/CAM that drops what is late C={capacity}",
                at_once / count_found_at_once(changes, punctual(tasks, capacity)),
            )
        for capacity in (4, 8, 12):
            slow, quick = (len(delays(changes, schedule(chances, ratio, capacity))) for ratio in (1.0, 0.0))
            note(f"captured r=1 over r=0 C={capacity}", slow / quick - 1)
        for ratio in (0.0, 0.25, 0.5, 0.75, 0.9, 0.98, 1.0):
            late = delays(changes, schedule(chances, ratio, 8))
            note(f"captured r={ratio} C=8", len(late) / total)
            note(f"at once, of all r={ratio} C=8", (late == 0).sum() / total)
            if ratio in (0.0, 1.0):
                note(f"at once, of captured r={ratio} C=8", (late == 0).mean())
                note(f"10 minutes and more, of captured r={ratio} C=8", (late >= 10).mean())
            if ratio in (0.0, 0.5):
                note(f"r=.5 value of the schedule of r={ratio} C=8", float((0.5**late).sum()) / total)
    printed = {
        "changes": "22,500",
        "WIC/CAM C=4": "3.2",
        "WIC/CAM C=8": "2.7",
        "WIC/CAM C=12": "2.6",
        "WIC/CAM C=16": "2.4",
        "captured r=1 over r=0 C=4": "1.12",
        "captured r=1 over r=0 C=8": ".51",
        "captured r=1 over r=0 C=12": ".25",
        "captured r=0.0 C=8": ".51",
        "captured r=1.0 C=8": ".77",
        "at once, of all r=0.0 C=8": ".28",
        "at once, of all r=1.0 C=8": ".06",
        "at once, of captured r=0.0 C=8": ".54",
        "at once, of captured r=1.0 C=8": ".08",
        "10 minutes and more, of captured r=1.0 C=8": ".62",
        "r=.5 value of the schedule of r=0.5 C=8": ".260",
        "r=.5 value of the schedule of r=0.0 C=8": ".276",
    }
    print(f"\nscheduling §1.5, §6 (CAM), figures 7 to 9: {seeds} seeds")
    for name, values in found.items():
        print(f"  {name:46} {interval(values)}   study {printed.get(name, '–')}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    given = parser.parse_args()
    example()
    rates()
    noise(given.seeds)


if __name__ == "__main__":
    main()
