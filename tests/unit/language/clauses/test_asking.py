"""Clauses about the request of a page."""

import pytest

from tidings.language.parser import parse, read
from tidings.language.write.printer import to_text
from tidings.model.watch.asking import Asking, BrowserStep, Header, Value
from tidings.model.watch.sentinel import Sentinel

SECOND = 1_000_000
HEAD = "Create Sentinel a Using https://x.example/ Monitor words\n"


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ('Method "post"', Asking(method="POST")),
        ('Body "q=1"', Asking(method="POST", body=Value("q=1"))),
        ('Method "QUERY" Body secret "form"', Asking(method="QUERY", body=Value("form", is_secret=True))),
        (
            'Header "X-A" "1" Header "Cookie" secret "shop"',
            Asking(headers=(Header("X-A", Value("1")), Header("Cookie", Value("shop", is_secret=True)))),
        ),
        ("Frames 2", Asking(frames=2)),
        ("Render browser", Asking(render="browser")),
        ("Render browser screenshot", Asking(render="browser", screenshot=True)),
        (
            'Render browser steps (click text "More", type into "#q" secret "pw", scroll, wait 2 s, press "Enter")',
            Asking(
                render="browser",
                steps=(
                    BrowserStep("click", "text", "More"),
                    BrowserStep("fill", "css", "#q", Value("pw", is_secret=True)),
                    BrowserStep("scroll"),
                    BrowserStep("wait", wait=2 * SECOND),
                    BrowserStep("press", value=Value("Enter")),
                ),
            ),
        ),
        ("Timeout 90 s", Asking(timeout=90 * SECOND)),
        ('Trust "ca.pem"', Asking(trust="ca.pem")),
        ("Proxy http://proxy.example:3128", Asking(proxy=Value("http://proxy.example:3128"))),
        ('Proxy secret "way-out"', Asking(proxy=Value("way-out", is_secret=True))),
        ('Robots ignored because "it is mine"', Asking(robots_ignored="it is mine")),
    ],
)
def test_each_clause_sets_one_part_of_the_request(clauses, expected):
    """Method, Header, Body, Frames, Render, Timeout, Trust, Proxy and Robots are printed as they
    are read.
    """
    (sentinel,) = read(HEAD + clauses)
    assert isinstance(sentinel, Sentinel)

    assert expected == sentinel.asking
    assert (sentinel,) == tuple(read(to_text(sentinel)))


@pytest.mark.parametrize(
    ("clause", "column", "code", "message"),
    [
        ('Method "DELETE"', 8, "E41", '"DELETE" fetches no page'),
        ('Header "X A" "1"', 8, "E41", '"X A" is not a header name'),
        ('Header "X-A" "é"', 14, "E41", "the value of header X-A has a line end, control or non-ASCII character"),
        ('Header "X-A" secret "a b"', 21, "E41", '"a b" is not the name of a secret'),
        ("Frames 3", 8, "E41", "Frames 3 makes no sense"),
        ("Timeout 1 hour", 9, "E14", "a timeout of 1 hour is too long"),
        ('Render browser steps (click " ")', 29, "E41", "this is not a place on a page"),
        ('Render browser steps (press "Return key")', 29, "E41", '"Return key" is not a key'),
        ("Render browser steps (wait 2 min)", 28, "E14", "a step waits too long"),
        (f"Render browser steps ({', '.join(['scroll'] * 21)})", 183, "E41", "there are 21 steps"),
        ('Trust " "', 7, "E41", "there is no file name"),
        ("Proxy socks5://proxy.example", 7, "E22", 'cannot ask a "socks5:" proxy'),
        ("Proxy http://ann:pw@proxy.example", 7, "E41", "a proxy's address cannot contain a password"),
        ('Robots ignored because ""', 24, "E41", "there is no reason"),
        ('Method "GET" Method "POST"', 14, "E23", "second Method clause"),
    ],
)
def test_impossible_request_is_refused_at_its_place(clause, column, code, message):
    """It is a method, header, proxy or reason (H-031)."""
    (problem,) = parse(HEAD + clause).problems

    assert (2, column, code, message) == (problem.line, problem.column, problem.code, problem.message)


def test_derived_sentinel_has_the_same_request():
    """It is inherited clause by clause; headers are replaced together."""
    base = HEAD + 'Method "POST" Body "a" Header "X" "1" Header "Y" "2" Frames 2;'

    (_, heir) = read(base + 'Create Sentinel b Using a Header "Z" "3" Method "GET"')
    assert isinstance(heir, Sentinel)

    assert heir.asking == Asking(method="GET", body=Value("a"), headers=(Header("Z", Value("3")),), frames=2)


def test_proxy_and_ignored_robots_have_a_warning():
    """Both are accepted (W14, W15)."""
    parsed = parse(HEAD + 'Proxy http://proxy.example:3128 Robots ignored because "mine"')

    assert ["W14", "W15"] == [warning.code for warning in parsed.warnings]
