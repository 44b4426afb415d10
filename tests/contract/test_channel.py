"""The contract of channels, for each row of `CHANNELS`, against a real receiver on loopback."""

import asyncio
import email
import email.policy
import io
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from tests.fakes_smtp import MailServer
from tidings.notification.channel import PULLED, Message, Refused, Sent
from tidings.notification.channels import CHANNELS, SenderParts, build_senders
from tidings.settings import NotifySettings

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Apprise's own

SECOND = 1_000_000
KEYS = (b"k" * 32,)
HTTP = ("url", "webhook")


@dataclass(frozen=True)
class PlainAnswer:
    status: int | None = None
    retry_after: int | None = None
    error: str = ""


class PlainPoster:
    """A minimal client, so that this suite imports no other package: no redirects, one deadline."""

    async def post(self, url, *, headers, body, timeout_seconds):
        """Post over a new connection."""
        host, _, path = url.removeprefix("http://").partition("/")
        name, _, port = host.partition(":")
        lines = [f"POST /{path} HTTP/1.1", f"host: {host}", f"content-length: {len(body)}", "connection: close"]
        lines += [f"{key}: {value}" for key, value in headers.items()]
        try:
            async with asyncio.timeout(timeout_seconds):
                reader, writer = await asyncio.open_connection(name, int(port))
                try:
                    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
                    head = (await reader.readuntil(b"\r\n\r\n")).decode()
                finally:
                    writer.close()
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            return PlainAnswer(error=f"no answer: {type(error).__name__}")
        given = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        wait = int(given["retry-after"]) * SECOND if "retry-after" in given else None
        return PlainAnswer(status=int(head.split()[1]), retry_after=wait)


