"""Figures 2 to 5 of paper 002 (user-centric crawling) on real documents that change.

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR .venv/bin/python bench/user_centric.py
        [--queries 300] [--pages one|many] [--figure 2 3 4 5]

The documents are `evolving_collection` in the 48 weeks in which most of them change; the queries
are `queries_matching`: real ones, which were not issued against these documents. *One site* stands
for the paper's boston.com (BDS): all pages of the largest source that are there in all weeks; *many
sites* for its topic of the Open Directory (MDS): the pages of the other sources that change at
least once. Queries are those above the knee of 002 §5.2, of which a sample is drawn by frequency
(seed 1). Inlink counts do not exist here; a Pareto number drawn for each page (seed 2) stands for
them. Every policy reads its parameters from all 48 weeks, as in the paper (002 §6.2).
"""

from __future__ import annotations

import argparse
import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from bench.search import entries, overhead, queries, read_pages
from numpy.typing import NDArray
from scipy.stats import spearmanr

from tests.data_sets import files_of, rows_of
from tidings.clock import DAY
from tidings.lab.refresh import ideal_instants, staleness, transport
from tidings.scheduling.price.value import SLOWEST, Values
from tidings.search import ranking
from tidings.search.query import line_of_terms, parse
from tidings.search.ranking import RankCurve, curve_of, is_as_long, knee, single_terms, value_of_refresh

WEEKS, HALF = 48, 24
WEEK_SECONDS = 7 * 86_400
EXPONENT = 1.5
ONE_SITE = "simonw/help-scraper"
SHINGLE = 8
"""Words of a shingle."""
THRESHOLDS = (0.1, 0.3, 0.5, 0.8)
SHARES = (0.005, 0.01, 0.02, 0.04, 0.08)
"""Budgets: pages refreshed a week, as a share of all."""
RESAMPLES = 400

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Update:
    """A page's text changed: in week `at`, after `since` weeks, from one text to another."""

    page: int
    at: int
    since: int
    old: int
    new: int
    difference: float
    """the share of shingles that differ"""


@dataclass(frozen=True)
class Pages:
    """A set of pages over 48 weeks: the text of each page in each week, as numbers of texts."""

    name: str
    paths: list[str]
    live: Ints
    """pages × weeks: the number of the text"""
    counts: list[dict[str, int]]
    """the terms of each text that queries have"""
    lengths: Floats
    updates: list[Update]
    queries: list[tuple[tuple[str, ...], float]]

    @property
    def local(self) -> Ints:
        """Return `live` with the number of each text within its page."""
        return self.live - self.live[:, :1]


# -- the data ------------------------------------------------------------------------------------


def _pick_weekly(rows: list[dict[str, str]], start: int) -> dict[str, list[dict[str, str]]]:
    """Return the version of each page in each week; only pages that were there at the start."""
    by_page: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        by_page[row["doc"]].append(row)
    found = {}
    for page, versions in by_page.items():
        versions.sort(key=lambda row: int(row["unix_time"]))
        at = np.array([int(row["unix_time"]) for row in versions])
        places = np.searchsorted(at, start + WEEK_SECONDS * np.arange(WEEKS), side="right") - 1
        if places[0] >= 0:
            found[page] = [versions[place] for place in places]
    return found


def _find_busiest_weeks(rows: list[dict[str, str]]) -> int:
    """Return the start of the 48 weeks in which most pages change, of those that are there."""
    times = sorted(int(row["unix_time"]) for row in rows)
    firsts: dict[str, int] = {}
    for row in rows:
        firsts[row["doc"]] = min(firsts.get(row["doc"], 1 << 60), int(row["unix_time"]))
    best, most = times[0], -1
    for start in range(times[0], times[-1] - WEEKS * WEEK_SECONDS, 2 * WEEK_SECONDS):
        end = start + WEEKS * WEEK_SECONDS
        many = len({row["doc"] for row in rows if firsts[row["doc"]] <= start < int(row["unix_time"]) < end})
        if many > most:
            best, most = start, many
    return best


