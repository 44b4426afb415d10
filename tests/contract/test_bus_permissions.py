"""What a poller may do on a NATS server with the permissions of docs/howto/many-machines.md."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import nats
import nats.errors
import pytest

from tests.nats_server import NatsServer
from tidings.bus.nats import NatsBus
from tidings.errors import BusError

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "many-machines.md"
NAME = "tidings"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    """Yield a server with the configuration of the documentation."""
    (block,) = [each for each in PAGE.read_text().split("```")[1::2] if "authorization {" in each]
    with NatsServer(tmp_path, block) as running:
        yield running


def url_of(server: NatsServer, user: str) -> str:
    """Return the address with a user and the password of the documentation."""
    return server.url.replace("//", f"//{user}:{user.upper()}_PASSWORD@")


def test_poller_takes_checks_of_its_lane_and_answers(server):
    """Large messages pass too."""

    async def story() -> None:
        service, poller = (NatsBus(url_of(server, user), name=NAME) for user in ("service", "poller"))
        await service.offer("pages", b"work")
        assert b"work" == await poller.take("pages")
        for sender, receiver in ((service, poller), (poller, service)):
            async with receiver.mailbox("mine") as mail:
                await sender.send("mine", b"a" * 3_000_000)
                assert 3_000_000 == len(await anext(mail))
        for bus in (service, poller):
            await bus.close()

    asyncio.run(asyncio.wait_for(story(), 60))


def test_poller_can_read_and_write_nothing_else(server, monkeypatch):
    """It cannot take checks of another lane, offer checks, read or delete the stream, or read the
    answers that the server gives to others.
    """
    monkeypatch.setattr("tidings.bus.nats.CONNECT_SECONDS", 1.0)

    async def story() -> None:
        service, poller = (NatsBus(url_of(server, user), name=NAME) for user in ("service", "poller"))
        await service.offer("browser", b"rendered")
        for refused in (poller.take("browser"), poller.offer("pages", b"forged")):
            with pytest.raises(BusError):
                await refused

        refusals: asyncio.Queue[str] = asyncio.Queue()

        async def note(error: Exception) -> None:
            if "subscription" in str(error):
                await refusals.put(str(error))

        client = await nats.connect(url_of(server, "poller"), error_cb=note, inbox_prefix="_INBOX_poller")
        for subject in (f"{NAME}.work.*", "_INBOX_service.>", "_INBOX.>", "$JS.>", ">"):
            await client.subscribe(subject)
            assert subject.lower() in (await refusals.get()).lower()
        for call in (
            f"STREAM.INFO.{NAME}-work",
            f"STREAM.MSG.GET.{NAME}-work",
            f"STREAM.PURGE.{NAME}-work",
            f"STREAM.DELETE.{NAME}-work",
            f"CONSUMER.MSG.NEXT.{NAME}-work.{NAME}-browser",
        ):
            with pytest.raises(nats.errors.TimeoutError):
                await client.request(f"$JS.API.{call}", b'{"seq": 1}', timeout=0.3)
        await client.close()

        assert b"rendered" == await service.take("browser")
        for bus in (service, poller):
            await bus.close()

    asyncio.run(asyncio.wait_for(story(), 60))
