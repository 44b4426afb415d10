"""Receivers that cannot be reached are refused with their statement."""

from __future__ import annotations

import pytest

from tidings.errors import AddressError
from tidings.language import parser
from tidings.model.watch.sentinel import Statement
from tidings.service.sentinels.receivers import addressees, check_addressees

HEAD = "Create Sentinel s Using https://a.example Monitor all words"


def statement(text: str) -> Statement:
    """Return the statement of a text."""
    (one,) = parser.parse(text).statements
    return one


@pytest.mark.parametrize(
    ("text", "name", "kinds"),
    [
        (f"{HEAD} Notify By webhook http://127.0.0.1/x, console immediate", "s", ["webhook", "console"]),
        (f"{HEAD} Notify By console immediate Errors to email ann@a.example", "s", ["console", "email"]),
        ("Drop s", "", []),
    ],
)
def test_receivers_of_a_statement_are_those_of_notify_and_errors(text: str, name: str, kinds: list[str]):
    """A Drop has none."""
    where, channels = addressees(statement(text))

    assert (name, kinds) == (where, [channel.kind for channel in channels])


@pytest.mark.parametrize(
    "channel", ["webhook http://127.0.0.1/x", "console", 'webhook secret "hook"', "email ann@a.example"]
)
def test_reachable_receiver_is_accepted(channel: str):
    """The content of a secret is checked where it can be decrypted."""
    check_addressees(statement(f"{HEAD} Notify By {channel} immediate"))


@pytest.mark.parametrize("channel", ["email ann..b@a.example", "webhook http://a..example/"])
def test_unreachable_receiver_is_refused_with_its_sentinel(channel: str):
    """The name helps to find the sentinel in a long file."""
    with pytest.raises(AddressError, match=r"^s: "):
        check_addressees(statement(f"{HEAD} Notify By {channel} immediate"))
