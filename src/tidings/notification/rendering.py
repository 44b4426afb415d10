"""Render a message for each kind of channel: subject, Content-Type and bytes, made once and stored
with the delivery.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, tzinfo
from html import escape
from typing import Any, Final
from urllib.parse import quote

from tidings.clock import Instant
from tidings.model.watch.notifying import Wording, fill
from tidings.notification import mail, payload
from tidings.notification.addresses import limit_of_scheme
from tidings.presentation import atom
from tidings.presentation.edits import Record, headline, host_of, in_zone, minute, newest_first, summary
from tidings.presentation.hypertext import LETTER, document
from tidings.presentation.presenter import Caption
from tidings.presentation.presenters import PRESENTERS, presenter, view_of
from tidings.presentation.text import MESSAGE
from tidings.presentation.writing import (
    ELLIPSIS,
    LONGEST_HEADLINE,
    cut_text,
    first_lines,
    first_part,
    headline_in,
    is_part_of,
    length,
    one_line,
    point_arrows,
    subject_line,
    tame,
    title_in,
    unmentioning,
)
from tidings.record import dataclass, replace
from tidings.registry import Registry

FRAME: Final = 16
"""Characters left free in a message with a title: a service may count title and body together."""
MOST_TEXT: Final = 60_000
"""The longest text of a letter, in UTF-16 units."""
MOST_HTML: Final = 90_000
"""The largest HTML, in bytes: some mail readers clip a message at 102 kB."""
LONGEST_SUBJECT: Final = 78
"""The longest subject, in characters: the recommended line length of a letter (RFC 5322 §2.1.1)."""
LENGTH_OF_BETWEEN: Final = 3
"""The length of what is between a change and the title of its page, in a subject."""
LEAST_TITLE: Final = 24
"""The room that a subject always has for the title of its page, in characters."""
MOST_TITLE_OF_SEVERAL: Final = 36
"""The longest title in a subject on several changes, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """The content of a message: change records of one sentinel, to one endpoint, made at `at`.

    `scheme` is that of an Apprise service, empty if unknown; `presentation` is the layout of
    letters, `zone` the time zone for display. `wording` are the templates of its Notify clause,
    None for the default message; `tags` are those of the sentinel. `web` is the address of the
    screens, empty if there is none.
    """

    sentinel: str
    scheme: str
    records: Sequence[Record]
    at: Instant
    presentation: str = "only_change"
    zone: tzinfo = UTC
    wording: Wording | None = None
    tags: Sequence[str] = ()
    web: str = ""

    @property
    def subject(self) -> str:
        """Return the subject line: what changed, and the title of the page (without one, the name
        of the sentinel).

        Of several changes it has their number, the page, and the newest change.
        """
        newest, whose = self.records[-1], self._page
        if len(self.records) == 1:
            what = self._change
            title = title_in(whose, LONGEST_SUBJECT - LENGTH_OF_BETWEEN - length(what))
            return subject_line(" · ".join(part for part in (what, title) if part), most=LONGEST_SUBJECT)
        what = {True: "changes", False: "messages"}[all(one.get("record") == "change" for one in self.records)]
        lead = f"{len(self.records):,} {what} on {title_in(whose, MOST_TITLE_OF_SEVERAL) or 'Tidings'}: "
        return subject_line(lead + _change_in(newest, LONGEST_SUBJECT - length(lead)))

    @property
    def _change(self) -> str:
        """Return the line on the only change that fits beside the title of its page: if it is cut,
        beside the first part of this title.
        """
        line = _change_in(self.records[0], self._room(LEAST_TITLE))
        if ELLIPSIS not in line or not (first := first_part(self._page)):
            return line
        return _change_in(self.records[0], self._room(length(first)))

    def _room(self, title: int) -> int:
        """Return the room for a change beside a title of at most so many characters."""
        return LONGEST_SUBJECT - LENGTH_OF_BETWEEN - length(title_in(self._page, title))

    @property
    def said(self) -> str:
        """Return what the subject says of the line on the only change: its texts that are whole in
        the subject, at most without a heading that the title has.
        """
        if len(self.records) > 1:
            return ""
        subject, page = self.subject, one_line(self._page)
        texts = first_lines(headline(self.records[0]))
        return "; ".join(text for text in texts if any(short in subject for short in _shorter(text, page)))

    @property
    def _page(self) -> str:
        """Return the title of the page if there is only one and it has one, else the name of the
        sentinel.
        """
        titles = {subject_line(str(record.get("title") or "")) for record in self.records}
        is_one = len({record.get("url") for record in self.records}) == 1
        return (titles.pop() if is_one and len(titles) == 1 else "") or self.sentinel

    @property
    def is_worded(self) -> bool:
        """Return whether custom wording is used: a message of notices only has the default one."""
        return self.wording is not None and any(record.get("record") == "change" for record in self.records)


