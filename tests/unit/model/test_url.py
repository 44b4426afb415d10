"""Addresses are split without errors, however they are written."""

import pytest

from tidings.model.url import join_url, split_url

BROKEN = ["http://[", "http://[::1/x", "//[x", "https://a]b/"]


def test_address_is_split_into_parts():
    """They are those of the standard."""
    parts = split_url("https://user@a.example:81/p?q#f")

    assert ("https", "a.example", 81, "/p", "q", "f") == (
        parts.scheme, parts.hostname, parts.port, parts.path, parts.query, parts.fragment,
    )  # fmt: skip


@pytest.mark.parametrize("text", BROKEN)
def test_unreadable_address_has_no_parts(text: str):
    """It has neither scheme nor host, and raises no error."""
    assert ("", None, text) == ((parts := split_url(text)).scheme, parts.hostname, parts.path)
    assert "" == join_url("http://a.example/", text)
    assert "" == join_url(text, "b")


def test_link_is_joined_to_its_page():
    """Browsers do the same."""
    assert "http://a.example/b?c" == join_url("http://a.example/x/y", "/b?c")
