import email
import email.policy
import json
import re
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.unit.presentation.records import record
from tidings.detection.ask.summary import summary
from tidings.model.observed.change import ChangeSet, Edit
from tidings.model.watch.notifying import PLACEHOLDERS, Wording
from tidings.notification.addresses import limits
from tidings.notification.channel import KINDS
from tidings.notification.rendering import RENDERERS, News, rehearsal, render, values_of
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


def test_every_kind_has_a_renderer():
    """A new kind of receiver needs one."""
    assert KINDS == set(RENDERERS)


@pytest.mark.parametrize("kind", sorted(RENDERERS))
def test_every_kind_shows_the_change(kind):
    """Old text, new text and address are in each form; the subject is the headline."""
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
def test_letter_uses_the_presentation_of_its_sentinel(presentation, tables):
    """The HTML is the view of the Presentation clause; the plain text beside it has only the
    changes (W-18).
    """
    rendered = render("email", replace(news(address=ADDRESSES["email"]), presentation=presentation))
    letter = email.message_from_string(
        f"Content-Type: {rendered.content_type}\n\n{rendered.body.decode()}", policy=email.policy.default
    )
    bodies = [letter.get_body(("plain",)), letter.get_body(("html",))]
    plain, html = (body.get_content() for body in bodies if body is not None)

    assert tables == html.count("<table>")
    assert '"5" → "6"' in plain


def test_digest_has_a_subject():
    """The subject has the number of changes, the sentinel, and the newest change."""
    assert '1,200 changes on price: 1 text updated: "5" → "6"' == news(*[record()] * 1_200).subject


def test_subject_has_no_control_characters():
    """H-104: no text of a page adds a header."""
    assert "a Bcc: b · price" == news(record(summary="a\r\nBcc: b\x00")).subject


@pytest.mark.parametrize("scheme", sorted(limits()))
def test_message_fits_the_limit_of_its_service(scheme):
    """A digest of long changes fits, with its title if the service counts it."""
    change = [record(summary=f"change {n} " + "🙂" * 50, inserted=["x" * 500, "@everyone"]) for n in range(60)]
    limit = limits()[scheme]
    rendered = render("apprise", news(*change, address=f"{scheme}://x"))
    text = rendered.body.decode()

    assert length(text) <= limit.body
    assert length(text) + min(len(rendered.subject), limit.title) <= limit.body or limit.body < 500
    assert "more changes" in text or limit.body > 25_000 or limit.body < 100
    assert "@everyone" not in text


@pytest.mark.parametrize("kind", ["email", "apprise"])
def test_oldest_changes_are_left_out_first(kind):
    """A message of very many changes is cut at its end, where the oldest are."""
    change = [record(url=f"https://shop.example/{n}", inserted=[f"{n}-" + "x" * 90]) for n in range(1_000)]
    body = render(kind, news(*change, address="ntfy://x")).body.decode().replace("=\r\n", "")

    assert 'added "999-x' in body
    assert 'added "0-x' not in body


@pytest.mark.parametrize("address", ["tgram://a/b", "discord://a/b"])
def test_headline_occurs_once(address):
    """The headline is the title, or the first line if the service has no titles."""
    rendered = render("apprise", news(address=address))

    assert address.startswith("tgram") == rendered.body.decode().startswith(rendered.subject)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_message_says_that_it_is_a_test(kind):
    """No receiver takes it for a change."""
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
def test_times_are_in_the_zone_of_the_sentinel(zone, expected):
    """Letters, chats and the console name the zone. Records stay in UTC."""
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
def test_long_text_shows_the_difference(kind):
    """A paragraph of 100,000 characters differs in one word near its end: both words are in the
    message.
    """
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
def test_every_kind_shows_heading_and_label(kind):
    """Heading and label are the context of a changed text."""
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
    ("title", "expected"),
    [
        ("very long " * 20, "very long very long very long very long very long very long very long… · price"),
        ('Terms: the fee of a year that we ask of everybody is now "5" → "7" €', 'Terms: the fee of a year that we ask of everybody is now "5" → "7" € · price'),
        (
            'Terms and conditions: the fee of a year that we ask of everybody who uses it is now "5" → "7" €',
            '…fee of a year that we ask of everybody who uses it is now "5" → "7" € · price',
        ),
        ('Kettle: Now "49.00" → "39.00" EUR; Shop: Opening soon "May" → "June"; and 3 more', 'Kettle: Now "49.00" → "39.00" EUR; and 4 more changes · price'),
    ],
)  # fmt: skip
def test_subject_fits_in_a_line(title, expected):
    """The change stays in it when the text around it is cut."""
    subject = news(record(summary=title)).subject

    assert (expected, True) == (subject, len(subject) <= 78)


