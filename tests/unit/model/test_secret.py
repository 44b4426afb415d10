"""A secret is not shown by accident."""

from __future__ import annotations

import json
import logging

import pytest

from tidings.model.observed.outcome import FetchRequest
from tidings.model.secret import Secret, reveal


def test_printed_secret_is_masked():
    """R-19: printed, formatted, in a container, in a request, in a log: `***`."""
    secret = Secret("c4nary")
    request = FetchRequest(url="http://h/", headers=(("authorization", secret),), body=secret, proxy=secret)
    record = logging.LogRecord("x", logging.INFO, "", 1, "%s %r", (secret, secret), None)
    text = f"{secret} {secret!r} {secret!s} {[secret]} {request} {record.getMessage()} {[secret]!r}"

    assert "c4nary" not in text
    assert 10 == text.count("***")
    assert ["c4nary", "plain"] == [reveal(secret), reveal("plain")]


def test_secret_is_not_written_as_json():
    """What writes records refuses it."""
    with pytest.raises(TypeError):
        json.dumps({"a": Secret("c4nary")})


def test_secrets_with_equal_texts_are_equal():
    """They can be compared and counted."""
    assert {Secret("a")} == {Secret("a"), Secret("a")}
    assert Secret("a") != Secret("b")
