"""Sentences that the service makes (troubles, reasons, findings, problems) in the reader's language
and zone.

The service makes them in English, for all its commands, messages and records; many are stored. A
screen finds each again by its pattern in the catalogue: `{count} changes in {time}` matches `3
changes in 5 days`, and its values are found again in turn. A text without a pattern is shown as it
is. Patterns are matched in linear time.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from html import unescape
from typing import TYPE_CHECKING, Final, NamedTuple

from markupsafe import Markup, escape

from tidings.clock import SECOND
from tidings.record import dataclass
from tidings.web.markup import formats, translations
from tidings.web.markup.translations import ENGLISH, get_language, sentence, translate, translate_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from tidings.model.interval import Instant

_PLACE: Final = re.compile(r"\{\w*\}")
_LETTER: Final = re.compile(r"[^\W\d_]")
_WORD: Final = re.compile(r"(?<!\w)[^\W\d_]+(?!\w)")
_JOINTS: Final = re.compile(r"(; |: | · | › |\. | \(|\)|, |  )")
"""Where a text of several sentences is cut if no pattern matches the whole."""
_INSTANT: Final = re.compile(r"\b(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC\b")
_NUMBER: Final = re.compile(r"[0-9][0-9,]{0,20}(?:\.[0-9]{1,20})?")
_QUOTED: Final = re.compile(r"`([^`<>]{1,200})`")
"""A command or value, as the sentences of the service quote it."""
_STATES: Final = {"error": sentence("failing"), "shaky": sentence("failing for now")}
_STATE: Final = re.compile(rf"\b({'|'.join(_STATES)})\((\w+)\)")
"""The state of a page as commands print it."""
_CLAUSE: Final = re.compile(r"(?:Fetch|Notify|From|To|For) [^:;]+")
"""A clause of the sentinel at the beginning of a reason."""
LONGEST: Final = 2_000
DEEPEST: Final = 5
MOST_JOINTS: Final = 12


@dataclass(frozen=True)
class SentencePattern:
    """An English sentence cut at its places: its key in the catalogue, the texts between them, and
    their names. A count has two sentences, of which the key is the first.
    """

    key: str
    texts: tuple[str, ...]
    names: tuple[str, ...]
    more: str = ""

    @cached_property
    def weight(self) -> int:
        """Return the number of letters; of several patterns that match, the heaviest counts."""
        return sum(len(_LETTER.findall(text)) for text in self.texts)

    @property
    def words(self) -> frozenset[str]:
        """Return the words that every text of this pattern has, as whole words."""
        return frozenset(_WORD.findall("0".join(self.texts)))

    def match(self, text: str) -> list[str] | None:
        """Return the values of a text with this pattern, None if it has another. Each value is as
        short as possible.
        """
        if not text.startswith(self.texts[0]) or not text.endswith(self.texts[-1]):
            return None
        at, values = len(self.texts[0]), []
        for number, literal in enumerate(self.texts[1:], start=1):
            is_last = number == len(self.texts) - 1
            end = len(text) - len(literal) if is_last else text.find(literal, at)
            if end < at:
                return None
            values.append(text[at:end])
            at = end + len(literal)
        return values if at == len(text) else None


def localize(text: object, now: Instant, zone: tzinfo, *, most: int = LONGEST) -> Markup:
    """Return a sentence of the service, escaped, in the reader's language and zone.

    Args:
        text: The sentence in English.
        now: The present (µs).
        zone: The reader's zone.
        most: Most characters, the rest is cut.
    """
    whole = " ".join(str(text).split(" "))[:LONGEST]
    whole = _STATE.sub(lambda found: f"{translate(_STATES[found[1]])} ({found[2]})", whole)
    whole = _INSTANT.sub(lambda found: _local(found[1], now, zone), whole)
    clause = _CLAUSE.match(whole)
    rest = whole[clause.end() :] if clause else whole
    markup = (
        formats.text(rest, most=most)
        if get_language() == ENGLISH
        else _localize(rest, DEEPEST) or formats.plain(rest, most=most)
    )
    markup = Markup(_QUOTED.sub(r"<code>\1</code>", str(markup)))  # noqa: S704 - it was escaped before
    return Markup("<code>{}</code>{}").format(clause[0], markup if rest else "") if clause else markup


def _local(written: str, now: Instant, zone: tzinfo) -> str:
    """Return an instant in a zone; unchanged if no calendar has it, as in the text of a page."""
    try:
        at = round(datetime.fromisoformat(written).replace(tzinfo=UTC).timestamp()) * SECOND
        return formats.short(at, now, zone)
    except (ValueError, OverflowError):
        return f"{written} UTC"


def _localize(text: str, depth: int) -> Markup | None:
    """Return a text in the reader's language; None if nothing of it is in the catalogue."""
    if not _LETTER.search(text):
        return formats.plain(text)
    reading = _read(text, depth)
    if reading is None:
        return None
    if isinstance(reading.by, SentencePattern):
        return _write(reading.by, reading.values, depth)
    head, tail = (_or_value(value, depth - 1) for value in reading.values)
    return Markup("{}{}{}").format(head, formats.plain(reading.by), tail)