FAMILY = "👩\u200d👩\u200d👧"
LONG_TITLE = "A very long title of a page that says all that search engines want | The shop"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Kettle", '"5" → "6" EUR · Kettle'),
        ("Kettle 1.7 l, steel | Kitchen | The shop of Millbrook and its surroundings", '"5" → "6" EUR · Kettle 1.7 l, steel | Kitchen'),
        (LONG_TITLE, '"5" → "6" EUR · A very long title of a page that says all that search engines…'),
        ("駅" * 90, f'"5" → "6" EUR · {"駅" * 61}…'),
        ("مواعيد القطارات", '"5" → "6" EUR · مواعيد القطارات'),
        ("Kettle\r\nBcc: all@example.org\u2028now", '"5" → "6" EUR · Kettle Bcc: all@example.org now'),
        (FAMILY * 30, f'"5" → "6" EUR · {FAMILY * 7}…'),
        ("", '"5" → "6" EUR · price'),
        (" \u200b\n", '"5" → "6" EUR · price'),
        (None, '"5" → "6" EUR · price'),
    ],
)  # fmt: skip
def test_subject_has_the_title_of_the_page(title, expected):
    """A long title loses the name of its site or is cut, without dividing a picture; without one it
    is the sentinel.
    """
    subject = news(record(summary='"5" → "6" EUR', title=title)).subject

    assert (expected, True) == (subject, length(subject) <= 78)


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ('الحالة: "مغلق" → "مفتوح"', 'الحالة: "مغلق" ← "مفتوح" · price'),
        ('מחיר "129" → "99"', 'מחיר "129" ← "99" · price'),
        ('Status: "مغلق" → "مفتوح"', 'Status: "مغلق" ← "مفتوح" · price'),
        ('الحالة: "closed" → "open"', 'الحالة: "closed" → "open" · price'),
        ('Status: "closed" → "مفتوح"', 'Status: "closed" → "مفتوح" · price'),
        ('駅: "平常運転" → "運転見合わせ"', '駅: "平常運転" → "運転見合わせ" · price'),
        ('"🙂" → "🙁"', '"🙂" → "🙁" · price'),
    ],
)
def test_arrow_points_to_the_new_text(summary, expected):
    """Between two texts that are read from right to left the new one is displayed on the left."""
    assert expected == news(record(summary=summary)).subject


PLACE = {"of": "updated", "number": 0, "heading": "Fees", "label": "Adults"}
ADULTS = record(summary='Fees: Adults "5" → "6"', title="Prices – Lake park", context=[PLACE])


def text_of(kind, change, form="plain"):
    """Return the text that a channel shows, below its title if it has one."""
    rendered = render(kind, change)
    if kind != "email":
        return rendered.body.decode()
    head = f"Content-Type: {rendered.content_type}\n\n{rendered.body.decode()}"
    letter = email.message_from_string(head, policy=email.policy.default)
    body = letter.get_body((form,))
    assert body is not None
    return body.get_content().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("kind", "address", "times"), [("email", "", 1), ("apprise", "ntfy://x", 0), ("apprise", "twilio://x", 1)]
)
def test_each_fact_is_said_once(kind, address, times):
    """A title that the service shows has the change, so the text has it no more; no marks need an
    explanation.
    """
    text = text_of(kind, news(ADULTS, address=address))

    assert (times, times) == (text.count('"5" → "6"'), text.count("Adults"))
    assert (1, 0) == (text.count("https://shop.example/a"), text.count("Marks"))
    assert not set("[]{}") & set(text)


