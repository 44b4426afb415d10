"""The job that tells one Apprise service; it runs in a guarded process (contracts §6).

Apprise says only yes or no; why not is read from what it logs meanwhile.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from typing import Final

from tidings.notification.channel import Refused, Sent
from tidings.presentation.writing import cut, one_line

LONGEST_REASON: Final = 300
_GUARD: Final = re.compile(r"the address is refused: [^'\")]+")


@dataclass(frozen=True, slots=True)
class Push:
    """One message for one service."""

    address: str = field(repr=False)
    title: str
    body: str


class _Listener(logging.Handler):
    """Keeps what Apprise logs."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said: list[tuple[int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line."""
        self.said.append((record.levelno, record.getMessage()))


def push(errand: Push) -> Sent | Refused:
    """Tell the service; never raise for what the world does. The reason may hold parts of the address."""
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
    target = apprise.Apprise.instantiate(errand.address, asset=asset)
    if target is None:
        reason = _reason(listener)
        return Refused(reason=f"Apprise does not understand the address{reason and f': {reason}'}", retry=False)
    if target.overflow_mode == apprise.OverflowMode.UPSTREAM:  # writing for HTML or Markdown can make a text longer
        target.overflow_mode = apprise.OverflowMode.SPLIT
    service = str(target.service_name)
    everyone = apprise.Apprise(asset=asset)
    everyone.add(target)
    if everyone.notify(body=errand.body, title=errand.title, body_format=apprise.NotifyFormat.TEXT):
        return Sent()
    return Refused(reason=f"{service} did not take it: {_reason(listener) or 'Apprise does not say why'}")


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
    for _, text in listener.said:
        if found := _GUARD.search(text):
            return f"{found[0]}; fetch.allow_networks names networks that may be asked"
    complaints = [text for level, text in listener.said if level >= logging.WARNING]
    return cut(one_line(complaints[-1]), LONGEST_REASON) if complaints else ""
