"""One process at a time tries an endpoint."""

import asyncio
from dataclasses import replace

import pytest

from tests.stores import SECOND, START, World
from tidings.errors import ClaimLostError
from tidings.service.notify.claims import Claims
from tidings.storage.db import lock
from tidings.storage.watches import deliveries, endpoints
from tidings.storage.write.store import Store

LENGTH = 3600 * SECOND


@pytest.fixture
def waiting(products, tmp_path):
    """Yield a database that processes share, with one due message."""
    with products.fresh("postgresql", tmp_path / "data") as settings:
        world = World(settings)
        world.report_change()
        yield world
        world.database.close()


def with_claims(world, story, *holders):
    """Play a story with the claims of some processes."""

    async def play():
        store = Store(world.reopen())
        try:
            return await story(*(Claims(store, holder, LENGTH) for holder in holders))
        finally:
            await store.close()

    return asyncio.run(play())


def test_claimed_endpoint_is_left_to_its_process(waiting):
    """Until it is released; the claims and the first messages are of the same endpoints."""
    now = waiting.at

    async def story(one, other):
        claims, rows = await one.take([], now)
        assert [*claims] == [row.endpoint_id for row in rows]
        assert 1 == len(rows)
        (claim,) = claims.values()
        assert await one.holds(claim)
        assert ({}, []) == await other.take([], now)
        await one.drop(claim)
        taken, _ = await other.take([], now)
        assert claims.keys() == taken.keys()
        assert not await one.holds(claim)
        assert await other.holds(*taken.values())

    with_claims(waiting, story, "one", "other")


def test_busy_endpoint_and_future_message_are_not_taken(waiting):
    """The process tries that endpoint already, or it is too early."""
    (endpoint,) = waiting.read(endpoints.listing)

    async def story(one):
        assert ({}, []) == await one.take([endpoint.id], waiting.at)
        assert ({}, []) == await one.take([], START - 1)

    with_claims(waiting, story, "one")


def test_claim_of_a_killed_process_ends(waiting):
    """Another one takes the endpoint, and the late result is refused."""

    async def story(one, other):
        (claim,) = (await replace(one, length=1).take([], waiting.at))[0].values()
        taken, rows = await other.take([], waiting.at)
        assert 1 == len(rows) == len(taken)
        assert not await one.holds(claim)
        with pytest.raises(ClaimLostError):
            await one.store.read(lock.check_claim, claim)

    with_claims(waiting, story, "one", "other")


def test_message_that_another_process_has_sent_is_not_taken(waiting, monkeypatch):
    """What is due is read again while nobody else writes."""
    read = deliveries.first_due
    seen = []

    def first_due(c, **given):
        seen.append(read(c, **given))
        return seen[-1] if len(seen) == 1 else []

    monkeypatch.setattr(deliveries, "first_due", first_due)

    async def story(one):
        assert ({}, []) == await one.take([], waiting.at)

    with_claims(waiting, story, "one")
    assert [1, 1] == list(map(len, seen))
