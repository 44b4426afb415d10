"""The library is imported without certificates; they are read when they are needed."""

from __future__ import annotations

import asyncio
import base64
import os
import ssl
from pathlib import Path

import pytest
import trustme

from tests.fakes import FreePermit, Page, SocketRecorder, WebServer
from tests.proxies import tunnel
from tests.unit.fetching.asking import FixedNames, ask, settings, tls_pair
from tidings.fetching.http.client import Client
from tidings.fetching.http.routes import content_type_for, without_certificates
from tidings.model.observed.outcome import Failed, Fetched, FetchRequest, Outcome
from tidings.model.secret import Secret

CA = trustme.CA()


def site(*names: str) -> WebServer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    CA.issue_cert(*(names or ("127.0.0.1",))).configure_cert(context)
    return WebServer(tls=context)


@pytest.fixture
def pem(tmp_path):
    path = tmp_path / "ca.pem"
    CA.cert_pem.write_to_path(str(path))
    return path


def test_a_file_of_certificates_is_trusted_beside_the_systems(pem):
    """A site with a certificate of the house is fetched with Trust and fails without; the next fetch without it fails still."""
    with site() as server:
        server.pages["/"] = Page(b"hello")
        before, with_trust, after = ask(
            server.url(), FetchRequest(url=server.url(), trust=str(pem)), server.url(), using=settings()
        )

    assert ["Failed", "Fetched", "Failed"] == [type(o).__name__ for o in (before, with_trust, after)]
    assert "certificate of 127.0.0.1" in after.reason


def test_a_file_of_certificates_is_read_again_when_it_has_changed(pem):
    """What was trusted is what the file says now."""
    other = trustme.CA()
    good = pem.read_bytes()
    other.cert_pem.write_to_path(str(pem))
    with site() as server:
        server.pages["/"] = Page(b"hello")
        request = FetchRequest(url=server.url(), trust=str(pem))

        async def story() -> list[Outcome]:
            client = Client(settings())
            first = await client.fetch(request, FreePermit())
            pem.write_bytes(good)
            os.utime(pem, ns=(1, 1))
            second = await client.fetch(request, FreePermit())
            await client.close()
            return [first, second]

        outcomes = asyncio.run(story())

    assert [Failed, Fetched] == [type(outcome) for outcome in outcomes]


@pytest.mark.parametrize(
    ("content", "words"), [(None, "cannot be read: No such file"), (b"hello", "has no certificate in PEM form")]
)
def test_a_file_that_is_no_certificate_is_named(tmp_path, content, words):
    """Missing or no PEM: a failure of kind `request` with the path; nothing is dialled."""
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    with SocketRecorder() as recorder:
        [outcome] = ask(FetchRequest(url="https://127.0.0.1:9/", trust=str(path)))

    assert isinstance(outcome, Failed)
    assert ("request", True, True) == (outcome.kind, words in outcome.reason, str(path) in outcome.reason)
    assert [] == recorder.dials


def test_http_pages_are_asked_of_the_proxy_with_their_whole_address():
    """The proxy gets the address; the name is looked up by nobody here."""
    names = FixedNames({})
    with WebServer() as proxy:
        proxy.pages["http://site.example/a"] = Page(b"by proxy")
        [outcome] = ask(FetchRequest(url="http://site.example/a", proxy=proxy.url()), resolver=names)

    assert b"by proxy" == outcome.body
    assert [] == names.lookups


def test_https_pages_go_through_a_tunnel_and_the_login_stays_with_the_proxy(pem):
    """CONNECT carries user and password, the site sees neither them nor a word of the proxy; its headers do not reach the proxy."""
    secret = Secret("")
    with site("site.example") as server, WebServer() as proxy:
        server.pages["/a"] = Page(b"by tunnel")
        proxy.pages["site.example:443"] = tunnel(server)
        secret = Secret(f"http://ann:c4n%40ry@127.0.0.1:{proxy.port}")
        request = FetchRequest(
            url="https://site.example/a", proxy=secret, trust=str(pem), headers=(("x-key", Secret("k3y")),)
        )
        [outcome] = ask(request)
        [connect], [seen] = proxy.seen, server.seen

    assert b"by tunnel" == outcome.body
    assert ("CONNECT", "Basic " + base64.b64encode(b"ann:c4n@ry").decode()) == (
        connect.method,
        connect.headers["proxy-authorization"],
    )
    assert "x-key" not in connect.headers
    assert ("k3y", False) == (seen.headers["x-key"], "proxy-authorization" in seen.headers)


def test_a_proxy_that_passes_on_gets_its_login_with_each_request():
    """Without a tunnel the login goes with the request, which is the proxy's to strip; another origin behind it gets it too."""
    with WebServer() as proxy:
        proxy.pages["http://site.example/a"] = Page(status=302, headers={"Location": "http://other.example/b"})
        proxy.pages["http://other.example/b"] = Page(b"there")
        secret = Secret(f"http://ann@127.0.0.1:{proxy.port}/")
        ask(FetchRequest(url="http://site.example/a", proxy=secret))

        expected = "Basic " + base64.b64encode(b"ann:").decode()
        assert [expected] * 2 == [seen.headers["proxy-authorization"] for seen in proxy.seen]


