"""`tidings add --url URL --notify ADDRESS`: a mistyped address is found at once."""

from __future__ import annotations

import json

import pytest

from tests.fakes import Page
from tidings.notification.secrecy import shown


def test_each_address_gets_a_test_message_and_what_came_of_it_is_said(tidings, server):
    """One that takes it, one that does not: both are watched, one has a warning."""
    server.pages["/taken"], server.pages["/refused"] = Page(status=204), Page(status=500)
    taken, refused = server.url("/taken"), server.url("/refused")
    ran = tidings("add", "--url", server.url("/news"), "--notify", taken, "--notify", refused)
    messages = [json.loads(seen.body) for seen in server.seen if seen.method == "POST"]

    assert 0 == ran.code
    assert f"told      webhook {shown('webhook', taken)} has taken a test message" in ran.out
    assert f"warning   webhook {shown('webhook', refused)} could not be told: 500" in ran.out
    assert ["test", "test"] == [message["type"] for message in messages]


def test_programs_read_what_came_of_it(tidings, server):
    """The record has a row for each address, with an empty error if it was taken."""
    server.pages["/hook"] = Page(status=200)
    ran = tidings("add", "--url", server.url("/news"), "--notify", server.url("/hook"), "--json")

    assert [{"channel": "webhook", "address": shown("webhook", server.url("/hook")), "error": ""}] == ran.records[0][
        "tests"
    ]


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
    assert "W10 mail to anna@example.org is sent once mail is set up (notify.smtp_host)" in ran.err


@pytest.mark.parametrize("address", ["tgramm://S3CRET/1", "anna@@example.org"])
def test_an_address_that_cannot_be_registers_nothing(tidings, server, address):
    """The fault is said and the page is not watched."""
    ran = tidings("add", "--url", server.url("/news"), "--notify", address)

    assert 2 == ran.code
    assert "S3CRET" not in ran.err
    assert [] == tidings("list", "--json").records
