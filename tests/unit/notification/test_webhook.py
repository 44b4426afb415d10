import asyncio
import base64
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook as PublicWebhook
from standardwebhooks import WebhookVerificationError

from tidings.errors import SettingError
from tidings.notification.channel import Message, Refused
from tidings.notification.webhook import Webhook, make_secret, read_secrets, sign_headers, signature

SECOND = 1_000_000
# The example of the Standard Webhooks specification.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
VECTOR = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def message(body=b'{"a":1}', sent_at=1_700_000_000 * SECOND):
    return Message(
        id="dlv_7",
        address="https://example.org/hook",
        subject="",
        content_type="application/json",
        body=body,
        attempt=1,
        sent_at=sent_at,
        sequence=9,
    )


def now():
    return int(datetime.now(UTC).timestamp()) * SECOND


def test_signature_matches_the_example_of_the_specification():
    """The signatures are equal byte for byte."""
    found = signature(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1_614_265_330 * SECOND,
        body=b'{"test": 2432232314}',
        keys=read_secrets(SECRET),
    )

    assert VECTOR == found


@pytest.mark.parametrize("body", [b'{"a":1}', b"{}", '{"a":"é 中 🙂"}'.encode(), b'{"a":"' + b"x" * 20_000 + b'"}'])
def test_public_package_accepts_our_signature(body):
    """A receiver may verify with the public library, which requires the present time."""
    sent = message(body, sent_at=now() + 999_999)
    headers = sign_headers(sent, read_secrets(SECRET))

    assert PublicWebhook(SECRET).verify(body, headers) is not None


def test_public_package_refuses_another_body():
    """The body differs in one byte."""
    headers = sign_headers(message(sent_at=now()), read_secrets(SECRET))
    with pytest.raises(WebhookVerificationError):
        PublicWebhook(SECRET).verify(b'{"a":2}', headers)


def test_secrets_can_be_replaced_without_a_gap():
    """While two secrets are set, receivers with either of them accept."""
    new = make_secret()
    headers = sign_headers(message(sent_at=now()), read_secrets(f"{new}, {SECRET}"))

    assert 2 == len(headers["webhook-signature"].split(" "))
    assert {"a": 1} == PublicWebhook(SECRET).verify(message().body, headers)
    assert {"a": 1} == PublicWebhook(new).verify(message().body, headers)
    with pytest.raises(WebhookVerificationError):
        PublicWebhook(make_secret()).verify(message().body, headers)


def secret(count):
    return "whsec_" + base64.b64encode(b"k" * count).decode()


@pytest.mark.parametrize("count", [24, 32, 64])
def test_secret_may_have_24_to_64_bytes(count):
    """Both limits are included."""
    assert (b"k" * count,) == read_secrets(secret(count))


@pytest.mark.parametrize(
    "text", [secret(23), secret(65), "whsec_", "whsec_!!!!", secret(32).removeprefix("whsec_"), "whsec_" + "é" * 40]
)
def test_invalid_secret_is_refused_and_not_shown(text):
    """The error names the position of the secret and the expected form."""
    with pytest.raises(SettingError, match="secret 2 of notify") as raised:
        read_secrets(f"{SECRET} {text}")

    assert text not in str(raised.value) or "whsec_" == text


def test_missing_secret_is_refused():
    """No message is sent unsigned by accident."""
    with pytest.raises(SettingError, match="empty"):
        read_secrets("  ")


def test_made_secrets_are_valid_and_differ():
    """Each has 32 bytes."""
    first, second = make_secret(), make_secret()

    assert first != second
    assert [32, 32] == [len(key) for key in read_secrets(f"{first} {second}")]


@dataclass(frozen=True)
class Answer:
    status: int | None
    retry_after: int | None = None
    error: str = ""


class Poster:
    """Records posts and returns a given answer."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    async def post(self, url, *, headers, body, timeout_seconds):
        """Return the given answer."""
        self.asked.append((url, dict(headers), body, timeout_seconds))
        return self.answer


def test_post_has_the_whole_message():
    """Address, headers, body and deadline are passed to the client unchanged."""
    poster = Poster(Answer(200))
    asyncio.run(Webhook(poster, (b"k" * 32,), 7.5).send(message()))
    (asked,) = poster.asked

    assert ("https://example.org/hook", sign_headers(message(), (b"k" * 32,)), message().body, 7.5) == asked


@pytest.mark.parametrize(("error", "expected"), [("connection refused", "connection refused"), ("", "no answer came")])
def test_missing_answer_has_a_reason(error, expected):
    """The reason is that of the client, or a general one."""
    answer = asyncio.run(Webhook(Poster(Answer(None, error=error)), (b"k" * 32,)).send(message()))

    assert Refused(reason=expected) == answer
