"""Figures 2 to 5 of paper 002 (user-centric crawling) on real documents that change.

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR .venv/bin/python bench/user_centric.py
        [--queries 300] [--pages one|many] [--figure 2 3 4 5 6]

The documents are `evolving_collection` in the 48 weeks in which most of them change; the queries
are `queries_matching`: real ones, which were not issued against these documents. *One site* stands
for the paper's boston.com (BDS): all pages of the largest source that are there in all weeks; *many
sites* for its topic of the Open Directory (MDS): the pages of the other sources that change at
least once. Queries are those above the knee of 002 §5.2, of which a sample is drawn by frequency
(seed 1). Inlink counts do not exist here; a Pareto number drawn for each page (seed 2) stands for
them. Every policy reads its parameters from all 48 weeks, as in the paper (002 §6.2).

"Figure" 6 is what the paper leaves open: queries with several terms (002 §5.1), and words of links
that count for their targets, which are known by these alone.
"""

from __future__ import annotations

import argparse
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
from bench.search import entries, overhead, queries, read_pages
from numpy.typing import NDArray
from scipy.stats import spearmanr

from tests.data_sets import files_of, rows_of
from tidings.clock import DAY
from tidings.lab.quality import RankedResults
from tidings.lab.refresh import allot_polls, ideal_instants, mean_age, staleness, transport
from tidings.scheduling.price.value import SLOWEST, Values
from tidings.search import ranking
from tidings.search.query import line_of_terms, parse
from tidings.search.ranking import RankCurve, curve_of, is_as_long, knee, single_terms, value_of_refresh
from tidings.search.sites import address_of

WEEKS, HALF = 48, 24
WEEK_SECONDS = 7 * 86_400
EXPONENT = 1.5
ONE_SITE = "simonw/help-scraper"
SHINGLE = 8
"""Words of a shingle."""
THRESHOLDS = tuple(tenths / 10 for tenths in range(1, 11))
SHARES = (0.005, 0.01, 0.02, 0.04, 0.08)
"""Budgets: pages refreshed a week, as a share of all."""
RESAMPLES = 400
PRODUCT = "user-centric"
"""The name of gains as the product estimates them."""
ZERO = 1e-9

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Query = tuple[tuple[str, ...], float]
"""The terms of a query, and how often it is asked."""


@dataclass(frozen=True)
class Update:
    """A page changed: in week `at`, `since` weeks after the copy that a refresh replaces."""

    page: int
    at: int
    since: int
    moved: tuple[tuple[int, int, int], ...]
    """each document whose text a refresh moves, from one text to another: the page, first"""
    difference: float = 0.0
    """the share of shingles that differ"""


@dataclass(frozen=True)
class Pages:
    """Documents over 48 weeks: the text of each in each week, as numbers of texts. The texts of a
    document have adjacent numbers.
    """

    name: str
    paths: list[str]
    live: Ints
    """documents × weeks: the number of the text"""
    owner: Ints
    """the document of each text, ascending"""
    counts: list[dict[str, int]]
    """the terms of each text that queries have"""
    lengths: Floats
    updates: list[Update]
    queries: list[Query]
    links: list[Mapping[str, Sequence[str]]]
    """the words of the links in each text, by address"""


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
    paths, live, owner, counts, lengths, links, updates = [], [], [], [], [], [], []
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
                links.append({} if is_one else _read_links(content))
                owner.append(len(paths))
                shingles.append(_list_shingles(words))
            numbers.append(len(counts) - 1)
        if not is_one and len(shingles) == 1:
            del counts[-1], lengths[-1], links[-1], owner[-1]
            continue
        changed = [week for week in range(1, WEEKS) if numbers[week] != numbers[week - 1]]
        for last, week in pairwise([0, *changed]):
            old, new = numbers[week - 1], numbers[week]
            before, after = shingles[old - first], shingles[new - first]
            difference = len(before ^ after) / len(before | after)
            updates.append(Update(len(paths), week, week - last, ((len(paths), old, new),), difference))
        paths.append(versions[0]["path"])
        live.append(numbers)
    name = "one site" if is_one else "many sites"
    pages = Pages(name, paths, np.array(live), np.array(owner), counts, np.array(lengths), updates, [], links)
    return replace(pages, queries=_draw_queries(pages, asked, most))