def _shorter(text: str, title: str) -> tuple[str, ...]:
    """Return a text on a change as a subject may have it: without the sign at its end, without a
    heading that the title of the page has.
    """
    text = text.removesuffix(".")
    heading, colon, rest = text.partition(": ")
    return (text, rest) if colon and is_part_of(heading, title) else (text,)


def _change_in(record: Record, most: int) -> str:
    """Return the line on a change, without its heading if a text would be cut, or if the title of
    the page is that heading.
    """
    line = point_arrows(subject_line(summary(record), most=LONGEST_HEADLINE)).removesuffix(".")
    title = one_line(str(record.get("title") or ""))
    whole = headline_in(line, most)
    is_cut = whole.count(ELLIPSIS) > line.count(ELLIPSIS)
    for one in record.get("context") or ():
        heading = one_line(str(one.get("heading") or "")).rstrip(" :")
        if heading and line.startswith(f"{heading}: ") and (is_part_of(heading, title) or is_cut):
            return headline_in(line[len(heading) + 2 :], most)
    return whole


@dataclass(frozen=True, slots=True)
class Rendered:
    """The content of a delivery."""

    content_type: str
    body: bytes
    subject: str


Renderer = Callable[[News], tuple[str, bytes]]


def render(kind: str, news: News) -> Rendered:
    """Return the message for a kind of channel, in the wording of its Notify clause if there is
    one.
    """
    content_type, body = RENDERERS[kind](news)
    if not news.is_worded or news.wording is None:
        return Rendered(content_type, body, news.subject)
    values = values_of(news)
    subject = fill_title(news.wording, values) or news.subject
    if kind == "feed":
        body = _write_worded_entry(news, subject, values)
    elif news.wording.text and kind in WORDED:
        content_type, body = WORDED[kind](news.wording, values, _limit(kind, news))
    elif kind == "email" and news.wording.title:
        content_type, body = _email(news, heading=subject)
    return Rendered(content_type, body, subject)


def _webhook(news: News) -> tuple[str, bytes]:
    return payload.JSON_TYPE, payload.webhook_body(news.records, news.sentinel, at=news.at)


def _console(news: News) -> tuple[str, bytes]:
    return payload.TEXT_TYPE, payload.console_body(news.records, news.zone)


def foot(news: News) -> tuple[tuple[str, str], ...]:
    """Return the actions on a message: see the comparison, get less, stop it. They are links to
    screens, or commands if there are no screens; empty without a sentinel.
    """
    changes = [record for record in news.records if record.get("record") == "change"]
    if not news.sentinel or not changes:
        return ()
    if news.web:
        ids = {str(record.get("id") or "") for record in changes}
        see = [f"{news.web}/changes/{quote(one, safe='')}" for one in ids]
        stop = ("Pause or stop these messages", f"{news.web}/sentinels/{quote(news.sentinel, safe='')}")
        return (("Compare, or get fewer messages", see[0]), stop) if len(see) == 1 else (stop,)
    return (
        ("Where Tidings runs, compare", comparison(changes, news.sentinel)),
        *_narrower(changes, news.sentinel),
        ("stop these messages", f"tidings disable {news.sentinel}"),
    )


def _narrower(changes: Sequence[Record], sentinel: str) -> Iterator[tuple[str, str]]:
    """Yield the command that watches less of an HTML page: without the footer or menu if some of
    the change is there.
    """
    places = [one for record in changes for one in record.get("context") or ()]
    areas = {str(one.get("area") or "") for one in places} - {""}
    if len(areas) == 1 and (area := areas.pop()):
        yield f"leave the {'menu' if area == 'nav' else area} out", f"tidings alter {sentinel} 'Exclude css \"{area}\"'"


def comparison(changes: Sequence[Record], sentinel: str) -> str:
    """Return the command that shows the comparison of a change, or all changes if there are
    several.
    """
    ends = [(record.get("from_version"), record.get("to_version")) for record in changes if not record.get("parts")]
    if len(changes) == 1 and ends and all(ends[0]) and ends[0][0] != ends[0][1]:
        return f"tidings diff {sentinel} {ends[0][0]} {ends[0][1]}"
    return f"tidings changes {sentinel}"


def _email(news: News, heading: str = "") -> tuple[str, bytes]:
    caption = Caption(heading=heading or _heading(news), sentinel=news.sentinel, foot=foot(news))
    records = [in_zone(record, news.zone) for record in newest_first(news.records, net=True)]
    text = MESSAGE.present(records, caption, most=MOST_TEXT)
    views = {view_of(news.presentation, record) for record in news.records}
    view = views.pop() if len(views) == 1 else "changes"
    drawing = LETTER if view == LETTER.view else presenter(view, "html")
    return mail.body_of(f"{text}\n", drawing.present(records, caption, most=MOST_HTML))


