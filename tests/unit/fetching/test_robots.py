from __future__ import annotations

import asyncio

import pytest

from tests.bounded import bound_time
from tests.fakes import FreePermit, Page, Seen, WebServer, Wire
from tests.unit.fetching.asking import FixedNames
from tidings.clock import DAY, HOUR, MINUTE, ManualClock
from tidings.fetching.fetcher import FetchError
from tidings.fetching.http.client import Client
from tidings.fetching.robots import MOST_SITEMAPS, Robots, crawl_delay, parse, sitemaps_in
from tidings.model.observed.outcome import Failed, FetchRequest
from tidings.model.observed.page import HostState
from tidings.settings import FetchSettings

SETTINGS = FetchSettings(allow_networks=("127.0.0.0/8",), total_seconds=5)


def verdicts(server: WebServer, *paths: str, settings: FetchSettings = SETTINGS) -> list[str]:
    """Fetch paths with one client; return `ok` or the kind of failure of each."""

    async def run() -> list[str]:
        client = Client(settings)
        try:
            outcomes = [await client.fetch(FetchRequest(url=server.url(path)), FreePermit()) for path in paths]
        finally:
            await client.close()
        return [outcome.kind if isinstance(outcome, Failed) else "ok" for outcome in outcomes]

    return asyncio.run(run())


@pytest.fixture
def server():
    with WebServer() as server:
        for path in ("/", "/a", "/private/a", "/private/b"):
            server.pages[path] = Page(b"x")
        yield server


def hang(seen: Seen, wire: Wire) -> None:
    wire.hang()


def cut(seen: Seen, wire: Wire) -> None:
    wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nUser-agent: *")
    wire.close()


def reset(seen: Seen, wire: Wire) -> None:
    wire.reset()


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (Page(b"User-agent: *\nDisallow: /"), "robots"),
        (Page(b""), "ok"),
        (Page(status=204), "ok"),
        *[(Page(b"User-agent: *\nDisallow: /", status=code), "ok") for code in (400, 401, 403, 404, 410, 418)],
        *[(Page(status=code), "robots") for code in (429, 500, 502, 503, 504)],
        (Page(status=301, headers={"Location": "/elsewhere.txt"}), "robots"),
        (Page(status=301, headers={"Location": "/robots.txt"}), "ok"),
        (Page(status=301), "ok"),
        (Page(b"x", {"Content-Encoding": "gzip"}), "robots"),
        (cut, "robots"),
        (reset, "net"),
        (hang, "net"),
        *[
            (Page(status=302, headers={"Location": place}), "ok")
            for place in (
                "http://10.0.0.1/robots.txt",
                "http://[::1]/",
                "http://169.254.169.254/",
                "file:///etc/passwd",
                "//",
            )
        ],
    ],
)
def test_each_answer_has_its_meaning(server, answer, verdict):
    """2xx has rules; 4xx means none; 5xx, 429 and an unreadable file forbid all; without an answer
    the host is unreachable (P-1, P-2). A robots.txt at a forbidden address cannot be fetched, so
    there are no rules (RFC 9309 §2.3.1.3).
    """
    server.pages["/robots.txt"] = answer
    server.pages["/elsewhere.txt"] = Page(b"User-agent: *\nDisallow: /")

    brief = FetchSettings(allow_networks=("127.0.0.0/8",), total_seconds=0.3)

    assert [verdict] == verdicts(server, "/a", settings=brief if answer is hang else SETTINGS)
    assert ("/a" in server.paths()) == (verdict == "ok")


@pytest.mark.parametrize(("length", "verdict"), [(5, "robots"), (6, "ok")])
def test_five_redirects_are_followed(length, verdict):
    """RFC 9309: after more, robots.txt counts as unavailable. Rules at another host apply to the
    first one.
    """
    with WebServer() as server, WebServer("127.0.0.2") as other:
        server.pages["/a"] = Page(b"x")
        server.pages["/robots.txt"] = Page(status=301, headers={"Location": other.url("/1")})
        for n in range(1, length):
            other.pages[f"/{n}"] = Page(status=301, headers={"Location": f"/{n + 1}"})
        other.pages[f"/{length}"] = Page(b"User-agent: *\nDisallow: /a")

        assert [verdict] == verdicts(server, "/a")


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("\ufeffUser-agent: *\nDisallow: /private", False),
        ("User-agent: *\rDisallow: /private\r", False),
        ("User-agent: *\r\nDisallow: /private\0", False),
        ("\0User-agent: *\nDisallow: /private", False),
        ("<html><body>not found</body></html>", True),
        ("User-agent: Tidings\nDisallow: /private\n\nUser-agent: *\nAllow: /", False),
        ("User-agent: tidings\nAllow: /private\n\nUser-agent: *\nDisallow: /", True),
        ("User-agent: tidings\nDisallow: /x\n\nUser-agent: *\nDisallow: /private", True),
        ("User-agent: TidingsOther\nDisallow: /private", True),
        ("User-agent: *\nDisallow: /private\nAllow: /private/a", True),
        ("User-agent: *\nDisallow: /private/a\nAllow: /private", False),
        ("User-agent: *\nDisallow: /private/a\nAllow: /private/a", True),
        ("User-agent: *\nDisallow: /*/a$", False),
        ("User-agent: *\nDisallow: /*b$", True),
        ("User-agent: *\nDisallow:", True),
        ("Disallow: /private", True),
        ("User-agent: *\nnonsense\n\nSitemap: http://x/\nUser-agent: other\nDisallow: /private", False),
        ("User-agent: other\nUser-agent: *\nDisallow: /private", False),
        ("User-agent: *\nAllow: /\nUser-agent: other\nDisallow: /private", True),
        ("User-agent: other\nDisallow: /private\nUser-agent: *\nDisallow: /x", True),
        ("USER AGENT *\nDISALLOW /private", False),
        ("useragent: tid*\ndisallow: /private", False),
        ("User-agent: Tidings # us\nDisallow: /private # all", False),
        (
            "User-agent: tidings\nDisallow: /x\nUser-agent: *\nDisallow: /\nUser-agent: Tidings\nDisallow: /private",
            False,
        ),
    ],
)
def test_rules_follow_the_standard(text, allowed):
    """Marks, line ends and NULs are tolerated (H-113). The longest match wins, Allow wins ties, and
    our group comes before `*`.
    """
    rules = parse(text.encode(), "Tidings")

    assert allowed == rules.can_fetch("http://example.com/private/a", "Tidings")