def _read_links(content: str) -> dict[str, list[str]]:
    """Return the words of the links in a Markdown text by address."""
    found: dict[str, list[str]] = defaultdict(list)
    for anchor, url in _LINK.findall(content):
        if address := _address_of(url):
            found[address] += line_of_terms(anchor).split()
    return found


_LINK = re.compile(r"\[([^\[\]\n]+)\]\(<?(https?://[^\s)>]+)")
_address_of = cache(address_of)


def add_targets(pages: Pages) -> Pages:
    """Return the pages with the addresses that they link to as further documents, whose terms are
    the words of these links. A refresh moves the targets of links that changed, too. Nobody has
    read the targets: they count as long as a page is on average.
    """
    length = float(pages.lengths.mean())
    vocabulary = {term for counted in pages.counts for term in counted}
    sources: dict[str, set[int]] = defaultdict(set)
    for text, named in enumerate(pages.links):
        for address in named:
            sources[address].add(int(pages.owner[text]))
    live, owner, counts, lengths = pages.live.tolist(), pages.owner.tolist(), [*pages.counts], pages.lengths.tolist()
    moved = {update: list(update.moved) for update in pages.updates}
    by_page: dict[int, list[Update]] = defaultdict(list)
    for update in pages.updates:
        by_page[update.page].append(update)
    for document, (address, named_by) in enumerate(sorted(sources.items()), len(live)):
        numbers: dict[tuple[int, ...], int] = {}

        def number_of(texts: Iterable[int], address: str = address, numbers: dict = numbers) -> int:
            key = tuple(text for text in texts if address in pages.links[text])
            if key not in numbers:
                numbers[key] = len(counts)
                words = [word for text in key for word in pages.links[text][address]]
                counts.append(Counter(word for word in words if word in vocabulary))
                lengths.append(length + len(words))
                owner.append(len(live))
            return numbers[key]

        of_sources = pages.live[sorted(named_by)]
        live.append([number_of(of_sources[:, week].tolist()) for week in range(WEEKS)])
        for page in sorted(named_by):
            for update in by_page[page]:
                (_, old, new), *_ = update.moved
                texts = [old if text == new else text for text in of_sources[:, update.at].tolist()]
                before, after = number_of(texts), live[document][update.at]
                if counts[before] != counts[after]:
                    moved[update].append((document, before, after))
    updates = [replace(update, moved=tuple(of_update)) for update, of_update in moved.items()]
    return replace(
        pages, paths=[*pages.paths, *sorted(sources)], live=np.array(live), owner=np.array(owner), counts=counts,
        lengths=np.array(lengths), updates=updates,
    )  # fmt: skip


def _weigh_terms(pages: Pages) -> dict[str, float]:
    """Return Lucene's weight of each term, from the first week."""
    having: Counter[str] = Counter()
    for text in pages.live[:, 0].tolist():
        having.update(pages.counts[text].keys())
    many = len(pages.paths)
    terms = {term for counted in pages.counts for term in counted}
    return {term: 1 + math.log(many / (having[term] + 1)) for term in terms}