def _list_shingles(words: list[str]) -> set[int]:
    return {hash(tuple(words[at : at + SHINGLE])) for at in range(max(1, len(words) - SHINGLE + 1))}


def collect(*, is_one: bool, most: int) -> Pages:
    """Return one site or many, with a workload of `most` queries."""
    rows = [row for row in rows_of("evolving_collection/versions.csv.gz") if (row["source_repo"] == ONE_SITE) is is_one]
    files = dict(files_of("evolving_collection/docs.tar.zst"))
    weekly = _pick_weekly(rows, _find_busiest_weeks(rows))
    asked = [
        (parse(row["query"]).terms, float(row["frequency"]))
        for row in rows_of("evolving_collection/queries_matching.csv.gz")
    ]
    vocabulary = {term for terms, _ in asked for term in terms}
    paths, live, counts, lengths, updates = [], [], [], [], []
    for _, versions in sorted(weekly.items()):
        first, content = len(counts), None
        numbers: list[int] = []
        shingles: list[set[int]] = []
        for row in versions:
            if (said := files[row["file"]].decode("utf-8", "replace")) != content:
                content = said
                words = line_of_terms(content).split()
                counted = Counter(words)
                counts.append({term: counted[term] for term in counted.keys() & vocabulary})
                lengths.append(float(len(words)))
                shingles.append(_list_shingles(words))
            numbers.append(len(counts) - 1)
        if not is_one and len(shingles) == 1:
            del counts[-1], lengths[-1]
            continue
        changed = [week for week in range(1, WEEKS) if numbers[week] != numbers[week - 1]]
        for last, week in pairwise([0, *changed]):
            old, new = numbers[week - 1], numbers[week]
            before, after = shingles[old - first], shingles[new - first]
            difference = len(before ^ after) / len(before | after)
            updates.append(Update(len(paths), week, week - last, old, new, difference))
        paths.append(versions[0]["path"])
        live.append(numbers)
    pages = Pages("one site" if is_one else "many sites", paths, np.array(live), counts, np.array(lengths), updates, [])
    return replace(pages, queries=_draw_queries(pages, asked, most))


def _weigh_terms(pages: Pages) -> dict[str, float]:
    """Return Lucene's weight of each term, from the first week."""
    having: Counter[str] = Counter()
    for text in pages.live[:, 0].tolist():
        having.update(pages.counts[text].keys())
    many = len(pages.paths)
    terms = {term for counted in pages.counts for term in counted}
    return {term: 1 + math.log(many / (having[term] + 1)) for term in terms}


def _draw_queries(
    pages: Pages, asked: list[tuple[tuple[str, ...], float]], most: int
) -> list[tuple[tuple[str, ...], float]]:
    """Return the queries above the knee, of which so many are drawn by frequency."""
    scores, idf = Postings(pages), _weigh_terms(pages)
    first = np.unique(pages.live[:, 0])
    sums = []
    for terms, _ in asked:
        texts, values = scores.match(terms, idf)
        sums.append(float(values[np.isin(texts, first)].sum()))
    least = knee(sums)
    kept = [one for one, total in zip(asked, sums, strict=True) if total > 0 and total >= least]
    draw = random.Random(1)
    return sorted(kept, key=lambda one: -math.log(draw.random()) / one[1])[:most]


class Postings:
    """The texts of each term, with counts."""

    def __init__(self, pages: Pages) -> None:
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for text, counted in enumerate(pages.counts):
            for term, count in counted.items():
                found[term].append((text, count))
        self._of = {term: np.array(one, dtype=np.int64).T for term, one in found.items()}
        self._norm = 1 / np.sqrt(np.maximum(pages.lengths, 1))

    def match(self, terms: tuple[str, ...], idf: Mapping[str, float]) -> tuple[Ints, Floats]:
        """Return the texts that have all terms, and their TF-IDF scores as in Lucene."""
        if not terms or any(term not in self._of for term in terms):
            return np.zeros(0, np.int64), np.zeros(0)
        texts = self._of[terms[0]][0]
        for term in terms[1:]:
            texts = np.intersect1d(texts, self._of[term][0], assume_unique=True)
        scores = np.zeros(len(texts))
        for term in terms:
            own, count = self._of[term]
            scores += np.sqrt(count[np.searchsorted(own, texts)]) * idf[term] ** 2
        query = math.sqrt(sum(idf[term] ** 2 for term in terms))
        return texts, scores * self._norm[texts] / query


