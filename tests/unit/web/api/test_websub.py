"""The callback of WebSub: verification and content distribution by the standard (W3C WebSub §5.3,
§7).
"""

import asyncio

import pytest

from tests.asgi import ask
from tests.unit.web.insides import Hubs, inside
from tidings.errors import StoreBusyError
from tidings.web.api.websub import BURST, MOST_BYTES
from tidings.web.entrances import application

PATH = "/api/v1/websub/secret-path"


def play(tmp_path, hubs, *requests, **serve):
    """Return the answers to requests of (path, method, headers, body)."""

    async def act():
        async with inside(tmp_path, hubs=hubs, **serve) as within:
            app = application(within)
            return [
                await ask(app, path, method, headers=headers, body=body) for path, method, headers, body in requests
            ]

    return asyncio.run(act())


def test_challenge_is_returned_as_plain_text(tmp_path):
    """The challenge is equal byte for byte, and no browser runs it."""
    (answer, other) = play(
        tmp_path,
        Hubs(),
        (f"{PATH}?hub.mode=subscribe&hub.challenge=%3Cb%3Ex%3C%2Fb%3E", "GET", {}, b""),
        ("/api/v1/websub/other?hub.challenge=x", "GET", {}, b""),
    )

    assert (200, b"<b>x</b>", 404) == (answer.status, answer.body, other.status)
    assert answer.headers["content-type"].startswith("text/plain")
    assert "nosniff" == answer.headers["x-content-type-options"]


def test_content_of_a_hub_is_passed_on_with_its_signature(tmp_path):
    """The body is complete, whatever its type. 202 does not reveal whether the signature is valid."""
    hubs = Hubs()
    (answer,) = play(
        tmp_path,
        hubs,
        (PATH, "POST", {"x-hub-signature": "sha1=ab", "content-type": "application/atom+xml"}, b"<feed/>"),
    )

    assert (202, [(b"<feed/>", "sha1=ab")]) == (answer.status, hubs.heard)


def test_unknown_subscription_is_410(tmp_path):
    """The hub can then delete it; the body is not read."""
    (answer,) = play(tmp_path, Hubs(), ("/api/v1/websub/other", "POST", {}, b"x"))

    assert 410 == answer.status


def test_requests_of_a_hub_are_limited(tmp_path):
    """Size and number are limited."""
    large, *many = play(
        tmp_path,
        Hubs(),
        (PATH, "POST", {"content-length": str(MOST_BYTES + 1)}, b"x"),
        *[(PATH, "POST", {}, b"x")] * BURST,
    )

    assert 413 == large.status
    assert ([202] * (BURST - 1), 429) == ([one.status for one in many[:-1]], many[-1].status)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_busy_store_is_503(tmp_path, method):
    """`Retry-After` has the wait."""
    (answer,) = play(tmp_path, Hubs(fault=StoreBusyError("busy")), (f"{PATH}?hub.challenge=x", method, {}, b""))

    assert (503, "5") == (answer.status, answer.headers["retry-after"])


def test_host_of_the_public_url_is_accepted(tmp_path):
    """Hubs use it; others are refused."""
    asked = [
        (f"{PATH}?hub.challenge=x", "GET", {"host": host}, b"") for host in ("tidings.example.org", "evil.example")
    ]
    answers = play(tmp_path, Hubs(), *asked, public_url="https://Tidings.example.org:8443/")

    assert [200, 421] == [one.status for one in answers]