class _SentenceReading(NamedTuple):
    """How many letters of a text are sentences of the service; the pattern with its values, or the
    joint with the texts before and after it.
    """

    letters: int
    by: SentencePattern | str
    values: Sequence[str]


@lru_cache(maxsize=4096)
def _read(text: str, depth: int) -> _SentenceReading | None:
    """Return the reading of a text by which most of its letters are sentences, None if none are."""
    found = _find(text)
    best: _SentenceReading | None = None
    if found is not None:
        pattern, values = found
        best = _SentenceReading(pattern.weight + sum(_count(value, depth - 1) for value in values), pattern, values)
    for joint in [*_JOINTS.finditer(text)][:MOST_JOINTS] if depth else ():
        sides = (text[: joint.start()], text[joint.end() :])
        letters = sum(_count(side, depth - 1) for side in sides)
        if letters > (0 if best is None else best.letters):
            best = _SentenceReading(letters, joint[0], sides)
    return best


def _count(text: str, depth: int) -> int:
    """Return how many letters of a text are sentences of the service."""
    reading = _read(text, depth) if depth >= 0 and _LETTER.search(text) else None
    return 0 if reading is None else reading.letters


def _or_value(text: str, depth: int) -> Markup:
    """Return a text in the reader's language; one that is not in the catalogue as a value."""
    value_markup = _localize(text, depth) if depth >= 0 else None
    return formats.text(text, most=LONGEST) if value_markup is None else value_markup


def _write(pattern: SentencePattern, values: Sequence[str], depth: int) -> Markup:
    if pattern.more:
        number = float(values[0].replace(",", ""))
        return formats.plain(translate_count(number, pattern.key, pattern.more))
    inner = [_or_value(value, depth - 1) for value in values]
    translated = translations.translate(pattern.key)
    by_name: dict[str, list[Markup]] = {}
    for name, value in zip(pattern.names, inner, strict=True):
        by_name.setdefault(name, []).append(value)

    def parts() -> Iterator[Markup]:
        done = 0
        for found in _PLACE.finditer(translated):
            yield formats.plain(translated[done : found.start()])
            left = by_name.get(found[0][1:-1])
            yield left.pop(0) if left else Markup()
            done = found.end()
        yield formats.plain(translated[done:])

    return Markup("").join(parts())


@lru_cache(maxsize=4096)
def _find(text: str) -> tuple[SentencePattern, list[str]] | None:
    """Return the heaviest pattern of a text, with the values."""
    plain = text.replace("\N{NO-BREAK SPACE}", " ")
    index = _patterns()
    wanted = (pattern for word in {"", *_WORD.findall(plain)} for pattern in index.get(word, ()))
    for pattern in sorted(wanted, key=lambda one: -one.weight):
        if (values := pattern.match(plain)) is None:
            continue
        if not pattern.more or _NUMBER.fullmatch(values[0]):
            return pattern, values
    return None


@cache
def _patterns() -> dict[str, list[SentencePattern]]:
    """Return the patterns of all sentences of the catalogue, each by its rarest word that is not
    beside a place; "" for those without one.
    """
    english = json.loads((translations.ENGLISH_FILE).read_text("utf-8"))
    found = []
    for key, english_text in english.items():
        if isinstance(english_text, list):
            found += [_cut(key, one, more=english_text[-1]) for one in english_text]
        else:
            found.append(_cut(key, key))
    found = [one for one in found if one.weight]
    often = Counter(word for one in found for word in one.words)
    index: dict[str, list[SentencePattern]] = {}
    for one in found:
        index.setdefault(min(one.words, key=lambda word: often[word], default=""), []).append(one)
    return index


def _cut(key: str, sentence: str, more: str = "") -> SentencePattern:
    plain = sentence.replace("\N{NO-BREAK SPACE}", " ")
    return SentencePattern(key, tuple(_PLACE.split(plain)), tuple(one[1:-1] for one in _PLACE.findall(plain)), more)


OURS: Final = re.compile(
    r'(?P<open><(?:summary|title|th scope="col"[^>]*|span class="sr"|span class="soft"|small[^>]*|p class="small soft"|td colspan="2" class="soft")>|#i-move"/></svg>)(?P<said>[^<>]+)(?=<)'
    r'|(?P<name> (?:aria-label|title)=")(?P<label>[^"]+)(?=")'
)
"""The words of ours in a comparison: captions, notes and labels."""


def localize_drawn(html: str, now: Instant, zone: tzinfo) -> str:
    """Return a comparison with its captions, notes and labels in the reader's language."""
    if get_language() == ENGLISH:
        return html

    def put(found: re.Match[str]) -> str:
        begin, text = found["open"] or found["name"], found["said"] or found["label"]
        markup = localize(unescape(text), now, zone)
        return begin + str(markup if found["open"] else escape(markup.striptags()))

    return OURS.sub(put, html)
