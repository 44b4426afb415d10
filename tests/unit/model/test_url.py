"""Anybody may have written an address."""

import pytest

from tidings.model.url import join_url, split_url

BROKEN = ["http://[", "http://[::1/x", "//[x", "https://a]b/"]


def test_an_address_has_its_parts():
    """As everywhere."""
    parts = split_url("https://user@a.example:81/p?q#f")

    assert ("https", "a.example", 81, "/p", "q", "f") == (
        parts.scheme, parts.hostname, parts.port, parts.path, parts.query, parts.fragment,
    )  # fmt: skip


@pytest.mark.parametrize("text", BROKEN)
def test_one_that_cannot_be_read_is_no_error(text: str):
    """It has neither scheme nor host, and is nowhere."""
    assert ("", None, text) == ((parts := split_url(text)).scheme, parts.hostname, parts.path)
    assert "" == join_url("http://a.example/", text)
    assert "" == join_url(text, "b")


def test_a_link_is_joined_to_its_page():
    """As browsers do."""
    assert "http://a.example/b?c" == join_url("http://a.example/x/y", "/b?c")
