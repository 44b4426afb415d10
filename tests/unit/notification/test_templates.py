"""Messages in one's own words: filled for each channel, escaped for it, never read again (R-10, H-075 to H-077)."""

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
    """Return a change to be said in these words."""
    told = record(**{"title": "Shop", "snapshot": "all of it", **more})
    words = Wording(title, text)
    return News(
        sentinel="price", scheme="ntfy", records=[told], at=1_700_000_000_000_000, wording=words, tags=("a", "b")
    )


def test_every_placeholder_has_a_value():
    """What there is no value for stays as it is; there is nothing such."""
    text = render("console", news(ALL)).body.decode()

    assert set(PLACEHOLDERS) == set(values_of(news("")))
    assert "watch_title=price\npage_title=Shop\nwatch_url=https://shop.example/a?x=1&y=2\nhost=shop.example\n" in text
    assert "diff=[-5-]{+6+}\ndiff_added=6\ndiff_removed=5\ndiff_url=tidings diff price" in text
    assert "current_snapshot=all of it\nchanges=1\ndetected_at=Tue 2023-11-14 22:13 UTC\n" in text
    assert text.endswith("tags=a, b")


@pytest.mark.parametrize("kind", ["console", "webhook", "apprise", "feed"])
def test_the_title_is_the_subject(kind):
    """In one line, filled."""
    assert "price: 6" == render(kind, news("{{diff}}", title="{{watch_title}}: {{diff_added}}\n")).subject


@pytest.mark.parametrize("kind", ["console", "apprise"])
def test_text_is_what_the_template_says(kind):
    """Its lines, and what a page says as it is; nothing of a page is a placeholder (H-077) or calls people."""
    body = render(kind, news("now: {{diff_added}}\n\n{{host}}", updated=[{"old": "5", "new": EVIL}])).body.decode()

    assert f"now: {EVIL}\n\nshop.example" == body.replace("\u2060", "")
    assert ("@\u2060everyone" in body) == (kind == "apprise")


def test_html_is_escaped():
    """Of a letter: edits are marked, all else is text, lines are lines."""
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


def test_json_stays_json():
    """No text of a page ends a string."""
    rendered = render(
        "webhook", news('{"text": "{{diff_added}}", "n": {{changes}}}', updated=[{"old": "5", "new": EVIL}])
    )

    assert "application/json" == rendered.content_type
    assert {"text": EVIL, "n": 1} == json.loads(rendered.body)


def test_other_texts_of_a_webhook_are_plain():
    """A text that does not begin like JSON."""
    rendered = render("webhook", news("{{diff_added}}"))

    assert ("text/plain; charset=utf-8", b"6") == (rendered.content_type, rendered.body)


@pytest.mark.parametrize("kind", ["console", "webhook", "email", "feed"])
@pytest.mark.parametrize("text", ["{{current_snapshot}}" * 400, '{"a": "' + "{{current_snapshot}}" * 400 + '"}'])
def test_a_message_is_bounded(kind, text):
    """64 KiB, however often a long text is asked for; JSON is cut in its values."""
    rendered = render(kind, news(text, snapshot="ü" * 20_000))
    body = rendered.body if kind != "email" else rendered.body.split(b"--=_")[1]

    assert len(body) <= 65_536 * (2 if kind == "email" else 1)
    if kind == "webhook" and text.startswith('{"'):
        assert json.loads(rendered.body)


def test_notices_are_as_usual():
    """A page in error has no edits to put into a template."""
    notice = {
        "record": "problem",
        "sentinel": "price",
        "url": "https://a.example/",
        "summary": "the page is away",
        "detected_at": "",
    }
    rendered = render("console", replace(news("{{diff}}"), records=[notice]))

    assert "the page is away" in rendered.body.decode()


def test_a_test_message_shows_the_words():
    """Filled with an example."""
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