def test_robots_txt_itself_is_always_allowed(server):
    """A sentinel may watch robots.txt."""
    server.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /")

    assert ["ok"] == verdicts(server, "/robots.txt")


def test_first_500_kib_are_used(server):
    """H-114: the file has 10 MB; a later rule does not count."""
    filler = b"".join(b"Disallow: /path/%d\n" % n for n in range(500_000))[:10_000_000]
    early = b"User-agent: *\nDisallow: /private/a\n" + filler + b"\nDisallow: /private/b\n"
    server.pages["/robots.txt"] = Page(early)

    assert ["robots", "ok"] == verdicts(server, "/private/a", "/private/b")


@pytest.mark.parametrize(
    "body",
    [
        b"".join(b"User-agent: a%d\n" % n for n in range(20_000)) + b"Disallow: /x\n" * 19_000,
        b"User-agent: *\n" * 20_000 + b"Disallow: /x\n" * 19_000,
        b"".join(b"User-agent: %s\n" % b"Tidings"[: n % 8] for n in range(20_000)) + b"Disallow: /x\n" * 19_000,
        b"User-agent: *\n" + b"".join(b"Disallow: /*a*%d$\n" % n for n in range(30_000)),
    ],
    ids=["other names", "one name", "our names", "wildcards"],
)
def test_small_file_has_limited_cost(body):
    """The file has many names with many rules, or wildcards: 500 KiB are parsed and matched in
    limited time (LIMIT).
    """
    with bound_time(10):  # at most 0.6 s
        parse(body, "Tidings").can_fetch("http://example.com/" + "a" * 2_000, "Tidings")


def test_rule_cut_by_the_limit_is_ignored():
    """`Disallow: /private` must not become `Disallow: /`."""
    head = b"User-agent: *\n"
    body = head + b"#" * (500 * 1024 - len(head) - len(b"\nDisallow: /")) + b"\nDisallow: /private"

    assert parse(body, "Tidings").can_fetch("http://example.com/a", "Tidings")


@pytest.mark.parametrize(
    ("value", "delay"),
    [("1e9", 300), ("10", 10), ("0.5", 0.5), ("-1", None), ("nan", None), ("x", None), ("inf", None)],
)
def test_crawl_delay_is_limited(value, delay):
    """H-115: [0, 300 s]. An invalid value is ignored."""
    rules = parse(f"User-agent: *\nCrawl-delay: {value}\nDisallow: /x".encode(), "Tidings")

    assert delay == crawl_delay(rules, "Tidings")


class Site:
    """A robots.txt that can change and fail, with a log of its requests."""

    def __init__(self, body: bytes = b"User-agent: *\nDisallow: /private") -> None:
        self.answer: bytes | FetchError = body
        self.asked: list[str] = []

    async def get(self, url: str) -> bytes:
        self.asked.append(url)
        if isinstance(self.answer, FetchError):
            raise self.answer
        return self.answer


def check(robots: Robots, site: Site, url: str) -> str:
    try:
        asyncio.run(robots.check(url, site.get))
    except FetchError as error:
        return error.kind
    return "ok"


def make(clock: ManualClock, **changes: object) -> Robots:
    return Robots(agent="Tidings", clock=clock, **changes)  # type: ignore[arg-type]


PAGE = "https://www.example.com/a"
PRIVATE = "https://www.example.com/private"


