"""Webhooks over the client that the service uses, received on loopback and verified with the public library."""

import asyncio
from datetime import UTC, datetime

from standardwebhooks import Webhook as PublicWebhook

from tests.fakes import Page, WebServer
from tidings.fetching.http.client import Client
from tidings.notification.channel import Message, Refused, Sent
from tidings.notification.webhook import Webhook, read_secrets
from tidings.settings import FetchSettings

SECOND = 1_000_000
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
LOOPBACK = FetchSettings(allow_networks=("127.0.0.0/8",))


def send(address, settings=LOOPBACK):
    """Deliver one message; return what the sender says."""
    message = Message(
        id="dlv_1",
        address=address,
        subject="",
        content_type="application/json",
        body='{"text": "Zürich 中 🙂"}'.encode(),
        attempt=1,
        sent_at=int(datetime.now(UTC).timestamp()) * SECOND,
        sequence=5,
    )

    async def deliver():
        client = Client(settings)
        try:
            return await Webhook(client, read_secrets(SECRET), 5.0).send(message)
        finally:
            await client.close()

    return asyncio.run(deliver())


def test_receiver_verifies_what_arrives():
    """Headers and body as they came over the wire satisfy the public library."""
    with WebServer() as server:
        server.pages["/hook"] = Page(status=204)
        answer = send(server.url("/hook"))
    (seen,) = server.seen

    assert Sent(204) == answer
    assert {"text": "Zürich 中 🙂"} == PublicWebhook(SECRET).verify(seen.body, seen.headers)
    assert ("POST", "application/json", "5") == (
        seen.method,
        seen.headers["content-type"],
        seen.headers["tidings-sequence"],
    )


def test_redirect_to_this_machine_is_not_followed():
    """H-121: a 3xx is a failure; where it points is never asked."""
    with WebServer() as inner, WebServer("127.0.0.2") as outer:
        inner.pages["/secret"] = Page()
        outer.pages["/hook"] = Page(status=307, headers={"location": inner.url("/secret")})
        answer = send(outer.url("/hook"))

    assert isinstance(answer, Refused)
    assert answer.retry
    assert (1, 0) == (len(outer.seen), inner.dials)


def test_private_receiver_needs_leave():
    """Without `fetch.allow_networks` no webhook reaches this machine: it is refused before anything is dialled."""
    with WebServer() as server:
        answer = send(server.url("/hook"), FetchSettings())

    assert isinstance(answer, Refused)
    assert 0 == server.dials
