import email
import email.policy
import json
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from tests.unit.presentation.records import record
from tidings.detection.ask.summary import summary
from tidings.model.observed.change import ChangeSet, Edit
from tidings.notification.addresses import limits
from tidings.notification.channel import KINDS
from tidings.notification.rendering import RENDERERS, News, rehearsal, render
from tidings.presentation.writing import length

ADDRESSES = {
    "apprise": "tgram://token/chat",
    "console": "",
    "email": "anna@example.org",
    "feed": "",
    "stream": "",
    "url": "https://example.org/",
    "webhook": "https://example.org/",
}


def news(*records, address=""):
    return News(
        sentinel="price", scheme=address.partition(":")[0], records=records or (record(),), at=1_700_000_000_000_000
    )


def test_every_kind_has_its_rendering():
    """A kind that is added must say what it shows."""
    assert set(RENDERERS) == KINDS


@pytest.mark.parametrize("kind", sorted(RENDERERS))
def test_every_kind_says_what_changed(kind):
    """Old, new and address are in each form; the subject is the headline."""
    rendered = render(kind, news(address=ADDRESSES[kind]))
    text = rendered.body.decode()

    assert '1 text updated: "5" → "6" · price' == rendered.subject
    if kind == "email":
        letter = email.message_from_string(
            f"Content-Type: {rendered.content_type}\n\n{text}", policy=email.policy.default
        )
        form = letter.get_body()
        assert form is not None
        text = form.get_content()
    assert all(part in text for part in ("5", "6", "https://shop.example/a"))


@pytest.mark.parametrize(("presentation", "tables"), [("only_change", 0), ("table", 1), ("dual_frame", 1), ("auto", 0)])
def test_a_letter_shows_changes_as_its_sentinel_says(presentation, tables):
    """The HTML is the view of the Presentation clause; the plain text beside it shows the changes alone (W-18)."""
    rendered = render("email", replace(news(address=ADDRESSES["email"]), presentation=presentation))
    letter = email.message_from_string(
        f"Content-Type: {rendered.content_type}\n\n{rendered.body.decode()}", policy=email.policy.default
    )
    bodies = [letter.get_body(("plain",)), letter.get_body(("html",))]
    plain, html = (body.get_content() for body in bodies if body is not None)

    assert tables == html.count("<table>")
    assert "[-5-]" in plain


def test_a_digest_has_a_subject():
    """The newest change, how many more, of which sentinel."""
    assert '1 text updated: "5" → "6" (+1,199 more) · price' == news(*[record()] * 1_200).subject


def test_a_subject_is_clean():
    """H-104: what a page says cannot break a header."""
    assert "a Bcc: b · price" == news(record(summary="a\r\nBcc: b\x00")).subject


@pytest.mark.parametrize("scheme", sorted(limits()))
def test_no_message_is_longer_than_its_service_takes(scheme):
    """Whatever the service, a digest of long changes fits, its title counted in where a service may do so."""
    told = [record(summary=f"change {n} " + "🙂" * 50, inserted=["x" * 500, "@everyone"]) for n in range(60)]
    limit = limits()[scheme]
    rendered = render("apprise", news(*told, address=f"{scheme}://x"))
    text = rendered.body.decode()

    assert length(text) <= limit.body
    assert length(text) + min(len(rendered.subject), limit.title) <= limit.body or limit.body < 500
    assert "more changes" in text or limit.body > 25_000 or limit.body < 100
    assert "@everyone" not in text


@pytest.mark.parametrize("kind", ["email", "apprise"])
def test_what_no_message_has_room_for_is_the_oldest(kind):
    """A message of very many changes is cut at its end: what is new is read, what is old is counted."""
    told = [record(url=f"https://shop.example/{n}", inserted=[f"{n}-" + "x" * 90]) for n in range(1_000)]
    body = render(kind, news(*told, address="ntfy://x")).body.decode().replace("=\r\n", "")

    assert "{+999-x" in body
    assert "{+0-x" not in body


