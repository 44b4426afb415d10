"""The index is updated despite errors, and built without the log of searches if necessary."""

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
    """Yield the settings of an empty database."""
    with products.fresh("sqlite", tmp_path / "data") as made:
        yield replace(made, data=tmp_path / "data")


def test_programming_error_does_not_end_the_indexer(settings, monkeypatch, caplog):
    """The error is logged with its traceback, and the update is retried."""
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


def test_damaged_log_of_searches_does_not_stop_the_index(settings, caplog):
    """A warning says that nothing is measured meanwhile."""
    (settings.data / FILE).write_bytes(b"none" * 2_000)

    async def catch_up():
        async with open_indexer(settings) as (_, opened):
            return await opened.catch_up()

    assert 0 == asyncio.run(catch_up())
    assert "not measured" in caplog.text