# -- quality -------------------------------------------------------------------------------------


class Quality:
    """What searchers are shown by a repository (002, equation 5): exact, for each query."""

    def __init__(self, pages: Pages, inlinks: Floats | None) -> None:
        idf, postings = _weigh_terms(pages), Postings(pages)
        page_of, place_of = np.zeros((2, len(pages.counts)), np.int64)
        page_of[pages.live] = np.arange(len(pages.paths))[:, None]
        place_of[pages.live] = pages.local
        self.live = pages.local
        query_of, pair_of, table = [], [], []
        for number, (terms, _) in enumerate(pages.queries):
            texts, scores = postings.match(terms, idf)
            if inlinks is not None:
                scores = inlinks[page_of[texts]]
            own, inverse = np.unique(page_of[texts], return_inverse=True)
            rows = np.zeros((len(own), int(pages.local.max()) + 1))
            rows[inverse, place_of[texts]] = scores
            query_of.append(np.full(len(own), number))
            pair_of.append(own)
            table.append(rows)
        self.query = np.concatenate(query_of)
        self.page = np.concatenate(pair_of)
        self.table = np.concatenate(table)
        self.weight = np.array([frequency for _, frequency in pages.queries])
        self._rows = np.arange(len(self.query))
        starts = np.searchsorted(self.query, np.arange(len(pages.queries)))
        self._first = starts[self.query]
        self._most = self.table.max() * 1.001 + 1e-9
        self._views = np.arange(1, len(self.query) + 2, dtype=np.float64) ** -EXPONENT

    def _views_of(self, scores: Floats) -> Floats:
        order = np.argsort(self.query - scores / self._most * 0.999, kind="stable")
        views = np.zeros(len(order))
        views[order] = self._views[self._rows - self._first[order]]
        return np.where(scores > 0, views, 0.0)

    def of(self, repository: Ints, week: int) -> Floats:
        """Return the quality for each query; `repository` is the local text of each page."""
        stored = self.table[self._rows, repository[self.page]]
        shown = self.table[self._rows, self.live[self.page, week]]
        found = np.bincount(self.query, self._views_of(stored) * shown, minlength=len(self.weight))
        return np.asarray(found * self.weight)

    def views(self, week: int) -> Floats:
        """Return how often each page is seen in results."""
        seen = self._views_of(self.table[self._rows, self.live[self.page, week]]) * self.weight[self.query]
        return np.bincount(self.page, seen, minlength=len(self.live))

    def gain(self, update: Update, before: Ints, after: Ints) -> float:
        """Return the exact change of quality of one refresh, all other pages being fresh."""
        return float((self.of(after, update.at) - self.of(before, update.at)).sum())


# -- what a refresh is worth -----------------------------------------------------------------------