@pytest.mark.parametrize("address", ["tgram://a/b", "discord://a/b"])
def test_the_headline_is_said_once(address):
    """In the title where there is one, else as the first line."""
    rendered = render("apprise", news(address=address))

    assert address.startswith("tgram") == rendered.body.decode().startswith(rendered.subject)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_rehearsal_says_that_it_is_one(kind):
    """Nobody takes a test message for news."""
    rendered = rehearsal(kind, "price", at=1_700_000_000_000_000)

    assert "price: this is a test" == rendered.subject
    if kind in {"webhook", "url"}:
        assert {
            "type": "test",
            "timestamp": "2023-11-14T22:13:20.000000Z",
            "data": {"sentinel": "price"},
        } == json.loads(rendered.body)
    else:
        assert b"this is a test" in rendered.body


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("UTC", "2026-11-28 13:37 UTC"),
        ("Asia/Kolkata", "2026-11-28 19:07 IST"),
        ("Europe/Paris", "2026-11-28 14:37 CET"),
        ("America/Sao_Paulo", "2026-11-28 10:37 -03"),
        ("Pacific/Kiritimati", "2026-11-29 03:37 +14"),
    ],
)
def test_people_read_when_in_the_zone_of_the_sentinel(zone, expected):
    """Letters, chats and the console say the time of the sentinel's zone, and which zone that is; records stay in UTC."""
    change = {**record(), "detected_at": "2026-11-28T13:37:00.000000Z"}
    shown = {
        kind: render(kind, replace(news(change, address=ADDRESSES[kind]), zone=ZoneInfo(zone)))
        for kind in ("email", "apprise", "webhook", "stream", "console")
    }
    letter = email.message_from_bytes(
        b"Content-Type: " + shown["email"].content_type.encode() + b"\n\n" + shown["email"].body,
        policy=email.policy.default,
    )
    texts = [part.get_content() for part in letter.walk() if part.get_content_maintype() == "text"]

    assert all(expected in text for text in texts)
    assert expected in shown["apprise"].body.decode()
    assert expected[:10] in shown["console"].body.decode()
    assert all("2026-11-28T13:37:00.000000Z" in shown[kind].body.decode() for kind in ("webhook", "stream"))


@pytest.mark.parametrize("kind", ["email", "apprise", "webhook", "console", "stream"])
def test_a_long_text_shows_what_differs(kind):
    """A paragraph of 100,000 characters that differs in one word near its end: the word is in the message, on both sides."""
    old, new = ("x " * 50_000 + word + " y" * 200 for word in ("BEFORE", "AFTER"))
    change = {
        **record(),
        "updated": [{"old": old, "new": new}],
        "summary": summary(ChangeSet(updated=((old, new),), kinds=("words",), edits=(Edit("replace", 0, 1, 0, 1),))),
    }
    rendered = render(kind, news(change, address=ADDRESSES[kind]))
    text = rendered.body.decode()
    if kind == "email":
        letter = email.message_from_bytes(
            b"Content-Type: " + rendered.content_type.encode() + b"\n\n" + rendered.body, policy=email.policy.default
        )
        text = next(part.get_content() for part in letter.walk() if part.get_content_type() == "text/plain")

    assert "BEFORE" in text
    assert "AFTER" in text


@pytest.mark.parametrize("kind", ["apprise", "email", "feed", "stream", "webhook"])
def test_every_kind_says_where_it_changed(kind):
    """The heading and the label of a text are in each message."""
    context = [{"of": "updated", "number": 0, "heading": "Fees", "label": "Adults"}]
    rendered = render(kind, news(record(context=context), address=ADDRESSES[kind]))
    text = rendered.body.decode()
    if kind == "email":
        letter = email.message_from_string(
            f"Content-Type: {rendered.content_type}\n\n{text}", policy=email.policy.default
        )
        parts = [part.get_content() for part in letter.walk() if part.get_content_maintype() == "text"]
        assert all("Fees" in part and "Adults" in part for part in parts)
        text = "".join(parts)

    assert "Fees" in text
    assert "Adults" in text


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("very long " * 20, "very long very long very long very long very long very long very long… · price"),
        ('Terms: the fee of a year that we ask of everybody is now "5" → "7" €', 'Terms: the fee of a year that we ask of everybody is now "5" → "7" € · price'),
        (
            'Terms and conditions: the fee of a year that we ask of everybody who uses it is now "5" → "7" €',
            'Terms and conditions: the fee of a year that we ask of eve… "5" → "7"… · price',
        ),
        ('Kettle: Now "49.00" → "39.00" EUR; Shop: Opening soon "May" → "June"; and 3 more', 'Kettle: Now "49.00" → "39.00" EUR; … · price'),
    ],
)  # fmt: skip
def test_a_subject_fits_in_a_line(said, expected):
    """What changed is in it, whatever stands around it is long."""
    subject = news(record(summary=said)).subject

    assert (expected, True) == (subject, len(subject) <= 78)
