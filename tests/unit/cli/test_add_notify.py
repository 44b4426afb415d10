"""`tidings add --url URL --notify ADDRESS` finds a mistyped address at once."""

from __future__ import annotations

import io
import json
import re

import pytest

from tests.fakes import Page

KEPT = r'secret "webhook-127\.0\.0\.1-[0-9a-f]{8}"'
"""The output shows the secret that has the address, not the address."""


def test_each_address_gets_a_test_message_and_its_result_is_shown(tidings, server):
    """The page is watched even if one address fails; that is a warning."""
    server.pages["/taken"], server.pages["/refused"] = Page(status=204), Page(status=500)
    taken, refused = server.url("/taken"), server.url("/refused")
    ran = tidings("add", "--url", server.url("/news"), "--notify", taken, "--notify", refused)
    messages = [json.loads(seen.body) for seen in server.seen if seen.method == "POST"]

    assert 0 == ran.code
    assert re.search(rf"^notified  webhook {KEPT} has accepted a test message$", ran.out, re.MULTILINE)
    assert re.search(rf"^warning   webhook {KEPT} could not be notified: 500", ran.out, re.MULTILINE)
    assert taken not in ran.out
    assert ["test", "test"] == [message["type"] for message in messages]


def test_json_has_a_record_for_each_test_message(tidings, server):
    """The error is empty if the message was accepted."""
    server.pages["/hook"] = Page(status=200)
    ran = tidings("add", "--url", server.url("/news"), "--notify", server.url("/hook"), "--json")

    (test,) = ran.records[0]["tests"]

    assert ("webhook", "") == (test["channel"], test["error"])
    assert re.fullmatch(KEPT, test["address"])


def test_secret_as_an_address_gets_its_test_message(tidings, server, monkeypatch):
    """The output has the name of the secret, not the address."""
    server.pages["/t0ken"] = Page(status=200)
    monkeypatch.setattr("sys.stdin", io.StringIO(server.url("/t0ken")))
    tidings("secret", "set", "chat")
    ran = tidings("add", "--url", server.url("/news"), "--notify", 'webhook secret "chat"', "--notify", 'secret "none"')

    assert 'notified  webhook secret "chat" has accepted a test message' in ran.out
    assert 'warning   apprise secret "none" could not be notified: the secret none is not set' in ran.out
    assert "t0ken" not in ran.out + ran.err


def test_no_test_flag_sends_no_message(tidings, server):
    """The record has no tests."""
    server.pages["/hook"] = Page(status=200)
    ran = tidings("add", "--url", server.url("/news"), "--notify", server.url("/hook"), "--no-test", "--json")

    assert [] == ran.records[0]["tests"]
    assert [] == [seen for seen in server.seen if seen.method == "POST"]


def test_mail_without_a_server_is_a_warning(tidings, server):
    """The sentinel is created; mail is sent once a server is set."""
    ran = tidings("add", "--url", server.url("/news"), "--notify", "anna@example.org")

    assert 0 == ran.code
    assert "W10 mail to anna@example.org is not sent until mail is set up (notify.smtp_host)" in ran.err


@pytest.mark.parametrize("address", ["tgramm://S3CRET/1", "anna@@example.org"])
def test_invalid_address_registers_nothing(tidings, server, address):
    """The error does not repeat a token in the address."""
    ran = tidings("add", "--url", server.url("/news"), "--notify", address)

    assert 2 == ran.code
    assert "S3CRET" not in ran.err
    assert [] == tidings("list", "--json").records
