"""The callback of WebSub: verification and content distribution as the standard has it (W3C WebSub §5.3, §7)."""

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


def test_a_challenge_comes_back_as_plain_text(tmp_path):
    """Byte for byte, and nothing that a browser would run."""
    (answer, other) = play(
        tmp_path,
        Hubs(),
        (f"{PATH}?hub.mode=subscribe&hub.challenge=%3Cb%3Ex%3C%2Fb%3E", "GET", {}, b""),
        ("/api/v1/websub/other?hub.challenge=x", "GET", {}, b""),
    )

    assert (200, b"<b>x</b>", 404) == (answer.status, answer.body, other.status)
    assert answer.headers["content-type"].startswith("text/plain")
    assert "nosniff" == answer.headers["x-content-type-options"]


def test_what_a_hub_tells_is_handed_on_with_its_signature(tmp_path):
    """Whole, whatever its type; 202 whether the signature holds or not, so that nobody learns by trying."""
    hubs = Hubs()
    (answer,) = play(
        tmp_path,
        hubs,
        (PATH, "POST", {"x-hub-signature": "sha1=ab", "content-type": "application/atom+xml"}, b"<feed/>"),
    )

    assert (202, [(b"<feed/>", "sha1=ab")]) == (answer.status, hubs.heard)


def test_what_nobody_wants_is_gone(tmp_path):
    """410 lets a hub end what it still keeps; it is not read."""
    (answer,) = play(tmp_path, Hubs(), ("/api/v1/websub/other", "POST", {}, b"x"))

    assert 410 == answer.status


def test_a_hub_is_bounded(tmp_path):
    """In size and in number."""
    large, *many = play(
        tmp_path,
        Hubs(),
        (PATH, "POST", {"content-length": str(MOST_BYTES + 1)}, b"x"),
        *[(PATH, "POST", {}, b"x")] * BURST,
    )

    assert 413 == large.status
    assert ([202] * (BURST - 1), 429) == ([one.status for one in many[:-1]], many[-1].status)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_cannot_be_kept_is_told_again(tmp_path, method):
    """503 with a time."""
    (answer,) = play(tmp_path, Hubs(fault=StoreBusyError("busy")), (f"{PATH}?hub.challenge=x", method, {}, b""))

    assert (503, "5") == (answer.status, answer.headers["retry-after"])


def test_the_public_name_is_one_of_ours(tmp_path):
    """Hubs ask by it; others are refused as ever."""
    asked = [
        (f"{PATH}?hub.challenge=x", "GET", {"host": host}, b"") for host in ("tidings.example.org", "evil.example")
    ]
    answers = play(tmp_path, Hubs(), *asked, public_url="https://Tidings.example.org:8443/")

    assert [200, 421] == [one.status for one in answers]
