"""The index is followed whatever happens to it, and made without the log of searches if need be."""

import asyncio
import logging
from dataclasses import replace

import pytest

from tidings.service.run import indexer
from tidings.service.run.indexer import indexing, open_indexer
from tidings.service.search.indexing import Indexer
from tidings.storage.search.log import FILE


@pytest.fixture
def settings(products, tmp_path):
    """Give the settings of an empty database."""
    with products.fresh("sqlite", tmp_path / "data") as made:
        yield replace(made, data=tmp_path / "data")


def test_a_fault_of_our_own_does_not_end_it(settings, monkeypatch, caplog):
    """It is logged with where it was, and tried again."""
    again = asyncio.Event()

    async def keep_up(self):
        if caplog.records:
            again.set()
            await asyncio.Event().wait()
        raise ValueError("a page that nobody thought of")

    async def follow():
        async with indexing(settings):
            await asyncio.wait_for(again.wait(), 5)

    monkeypatch.setattr(Indexer, "keep_up", keep_up)
    monkeypatch.setattr(indexer, "AFTER_FAULT_SECONDS", 0)
    with caplog.at_level(logging.ERROR, "tidings.service.search"):
        asyncio.run(follow())

    assert ["the search index is not updated"] == [one.getMessage() for one in caplog.records]
    assert "a page that nobody thought of" in caplog.text


def test_a_log_of_searches_that_is_none_does_not_keep_pages_from_being_searched(settings, caplog):
    """It is said that nothing is measured meanwhile."""
    (settings.data / FILE).write_bytes(b"none" * 2_000)

    async def catch_up():
        async with open_indexer(settings) as (_, opened):
            return await opened.catch_up()

    assert 0 == asyncio.run(catch_up())
    assert "not measured" in caplog.text