class Appraisal:
    """The value of refreshes as measured by the product (`search.ranking`)."""

    def __init__(self, pages: Pages, inlinks: Floats | None, *, exact: int = 256, pieces: int = ranking.PIECES) -> None:
        self._pages, self._inlinks, self._idf = pages, inlinks, _weigh_terms(pages)
        self._pieces = pieces
        parsed = [(parse(" ".join(terms)), frequency) for terms, frequency in pages.queries]
        self.frequencies = single_terms(parsed)
        self._curves = [self._make(week, exact) for week in (0, HALF)]

    def scores(self, page: int, text: int) -> dict[str, float]:
        """Return the score of a text for each single term of the workload."""
        counted = self._pages.counts[text]
        if self._inlinks is not None:
            return dict.fromkeys(counted.keys() & self.frequencies.keys(), float(self._inlinks[page]))
        norm = 1 / math.sqrt(max(self._pages.lengths[text], 1))
        return {
            term: math.sqrt(count) * self._idf[term] * norm
            for term, count in counted.items()
            if term in self.frequencies
        }

    def _make(self, week: int, exact: int) -> dict[str, RankCurve]:
        found: dict[str, list[float]] = defaultdict(list)
        for page, text in enumerate(self._pages.live[:, week].tolist()):
            for term, score in self.scores(page, text).items():
                found[term].append(score)
        return {term: curve_of(scores, EXPONENT, exact=exact, pieces=self._pieces) for term, scores in found.items()}

    def gain(self, update: Update) -> float:
        """Return ΔQ_A of a refresh."""
        old, new = self.scores(update.page, update.old), self.scores(update.page, update.new)
        lengths, counts = self._pages.lengths, self._pages.counts
        if is_as_long(lengths[update.old], lengths[update.new]):
            before, after = counts[update.old], counts[update.new]
            moved = {term for term in old.keys() | new.keys() if before.get(term) != after.get(term)}
            alike = math.sqrt(lengths[update.old] / lengths[update.new]) if self._inlinks is None else 1.0
            old = {term: score * alike for term, score in old.items() if term in moved}
            new = {term: score for term, score in new.items() if term in moved}
        return value_of_refresh(old, new, self._curves[update.at >= HALF], self.frequencies)


def compute_rates(pages: Pages, gains: Floats, *, by_sums: bool = False, weeks: range = range(WEEKS)) -> Floats:
    """Return ΔQ̄_A of each page: the mean of its gains a week (002 §6.1), or the ratio of the
    sums.
    """
    total, many = np.zeros((2, len(pages.paths)))
    for update, gain in zip(pages.updates, gains, strict=True):
        if update.at in weeks:
            total[update.page] += gain if by_sums else gain / update.since
            many[update.page] += 1
    return total / np.maximum(len(weeks) if by_sums else many, 1)


# -- the policies ----------------------------------------------------------------------------------

Plan = Callable[[int, Ints], Ints]
"""Returns the pages that are refreshed in a week, given when each was refreshed."""


def by_priority(priority: Callable[[Ints], Floats], budget: int) -> Plan:
    """Refresh those with the highest priority at their age in weeks."""

    def choose(week: int, last: Ints) -> Ints:
        worth = priority(week - last)
        best = np.argsort(-worth, kind="stable")[:budget]
        return best[worth[best] > 0]

    return choose


def in_slots(changes: Floats, weights: Floats, budget: int) -> Plan:
    """Refresh at evenly spaced instants, moved into slots (the transportation step)."""
    ideal = ideal_instants(_share_out(changes, weights, budget * (WEEKS - 1)), float(WEEKS - 1))
    slots = np.repeat(np.arange(WEEKS - 1) + 0.5, budget)
    weekly: dict[int, list[int]] = defaultdict(list)
    for (_, page), slot in zip(ideal, transport([at for at, _ in ideal], slots.tolist()), strict=True):
        weekly[int(slots[slot]) + 1].append(page)
    return lambda week, _: np.array(sorted(set(weekly[week])), dtype=np.int64)


