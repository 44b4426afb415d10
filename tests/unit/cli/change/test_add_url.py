"""`tidings add --url URL` shows the watched value, and has flags for the usual clauses."""

from __future__ import annotations

import base64
import io
import re

import pytest

from tests.fakes import Page
from tidings.cli.change.first_check import complete
from tidings.errors import SecretError
from tidings.service.secrets import secrets

HTML = {"Content-Type": "text/html; charset=utf-8"}
SHOP = b"""<title>Kettle Shop</title>
<script type="application/ld+json">{"@type": "Product", "offers": {"price": "129.00", "priceCurrency": "EUR"}}</script>
<p>17 people look at this kettle</p><p class="more">see <a href="/lids">lids</a></p>
<table><tr><th>City</th><th>Fare</th></tr><tr><td>Berlin</td><td>12</td></tr><tr><td>Oslo</td><td>41</td></tr>
<tr><td>Rome</td><td>31</td></tr><tr><td>Paris</td><td>30</td></tr></table><ul><li>one</li><li>two</li></ul>"""


@pytest.fixture
def shop(server):
    server.pages["/shop"] = Page(SHOP, HTML)
    return server.url("/shop")


def read_now(out: str) -> list[str]:
    """Return the lines of `add` with the value now."""
    lines = out.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("now "))
    until = next(place for place in range(start + 1, len(lines)) if not lines[place].startswith(" "))
    return [line[10:] for line in lines[start:until]]


