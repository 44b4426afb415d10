import socket
import ssl
import subprocess
import sys

import pytest
import trustme

from tests.fakes_smtp import MailServer
from tidings.notification.channel import Refused, Sent
from tidings.notification.smtp import Letter, LetterServer, deliver

CONTENT = b"Subject: x\r\n\r\n.dot\r\nend\r\n"


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def certificate(authority):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture
def trusting(authority):
    def tls():
        context = ssl.create_default_context()
        authority.configure_trust(context)
        return context

    return tls


def hand_in(server, *, port=0, **other):
    given = {
        "host": "127.0.0.1",
        "port": port or server.port,
        "security": "none",
        "user": "",
        "password": "",
        "name": "example.org",
        "tls": ssl.create_default_context,
        "timeout_seconds": 2.0,
        **other,
    }
    return deliver(Letter(LetterServer(**given), "tidings@example.org", "anna@example.org", CONTENT))


def test_a_letter_is_handed_in():
    """Envelope and content arrive byte for byte, lines that begin with a dot too."""
    with MailServer() as server:
        answer = hand_in(server)
    (taken,) = server.taken

    assert Sent(250) == answer
    assert ("<tidings@example.org>", ["<anna@example.org>"]) == (
        taken.sender.partition(" ")[0],
        [r.partition(" ")[0] for r in taken.recipients],
    )
    assert CONTENT == taken.content
    assert "ehlo example.org" == server.commands[0].lower()


@pytest.mark.parametrize("point", ["MAIL", "RCPT", "DATA", "END"])
def test_4xx_is_tried_again(point):
    """F-31: a mailbox that is full now may not be later."""
    with MailServer({point: "452 4.2.2 mailbox\x07 full"}) as server:
        answer = hand_in(server)

    assert Refused(reason=f"127.0.0.1:{server.port} said 452 4.2.2 mailbox\\u0007 full") == answer


@pytest.mark.parametrize("point", ["MAIL", "RCPT", "DATA", "END"])
def test_5xx_is_final(point):
    """F-31: who says that there is no such mailbox is believed."""
    with MailServer({point: "550 5.1.1 no such user"}) as server:
        answer = hand_in(server)

    assert Refused(reason=f"127.0.0.1:{server.port} said 550 5.1.1 no such user", retry=False) == answer


@pytest.mark.parametrize("point", ["END", "DATA", "MAIL"])
def test_a_lost_connection_is_tried_again(point):
    """F-31: after DATA nobody knows whether it was sent; it is sent again, under the same Message-ID."""
    with MailServer({point: ""}) as server:
        answer = hand_in(server)

    assert isinstance(answer, Refused)
    assert answer.retry
    assert "which may have been sent" in answer.reason
    assert ("END" == point) == bool(server.taken)


@pytest.mark.parametrize("said", ["554 no service here", "421 too busy", ""])
def test_a_server_that_takes_nobody_is_tried_again(said):
    """What it says before it has seen the letter is not about the letter."""
    with MailServer({"GREETING": said}) as server:
        answer = hand_in(server)

    assert isinstance(answer, Refused)
    assert answer.retry
    assert answer.reason.startswith(f"no connection to the mail server 127.0.0.1:{server.port}")


def test_a_bad_goodbye_is_no_failure():
    """The letter was taken; how the server parts does not matter."""
    with MailServer({"QUIT": ""}) as server:
        answer = hand_in(server)

    assert Sent(250) == answer


def test_nobody_there_is_tried_again():
    """A server that is down is up again some day."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    answer = hand_in(None, port=port)

    assert isinstance(answer, Refused)
    assert answer.retry
    assert "Connection refused" in answer.reason


def test_a_silent_server_is_given_up():
    """H-122: one deadline, also for who only accepts."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        answer = hand_in(None, port=silent.getsockname()[1], timeout_seconds=0.1)

    assert isinstance(answer, Refused)
    assert answer.retry
    assert "timed out" in answer.reason


def test_a_host_that_no_name_can_have_is_a_value():
    """A mistyped setting is a reason, not a crash."""
    answer = hand_in(None, port=25, host="a" * 70 + ".example")

    assert isinstance(answer, Refused)
    assert answer.retry


@pytest.mark.parametrize("starttls", [False, True])
def test_tls_secures_log_in_and_letter(certificate, trusting, starttls):
    """From the first byte or by STARTTLS: nothing is said before but that it is wanted."""
    security = "starttls" if starttls else "tls"
    with MailServer(tls=certificate, starttls=starttls, login=True) as server:
        answer = hand_in(server, security=security, tls=trusting, user="anna", password="word")
    (taken,) = server.taken

    assert Sent(250) == answer
    assert taken.secured
    assert taken.user


@pytest.mark.parametrize("starttls", [False, True])
def test_a_certificate_that_nobody_vouches_for_is_refused(certificate, starttls):
    """No letter and no password go to who only says that it is the server."""
    security = "starttls" if starttls else "tls"
    with MailServer(tls=certificate, starttls=starttls, login=True) as server:
        answer = hand_in(server, security=security, user="anna", password="word")

    assert isinstance(answer, Refused)
    assert answer.retry
    assert "certificate verify failed" in answer.reason
    assert not any(command.startswith("AUTH") for command in server.commands)


def test_starttls_is_never_left_out():
    """A server, or who sits between, that does not offer it gets nothing."""
    with MailServer(login=True) as server:
        answer = hand_in(server, security="starttls", user="anna", password="word")

    assert isinstance(answer, Refused)
    assert "notify.smtp_security" in answer.reason
    assert ["ehlo example.org"] == [command.lower() for command in server.commands]


def test_a_refused_log_in_names_its_settings():
    """A changed password is mended in the settings, and what waited goes then."""
    with MailServer({"AUTH": "535 5.7.8 bad credentials"}, login=True) as server:
        answer = hand_in(server, user="anna", password="S3CRET")

    assert isinstance(answer, Refused)
    assert answer.retry
    assert "535 5.7.8 bad credentials; check notify.smtp_user and notify.smtp_password" in answer.reason
    assert "S3CRET" not in answer.reason


def test_what_a_server_says_is_one_short_line():
    """A mail server is a stranger too: its words are tamed and cut."""
    with MailServer({"RCPT": "550-" + "x" * 400 + "\r\n550 \x1b[31m\u202e"}) as server:
        answer = hand_in(server)

    assert isinstance(answer, Refused)
    assert len(answer.reason) <= 300
    assert answer.reason.isprintable()


def test_the_process_that_sends_loads_nothing_that_composes():
    """A guarded process lives for a hundred letters: what only `mail` needs would cost each."""
    code = "import sys, tidings.notification.smtp; print('tidings.notification.mail' in sys.modules, 'email' in sys.modules)"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "False False\n" == ran.stdout
