"""`tidings add --url URL --notify ADDRESS`: a mistyped address is found at once."""

from __future__ import annotations

import io
import json
import re

import pytest

from tests.fakes import Page

KEPT = r'secret "webhook-127\.0\.0\.1-[0-9a-f]{8}"'
"""What is shown of an address: the secret under which it is kept."""


def test_each_address_gets_a_test_message_and_what_came_of_it_is_said(tidings, server):
    """One that takes it, one that does not: both are watched, one has a warning."""
    server.pages["/taken"], server.pages["/refused"] = Page(status=204), Page(status=500)
    taken, refused = server.url("/taken"), server.url("/refused")
    ran = tidings("add", "--url", server.url("/news"), "--notify", taken, "--notify", refused)
    messages = [json.loads(seen.body) for seen in server.seen if seen.method == "POST"]

    assert 0 == ran.code
    assert re.search(rf"^notified  webhook {KEPT} has accepted a test message$", ran.out, re.MULTILINE)
    assert re.search(rf"^warning   webhook {KEPT} could not be notified: 500", ran.out, re.MULTILINE)
    assert taken not in ran.out
    assert ["test", "test"] == [message["type"] for message in messages]


def test_programs_read_what_came_of_it(tidings, server):
    """The record has a row for each address, with an empty error if it was taken."""
    server.pages["/hook"] = Page(status=200)
    ran = tidings("add", "--url", server.url("/news"), "--notify", server.url("/hook"), "--json")

    (test,) = ran.records[0]["tests"]

    assert ("webhook", "") == (test["channel"], test["error"])
    assert re.fullmatch(KEPT, test["address"])


def test_a_secret_can_be_named_and_gets_its_test_message(tidings, server, monkeypatch):
    """As the language says it; the name is shown, the address is not."""
    server.pages["/t0ken"] = Page(status=200)
    monkeypatch.setattr("sys.stdin", io.StringIO(server.url("/t0ken")))
    tidings("secret", "set", "chat")
    ran = tidings("add", "--url", server.url("/news"), "--notify", 'webhook secret "chat"', "--notify", 'secret "none"')

    assert 'notified  webhook secret "chat" has accepted a test message' in ran.out
    assert 'warning   apprise secret "none" could not be notified: the secret none is not set' in ran.out
    assert "t0ken" not in ran.out + ran.err


def test_no_test_is_no_message(tidings, server):
    """Who asks for none sends none."""
    server.pages["/hook"] = Page(status=200)
    ran = tidings("add", "--url", server.url("/news"), "--notify", server.url("/hook"), "--no-test", "--json")

    assert [] == ran.records[0]["tests"]
    assert [] == [seen for seen in server.seen if seen.method == "POST"]


def test_mail_that_is_not_set_up_is_a_warning(tidings, server):
    """The sentinel is made; letters come once there is a server."""
    ran = tidings("add", "--url", server.url("/news"), "--notify", "anna@example.org")

    assert 0 == ran.code
    assert "W10 mail to anna@example.org is not sent until mail is set up (notify.smtp_host)" in ran.err


@pytest.mark.parametrize("address", ["tgramm://S3CRET/1", "anna@@example.org"])
def test_an_address_that_cannot_be_registers_nothing(tidings, server, address):
    """The fault is said and the page is not watched."""
    ran = tidings("add", "--url", server.url("/news"), "--notify", address)

    assert 2 == ran.code
    assert "S3CRET" not in ran.err
    assert [] == tidings("list", "--json").records
