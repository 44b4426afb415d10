"""The gain of refreshes, measured while the index is updated: it equals searches before and after."""

import pytest

from tidings.clock import DAY
from tidings.errors import UsageError
from tidings.search.query import line_of_terms, parse
from tidings.service.search.appraise import appraiser, rates, rows_of, workload
from tidings.storage.search import find
from tidings.storage.search.index import CopyOfPage, IndexEntry, SearchIndex
from tidings.storage.search.log import SearchLog


@pytest.fixture
def index(tmp_path):
    """Yield an index of forty pages, some of them with the word tea."""
    made = SearchIndex(tmp_path)
    made.begin("one")
    texts = [f"page {n} {'tea ' * (n % 7 if n < 20 else 0)}and what else it says {'more ' * n}" for n in range(1, 41)]
    made.put([IndexEntry(page_id=n, seq=1, at=0, text=text) for n, text in enumerate(texts, 1)], cursor=0, moved_to=40)
    yield made
    made.close()


@pytest.fixture
def log(tmp_path):
    """Yield a log of searches for tea."""
    made = SearchLog(tmp_path)
    made.bring([("tea", 4), ("yeti", 9)], owner_id=1, at=0)
    yield made
    made.close()


def quality(order, scores):
    """Return the quality of four searches for tea with pages in this order."""
    return 4 * sum(rank**-1.5 * scores.get(page, 0.0) for rank, page in enumerate(order, 1))


@pytest.mark.parametrize(
    ("page", "text"), [(3, "tea tea tea tea tea tea"), (4, "nothing any more"), (30, "tea at last"), (31, "as ever")]
)
def test_gain_of_a_refresh_equals_that_of_searches(index, log, page, text):
    """The page rises, leaves the results, enters them, or has no effect."""
    output = appraiser(index, log, at=0)
    before = find.find(index, parse("tea"))
    index.put([IndexEntry(page_id=page, seq=2, at=DAY, text=text)], cursor=40, moved_to=41, appraise=output)
    old = {hit.page_id: hit.score for hit in before}
    after = output.scores(["", text, ""]).get("tea", 0.0)
    true = {**old, page: after}
    shown = sorted((one for one in true if true[one] > 0), key=lambda one: -true[one])
    expected = quality(shown, true) - quality([hit.page_id for hit in before], true)

    ((found, gained, since),) = index.gains()

    assert (page, DAY) == (found, since)
    assert gained == pytest.approx(expected, abs=1e-9)
    assert gained >= 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("one line\nof tea\n{}", "one line\nof rain\n{}"),
        ("one line\nof tea\ntea\n{}", "one line\nof tea\n{}\nand tea and tea tea"),
        ("{} and tea tea", "{} or tea"),
        ("{}", "{}"),
        ("{}", "otherwise {} tea"),
        ("{}", "otherwise {}"),
    ],
)
def test_copies_of_similar_length_are_compared_by_what_moved(index, log, old, new):
    """Both count as equally long, so that terms which are in both as often do not count; the counts
    are those of the whole texts, whether few lines differ or many.
    """
    made = appraiser(index, log, at=0)
    copies = []
    for text in (old, new):
        word = "row" if text.startswith("otherwise") else "line"
        body = text.format("\n".join(f"{word} {n} that has tea and stays" for n in range(40)))
        copies.append(CopyOfPage(body, ["tea", line_of_terms(body), ""]))
    counts = [copy.lines[1].split().count("tea") for copy in copies]

    before, after = made._score_moved(*copies)

    if counts[0] == counts[1]:
        assert ({}, {}) == (before, after)
        assert 0 == made(*copies)
    else:
        assert after == {"tea": pytest.approx(made.scores(copies[1].lines)["tea"])}
        assert (before["tea"] < after["tea"]) is (counts[0] < counts[1])


def test_removed_page_gains_for_those_below(index, log):
    """The pages below move up. After the deletion of the page, its gain is deleted."""
    text = appraiser(index, log, at=0)
    best = find.find(index, parse("tea"))[0].page_id

    index.retire(best, DAY, appraise=text)

    ((page, gained, _),) = index.gains()
    assert best == page
    assert gained > 0
    index.keep_only(best, [], collected=1)
    assert [] == index.gains()


def test_measured_gains_survive_a_rebuild(index, log):
    """Earlier versions are not measured again, nor those from before the first index. For another
    database the measurement starts again.
    """
    text = appraiser(index, log, at=0)
    entry = IndexEntry(page_id=30, seq=2, at=DAY, text="tea")
    index.put([entry], cursor=40, moved_to=41, appraise=text)
    measured = index.gains()

    index.begin("one", at=2 * DAY)
    old = IndexEntry(page_id=30, seq=1, at=0, text="rain")
    index.put([old, entry], cursor=0, moved_to=2, appraise=text)
    index.retire(30, DAY, appraise=text)
    assert measured == index.gains()

    index.begin("two", at=3 * DAY)
    index.put([old, entry], cursor=0, moved_to=2, appraise=text)
    assert [(30, 0.0, 3 * DAY)] == index.gains()
    index.keep_only(30, [], collected=2)
    assert [] == index.gains()


def test_rates_are_drawn_towards_the_mean(index, log):
    """A new page may be as good as the others; the best estimate is first."""
    text = appraiser(index, log, at=0)
    index.put([IndexEntry(page_id=30, seq=2, at=0, text="tea")], cursor=40, moved_to=41, appraise=text)
    index.put([IndexEntry(page_id=90, seq=1, at=59 * DAY, text="new")], cursor=41, moved_to=42, appraise=text)
    index.put([IndexEntry(page_id=31, seq=2, at=0, text="dull")], cursor=42, moved_to=43, appraise=text)

    found = list(rates(index, at=60 * DAY))

    assert [30, 90, 31] == [page for page, _, _ in found]
    assert found[0][2] < found[0][1] / 30
    assert 0 == found[2][1] < found[2][2]


def test_without_searches_no_refresh_has_a_gain(index, tmp_path):
    """No time is spent on it."""
    log = SearchLog(tmp_path)
    log.erase()
    text = appraiser(index, log, at=0)
    log.close()

    assert {} == text.curves
    assert 0.0 == text(CopyOfPage("b", ["a", "b", "c"]), None)


def test_queries_are_weighed_by_their_results(tmp_path):
    """A query without results counts for no page."""
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


def test_logs_of_searches_are_read():
    """A log has counts or not; queries are normalized."""
    assert [("list price", 3), ("tea", 1)] == list(rows_of("query,frequency\nprice list,3\nTEA,1\n"))
    assert [("tea", 1), ("tea", 1)] == list(rows_of("tea\n\nTea\n"))


@pytest.mark.parametrize(
    ("text", "why"), [("query,frequency\ntea,many", "line 2: frequency"), ("tea\n-x", "line 2: say a word")]
)
def test_invalid_line_of_a_log_is_named(text, why):
    """Nothing of the log is counted."""
    with pytest.raises(UsageError, match=why):
        list(rows_of(text))
