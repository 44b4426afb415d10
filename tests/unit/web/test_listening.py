import socket

import pytest

from tidings.errors import ListenError, SettingError
from tidings.settings import ServeSettings
from tidings.web.listening import LEAST_TOKEN, check, is_loopback, listen, url, url_of

TOKEN = "t" * LEAST_TOKEN
OPEN = ["0.0.0.0", "::", "192.168.1.5", "203.0.113.7", "tidings.example.org", "", "127.0.0.1.evil.example", "localhost.evil"]  # fmt: skip
OWN = ["127.0.0.1", "127.8.0.1", "::1", "[::1]", "localhost", "LocalHost"]


@pytest.mark.parametrize("host", OWN)
def test_this_machine_needs_no_token(host):
    """What only this machine can reach is served as it is."""
    check(ServeSettings(host=host))

    assert is_loopback(host)


@pytest.mark.parametrize("host", OPEN)
def test_strangers_are_not_let_in_by_accident(host):
    """An address that others can reach is refused without a token, and the text says how to mend it; with one it is served."""
    with pytest.raises(SettingError, match=r"serve\.token is not set.*TIDINGS_SERVE_TOKEN"):
        check(ServeSettings(host=host))

    check(ServeSettings(host=host, token=TOKEN))


@pytest.mark.parametrize("token", ["short", TOKEN[1:], TOKEN + "\n", "é" * 40, "🙂" * 30])
def test_a_token_that_can_be_guessed_is_none(token):
    """A short one, and one that no header can hold, are refused without being repeated."""
    with pytest.raises(SettingError) as error:
        check(ServeSettings(token=token))

    assert token not in str(error.value)


def test_a_port_that_is_taken_is_told():
    """The text says what to do; nothing is left open."""
    with listen(ServeSettings(port=0)) as bound:
        bound.listen()
        port = bound.getsockname()[1]
        with pytest.raises(ListenError, match=f"127.0.0.1:{port} is taken.*--port 0"):
            listen(ServeSettings(port=port))


@pytest.mark.parametrize(
    ("host", "said"), [("192.0.2.1", "is not an address of this machine"), ("a\udcff", "cannot be looked up")]
)
def test_an_address_that_cannot_be_had_is_told(host, said):
    """A typing error in the address reads as one."""
    with pytest.raises(ListenError, match=said):
        listen(ServeSettings(host=host, port=0))


def test_any_free_port_is_printed_as_it_is():
    """Port 0 becomes the port that was given."""
    with listen(ServeSettings(port=0)) as bound:
        assert f"http://127.0.0.1:{bound.getsockname()[1]}" == url_of(bound)


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_an_address_of_six_is_written_in_brackets():
    """So that it can be pasted."""
    try:
        bound = listen(ServeSettings(host="[::1]", port=0))
    except ListenError:
        pytest.skip("no IPv6 loopback here")
    with bound:
        assert url_of(bound).startswith("http://[::1]:")


@pytest.mark.parametrize(
    ("host", "said"), [("::1", "http://[::1]:8780"), ("[::1]", "http://[::1]:8780"), ("a.example", "http://a.example:8780")]
)  # fmt: skip
def test_an_address_is_written_from_a_setting(host, said):
    """Brackets may be in the setting or not."""
    assert said == url(host, 8780)
