import json

import pytest

from tests.fakes import Page, WebServer
from tidings.notification.apprise_channel import Push, push
from tidings.notification.channel import Refused, Sent

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Apprise's own


def address(server, path="/hook?rto=1&cto=1"):
    return server.url(path).replace("http", "json")


def test_title_and_text_are_sent_unchanged():
    """Nothing else is requested."""
    with WebServer() as server:
        server.pages["/hook"] = Page(status=200)
        answer = push(Push(address(server), "price: 5 → 6", "[-5-] {+6+}\n<b> & *x*"))
    (seen,) = server.seen

    assert Sent() == answer
    assert ("price: 5 → 6", "[-5-] {+6+}\n<b> & *x*") == tuple(json.loads(seen.body)[k] for k in ("title", "message"))


@pytest.mark.parametrize("status", [400, 403, 500])
def test_refusal_of_a_service_is_retried(status):
    """Apprise does not say whether it is final; the reason is that of Apprise."""
    with WebServer() as server:
        server.pages["/hook"] = Page(status=status)
        answer = push(Push(address(server), "t", "b"))

    assert isinstance(answer, Refused)
    assert answer.retry
    assert answer.reason.startswith("JSON did not accept it: Failed to send JSON")
    assert f"error={status}" in answer.reason


def test_silent_service_is_retried():
    """H-122: Apprise has its own timeout, and the process has a deadline beyond it."""
    with WebServer() as server:
        server.pages["/hook"] = lambda seen, wire: wire.hang()
        answer = push(Push(address(server, "/hook?rto=0.1&cto=1"), "t", "b"))

    assert isinstance(answer, Refused)
    assert answer.retry


@pytest.mark.parametrize("address", ["tgram://", "tgram://not-a-bot-token/", "discord://only-one-part"])
def test_address_that_apprise_cannot_read_is_final(address):
    """The message can never be sent."""
    answer = push(Push(address, "t", "b"))

    assert isinstance(answer, Refused)
    assert not answer.retry
    assert answer.reason.startswith("Apprise cannot read the address")


def test_comma_does_not_make_two_messages():
    """Apprise splits lists of addresses, but it is given one."""
    with WebServer() as server:
        server.pages["/a"] = Page(status=200)
        server.pages["/b"] = Page(status=200)
        push(Push(f"{address(server, '/a')},{address(server, '/b')}", "t", "b"))

    assert len(server.seen) <= 1