def _share_out(changes: Floats, weights: Floats, polls: int) -> Ints:
    """Return how often each page is refreshed for the least weighted staleness: at most once a week,
    and no more than is of use. Gains decrease with the number, so that the best ones are a choice.
    """
    numbers = np.arange(float(WEEKS))
    gains = -np.diff(staleness(changes[:, None], numbers, float(WEEKS - 1))) * weights[:, None]
    best = np.argsort(-gains, axis=None, kind="stable")[:polls]
    best = best[gains.flat[best] > 0]
    return np.bincount(best // (WEEKS - 1), minlength=len(changes))


def run(quality: Quality, plan: Plan) -> tuple[Floats, Ints]:
    """Return the quality for each query, summed over the weeks, and how often each page was
    refreshed.
    """
    repository, last = quality.live[:, 0].copy(), np.zeros(len(quality.live), np.int64)
    found, done = np.zeros(len(quality.weight)), np.zeros(len(quality.live), np.int64)
    for week in range(1, WEEKS):
        chosen = plan(week, last)
        repository[chosen] = quality.live[chosen, week]
        last[chosen] = week
        done[chosen] += 1
        found += quality.of(repository, week)
    return found, done


def policies(pages: Pages, quality: Quality, gains: Floats, budget: int) -> Iterator[tuple[str, float, Plan]]:
    """Yield each policy with its threshold (0: none)."""
    many = len(pages.paths)
    views = quality.views(0)
    changes = np.bincount([one.page for one in pages.updates], minlength=many) / (WEEKS - 1)
    yield "round robin", 0.0, by_priority(lambda age: age.astype(np.float64), budget)
    mean, sums = compute_rates(pages, gains), compute_rates(pages, gains, by_sums=True)
    yield "user-centric", 0.0, by_priority(lambda age: mean * age, budget)
    yield "user-centric, sums", 0.0, by_priority(lambda age: sums * age, budget)
    micro = changes / (7 * DAY)
    plain = Values(views, micro, np.full(many, SLOWEST), micro, np.ones(many), guarded=False)
    worth = np.clip(mean / max(float(mean.mean()), 1e-12), 0.25, 8)
    valued = Values(worth, micro, plain.decay, micro, plain.cost, guarded=False)
    for name, values in (("wic", plain), ("price", plain), ("price, by ΔQ", valued)):
        yield name, 0.0, by_priority(_make_bids(values, gathers=name == "wic"), budget)
    for threshold in THRESHOLDS:
        large = [one.page for one in pages.updates if one.difference >= threshold]
        rate = np.bincount(large, minlength=many) / (WEEKS - 1)
        yield "sbr", threshold, in_slots(rate, np.ones(many), budget)
        chance = rate / np.maximum(changes, 1e-12)
        yield "ebr", threshold, in_slots(changes, chance * views, budget)


def _make_bids(values: Values, *, gathers: bool) -> Callable[[Ints], Floats]:
    kappa = values.decay + values.overwritten

    def bids(age: Ints) -> Floats:
        micro = age * 7.0 * DAY
        if gathers:
            return np.asarray(values.inflow / kappa * -np.expm1(-kappa * micro))
        return values.bids(micro, 0.0)

    return bids


# -- the figures -----------------------------------------------------------------------------------


def figure_3(pages: Pages, gains: Floats, scoring: str) -> None:
    """Print how well ΔQ̄ of the first half predicts that of the second."""
    first = compute_rates(pages, gains, weeks=range(HALF))
    second = compute_rates(pages, gains, weeks=range(HALF, WEEKS))
    shown = (first > 0) | (second > 0)
    both = (first > 0) & (second > 0)
    away = np.abs(np.log10(first[both] / second[both]))
    order = spearmanr(first[shown], second[shown]).statistic
    print(f"Figure 3, {pages.name}, {scoring}: ΔQ̄ in weeks 1-24 against 25-48")
    print(
        f"  {int(shown.sum())} of {len(shown)} pages gain at all, {int(both.sum())} of them in both halves;"
        f" rank correlation {order:.2f}, of those in both {spearmanr(first[both], second[both]).statistic:.2f}"
    )
    cuts = np.quantile(away, (0.5, 0.8, 0.9)) if len(away) else np.full(3, np.nan)
    print("  half, 80 %, 90 % of those in both lie within a factor of " + ", ".join(f"{10**cut:.1f}" for cut in cuts))
    for name, guess in _forecast(pages, gains).items():
        print(f"  forecast by {name}: rank correlation {spearmanr(guess[shown], second[shown]).statistic:.2f}")


def _forecast(pages: Pages, gains: Floats) -> dict[str, Floats]:
    """Return other forecasts of the second half from the first."""
    early = range(HALF)
    last, faded = np.zeros(len(pages.paths)), np.zeros(len(pages.paths))
    for update, gain in zip(pages.updates, gains, strict=True):
        if update.at in early:
            last[update.page] = gain / update.since
            faded[update.page] += gain * 0.5 ** ((HALF - update.at) / 8)
    return {
        "ratio of sums": compute_rates(pages, gains, by_sums=True, weeks=early),
        "the last refresh": last,
        "sums that halve in 8 weeks": faded,
    }


def figure_4(pages: Pages, quality: Quality, gains: Floats, scoring: str) -> None:
    """Print quality by budget, and the budget that each policy needs for a quality."""
    ideal = sum(quality.of(quality.live[:, week], week) for week in range(1, WEEKS))
    never, _ = run(quality, lambda *_: np.zeros(0, np.int64))
    budgets = sorted({max(1, round(share * len(pages.paths))) for share in SHARES})
    found: dict[str, list[list[Floats]]] = defaultdict(list)
    best: dict[str, list[float]] = defaultdict(list)
    for budget in budgets:
        one: dict[str, list[tuple[float, Floats]]] = defaultdict(list)
        for name, threshold, plan in policies(pages, quality, gains, budget):
            one[name].append((threshold, run(quality, plan)[0]))
        for name, results in one.items():
            found[name].append([result for _, result in results])
            best[name].append(max(results, key=lambda each: each[1].sum())[0])
    print(
        f"Figure 4, {pages.name}, {scoring}: {len(pages.paths)} pages, {len(pages.updates)} updates,"
        f" {len(quality.weight)} queries; never refreshed: {never.sum() / ideal.sum():.4f}"
    )
    print(f"  {'refreshed a week':<20}" + "".join(f"{budget:>16}" for budget in budgets))
    draw = np.random.default_rng(1)
    weights = draw.multinomial(len(ideal), np.full(len(ideal), 1 / len(ideal)), size=RESAMPLES).astype(np.float64)
    weights = np.vstack([np.ones(len(ideal)), weights])
    below = weights @ ideal
    curves = {
        name: np.stack([(weights @ np.stack(each).T).max(axis=1) / below for each in by_budget])
        for name, by_budget in found.items()
    }
    for name, curve in curves.items():
        half = (np.quantile(curve[:, 1:], 0.975, axis=1) - np.quantile(curve[:, 1:], 0.025, axis=1)) / 2
        said = "".join(f"  {value:.4f}±{width:.4f}" for value, width in zip(curve[:, 0], half, strict=True))
        chosen = "  best θ " + " ".join(f"{one:g}" for one in best[name]) if any(best[name]) else ""
        print(f"  {name:<20}{said}{chosen}")
    for place in range(1, len(budgets) - 1):
        level = float(curves["user-centric"][place, 0])
        own = _find_budget(budgets, curves["user-centric"], level)
        said = []
        for name in ("sbr", "ebr", "wic", "price", "price, by ΔQ"):
            ratio = _find_budget(budgets, curves[name], level) / own
            low, high = np.nanquantile(ratio[1:], (0.025, 0.975)) if np.isfinite(ratio[1:]).any() else (np.nan, np.nan)
            said.append(f"{name} {ratio[0]:.2f} ({low:.2f} to {high:.2f})")
        print(f"  times the refreshes of user-centric for its quality at {budgets[place]}: {', '.join(said)}")


def _find_budget(budgets: list[int], curve: Floats, level: float) -> Floats:
    """Return the budget at which each resample reaches a quality, nan beyond the largest."""
    found = np.full(curve.shape[1], np.nan)
    for column in range(curve.shape[1]):
        values = np.maximum.accumulate(curve[:, column])
        above = np.flatnonzero(values >= level)
        if not len(above):
            continue
        place = int(above[0])
        if place == 0:
            found[column] = budgets[0]
            continue
        share = (level - values[place - 1]) / (values[place] - values[place - 1])
        found[column] = budgets[place - 1] * (budgets[place] / budgets[place - 1]) ** share
    return found


def figure_5(pages: Pages, quality: Quality, gains: Floats) -> None:
    """Print an advertisement and a seminar: a large update of no worth, a small one of much."""
    differences = np.array([one.difference for one in pages.updates])
    order = spearmanr(differences, gains).statistic
    budget = max(1, round(0.02 * len(pages.paths)))
    done = {
        name if not threshold else f"{name} {threshold:g}": run(quality, plan)[1]
        for name, threshold, plan in policies(pages, quality, gains, budget)
        if name == "user-centric" or threshold in {0.1, 0.5}
    }
    print(f"Figure 5, {pages.name}: share of shingles that differ against ΔQ, rank correlation {order:.2f}")
    mean = float(gains.mean())
    total = Counter(one.page for one in pages.updates)
    largest = {page: max(one.difference for one in pages.updates if one.page == page) for page in total}
    own = compute_rates(pages, gains)
    advertisement = max(total, key=lambda page: (own[page] <= 0.02 * own.mean(), largest[page]))
    seminar = max(total, key=lambda page: (largest[page] <= 0.2, own[page]))
    for name, page in (("advertisement", advertisement), ("seminar", seminar)):
        each = [gain for one, gain in zip(pages.updates, gains, strict=True) if one.page == page]
        said = ", ".join(f"{who} {int(many[page])}" for who, many in done.items())
        print(
            f"  {name}: {pages.paths[page]}: {total[page]} updates that move up to {largest[page]:.0%} of the"
            f" shingles; ΔQ {np.mean(each) / mean:.2f} of the mean; refreshes at {budget} a week: {said}"
        )
    large = differences >= 0.5
    if large.any():
        print(
            f"  of {int(large.sum())} updates that move half of the shingles"
            f" {np.mean(gains[large] < np.median(gains)):.0%} are worth less than the median update"
        )


def compare_estimates(pages: Pages, quality: Quality, gains: Floats) -> None:
    """Print estimated against exact ΔQ, and with three pieces of F_q alone."""
    chosen = random.Random(3).sample(range(len(pages.updates)), min(200, len(pages.updates)))
    exact = []
    for number in chosen:
        update = pages.updates[number]
        after = quality.live[:, update.at].copy()
        before = after.copy()
        before[update.page] = quality.live[update.page, update.at - 1]
        exact.append(quality.gain(update, before, after))
    kept = np.array(exact)
    print(f"Estimated ΔQ_A (single terms) against exact ΔQ (whole queries), {len(chosen)} updates of {pages.name}")
    print(f"  as the product measures it: rank correlation {spearmanr(kept, gains[chosen]).statistic:.3f}")
    said = []
    for pieces in (1, 2, 3, 5, 10):
        rough = Appraisal(pages, None, exact=1, pieces=pieces)
        values = [rough.gain(pages.updates[number]) for number in chosen]
        said.append(f"{pieces}: {spearmanr(kept, values).statistic:.3f}")
    print(f"  the best rank and so many pieces alone, as in the paper: {', '.join(said)}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=300, help="most queries of a workload")
    parser.add_argument("--pages", choices=("one", "many", "both"), default="both", help="which set of pages")
    parser.add_argument("--figure", type=int, nargs="+", default=[2, 3, 4, 5])
    asked = parser.parse_args()
    if 2 in asked.figure:
        print("Figure 2: seconds of CPU to index a batch, without and with the valuation (paper: +7 to 8 %)")
        overhead(entries(), queries(1_000), megabytes=(5, 10, 20, 40))
        pages_read, seconds = read_pages()
        print("The same for pages in HTML, whose reading counts, as in the paper")
        overhead(pages_read, queries(1_000), megabytes=(5, 10, 20), reading=seconds / len(pages_read))
    if not {3, 4, 5} & set(asked.figure):
        return
    for name, is_one in (("one", True), ("many", False)):
        if asked.pages not in {name, "both"}:
            continue
        pages = collect(is_one=is_one, most=asked.queries)
        links = np.random.default_rng(2).pareto(1.1, len(pages.paths)) + 1
        for scoring, inlinks in (("TF-IDF", None), ("inlinks (drawn)", links)):
            appraisal = Appraisal(pages, inlinks)
            gains = np.array([appraisal.gain(update) for update in pages.updates])
            quality = Quality(pages, inlinks)
            if 3 in asked.figure:
                figure_3(pages, gains, scoring)
            if 4 in asked.figure:
                figure_4(pages, quality, gains, scoring)
            if inlinks is None and 5 in asked.figure:
                figure_5(pages, quality, gains)
                compare_estimates(pages, quality, gains)


if __name__ == "__main__":
    main()
