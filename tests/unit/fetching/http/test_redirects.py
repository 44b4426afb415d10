from __future__ import annotations

import ssl
from collections.abc import Callable

import pytest
import trustme

from tests.fakes import Page, Seen, WebServer, Wire, response
from tests.unit.fetching.asking import ask, settings
from tidings.fetching.fetcher import FetchError
from tidings.fetching.http import cookies, redirects
from tidings.model.observed.outcome import Failed, Fetched, FetchRequest, Validators
from tidings.model.secret import Secret

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
def test_location_is_resolved_against_the_page(location, target):
    """The result is in the normal form of addresses."""
    assert target == redirects.resolve_redirect(BASE, [location])


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
def test_invalid_locations_fail(locations):
    """The location is missing, repeated, too long, or has another scheme, a user name or control
    characters: a failure of kind `redirect`.
    """
    with pytest.raises(FetchError) as error:
        redirects.resolve_redirect(BASE, locations)

    assert "redirect" == error.value.kind


def test_only_harmless_headers_are_sent_to_other_origins():
    """Scheme, host and port make an origin. `Accept-Language` is harmless."""
    first = "https://example.com/"
    given = (("Accept-Language", "de"), ("X-Key", "k"), ("cookie", "a=b"))
    others = ["http://example.com/", "https://example.com:8443/", "https://www.example.com/", "https://example.org/"]

    assert given == redirects.headers_for("https://example.com/other", first=first, headers=given)
    assert [(("Accept-Language", "de"),)] * 4 == [
        redirects.headers_for(url, first=first, headers=given) for url in others
    ]


def make_move(to: str, status: int = 302) -> Page:
    return Page(status=status, headers={"Location": to})


@pytest.mark.parametrize(
    ("statuses", "to"), [((301, 308), "/2"), ((301, 302, 308), "/1"), ((302, 301), ""), ((307,), ""), ((), "")]
)
def test_permanent_redirects_move_a_page(statuses, to):
    """A temporary redirect ends the move."""
    with WebServer() as server:
        for number, status in enumerate(statuses):
            server.pages[f"/{number}"] = make_move(f"/{number + 1}", status)
        server.pages[f"/{len(statuses)}"] = Page(b"ok")
        [outcome] = ask(FetchRequest(url=server.url("/0")))

        assert (server.url(to) if to else "") == outcome.moved


def test_body_is_sent_with_its_method_and_type():
    """A header replaces the default type. A secret body is its text."""
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


def test_only_get_is_conditional():
    """No validators are sent with POST."""
    known = Validators('"1"', None)
    with WebServer() as server:
        server.pages["/"] = Page(b"ok", etag='"1"')
        ask(FetchRequest(url=server.url(), method="POST", body="x", validators=known))

        assert "if-none-match" not in server.seen[0].headers


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nothing_of_a_sentinel_is_sent_to_another_origin(status):
    """H-033: no cookie, no own header, and no header of any name with a secret. Back at the origin
    they are sent again.
    """
    jar = cookies.read("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tc4nary4")
    with WebServer() as home, WebServer(address="127.0.0.2") as away:
        home.pages["/a"] = make_move(away.url("/b"), status)
        away.pages["/b"] = make_move(home.url("/c"), status)
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
def test_body_is_not_sent_to_another_origin(status):
    """307 and 308 ask for the same request elsewhere, which is refused. Within the origin it is
    repeated.
    """
    with WebServer() as home, WebServer(address="127.0.0.2") as away:
        home.pages["/a"] = make_move(away.url("/b"), status)
        home.pages["/h"] = make_move("/i", status)
        home.pages["/i"] = Page(b"ok")
        outside, inside = ask(
            FetchRequest(url=home.url("/a"), method="POST", body=Secret("c4nary")),
            FetchRequest(url=home.url("/h"), method="POST", body=Secret("c4nary")),
        )

        assert [] == away.seen
        assert ["c4nary"] * 3 == [seen.body.decode() for seen in home.seen]
    assert isinstance(outside, Failed)
    assert ("redirect", "Tidings does not send its method and body there") == (outside.kind, outside.reason[-47:])
    assert isinstance(inside, Fetched)


