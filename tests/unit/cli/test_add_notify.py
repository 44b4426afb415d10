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


@pytest.mark.parametrize(
    ("given", "clause"),
    [
        ("anna@example.org", "email anna@example.org"),
        ("anna@example.org daily", "email anna@example.org every 1 day"),
        ("anna@example.org every 3 changes", "email anna@example.org every 3 changes"),
        ("email anna@example.org at 08:00 mon-fri", "email anna@example.org at 08:00 mon-fri"),
        ("anna@example.org, bob@example.org", "email anna@example.org, email bob@example.org"),
        ("console best effort quiet 22:00 to 07:00", "console best effort quiet 22:00 to 07:00"),
        ('secret "chat" with title "{{summary}} for a@b.org"', 'secret "chat" with title "{{summary}} for a@b.org"'),
        ('ntfy://my_topic with title "{{summary}}"', 'ntfy://my_topic with title "{{summary}}"'),
        ('https://hooks.example/x with text "{{diff}}"', 'webhook https://hooks.example/x with text "{{diff}}"'),
    ],
)
@pytest.mark.parametrize("verb", ["add", "collect"])
def test_rate_and_own_text_may_follow_the_receiver(tidings, server, verb, given, clause):
    """The flag is a Notify clause; without a rate, each change is reported at once."""
    place = ("--url", server.url("/news"), "--no-test") if verb == "add" else (server.url("/news"),)
    tidings(verb, *place, "--name", "n", "--notify", given)
    tidings("add", f"Create Sentinel m Using {server.url('/news')} Monitor all words Notify by {clause}")
    texts = [one["text"] for one in tidings("list", "--json").records]

    said = [[line for line in text.splitlines() if "Notify" in line] for text in texts]
    assert [said[1], 1] == [said[0], len(said[0])]


@pytest.mark.parametrize("given", ["", "daily", "anna@example.org bob@example.org", "anna@example.org sometimes"])
def test_error_of_a_receiver_names_the_flag_and_only_what_was_written(tidings, server, given):
    """No word of the statement that the user has not seen."""
    ran = tidings("add", "--url", server.url("/news"), "--no-test", "--notify", given)

    assert 2 == ran.code
    assert ran.err.startswith("--notify: E")
    assert "immediate" not in ran.err
    assert [] == tidings("list", "--json").records
