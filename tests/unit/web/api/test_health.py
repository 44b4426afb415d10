import asyncio

from tests.asgi import ask
from tests.unit.web.insides import inside
from tidings.clock import MINUTE, ManualClock
from tidings.errors import StoreBusyError
from tidings.storage.db import leases
from tidings.storage.db.database import REVISIONS
from tidings.web.entrances import application


def health(tmp_path, upset):
    """Return what is answered once something has happened to the service."""

    async def act():
        async with inside(tmp_path, clock=ManualClock(), token="t" * 24) as within:
            await upset(within)
            return await ask(application(within), "/healthz")

    return asyncio.run(act())


async def _nothing(within):
    pass


async def _another(within):
    now = within.clock.now() + MINUTE
    await within.store.write(leases.acquire, leases.POLLER, "there:2", at=now, until=now + MINUTE)


async def _late(within):
    within.clock.advance(MINUTE)


async def _hold(within):
    async def read(*_):
        message = "the database is held"
        raise StoreBusyError(message)

    within.store.read = read


def test_a_service_that_is_well_says_so(tmp_path):
    """Anybody may ask: ready, the schema, the lease, how many troubles there are, and nothing of what is watched."""
    answer = health(tmp_path, _nothing)

    assert 200 == answer.status
    assert {"status": "ready", "schema": REVISIONS[-1], "lease": {"epoch": 1, "until": "2023-11-14T22:13:50.000000Z"}, "health": "ok", "troubles": 0} == answer.json()  # fmt: skip


def test_one_that_is_not_is_no_success(tmp_path):
    """503 once another has taken over, the lease has run out, or the database does not answer: what watches the service sees it."""
    answers = [health(tmp_path / str(n), upset) for n, upset in enumerate((_another, _late, _hold))]

    assert [503] * 3 == [one.status for one in answers]
    assert ["lease lost", "lease lost", "busy"] == [one.json()["status"] for one in answers]
