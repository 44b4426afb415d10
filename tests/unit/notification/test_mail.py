import asyncio
import email
import email.policy
from email.headerregistry import Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.notification.channel import Message, Refused, Sent
from tidings.notification.mail import Mail, NoMail, body_of, compose
from tidings.notification.smtp import LetterServer, deliver

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


def test_letter_has_text_and_html():
    """Plain text is first, and both are as written."""
    parsed = letter()

    assert "multipart/alternative" == parsed.get_content_type()
    assert [("text/plain", "Grüße\n"), ("text/html", "<p>Grüße</p>\n")] == [
        (part.get_content_type(), part.get_content().replace("\r\n", "\n")) for part in parsed.iter_parts()
    ]


@pytest.mark.parametrize(("text", "html"), [("ü" * 5_000, "<p>" + "x" * 5_000), ("Grüße\n", "<p>Grüße</p>\n")])
def test_letter_is_ascii_in_short_lines(text, html):
    """Each server accepts 7 bits, CRLF, and lines below 998 characters."""
    content_type, body = body_of(text, html)
    content = compose(
        message(content_type=content_type, body=body), sender=SENDER, recipient="anna@example.org", instance="i1"
    )

    assert content.isascii()
    assert b"\n" not in content.replace(b"\r\n", b"")
    assert max(map(len, content.split(b"\r\n"))) < 998


def test_retry_has_the_same_message_id():
    """F-31: a mailbox that has the letter can drop the second one."""
    first, second, other = letter(), letter(attempt=2, sent_at=1_800_000_000_000_000), letter(id="dlv_2")

    assert "<dlv-1.i1@example.org>" == first["Message-ID"] == second["Message-ID"]
    assert first["Message-ID"] != other["Message-ID"]


def test_letters_of_a_sentinel_are_a_thread():
    """All letters of a sentinel refer to one root. Test messages and letters of other sentinels do
    not.
    """
    first, second, other, test = letter(), letter(id="dlv_2"), letter(thread="8"), letter(thread="")

    assert "<sentinel.7.i1@example.org>" == first["In-Reply-To"] == first["References"] == second["References"]
    assert "<sentinel.8.i1@example.org>" == other["References"]
    assert None is test["References"]


def test_letter_is_marked_as_automatic():
    """The letter gets no automatic replies, and filters can sort it."""
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
def test_title_of_a_page_adds_no_header(subject, written):
    """H-104, H-105: the subject is one clean line of at most 200 characters, and the letter is
    still sent.
    """
    parsed = letter(subject=subject)

    assert written == parsed["Subject"]
    assert None is parsed["Bcc"]


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=250), st.text(max_size=30))
def test_headers_are_ours_for_any_title(subject, sentinel):
    """Each header is one of ours, and occurs once."""
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
def test_equal_texts_give_equal_bytes(text, html):
    """A delivery is rendered once; rendering it again gives the same."""
    assert body_of(text, html) == body_of(text, html)


def test_other_content_is_wrapped_unchanged():
    """The body is not a letter yet."""
    parsed = letter(content_type="application/json", body=b'{"a":"\xc3\xa9\n.\n"}')

    assert b'{"a":"\xc3\xa9\n.\n"}' == parsed.get_payload(decode=True)


class ChildJobs:
    """Records jobs."""

    def __init__(self):
        self.run_with = []

    async def run(self, job, argument, *, seconds):
        self.run_with.append((job, argument, seconds))
        return Sent(250)


def test_letter_has_one_recipient_and_a_deadline():
    """Envelope and header name the same address. The process has a little more time than the
    socket.
    """
    jobs = ChildJobs()
    answer = asyncio.run(Mail(jobs, SERVER, SENDER, "i1").send(message(address="anna@bücher.example")))
    ((job, argument, seconds),) = jobs.run_with

    assert Sent(250) == answer
    assert deliver is job
    assert ("tidings@example.org", "anna@xn--bcher-kva.example") == (argument.sender, argument.recipient)
    assert b"\r\nTo: anna@xn--bcher-kva.example\r\n" in argument.content
    assert 8.0 == seconds


def test_invalid_recipient_is_a_final_error():
    """H-106: nothing is sent."""
    jobs = ChildJobs()
    answer = asyncio.run(Mail(jobs, SERVER, SENDER, "i1").send(message(address="a@b\nRCPT TO:<c@d>")))

    assert isinstance(answer, Refused)
    assert not answer.retry
    assert [] == jobs.run_with


def test_mail_without_a_server_is_retried():
    """The reason names the settings; letters are sent once they are set."""
    answer = asyncio.run(NoMail().send(message()))

    assert isinstance(answer, Refused)
    assert answer.retry
    assert "notify.smtp_host" in answer.reason
