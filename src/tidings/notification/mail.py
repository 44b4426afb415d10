"""E-mail: plain text and HTML in one letter, one thread per sentinel, one Message-ID per delivery
(F-31, H-104 to H-106).

The body is made with the delivery and stored; the headers are added at each attempt. A retry has
the same Message-ID, so that a mailbox can drop the duplicate.

The job that sends one letter runs in a guarded process (contracts §6, F-31). The server's reply to
the letter decides: 2xx is sent, 4xx is retried, 5xx is final. An error before it has seen the
letter (no connection, login refused) is retried, since settings can be fixed. A connection lost
during the letter may have delivered it; it is retried under the same Message-ID.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
from collections.abc import Callable
from dataclasses import field
from datetime import UTC, datetime, timedelta
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP as LETTER_POLICY
from email.utils import format_datetime, getaddresses
from typing import TYPE_CHECKING, Any, Final, Literal

from tidings.clock import Instant
from tidings.errors import AddressError, SettingError
from tidings.notification.addresses import ascii_address
from tidings.notification.channel import MARGIN_SECONDS, ChildJobs, Message, Refused, Sent
from tidings.presentation.writing import cut_text, one_line, subject_line
from tidings.record import dataclass

if TYPE_CHECKING:
    from smtplib import SMTP

Security = Literal["tls", "starttls", "none"]

LONGEST_REASON: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterServer:
    """The mail server and its user. `name` is this machine's name for it; `tls` makes a verifying
    context.
    """

    host: str
    port: int
    security: Security
    user: str
    password: str = field(repr=False)
    name: str
    tls: Callable[[], Any]
    timeout_seconds: float


@dataclass(frozen=True, slots=True)
class Letter:
    """A message with its envelope; `content` is headers and body with CRLF."""

    server: LetterServer
    sender: str
    recipient: str
    content: bytes


def deliver(letter: Letter) -> Sent | Refused:
    """Send the letter; never raise for external causes."""
    import smtplib  # only in the child (contracts §10)

    server = letter.server
    where = f"{server.host}:{server.port}"
    try:
        smtp = _connect(server)
    except smtplib.SMTPAuthenticationError as error:
        return _mend(f"{where} refused the login: {_clean_message(error)}", "notify.smtp_user and notify.smtp_password")
    except smtplib.SMTPNotSupportedError as error:
        return _mend(f"{where}: {_clean_message(error)}", "notify.smtp_security and notify.smtp_port")
    except PermissionError as error:
        return _mend(f"{where}: {_clean_message(error)}", "fetch.allow_networks, if requests may reach that network")
    except (smtplib.SMTPException, OSError, UnicodeError) as error:
        return Refused(reason=f"no connection to the mail server {where}: {_clean_message(error)}")
    try:
        return _hand_in(smtp, letter, where)
    except smtplib.SMTPDataError as error:
        return _judge(where, error.smtp_code, error.smtp_error)
    except (smtplib.SMTPException, OSError, UnicodeError) as error:
        return Refused(reason=f"{where} was lost during the e-mail, which may have been sent: {_clean_message(error)}")
    finally:
        smtp.close()


def _connect(server: LetterServer) -> SMTP:
    import smtplib

    wait = server.timeout_seconds
    if server.security == "tls":
        smtp: SMTP = smtplib.SMTP_SSL(
            server.host, server.port, local_hostname=server.name, timeout=wait, context=server.tls()
        )
    else:
        smtp = smtplib.SMTP(server.host, server.port, local_hostname=server.name, timeout=wait)
    try:
        if server.security == "starttls":
            smtp.starttls(context=server.tls())
        smtp.ehlo_or_helo_if_needed()
        if server.user:
            smtp.login(server.user, server.password)
    except BaseException:
        smtp.close()
        raise
    return smtp


def _hand_in(smtp: SMTP, letter: Letter, where: str) -> Sent | Refused:
    code, said = smtp.mail(letter.sender)
    if code == 250:
        code, said = smtp.rcpt(letter.recipient)
    if code in {250, 251}:
        code, said = smtp.data(letter.content)
    if not 200 <= code < 300:
        return _judge(where, code, said)
    with contextlib.suppress(Exception):  # it has the letter; errors at the end do not matter
        smtp.quit()
    return Sent(code)


def _judge(where: str, code: int, said: bytes | str) -> Refused:
    return Refused(reason=cut_text(f"{where} said {code} {_text(said)}", LONGEST_REASON), retry=not 500 <= code < 600)


def _mend(what: str, settings: str) -> Refused:
    return Refused(reason=f"{cut_text(what, LONGEST_REASON)}; check {settings}")


def _clean_message(error: BaseException) -> str:
    code, answer = getattr(error, "smtp_code", None), getattr(error, "smtp_error", b"")
    text = f"{code} {_text(answer)}" if code is not None else str(error)
    return cut_text(one_line(text) or type(error).__name__, LONGEST_REASON)


def _text(said: bytes | str) -> str:
    return one_line(said.decode(errors="replace") if isinstance(said, bytes) else said)


PORTS: Final = {"tls": 465, "starttls": 587, "none": 25}
NO_SUBJECT: Final = "Tidings"
_POLICY: Final = LETTER_POLICY.clone(cte_type="7bit")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Mail:
    """Sends letters through one server from one sender. `instance` names the installation: threads
    of two never mix.
    """

    jobs: ChildJobs
    server: LetterServer
    sender: Address
    instance: str

    async def send(self, message: Message) -> Sent | Refused:
        """Hand the letter to the server."""
        try:
            recipient = ascii_address(message.address)
        except AddressError as error:
            return Refused(reason=str(error), retry=False)
        content = compose(message, sender=self.sender, recipient=recipient, instance=self.instance)
        letter = Letter(self.server, self.sender.addr_spec, recipient, content)
        return await self.jobs.run(deliver, letter, seconds=self.server.timeout_seconds + MARGIN_SECONDS)


@dataclass(frozen=True, slots=True)
class NoMail:
    """E-mail without settings: everything waits, with the reason."""

    async def send(self, message: Message) -> Sent | Refused:
        """Refuse, to be retried."""
        del message
        return Refused(reason="e-mail is not set up; set notify.smtp_host and notify.mail_from")


def body_of(text: str, html: str) -> tuple[str, bytes]:
    """Return Content-Type and body of a letter with both forms; equal texts give equal bytes."""
    letter = EmailMessage(policy=_POLICY)
    letter.set_content(text)
    letter.add_alternative(html, subtype="html")
    digits = hashlib.sha256(f"{text}\0{html}".encode(errors="backslashreplace")).hexdigest()[:32]
    letter.set_boundary(f"=_{digits}")
    _, _, body = letter.as_bytes().partition(b"\r\n\r\n")
    return f'multipart/alternative; boundary="=_{digits}"', body


def compose(message: Message, *, sender: Address, recipient: str, instance: str) -> bytes:
    """Return the letter, headers and body, all ASCII and with CRLF.

    Args:
        message: The message.
        sender: The sender's address.
        recipient: One recipient's address.
        instance: The installation: part of each Message-ID.
    """
    head = EmailMessage(policy=_POLICY)
    head["From"] = sender
    head["To"] = recipient
    head["Subject"] = subject_line(message.subject) or NO_SUBJECT
    head["Date"] = _date(message.sent_at)
    head["Message-ID"] = f"<{_atom(message.id)}.{_atom(instance)}@{sender.domain}>"
    if message.thread:
        root = f"<sentinel.{_atom(message.thread)}.{_atom(instance)}@{sender.domain}>"
        head["In-Reply-To"] = root
        head["References"] = root
        head["List-Id"] = f"<sentinel-{_atom(message.thread)}.{_atom(instance)}.{sender.domain}>"
    head["Auto-Submitted"] = "auto-generated"
    head["X-Auto-Response-Suppress"] = "All"
    head["Tidings-Delivery"] = _atom(message.id)
    if message.sentinel:
        head["Tidings-Sentinel"] = subject_line(message.sentinel)
    content, encoding = message.body, ""
    if not message.content_type.startswith("multipart/"):
        content, encoding = (
            base64.encodebytes(message.body).replace(b"\n", b"\r\n"),
            "Content-Transfer-Encoding: base64\r\n",
        )
    kind = f"MIME-Version: 1.0\r\nContent-Type: {message.content_type}\r\n{encoding}\r\n"
    return head.as_bytes().rstrip(b"\r\n") + b"\r\n" + kind.encode("ascii") + content


def _date(at: Instant) -> str:
    return format_datetime(_EPOCH + timedelta(microseconds=at))


def _atom(text: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in text) or "none"


def read_sender(mail_from: str, user: str) -> Address:
    """Return the sender's address: `notify.mail_from`, else `notify.smtp_user`. Raise
    `SettingError` if neither is an address.
    """
    text = mail_from or user
    try:
        ((name, address),) = getaddresses([text] if text.isprintable() else [])
        local, _, domain = ascii_address(address).rpartition("@")
    except (AddressError, ValueError):  # a ValueError: none, or several
        message = f"notify.mail_from cannot be {text!r}: expected a sender such as Tidings <tidings@example.org>"
        raise SettingError(message) from None
    return Address(subject_line(name) or "Tidings", local, domain)


def read_server(settings: Any, *, sender: Address, tls: Any, timeout_seconds: float) -> LetterServer:
    """Return the server of `settings` (the section notify). Raise `SettingError` for an unknown
    security.

    Args:
        settings: The section notify.
        sender: The sender's address.
        tls: Makes a verifying context.
        timeout_seconds: For the whole attempt.
    """
    if settings.smtp_security not in PORTS:
        message = f"notify.smtp_security cannot be {settings.smtp_security!r}: expected {', '.join(PORTS)}"
        raise SettingError(message)
    return LetterServer(
        host=settings.smtp_host,
        port=settings.smtp_port or PORTS[settings.smtp_security],
        security=settings.smtp_security,
        user=settings.smtp_user,
        password=settings.smtp_password,
        name=sender.domain,
        tls=tls,
        timeout_seconds=timeout_seconds,
    )