@pytest.mark.parametrize(
    ("monitor", "expected"),
    [
        ("price", ["129.00 EUR"]),
        ("number", ["17"]),
        ('regex "(\\d+) people"', ["17"]),
        ('links in css ".more"', ["URL/lids"]),
        ("table 1", ["4 rows", "  City | Fare", "  Berlin | 12", "  Oslo | 41", "  Rome | 31", "  and 1 more"]),
        ("items", ["2 items", "  one", "  two"]),
        ('words in css ".more"', ["see lids"]),
        ('keyword "kettle"', ['"kettle" 1 time']),
        ("price OR number", ["price: 129.00 EUR", "number: 17"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_current_value_is_shown(tidings, server, shop, monitor, expected):
    """A wrong selector is noticed at once."""
    ran = tidings("add", "--url", shop, "--monitor", monitor)

    assert [line.replace("URL", server.url("")) for line in expected] == read_now(ran.out)


@pytest.mark.parametrize("monitor", ['keyword "teapot"', 'regex "teapot"', "images", "list 1 in css '.more'"])
def test_rule_without_matches_is_a_warning(tidings, shop, monitor):
    """Otherwise a wrong rule would never report anything, without an error."""
    ran = tidings("add", "--url", shop, "--monitor", monitor.replace("'", '"'), "--select", ".more", "--no-test")

    assert re.search("^warning .*(finds nothing on the page now|matches nothing)", ran.out, re.MULTILINE)


def test_json_record_has_the_value_as_a_number(tidings, shop):
    """Programs need not parse its text."""
    (record,) = tidings("add", "--url", shop, "--monitor", "price", "--json").records

    assert [("price", ["129.00 EUR"], "129.00", "EUR")] == [
        (one["what"], one["first"], one["number"], one["unit"]) for one in record["now"]
    ]


def test_command_shows_the_current_value(tidings, shop, tmp_path):
    """`tidings test` shows the same as `add`."""
    path = tmp_path / "s.sentinel"
    path.write_text(f"Create Sentinel s Using {shop} Monitor price")

    assert "    now      129.00 EUR\n" in tidings("test", str(path)).out


def test_flags_become_clauses(tidings, shop, server):
    """Each flag is a clause in the text of the sentinel."""
    tidings(
        "add", "--url", shop, "--name", "k", "--only-added", "--select", "body", "--exclude", "table", "--exclude", "ul",
        "--tag", "kitchen", "--tag", "gifts", "--header", "Accept-Language: de",
    )  # fmt: skip
    (record,) = tidings("list", "--json").records
    text = record["text"]

    assert "Monitor all words inserted" in text
    assert 'Select css "body"' in text
    assert 'Exclude css "table"' in text
    assert 'Header "Accept-Language" "de"' in text
    assert "Tags kitchen, gifts" in text
    assert ["de"] == [seen.headers["accept-language"] for seen in server.seen if seen.path == "/shop"]


def test_step_flags_become_one_clause(tidings, shop):
    """The steps keep their order. The error of a wrong step names the flag."""
    steps = ("--step", 'click text "More"', "--step", 'wait for ".list"')
    ran = tidings("add", "--url", shop, "--name", "k", "--no-check", *steps)
    wrong = tidings("add", "--url", shop, "--name", "w", "--no-check", "--step", "clik it")
    (record,) = tidings("list", "--json").records

    assert 0 == ran.code
    assert 'Render browser steps (click text "More", wait for css ".list")' in record["text"]
    assert wrong.err.startswith("--step: E03"), wrong.err


def test_no_check_flag_requests_nothing(tidings, shop, server):
    """Its help says so. The service checks the page later."""
    ran = tidings("add", "--url", shop, "--no-check")

    assert (0, []) == (ran.code, server.paths())
    assert f"watching  {shop}" in ran.out.splitlines()
    assert "warning" not in ran.out


def test_user_flag_logs_in_and_hides_the_password(tidings, shop, server, monkeypatch):
    """The password of basic authentication is read from standard input, and stored encrypted."""
    monkeypatch.setattr("sys.stdin", io.StringIO("k4nary\n"))
    ran = tidings("add", "--url", shop, "--name", "k", "--user", "anna")
    shown = ran.out + ran.err + tidings("list", "--json").out + tidings("show", "k").out

    sent = {seen.headers.get("authorization") for seen in server.seen if seen.path == "/shop"}
    assert {f"Basic {base64.b64encode(b'anna:k4nary').decode()}"} == sent
    assert "k4nary" not in shown
    assert base64.b64encode(b"anna:k4nary").decode() not in shown
    assert "not set" not in shown


def read_logins(tidings) -> list[list[str]]:
    """Return the sentinels that use each stored login."""
    stored = tidings("secret", "list", "--json").records
    return sorted(one["sentinels"] for one in stored if one["name"].startswith(("login-", "form-")))


def test_second_login_at_a_host_leaves_the_first(tidings, shop, server, monkeypatch):
    """Another password of the same user is another secret while a sentinel uses the first; an equal
    one is shared.
    """
    outs = []
    for name, password in (("a", "one"), ("b", "one"), ("c", "two"), ("d", "two")):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
        outs.append(tidings("add", "--url", f"{shop}/{name}", "--name", name, "--user", "anna").out)
    logins = read_logins(tidings)
    server.seen.clear()
    tidings("check", "a", "b", "c", "d")
    sent = {seen.path[-1]: seen.headers.get("authorization") for seen in server.seen if "/shop/" in seen.path}

    one, two = (f"Basic {base64.b64encode(text).decode()}" for text in (b"anna:one", b"anna:two"))
    assert {"a": one, "b": one, "c": two, "d": two} == sent
    assert [["a", "b"], ["c", "d"]] == logins
    assert [False, False, True, True] == ["warning   a, b log in with another password" in out for out in outs]


def test_login_that_nothing_uses_is_replaced(tidings, shop, monkeypatch):
    """A dropped sentinel leaves its secret."""
    outs = []
    for password in ("one", "two"):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
        outs.append(tidings("add", "--url", shop, "--name", "a", "--user", "anna").out)
        tidings("drop", "a")

    assert "another password" not in "".join(outs)
    assert [[]] == read_logins(tidings)


@pytest.mark.parametrize("given", ["", "\n", "\r\n"])
@pytest.mark.parametrize("form", [False, True])
def test_empty_password_is_refused(tidings, shop, monkeypatch, given, form):
    """A forgotten pipe must not store a login that cannot work. Nothing is registered."""
    monkeypatch.setattr("sys.stdin", io.StringIO(given))
    flags = ("--login-form", shop) if form else ()
    ran = tidings("add", "--url", shop, "--user", "anna", *flags)

    assert (2, True) == (ran.code, "the password of anna is empty" in ran.err)
    assert [] == tidings("list", "--json").records
    assert [] == read_logins(tidings)


def test_page_that_is_watched_is_described_as_it_is_now(tidings, server):
    """Its first version may be years old."""
    server.pages["/p"] = Page(b"<title>Old</title><p>Sold out", HTML)
    tidings("add", "--url", server.url("/p"), "--name", "a")
    server.pages["/p"] = Page(b"<title>New</title><p>In stock: seven kettles <a href=x>here</a>", HTML)
    tidings("check", "a")

    out = tidings("add", "--url", server.url("/p"), "--name", "b").out

    assert "watching  New\n" in out
    assert "watched   all words (5 words, 1 link, 0 images now)\n" in out
    assert "begins    In stock: seven kettles here\n" in out


def test_password_flag_names_a_secret(tidings, shop, server, monkeypatch):
    """A script cannot answer a prompt."""
    monkeypatch.setattr("sys.stdin", io.StringIO("k4nary"))
    tidings("secret", "set", "shop-password")
    tidings("add", "--url", shop, "--user", "anna", "--password", "shop-password")

    sent = {seen.headers.get("authorization") for seen in server.seen if seen.path == "/shop"}
    assert {f"Basic {base64.b64encode(b'anna:k4nary').decode()}"} == sent


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (("--header", "nothing"), "is not a header; write for example"),
        (("--user", "a:b"), "cannot have a colon"),
        (("--password", "x"), "--password needs --user NAME"),
        (("--user", "anna", "--password", "none"), "there is no secret none; `tidings secret set none` stores one"),
        (("--select", "<<"), "--select: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_invalid_flag_registers_nothing(tidings, shop, flags, text):
    """The error names the flag."""
    ran = tidings("add", "--url", shop, *flags)

    assert 2 == ran.code
    assert text in ran.err
    assert [] == tidings("list", "--json").records


def test_url_flags_with_a_file_are_refused(tidings, tmp_path):
    """With a file, the flags would have no effect."""
    path = tmp_path / "s.sentinel"
    path.write_text("Create Sentinel s Using https://example.org/ Monitor any change")

    assert "--tag needs --url" in tidings("add", str(path), "--tag", "x").err


def test_address_that_is_already_watched_is_reported(tidings, shop):
    """The second sentinel is made, and the line names the command that removes it."""
    tidings("add", "--url", shop, "--name", "first")
    ran = tidings("add", "--url", shop, "--name", "second")

    assert "already   also watched by first; `tidings drop second` removes the new sentinel" in ran.out


def test_names_keep_the_script_of_the_title(tidings, server):
    """A name is made of the title with hyphens, not transliterated to ASCII."""
    server.pages["/tokyo"] = Page("<title>東京 ニュース</title><p>今日</p>".encode(), HTML)
    (record,) = tidings("add", "--url", server.url("/tokyo"), "--json").records

    assert record["name"].endswith("-東京-ニュース")
    assert 0 == tidings("show", record["name"]).code


def test_address_needs_no_flag(tidings, server):
    """`tidings add https://…` is `tidings add --url https://…`; a path is a file."""
    server.pages["/a"] = Page(b"<title>Shop</title><p>one</p>", {"Content-Type": "text/html"})

    assert "Shop" in tidings("add", server.url("/a"), "--name", "s").out
    assert "cannot be read" in tidings("add", "http-list.txt").err


@pytest.mark.parametrize("url", ["http://[", "http://[::1/x"])
def test_unreadable_address_is_refused(tidings, url):
    """Nothing is stored, and there is no traceback."""
    ran = tidings("add", "--url", url)

    assert (2, True) == (ran.code, "is not an address" in ran.err)
    assert "Traceback" not in ran.err


RSS = """<rss version="2.0"><channel><title>Harbour news</title>
<item><title>Pier closed</title><link>https://h.example/1</link><guid>1</guid></item></channel></rss>"""


@pytest.mark.parametrize(
    ("flags", "monitor"),
    [
        ((), "Monitor items"),
        (("--only-added",), "Monitor items inserted"),
        (("--monitor", "all words"), "Monitor all words"),
    ],
)
def test_items_of_a_feed_are_watched(tidings, server, flags, monitor):
    """Unless another change is asked for: its text has numbers and addresses that nobody reads."""
    server.pages["/feed"] = Page(RSS.encode(), {"Content-Type": "application/rss+xml"})
    tidings("add", "--url", server.url("/feed"), "--name", "feed", *flags)
    shown = tidings("show", "feed").out

    assert monitor in [line.strip() for line in shown.splitlines()]


@pytest.mark.parametrize("words", [("--url",), ()])
def test_address_without_scheme_is_tried_by_https_then_http(tidings, server, shop, words):
    """As a browser does; the flag can be left out too."""
    ran = tidings("add", *words, shop.removeprefix("http://"), "--name", "shop", checks=True)

    assert "watching  Kettle Shop" in ran.out.splitlines()
    assert f"Using {shop}" in tidings("show", "shop").out


def test_address_that_answers_by_neither_stays_https(tidings):
    """The first check of a service tries again."""
    ran = tidings("add", "--url", "127.0.0.1:1025/x", "--name", "nowhere")

    assert "watching  https://127.0.0.1:1025/x" in ran.out.splitlines()
    assert "warning   no connection to 127.0.0.1" in ran.out


@pytest.mark.parametrize("command", ["add", "test"])
def test_first_check_obeys_robots(tidings, server, shop, monkeypatch, command):
    """robots.txt is read first. A page that it forbids is not requested."""
    monkeypatch.setenv("TIDINGS_FETCH_HOST_GAP_SECONDS", "5")
    server.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /shop", {"Content-Type": "text/plain"})

    ran = tidings(command, "--url", shop)

    assert f"robots.txt of {server.url().split('/')[2]} forbids this page to Tidings" in ran.out
    assert ["/robots.txt"] == server.paths()


def test_robots_txt_and_the_page_are_one_visit(tidings, server, shop, monkeypatch):
    """The first check of a page shows it at once, and not a gap later."""
    monkeypatch.setenv("TIDINGS_FETCH_HOST_GAP_SECONDS", "600")

    assert "129.00 EUR" in tidings("add", "--url", shop, "--monitor", "price").out
    assert ["/robots.txt", "/shop"] == server.paths()


def test_monitor_flag_with_a_file_is_refused(tidings, tmp_path):
    """It would be ignored."""
    path = tmp_path / "s.sentinel"
    path.write_text("Create Sentinel s Using https://example.org/ Monitor any change")

    assert "--monitor needs --url" in tidings("add", str(path), "--monitor", "price").err


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("example.org/?next=https://x.org/", "https://example.org/?next=https://x.org/"),
        ("http://example.org/", "http://example.org/"),
        ("example.org:8080/a", "https://example.org:8080/a"),
    ],
)
def test_address_without_a_scheme_gets_one(given, expected):
    """An address in its query is no scheme."""
    assert expected == complete(given)


def test_sentinel_is_not_stored_without_its_password(tidings, shop, monkeypatch):
    """Otherwise it would fail, and a repeated command would make another."""

    def refuse(*_: object, **__: object) -> None:
        raise SecretError("secrets.key cannot be read")

    monkeypatch.setattr("sys.stdin", io.StringIO("shut"))
    monkeypatch.setattr(secrets, "set_", refuse)

    assert "secrets.key cannot be read" in tidings("add", "--url", shop, "--user", "anna").err
    assert [] == tidings("list", "--json").records
