"""What refreshes improve, measured while the index is kept: as searching before and after says."""

import pytest

from tidings.clock import DAY
from tidings.errors import UsageError
from tidings.search.query import parse
from tidings.service.search.appraise import appraiser, rates, rows_of, workload
from tidings.storage.search import find
from tidings.storage.search.index import IndexEntry, SearchIndex
from tidings.storage.search.log import SearchLog


@pytest.fixture
def index(tmp_path):
    """Give an index of forty pages, of which some speak of tea."""
    made = SearchIndex(tmp_path)
    made.begin("one")
    texts = [f"page {n} {'tea ' * (n % 7 if n < 20 else 0)}and what else it says {'more ' * n}" for n in range(1, 41)]
    made.put([IndexEntry(page_id=n, seq=1, at=0, text=text) for n, text in enumerate(texts, 1)], cursor=0, moved_to=40)
    yield made
    made.close()


@pytest.fixture
def log(tmp_path):
    """Give a log of searches for tea."""
    made = SearchLog(tmp_path)
    made.bring([("tea", 4), ("yeti", 9)], owner_id=1, at=0)
    yield made
    made.close()


def quality(order, scores):
    """Return what four searchers for tea get, who are shown pages in an order."""
    return 4 * sum(rank**-1.5 * scores.get(page, 0.0) for rank, page in enumerate(order, 1))


@pytest.mark.parametrize(
    ("page", "text"), [(3, "tea tea tea tea tea tea"), (4, "nothing any more"), (30, "tea at last"), (31, "as ever")]
)
def test_a_refresh_is_worth_what_searching_says(index, log, page, text):
    """A page that rises, one that falls out, one that comes in, one of which nobody hears."""
    said = appraiser(index, log, at=0)
    before = find.find(index, parse("tea"))
    index.put([IndexEntry(page_id=page, seq=2, at=DAY, text=text)], cursor=40, moved_to=41, appraise=said)
    old = {hit.page_id: hit.score for hit in before}
    after = said.scores(["", text, ""]).get("tea", 0.0)
    true = {**old, page: after}
    shown = sorted((one for one in true if true[one] > 0), key=lambda one: -true[one])
    expected = quality(shown, true) - quality([hit.page_id for hit in before], true)

    ((found, gained, since),) = index.gains()

    assert (page, DAY) == (found, since)
    assert gained == pytest.approx(expected, abs=1e-9)
    assert gained >= 0


def test_a_page_that_goes_is_worth_its_place(index, log):
    """Those below it move up; and what is purged is forgotten."""
    said = appraiser(index, log, at=0)
    best = find.find(index, parse("tea"))[0].page_id

    index.retire(best, DAY, appraise=said)

    ((page, gained, _),) = index.gains()
    assert best == page
    assert gained > 0
    index.keep_only(best, [], collected=1)
    assert [] == index.gains()


def test_what_was_measured_outlives_a_rebuild(index, log):
    """And what was stored before is not measured again, nor for the time before the first index;
    that of another database is.
    """
    said = appraiser(index, log, at=0)
    entry = IndexEntry(page_id=30, seq=2, at=DAY, text="tea")
    index.put([entry], cursor=40, moved_to=41, appraise=said)
    measured = index.gains()

    index.begin("one", at=2 * DAY)
    old = IndexEntry(page_id=30, seq=1, at=0, text="rain")
    index.put([old, entry], cursor=0, moved_to=2, appraise=said)
    index.retire(30, DAY, appraise=said)
    assert measured == index.gains()

    index.begin("two", at=3 * DAY)
    index.put([old, entry], cursor=0, moved_to=2, appraise=said)
    assert [(30, 0.0, 3 * DAY)] == index.gains()
    index.keep_only(30, [], collected=2)
    assert [] == index.gains()


def test_rates_are_drawn_towards_the_usual(index, log):
    """A page that has just been found may be as good as the others; the best guess comes first."""
    said = appraiser(index, log, at=0)
    index.put([IndexEntry(page_id=30, seq=2, at=0, text="tea")], cursor=40, moved_to=41, appraise=said)
    index.put([IndexEntry(page_id=90, seq=1, at=59 * DAY, text="new")], cursor=41, moved_to=42, appraise=said)
    index.put([IndexEntry(page_id=31, seq=2, at=0, text="dull")], cursor=42, moved_to=43, appraise=said)

    found = list(rates(index, at=60 * DAY))

    assert [30, 90, 31] == [page for page, _, _ in found]
    assert found[0][2] < found[0][1] / 30
    assert 0 == found[2][1] < found[2][2]


def test_without_searches_nothing_is_worth_anything(index, tmp_path):
    """And no time is spent on it."""
    log = SearchLog(tmp_path)
    log.erase()
    said = appraiser(index, log, at=0)
    log.close()

    assert {} == said.curves
    assert 0.0 == said(["a", "b", "c"], None)


def test_queries_are_weighed_by_the_pages_that_answer(tmp_path):
    """What nothing answers is of no page here."""
    index, log = SearchIndex(tmp_path), SearchLog(tmp_path)
    index.begin("one")
    rows = [IndexEntry(page_id=n, seq=1, at=1, text=f"common {'tea' if n < 4 else 'rain'}") for n in range(1, 12)]
    index.put(rows, cursor=0, moved_to=11)
    log.bring([("tea", 5), ("yeti", 9)], owner_id=1, at=0)

    found = workload(index, log, at=0)

    assert [("yeti", 0.0, False), ("tea", True, True)] == [
        (one.logged.text, one.score and one.score > 1, one.is_kept) for one in found.queries
    ]
    assert (0, 1.5) == (found.clicks, found.exponent)
    index.close()
    log.close()


def test_logs_are_read():
    """With counts or without; as they are counted here."""
    assert [("list price", 3), ("tea", 1)] == list(rows_of("query,frequency\nprice list,3\nTEA,1\n"))
    assert [("tea", 1), ("tea", 1)] == list(rows_of("tea\n\nTea\n"))


@pytest.mark.parametrize(
    ("text", "why"), [("query,frequency\ntea,many", "line 2: frequency"), ("tea\n-x", "line 2: say a word")]
)
def test_a_line_that_is_none_is_named(text, why):
    """Nothing of the log is counted then."""
    with pytest.raises(UsageError, match=why):
        list(rows_of(text))
