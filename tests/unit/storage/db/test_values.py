from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.storage.db.values import from_bytes, from_json, plain, to_bytes, to_json

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_json_keeps_every_text(text: str):
    """Whatever a page wrote comes back from JSON, and the JSON itself is ASCII without NUL."""
    stored = to_json({"text": text})

    assert {"text": text} == from_json(stored)
    assert stored.isascii()
    assert "\0" not in stored


@given(ANY_TEXT)
def test_a_plain_text_can_be_stored(text: str):
    """What `plain` returns is UTF-8 without NUL, and is the text itself if that was so before."""
    stored = plain(text)

    assert "\0" not in stored
    assert stored == stored.encode().decode()
    if "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text):
        assert text == stored


def test_what_cannot_be_stored_is_one_mark_each():
    """NUL and a lone surrogate become U+FFFD."""
    assert "a\ufffdb\ufffdcé" == plain("a\0b\ud800cé")


@pytest.mark.parametrize("value", [None, "", '"abc"', "caf\udce9", "é"])
def test_a_header_comes_back_byte_for_byte(value: str | None):
    """Validators are sent as they came."""
    assert value == from_bytes(to_bytes(value))
