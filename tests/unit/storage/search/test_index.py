"""The index: a file that follows, forgets and is made anew."""

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
    """Give an index of a database `one`."""
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
    """A version that says the same belongs to the text before it."""
    add(index, (1, 1, "the sea"), (2, 1, "the sky"), (1, 2, "the sea"), (1, 3, "the sun"))

    assert [(1, 3)] == pages(index, "sun")
    assert [] == pages(index, "sea")
    assert [(1, 1)] == pages(index, "sea", at=2)
    assert [] == pages(index, "sea", at=3)
    assert [(1, 3)] == pages(index, "the", changed_since=1)
    assert [(1, 2), (3, 3)] == index.seqs(1)
    assert (3, 2) == index.count()


def test_a_title_that_changes_alone_is_another_text(index):
    """What the page says now is found by the new title, what it said then by the old one."""
    for number, title in enumerate(("Sea", "Sky", "Sky"), 1):
        entry = IndexEntry(page_id=1, seq=number, at=number, title=title, text="the sun")
        index.put([entry], cursor=number - 1, moved_to=number)

    assert [[], [(1, 2)], [(1, 1)]] == [pages(index, "sea"), pages(index, "sky"), pages(index, "sea", at=1)]
    assert [(1, 1), (2, 3)] == index.seqs(1)


def test_what_two_add_is_added_once(index):
    """The second finds that the first was there, and does nothing."""
    entry = IndexEntry(page_id=1, seq=1, at=1, text="sea")

    assert [True, False] == [index.put([entry], cursor=0, moved_to=1) for _ in range(2)]
    assert (1, 1) == index.count()


def test_what_is_not_stored_any_more_leaves_no_trace(index, tmp_path):
    """Neither terms nor texts nor titles, in no file; what is left of a text stays."""
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


def test_a_page_that_is_gone_is_found_by_date_until_it_is_back(index):
    """And says then what it said before."""
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
def test_a_file_that_is_none_is_made_anew(tmp_path, damage):
    """The index is derived: nothing is lost with it."""
    (tmp_path / FILE).write_bytes(damage)

    made = SearchIndex(tmp_path)

    assert "" == made.read_note("source")
    made.begin("one")
    assert "one" == made.read_note("source")
    made.close()


def test_what_others_do_to_the_file_is_seen(index, tmp_path):
    """It is emptied, removed, or put anew while it is open."""
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


def test_damage_that_is_met_later_is_mended(index, tmp_path):
    """Whoever meets it is told; whoever asks next finds an empty index, to be made of what is
    stored.
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


def test_what_the_system_refuses_is_no_damage(tmp_path):
    """A directory that is not there, say: nothing is removed, and it is said what is wrong."""
    with pytest.raises(StoreStalledError, match="cannot be used"):
        SearchIndex(tmp_path / "nowhere")


def test_an_index_of_other_rules_is_made_anew(index, tmp_path):
    """Terms that were cut otherwise could not be taken out again."""
    add(index, (1, 1, "sea"))
    index._raw.execute("PRAGMA user_version = 1")

    other = SearchIndex(tmp_path)

    assert (0, 0) == other.count()
    assert "" == other.read_note("source")
    other.close()


def test_own_scores_are_those_of_fts5(index):
    """BM25 by hand is the index's own, also for phrases, titles and texts of any length."""
    chance = random.Random(1)
    texts = [" ".join(chance.choices(WORDS, range(1, 11), k=chance.randint(3, 60))) for _ in range(80)]
    add(index, *((number, 1, text) for number, text in enumerate(texts, 1)))

    for text in ("sea", "sky sun", '"ice mist"', "fo* OR sea", "t7 OR rain"):
        query = parse(text)
        known = find.statistics(index, query.phrases)
        for hit in find.find(index, query):
            found = find.texts(index, [hit.id])[hit.id]
            assert hit.score == pytest.approx(bm25(counts_of(found, query.phrases), found.length, known), rel=1e-6)


def test_symbols_and_quotes_are_no_syntax(index):
    """Whatever stands in a page or a query, the index takes it."""
    add(index, (1, 1, "a -5 $ 19.99 <b> | ~ x=1 \N{GRINNING FACE} 'q' NEAR(a b) col:val 東京"))

    for text in ('"-5"', "19.99", "\N{GRINNING FACE}", "NEAR(a b)", "col:val", "x=1", "京", "'q'", "a AND b"):
        assert [(1, 1)] == pages(index, text), text
