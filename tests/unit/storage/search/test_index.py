"""The file of the search index: it is updated, deleted from and built again."""

import random

import pytest

from tidings.errors import StoreStalledError
from tidings.search.query import parse
from tidings.search.ranking import bm25
from tidings.service.search.asking import counts_of
from tidings.storage.search import find
from tidings.storage.search.index import FILE, IndexEntry, SearchIndex

WORDS = "sea sky sun rain wind snow fog hail ice mist".split()


@pytest.fixture
def index(tmp_path):
    """Yield an index of a database `one`."""
    made = SearchIndex(tmp_path)
    made.begin("one")
    yield made
    made.close()


def add(index, *entries, at=0):
    """Add versions (page, seq, text), each an hour after the one before."""
    rows = [
        IndexEntry(page_id=page, seq=seq, at=at + seq, kind="html", host="a.example", title=f"T{page}", text=text)
        for page, seq, text in entries
    ]
    cursor = int(index.read_note("cursor"))
    assert index.put(rows, cursor=cursor, moved_to=cursor + len(rows))


def pages(index, text, **given):
    """Return the pages that fit a query, with the versions."""
    return [(hit.page_id, hit.seq) for hit in find.find(index, parse(text), **given)]


def test_newest_versions_are_found_and_older_ones_by_date(index):
    """A version with an unchanged text extends the time of that text."""
    add(index, (1, 1, "the sea"), (2, 1, "the sky"), (1, 2, "the sea"), (1, 3, "the sun"))

    assert [(1, 3)] == pages(index, "sun")
    assert [] == pages(index, "sea")
    assert [(1, 1)] == pages(index, "sea", at=2)
    assert [] == pages(index, "sea", at=3)
    assert [(1, 3)] == pages(index, "the", changed_since=1)
    assert [(1, 2), (3, 3)] == index.seqs(1)
    assert (3, 2) == index.count()


def test_changed_title_is_another_text(index):
    """The new title finds the page now, the old title finds it at its date."""
    for number, title in enumerate(("Sea", "Sky", "Sky"), 1):
        entry = IndexEntry(page_id=1, seq=number, at=number, title=title, text="the sun")
        index.put([entry], cursor=number - 1, moved_to=number)

    assert [[], [(1, 2)], [(1, 1)]] == [pages(index, "sea"), pages(index, "sky"), pages(index, "sea", at=1)]
    assert [(1, 1), (2, 3)] == index.seqs(1)


def test_entry_of_two_writers_is_added_once(index):
    """The second finds that the cursor has moved, and does nothing."""
    entry = IndexEntry(page_id=1, seq=1, at=1, text="sea")

    assert [True, False] == [index.put([entry], cursor=0, moved_to=1) for _ in range(2)]
    assert (1, 1) == index.count()


def test_deleted_version_leaves_no_trace(index, tmp_path):
    """Terms, texts and titles of the version are in no file. A text with a version left stays."""
    add(index, (1, 1, "xylophone"), (1, 2, "xylophone"), (1, 3, "quokka"), (2, 1, "quokka vuvuzela"))

    assert 0 == index.keep_only(1, [2, 3], collected=1)
    assert [(1, 2)] == pages(index, "xylophone", at=2)
    assert 1 == index.keep_only(1, [3], collected=2)
    assert 1 == index.keep_only(2, [], collected=1)
    index.forget(7)

    assert {1: 2, 2: 1} == index.read_collected()
    assert ["", "7"] == [index.read_note("removed"), index.read_note("forgot_at")]
    assert [(1, 3)] == pages(index, "quokka")
    with index.reading() as run:
        assert [("quokka",), ("t1",)] == run("SELECT term FROM newest_term ORDER BY term").fetchall()
    for path in tmp_path.glob(f"{FILE}*"):
        assert not [word for word in (b"xylophone", b"vuvuzela", b"phone", b"zela") if word in path.read_bytes()]


