import asyncio
import email
import email.policy
import socket
import ssl
from email.headerregistry import Address

import pytest
import trustme
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes_smtp import MailServer
from tidings.notification.channel import Message, Refused, Sent
from tidings.notification.mail import Letter, LetterServer, Mail, NoMail, body_of, compose, deliver

SENDER = Address("Tidings", "tidings", "example.org")
SERVER = LetterServer(
    host="mail.example.org",
    port=25,
    security="none",
    user="",
    password="",
    name="example.org",
    tls=object,
    timeout_seconds=3.0,
)


def message(**other):
    content_type, body = body_of("Grüße\n", "<p>Grüße</p>\n")
    return Message(
        **{
            "id": "dlv_1",
            "address": "anna@example.org",
            "subject": "price: 5 → 6",
            "content_type": content_type,
            "body": body,
            "attempt": 1,
            "sent_at": 1_700_000_000_000_000,
            "sequence": 42,
            "sentinel": "price",
            "thread": "7",
            **other,
        }
    )


def letter(**other):
    content = compose(message(**other), sender=SENDER, recipient="anna@example.org", instance="i1")
    return email.message_from_bytes(content, policy=email.policy.default)


def test_a_letter_has_both_forms():
    """Plain text first, then HTML, as they were written."""
    parsed = letter()

    assert "multipart/alternative" == parsed.get_content_type()
    assert [("text/plain", "Grüße\n"), ("text/html", "<p>Grüße</p>\n")] == [
        (part.get_content_type(), part.get_content().replace("\r\n", "\n")) for part in parsed.iter_parts()
    ]


@pytest.mark.parametrize(("text", "html"), [("ü" * 5_000, "<p>" + "x" * 5_000), ("Grüße\n", "<p>Grüße</p>\n")])
def test_a_letter_is_plain_ascii_in_short_lines(text, html):
    """Any server takes it: 7 bit, CRLF, lines below 998."""
    content_type, body = body_of(text, html)
    content = compose(
        message(content_type=content_type, body=body), sender=SENDER, recipient="anna@example.org", instance="i1"
    )

    assert content.isascii()
    assert b"\n" not in content.replace(b"\r\n", b"")
    assert max(map(len, content.split(b"\r\n"))) < 998


def test_a_retry_has_the_same_message_id():
    """F-31: a mailbox that has had the letter can drop the second one."""
    first, second, other = letter(), letter(attempt=2, sent_at=1_800_000_000_000_000), letter(id="dlv_2")

    assert "<dlv-1.i1@example.org>" == first["Message-ID"] == second["Message-ID"]
    assert first["Message-ID"] != other["Message-ID"]


def test_a_sentinel_is_a_thread():
    """All its letters answer one root that only it has; another's, and a test message, do not."""
    first, second, other, test = letter(), letter(id="dlv_2"), letter(thread="8"), letter(thread="")

    assert "<sentinel.7.i1@example.org>" == first["In-Reply-To"] == first["References"] == second["References"]
    assert "<sentinel.8.i1@example.org>" == other["References"]
    assert None is test["References"]


def test_a_letter_says_that_a_machine_wrote_it():
    """Holiday replies are not sent to it, filters can sort it."""
    parsed = letter()

    assert "auto-generated" == parsed["Auto-Submitted"]
    assert "All" == parsed["X-Auto-Response-Suppress"]
    assert "<sentinel-7.i1.example.org>" == parsed["List-Id"]
    assert ("price", "dlv-1") == (parsed["Tidings-Sentinel"], parsed["Tidings-Delivery"])
    assert "Tue, 14 Nov 2023 22:13:20 +0000" == parsed["Date"]


@pytest.mark.parametrize(
    ("subject", "written"),
    [
        ("news\r\nBcc: everybody@example.org", "news Bcc: everybody@example.org"),
        ("a\x00b", "a b"),
        ("\u202e\u200f", "Tidings"),
        ("", "Tidings"),
        ("x" * 10_000, "x" * 199 + "…"),
    ],
)
def test_titles_of_pages_add_no_header(subject, written):
    """H-104, H-105: one clean line of at most 200 characters, and the letter still goes."""
    parsed = letter(subject=subject)

    assert written == parsed["Subject"]
    assert None is parsed["Bcc"]


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=250), st.text(max_size=30))
def test_headers_are_ours_whatever_a_page_is_called(subject, sentinel):
    """Every header that a reader finds is one that we wrote, once."""
    parsed = letter(subject=subject, sentinel=sentinel)

    assert set(parsed.keys()) <= {
        "From",
        "To",
        "Subject",
        "Date",
        "Message-ID",
        "In-Reply-To",
        "References",
        "List-Id",
        "Auto-Submitted",
        "X-Auto-Response-Suppress",
        "Tidings-Delivery",
        "Tidings-Sentinel",
        "MIME-Version",
        "Content-Type",
    }
    assert len(parsed.keys()) == len(set(parsed.keys()))
    assert 2 == len(list(parsed.iter_parts()))


@given(st.text(), st.text())
def test_equal_texts_make_equal_bytes(text, html):
    """A delivery is written once; writing it again would give the same."""
    assert body_of(text, html) == body_of(text, html)


def test_other_content_is_wrapped():
    """A body that is no letter yet arrives as it is."""
    parsed = letter(content_type="application/json", body=b'{"a":"\xc3\xa9\n.\n"}')

    assert b'{"a":"\xc3\xa9\n.\n"}' == parsed.get_payload(decode=True)


class ChildJobs:
    """Notes what would be run."""

    def __init__(self):
        self.run_with = []

    async def run(self, job, argument, *, seconds):
        self.run_with.append((job, argument, seconds))
        return Sent(250)


def test_the_letter_goes_to_one_recipient_with_a_deadline():
    """Envelope and header name the same one; the process has a little more time than the socket."""
    jobs = ChildJobs()
    answer = asyncio.run(Mail(jobs, SERVER, SENDER, "i1").send(message(address="anna@bücher.example")))
    ((job, argument, seconds),) = jobs.run_with

    assert Sent(250) == answer
    assert deliver is job
    assert ("tidings@example.org", "anna@xn--bcher-kva.example") == (argument.sender, argument.recipient)
    assert b"\r\nTo: anna@xn--bcher-kva.example\r\n" in argument.content
    assert 8.0 == seconds


def test_a_recipient_that_is_none_is_final():
    """H-106: nothing is sent and nothing is tried again."""
    jobs = ChildJobs()
    answer = asyncio.run(Mail(jobs, SERVER, SENDER, "i1").send(message(address="a@b\nRCPT TO:<c@d>")))

    assert isinstance(answer, Refused)
    assert not answer.retry
    assert [] == jobs.run_with


def test_mail_that_is_not_set_up_waits():
    """The reason names the settings; the letters go once they are there."""
    answer = asyncio.run(NoMail().send(message()))

    assert isinstance(answer, Refused)
    assert answer.retry
    assert "notify.smtp_host" in answer.reason


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