def test_robots_and_redirects_take_the_same_way():
    """Each request of a fetch goes by the proxy."""
    with WebServer() as proxy, SocketRecorder() as recorder:
        proxy.pages["http://site.example/robots.txt"] = Page(b"User-agent: *\nAllow: /")
        proxy.pages["http://site.example/a"] = Page(status=302, headers={"Location": "http://other.example/b"})
        proxy.pages["http://other.example/robots.txt"] = Page(status=404)
        proxy.pages["http://other.example/b"] = Page(b"there")
        request = FetchRequest(url="http://site.example/a", proxy=proxy.url(), headers=(("x-key", "k"),))
        [outcome] = ask(request, using=settings(robots=True))

    assert b"there" == outcome.body
    assert {("127.0.0.1", proxy.port)} == set(recorder.dials)
    assert [
        ("http://site.example/robots.txt", False),
        ("http://site.example/a", True),
        ("http://other.example/robots.txt", False),
        ("http://other.example/b", False),
    ] == [(seen.target, "x-key" in seen.headers) for seen in proxy.seen]


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:3128", "http://[::1]:3128", "http://proxy.example:3128"])
def test_a_proxy_inside_must_be_allowed(proxy):
    """The proxy's own address passes the guard, by number and by name; nothing is dialled."""
    names = FixedNames({"proxy.example": [["127.0.0.1"]]})
    with SocketRecorder() as recorder:
        [outcome] = ask(
            FetchRequest(url="http://site.example/", proxy=Secret(proxy)),
            using=settings(allow_networks=()),
            resolver=names,
        )

    assert isinstance(outcome, Failed)
    assert "address" == outcome.kind
    assert "the proxy" in outcome.reason
    assert [] == recorder.dials


@pytest.mark.parametrize(
    "url",
    ["http://10.0.0.1/", "http://[fd00::1]/", "http://localhost/", "http://a.localhost/", "http://169.254.169.254/"],
)
def test_a_proxy_is_no_way_in(url):
    """What can be judged of the target is judged: its literal address, and names that mean the proxy's own machine."""
    with WebServer(address="127.0.0.2") as proxy:
        [outcome] = ask(FetchRequest(url=url, proxy=proxy.url()), using=settings(allow_networks=("127.0.0.2/32",)))

        assert [] == proxy.seen
    assert isinstance(outcome, Failed)
    assert "address" == outcome.kind


@pytest.mark.parametrize(("status", "kind"), [(407, "denied"), (502, "net")])
def test_a_proxy_that_refuses_is_blamed(status, kind):
    """What went wrong is the proxy's answer, told without its password."""
    with WebServer() as proxy:
        proxy.pages["site.example:443"] = Page(status=status)
        secret = Secret(f"http://ann:c4nary@127.0.0.1:{proxy.port}")
        [outcome] = ask(FetchRequest(url="https://site.example/", proxy=secret))

    assert isinstance(outcome, Failed)
    assert kind == outcome.kind
    assert f"it answered {status}" in outcome.reason
    assert "the proxy 127.0.0.1" in outcome.reason
    assert "c4nary" not in repr(outcome)


@pytest.mark.parametrize(
    "proxy",
    ["socks5://h:1080", "http://ann:c4nary@", "http://ann:c4nary@h:22", "http://ann:c4nary@2130706433:8080", "c4nary"],
)
def test_what_is_no_proxy_is_refused_without_its_password(proxy):
    """A secret that holds no usable address is a failure of kind `request`."""
    [outcome] = ask(FetchRequest(url="http://site.example/", proxy=Secret(proxy)))

    assert isinstance(outcome, Failed)
    assert "request" == outcome.kind
    assert "write http://HOST:PORT" in outcome.reason
    assert "c4nary" not in outcome.reason


def test_no_proxy_is_taken_from_the_environment(monkeypatch):
    """H-030: what is not written is not used."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with WebServer() as server:
        server.pages["/"] = Page(b"hello")
        [outcome] = ask(server.url())

    assert b"hello" == outcome.body


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('{"a": 1}', "application/json"),
        (" [1]", "application/json"),
        ("{a", "application/x-www-form-urlencoded"),
        ("a=1&b=2", "application/x-www-form-urlencoded"),
        ("", "application/x-www-form-urlencoded"),
    ],
)
def test_what_a_body_is_sent_as(body, kind):
    """JSON is JSON, all else a form's fields."""
    assert kind == content_type_for(body)


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """Make an authority that this machine trusts, and no other."""
    made = trustme.CA()
    made.cert_pem.write_to_path(tmp_path / "authorities.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authorities.pem"))
    return made


def test_contexts_made_meanwhile_trust_nobody(authority):
    """The library's own could ask nobody; what is made later trusts whom the machine trusts."""
    with without_certificates():
        meanwhile = ssl.create_default_context()
    later = ssl.create_default_context()

    assert (0, 1) == (meanwhile.cert_store_stats()["x509"], later.cert_store_stats()["x509"])
    assert (ssl.CERT_REQUIRED, True) == (meanwhile.verify_mode, meanwhile.check_hostname)


def test_the_authorities_of_the_machine_are_asked(authority):
    """Without a context of its own the client trusts whom the machine trusts, and nobody else."""
    outcomes = []
    for signer in (authority, trustme.CA()):
        with WebServer(tls=tls_pair(signer)[0]) as server:
            server.pages["/"] = Page(b"x")
            outcomes += ask(server.url())

    assert [False, True] == [isinstance(outcome, Failed) for outcome in outcomes]
    assert "unable to get local issuer" in outcomes[1].reason
