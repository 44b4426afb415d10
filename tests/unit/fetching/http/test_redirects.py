from __future__ import annotations

import pytest

from tidings.fetching.failure import FetchError
from tidings.fetching.http import redirects

BASE = "https://example.com/dir/page?q=1"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("//other.example/a", "https://other.example/a"),
        ("HTTP://Other.example:80", "http://other.example/"),
        ("https:/a", "https://example.com/a"),
        ("#top", "https://example.com/dir/page?q=1"),
        (".", "https://example.com/dir/"),
        ("\t/a ", "https://example.com/a"),
        ("/\udce4?ä", "https://example.com/%E4?%C3%A4"),
    ],
)
def test_target(location, target):
    """A Location is resolved against the page and rebuilt."""
    assert target == redirects.target(BASE, [location])


@pytest.mark.parametrize(
    "locations",
    [
        [],
        [""],
        ["  "],
        ["/a", "/b"],
        ["javascript:alert(1)"],
        ["http://u:p@h/"],
        ["/a\r\nX: y"],
        ["/a\tb"],
        ["http://[::1"],
        ["a" * 9_000],
    ],
)
def test_locations_that_lead_nowhere(locations):
    """None, several, another scheme, a user name, control bytes, too long: a failure of kind `redirect`."""
    with pytest.raises(FetchError) as error:
        redirects.target(BASE, locations)

    assert "redirect" == error.value.kind


def test_headers_for_other_origins_are_only_the_harmless():
    """Scheme, host and port make an origin; other headers than languages and the like stay there."""
    first = "https://example.com/"
    given = (("Accept-Language", "de"), ("X-Key", "k"), ("cookie", "a=b"))
    others = ["http://example.com/", "https://example.com:8443/", "https://www.example.com/", "https://example.org/"]

    assert given == redirects.headers_for("https://example.com/other", first=first, headers=given)
    assert [(("Accept-Language", "de"),)] * 4 == [
        redirects.headers_for(url, first=first, headers=given) for url in others
    ]
