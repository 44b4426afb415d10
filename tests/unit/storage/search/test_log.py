"""The log of searches: counts, decay, import and deletion."""

import pytest

from tidings.clock import DAY
from tidings.errors import StoreStalledError
from tidings.search.ranking import HALF_LIFE
from tidings.storage.search.log import FILE, LoggedQuery, SearchLog, has_log


@pytest.fixture
def log(tmp_path):
    """Yield an empty log."""
    made = SearchLog(tmp_path)
    yield made
    made.close()


def test_searches_are_counted_and_decay(log):
    """The counts are of all owners or of one. A search that is ten half-lives old is deleted."""
    log.note_search("tea", owner_id=1, at=0)
    log.note_search("tea", owner_id=2, at=HALF_LIFE)
    log.note_search("milk", owner_id=2, at=HALF_LIFE, times=3)

    assert [LoggedQuery("milk", 3, 3.0), LoggedQuery("tea", 2, 1.5)] == log.queries(at=HALF_LIFE)
    assert [LoggedQuery("tea", 1, 0.5)] == log.queries(at=HALF_LIFE, owner_id=1)
    assert ["milk", "tea"] == [one.text for one in log.queries(at=10 * HALF_LIFE + DAY)]
    assert [1] == [one.searches for one in log.queries(at=0) if one.text == "tea"]


def test_clicks_are_counted_by_rank(log):
    """An invalid rank is ignored."""
    for rank in (1, 1, 2, 0, 5_000):
        log.note_click(rank, owner_id=1)

    assert {1: 2, 2: 1} == log.clicks()


def test_erased_searches_are_in_no_file(log, tmp_path):
    """The searches of one owner or of all are erased."""
    log.bring([("xylophone", 2), ("quokka", 1)], owner_id=2, at=0)
    log.note_search("vuvuzela", owner_id=1, at=0)
    log.note_click(1, owner_id=2)

    assert 2 == log.erase(owner_id=2)
    assert {} == log.clicks()
    assert ["vuvuzela"] == [one.text for one in log.queries(at=0)]
    assert not [word for word in (b"xylophone", b"quokka") if word in (tmp_path / FILE).read_bytes()]
    assert 1 == log.erase()
    assert b"vuvuzela" not in (tmp_path / FILE).read_bytes()
    assert has_log(tmp_path)


def test_log_that_cannot_be_made_is_named(tmp_path):
    """Callers that search without it expect an error of the store."""
    with pytest.raises(StoreStalledError, match=FILE):
        SearchLog(tmp_path / "missing")
