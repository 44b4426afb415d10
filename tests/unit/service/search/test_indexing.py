"""The index follows what is stored, and one page that cannot be read hides no other."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from tidings.detection.job.contract import Body
from tidings.errors import StoreDamagedError
from tidings.isolation.runner import Died
from tidings.search.query import parse
from tidings.service.search import indexing
from tidings.service.search.indexing import BATCH, JOB_BYTES, Indexer
from tidings.service.search.read_text import ReadText
from tidings.storage.search import find
from tidings.storage.search.index import SearchIndex

POISON = b"poison"


class Reader:
    """Reads bodies as they are, unless one kills its job; records how many each job had."""

    def __init__(self) -> None:
        self.jobs: list[int] = []
        self.is_closed = False

    async def run(self, fn: Any, groups: Any) -> Any:
        self.jobs.append(len(groups))
        if any(body.data.startswith(POISON) for bodies in groups for body in bodies):
            return Died("crash", "killed")
        return SimpleNamespace(
            value=[ReadText("html", "", bodies[0].data[:20].decode() if bodies else "") for bodies in groups]
        )

    async def close(self) -> None:
        self.is_closed = True


class House:
    """A watched page, and the index of its versions."""

    def __init__(self, world, folder, monkeypatch):
        self.world = world
        self.bodies: dict[int, bytes] = {}
        self.reader = Reader()
        self.index = SearchIndex(folder)
        world.watch()
        monkeypatch.setattr(
            indexing, "read_body", lambda c, archive, page_id, seq: Body(data=self.bodies[seq], content_type="", url="")
        )

    def store(self, *bodies):
        for body in bodies:
            self.bodies[len(self.bodies) + 1] = body
            self.world.commit(self.world.make_stored(body))

    def play(self, story):
        database = self.world.reopen()
        archive: Any = None
        reader: Any = self.reader
        indexer = Indexer(database, archive, self.index, lambda: reader, now=lambda: self.world.at)
        try:
            return asyncio.run(story(indexer))
        finally:
            database.close()

    def found(self, word):
        return [hit.seq for hit in find.find(self.index, parse(word))]


@pytest.fixture
def house(world, tmp_path, monkeypatch):
    made = House(world, tmp_path, monkeypatch)
    yield made
    made.index.close()


def test_versions_are_added_once(house):
    """All that are missing, in a few transactions; then none is behind."""
    house.store(*(f"sea {n}".encode() for n in range(BATCH + 1)))
    added: list[int] = []

    async def catch_up(indexer):
        assert BATCH + 1 == await indexer.catch_up(added.append)
        assert 0 == await indexer.behind()
        return await indexer.catch_up()

    assert 0 == house.play(catch_up)
    assert [BATCH, BATCH + 1] == added
    assert [BATCH + 1] == house.found("sea")
    assert [BATCH, 1] == house.reader.jobs


def test_job_has_a_limited_volume(house):
    """A larger version has one of its own."""
    half = JOB_BYTES // 2
    house.store(b"a" * half, b"b" * half, b"c", b"d" * (2 * JOB_BYTES), b"e")
    house.play(lambda indexer: indexer.catch_up())

    assert [2, 1, 1, 1] == house.reader.jobs


def test_version_that_kills_its_job_cannot_be_searched(house, caplog):
    """The others of its job can, and it is named once."""
    house.store(b"sea one", POISON, b"sky two")
    house.play(lambda indexer: indexer.catch_up())

    assert [3, 1, 1, 1] == house.reader.jobs
    assert ([3], []) == (house.found("sky"), house.found("poison"))
    assert 1 == caplog.text.count("version 2 of")
    assert 0 == house.play(lambda indexer: indexer.behind())


def test_version_that_the_index_refuses_hides_no_other(house, caplog, monkeypatch):
    """It is added without its text, and named."""
    put = SearchIndex.put

    def refuse(self, entries, **more):
        if any("sun" in entry.text for entry in entries):
            raise ValueError
        return put(self, entries, **more)

    monkeypatch.setattr(SearchIndex, "put", refuse)
    house.store(b"sea one", b"sun", b"sky two")
    house.play(lambda indexer: indexer.catch_up())

    assert [3] == house.found("sky")
    assert 1 == caplog.text.count("version 2 of")
    assert 0 == house.play(lambda indexer: indexer.behind())


def test_damaged_row_of_a_version_hides_no_other(house, monkeypatch):
    """Its body, or its page, cannot be read."""

    def refuse(c, archive, page_id, seq):
        if seq == 2:
            raise StoreDamagedError
        return Body(data=house.bodies[seq], content_type="", url="")

    monkeypatch.setattr(indexing, "read_body", refuse)
    house.store(b"sea one", b"sun", b"sky two")
    house.play(lambda indexer: indexer.catch_up())

    assert [3] == house.found("sky")
    assert 0 == house.play(lambda indexer: indexer.behind())


def test_index_of_another_database_is_begun_anew(house):
    """So is one that is rebuilt."""
    house.store(b"sea")
    house.index.begin("other")
    assert 1 == house.play(lambda indexer: indexer.catch_up())
    house.play(lambda indexer: indexer.rebuild())
    assert [] == house.found("sea")
    assert 1 == house.play(lambda indexer: indexer.catch_up())
    assert [1] == house.found("sea")


def test_process_that_parses_ends_with_the_indexer(house):
    """It is started by the first page only."""
    house.play(lambda indexer: indexer.close())
    assert not house.reader.is_closed
    house.store(b"sea")

    async def live(indexer):
        await indexer.catch_up()
        await indexer.close()

    house.play(live)
    assert house.reader.is_closed
