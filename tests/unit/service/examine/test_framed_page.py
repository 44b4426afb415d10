from __future__ import annotations

from tidings.fetching.address import identify
from tidings.model.watch.asking import Asking, Header, Value
from tidings.service.examine.framed_page import MOST_FRAMES, list_followed

PAGE = identify("https://www.example.org/a/index.html")


def urls(*addresses: str, final: str = "https://www.example.org/a/index.html") -> list[str]:
    return [identity.url for identity in list_followed(PAGE, final, addresses)]


def test_frames_of_the_same_site_are_followed():
    """A site is a registered domain with all its hosts."""
    own = ["https://www.example.org/b", "http://static.example.org/c"]

    assert own == urls(own[0], "https://ads.net/x", own[1], "https://example.org.evil.net/")


def test_site_is_that_of_the_answer():
    """A page that moved to another site has its frames there."""
    assert ["https://other.net/f"] == urls(
        "https://other.net/f", "https://www.example.org/f", final="https://other.net/"
    )


def test_frame_is_never_a_command_or_a_file():
    """Neither is one in the output of a command."""
    assert [] == urls("command:touch%20/tmp/x", "file:///etc/passwd", "COMMAND:id")
    page = identify("command:cat%20a.html")
    assert [] == list_followed(page, page.url, ["https://www.example.org/b", "command:id"])


def test_page_is_not_its_own_frame_and_frames_are_unique():
    """Addresses are compared in their normal form, which ends cycles."""
    assert ["https://www.example.org/b"] == urls(
        "https://WWW.example.org:443/a/./index.html",
        "https://www.example.org/b",
        "https://www.example.org/x/../b#top",
    )


def test_followed_frames_are_limited():
    """The first ones of the page count; others do not use up the limit."""
    many = [f"https://www.example.org/{n}" for n in range(MOST_FRAMES + 5)]

    assert many[:MOST_FRAMES] == urls("https://ads.net/", "not an address", *many)


def test_plain_frame_is_the_page_of_its_address():
    """One poll serves the frame and a sentinel on the same page."""
    (frame,) = list_followed(PAGE, PAGE.url, ["https://www.example.org/b"])

    assert identify("https://www.example.org/b") == frame


def test_frame_inherits_the_request_but_no_secrets_of_another_origin():
    """Trust and proxy apply to all frames. Cookies and secrets are sent only to the page's own
    origin, and a frame is never posted to.
    """
    asking = Asking(
        method="POST",
        body=Value("q=1"),
        headers=(Header("Cookie", Value("login", is_secret=True)), Header("Accept-Language", Value("de"))),
        trust="ca.pem",
        proxy=Value("http://proxy.net:8080"),
        frames=2,
    )
    page = identify("https://www.example.org/", asking)
    same, other = list_followed(page, page.url, ["https://www.example.org/b", "https://static.example.org/c"])

    assert ["accept-language", "cookie"] == [header.name for header in same.headers]
    assert ["accept-language"] == [header.name for header in other.headers]
    assert (1, None) == (same.owner_id, other.owner_id)
    for frame in (same, other):
        assert ("GET", None, 0) == (frame.method, frame.body, frame.frames)
        assert ("ca.pem", Value("http://proxy.net:8080")) == (frame.trust, frame.proxy)
