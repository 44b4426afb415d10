"""Addresses that change by themselves: their families, their query keys, and what is left without
them (detection §4.1).
"""

import pytest

from tidings.detection.noise.addresses import (
    addresses_of,
    digest_of,
    families_in,
    family_of,
    groups_of,
    is_drawn,
    keys_in,
    keys_that_differ,
    shape_of,
    without_noise,
    without_queries,
)
from tidings.document.parse import parse
from tidings.model.observed.change import ObjectCount

DRAWN = "a1b2c3d4e5"
OTHER = "f6g7h8i9j0"


@pytest.mark.parametrize(
    ("segment", "is_random"),
    [
        (DRAWN, True),
        (DRAWN[:-1], False),
        ("a1b2cccccc", True),
        ("a1bbbbbbbb", False),
        ("photograph", False),
        ("2023111412", False),
        ("a1b2-c3d4e5", False),
    ],
)
def test_random_segment_is_long_and_alternates(segment, is_random):
    """Ten characters, and three turns between letters and digits."""
    assert is_random is is_drawn(segment)


@pytest.mark.parametrize(
    ("address", "family"),
    [
        ("https://x.org/a/b.png", "https://x.org/a/"),
        ("https://x.org/a/b.png?q=/c/d", "https://x.org/a/"),
        ("https://x.org/", "https://x.org/"),
        ("https://x.org", "https://x.org/"),
        (f"https://x.org/{DRAWN}/b/c.png", "https://x.org/*"),
        (f"https://x.org/a/{DRAWN}.png", "https://x.org/a/*"),
        (f"https://x.org/a/{DRAWN}", "https://x.org/a/*"),
        (f"https://x.org/a/b-{DRAWN}.png", "https://x.org/a/"),
        ("mailto:me@x.org", ""),
        ("/a/b", ""),
    ],
)
def test_family_is_a_directory_up_to_the_first_random_segment(address, family):
    """An address without a host has none."""
    assert family == family_of(address)


@pytest.mark.parametrize(
    ("address", "families", "keys", "shape"),
    [
        (f"https://x.org/{DRAWN}/b.png", ["https://x.org/*"], [], "https://x.org/*/b.png"),
        (f"https://x.org/a/{DRAWN}.png?v=1", ["https://x.org/a/*"], [], "https://x.org/a/*?v=1"),
        (f"https://x.org/{DRAWN}/b.png", ["https://y.org/*"], [], f"https://x.org/{DRAWN}/b.png"),
        ("https://x.org/a/b.png", ["https://x.org/a/"], [], "https://x.org/a/b.png"),
        ("https://x.org/?a=1&b=2&c=", [], ["b"], "https://x.org/?a=1&c="),
        ("https://x.org/?b=2", [], ["b"], "https://x.org/"),
        ("https://x.org/?a=%20x", [], ["b"], "https://x.org/?a=+x"),
        ("https://x.org/?a=%20x", [], [], "https://x.org/?a=%20x"),
        ("https://x.org/?", [], ["b"], "https://x.org/"),
    ],
)
def test_shape_has_no_random_segment_of_a_family_and_no_noisy_key(address, families, keys, shape):
    """Two addresses of one shape are one, and all else stays as it was."""
    assert shape == shape_of(address, families, keys)


def test_addresses_are_grouped_by_family_and_values_by_key():
    """In the order of the addresses."""
    addresses = ["https://x.org/b/2?k=3&e=", "https://x.org/a/1", "https://x.org/b/1?k=4", "mailto:x"]

    assert {
        "https://x.org/a/": ["https://x.org/a/1"],
        "https://x.org/b/": ["https://x.org/b/1?k=4", "https://x.org/b/2?k=3&e="],
    } == families_in(addresses)
    assert {"k": ["4", "3"], "e": [""]} == keys_in(addresses)
    assert ["https://x.org/b/2", "mailto:x"] == without_queries([addresses[0], "mailto:x"])


def test_groups_of_a_document_are_of_its_links_or_images():
    """In full, relative to its base."""
    text = b"<a href=/l/1?s=2>x</a><img src=/i/1?t=3>"
    document = parse(text, "text/html", url="http://x.org/")

    assert (["http://x.org/l/1?s=2"], ["http://x.org/i/1?t=3"]) == (
        addresses_of(document, "links"),
        addresses_of(document, "images"),
    )
    assert {"http://x.org/l/": ["http://x.org/l/1"]} == groups_of(document, "links")
    assert {"http://x.org/i/": ["http://x.org/i/1"]} == groups_of(document, "images")
    assert {"s": ["2"]} == groups_of(document, "links.query")
    assert {"t": ["3"]} == groups_of(document, "images.query")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (["http://x/?a=1&b=2"], ["http://x/?a=1&b=3"], {"b"}),
        (["http://x/?a=1"], ["http://x/?a=1"], set()),
        (["http://x/?a=1"], ["http://y/?a=2"], set()),
        (["http://x/?a=1"], ["http://x/?a=2&b=1"], set()),
        (["http://x/?a="], ["http://x/?a=2"], {"a"}),
        (["http://x/?a=1", "http://x/?a=2"], ["http://x/?a=2", "http://x/?a=3"], {"a"}),
        (["http://x/?a=1"] * 2, ["http://x/?a=1"], set()),
        (["http://x/"], ["http://x/?a=1"], set()),
    ],
)
def test_key_differs_while_address_and_keys_stay(old, new, expected):
    """An address that both versions have says nothing."""
    assert expected == keys_that_differ(old, new)


def test_rows_of_one_shape_are_counted_together():
    """An image under another random name is none that came or went; a second one is."""
    one, other, plain = (f"https://x.org/i/{name}.png" for name in (DRAWN, OTHER, "logo"))
    rows = [ObjectCount("images", one, 1, 0), ObjectCount("images", other, 0, 1), ObjectCount("images", plain, 1, 0)]
    families = ["https://x.org/i/*"]

    assert (rows[2],) == without_noise(rows, families, [])
    assert tuple(rows) == without_noise(rows, [], [])
    assert (rows[0], ObjectCount("images", other, 0, 2)) == without_noise(
        [rows[0], ObjectCount("images", other, 0, 2)], families, []
    )
    keyed = [ObjectCount("links", "http://x/?s=1", 1, 0), ObjectCount("links", "http://x/?s=2", 0, 1)]
    assert () == without_noise(keyed, [], ["s"])


def test_digest_depends_on_each_text_and_their_order():
    """A text with a surrogate has one too."""
    digests = {digest_of(texts) for texts in (["a", "b"], ["b", "a"], ["ab"], [], ["\ud800"])}

    assert 5 == len(digests)
    assert {8} == set(map(len, digests))
