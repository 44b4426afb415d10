"""Tokens are shown once, recognized by their hash, and say nothing of themselves afterwards."""

from dataclasses import replace

import pytest

from tests.stores import World
from tidings.clock import DAY, HOUR
from tidings.errors import UnknownNameError, UsageError
from tidings.service.people import tokens
from tidings.storage.people import tokens as rows


def test_a_token_is_recognised_until_its_time_is_over(world):
    """By its hash, whole, and not by its name."""
    now = world.at
    token, row = world.write(tokens.add, "t", "read", at=now, expires_at=now + DAY)

    assert row.name == world.read(tokens.recognise, token.reveal(), now).name
    for other in (token.reveal()[:-1], token.reveal() + "x", "", "td_", "t"):
        assert world.read(tokens.recognise, other, now) is None
    assert world.read(tokens.recognise, token.reveal(), now + DAY) is None
    with pytest.raises(UsageError, match="revoke"):
        world.write(tokens.add, "t", "read", at=now)
    with pytest.raises(UnknownNameError):
        world.write(rows.revoke, "other")


def test_a_token_has_a_checksum(world: World):
    """So that a text that cannot be one is not looked up, and scanners find one that leaked."""
    token = tokens.make().reveal()
    other = tokens.make().reveal()

    assert token != other
    assert [True, True] == [tokens.is_token(token), tokens.is_token(other)]
    for wrong in (token.removeprefix("td_"), token[:-1] + "z", token[:8] + "z" + token[9:], token + "é", "td_"):
        assert not tokens.is_token(wrong) or wrong == token


@pytest.mark.parametrize(("name", "scope"), [("", "read"), ("a b", "read"), ("a" * 65, "read"), ("a", "write")])
def test_a_name_or_scope_that_cannot_be_is_refused(world: World, name: str, scope: str):
    """Nothing is stored."""
    with pytest.raises(UsageError):
        world.write(tokens.add, name, scope, at=world.at)

    assert [] == world.read(rows.listing)


def test_the_record_of_a_token_has_no_secret(world: World):
    """Its name, its scope and its times only."""
    token, row = world.write(tokens.add, "t", "edit", at=world.at, expires_at=world.at + DAY)
    record = tokens.record(row, user="anna")

    assert ("t", "edit", "anna", None) == tuple(record[key] for key in ("name", "scope", "user", "used_at"))
    assert token.reveal() not in str(record)
    assert tokens.hash_of(token.reveal()) not in str(record)


def test_a_use_is_noted_once_an_hour(world: World):
    """So that a busy program does not write all the time."""
    _, row = world.write(tokens.add, "t", "read", at=world.at)

    assert not tokens.is_use_noted(row, world.at)

    used = replace(row, used_at=world.at)

    assert [True, False] == [tokens.is_use_noted(used, world.at + at) for at in (HOUR - 1, HOUR)]
