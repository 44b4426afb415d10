"""Chats, phones and others: one channel for every service of Apprise, by its address (`tgram://…`,
`discord://…`).

The library is imported by `check_service`, with the first such address, and by `push`, the job that
sends a message in a guarded process (contracts §6). Apprise returns only success or failure; the
reason is taken from its log.
"""

from __future__ import annotations

import logging
import re
import warnings
from dataclasses import field
from typing import Final

from tidings.errors import AddressError
from tidings.notification.addresses import limit_of, redact
from tidings.notification.channel import MARGIN_SECONDS, ChildJobs, Message, Refused, Sent
from tidings.presentation.writing import cut_text, one_line, subject_line
from tidings.record import dataclass, replace

LONGEST_REASON: Final = 300
MOST_FORMS: Final = 2
"""The most address forms that a refusal names."""
_GUARD: Final = re.compile(r"the address is refused: [^'\")]+")


@dataclass(frozen=True, slots=True)
class AppriseService:
    """Sends to services through Apprise in a guarded process. `timeout_seconds` bounds the attempt
    once the process has begun.
    """

    jobs: ChildJobs
    timeout_seconds: float = 20.0

    async def send(self, message: Message) -> Sent | Refused:
        """Make one attempt; an address that Apprise cannot parse is final, all else is retried."""
        try:
            limit = limit_of(message.address)
        except AddressError as error:
            return Refused(reason=str(error), retry=False)
        title = cut_text(subject_line(message.subject), limit.title) if limit.title else ""
        job = Push(message.address, title, message.body.decode(errors="replace"))
        answer = await self.jobs.run(push, job, seconds=self.timeout_seconds + MARGIN_SECONDS)
        if isinstance(answer, Refused):
            return replace(answer, reason=redact(answer.reason, message.address))
        return answer


def check_service(address: str) -> None:
    """Raise `AddressError` with the valid forms of the service for an invalid Apprise address.

    The text repeats nothing of the address but its scheme. Nothing is sent: whether the receiver
    exists, only a message can show.
    """
    limit_of(address)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its modules are imported now, and report their use of deprecated features
        import apprise  # 0.2 s and 16 MB: only for users of such an address
        from apprise.manager_plugins import NotificationManager

        _hush()
        asset = apprise.AppriseAsset(async_mode=False, secure_logging=True)
        if apprise.Apprise.instantiate(address, asset=asset) is not None:
            return
    scheme = address.partition("://")[0].lower()
    plugin = NotificationManager()[scheme]  # type: ignore[no-untyped-call] # a library without types
    forms = ", ".join(form.replace("{schema}", scheme) for form in plugin.templates[:MOST_FORMS])
    message = (
        f"{plugin.service_name} cannot read this {scheme}:// address; the form is {forms}"
        f" (https://appriseit.com/services/ shows where to get each part)"
    )
    raise AddressError(message)


def _hush() -> None:
    """Suppress all logging of Apprise: at debug level it writes whole addresses."""
    log = logging.getLogger("apprise")
    log.propagate = False
    if not log.handlers:
        log.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Push:
    """One message for one service."""

    address: str = field(repr=False)
    title: str
    body: str


class _Listener(logging.Handler):
    """Collects what Apprise logs."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.logged: list[tuple[int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Store one line."""
        self.logged.append((record.levelno, record.getMessage()))


def push(job: Push) -> Sent | Refused:
    """Send a message to the service; never raise for external causes. The reason may hold parts of
    the address.
    """
    import apprise  # only in the child (contracts §10): 150 ms and 16 MB

    listener = _listen()
    asset = apprise.AppriseAsset(
        app_id="Tidings",
        app_desc="Tidings",
        app_url="",
        image_url_mask="",
        image_url_logo="",
        async_mode=False,
        secure_logging=True,
    )
    target = apprise.Apprise.instantiate(job.address, asset=asset)
    if target is None:
        reason = _reason(listener)
        return Refused(reason=f"Apprise cannot read the address{reason and f': {reason}'}", retry=False)
    if target.overflow_mode == apprise.OverflowMode.UPSTREAM:  # conversion to HTML or Markdown can make a text longer
        target.overflow_mode = apprise.OverflowMode.SPLIT
    service = str(target.service_name)
    everyone = apprise.Apprise(asset=asset)
    everyone.add(target)
    if everyone.notify(body=job.body, title=job.title, body_format=apprise.NotifyFormat.TEXT):
        return Sent()
    return Refused(reason=f"{service} did not accept it: {_reason(listener) or 'Apprise gives no reason'}")


def _listen() -> _Listener:
    log = logging.getLogger("apprise")
    for handler in list(log.handlers):
        log.removeHandler(handler)
    listener = _Listener()
    log.addHandler(listener)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    return listener


def _reason(listener: _Listener) -> str:
    """Return the guard's refusal if there was one, else the last complaint."""
    for _, text in listener.logged:
        if found := _GUARD.search(text):
            return f"{found[0]}; fetch.allow_networks names the networks that requests may reach"
    complaints = [text for level, text in listener.logged if level >= logging.WARNING]
    return cut_text(one_line(complaints[-1]), LONGEST_REASON) if complaints else ""
