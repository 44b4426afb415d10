from __future__ import annotations

import ssl

import pytest
import trustme

from tests.fakes import Page, WebServer
from tests.unit.fetching.asking import ask, settings
from tidings.fetching import cookies
from tidings.model.outcome import Failed, Fetched, FetchRequest, Validators
from tidings.model.secret import Secret


def moved(to: str, status: int = 302) -> Page:
    return Page(status=status, headers={"Location": to})


@pytest.mark.parametrize(
    ("statuses", "to"), [((301, 308), "/2"), ((301, 302, 308), "/1"), ((302, 301), ""), ((307,), ""), ((), "")]
)
def test_a_page_has_moved_as_far_as_permanent_redirects_lead(statuses, to):
    """Behind one that holds for now nothing is for good."""
    with WebServer() as server:
        for number, status in enumerate(statuses):
            server.pages[f"/{number}"] = moved(f"/{number + 1}", status)
        server.pages[f"/{len(statuses)}"] = Page(b"ok")
        [outcome] = ask(FetchRequest(url=server.url("/0")))

        assert (server.url(to) if to else "") == outcome.moved


def test_a_body_is_sent_with_its_method_and_type():
    """As written; a header says otherwise of the type; a secret body is the secret's text."""
    with WebServer() as server:
        server.pages["/"] = Page(b"ok")
        ask(
            FetchRequest(url=server.url(), method="POST", body="a=ü"),
            FetchRequest(url=server.url(), method="PUT", body=Secret("{}"), headers=(("Content-Type", "x/y"),)),
        )
        first, second = server.seen

    assert ("POST", "a=ü".encode(), "application/x-www-form-urlencoded") == (
        first.method,
        first.body,
        first.headers["content-type"],
    )
    assert ("PUT", b"{}", "x/y") == (second.method, second.body, second.headers["content-type"])


def test_only_a_get_is_conditional():
    """Validators of a page that is posted to are not sent."""
    known = Validators('"1"', None)
    with WebServer() as server:
        server.pages["/"] = Page(b"ok", etag='"1"')
        ask(FetchRequest(url=server.url(), method="POST", body="x", validators=known))

        assert "if-none-match" not in server.seen[0].headers


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nothing_of_the_sentinels_reaches_another_origin(status):
    """H-033: no header, whatever its name, if a secret holds its value; no cookie, no plain key; back home they are sent again."""
    jar = cookies.read("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tc4nary4")
    with WebServer() as home, WebServer(address="127.0.0.2") as away:
        home.pages["/a"] = moved(away.url("/b"), status)
        away.pages["/b"] = moved(home.url("/c"), status)
        home.pages["/c"] = Page(b"ok")
        headers = (
            ("X-Api-Key", Secret("c4nary1")),
            ("Accept-Language", Secret("c4nary2")),
            ("User-Agent", Secret("c4nary3")),
            ("X-Plain", "c4nary5"),
        )
        [outcome] = ask(FetchRequest(url=home.url("/a"), headers=headers, cookies=jar))
        first, last = home.seen
        [elsewhere] = away.seen

    assert isinstance(outcome, Fetched)
    assert "c4nary" not in str(elsewhere)
    for seen in (first, last):
        assert ["c4nary1", "c4nary2", "c4nary3", "sid=c4nary4", "c4nary5"] == [
            seen.headers[name] for name in ("x-api-key", "accept-language", "user-agent", "cookie", "x-plain")
        ]


@pytest.mark.parametrize("status", [307, 308])
def test_a_body_is_not_carried_to_another_origin(status):
    """307 and 308 ask for the same request elsewhere: refused, and nobody hears of it; at home it is repeated."""
    with WebServer() as home, WebServer(address="127.0.0.2") as away:
        home.pages["/a"] = moved(away.url("/b"), status)
        home.pages["/h"] = moved("/i", status)
        home.pages["/i"] = Page(b"ok")
        outside, inside = ask(
            FetchRequest(url=home.url("/a"), method="POST", body=Secret("c4nary")),
            FetchRequest(url=home.url("/h"), method="POST", body=Secret("c4nary")),
        )

        assert [] == away.seen
        assert ["c4nary"] * 3 == [seen.body.decode() for seen in home.seen]
    assert isinstance(outside, Failed)
    assert ("redirect", "to which its method and body are not carried") == (outside.kind, outside.reason[-44:])
    assert isinstance(inside, Fetched)


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_form_that_points_on_is_followed_without_its_body(status):
    """As browsers do: a GET, without the body and what described it."""
    with WebServer() as home, WebServer(address="127.0.0.2") as away:
        home.pages["/a"] = moved(away.url("/b"), status)
        away.pages["/b"] = Page(b"ok")
        ask(FetchRequest(url=home.url("/a"), method="POST", body=Secret("c4nary")))
        [seen] = away.seen

    assert ("GET", b"", False) == (seen.method, seen.body, "content-type" in seen.headers)