@pytest.mark.parametrize("status", [301, 302, 303])
def test_form_redirect_is_followed_without_its_body(status):
    """Like in browsers, it becomes a GET, without the body and its headers."""
    with WebServer() as home, WebServer(address="127.0.0.2") as away:
        home.pages["/a"] = make_move(away.url("/b"), status)
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
def test_secrets_are_not_sent_after_a_redirect_to_http(more):
    """H-034: a redirect from https to http of the same host fails, and nothing is sent unencrypted."""
    ca = trustme.CA()
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    ca.issue_cert("127.0.0.1").configure_cert(server)
    ca.configure_trust(client)
    with WebServer() as clear, WebServer(tls=server) as safe:
        safe.pages["/"] = make_move(clear.url("/"), 307)
        [outcome] = ask(FetchRequest(url=safe.url(), **more), tls=client)

        assert [] == clear.seen
    assert isinstance(outcome, Failed)
    assert "redirect" == outcome.kind


def test_cookies_are_selected_at_each_redirect():
    """A redirect within the site gets the cookies of its path. A cookie in a header is added."""
    jar = cookies.read("127.0.0.1\tFALSE\t/in\tFALSE\t0\tdeep\t1\n127.0.0.1\tFALSE\t/\tFALSE\t0\ttop\t2")
    with WebServer() as server:
        server.pages["/"] = make_move("/in/a")
        server.pages["/in/a"] = Page(b"ok")
        ask(FetchRequest(url=server.url(), cookies=jar, headers=(("cookie", "own=0"),)))

        assert ["own=0; top=2", "own=0; deep=1; top=2"] == [seen.headers["cookie"] for seen in server.seen]


def test_cookies_of_servers_last_for_one_fetch():
    """Only the redirects of the same fetch get the cookies."""
    with WebServer() as server:
        server.pages["/"] = Page(status=302, headers={"Location": "/b", "Set-Cookie": "a=b"})
        server.pages["/b"] = Page(b"ok", headers={"Set-Cookie": "c=d; Path=/"})
        ask(server.url(), server.url())

        assert [None, "a=b", None, "a=b"] == [seen.headers.get("cookie") for seen in server.seen]


def redirect_until_cookie(to: str, *cookies: str, opened: str) -> Callable[[Seen, Wire], object]:
    """Return a page that redirects to `to` with these cookies, until a request has the cookie `opened`."""

    def answer(seen: Seen, wire: Wire) -> None:
        if opened in seen.headers.get("cookie", ""):
            wire.send(response(Page(b"<p>the page</p>")))
        else:
            wire.send(response(Page(status=302, headers=[("Location", to), *(("Set-Cookie", c) for c in cookies)])))

    return answer


def test_page_behind_a_cookie_redirect_is_read():
    """The page redirects to itself until the cookie is sent back."""
    with WebServer() as server:
        server.pages["/p"] = redirect_until_cookie("/p", "ok=1", opened="ok=1")
        [outcome] = ask(server.url("/p"))

    assert isinstance(outcome, Fetched)
    assert (b"<p>the page</p>", 2) == (outcome.body, outcome.requests)


def test_cookie_redirect_over_another_site_is_followed():
    """Site A redirects to B, B back to A with a token, and A sets a cookie and redirects to itself.
    Each gets only its own cookies.
    """
    with WebServer() as server, WebServer("127.0.0.2") as other:

        def page(seen: Seen, wire: Wire) -> None:
            if "in=1" in seen.headers.get("cookie", ""):
                wire.send(response(Page(b"<p>the page</p>")))
            elif seen.target.endswith("?token=7"):
                headers = [("Location", "/p"), ("Set-Cookie", "in=1; Path=/")]
                wire.send(response(Page(status=302, headers=headers)))
            else:
                headers = [("Location", other.url("/gate")), ("Set-Cookie", "from=p; Path=/")]
                wire.send(response(Page(status=302, headers=headers)))

        server.pages["/p"] = page
        other.pages["/gate"] = Page(
            status=302, headers={"Location": server.url("/p?token=7"), "Set-Cookie": "theirs=1"}
        )
        [outcome] = ask(server.url("/p"))

        assert isinstance(outcome, Fetched)
        assert server.url("/p") == outcome.final_url
        assert [None, "from=p", "from=p; in=1"] == [seen.headers.get("cookie") for seen in server.seen]
        assert [None] == [seen.headers.get("cookie") for seen in other.seen]


