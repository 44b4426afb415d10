"""The workload: what is searched for, weighed by what answers it; logs of others are read."""

import pytest

from tidings.errors import UsageError
from tidings.service.search.workload import rows_of, workload
from tidings.storage.search.index import IndexEntry, SearchIndex
from tidings.storage.search.log import SearchLog


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