@pytest.mark.parametrize(
    "more",
    [
        {"headers": (("Accept-Language", Secret("c4nary")),)},
        {"cookies": cookies.read("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tc4nary")},
        {"body": Secret("c4nary"), "method": "POST"},
    ],
    ids=["header", "cookie", "body"],
)
def test_nothing_falls_back_to_http(more):
    """H-034: https to http of the same host with something secret is a failure, and nothing is sent in clear."""
    ca = trustme.CA()
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    ca.issue_cert("127.0.0.1").configure_cert(server)
    ca.configure_trust(client)
    with WebServer() as clear, WebServer(tls=server) as safe:
        safe.pages["/"] = moved(clear.url("/"), 307)
        [outcome] = ask(FetchRequest(url=safe.url(), **more), tls=client)

        assert [] == clear.seen
    assert isinstance(outcome, Failed)
    assert "redirect" == outcome.kind


def test_cookies_are_chosen_anew_at_each_hop():
    """A redirect within the site takes the cookies of its own path; a cookie written as a header goes beside them."""
    jar = cookies.read("127.0.0.1\tFALSE\t/in\tFALSE\t0\tdeep\t1\n127.0.0.1\tFALSE\t/\tFALSE\t0\ttop\t2")
    with WebServer() as server:
        server.pages["/"] = moved("/in/a")
        server.pages["/in/a"] = Page(b"ok")
        ask(FetchRequest(url=server.url(), cookies=jar, headers=(("cookie", "own=0"),)))

        assert ["own=0; top=2", "own=0; deep=1; top=2"] == [seen.headers["cookie"] for seen in server.seen]


def test_what_servers_set_is_not_kept():
    """A Set-Cookie goes with no later request, of this fetch or another."""
    with WebServer() as server:
        server.pages["/"] = Page(status=302, headers={"Location": "/b", "Set-Cookie": "a=b"})
        server.pages["/b"] = Page(b"ok", headers={"Set-Cookie": "c=d; Path=/"})
        ask(server.url(), server.url())

        assert 4 == len(server.seen)
        assert not any("cookie" in seen.headers for seen in server.seen)


def test_robots_is_asked_for_without_headers():
    """robots.txt gets no header, no cookie and no body of the sentinel's."""
    jar = cookies.read("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tc4nary")
    with WebServer() as server:
        server.pages["/a"] = Page(b"ok")
        request = FetchRequest(
            url=server.url("/a"), method="POST", body="c4nary", headers=(("x-key", Secret("c4nary")),), cookies=jar
        )
        ask(request, using=settings(robots=True))
        robots, page = server.seen

    assert ("/robots.txt", "GET") == (robots.path, robots.method)
    assert "c4nary" not in str(robots)
    assert 3 == str(page).count("c4nary")


def test_a_timeout_of_its_own_holds_instead_of_the_setting():
    """Shorter or longer than `fetch.total_seconds`; the reason names it."""
    with WebServer() as server:
        server.pages["/"] = lambda seen, wire: wire.hang()
        server.pages["/slow"] = lambda seen, wire: (
            wire.wait(0.15),
            wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        )
        [short] = ask(FetchRequest(url=server.url(), timeout=50_000))
        [long] = ask(FetchRequest(url=server.url("/slow"), timeout=5_000_000), using=settings(total_seconds=0.05))

    assert isinstance(short, Failed)
    assert short.reason.endswith("within 0.05 s")
    assert isinstance(long, Fetched)


def test_a_secret_that_cannot_be_sent_is_not_repeated():
    """H-031: a line end in a secret is a failure whose reason does not show it."""
    with WebServer() as server:
        [outcome] = ask(FetchRequest(url=server.url(), headers=(("x-key", Secret("c4nary\r\nX-Evil: y")),)))

        assert [] == server.seen
    assert isinstance(outcome, Failed)
    assert ("request", False) == (outcome.kind, "c4nary" in outcome.reason)
