"""Promise: a connection to another machine is encrypted, and its certificate is verified. A server
that does not encrypt gets no password.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import socket
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import psycopg
import pytest
import trustme

from tests.buses import make_name
from tests.fakes import Page, WebServer
from tests.nats_server import NatsServer
from tests.postgres_server import PostgresServer
from tests.role_processes import Cluster
from tests.services import Installation, until
from tidings.bus.nats import NatsBus
from tidings.cli.main import main
from tidings.errors import BusError
from tidings.storage.observed import versions

WAIT_SECONDS = 60.0
PASSWORD = "correct-horse-battery"
ELSEWHERE = "192.0.2.1"
"""An address of another machine (RFC 5737), which no test may connect to."""


class Certificates:
    """Files of an authority, and of a server on loopback that it certified."""

    def __init__(self, directory: Path) -> None:
        authority = trustme.CA()
        leaf = authority.issue_cert("127.0.0.1")
        self.authority = directory / "authority.pem"
        self.server, self.key = directory / "server.pem", directory / "server.key"
        authority.cert_pem.write_to_path(str(self.authority))
        leaf.private_key_pem.write_to_path(str(self.key))
        for pem in leaf.cert_chain_pems:
            pem.write_to_path(str(self.server), append=True)

    def configure_nats(self) -> str:
        """Return the configuration of a server that asks for TLS and a password."""
        return (
            f'tls {{ cert_file: "{self.server}", key_file: "{self.key}" }}\n'
            f"authorization {{ user: me, password: {PASSWORD} }}"
        )


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def postgres(certificates: Certificates) -> Iterator[PostgresServer]:
    """Yield a server that answers only connections with TLS."""
    with PostgresServer(certificates.server, certificates.key) as server:
        yield server


@pytest.fixture(autouse=True)
def interrupted_connections() -> Iterator[None]:
    """Collect what nats-py leaves open of interrupted connections, so that no later test does."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def write_url(server: NatsServer) -> str:
    """Return the address of a server with TLS."""
    return server.url.replace("nats://", f"tls://me:{PASSWORD}@")


async def offer(url: str) -> None:
    """Offer work on a bus."""
    bus = NatsBus(url, name="t_tls")
    try:
        await bus.offer("pages", b"work")
    finally:
        await bus.close()


def test_poller_fetches_over_nats_with_tls(tmp_path, certificates):
    """Service and poller trust an authority that the operator names."""
    with (
        NatsServer(tmp_path, certificates.configure_nats()) as bus,
        WebServer("127.0.0.2") as web,
        contextlib.ExitStack() as closing,
    ):
        web.pages["/"] = Page(b"<p>word</p>")
        variables = {
            "TIDINGS_BUS_URL": write_url(bus),
            "TIDINGS_BUS_NAME": make_name(),
            "TIDINGS_BUS_SECRET": "a secret of a test",
            "SSL_CERT_FILE": str(certificates.authority),
        }
        service, poller = (Installation(tmp_path / name, variables) for name in ("service", "poller"))
        for place in (service, poller):
            closing.callback(place.close)
        service.run("add", "-", "--no-check", text=f"Create Sentinel s Using {web.url()} Monitor any change")
        service.serve().wait_ready()
        poller.serve("--role", "poller")
        until(lambda: service.read(versions.newest, 1), WAIT_SECONDS, "nothing was fetched")

        assert "/" in web.paths()


def test_certificate_of_an_unknown_authority_is_refused(tmp_path, certificates, monkeypatch):
    """The operator has not named it."""
    monkeypatch.setattr("tidings.bus.nats.CONNECT_SECONDS", 1.0)
    with (
        NatsServer(tmp_path, certificates.configure_nats()) as server,
        pytest.raises(BusError, match=r"(?i)certificate"),
    ):
        asyncio.run(offer(write_url(server)))


class PlainServer:
    """Says that it is a NATS server, without TLS; `heard` is what clients sent."""

    def __init__(self, address: str = "127.0.0.1", port: int = 0, **info: object) -> None:
        said = {"server_id": "x", "version": "2.10.0", "max_payload": 1_000_000, "headers": True, **info}
        self._info = f"INFO {json.dumps(said)}\r\n".encode()
        self._listener = socket.create_server((address, port))
        self.port: int = self._listener.getsockname()[1]
        self.heard = bytearray()
        self.connections = 0
        self._peers: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def end(self) -> None:
        """Close all connections, and take no more."""
        for each in (self._listener, *self._peers):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self._listener.accept()
                self.connections += 1
                self._peers.append(peer)
                threading.Thread(target=self._hear, args=(peer,), daemon=True).start()

    def _hear(self, peer: socket.socket) -> None:
        with contextlib.suppress(OSError), peer:
            peer.sendall(self._info)
            while data := peer.recv(65_536):
                self.heard += data
                if b"PING" in data:
                    peer.sendall(b"PONG\r\n")


