"""Messages by templates: filled and escaped for each channel, never expanded twice (R-10, H-075 to
H-077).
"""

import email
import email.policy
import json
from dataclasses import replace

import pytest

from tests.unit.presentation.records import record
from tidings.model.watch.telling import PLACEHOLDERS, Wording
from tidings.notification.rendering import News, rehearsal, render, values_of

ALL = "\n".join(f"{name}={{{{{name}}}}}" for name in PLACEHOLDERS)
EVIL = '<b>"{{7*7}}"</b>\\ @everyone'


def news(text, title="", **more):
    """Return a change with this template."""
    told = record(**{"title": "Shop", "snapshot": "all of it", **more})
    words = Wording(title, text)
    return News(
        sentinel="price", scheme="ntfy", records=[told], at=1_700_000_000_000_000, wording=words, tags=("a", "b")
    )


def test_every_placeholder_has_a_value():
    """A placeholder without a value would stay in the message."""
    text = render("console", news(ALL)).body.decode()

    assert set(PLACEHOLDERS) == set(values_of(news("")))
    assert "watch_title=price\npage_title=Shop\nwatch_url=https://shop.example/a?x=1&y=2\nhost=shop.example\n" in text
    assert "diff=[-5-]{+6+}\ndiff_added=6\ndiff_removed=5\ndiff_url=tidings diff price" in text
    assert "current_snapshot=all of it\nchanges=1\ndetected_at=Tue 2023-11-14 22:13 UTC\n" in text
    assert text.endswith("tags=a, b")


@pytest.mark.parametrize("kind", ["console", "webhook", "apprise", "feed"])
def test_title_template_is_the_subject(kind):
    """The subject is filled and is one line."""
    assert "price: 6" == render(kind, news("{{diff}}", title="{{watch_title}}: {{diff_added}}\n")).subject


@pytest.mark.parametrize("kind", ["console", "apprise"])
def test_text_template_is_filled(kind):
    """The lines of the template stay. No text of a page is a placeholder (H-077) or mentions
    people.
    """
    body = render(kind, news("now: {{diff_added}}\n\n{{host}}", updated=[{"old": "5", "new": EVIL}])).body.decode()

    assert f"now: {EVIL}\n\nshop.example" == body.replace("\u2060", "")
    assert ("@\u2060everyone" in body) == (kind == "apprise")


def test_html_is_escaped():
    """In a letter, edits are marked, all other text is escaped, and lines are kept."""
    rendered = render("email", news("<i>\n{{diff}}{{diff_added}}", updated=[{"old": "5", "new": EVIL}]))
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
        "webhook", news('{"text": "{{diff_added}}", "n": {{changes}}}', updated=[{"old": "5", "new": EVIL}])
    )

    assert "application/json" == rendered.content_type
    assert {"text": EVIL, "n": 1} == json.loads(rendered.body)


def test_other_template_of_a_webhook_is_plain_text():
    """A template that does not begin like JSON is plain text."""
    rendered = render("webhook", news("{{diff_added}}"))

    assert ("text/plain; charset=utf-8", b"6") == (rendered.content_type, rendered.body)


@pytest.mark.parametrize("kind", ["console", "webhook", "email", "feed"])
@pytest.mark.parametrize("text", ["{{current_snapshot}}" * 400, '{"a": "' + "{{current_snapshot}}" * 400 + '"}'])
def test_filled_template_is_limited(kind, text):
    """The limit is 64 KiB, however often a placeholder is repeated. JSON is cut within its values."""
    rendered = render(kind, news(text, snapshot="ü" * 20_000))
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
    rendered = render("console", replace(news("{{diff}}"), records=[notice]))

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

    assert 'Test: s Fees: The fee is "5" → "7" € per day.' == shown.subject
    assert "Fees: The fee is [-5-]{+7+} € per day. t" == shown.body.decode()
