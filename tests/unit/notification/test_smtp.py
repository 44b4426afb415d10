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


def send_letter(server, *, port=0, **other):
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


def test_letter_is_sent_byte_for_byte():
    """This includes the envelope, and lines that begin with a dot."""
    with MailServer() as server:
        answer = send_letter(server)
    (taken,) = server.taken

    assert Sent(250) == answer
    assert ("<tidings@example.org>", ["<anna@example.org>"]) == (
        taken.sender.partition(" ")[0],
        [r.partition(" ")[0] for r in taken.recipients],
    )
    assert CONTENT == taken.content
    assert "ehlo example.org" == server.commands[0].lower()


@pytest.mark.parametrize("point", ["MAIL", "RCPT", "DATA", "END"])
def test_4xx_is_retried(point):
    """F-31: a mailbox that is full now may have room later."""
    with MailServer({point: "452 4.2.2 mailbox\x07 full"}) as server:
        answer = send_letter(server)

    assert Refused(reason=f"127.0.0.1:{server.port} said 452 4.2.2 mailbox\\u0007 full") == answer


@pytest.mark.parametrize("point", ["MAIL", "RCPT", "DATA", "END"])
def test_5xx_is_final(point):
    """F-31: the server says that there is no such mailbox."""
    with MailServer({point: "550 5.1.1 no such user"}) as server:
        answer = send_letter(server)

    assert Refused(reason=f"127.0.0.1:{server.port} said 550 5.1.1 no such user", retry=False) == answer


@pytest.mark.parametrize("point", ["END", "DATA", "MAIL"])
def test_lost_connection_is_retried(point):
    """F-31: after DATA nobody knows whether it was sent; the second letter has the same Message-ID."""
    with MailServer({point: ""}) as server:
        answer = send_letter(server)

    assert isinstance(answer, Refused)
    assert answer.retry
    assert "which may have been sent" in answer.reason
    assert ("END" == point) == bool(server.taken)


@pytest.mark.parametrize("text", ["554 no service here", "421 too busy", ""])
def test_refused_connection_is_retried(text):
    """The answer is not about the letter, because the server has not seen it."""
    with MailServer({"GREETING": text}) as server:
        answer = send_letter(server)

    assert isinstance(answer, Refused)
    assert answer.retry
    assert answer.reason.startswith(f"no connection to the mail server 127.0.0.1:{server.port}")


def test_failed_quit_is_no_failure():
    """The letter was accepted before."""
    with MailServer({"QUIT": ""}) as server:
        answer = send_letter(server)

    assert Sent(250) == answer


def test_unreachable_server_is_retried():
    """The server may be running again later."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    answer = send_letter(None, port=port)

    assert isinstance(answer, Refused)
    assert answer.retry
    assert "Connection refused" in answer.reason


def test_silent_server_times_out():
    """H-122: the deadline includes a server that only accepts the connection."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        answer = send_letter(None, port=silent.getsockname()[1], timeout_seconds=0.1)

    assert isinstance(answer, Refused)
    assert answer.retry
    assert "timed out" in answer.reason


def test_invalid_host_is_retried_with_a_reason():
    """A mistyped setting raises no exception."""
    answer = send_letter(None, port=25, host="a" * 70 + ".example")

    assert isinstance(answer, Refused)
    assert answer.retry


@pytest.mark.parametrize("starttls", [False, True])
def test_tls_protects_login_and_letter(certificate, trusting, starttls):
    """TLS starts with the first byte or with STARTTLS; neither login nor letter is sent in plain
    text.
    """
    security = "starttls" if starttls else "tls"
    with MailServer(tls=certificate, starttls=starttls, login=True) as server:
        answer = send_letter(server, security=security, tls=trusting, user="anna", password="word")
    (taken,) = server.taken

    assert Sent(250) == answer
    assert taken.secured
    assert taken.user


@pytest.mark.parametrize("starttls", [False, True])
def test_untrusted_certificate_is_refused(certificate, starttls):
    """Neither letter nor password is sent to a server that only claims to be the right one."""
    security = "starttls" if starttls else "tls"
    with MailServer(tls=certificate, starttls=starttls, login=True) as server:
        answer = send_letter(server, security=security, user="anna", password="word")

    assert isinstance(answer, Refused)
    assert answer.retry
    assert "certificate verify failed" in answer.reason
    assert not any(command.startswith("AUTH") for command in server.commands)


def test_starttls_is_required_when_set():
    """A server, or an attacker in between, that does not offer it gets nothing."""
    with MailServer(login=True) as server:
        answer = send_letter(server, security="starttls", user="anna", password="word")

    assert isinstance(answer, Refused)
    assert "notify.smtp_security" in answer.reason
    assert ["ehlo example.org"] == [command.lower() for command in server.commands]


def test_refused_login_names_its_settings():
    """The letter is retried, and is sent once the password is set."""
    with MailServer({"AUTH": "535 5.7.8 bad credentials"}, login=True) as server:
        answer = send_letter(server, user="anna", password="S3CRET")

    assert isinstance(answer, Refused)
    assert answer.retry
    assert "535 5.7.8 bad credentials; check notify.smtp_user and notify.smtp_password" in answer.reason
    assert "S3CRET" not in answer.reason


def test_reason_of_a_server_is_one_short_line():
    """The text of a mail server is untrusted: it is escaped and cut."""
    with MailServer({"RCPT": "550-" + "x" * 400 + "\r\n550 \x1b[31m\u202e"}) as server:
        answer = send_letter(server)

    assert isinstance(answer, Refused)
    assert len(answer.reason) <= 300
    assert answer.reason.isprintable()


def test_sending_process_does_not_load_the_mail_composer():
    """Each isolated process would load it, and sends a hundred letters."""
    code = "import sys, tidings.notification.smtp; print('tidings.notification.mail' in sys.modules, 'email' in sys.modules)"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "False False\n" == ran.stdout
