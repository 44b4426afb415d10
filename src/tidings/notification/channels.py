"""All kinds of channel that messages are made for, their senders, and the console: one line per
change on a stream.

The language's `dashboard` is not here: it shows what is stored, no message is made for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TextIO

from tidings.notification import mail
from tidings.notification.apprise_channel import AppriseService
from tidings.notification.channel import KINDS, A, Answer, ChildJobs, Message, MessagePoster, Refused, Sender, Sent
from tidings.notification.webhook import Webhook
from tidings.record import dataclass
from tidings.registry import Registry
from tidings.settings import NotifySettings


@dataclass(frozen=True, slots=True)
class LaidOut:
    """Accepts every message: once stored it is delivered, to be pulled from the feed or pushed to
    the stream's followers.
    """

    async def send(self, message: Message) -> Sent | Refused:
        """Accept the message, whose bytes are stored already."""
        del message
        return Sent()


@dataclass(frozen=True, slots=True)
class Nowhere:
    """No process for mail and Apprise: nothing is sent through them."""

    async def run(self, job: Callable[[A], Answer], argument: A, *, seconds: float) -> Answer:
        """Refuse, to be retried by a process that can."""
        del job, argument, seconds
        return Refused(reason="this process can send neither mail nor by Apprise", is_ours=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderParts:
    """The dependencies of senders: a client, the signing keys (newest first; `unsigned` is why
    there are none), a deadline, an output stream. `jobs` runs mail and Apprise, `tls` makes a
    verifying context that can be pickled, `settings` configures mail, `instance` names the
    installation.
    """

    poster: MessagePoster
    keys: tuple[bytes, ...]
    stream: TextIO
    timeout_seconds: float = 20.0
    jobs: ChildJobs = Nowhere()
    tls: Callable[[], Any] | None = None
    unsigned: str = ""
    settings: NotifySettings = NotifySettings()
    instance: str = "tidings"


Builder = Callable[[SenderParts], Sender]


def _webhook(means: SenderParts) -> Sender:
    return Webhook(means.poster, means.keys, means.timeout_seconds, means.unsigned)


def _console(means: SenderParts) -> Sender:
    return Console(means.stream)


def _email(means: SenderParts) -> Sender:
    if means.tls is None or not means.settings.smtp_host:
        return mail.NoMail()
    sender = mail.read_sender(means.settings.mail_from, means.settings.smtp_user)
    server = mail.read_server(means.settings, sender=sender, tls=means.tls, timeout_seconds=means.timeout_seconds)
    return mail.Mail(means.jobs, server, sender, means.instance)


def _apprise(means: SenderParts) -> Sender:
    return AppriseService(means.jobs, means.timeout_seconds)


def _laid_out(_means: SenderParts) -> Sender:
    return LaidOut()


CHANNELS: Final[Registry[Builder]] = Registry(
    "channel",
    {
        "webhook": _webhook,
        "url": _webhook,
        "console": _console,
        "email": _email,
        "apprise": _apprise,
        "feed": _laid_out,
        "stream": _laid_out,
    },
)


def build_senders(means: SenderParts) -> dict[str, Sender]:
    """Return one sender for each kind of channel. Raise `SettingError` for incomplete mail
    settings.
    """
    return {kind: build(means) for kind, build in CHANNELS.items()}


def sendable(settings: NotifySettings) -> frozenset[str]:
    """Return the kinds that can be sent with these settings: mail needs a mail server."""
    return KINDS - (frozenset() if settings.smtp_host else {"email"})


@dataclass(frozen=True, slots=True)
class Console:
    """Writes to a text stream; a closed or full one is a refusal."""

    stream: TextIO

    async def send(self, message: Message) -> Sent | Refused:
        """Write the message and flush it."""
        text = message.body.decode("utf-8", errors="replace")
        try:
            self.stream.write(self._printable(text if text.endswith("\n") else f"{text}\n"))
            self.stream.flush()
        except (OSError, ValueError) as error:  # a closed stream is a ValueError
            return Refused(reason=f"the console did not accept it: {getattr(error, 'strerror', None) or error}")
        return Sent()

    def _printable(self, text: str) -> str:
        encoding = self.stream.encoding or "utf-8"
        return text.encode(encoding, errors="backslashreplace").decode(encoding)
