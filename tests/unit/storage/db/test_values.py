from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.storage.db.connection import from_bytes, from_json, plain, to_bytes, to_json

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_json_round_trips_every_text(text: str):
    """The JSON itself is ASCII without NUL."""
    stored = to_json({"text": text})

    assert {"text": text} == from_json(stored)
    assert stored.isascii()
    assert "\0" not in stored


@given(ANY_TEXT)
def test_plain_text_can_be_stored(text: str):
    """The result of `plain` is UTF-8 without NUL. A text without NUL and surrogates is unchanged."""
    stored = plain(text)

    assert "\0" not in stored
    assert stored == stored.encode().decode()
    if "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text):
        assert text == stored


def test_nul_and_lone_surrogates_become_replacement_characters():
    """Each becomes one U+FFFD."""
    assert "a\ufffdb\ufffdcé" == plain("a\0b\ud800cé")


@pytest.mark.parametrize("value", [None, "", '"abc"', "caf\udce9", "é"])
def test_header_round_trips_byte_for_byte(value: str | None):
    """Validators are sent exactly as they were received."""
    assert value == from_bytes(to_bytes(value))