def _draw_queries(pages: Pages, asked: list[Query], most: int) -> list[Query]:
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
    """What searchers are shown by a repository (002, equation 5): exact, for each query. A
    repository has a text of each document, by its number within the document.
    """

    def __init__(self, pages: Pages, inlinks: Floats | None) -> None:
        idf, postings = _weigh_terms(pages), Postings(pages)
        first = np.searchsorted(pages.owner, np.arange(len(pages.paths)))
        self.place_of = np.arange(len(pages.owner)) - first[pages.owner]
        self.live = self.place_of[pages.live]
        query_of, pair_of, table = [], [], []
        for number, (terms, _) in enumerate(pages.queries):
            texts, scores = postings.match(terms, idf)
            if inlinks is not None:
                scores = inlinks[pages.owner[texts]]
            own, inverse = np.unique(pages.owner[texts], return_inverse=True)
            rows = np.zeros((len(own), int(self.place_of.max()) + 1))
            rows[inverse, self.place_of[texts]] = scores
            query_of.append(np.full(len(own), number))
            pair_of.append(own)
            table.append(rows)
        self.weight = np.array([frequency for _, frequency in pages.queries])
        self._page, self._table = np.concatenate(pair_of), np.concatenate(table)
        self._query = np.concatenate(query_of)
        self._results = RankedResults(self._query, self.weight, EXPONENT)
        self._rows = np.arange(len(self._page))

    def _scores(self, repository: Ints) -> Floats:
        return np.asarray(self._table[self._rows, repository[self._page]])

    def of(self, repository: Ints, week: int) -> Floats:
        """Return the quality for each query."""
        return self._results.quality(self._scores(repository), self._scores(self.live[:, week]))

    def views(self, week: int) -> Floats:
        """Return how often each page is seen in results."""
        return np.bincount(self._page, self._results.views(self._scores(self.live[:, week])), minlength=len(self.live))

    def gain(self, update: Update, after: Ints | None = None) -> float:
        """Return the exact change of quality by a refresh; all other pages are fresh, or as in the
        repository `after` it.
        """
        after = self.live[:, update.at] if after is None else after
        before = after.copy()
        for document, old, _ in update.moved:
            before[document] = self.place_of[old]
        return float((self.of(after, update.at) - self.of(before, update.at)).sum())


# -- what a refresh is worth -----------------------------------------------------------------------


class Appraisal:
    """The value of refreshes as measured by the product (`search.ranking`), but for its scores.

    Args:
        pages: The pages, with the queries that are valued.
        inlinks: The scores, if these are not those of terms.
        is_split: Whether a query of several terms counts as one for each of these, as in the
            product.
        exact: How many of the best results are known exactly.
        pieces: In how many pieces the others are approximated.
    """

    def __init__(
        self,
        pages: Pages,
        inlinks: Floats | None,
        *,
        is_split: bool = True,
        exact: int = 256,
        pieces: int = ranking.PIECES,
    ) -> None:
        self._pages, self._inlinks, self._idf = pages, inlinks, _weigh_terms(pages)
        self._frequencies: dict[str, float] = defaultdict(float)
        self._having: dict[str, list[str]] = defaultdict(list)
        for terms, frequency in split(pages.queries) if is_split else pages.queries:
            self._frequencies[" ".join(terms)] += frequency
        for query in self._frequencies:
            self._having[query.split()[0]].append(query)
        self._curves = [self._make(week, exact, pieces) for week in (0, HALF)]

    def scores(self, document: int, text: int) -> dict[str, float]:
        """Return the score of a text for each query that finds it."""
        counted = self._pages.counts[text]
        found = {}
        norm = 1 / math.sqrt(max(self._pages.lengths[text], 1))
        for query in (query for term in counted for query in self._having.get(term, ())):
            terms = query.split()
            if not all(term in counted for term in terms):
                continue
            if self._inlinks is not None:
                found[query] = float(self._inlinks[document])
                continue
            whole = math.sqrt(sum(self._idf[term] ** 2 for term in terms))
            found[query] = norm * sum(math.sqrt(counted[term]) * self._idf[term] ** 2 for term in terms) / whole
        return found

    def _make(self, week: int, exact: int, pieces: int) -> dict[str, RankCurve]:
        found: dict[str, list[float]] = defaultdict(list)
        for document, text in enumerate(self._pages.live[:, week].tolist()):
            for query, score in self.scores(document, text).items():
                found[query].append(score)
        return {query: curve_of(scores, EXPONENT, exact=exact, pieces=pieces) for query, scores in found.items()}

    def gain(self, update: Update) -> float:
        """Return ΔQ_A of a refresh, for all documents that it moves."""
        return sum(self._value(update.at, *move) for move in update.moved)

    def _value(self, week: int, document: int, before: int, after: int) -> float:
        old, new = self.scores(document, before), self.scores(document, after)
        lengths, counts = self._pages.lengths, self._pages.counts
        if is_as_long(lengths[before], lengths[after]):
            was, now = counts[before], counts[after]
            terms = {term for term in was.keys() | now.keys() if was.get(term) != now.get(term)}
            moved = {query for query in old.keys() | new.keys() if not terms.isdisjoint(query.split())}
            alike = math.sqrt(lengths[before] / lengths[after]) if self._inlinks is None else 1.0
            old = {query: score * alike for query, score in old.items() if query in moved}
            new = {query: score for query, score in new.items() if query in moved}
        return value_of_refresh(old, new, self._curves[week >= HALF], self._frequencies)