def test_change_that_the_first_line_lacks_is_below_it():
    """Each text is in the message once, the important ones first, and footers last."""
    contexts = [PLACE, {"of": "updated", "number": 1, "label": "Visits", "area": "footer"}]
    change = {
        **ADULTS,
        "context": contexts,
        "updated": [*ADULTS["updated"], {"old": "7", "new": "9"}],
        "inserted": ["Dogs"],
    }
    lines = text_of("email", news(change)).splitlines()

    assert ['Fees: Adults "5" → "6"', 'added "Dogs"'] == lines[:2]
    assert 'Less important – in the footer: Visits "7" → "9"' == lines[2]


@pytest.mark.parametrize("kind", ["email", "apprise"])
def test_message_links_to_the_screens(kind):
    """Commands are only in messages of an instance without an address, in one line at the end."""
    linked = text_of(kind, replace(news(ADULTS, address="ntfy://x"), web="https://home.example"))
    alone = text_of(kind, news(ADULTS, address="ntfy://x"))

    assert "https://home.example/changes/c1\n" in linked
    assert "https://home.example/sentinels/price" in linked
    assert "tidings d" not in linked
    assert ["tidings diff price 3.1 3.2", "tidings disable price"] == re.findall(
        r"tidings [a-z]+ [a-z0-9. ]*[a-z0-9]", alone.rstrip().splitlines()[-1]
    )


def test_letter_has_the_change_as_its_heading():
    """The HTML marks the texts there, and does not repeat them."""
    tree = LexborHTMLParser(text_of("email", replace(news(ADULTS), web="https://home.example"), "html"))

    assert (1, 1, 1) == tuple(len(tree.css(name)) for name in ("h1", "h1 del", "ins"))
    assert {"https://home.example/changes/c1", "https://home.example/sentinels/price"} <= {
        link.attributes["href"] for link in tree.css("footer a")
    }


def test_subject_of_several_changes_counts_them():
    """It names the page that they are on, of several pages the sentinel; beside a notice they are
    messages.
    """
    one = record(summary='"5" → "6"', title="Kettle | The shop")
    other = record(summary='"6" → "7"', title="Pan | The shop", url="https://shop.example/pan")
    notice = {**record(summary="the page is gone"), "record": "problem"}

    assert '2 changes on Kettle | The shop: "5" → "6"' == news(one, one).subject
    assert '2 changes on price: "6" → "7"' == news(one, other).subject
    assert "2 messages on price: the page is gone" == news(one, notice).subject


def test_subject_has_no_heading_twice():
    """A heading that the title has too is left out, and any heading if the change needs its room."""
    context = [{"of": "updated", "number": 0, "heading": "Kettle 1.7 l", "label": "Price"}]
    one = record(summary='Kettle 1.7 l: Price "5" → "6"', title="Kettle 1.7 l – Shop", context=context)
    other = record(summary=f'Kettle 1.7 l: Price of {"steel " * 6}"5" → "6"', title="All that we sell", context=context)

    assert 'Price "5" → "6" · Kettle 1.7 l – Shop' == news(one).subject
    assert 'Price of steel steel steel steel steel steel "5" → "6" · All that we sell' == news(other).subject


ALL = "\n".join(f"{name}={{{{{name}}}}}" for name in PLACEHOLDERS)
EVIL = '<b>"{{7*7}}"</b>\\ @everyone'


def template_news(text, title="", **more):
    """Return a change with this template."""
    change = record(**{"title": "Shop", "snapshot": "all of it", **more})
    words = Wording(title, text)
    return News(
        sentinel="price", scheme="ntfy", records=[change], at=1_700_000_000_000_000, wording=words, tags=("a", "b")
    )