def test_cookie_on_the_way_replaces_a_stored_one():
    """The server renews or ends the session. A cookie of another path stays."""
    jar = cookies.read("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\told\n127.0.0.1\tFALSE\t/\tFALSE\t0\tkept\t1")
    with WebServer() as server:
        server.pages["/"] = Page(status=302, headers={"Location": "/b", "Set-Cookie": "sid=new"})
        server.pages["/b"] = Page(status=302, headers={"Location": "/c", "Set-Cookie": "sid=; Max-Age=0; Path=/"})
        server.pages["/c"] = Page(b"ok")
        ask(FetchRequest(url=server.url(), cookies=jar))

        assert ["sid=old; kept=1", "sid=new; kept=1", "kept=1"] == [s.headers["cookie"] for s in server.seen]


@pytest.mark.parametrize(
    ("to", "set_cookies"),
    [("/p", []), ("/p", ["ok=1; Path=/other"]), ("/p", ["ok=1; Domain=com"]), ("/p", ["ok=1; Secure"])],
)
def test_redirect_to_itself_with_the_same_cookies_fails(to, set_cookies):
    """The next answer would be the same."""
    with WebServer() as server:
        server.pages["/p"] = redirect_until_cookie(to, *set_cookies, opened="never")
        [outcome] = ask(server.url("/p"))

    assert isinstance(outcome, Failed)
    assert ("redirect", "the page redirects to itself in a circle", 302) == (
        outcome.kind,
        outcome.reason,
        outcome.status,
    )


def test_redirects_with_a_new_cookie_each_time_are_limited():
    """The limit of redirects counts, whatever the cookies."""
    with WebServer() as server:

        def answer(seen: Seen, wire: Wire) -> None:
            cookie = f"n={len(server.seen)}; Path=/"
            wire.send(response(Page(status=302, headers={"Location": "/p", "Set-Cookie": cookie})))

        server.pages["/p"] = answer
        [outcome] = ask(server.url("/p"))

    assert isinstance(outcome, Failed)
    assert ("redirect", "the page redirects more than 10 times") == (outcome.kind, outcome.reason)


@pytest.mark.parametrize(
    ("refresh", "body", "ends_at"),
    [
        ("0; url=/x", b"", "/x"),
        ("0;URL='/x'", b" \n", "/x"),
        ('5, url = "/x" ', b"", "/x"),
        ("300; url=/x", b"", "/x"),
        ("0; /x", b"", "/x"),
        ("0.5;url=/x", b"<p>you are led on</p>", "/x"),
        ("5; url=/x", b"<p>read this first</p>", "/p"),
        ("0; url=/p", b"<p>a page that loads itself again</p>", "/p"),
        ("0; url=http://[", b"<p>a page</p>", "/p"),
        ("60", b"<p>a page</p>", "/p"),
        ("60", b"", "/p"),
        ("soon", b"", "/p"),
        ("", b"", "/p"),
    ],
)
def test_refresh_header_is_followed_if_there_is_nothing_to_read(refresh, body, ends_at):
    """The answer is empty, or the delay too short to read it. A page that reloads itself is read."""
    with WebServer() as server:
        server.pages["/p"] = Page(body, {"Refresh": refresh})
        server.pages["/x"] = Page(b"<p>the page</p>")
        [outcome] = ask(server.url("/p"))

        assert isinstance(outcome, Fetched)
        assert server.url(ends_at) == outcome.final_url


def test_empty_page_that_refreshes_itself_fails():
    """There is never any content."""
    with WebServer() as server:
        server.pages["/p"] = Page(b"", {"Refresh": "0; url=/p"})
        [outcome] = ask(server.url("/p"))

    assert isinstance(outcome, Failed)
    assert "redirect" == outcome.kind


def test_robots_txt_is_requested_without_headers():
    """No header, cookie or body of the sentinel is sent."""
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


def test_timeout_of_a_page_replaces_the_setting():
    """The timeout may be shorter or longer than `fetch.total_seconds`. The reason names it."""
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


def test_secret_with_a_line_end_is_not_repeated():
    """H-031: the request fails, and its reason does not show the secret."""
    with WebServer() as server:
        [outcome] = ask(FetchRequest(url=server.url(), headers=(("x-key", Secret("c4nary\r\nX-Evil: y")),)))

        assert [] == server.seen
    assert isinstance(outcome, Failed)
    assert ("request", False) == (outcome.kind, "c4nary" in outcome.reason)
