"""Promise: `tidings serve` answers readers and hooks; what it acknowledged survives kill -9, and no
client delays its end.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.fakes import Page, WebServer
from tests.services import STOP_SECONDS, Installation, Service, until
from tidings.cli.main import main
from tidings.clock import SystemClock
from tidings.service.sentinels import register
from tidings.service.sources.outside_events import token_of
from tidings.storage.db.database import open_database
from tidings.storage.secrets import Vault
from tidings.storage.watches import events
from tidings.storage.watches.outside import HAPPENED

PATIENCE = 30.0


@pytest.fixture
def place(tmp_path: Path, server: WebServer) -> Iterator[Installation]:
    """Yield an installation with a sentinel that notifies by feed and stream, and a webhook event."""
    flags = {"TIDINGS_FETCH_ROBOTS": "false", "TIDINGS_FETCH_HOST_GAP_SECONDS": "0"}
    made = Installation(tmp_path / "data", flags)
    server.pages["/a"] = _page("one")
    text = f"""
        Create Event deploy Using webhook
        Create Sentinel shop Using {server.url("/a")} Monitor all words Fetch every 1 s Notify by feed, stream
    """
    with contextlib.closing(open_database(made.settings)) as database:
        register.register(database, text, settings=made.settings, now=SystemClock().now())
    yield made
    made.close()


def _page(word: str) -> Page:
    return Page(f"<p>now {word}</p>".encode(), {"Content-Type": "text/html; charset=utf-8"})


def _door(service: Service) -> str:
    """Return the address of a service when it listens."""
    until(lambda: "listening on" in service.err or service.process.poll() is not None, PATIENCE, "the door stays shut")
    found = re.search(r"listening on (\S+)", service.err)
    assert found is not None, service.err
    return found[1]


def _ask(url: str, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


@contextlib.contextmanager
def _following(url: str, last: str) -> Iterator[Iterator[tuple[str, Any]]]:
    """Follow the stream from a number on; yield (number, record)."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request("GET", "/api/v1/stream", headers={"Last-Event-ID": last})
        answer = connection.getresponse()
        assert 200 == answer.status

        def records() -> Iterator[tuple[str, Any]]:
            number = last
            for line in answer:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                number = value if name == "id" else number
                if name == "data":
                    yield number, json.loads(value)

        yield records()


def test_readers_and_hooks_work_across_a_kill(place: Installation, server: WebServer) -> None:
    """A change is in feed and stream; an event with 202 survives kill -9, once; SIGTERM ends the
    service.
    """
    first = place.serve()
    url = _door(first)
    until(lambda: "/a" in server.paths(), PATIENCE, "the page is not looked at")
    server.pages["/a"] = _page("two")
    with _following(url, "0") as records:
        seen, record = next(records)
    feed = _ask(url, "/feeds/shop.atom")
    token = place.read(token_of, Vault(place.directory), "deploy").reveal()
    shown = {"Authorization": f"Bearer {token}", "Idempotency-Key": "k1", "Content-Type": "application/json"}
    taken = _ask(url, "/api/v1/hooks/deploy", "POST", b'{"version": "1.2"}', **shown)
    first.kill()

    second = place.serve()
    url = _door(second)
    again = _ask(url, "/api/v1/hooks/deploy", "POST", b'{"version": "1.2"}', **shown)
    healthy = _ask(url, "/healthz")
    server.pages["/a"] = _page("three")
    with _following(url, seen) as records:
        further = next(records)[1]
        status, took = second.terminate()
        left = list(records)

    assert ("two", 200) == (record["updated"][0]["new"], feed[0])
    assert f"urn:tidings:change:{record['id']}".encode() in feed[1]
    assert [202, 202] == [taken[0], again[0]]
    assert [True, False] == [json.loads(answer[1])["new"] for answer in (taken, again)]
    happened = [row.data for row in place.read(events.listing, types=[HAPPENED])]
    assert [{"event": "deploy", "params": {"version": "1.2"}}] == happened
    assert (200, "ready") == (healthy[0], json.loads(healthy[1])["status"])
    assert ("two", "three") == (further["updated"][0]["old"], further["updated"][0]["new"])
    assert ([], 0) == (left, status)
    assert took < STOP_SECONDS
    assert all("ERROR" not in service.err and token not in service.err for service in place.services)


def test_answers_have_no_address_of_a_receiver(place: Installation, server: WebServer) -> None:
    """Feed, stream and health name a failing webhook by its secret."""
    server.pages["/t0ken"] = Page(status=404)
    text = f"Create Sentinel loud Using {server.url('/a')} Monitor all words Fetch every 1 s Notify by feed, stream, webhook {server.url('/t0ken')}"
    with contextlib.closing(open_database(place.settings)) as database:
        register.register(database, text, settings=place.settings, now=SystemClock().now())
    service = place.serve()
    url = _door(service)
    until(lambda: "/a" in server.paths(), PATIENCE, "the page is not looked at")
    server.pages["/a"] = _page("two")
    output = []
    with _following(url, "0") as records:
        for _, record in records:
            output.append(json.dumps(record))
            if record.get("event") == "endpoint.failing":
                break
    answers = [_ask(url, path)[1].decode() for path in ("/feeds/loud.atom", "/feeds/all.atom", "/healthz")]
    service.terminate()

    assert "/t0ken" in server.paths()
    assert 'secret \\"webhook-127.0.0.1-' in output[-1]
    assert "secret &quot;webhook-127.0.0.1-" in answers[0] or 'secret "webhook-127.0.0.1-' in answers[0]
    assert "t0ken" not in "".join((*output, *answers, service.err))


def test_port_in_use_ends_the_service_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3; the data directory is free afterwards."""
    monkeypatch.setenv("TIDINGS_DATA", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        codes = [main(["serve", "--port", str(port)]) for _ in range(2)]
    text = capsys.readouterr().err

    assert [3, 3] == codes
    assert 2 == text.count(f"tidings: 127.0.0.1:{port} is taken")
    assert "--port 0" in text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--host", "0.0.0.0"], "serve.token is not set"),
        (["--port", "70000"], "not a port"),
        (["--port", "-1"], "not a port"),
        (["--set", "serve.token=short"], "at least 24 characters"),
    ],
)
def test_invalid_server_settings_end_the_service_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], text: str
) -> None:
    """Exit code 2 before a data directory, lock or port is made."""
    monkeypatch.setenv("TIDINGS_DATA", str(tmp_path / "data"))

    assert 2 == main(["serve", *words])
    assert text in capsys.readouterr().err
    assert not (tmp_path / "data").exists()
