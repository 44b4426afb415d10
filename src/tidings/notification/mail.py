"""E-mail: plain text and HTML in one letter, one thread per sentinel, one Message-ID per delivery
(F-31, H-104 to H-106).

The body is made with the delivery and stored; the headers are added at each attempt. A retry has
the same Message-ID, so that a mailbox can drop the duplicate.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime, timedelta
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, getaddresses
from typing import Any, Final

from tidings.clock import Instant
from tidings.errors import AddressError, SettingError
from tidings.notification.addresses import ascii_address
from tidings.notification.channel import MARGIN_SECONDS, ChildJobs, Message, Refused, Sent
from tidings.notification.smtp import Letter, LetterServer, deliver
from tidings.presentation.writing import subject_line
from tidings.record import dataclass

PORTS: Final = {"tls": 465, "starttls": 587, "none": 25}
NO_SUBJECT: Final = "Tidings"
_POLICY: Final = SMTP.clone(cte_type="7bit")
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
        return Refused(reason="e-mail is not set up; set notify.smtp_host and notify.mail_from", is_ours=True)


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
