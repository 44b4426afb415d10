import asyncio
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from tidings.errors import ListenError, SettingError
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event, Unit
from tidings.service.notify.deliver import STREAMED
from tidings.settings import ServeSettings, Settings
from tidings.storage.watches.events import OWNER
from tidings.web.server import LEAST_TOKEN, HttpServer, check_address, is_loopback, listen, url, url_of


def door(**serve):
    return HttpServer(replace(Settings(), serve=ServeSettings(**{"port": 0, **serve})))


def test_server_libraries_are_imported_only_when_opened():
    """A service is ready as early as without a server (stack: 0.06 s of CPU for the libraries,
    which load once it is ready).
    """
    code = "import sys, tidings.web.server; print(sorted({'starlette', 'uvicorn', 'h11'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]\n" == done.stdout


def test_open_address_without_a_token_is_refused():
    """The error is raised before a port is bound."""
    with pytest.raises(SettingError, match=r"serve\.token"):
        door(host="0.0.0.0")


def test_unopened_server_releases_its_port():
    """A service may stop before it is ready."""
    first = door()
    first.bind()
    port = int(first.url.rpartition(":")[2])
    asyncio.run(first.close())

    listen(ServeSettings(port=port)).close()


@pytest.mark.parametrize(("kind", "is_woken"), [(STREAMED, True), ("change.found", False)])
def test_followers_are_woken_only_by_events_of_the_stream(kind, is_woken):
    """Other events would make them read the database in vain."""
    one = door()
    waiting = one.arrivals.join(OWNER)
    one.note(Unit(at=1, epoch=1, events=(Event(type=EventType.PAGE_OK, at=1), Event(type=kind, at=1))))

    assert is_woken == waiting.is_set()


TOKEN = "t" * LEAST_TOKEN
OPEN = ["0.0.0.0", "::", "192.168.1.5", "203.0.113.7", "tidings.example.org", "", "127.0.0.1.evil.example", "localhost.evil"]  # fmt: skip
OWN = ["127.0.0.1", "127.8.0.1", "::1", "[::1]", "localhost", "LocalHost"]


@pytest.mark.parametrize("host", OWN)
def test_loopback_address_needs_no_token(host):
    """Only this machine can reach it."""
    check_address(ServeSettings(host=host))

    assert is_loopback(host)


@pytest.mark.parametrize("host", OPEN)
def test_open_address_needs_a_token(host):
    """Other machines can reach it. The error says how to set one."""
    with pytest.raises(SettingError, match=r"serve\.token is not set.*TIDINGS_SERVE_TOKEN"):
        check_address(ServeSettings(host=host))

    check_address(ServeSettings(host=host, token=TOKEN))


@pytest.mark.parametrize("token", ["short", TOKEN[1:], TOKEN + "\n", "é" * 40, "🙂" * 30])
def test_weak_token_is_refused(token):
    """A short token, and one that no header can have. The error does not repeat it."""
    with pytest.raises(SettingError) as error:
        check_address(ServeSettings(token=token))

    assert token not in str(error.value)


def test_used_port_is_an_error_with_advice():
    """No socket stays open."""
    with listen(ServeSettings(port=0)) as bound:
        bound.listen()
        port = bound.getsockname()[1]
        with pytest.raises(ListenError, match=f"127.0.0.1:{port} is taken.*--port 0"):
            listen(ServeSettings(port=port))


@pytest.mark.parametrize(
    ("host", "text"), [("192.0.2.1", "is not an address of this machine"), ("a\udcff", "cannot be looked up")]
)
def test_invalid_address_is_an_error_with_its_reason(host, text):
    """A typing error in the address is recognised."""
    with pytest.raises(ListenError, match=text):
        listen(ServeSettings(host=host, port=0))


def test_port_0_is_printed_as_the_bound_port():
    """The system has chosen it."""
    with listen(ServeSettings(port=0)) as bound:
        assert f"http://127.0.0.1:{bound.getsockname()[1]}" == url_of(bound)


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_ipv6_address_is_printed_in_brackets():
    """The address can be pasted into a browser."""
    try:
        bound = listen(ServeSettings(host="[::1]", port=0))
    except ListenError:
        pytest.skip("no IPv6 loopback here")
    with bound:
        assert url_of(bound).startswith("http://[::1]:")


@pytest.mark.parametrize(
    ("host", "text"), [("::1", "http://[::1]:8780"), ("[::1]", "http://[::1]:8780"), ("a.example", "http://a.example:8780")]
)  # fmt: skip
def test_ipv6_setting_may_have_brackets(host, text):
    """The printed address has them in both cases."""
    assert text == url(host, 8780)