@dataclass
class Receiver:
    """Answer each POST with the next of `answers` (the last one repeats); None never answers."""

    answers: list
    asked: list = field(default_factory=list)
    port: int = 0

    def address(self, path="hook"):
        return f"http://127.0.0.1:{self.port}/{path}"

    async def serve(self, reader, writer):
        """Read and record one request, then answer it."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *rest = head.strip().split("\r\n")
            headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in rest)}
            body = await reader.readexactly(int(headers["content-length"]))
            self.asked.append((first.split()[1], headers, body))
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if answer is None:
                await reader.read()  # until the sender gives up
                return
            status, extra = answer
            writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: 0\r\n{extra}\r\n".encode())
            await writer.drain()
        finally:
            writer.close()


@asynccontextmanager
async def receiving(*answers):
    receiver = Receiver(list(answers))
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        await server.wait_closed()


def message(address="", **other):
    return Message(
        **{
            "id": "dlv_1",
            "address": address,
            "subject": "rates changed",
            "content_type": "application/json",
            "body": b'{"a": "\xc3\xa9"}',
            "attempt": 1,
            "sent_at": 1_700_000_000 * SECOND,
            "sequence": 42,
            **other,
        }
    )


class Thread:
    """Run jobs in a thread, so that this suite imports no other package."""

    async def run(self, job, argument, *, seconds):
        """Run the job in a thread beside the receiver."""
        return await asyncio.wait_for(asyncio.to_thread(job, argument), seconds)


def senders(stream=None, timeout_seconds=5.0, mail_port=9):
    mail = NotifySettings(
        smtp_host="127.0.0.1", smtp_port=mail_port, smtp_security="none", mail_from="tidings@example.org"
    )
    return build_senders(
        SenderParts(
            poster=PlainPoster(),
            keys=KEYS,
            stream=stream or io.StringIO(),
            timeout_seconds=timeout_seconds,
            jobs=Thread(),
            tls=object,
            settings=mail,
        )
    )


def address_for(kind, port):
    """Return the address of the receiver on this port for a channel of a kind."""
    match kind:
        case "email":
            return "anna@example.org"
        case "apprise":
            return f"json://127.0.0.1:{port}/hook?rto=1&cto=1"
    return f"http://127.0.0.1:{port}/hook"


async def exchange(kind, *answers, timeout_seconds=5.0):
    """Send once to a receiver with these answers; return the result and the requests received."""
    async with receiving(*answers) as receiver:
        answer = await senders(timeout_seconds=timeout_seconds)[kind].send(message(receiver.address()))
    return answer, receiver.asked


def test_suite_covers_every_kind():
    """A new kind must be added to this suite."""
    assert {"apprise", "console", "email", *HTTP, *PULLED} == set(CHANNELS)


@pytest.mark.parametrize("kind", sorted(PULLED))
def test_feed_and_stream_deliver_without_a_request(kind):
    """The message is stored in the database, for readers to fetch."""
    assert Sent() == asyncio.run(senders()[kind].send(message()))


@pytest.mark.parametrize("kind", sorted(set(CHANNELS) - PULLED))
def test_message_arrives_whole(kind):
    """Every kind that sends delivers the body unchanged and reports it as sent."""
    stream = io.StringIO()

    async def deliver(mail_port):
        async with receiving((204, "")) as receiver:
            sender = senders(stream, mail_port=mail_port)[kind]
            answer = await sender.send(message(address_for(kind, receiver.port)))
        return answer, receiver.asked

    with MailServer() as mail:
        answer, asked = asyncio.run(deliver(mail.port))
    match kind:
        case "email":
            letters = [email.message_from_bytes(taken.content, policy=email.policy.default) for taken in mail.taken]
            arrived = [letter.get_payload(decode=True) for letter in letters]
        case "apprise":
            arrived = [json.loads(body)["message"].encode() for _, _, body in asked]
        case "console":
            arrived = [stream.getvalue().rstrip("\n").encode()]
        case _:
            arrived = [body for _, _, body in asked]

    assert isinstance(answer, Sent)
    assert [message().body] == arrived


@pytest.mark.parametrize("kind", sorted(set(CHANNELS) - PULLED))
def test_refused_connection_is_a_result_not_an_exception(kind):
    """The result has a reason and asks for another attempt."""
    closed = io.StringIO()
    closed.close()
    answer = asyncio.run(senders(closed)[kind].send(message(address_for(kind, 9))))

    assert isinstance(answer, Refused)
    assert answer.retry
    assert not answer.disable
    assert answer.reason


@pytest.mark.parametrize("kind", HTTP)
@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_2xx_is_delivered(kind, status):
    """Any 2xx counts as delivered; the status is recorded."""
    answer, _ = asyncio.run(exchange(kind, (status, "")))

    assert Sent(status) == answer


@pytest.mark.parametrize("kind", HTTP)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_a_failure_and_not_followed(kind, status):
    """H-121: a receiver cannot redirect a delivery to an address of this machine."""

    async def deliver():
        async with receiving((200, "")) as inner, receiving((status, f"location: {inner.address()}\r\n")) as outer:
            answer = await senders()[kind].send(message(outer.address()))
        return answer, outer.asked, inner.asked

    answer, outer, inner = asyncio.run(deliver())

    assert isinstance(answer, Refused)
    assert answer.retry
    assert f"{status}: the receiver has moved" in answer.reason
    assert (1, 0) == (len(outer), len(inner))


@pytest.mark.parametrize("kind", HTTP)
def test_receiver_that_never_answers_times_out(kind):
    """H-122: the deadline is that of the setting. The attempt fails and is retried."""
    answer, asked = asyncio.run(exchange(kind, None, timeout_seconds=0.1))

    assert isinstance(answer, Refused)
    assert answer.retry
    assert 1 == len(asked)


@pytest.mark.parametrize("kind", HTTP)
def test_status_410_disables_the_endpoint(kind):
    """F-29: 410 means that the endpoint is gone for good."""
    answer, _ = asyncio.run(exchange(kind, (410, "")))

    assert isinstance(answer, Refused)
    assert (False, True) == (answer.retry, answer.disable)


@pytest.mark.parametrize("kind", HTTP)
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_returned(kind, status):
    """F-29: the scheduler of attempts gets the delay that the receiver asks for."""
    answer, _ = asyncio.run(exchange(kind, (status, "retry-after: 120\r\n")))

    assert isinstance(answer, Refused)
    assert 120 * SECOND == answer.retry_after


@pytest.mark.parametrize("kind", HTTP)
@pytest.mark.parametrize("status", [402, 408, 409, 418, 429, 451, 499, 500, 502, 503, 600])
def test_temporary_failures_are_retried(kind, status):
    """Statuses about the receiver as a whole (408, 429, 500 and above) also hold later messages
    back.
    """
    answer, _ = asyncio.run(exchange(kind, (status, "")))

    assert isinstance(answer, Refused)
    assert answer.retry
    assert (status in {408, 429} or status >= 500) == answer.holds


@pytest.mark.parametrize("kind", HTTP)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 413, 422])
def test_permanent_failures_are_final(kind, status):
    """The same bytes would be refused again; people repair the cause and replay."""
    answer, _ = asyncio.run(exchange(kind, (status, "")))

    assert isinstance(answer, Refused)
    assert not answer.retry
    assert str(status) in answer.reason


@pytest.mark.parametrize("kind", HTTP)
def test_retry_keeps_its_id(kind):
    """A receiver can drop the second attempt by its id.

    Its signature has the time of the second attempt.
    """

    async def deliver():
        async with receiving((500, ""), (200, "")) as receiver:
            sender = senders()[kind]
            await sender.send(message(receiver.address()))
            await sender.send(message(receiver.address(), attempt=2, sent_at=1_700_000_005 * SECOND))
        return [headers for _, headers, _ in receiver.asked]

    first, second = asyncio.run(deliver())

    assert "dlv_1" == first["webhook-id"] == second["webhook-id"]
    assert ("1700000000", "1700000005") == (first["webhook-timestamp"], second["webhook-timestamp"])
    assert first["webhook-signature"] != second["webhook-signature"]
    assert "42" == second["tidings-sequence"]
