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


def test_senders_get_the_given_parts():
    """The parts are client, keys, deadline and stream."""
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


def test_unknown_kind_lists_the_known_ones():
    """The message is an error of usage."""
    with pytest.raises(
        UsageError, match='no channel "pigeon"; there are: apprise, console, email, feed, stream, url, webhook'
    ):
        CHANNELS["pigeon"]


def mail_of(**settings):
    """Return the sender of mail with these settings."""
    given = NotifySettings(smtp_host="mail.example.org", **settings)
    return build_senders(SenderParts(poster=Poster(), keys=(), stream=io.StringIO(), tls=object, settings=given))[
        "email"
    ]


@pytest.mark.parametrize(
    ("security", "given", "port"), [("tls", 0, 465), ("starttls", 0, 587), ("none", 0, 25), ("none", 2525, 2525)]
)
def test_each_mail_security_has_its_port(security, given, port):
    """Another port may be set."""
    sender = mail_of(smtp_security=security, smtp_port=given, mail_from="Site watch <watch@example.org>")

    assert isinstance(sender, Mail)
    assert (port, security) == (sender.server.port, sender.server.security)
    assert ("Site watch", "watch@example.org") == (sender.sender.display_name, sender.sender.addr_spec)


def test_mail_user_is_the_default_sender():
    """Many servers require that both are equal."""
    sender = mail_of(smtp_user="anna@example.org")

    assert isinstance(sender, Mail)
    assert "Tidings <anna@example.org>" == str(sender.sender)


@pytest.mark.parametrize("mail_from", ["", "Anna", "a@b, c@d", "a@b\r\nBcc: c@d"])
def test_invalid_mail_sender_is_refused_at_the_start(mail_from):
    """The first mail may be days later."""
    with pytest.raises(SettingError, match=r"notify.mail_from cannot be"):
        mail_of(mail_from=mail_from)


def test_unknown_mail_security_is_refused_at_the_start():
    """A mistyped word never means no security."""
    with pytest.raises(SettingError, match=r"notify.smtp_security cannot be 'ssl': expected tls, starttls, none"):
        mail_of(smtp_security="ssl", mail_from="a@example.org")


def test_mail_password_is_not_printed():
    """The `repr` of a sender does not have the password."""
    sender = mail_of(smtp_user="a@example.org", smtp_password="S3CRET")

    assert "S3CRET" not in repr(sender)


def test_kinds_match_the_channels():
    """The service sends to exactly the kinds that can be built; mail needs a server."""
    assert set(CHANNELS) == KINDS == sendable(NotifySettings(smtp_host="x"))
    assert KINDS - {"email"} == sendable(NotifySettings())


def message(body):
    return Message(
        id="d", address="", subject="", content_type="text/plain", body=body, attempt=1, sent_at=0, sequence=1
    )


def send(stream, body):
    return asyncio.run(Console(stream).send(message(body)))


def test_console_message_ends_with_one_line_end():
    """The next message starts on its own line."""
    stream = io.StringIO()
    send(stream, b"one")
    send(stream, b"two\n")

    assert "one\ntwo\n" == stream.getvalue()


def test_broken_pipe_is_retried():
    """A reader that has ended (`| head`) breaks nothing."""
    reading, writing = os.pipe()
    os.close(reading)
    stream = os.fdopen(writing, "w", encoding="utf-8")
    answer = send(stream, b"one")
    with contextlib.suppress(BrokenPipeError):  # the text in the buffer fails once more
        stream.close()

    assert isinstance(answer, Refused)
    assert answer.retry
    assert not answer.disable


def test_console_escapes_letters_outside_its_encoding():
    """A terminal in ASCII raises no error."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    answer = send(stream, "Zürich".encode())

    assert Sent() == answer
    assert b"Z\\xfcrich\n" == raw.getvalue()
    assert not stream.closed


def test_console_replaces_invalid_utf8():
    """The rest of the text is shown."""
    stream = io.StringIO()
    send(stream, b"a\xffb")

    assert "a\ufffdb\n" == stream.getvalue()