def split(queries: Iterable[Query]) -> list[Query]:
    """Return the queries as queries of single terms (002 §5.1)."""
    parsed = ((parse(" ".join(terms)), frequency) for terms, frequency in queries)
    return [((term,), frequency) for term, frequency in single_terms(parsed).items()]


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


def in_slots(changes: Floats, weights: Floats, budget: int, loss: Callable[..., Floats] = staleness) -> Plan:
    """Refresh at evenly spaced instants, once a week at most, moved into slots (the transportation
    step).
    """
    shared = allot_polls(changes, weights, budget * (WEEKS - 1), float(WEEKS - 1), loss=loss, most=WEEKS - 1)
    ideal = ideal_instants(shared, float(WEEKS - 1))
    slots = np.repeat(np.arange(WEEKS - 1) + 0.5, budget)
    weekly: dict[int, list[int]] = defaultdict(list)
    for (_, page), slot in zip(ideal, transport([at for at, _ in ideal], slots.tolist()), strict=True):
        weekly[int(slots[slot]) + 1].append(page)
    return lambda week, _: np.array(sorted(set(weekly[week])), dtype=np.int64)


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


def policies(
    pages: Pages, quality: Quality, gains: Mapping[str, Floats], budget: int
) -> Iterator[tuple[str, float, Plan]]:
    """Yield each policy with its threshold (0: none). Each way to measure gains makes one."""
    many = len(pages.paths)
    views = quality.views(0)
    changes = np.bincount([one.page for one in pages.updates], minlength=many) / (WEEKS - 1)
    yield "round robin", 0.0, by_priority(lambda age: age.astype(np.float64), budget)
    mean = compute_rates(pages, gains[PRODUCT])
    rates = {PRODUCT: mean, f"{PRODUCT}, sums": compute_rates(pages, gains[PRODUCT], by_sums=True)}
    rates |= {name: compute_rates(pages, measured) for name, measured in gains.items() if name != PRODUCT}
    for name, each in rates.items():
        yield name, 0.0, by_priority(lambda age, each=each: each * age, budget)
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
        yield "sbr, age", threshold, in_slots(rate, np.ones(many), budget, mean_age)
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


def figure_4(pages: Pages, quality: Quality, gains: Mapping[str, Floats], scoring: str) -> None:
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
        level = float(curves[PRODUCT][place, 0])
        own = _find_budget(budgets, curves[PRODUCT], level)
        said = []
        for name in ("sbr", "sbr, age", "ebr", "wic", "price", "price, by ΔQ"):
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