def test_retired_page_is_found_by_date_only(index):
    """Until it is revived, a search for now does not find it."""
    add(index, (1, 1, "sea"))
    index.retire(1, 5)

    assert {1} == index.list_retired()
    assert [] == pages(index, "sea")
    assert [(1, 1)] == pages(index, "sea", at=4)
    assert [] == pages(index, "sea", at=6)
    index.revive(1, 1)
    assert [(1, 1)] == pages(index, "sea")
    index.retire(1, 7)
    add(index, (1, 2, "sun"))
    assert [(1, 2)] == pages(index, "sun")
    assert set() == index.list_retired()


@pytest.mark.parametrize("damage", [b"", b"no database at all, but of some length" * 200])
def test_file_that_is_no_index_is_replaced(tmp_path, damage):
    """The index is derived data: nothing is lost."""
    (tmp_path / FILE).write_bytes(damage)

    made = SearchIndex(tmp_path)

    assert "" == made.read_note("source")
    made.begin("one")
    assert "one" == made.read_note("source")
    made.close()


def test_changes_of_the_file_by_others_are_noticed(index, tmp_path):
    """Another process empties, deletes or replaces it while it is open."""
    add(index, (1, 1, "sea"))
    other = SearchIndex(tmp_path)
    other.begin("two")

    assert ["two", "0"] == [index.read_note("source"), index.read_note("cursor")]
    assert [] == pages(index, "sea")
    (tmp_path / FILE).unlink()
    assert "" == index.read_note("source")
    other.begin("three")
    assert "three" == index.read_note("source")
    other.close()


def test_damage_found_later_is_repaired(index, tmp_path):
    """The first call raises an error; after it the index is empty and is built from the stored
    versions.
    """
    add(index, *((number, 1, f"{' '.join(WORDS)} {number}") for number in range(1, 400)))
    index.forget(0)
    path = tmp_path / FILE
    data = path.read_bytes()
    path.write_bytes(data[:8192] + b"\x55" * (len(data) - 8192))
    index._raw.execute("PRAGMA shrink_memory")

    with pytest.raises(StoreStalledError, match="built again"):
        index.put([IndexEntry(page_id=900, seq=1, at=1, text="sea")], cursor=399, moved_to=400)

    assert ["", "0"] == [index.read_note("source"), index.read_note("cursor")]
    index.begin("one")
    add(index, (1, 1, "sea"))
    assert [(1, 1)] == pages(index, "sea")


def test_error_of_the_system_is_not_damage(tmp_path):
    """For example, the directory does not exist: nothing is deleted, and the error has the reason."""
    with pytest.raises(StoreStalledError, match="cannot be used"):
        SearchIndex(tmp_path / "nowhere")


def test_index_of_another_version_is_replaced(index, tmp_path):
    """Terms that were split by other rules could not be removed."""
    add(index, (1, 1, "sea"))
    index._raw.execute("PRAGMA user_version = 1")

    other = SearchIndex(tmp_path)

    assert (0, 0) == other.count()
    assert "" == other.read_note("source")
    other.close()


def test_scores_equal_those_of_fts5(index):
    """Our BM25 is that of the index, also for phrases, titles and texts of any length."""
    chance = random.Random(1)
    texts = [" ".join(chance.choices(WORDS, range(1, 11), k=chance.randint(3, 60))) for _ in range(80)]
    add(index, *((number, 1, text) for number, text in enumerate(texts, 1)))

    for text in ("sea", "sky sun", '"ice mist"', "fo* OR sea", "t7 OR rain"):
        query = parse(text)
        known = find.statistics(index, query.phrases)
        for hit in find.find(index, query):
            found = find.texts(index, [hit.id])[hit.id]
            assert hit.score == pytest.approx(bm25(counts_of(found, query.phrases), found.length, known), rel=1e-6)


def test_symbols_and_quotes_are_not_syntax(index):
    """Text of a page or a query is never read as a query of FTS5."""
    add(index, (1, 1, "a -5 $ 19.99 <b> | ~ x=1 \N{GRINNING FACE} 'q' NEAR(a b) col:val 東京"))

    for text in ('"-5"', "19.99", "\N{GRINNING FACE}", "NEAR(a b)", "col:val", "x=1", "京", "'q'", "a AND b"):
        assert [(1, 1)] == pages(index, text), text