def test_server_without_tls_gets_no_password(monkeypatch):
    """An address with `tls://` is never less, whatever the server says."""
    monkeypatch.setattr("tidings.bus.nats.CONNECT_SECONDS", 1.0)
    said: tuple[dict[str, Any], ...] = (
        {},
        {"tls_required": False},
        {"tls_available": True},
        {"auth_required": True},
    )

    async def offer_all(servers: list[PlainServer]) -> list[BaseException | None]:
        urls = [f"tls://me:{PASSWORD}@127.0.0.1:{server.port}" for server in servers]
        return await asyncio.gather(*map(offer, urls), return_exceptions=True)

    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(PlainServer(**info)) for info in said]
        failed = asyncio.run(offer_all(servers))

        assert [(BusError, True)] * 4 == [(type(each), "does not ask for TLS" in str(each)) for each in failed]
        assert [(True, b"")] * 4 == [(server.connections > 0, bytes(server.heard)) for server in servers]


def test_server_that_came_back_without_tls_gets_no_password(tmp_path, certificates, monkeypatch):
    """The client connects again by itself."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates.authority))
    monkeypatch.setattr("tidings.bus.nats.CONNECT_SECONDS", 1.0)

    async def story() -> PlainServer:
        with NatsServer(tmp_path, certificates.configure_nats()) as server:
            bus = NatsBus(write_url(server), name="t_tls")
            await bus.offer("pages", b"work")
            server.kill()
            with PlainServer(port=server.port) as plain:
                while plain.connections < 2:  # noqa: ASYNC110 - another thread counts
                    await asyncio.sleep(0.02)
                with pytest.raises(BusError):
                    await bus.offer("pages", b"work")
                await bus.close()
                return plain

    plain = asyncio.run(asyncio.wait_for(story(), WAIT_SECONDS))
    assert b"" == bytes(plain.heard)


def test_servers_that_another_one_names_are_not_connected_to(monkeypatch):
    """Without TLS the bus is on this machine, and stays there."""
    monkeypatch.setattr("tidings.bus.nats.CONNECT_SECONDS", 1.0)

    async def story(near: PlainServer, url: str) -> None:
        bus = NatsBus(url, name="t_plain")
        with contextlib.suppress(BusError):
            await bus.send("box", b"")
        near.end()
        with contextlib.suppress(BusError):
            await bus.send("box", b"")
        await asyncio.sleep(3)  # in which the client tries all servers that it knows
        await bus.close()

    with PlainServer("127.0.0.9") as far, PlainServer(connect_urls=[f"127.0.0.9:{far.port}"]) as near:
        asyncio.run(asyncio.wait_for(story(near, f"nats://127.0.0.1:{near.port}"), WAIT_SECONDS))

        assert (0, True) == (far.connections, near.connections > 0)


def test_roles_work_over_postgresql_with_tls(tmp_path, certificates, postgres):
    """They verify the certificate, and each connection is encrypted."""
    url = f"{postgres.url}?sslmode=verify-full&sslrootcert={certificates.authority}"
    with Cluster(tmp_path, url) as cluster:
        for role in ("planner", "notifier", "web"):
            cluster.start(role, ready=False)
        cluster.await_told(cluster.edit())
        with psycopg.connect(url) as connection:
            shown = connection.execute(
                "SELECT s.ssl, count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)"
                " WHERE a.application_name = 'tidings' GROUP BY 1"
            ).fetchall()

        assert [True] == [is_encrypted for is_encrypted, _ in shown]
        assert [] == cluster.violations()


def test_server_of_an_unknown_authority_is_not_used(tmp_path, postgres):
    """Each role says why."""
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    url = f"{postgres.url}?sslmode=verify-full&sslrootcert={other}"
    place = Installation(tmp_path / "data", {"TIDINGS_STORE_URL": url})
    try:
        services = [place.serve("--role", role) for role in ("planner", "notifier", "web")]
        until(lambda: all("certificate" in each.err for each in services), WAIT_SECONDS, "one does not say why")

        assert [False] * 3 == [service.is_ready for service in services]
    finally:
        place.close()


STORE = f"postgresql://me:{PASSWORD}@{ELSEWHERE}/x"
BUS = f"nats://me:{PASSWORD}@{ELSEWHERE}"


@pytest.mark.parametrize(
    ("role", "setting", "url"),
    [
        ("planner", "STORE", STORE),
        ("notifier", "STORE", STORE),
        ("web", "STORE", STORE),
        ("poller", "BUS", STORE),
        ("poller", "BUS", BUS),
        ("all", "BUS", BUS),
    ],
)
def test_role_refuses_to_start_without_tls(tmp_path, monkeypatch, capsys, role, setting, url):
    """It says what to write, and does not show the password."""
    monkeypatch.setenv(f"TIDINGS_{setting}_URL", url)
    monkeypatch.setenv("TIDINGS_BUS_SECRET", "a secret of a test")
    status = main(["serve", "--data", str(tmp_path / "data"), "--role", role])
    said = capsys.readouterr()

    assert (True, True) == (status != 0, "TLS" in said.err)
    assert PASSWORD not in said.out + said.err