def test_answer_is_used_for_a_day():
    """The answer holds for all pages of the origin. Other origins have their own."""
    clock, site = ManualClock(), Site()
    robots = make(clock)
    first = [check(robots, site, PAGE), check(robots, site, PRIVATE)]
    clock.advance(DAY - MINUTE)
    site.answer = b""
    kept = check(robots, site, PRIVATE)
    clock.advance(2 * MINUTE)
    renewed = check(robots, site, PRIVATE)
    check(robots, site, "http://www.example.com/a")

    assert (["ok", "robots"], "robots", "ok") == (first, kept, renewed)
    assert ["https://www.example.com/robots.txt"] * 2 + ["http://www.example.com/robots.txt"] == site.asked


def test_unreachable_robots_txt_keeps_the_old_rules_for_a_month():
    """After a day with a good answer, 5xx or no network keeps it for 30 days, with at most one
    request an hour.
    """
    for failure in (FetchError("5xx", "broken", status=500), FetchError("net", "away")):
        clock, site = ManualClock(), Site()
        robots = make(clock)
        check(robots, site, PAGE)
        site.answer = failure
        clock.advance(2 * DAY)
        held = [check(robots, site, PAGE), check(robots, site, PRIVATE)]
        asked = len(site.asked)
        clock.advance(29 * DAY)
        expired = check(robots, site, PAGE)

        assert (["ok", "robots"], 2) == (held, asked)
        assert ("robots" if failure.status else "net") == expired


def test_server_error_forbids_all_and_is_retried_after_an_hour():
    """No older answer exists. A good answer allows the host again."""
    clock, site = ManualClock(), Site()
    site.answer = FetchError("5xx", "broken", status=503)
    robots = make(clock)
    first = [check(robots, site, PAGE), check(robots, site, PAGE)]
    asked = len(site.asked)
    site.answer = b""
    clock.advance(HOUR + MINUTE)

    assert (["robots", "robots"], 1, "ok") == (first, asked, check(robots, site, PAGE))


def test_network_failure_is_not_stored():
    """A network failure says nothing about robots.txt: the next poll requests the file again."""
    site = Site()
    site.answer = FetchError("net", "away")
    robots = make(ManualClock())
    first = check(robots, site, PAGE)
    site.answer = b""

    assert ("net", "ok") == (first, check(robots, site, PAGE))


def test_rules_survive_a_restart():
    """`export` stores all origins of a host in its state, and `restore` reads them: no request is
    needed.
    """
    clock, site = ManualClock(), Site()
    before = make(clock)
    for url in (PAGE, "http://example.com:8080/a"):
        check(before, site, url)
    state = before.export(HostState(name="example.com", started_at=7))
    after = make(clock)
    after.restore([state, HostState(name="other.example")])
    untouched = HostState(name="other.example", started_at=1)

    assert (7, "2xx", clock.now()) == (state.started_at, state.robots_status, state.robots_at)
    assert ["robots", "ok"] == [check(after, site, PRIVATE), check(after, site, "http://example.com:8080/a")]
    assert 2 == len(site.asked)
    assert state == after.export(HostState(name="example.com", started_at=7))
    assert untouched == after.export(untouched)


def test_host_with_many_origins_keeps_the_newest():
    """A wildcard domain cannot grow the state of a host without limit."""
    clock, site = ManualClock(), Site()
    robots = make(clock)
    for n in range(50):
        check(robots, site, f"https://n{n}.example.com/")
        clock.advance(1)
    after = make(clock)
    after.restore([robots.export(HostState(name="example.com"))])
    asked = len(site.asked)
    check(after, site, "https://n49.example.com/")
    newest_asked = len(site.asked) - asked
    check(after, site, "https://n0.example.com/")

    assert (0, 1) == (newest_asked, len(site.asked) - asked)


def test_crawl_delay_is_reported_for_the_host():
    """The gate needs it for the gap of the host."""
    received: list[tuple[str, float]] = []
    robots = make(ManualClock(), on_crawl_delay=lambda host, seconds: received.append((host, seconds)))
    check(robots, Site(b"User-agent: *\nCrawl-delay: 20\nDisallow: /x"), PAGE)

    assert [("example.com", 20.0)] == received


def test_robots_txt_is_fetched_through_the_guard():
    """A forbidden address of the name refuses robots.txt and the page."""

    async def run():
        client = Client(SETTINGS, resolver=FixedNames({"bad.example": [["10.0.0.1"]]}))
        try:
            return await client.fetch(FetchRequest(url="http://bad.example/"), FreePermit())
        finally:
            await client.close()

    assert "address" == asyncio.run(run()).kind


def test_named_sitemaps_are_listed_once():
    """The position in the file does not matter, and the number is limited."""
    body = b"\xef\xbb\xbfSITEMAP: https://x.example/1.xml # first\nUser-agent: *\nDisallow: /\n sitemap : /2.xml\nsitemap\nsitemaps: /3.xml\nSitemap: https://x.example/1.xml\n"
    many = b"".join(b"sitemap: /%d.xml\n" % number for number in range(100))

    assert ["https://x.example/1.xml", "/2.xml"] == sitemaps_in(body)
    assert MOST_SITEMAPS == len(sitemaps_in(many))
