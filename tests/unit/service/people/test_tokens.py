"""Tokens are shown once, recognized by their hash, and never printed again."""

from dataclasses import replace

import pytest

from tests.stores import World
from tidings.clock import DAY, HOUR
from tidings.errors import UnknownNameError, UsageError
from tidings.service.people import tokens
from tidings.storage.people import tokens as rows


def test_token_is_recognized_until_it_expires(world):
    """Only the whole token counts, not its name or a part."""
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


def test_token_has_a_checksum(world: World):
    """A text that cannot be a token needs no query, and scanners find leaked ones."""
    token = tokens.make().reveal()
    other = tokens.make().reveal()

    assert token != other
    assert [True, True] == [tokens.is_token(token), tokens.is_token(other)]
    for wrong in (token.removeprefix("td_"), token[:-1] + "z", token[:8] + "z" + token[9:], token + "é", "td_"):
        assert not tokens.is_token(wrong) or wrong == token


@pytest.mark.parametrize(("name", "scope"), [("", "read"), ("a b", "read"), ("a" * 65, "read"), ("a", "write")])
def test_invalid_name_or_scope_is_refused(world: World, name: str, scope: str):
    """Nothing is stored."""
    with pytest.raises(UsageError):
        world.write(tokens.add, name, scope, at=world.at)

    assert [] == world.read(rows.listing)


def test_record_of_a_token_has_no_secret(world: World):
    """The record has the name, scope and times."""
    token, row = world.write(tokens.add, "t", "edit", at=world.at, expires_at=world.at + DAY)
    record = tokens.record(row, user="anna")

    assert ("t", "edit", "anna", None) == tuple(record[key] for key in ("name", "scope", "user", "used_at"))
    assert token.reveal() not in str(record)
    assert tokens.hash_of(token.reveal()) not in str(record)


def test_use_is_stored_once_an_hour(world: World):
    """A busy program would write all the time otherwise."""
    _, row = world.write(tokens.add, "t", "read", at=world.at)

    assert not tokens.is_use_noted(row, world.at)

    used = replace(row, used_at=world.at)

    assert [True, False] == [tokens.is_use_noted(used, world.at + at) for at in (HOUR - 1, HOUR)]
