import asyncio
import contextlib
import io
import os

import pytest

from tidings.errors import SettingError, UsageError
from tidings.notification.apprise_channel import AppriseService
from tidings.notification.channel import KINDS, Message, Refused, Sent
from tidings.notification.channels import CHANNELS, Console, LaidOut, Nowhere, SenderParts, build_senders, sendable
from tidings.notification.mail import Mail, NoMail
from tidings.notification.webhook import Webhook
from tidings.settings import NotifySettings


class Poster:
    async def post(self, url, *, headers, body, timeout_seconds):
        raise NotImplementedError


def test_senders_are_made_of_the_means_given():
    """Client, keys, deadline and stream arrive where they are used."""
    poster, stream = Poster(), io.StringIO()
    senders = build_senders(SenderParts(poster=poster, keys=(b"k",), stream=stream, timeout_seconds=3.0))

    assert {
        "webhook": Webhook(poster, (b"k",), 3.0),
        "url": Webhook(poster, (b"k",), 3.0),
        "console": Console(stream),
        "email": NoMail(),
        "apprise": AppriseService(Nowhere(), 3.0),
        "feed": LaidOut(),
        "stream": LaidOut(),
    } == senders


def test_unknown_kind_names_those_that_are():
    """Who mistypes a kind reads the list."""
    with pytest.raises(
        UsageError, match='no channel "pigeon"; there are: apprise, console, email, feed, stream, url, webhook'
    ):
        CHANNELS["pigeon"]


def mail_of(**settings):
    """Return the sender for e-mail with these settings."""
    given = NotifySettings(smtp_host="mail.example.org", **settings)
    return build_senders(SenderParts(poster=Poster(), keys=(), stream=io.StringIO(), tls=object, settings=given))[
        "email"
    ]


@pytest.mark.parametrize(
    ("security", "given", "port"), [("tls", 0, 465), ("starttls", 0, 587), ("none", 0, 25), ("none", 2525, 2525)]
)
def test_mail_knows_its_port(security, given, port):
    """Each way to secure a connection has its port, unless another is set."""
    sender = mail_of(smtp_security=security, smtp_port=given, mail_from="Site watch <watch@example.org>")

    assert isinstance(sender, Mail)
    assert (port, security) == (sender.server.port, sender.server.security)
    assert ("Site watch", "watch@example.org") == (sender.sender.display_name, sender.sender.addr_spec)


def test_the_user_is_the_sender_unless_told():
    """Many servers want both to be the same."""
    sender = mail_of(smtp_user="anna@example.org")

    assert isinstance(sender, Mail)
    assert "Tidings <anna@example.org>" == str(sender.sender)


@pytest.mark.parametrize("mail_from", ["", "Anna", "a@b, c@d", "a@b\r\nBcc: c@d"])
def test_a_sender_that_is_none_is_refused_at_the_start(mail_from):
    """Not with the first letter, days later."""
    with pytest.raises(SettingError, match=r"notify.mail_from cannot be"):
        mail_of(mail_from=mail_from)


def test_a_security_that_is_none_is_refused_at_the_start():
    """A mistyped word never means no security."""
    with pytest.raises(SettingError, match=r"notify.smtp_security cannot be 'ssl': expected tls, starttls, none"):
        mail_of(smtp_security="ssl", mail_from="a@example.org")


def test_a_password_is_in_no_text():
    """Whoever prints a sender sees no password."""
    sender = mail_of(smtp_user="a@example.org", smtp_password="S3CRET")

    assert "S3CRET" not in repr(sender)


def test_kinds_are_those_that_have_a_row():
    """What the service may send to and what can be built are the same; letters are written only once mail is set up."""
    assert set(CHANNELS) == KINDS == sendable(NotifySettings(smtp_host="x"))
    assert KINDS - {"email"} == sendable(NotifySettings())


def message(body):
    return Message(
        id="d", address="", subject="", content_type="text/plain", body=body, attempt=1, sent_at=0, sequence=1
    )


def send(stream, body):
    return asyncio.run(Console(stream).send(message(body)))


def test_text_ends_with_one_line_end():
    """The next message starts on its own line."""
    stream = io.StringIO()
    send(stream, b"one")
    send(stream, b"two\n")

    assert "one\ntwo\n" == stream.getvalue()


def test_broken_pipe_is_a_soft_failure():
    """A reader that went away (`| head`) breaks nothing; the message is tried again."""
    reading, writing = os.pipe()
    os.close(reading)
    stream = os.fdopen(writing, "w", encoding="utf-8")
    answer = send(stream, b"one")
    with contextlib.suppress(BrokenPipeError):  # what could not be written fails once more
        stream.close()

    assert isinstance(answer, Refused)
    assert answer.retry
    assert not answer.disable


def test_console_of_few_letters_spells_the_others():
    """A terminal in ASCII gets escapes, no error."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    answer = send(stream, "Zürich".encode())

    assert Sent() == answer
    assert b"Z\\xfcrich\n" == raw.getvalue()
    assert not stream.closed


def test_broken_text_is_shown_as_far_as_it_goes():
    """Bytes that are no UTF-8 are replaced."""
    stream = io.StringIO()
    send(stream, b"a\xffb")

    assert "a\ufffdb\n" == stream.getvalue()
