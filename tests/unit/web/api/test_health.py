import asyncio

from tests.asgi import ask
from tests.unit.web.insides import inside
from tidings.clock import MINUTE, ManualClock
from tidings.errors import StoreBusyError
from tidings.storage.db import lock
from tidings.storage.db.database import REVISIONS
from tidings.web.routes import application


def health(tmp_path, upset):
    """Return the answer of the service after `upset`."""

    async def act():
        async with inside(tmp_path, clock=ManualClock(), token="t" * 24) as within:
            await upset(within)
            return await ask(application(within), "/healthz")

    return asyncio.run(act())


async def _nothing(within):
    pass


async def _another(within):
    now = within.clock.now() + MINUTE
    await within.store.write(lock.acquire_lease, lock.POLLER, "there:2", at=now, until=now + MINUTE)


async def _late(within):
    within.clock.advance(MINUTE)


async def _hold(within):
    async def read(*_):
        message = "the database is held"
        raise StoreBusyError(message)

    within.store.read = read


def test_healthy_service_answers_ready(tmp_path):
    """No token is needed: the answer has the schema, the lease and the number of troubles, and
    nothing about sentinels.
    """
    answer = health(tmp_path, _nothing)

    assert 200 == answer.status
    assert {"status": "ready", "schema": REVISIONS[-1], "lease": {"epoch": 1, "until": "2023-11-14T22:13:50.000000Z"}, "health": "ok", "troubles": 0} == answer.json()  # fmt: skip


def test_unhealthy_service_answers_503(tmp_path):
    """Another process has the lease, the lease has expired, or the database does not answer."""
    answers = [health(tmp_path / str(n), upset) for n, upset in enumerate((_another, _late, _hold))]

    assert [503] * 3 == [one.status for one in answers]
    assert ["lease lost", "lease lost", "busy"] == [one.json()["status"] for one in answers]
