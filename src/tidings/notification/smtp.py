"""The job that sends one letter to a mail server, in a guarded process (contracts §6, F-31).

The server's reply to the letter decides: 2xx is sent, 4xx is retried, 5xx is final. An error before
it has seen the letter (no connection, login refused) is retried, since settings can be fixed. A
connection lost during the letter may have delivered it; it is retried under the same Message-ID.

Apart from `mail`, which loads what composes a letter: the process that sends needs none of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Literal

from tidings.notification.channel import Refused, Sent
from tidings.presentation.writing import cut_text, one_line
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
    code, answer = smtp.mail(letter.sender)
    if code == 250:
        code, answer = smtp.rcpt(letter.recipient)
    if code in {250, 251}:
        code, answer = smtp.data(letter.content)
    if not 200 <= code < 300:
        return _judge(where, code, answer)
    with contextlib.suppress(Exception):  # it has the letter; errors at the end do not matter
        smtp.quit()
    return Sent(code)


def _judge(where: str, code: int, answer: bytes | str) -> Refused:
    return Refused(reason=cut_text(f"{where} said {code} {_text(answer)}", LONGEST_REASON), retry=not 500 <= code < 600)


def _mend(what: str, settings: str) -> Refused:
    return Refused(reason=f"{cut_text(what, LONGEST_REASON)}; check {settings}")


def _clean_message(error: BaseException) -> str:
    code, answer = getattr(error, "smtp_code", None), getattr(error, "smtp_error", b"")
    text = f"{code} {_text(answer)}" if code is not None else str(error)
    return cut_text(one_line(text) or type(error).__name__, LONGEST_REASON)


def _text(answer: bytes | str) -> str:
    return one_line(answer.decode(errors="replace") if isinstance(answer, bytes) else answer)