def figure_5(pages: Pages, quality: Quality, measured: Mapping[str, Floats]) -> None:
    """Print an advertisement and a seminar: a large update of no worth, a small one of much."""
    gains = measured[PRODUCT]
    differences = np.array([one.difference for one in pages.updates])
    order = spearmanr(differences, gains).statistic
    budget = max(1, round(0.02 * len(pages.paths)))
    done = {
        name if not threshold else f"{name} {threshold:g}": run(quality, plan)[1]
        for name, threshold, plan in policies(pages, quality, measured, budget)
        if name == PRODUCT or threshold in {0.1, 0.5}
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


def compare_estimates(pages: Pages, exact: Floats, gains: Floats) -> None:
    """Print estimated against exact ΔQ, and with pieces of F_q alone."""
    print(f"Estimated ΔQ_A against exact ΔQ, {len(exact)} updates of {pages.name}")
    print(f"  as the product measures it: rank correlation {_correlate(exact, gains)}")
    said = []
    for pieces in (1, 2, 3, 5, 10):
        rough = Appraisal(pages, None, exact=1, pieces=pieces)
        said.append(f"{pieces}: {spearmanr(exact, [rough.gain(update) for update in pages.updates]).statistic:.3f}")
    print(f"  the best rank and so many pieces alone, as in the paper: {', '.join(said)}")


def compare_several(pages: Pages) -> None:
    """Print the ΔQ of queries with several terms: sums over their terms against all results ranked
    again, first with all other pages fresh, then with a repository that lags behind.
    """
    several = replace(pages, queries=[query for query in pages.queries if len(query[0]) > 1])
    terms = replace(several, queries=split(several.queries))
    quality, by_terms = Quality(several, None), Quality(terms, None)
    estimates = {is_split: Appraisal(several, None, is_split=is_split) for is_split in (True, False)}
    budget = max(1, round(0.02 * len(pages.paths)))
    lagging = _replay(several, by_priority(lambda age: age.astype(np.float64), budget), quality)
    for name, refreshes in (
        ("all other pages fresh", [(update, quality.live[:, update.at]) for update in pages.updates]),
        (f"{budget} pages a week in turn", lagging),
    ):
        exact = np.array([quality.gain(*refresh) for refresh in refreshes])
        print(
            f"ΔQ of {len(several.queries)} queries with several terms, {pages.name}, {name}:"
            f" {len(refreshes)} refreshes, {np.mean(exact > ZERO):.0%} gain, {np.mean(exact < -ZERO):.0%} lose"
            f" ({-exact[exact < 0].sum() / exact[exact > 0].sum():.1%} of what the others gain)"
        )
        shown = replace(several, updates=[update for update, _ in refreshes])
        for way, found in (
            ("estimate, sum over terms", [estimates[True].gain(update) for update, _ in refreshes]),
            ("exact, sum over terms", [by_terms.gain(*refresh) for refresh in refreshes]),
            ("estimate, whole queries", [estimates[False].gain(update) for update, _ in refreshes]),
        ):
            print(f"  {way:<26}" + _compare(shown, np.array(found), exact))


def _replay(pages: Pages, plan: Plan, quality: Quality) -> list[tuple[Update, Ints]]:
    """Return each refresh of a plan that found another text, with the repository after it."""
    repository, last = quality.live[:, 0].copy(), np.zeros(len(pages.live), np.int64)
    text, refreshed, found = pages.live[:, 0].copy(), last.copy(), []
    for week in range(1, WEEKS):
        for page in plan(week, last).tolist():
            old, new, last[page] = int(text[page]), int(pages.live[page, week]), week
            if old != new:
                repository[page], text[page] = quality.live[page, week], new
                update = Update(page, week, int(week - refreshed[page]), ((page, old, new),))
                found.append((update, repository.copy()))
            refreshed[page] = week
    return found


def _compare(pages: Pages, found: Floats, exact: Floats) -> str:
    """Return how one measure of the updates follows the exact one."""
    gain = exact > ZERO
    low, middle, high = np.quantile(found[gain] / exact[gain], (0.1, 0.5, 0.9))
    differ = np.abs(found - exact) > ZERO
    return (
        f"{found.sum() / exact.sum():.2f} times in sum; {middle:.2f} times each ({low:.2f} to {high:.2f} for 80 %);"
        f" above in {np.mean((found > exact)[differ]):.0%};"
        f" 0 for {np.mean(found[gain] <= ZERO):.0%} of gains; above 0 for {np.mean(found[~gain] > ZERO):.0%} of others;"
        f" rank correlation {_correlate(found, exact)}, {_compare_orders(pages, found, exact)}"
    )


def _compare_orders(pages: Pages, one: Floats, other: Floats) -> str:
    """Return how alike the orders of pages by ΔQ̄ are."""
    changed = np.unique([update.page for update in pages.updates])
    orders = [compute_rates(pages, gains)[changed] for gains in (one, other)]
    most = max(1, len(changed) // 10)
    best = [set(np.argsort(-order, kind="stable")[:most].tolist()) for order in orders]
    return f"of {len(changed)} pages {_correlate(*orders)}, {len(best[0] & best[1])} of the best {most} alike"


def _correlate(one: Floats, other: Floats) -> str:
    """Return the rank correlation with its 95 % interval."""
    draw = np.random.default_rng(1)
    each = []
    for _ in range(RESAMPLES):
        chosen = draw.integers(0, len(one), len(one))
        each.append(spearmanr(one[chosen], other[chosen]).statistic)
    low, high = np.quantile(each, (0.025, 0.975))
    return f"{spearmanr(one, other).statistic:.2f} ({low:.2f} to {high:.2f})"


def compare_anchors(pages: Pages, gains: Floats, exact: Floats) -> None:
    """Print the ΔQ of refreshes if the words of changed links count for their targets."""
    linked = add_targets(pages)
    updates = linked.updates
    appraisal, quality = Appraisal(linked, None), Quality(linked, None)
    own = [replace(update, moved=update.moved[:1]) for update in updates]
    found, found_own = (np.array([appraisal.gain(each) for each in some]) for some in (updates, own))
    true, true_own = (np.array([quality.gain(each) for each in some]) for some in (updates, own))
    print(
        f"Words of links count for their targets, {pages.name}: {len(linked.paths) - len(pages.paths)} targets,"
        f" moved by {sum(len(update.moved) > 1 for update in updates)} of {len(updates)} updates"
    )
    print(
        f"  of ΔQ, targets have {1 - found_own.sum() / found.sum():.0%} (estimated),"
        f" {1 - true_own.sum() / true.sum():.0%} (exact)"
    )
    print(
        f"  order with targets against that without: {_compare_orders(pages, found, gains)};"
        f" exact: {_compare_orders(pages, true, exact)}"
    )
    for way, each in (("with targets", found), ("of the page alone", found_own), ("without any links", gains)):
        orders = f"{_correlate(each, true)}, {_compare_orders(pages, each, true)}"
        print(f"  estimate {way:<18} against exact with targets: {orders}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=300, help="most queries of a workload")
    parser.add_argument("--pages", choices=("one", "many", "both"), default="both", help="which set of pages")
    parser.add_argument("--figure", type=int, nargs="+", default=[2, 3, 4, 5, 6], help="6: the paper's future work")
    asked = parser.parse_args()
    if 2 in asked.figure:
        print("Figure 2: seconds of CPU to index a batch, without and with the valuation (paper: +7 to 8 %)")
        overhead(entries(), queries(1_000), megabytes=(5, 10, 20, 40))
        pages_read, seconds = read_pages()
        print("The same for pages in HTML, whose reading counts, as in the paper")
        overhead(pages_read, queries(1_000), megabytes=(5, 10, 20), reading=seconds / len(pages_read))
    if not {3, 4, 5, 6} & set(asked.figure):
        return
    for name, is_one in (("one", True), ("many", False)):
        if asked.pages not in {name, "both"}:
            continue
        pages = collect(is_one=is_one, most=asked.queries)
        links = np.random.default_rng(2).pareto(1.1, len(pages.paths)) + 1
        for scoring, inlinks in (("TF-IDF", None), ("inlinks (drawn)", links)):
            quality = Quality(pages, inlinks)
            gains = {
                PRODUCT: _measure(pages, Appraisal(pages, inlinks)),
                f"{PRODUCT}, whole": _measure(pages, Appraisal(pages, inlinks, is_split=False)),
                f"{PRODUCT}, exact": _measure(pages, quality),
            }
            if 3 in asked.figure:
                figure_3(pages, gains[PRODUCT], scoring)
            if 4 in asked.figure:
                figure_4(pages, quality, gains, scoring)
            if inlinks is None and 5 in asked.figure:
                figure_5(pages, quality, gains)
                compare_estimates(pages, gains[f"{PRODUCT}, exact"], gains[PRODUCT])
            if inlinks is None and 6 in asked.figure:
                compare_several(pages)
                if not is_one:
                    compare_anchors(pages, gains[PRODUCT], gains[f"{PRODUCT}, exact"])


def _measure(pages: Pages, way: Appraisal | Quality) -> Floats:
    return np.array([way.gain(update) for update in pages.updates])


if __name__ == "__main__":
    main()
