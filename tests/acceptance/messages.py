"""Thirty typical changes and their messages for each channel; `docs/messages/` has them.

    PYTHONPATH=. python -m tests.acceptance.messages

writes them anew, after a change of how messages read; whoever does that reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tidings.detection.ask.summary import summary
from tidings.detection.job.contract import Body
from tidings.detection.job.examiner import compare_bodies
from tidings.model.interval import MINUTE, Instant
from tidings.model.observed.change import ChangeSet
from tidings.model.observed.unit import ChangeRow
from tidings.model.watch.sentinel import Interest
from tidings.notification.channel import Message
from tidings.notification.mail import compose, read_sender
from tidings.notification.rendering import News, Rendered, render
from tidings.presentation.atom import FeedHead, feed
from tidings.presentation.hypertext import STYLE
from tidings.service.show.records import Record, change_record

FOLDER = Path(__file__).parents[2] / "docs" / "messages"

HTML, JSON, TEXT, CSV, FEED = "text/html", "application/json", "text/plain", "text/csv", "application/rss+xml"

_STATUS = "<h1>Status page</h1><dl><dt>Website<dd>ok<dt>Database<dd>{0}<dt>Mail<dd>ok</dl>"
_BOXES = "<h1>Status</h1><div><div>Website</div><div>ok</div></div><div><div>Queue</div><div>{0}</div></div>"
_SHOP = "<h1>Steel kettle 1.7 l</h1><p>Price: {0}</p><p>Delivery within 3 days.</p><footer>© 2026 Kettle shop</footer>"
_STOCK = "<h1>Steel kettle 1.7 l</h1><p>{0}</p><button>Add to basket</button>"
_TIMES = (
    "<h2>Line 12 to Harbour</h2><table><tr><th>Stop<th>Weekdays<th>Sunday"
    "<tr><td>Market<td>07:15<td>09:00<tr><td>Old Town<td>{0}<td>09:12</table>"
)
_SEATS = "<h2>Shows in May</h2><table><tr><td>Hamlet<td>{0}<tr><td>Faust<td>40</table>"
_RATES = "<table><caption>Savings rates</caption><tr><th>Term<th>Rate<tr><td>6 months<td>2.1 %<tr><td>12 months<td>{0}</table>"
_FEES = "<h2>Fees</h2><p>Parking is open to all. The fee is {0} € per day, paid at the gate. Dogs are welcome.</p>"
_JOBS = "<h1>Open positions</h1><ul><li>Nurse, night shift</li>{0}<li>Cook, full time</li></ul>"
_RULES = "<h2>Visiting hours</h2><p>Visitors may come from 14:00 to {0}. Children need an adult.</p>"
_NEWS = "<h1>Town hall</h1><h2>Notices</h2>{0}<p>The library is open on Saturday.</p>"
_API = '{{"service": {{"name": "search", "state": "{0}"}}, "version": "4.2"}}'
_FORM = "<h1>Passport office</h1><p>Next free appointment: {0}</p><p>Bring a photo.</p>"
_TEAM = "<h2>Board</h2><dl><dt>Chair<dd>{0}<dt>Treasurer<dd>L. Okafor</dl>"
_LINK = '<h2>Downloads</h2><p>The form for 2026: <a href="/form.pdf">{0}</a></p>'
_COUNT = "<h2>Survey</h2><p>{0} people answered.</p><footer><p>Visits today: {1}</p></footer>"
_TERMS = "<h2>Courses in spring</h2><table><tr><th>Course<th>Day<th>Time<tr><td>Rowing<td>Monday<td>17:00{0}</table>"
_MENU = "<h1>Canteen</h1><h2>Monday</h2><p>Lentil soup</p><h2>Tuesday</h2><p>{0}</p>"
_RECALL = "<h1>Recalls</h1><p>There are no recalls of our products.</p>{0}"
_JAPANESE = "<h1>駅のお知らせ</h1><dl><dt>中央線<dd>{0}</dl>"
_LICENCE = "<h2>3. Liability</h2><p>The provider is liable for damage up to {0} EUR per case and year.</p>"
_CSV = "city,temperature\nOslo,{0}\nRome,21\n"
_CHANGELOG = "Version 2.1\n\nRequires Python {0} or newer.\n"
_RSS = (
    '<rss version="2.0"><channel><title>Harbour news</title>{0}<item><title>Ferry runs again</title>'
    "<link>https://harbour.example/1</link><guid>1</guid></item></channel></rss>"
)
_ITEM = (
    "<item><title>Pier closed until {0}</title><link>https://harbour.example/2</link><guid>2</guid>"
    "<description>The pier is closed for {1}.</description><author>post@harbour.example (Harbour office)</author>"
    "<pubDate>Fri, 27 Nov 2026 07:40:00 GMT</pubDate></item>"
)
_MANY = (
    "<h1>Shop</h1><p>Opening soon: {0}</p><h2>Kettle</h2><p>Now {1} EUR</p><footer><p>Page made in {2} ms</p></footer>"
)


def pages(frame: str, before: str, now: str) -> tuple[str, str]:
    """Return a page before and after a change."""
    return frame.format(*before.split("|")), frame.format(*now.split("|"))


CHANGES = [
    ("a status in a list of definitions", HTML, "any", *pages(_STATUS, "ok", "degraded")),
    ("a status in boxes", HTML, "any", *pages(_BOXES, "idle", "full")),
    ("a price with a label", HTML, "any", *pages(_SHOP, "129.00 EUR", "99.00 EUR")),
    ("stock", HTML, "any", *pages(_STOCK, "Out of stock", "In stock")),
    ("a timetable", HTML, "any", *pages(_TIMES, "07:27", "07:35")),
    ("free seats in a table without heads", HTML, "any", *pages(_SEATS, "12", "3")),
    ("a rate under a caption", HTML, "any", *pages(_RATES, "2.4 %", "2.75 %")),
    ("a fee in prose", HTML, "any", *pages(_FEES, "5", "7")),
    ("a new job", HTML, "any", *pages(_JOBS, "", "<li>Electrician, part time</li>")),
    ("a job that is gone", HTML, "any", *pages(_JOBS, "<li>Driver, early shift</li>", "")),
    ("a time in prose", HTML, "any", *pages(_RULES, "18:00", "17:30")),
    ("a new notice", HTML, "any", *pages(_NEWS, "", "<p>Water is off on Mill Lane on Friday.</p>")),
    ("JSON", JSON, "any", *pages(_API, "green", "red")),
    ("a date after a colon", HTML, "any", *pages(_FORM, "14 May", "2 March")),
    ("a name in a list of definitions", HTML, "any", *pages(_TEAM, "M. Sato", "R. Lind")),
    ("the words of a link", HTML, "any", *pages(_LINK, "not yet", "ready")),
    ("a number in the text, and another in the footer", HTML, "any", *pages(_COUNT, "310|7", "325|9")),
    ("a dish", HTML, "any", *pages(_MENU, "Fish and rice", "Pancakes")),
    ("a warning", HTML, "any", *pages(_RECALL, "", "<h2>Kettle 1.7 l</h2><p>Stop using it: the handle may break.</p>")),
    ("Japanese", HTML, "any", *pages(_JAPANESE, "平常運転", "運転見合わせ")),
    ("a limit in a contract", HTML, "any", *pages(_LICENCE, "10,000", "5,000")),
    ("CSV", CSV, "any", *pages(_CSV, "4", "-11")),
    ("plain text", TEXT, "any", *pages(_CHANGELOG, "3.11", "3.12")),
    ("a feed", FEED, "items", *pages(_RSS, "", _ITEM.format("June", "repairs"))),
    ("a new row of a table", HTML, "table", *pages(_TERMS, "", "<tr><td>Swimming<td>Tuesday<td>18:00")),
    ("an item that was edited", FEED, "items", *pages(_RSS, _ITEM.format("June", "repairs"), _ITEM.format("July", "repairs of its lamps"))),
    ('a price that became "sold out"', HTML, "words", *pages(_SHOP, "129.00 EUR", "sold out")),
    ("several texts at once, the price first", HTML, "any", *pages(_MANY, "May|49.00|31", "June|39.00|44")),
    ("the address of a link", HTML, "links", _LINK.format("form"), _LINK.format("form").replace("form.pdf", "form-2.pdf")),
    ("only the footer", HTML, "any", *pages(_COUNT, "310|7", "310|9")),
]  # fmt: skip
"""What it is, media type, change type, the page before and now."""
PAGES = [
    ("bike-rental", "https://status.bikes.example/", "Bike rental: is it working?"),
    ("print-queue", "https://status.print-shop.example/", "Print shop: is it working?"),
    ("kettle", "https://kettles.example/steel-17", "Steel kettle 1.7 l – Kettle shop"),
    ("kettle-stock", "https://kettles.example/steel-17", "Steel kettle 1.7 l – Kettle shop"),
    ("bus-12", "https://buses.example/line-12", "Timetable of line 12 – Town buses"),
    ("theatre", "https://theatre.example/seats", "Free seats – Town theatre"),
    ("savings", "https://bank.example/savings", "Savings accounts – First Bank"),
    ("lake-parking", "https://lake.example/parking", "Parking – Lake park"),
    ("clinic-jobs", "https://clinic.example/jobs", "Jobs – Hill clinic"),
    ("clinic-jobs", "https://clinic.example/jobs", "Jobs – Hill clinic"),
    ("clinic-visits", "https://clinic.example/visits", "Visiting – Hill clinic"),
    ("millbrook", "https://millbrook.example/", "Town hall of Millbrook"),
    ("search-service", "https://api.books.example/health", ""),
    ("passport", "https://passports.example/", "Passport office – appointments"),
    ("rowing-board", "https://rowing.example/board", "The board – Rowing club"),
    ("allotment-form", "https://millbrook.example/allotments", "Allotments – Millbrook"),
    ("park-survey", "https://millbrook.example/survey", "Survey on the new park – Millbrook"),
    ("canteen", "https://canteen.example/week", "This week – Canteen"),
    ("kettle-recalls", "https://kettle-maker.example/recalls", "Product recalls – Kettle maker"),
    ("chuo", "https://station.example/", "運行情報 – 中央駅"),
    ("host-terms", "https://host.example/terms", "Terms of use – Web host"),
    ("temperatures", "https://weather.example/now.csv", ""),
    ("tool-releases", "https://tool.example/CHANGES.txt", ""),
    ("harbour", "https://harbour.example/news.rss", ""),
    ("courses", "https://club.example/courses", "Courses – Sports club"),
    ("harbour", "https://harbour.example/news.rss", ""),
    ("kettle-price", "https://kettles.example/steel-17", "Steel kettle 1.7 l – Kettle shop"),
    ("kettle-shop", "https://kettles.example/", "Kettle shop"),
    ("allotment-link", "https://millbrook.example/allotments", "Allotments – Millbrook"),
    ("park-survey-2", "https://millbrook.example/survey", "Survey on the new park – Millbrook"),
]
"""Who watches it, where, and what the page is called, in the order of `CHANGES`."""
WEB = "https://tidings.example"
"""The address of the screens (`serve.public_url`)."""
AT: Instant = 1_795_766_400_000_000
"""27 November 2026, 08:00 UTC."""

ASKED = {"any": "any change", "words": "all words", "items": "items", "table": "table", "links": "all links"}
"""Change types as a Monitor clause says them."""


@dataclass(frozen=True, slots=True)
class Row:
    """A change of the table."""

    what: str
    media: str
    kind: str
    old: str
    new: str
    sentinel: str
    url: str
    title: str

    @property
    def found(self) -> ChangeSet:
        """Return the findings between the two pages."""
        head = f"<title>{self.title}</title>" if self.media == HTML else ""
        before, after = (
            Body(data=f"{head}{text}".encode(), content_type=self.media, url=self.url) for text in (self.old, self.new)
        )
        change, problem = compare_bodies(before, after, Interest(self.kind))
        assert "" == problem
        return change

    def record(self, number: int) -> Record:
        """Return the record of the change with this number in the table."""
        found = self.found
        row = ChangeRow(
            id=f"{number:032x}",
            sentinel_id=number,
            subscription_id=number,
            page_id=number,
            revision=1,
            kind=ASKED[self.kind],
            from_seq=1,
            to_seq=2,
            rules_version=1,
            extraction="page",
            found=found,
            summary=summary(found),
            quiet=False,
            modified_at=None,
            polled_at=AT,
            detected_at=AT,
        )
        return change_record(row, sentinel=self.sentinel, url=self.url)


ROWS = [Row(*change, *page) for change, page in zip(CHANGES, PAGES, strict=True)]


def message(kind: str, row: Row, number: int, scheme: str = "") -> Rendered:
    """Return the message that a channel of a kind sends for a change."""
    return render(kind, News(sentinel=row.sentinel, scheme=scheme, records=[row.record(number)], at=AT, web=WEB))


def parts_of_letter(rendered: Rendered) -> tuple[str, str]:
    """Return the text and the HTML of a letter."""
    import email
    from email.message import EmailMessage
    from email.policy import default

    head = f"Content-Type: {rendered.content_type}\r\n\r\n".encode()
    letter = email.message_from_bytes(head + rendered.body, policy=default)
    assert isinstance(letter, EmailMessage)
    text, html = (letter.get_body((sort,)) for sort in ("plain", "html"))
    assert text is not None
    assert html is not None
    whole = (str(part.get_content()).replace("\r\n", "\n") for part in (text, html))
    return next(whole), next(whole)


def _letters() -> str:
    return _join("E-mails as plain text", lambda row, n: _write_letter(message("email", row, n)))


def _write_letter(rendered: Rendered) -> str:
    return f"Subject: {rendered.subject}\n\n{parts_of_letter(rendered)[0].rstrip()}"


def _chats() -> str:
    return _join(
        "Chats and phones: a service with titles (ntfy)",
        lambda row, n: _write_title(message("apprise", row, n, "ntfy")),
    )


def _short() -> str:
    return _join(
        "A service without titles, 160 characters (SMS)",
        lambda row, n: message("apprise", row, n, "twilio").body.decode(),
    )


def _write_title(rendered: Rendered) -> str:
    return f"{rendered.subject}\n{rendered.body.decode()}"


def _console() -> str:
    return "".join(message("console", row, n).body.decode() for n, row in enumerate(ROWS, 1))


def _lines(kind: str) -> str:
    return "".join(f"{message(kind, row, n).body.decode().rstrip()}\n" for n, row in enumerate(ROWS, 1))


def _feed() -> str:
    head = FeedHead(
        id="urn:tidings:example",
        title="All changes",
        updated="2026-11-27T08:00:00Z",
        address="https://tidings.example/feeds/all",
        generator="Tidings",
    )
    return feed(head, [message("feed", row, n).body.decode() for n, row in enumerate(ROWS, 1)])


def _html() -> str:
    """Return the HTML of all letters on one page."""
    import re

    bodies = []
    for number, row in enumerate(ROWS, 1):
        rendered = message("email", row, number)
        main = re.search(r"<main>\n(.*?)</main>", parts_of_letter(rendered)[1], re.DOTALL)
        assert main is not None
        bodies.append(f"<main>\n{main[1]}</main>\n<hr>\n")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>The HTML of thirty letters</title>\n<style>{STYLE}</style>\n'
        f"</head>\n<body>\n{''.join(bodies)}</body>\n</html>\n"
    )


def _headers() -> str:
    """Return the headers of two letters of one sentinel, which are one thread."""
    sender = read_sender("Tidings <tidings@example.org>", "")
    made = []
    for number in (9, 10):
        row = ROWS[number - 1]
        rendered = message("email", row, number)
        sent = Message(
            id=f"dlv_{number}", address="anna@example.org", subject=rendered.subject, content_type=rendered.content_type,
            body=rendered.body, attempt=1, sent_at=AT + number * MINUTE, sequence=number, sentinel=row.sentinel, thread="9",
        )  # fmt: skip
        letter = compose(sent, sender=sender, recipient="anna@example.org", instance="home")
        made.append(letter.partition(b"\r\n\r\n")[0].decode().replace("\r\n", "\n"))
    return "\n\n".join(made) + "\n"


def _join(title: str, written: Callable[[Row, int], str]) -> str:
    blocks = (f"## {number}\n\n```text\n{written(row, number).rstrip()}\n```\n" for number, row in enumerate(ROWS, 1))
    return f"# {title}\n\n" + "\n".join(blocks)


FILES: dict[str, Callable[[], str]] = {
    "mail.md": _letters,
    "mail.html": _html,
    "mail-headers.txt": _headers,
    "chat.md": _chats,
    "sms.md": _short,
    "console.txt": _console,
    "webhook.jsonl": lambda: _lines("webhook"),
    "stream.jsonl": lambda: _lines("stream"),
    "feed.atom": _feed,
}
"""Each file of `docs/messages/` and what makes it."""


def table() -> str:
    """Return the table of the changes: number, description, and what differs on the page."""
    lines = (f"| {number} | {row.what} | `{row.kind}` | {row.url} |" for number, row in enumerate(ROWS, 1))
    return "\n".join(["| number | what changed | Monitor | page |", "|---|---|---|---|", *lines])


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    for name, made in FILES.items():
        (FOLDER / name).write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
