"""What a message to each kind of channel says: subject, Content-Type and bytes, made once and stored with the delivery."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from html import escape
from typing import Any, Final

from tidings.clock import Instant
from tidings.notification import mail, payload
from tidings.notification.addresses import limit_of_scheme
from tidings.presentation import atom
from tidings.presentation.edits import Record, in_zone, summary
from tidings.presentation.hypertext import document
from tidings.presentation.net import newest_first
from tidings.presentation.presenter import Caption
from tidings.presentation.presenters import PRESENTERS, presenter, view_of
from tidings.presentation.writing import length, subject_line, unmentioning
from tidings.registry import Registry

FRAME: Final = 16
"""Characters left free in a message with a title: a service may count title and body together."""
MOST_TEXT: Final = 60_000
"""Units of UTF-16 in the text of a letter."""
MOST_HTML: Final = 90_000
"""Bytes: some mail readers clip a message at 102 kB."""
LONGEST_SUBJECT: Final = 78
"""Characters of the subject of a letter: as many as a line of a letter should have (RFC 5322 §2.1.1)."""
_TEXT: Final = PRESENTERS["changes-as-text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What is to be told: change records of one sentinel, to one endpoint, made at `at`.

    `scheme` is that of a service of Apprise, empty where it is not known; `presentation` is how letters show them, `zone` the time zone in which people read when things happened.
    """

    sentinel: str
    scheme: str
    records: Sequence[Record]
    at: Instant
    presentation: str = "only_change"
    zone: tzinfo = UTC

    @property
    def subject(self) -> str:
        """Return one line that says what the message is about."""
        if len(self.records) == 1:
            return subject_line(f"{self.sentinel}: {summary(self.records[0])}")
        return subject_line(f"{self.sentinel}: {len(self.records):,} changes")


@dataclass(frozen=True, slots=True)
class Rendered:
    """The content of a delivery."""

    content_type: str
    body: bytes
    subject: str


Renderer = Callable[[News], tuple[str, bytes]]


def render(kind: str, news: News) -> Rendered:
    """Return what a channel of this kind is told."""
    content_type, body = RENDERERS[kind](news)
    subject = subject_line(news.subject, most=LONGEST_SUBJECT) if kind == "email" else news.subject
    return Rendered(content_type, body, subject)


def _webhook(news: News) -> tuple[str, bytes]:
    return payload.JSON_TYPE, payload.webhook_body(news.records, news.sentinel, at=news.at)


def _console(news: News) -> tuple[str, bytes]:
    return payload.TEXT_TYPE, payload.console_body(news.records, news.zone)


def _email(news: News) -> tuple[str, bytes]:
    caption = Caption(heading=news.subject, sentinel=news.sentinel)
    records = [in_zone(record, news.zone) for record in newest_first(news.records, net=True)]
    text = _TEXT.present(records, caption, most=MOST_TEXT)
    views = {view_of(news.presentation, record) for record in news.records}
    drawing = presenter(views.pop() if len(views) == 1 else "changes", "html")
    return mail.body_of(f"{text}\n", drawing.present(records, caption, most=MOST_HTML))


def _apprise(news: News) -> tuple[str, bytes]:
    limit = limit_of_scheme(news.scheme)
    if limit.title:
        room = limit.body - min(len(news.subject), limit.title) - FRAME
        text = _calling_nobody(news, Caption(), most=max(room, limit.body // 2))
    else:
        text = _calling_nobody(news, Caption(heading=news.subject), most=limit.body)
    return payload.TEXT_TYPE, text.encode(errors="backslashreplace")


def _calling_nobody(news: News, caption: Caption, *, most: int) -> str:
    """Return the changes as a text for a chat; what keeps it from calling people is counted in."""
    records, room = [in_zone(record, news.zone) for record in newest_first(news.records)], most
    while length(text := unmentioning(_TEXT.present(records, caption, most=room))) > most:
        room -= length(text) - most
    return text


def _feed(news: News) -> tuple[str, bytes]:
    newest = news.records[-atom.MOST_ENTRIES :]
    shown = [in_zone(record, news.zone) for record in reversed(newest)]
    entries = [atom.entry(record, presentation=news.presentation) for record in shown]
    return payload.ATOM_TYPE, "".join(entries).encode()


def _stream(news: News) -> tuple[str, bytes]:
    return payload.LINES_TYPE, payload.stream_body(news.records)


RENDERERS: Final[Registry[Renderer]] = Registry(
    "channel",
    {
        "webhook": _webhook,
        "url": _webhook,
        "console": _console,
        "email": _email,
        "apprise": _apprise,
        "feed": _feed,
        "stream": _stream,
    },
)


def rehearsal(kind: str, sentinel: str, *, at: Instant) -> Rendered:
    """Return a message that only shows that messages arrive."""
    subject = subject_line(f"{sentinel}: this is a test")
    text = f"{subject}\nChanges that {sentinel} finds will be sent here."
    if kind in {"webhook", "url"}:
        data: dict[str, Any] = {"type": "test", "timestamp": payload.stamp(at), "data": {"sentinel": sentinel}}
        return Rendered(payload.JSON_TYPE, json.dumps(data, separators=(",", ":")).encode(), subject)
    if kind == "email":
        words = f"<p>Changes that {escape(sentinel)} finds will be sent here.</p>\n"
        html = document([words], Caption(heading=subject))
        return Rendered(*mail.body_of(f"{text}\n", html), subject)
    return Rendered(payload.TEXT_TYPE, text.encode(), subject)
