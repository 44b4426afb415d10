"""Certificates, proxies and the TLS contexts of a fetch."""

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


def test_certificate_file_is_trusted_in_addition_to_the_systems(pem):
    """A site with a private certificate is fetched with Trust and fails without it, even
    afterwards.
    """
    with site() as server:
        server.pages["/"] = Page(b"hello")
        before, with_trust, after = ask(
            server.url(), FetchRequest(url=server.url(), trust=str(pem)), server.url(), using=settings()
        )

    assert ["Failed", "Fetched", "Failed"] == [type(o).__name__ for o in (before, with_trust, after)]
    assert "certificate of 127.0.0.1" in after.reason


def test_changed_certificate_file_is_read_again(pem):
    """The present content of the file counts."""
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
def test_invalid_certificate_file_is_named_in_the_error(tmp_path, content, words):
    """The file is missing or no PEM: a failure of kind `request`, without a connection."""
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    with SocketRecorder() as recorder:
        [outcome] = ask(FetchRequest(url="https://127.0.0.1:9/", trust=str(path)))

    assert isinstance(outcome, Failed)
    assert ("request", True, True) == (outcome.kind, words in outcome.reason, str(path) in outcome.reason)
    assert [] == recorder.dials


def test_http_page_is_requested_from_the_proxy():
    """The proxy gets the whole address; the name is not resolved here."""
    names = FixedNames({})
    with WebServer() as proxy:
        proxy.pages["http://site.example/a"] = Page(b"by proxy")
        [outcome] = ask(FetchRequest(url="http://site.example/a", proxy=proxy.url()), resolver=names)

    assert b"by proxy" == outcome.body
    assert [] == names.lookups


def test_https_page_uses_a_tunnel_without_leaking_the_login(pem):
    """CONNECT has user and password, which the site does not get; the headers of the page are not
    sent to the proxy.
    """
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


def test_http_proxy_gets_its_login_with_each_request():
    """Without a tunnel the proxy itself removes the login. A redirect to another origin has the
    login too.
    """
    with WebServer() as proxy:
        proxy.pages["http://site.example/a"] = Page(status=302, headers={"Location": "http://other.example/b"})
        proxy.pages["http://other.example/b"] = Page(b"there")
        secret = Secret(f"http://ann@127.0.0.1:{proxy.port}/")
        ask(FetchRequest(url="http://site.example/a", proxy=secret))

        expected = "Basic " + base64.b64encode(b"ann:").decode()
        assert [expected] * 2 == [seen.headers["proxy-authorization"] for seen in proxy.seen]


def test_robots_and_redirects_use_the_proxy():
    """Each request of a fetch does."""
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
def test_private_proxy_must_be_allowed(proxy):
    """The guard checks the address of the proxy, as a number and by name, before any connection."""
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
def test_proxy_does_not_reach_private_targets(url):
    """Literal addresses and names of the proxy's own machine are refused before the proxy is asked."""
    with WebServer(address="127.0.0.2") as proxy:
        [outcome] = ask(FetchRequest(url=url, proxy=proxy.url()), using=settings(allow_networks=("127.0.0.2/32",)))

        assert [] == proxy.seen
    assert isinstance(outcome, Failed)
    assert "address" == outcome.kind


@pytest.mark.parametrize(("status", "kind"), [(407, "denied"), (502, "net")])
def test_refusal_of_a_proxy_names_the_proxy(status, kind):
    """The reason has the answer of the proxy, without its password."""
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
def test_invalid_proxy_is_refused_without_its_password(proxy):
    """A secret without a usable address is a failure of kind `request`."""
    [outcome] = ask(FetchRequest(url="http://site.example/", proxy=Secret(proxy)))

    assert isinstance(outcome, Failed)
    assert "request" == outcome.kind
    assert "write http://HOST:PORT" in outcome.reason
    assert "c4nary" not in outcome.reason


def test_proxy_of_the_environment_is_ignored(monkeypatch):
    """H-030: only a proxy of the sentinel is used."""
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
def test_content_type_depends_on_the_body(body, kind):
    """JSON is JSON, all other text is a form."""
    assert kind == content_type_for(body)


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """Make an authority, the only one that this machine trusts."""
    made = trustme.CA()
    made.cert_pem.write_to_path(tmp_path / "authorities.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authorities.pem"))
    return made


def test_contexts_made_without_certificates_trust_nobody(authority):
    """The library makes such contexts while it is imported; later contexts trust the authorities of
    the machine.
    """
    with without_certificates():
        meanwhile = ssl.create_default_context()
    later = ssl.create_default_context()

    assert (0, 1) == (meanwhile.cert_store_stats()["x509"], later.cert_store_stats()["x509"])
    assert (ssl.CERT_REQUIRED, True) == (meanwhile.verify_mode, meanwhile.check_hostname)


def test_authorities_of_the_machine_are_trusted(authority):
    """The client does so without a context of its own, and trusts no other."""
    outcomes = []
    for signer in (authority, trustme.CA()):
        with WebServer(tls=tls_pair(signer)[0]) as server:
            server.pages["/"] = Page(b"x")
            outcomes += ask(server.url())

    assert [False, True] == [isinstance(outcome, Failed) for outcome in outcomes]
    assert "unable to get local issuer" in outcomes[1].reason
