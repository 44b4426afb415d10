"""A sentence of the service is recognized by its pattern and shown in the reader's language and
zone; other texts stay.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.bounded import bound_time
from tidings.clock import DAY
from tidings.service.show.finding import spell_since
from tidings.web.markup import translations
from tidings.web.markup.localize import SentencePattern, localize, localize_drawn

NOW = 1_700_000_000_000_000
TOKYO = ZoneInfo("Asia/Tokyo")
TAG = "de-told"
GERMAN = {
    "failing": "gestört",
    "the server answered {status}: {meaning}": "{meaning}, sagt der Server ({status})",
    "it has an internal error": "ein innerer Fehler",
    " since {spell_since}": " seit {spell_since}",
    "{spell_instant} (in {away})": "",
    "{away} ago": "vor {away}",
    "{n} days": "",
    "Where the edits are": "Wo die Änderungen stehen",
    "{n}\N{NO-BREAK SPACE}word": ["{n} Wort", "{n} Wörter"],
    "the first check": "die erste Prüfung",
}


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add a translation of some sentences and choose it."""
    (tmp_path / f"{TAG}.json").write_text(json.dumps(GERMAN), encoding="utf-8")
    monkeypatch.setattr(translations, "FOLDER", tmp_path)
    translations.languages.cache_clear()
    translations.choose_language(TAG)
    yield
    translations.choose_language("en")
    translations.languages.cache_clear()


def translate(text: str) -> str:
    """Return the text for a reader in Tokyo."""
    return str(localize(text, NOW, TOKYO))


def test_times_are_in_the_zone_of_the_reader():
    """A sentence has its instants in UTC. This holds in English too, where the state of a page is a
    word.
    """
    text = f"http://a.example/: error(5xx) since {spell_since(NOW - 3 * DAY, NOW)}: it is down"

    assert (
        "<bdi>http://a.example/: failing (5xx) since 12\N{NO-BREAK SPACE}Nov, 07:13 (3 days ago): it is down</bdi>"
        == translate(text)
    )


@pytest.mark.parametrize("text", ["0000-00-00 00:00:00 UTC", "2026-02-30 10:00:00 UTC", "2026-01-01 25:00:00 UTC"])
def test_date_of_a_page_that_no_calendar_has_stays(text: str):
    """An answer of a server may have any text."""
    assert f"<bdi>it said {text}</bdi>" == translate(f"it said {text}")


def test_date_before_the_first_year_of_the_reader_stays():
    """In New York it is still the year before."""
    assert "<bdi>0001-01-01 00:00:00 UTC</bdi>" == str(
        localize("0001-01-01 00:00:00 UTC", NOW, ZoneInfo("America/New_York"))
    )


def test_clause_of_a_sentinel_is_code():
    """The reason of a check begins with it."""
    assert "<code>Fetch every 6 hour</code>" == translate("Fetch every 6 hour")
    assert "<code>Fetch on change</code><bdi>: as it changes</bdi>" == translate("Fetch on change: as it changes")


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("the first check", "die erste Prüfung"),
        ("1,204 words", "1,204 Wörter"),
        ("1 word", "1 Wort"),
        (
            "the server answered 500: it has an internal error",
            "ein innerer Fehler, sagt der Server (500)",
        ),
        (
            "http://a.example/<b>: the server answered 500: it has an internal error",
            "<bdi>http://a.example/&lt;b&gt;</bdi>: ein innerer Fehler, sagt der Server (500)",
        ),
        ("no pattern has this text", "no pattern has this text"),
        ("12.5 %", "12.5 %"),
        ("1.2.3 words", "1.2.3 words"),
        (", words", ", words"),
        (f"{'9' * 400} words", f"{'9' * 400} words"),
    ],
)
def test_sentence_is_translated_with_its_values(text: str, output: str):
    """Values are texts of pages or sentences themselves, and are escaped."""
    assert output == translate(text)


@pytest.mark.usefixtures("german")
def test_captions_of_a_comparison_are_translated_and_its_texts_are_not():
    """A page may have the text of a caption."""
    drawn = '<svg aria-label="Where the edits are"></svg><p>Where the edits are</p><small class="mn">3 words</small>'

    assert (
        '<svg aria-label="Wo die Änderungen stehen"></svg><p>Where the edits are</p><small class="mn">3 Wörter</small>'
        == localize_drawn(drawn, NOW, TOKYO)
    )


@pytest.mark.parametrize(
    ("texts", "text", "values"),
    [
        (("a ", " b"), "a 1 b", ["1"]),
        (("", " and ", ""), "x and y and z", ["x", "y and z"]),
        (("more", "", ""), "more or less", ["", " or less"]),
        (("a ", " b"), "a b", None),
        (("ab", "b"), "ab", None),
        (("a ", " b ", " c"), "a 1 c", None),
    ],
)
def test_each_value_is_as_short_as_possible(texts: tuple[str, ...], text: str, values: list[str] | None):
    """Patterns match from left to right, and their texts never overlap."""
    assert values == SentencePattern("", texts, ("x",) * (len(texts) - 1)).match(text)


@pytest.mark.usefixtures("german")
def test_hostile_text_takes_limited_time():
    """The text has all separators and words of the patterns."""
    with bound_time(20):
        translate("; : , . (" * 300 + " since " * 200 + "x" * 1_000)