def test_every_placeholder_has_a_value():
    """A placeholder without a value would stay in the message."""
    text = render("console", template_news(ALL)).body.decode()

    assert set(PLACEHOLDERS) == set(values_of(template_news("")))
    assert "watch_title=price\npage_title=Shop\nwatch_url=https://shop.example/a?x=1&y=2\nhost=shop.example\n" in text
    assert "diff=[-5-]{+6+}\ndiff_added=6\ndiff_removed=5\ndiff_url=tidings diff price" in text
    assert "current_snapshot=all of it\nchanges=1\ndetected_at=Tue 2023-11-14 22:13 UTC\n" in text
    assert text.endswith("tags=a, b")


@pytest.mark.parametrize("kind", ["console", "webhook", "apprise", "feed"])
def test_title_template_is_the_subject(kind):
    """The subject is filled and is one line."""
    assert "price: 6" == render(kind, template_news("{{diff}}", title="{{watch_title}}: {{diff_added}}\n")).subject


@pytest.mark.parametrize("kind", ["console", "apprise"])
def test_text_template_is_filled(kind):
    """The lines of the template stay. No text of a page is a placeholder (H-077) or mentions
    people.
    """
    body = render(
        kind, template_news("now: {{diff_added}}\n\n{{host}}", updated=[{"old": "5", "new": EVIL}])
    ).body.decode()

    assert f"now: {EVIL}\n\nshop.example" == body.replace("\u2060", "")
    assert ("@\u2060everyone" in body) == (kind == "apprise")


def test_html_is_escaped():
    """In a letter, edits are marked, all other text is escaped, and lines are kept."""
    rendered = render("email", template_news("<i>\n{{diff}}{{diff_added}}", updated=[{"old": "5", "new": EVIL}]))
    letter = email.message_from_bytes(
        f"Content-Type: {rendered.content_type}\n\n".encode() + rendered.body, policy=email.policy.default
    )
    part = letter.get_body(("html",))
    assert part is not None
    html = part.get_content()

    assert "&lt;i&gt;<br>" in html
    assert ">5</del>" in html
    assert "&lt;b&gt;&quot;{{7*7}}&quot;&lt;/b&gt;" in html
    assert "<b>" not in html


def test_json_template_stays_json():
    """No text of a page ends a string."""
    rendered = render(
        "webhook", template_news('{"text": "{{diff_added}}", "n": {{changes}}}', updated=[{"old": "5", "new": EVIL}])
    )

    assert "application/json" == rendered.content_type
    assert {"text": EVIL, "n": 1} == json.loads(rendered.body)


def test_other_template_of_a_webhook_is_plain_text():
    """A template that does not begin like JSON is plain text."""
    rendered = render("webhook", template_news("{{diff_added}}"))

    assert ("text/plain; charset=utf-8", b"6") == (rendered.content_type, rendered.body)


@pytest.mark.parametrize("kind", ["console", "webhook", "email", "feed"])
@pytest.mark.parametrize("text", ["{{current_snapshot}}" * 400, '{"a": "' + "{{current_snapshot}}" * 400 + '"}'])
def test_filled_template_is_limited(kind, text):
    """The limit is 64 KiB, however often a placeholder is repeated. JSON is cut within its values."""
    rendered = render(kind, template_news(text, snapshot="ü" * 20_000))
    body = rendered.body if kind != "email" else rendered.body.split(b"--=_")[1]

    assert len(body) <= 65_536 * (2 if kind == "email" else 1)
    if kind == "webhook" and text.startswith('{"'):
        assert json.loads(rendered.body)


def test_notices_do_not_use_the_template():
    """A page in error has no edits for it."""
    notice = {
        "record": "problem",
        "sentinel": "price",
        "url": "https://a.example/",
        "summary": "the page is away",
        "detected_at": "",
    }
    rendered = render("console", replace(template_news("{{diff}}"), records=[notice]))

    assert "the page is away" in rendered.body.decode()


def test_message_shows_the_filled_template():
    """The values are those of an example."""
    shown = rehearsal(
        "apprise",
        "s",
        at=0,
        wording=Wording("{{watch_title}} {{summary}}", "{{diff}} {{tags}}"),
        tags=("t",),
        scheme="ntfy",
    )

    assert 'Test: s Fees: The fee is "7" (was "5") € per day.' == shown.subject
    assert "Fees: The fee is [-5-]{+7+} € per day. t" == shown.body.decode()
