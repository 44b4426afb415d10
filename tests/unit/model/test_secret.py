from __future__ import annotations

import json
import logging

import pytest

from tidings.model.observed.outcome import FetchRequest
from tidings.model.secret import Secret, reveal


def test_a_secret_shows_itself_to_nobody_who_prints_it():
    """R-19: printed, formatted, in a container, in a request, in a log: `***`."""
    secret = Secret("c4nary")
    request = FetchRequest(url="http://h/", headers=(("authorization", secret),), body=secret, proxy=secret)
    record = logging.LogRecord("x", logging.INFO, "", 1, "%s %r", (secret, secret), None)
    said = f"{secret} {secret!r} {secret!s} {[secret]} {request} {record.getMessage()} {[secret]!r}"

    assert "c4nary" not in said
    assert 10 == said.count("***")
    assert ["c4nary", "plain"] == [reveal(secret), reveal("plain")]


def test_a_secret_becomes_no_json():
    """What writes records refuses it."""
    with pytest.raises(TypeError):
        json.dumps({"a": Secret("c4nary")})


def test_equal_texts_are_equal_secrets():
    """They can be compared and counted."""
    assert {Secret("a")} == {Secret("a"), Secret("a")}
    assert Secret("a") != Secret("b")
