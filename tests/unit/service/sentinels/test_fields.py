"""The fields of a form beside the text of a sentinel."""

import pytest

from tidings.clock import SECOND
from tidings.service.sentinels.fields import complete
from tidings.settings import Settings

TEXT = "Create Sentinel shop Using https://shop.example/a\nMonitor price"
NOW = 1_700_000_000 * SECOND


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("every", "10 min", "Fetch every 10 min"),
        ("every", "every 2 hours", "Fetch every 2 hour"),
        ("every", "hourly", "Fetch every 1 hour"),
        ("every", "8:00, 18:00", "Fetch at 08:00, 18:00 daily"),
        ("name", "Steel kettle: 1.7 l", "Create Sentinel Steel-kettle-1-7-l Using https://shop.example/a"),
        ("name", "やかん", "Create Sentinel やかん Using https://shop.example/a"),
        ("tags", "shop, to buy", "Tags shop, to-buy"),
        ("notify", "anna@example.org", "Notify By email anna@example.org immediate"),
        ("notify", "mailto:anna@example.org", "Notify By email anna@example.org immediate"),
    ],
)
def test_field_becomes_a_clause(world, field, value, line):
    """In the words of people."""
    text, refused = world.database.read(complete, TEXT, {field: value}, Settings(), NOW)

    assert {} == refused
    assert line.lower() in [one.strip().lower() for one in text.splitlines()]


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("every", "10 parsecs", "write for example 10 min"),
        ("name", "17", "with a letter first"),
        ("tags", ";", "letters and digits"),
        ("notify", "anna", "anna is neither an e-mail address nor a URL"),
        ("notify", "nosuch://x", "no service of Apprise is called nosuch://"),
        ("notify", "a@b.example " * 6, "more than 5 receivers"),
    ],
)
def test_refused_field_says_what_to_write(world, field, value, why):
    """Only this field is refused, and the text keeps what the others say."""
    text, refused = world.database.read(complete, TEXT, {field: value}, Settings(), NOW)

    assert [field] == list(refused)
    assert why in refused[field]
    assert "price" in text


def test_text_that_is_no_sentinel_is_left_alone(world):
    """Its own errors are shown when it is saved."""
    text = "Create Sentinel shop Using"

    assert (text, {}) == world.database.read(complete, text, {"name": "other"}, Settings(), NOW)
    assert (TEXT, {}) == world.database.read(complete, TEXT, {"name": "", "tags": ""}, Settings(), NOW)