def _apprise(news: News) -> tuple[str, bytes]:
    limit = limit_of_scheme(news.scheme)
    caption = Caption(heading=news.subject, foot=foot(news), said=news.said)
    if limit.title:
        room = limit.body - min(len(news.subject), limit.title) - FRAME
        text = _calling_nobody(news, replace(caption, is_titled=True), most=max(room, limit.body // 2))
    else:
        text = _calling_nobody(news, caption, most=limit.body)
    return payload.TEXT_TYPE, text.encode(errors="backslashreplace")


def _calling_nobody(news: News, caption: Caption, *, most: int) -> str:
    """Return the changes as a chat text; the characters that prevent mentions count towards its
    length.
    """
    records, room = [in_zone(record, news.zone) for record in newest_first(news.records)], most
    while length(text := unmentioning(MESSAGE.present(records, caption, most=room))) > most:
        room -= length(text) - most
    return text


def _heading(news: News) -> str:
    """Return the heading of a letter: the full summary, of several changes the subject."""
    return headline(news.records[0]) if len(news.records) == 1 else news.subject


def values_of(news: News) -> dict[str, PlaceholderValue]:
    """Return the value of each placeholder, as text and as HTML."""
    changes = [record for record in news.records if record.get("record") == "change"]
    shown = [in_zone(record, news.zone) for record in newest_first(changes)]
    newest, text, html = shown[0], PRESENTERS["changes-as-text"], PRESENTERS["changes-as-html"]
    edits = {name: [line for record in shown for line in _sides(record, name)] for name in ("inserted", "deleted")}
    seen, published = (minute(newest.get(name), news.zone) for name in ("detected_at", "modified_at"))
    plain = {
        "watch_title": news.sentinel,
        "page_title": str(newest.get("title") or ""),
        "watch_url": str(newest["url"]),
        "host": host_of(str(newest["url"])),
        "summary": headline(newest),
        "diff_added": "\n".join(edits["inserted"]),
        "diff_removed": "\n".join(edits["deleted"]),
        "diff_url": foot(news)[0][1] if changes else "",
        "current_snapshot": str(newest.get("snapshot") or ""),
        "changes": f"{len(changes)}",
        "detected_at": seen,
        "published_at": published,
        "tags": ", ".join(news.tags),
    }
    values = {name: PlaceholderValue(value) for name, value in plain.items()}
    most = MOST_VALUE
    values["diff"] = PlaceholderValue(
        "\n\n".join(text.fragment(record, most=most) for record in shown),
        "".join(html.fragment(record, most=most) for record in shown),
    )
    return values


def _sides(record: Record, name: str) -> Iterator[str]:
    """Yield the inserted or deleted texts, including those of updates."""
    side = "new" if name == "inserted" else "old"
    yield from (one_line(str(pair[side])) for pair in record.get("updated") or ())
    yield from (one_line(str(text)) for text in record.get(name) or ())


def _write_worded_entry(news: News, subject: str, values: Mapping[str, PlaceholderValue]) -> bytes:
    """Return a feed entry in custom wording; several changes are one default entry each, under this
    title.
    """
    text = news.wording.text if news.wording is not None else ""
    content = fill_html(text, values) if text else ""
    newest = news.records[-atom.MOST_ENTRIES :]
    shown = [in_zone(record, news.zone) for record in reversed(newest)]
    entries = (
        atom.entry(record, presentation=news.presentation, title=subject, content=content if number == 0 else "")
        for number, record in enumerate(shown)
    )
    return "".join(entries).encode()


def _limit(kind: str, news: News) -> int:
    return limit_of_scheme(news.scheme).body if kind == "apprise" else MOST_BYTES


Worded = Callable[[Wording, Mapping[str, "PlaceholderValue"], int], tuple[str, bytes]]


def _letter_in_words(wording: Wording, values: Mapping[str, PlaceholderValue], most: int) -> tuple[str, bytes]:
    text = fill_text(wording.text, values)
    page = document([fill_html(wording.text, values)], Caption(heading=fill_title(wording, values)))
    return mail.body_of(f"{cut_text(text, most)}\n", page)


def _hook_in_words(wording: Wording, values: Mapping[str, PlaceholderValue], most: int) -> tuple[str, bytes]:
    if wording.is_json:
        return payload.JSON_TYPE, fill_json(wording.text, values, most).encode(errors="backslashreplace")
    return _text_in_words(wording, values, most)


def _text_in_words(wording: Wording, values: Mapping[str, PlaceholderValue], most: int) -> tuple[str, bytes]:
    return payload.TEXT_TYPE, cut_text(fill_text(wording.text, values), most).encode(errors="backslashreplace")


def _chat_in_words(wording: Wording, values: Mapping[str, PlaceholderValue], most: int) -> tuple[str, bytes]:
    room = most
    while length(text := unmentioning(cut_text(fill_text(wording.text, values), room))) > most:
        room -= length(text) - most
    return payload.TEXT_TYPE, text.encode(errors="backslashreplace")


WORDED: Final[Mapping[str, Worded]] = {
    "email": _letter_in_words,
    "webhook": _hook_in_words,
    "url": _hook_in_words,
    "console": _text_in_words,
    "apprise": _chat_in_words,
}
"""How the text of a Notify clause is rendered for each kind of channel; feeds use
`_write_worded_entry`.
"""


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


EXAMPLE: Final[Mapping[str, Any]] = {
    "record": "change",
    "url": "https://www.example.org/",
    "title": "Example page",
    "kind": "words",
    "updated": [{"old": "5", "new": "7"}],
    "context": [{"of": "updated", "number": 0, "heading": "Fees", "before": "The fee is ", "after": " € per day."}],
    "summary": 'Fees: The fee is "7" (was "5") € per day.',
    "snapshot": "Fees\nThe fee is 7 € per day.",
}
"""The example change in a test message with custom wording."""


def rehearsal(
    kind: str, sentinel: str, *, at: Instant, wording: Wording | None = None, tags: Sequence[str] = (), scheme: str = ""
) -> Rendered:
    """Return a test message; with custom wording, it shows an example change.

    Args:
        kind: The kind of channel.
        sentinel: The name in the message.
        at: When it is made (µs).
        wording: The templates of title and text; None for the default message.
        tags: The tags of the sentinel.
        scheme: That of an Apprise service, empty if unknown.
    """
    if wording is not None:
        record = {**EXAMPLE, "sentinel": sentinel, "detected_at": payload.stamp(at), "modified_at": payload.stamp(at)}
        news = News(sentinel=sentinel, scheme=scheme, records=[record], at=at, wording=wording, tags=tags)
        shown = render(kind, news)
        return replace(shown, subject=subject_line(f"Test: {shown.subject}", most=LONGEST_SUBJECT))
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


MOST_BYTES: Final = 64_000
"""The largest message in custom wording, in bytes and in characters."""
MOST_VALUE: Final = 16_384
"""The longest value of one placeholder, in characters."""
MOST_TITLE: Final = 200
STEPS: Final = (MOST_VALUE, 4_000, 1_000, 200, 20, 0)
"""Limits of each value in characters, tried in turn until the message is small enough."""


@dataclass(frozen=True, slots=True)
class PlaceholderValue:
    """The value of a placeholder: as text with lines, and as HTML if that is more than the escaped
    text.
    """

    text: str
    html: str = ""


def fill_title(wording: Wording, values: Mapping[str, PlaceholderValue]) -> str:
    """Return the title in one line, empty if the clause has none."""
    texts = {name: " ".join(value.text.split()) for name, value in values.items()}
    return subject_line(fill(wording.title, texts), most=MOST_TITLE)


def fill_text(text: str, values: Mapping[str, PlaceholderValue]) -> str:
    """Return a template filled as plain text; page content controls no screen."""
    return _bound_length(text, {name: tame(value.text, keep="\n") for name, value in values.items()})


def fill_html(text: str, values: Mapping[str, PlaceholderValue]) -> str:
    """Return a template filled as HTML: its own words and those of pages are escaped, lines are
    preserved, and edits are marked.
    """
    shown = {name: value.html or _lines(tame(value.text, keep="\n")) for name, value in values.items()}
    for most in STEPS:
        whole = f"<div>{fill(_lines(text), shown)}</div>\n"
        if len(whole.encode(errors="backslashreplace")) <= MOST_BYTES:
            return whole
        cut_texts = {name: cut_text(tame(value.text, keep="\n"), most) for name, value in values.items()}
        shown = {name: _lines(value) for name, value in cut_texts.items()}
    return f"<div>{_lines(fill_text(text, values))}</div>\n"


def fill_json(text: str, values: Mapping[str, PlaceholderValue], most: int = MOST_BYTES) -> str:
    """Return a JSON template filled in at most `most` bytes; values cannot end a string."""
    whole = ""
    for characters in STEPS:
        texts = {
            name: json.dumps(cut_text(value.text, characters), ensure_ascii=False)[1:-1]
            for name, value in values.items()
        }
        whole = fill(text, texts)
        if len(whole.encode(errors="backslashreplace")) <= most:
            break
    return whole


def _bound_length(text: str, values: Mapping[str, str]) -> str:
    whole = ""
    for most in STEPS:
        whole = fill(text, {name: cut_text(value, most) for name, value in values.items()})
        if length(whole) <= MOST_BYTES // 2:
            return whole
    return cut_text(whole, MOST_BYTES // 2)


def _lines(text: str) -> str:
    return escape(text, quote=True).replace("\n", "<br>\n")
