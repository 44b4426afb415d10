"""A text as a line of tokens: words in lower case, and values with a letter for their kind.

    Notify me@x.org every 15m between 8 and 18  →  notify M0 every V1 between N2 and N3

Patterns of `phrases` match the line; the value of a token is its text as the language writes it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from tidings.language.expressions import quote
from tidings.language.times import days_text, read_days, zone_of
from tidings.record import dataclass

LONGEST: Final = 4_000
"""The longest text that is read, in characters."""
MOST: Final = 400
"""The most tokens that are read."""

_NUMBERS: Final = {
    word: number
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
} | {"fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "sixty": 60, "hundred": 100, "thousand": 1000}
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_UNITS: Final = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "hour"),
    **dict.fromkeys(("d", "day", "days"), "day"),
    **dict.fromkeys(("w", "wk", "week", "weeks"), "week"),
    **dict.fromkeys(("month", "months", "mo"), "month"),
    **dict.fromkeys(("quarter", "quarters"), "quarter"),
    **dict.fromkeys(("y", "year", "years"), "year"),
}
_MINUTES_OF: Final = {"min": 1, "hour": 60, "day": 1_440, "week": 10_080}
DAYS_OF: Final = {"month": 30, "quarter": 91, "year": 365}
"""Units without a fixed length, in days."""
ZONES: Final = {
    **{name: name.upper() for name in ("utc", "cet", "eet")},
    "gmt": "UTC",
    "cest": "CET",
    "eest": "EET",
    "bst": "Europe/London",
    **dict.fromkeys(("pst", "pdt"), "America/Los_Angeles"),
    **dict.fromkeys(("est", "edt"), "America/New_York"),
    **dict.fromkeys(("cst", "cdt"), "America/Chicago"),
}
"""Short names of zones."""
FILLERS: Final = frozenset(
    "a an the my our your his her its this that these those which who please just really simply also then there "
    "do want like would should can could i we".split()
)
"""Words that say nothing here."""
TAGS: Final = frozenset(
    "a article aside body button code dd div dl dt em footer form h1 h2 h3 h4 h5 h6 header iframe img input label li "
    "main nav ol p pre section span strong table tbody td th thead time title tr ul".split()
)
"""Elements of HTML that people name."""
_DAY: Final = r"(?:mon|tue|tues|wed|weds|thu|thur|thurs|fri|sat|sun)(?:days?|nesdays?|rsdays?|urdays?)?s?"
_DAYS: Final = rf"(?:{_DAY}|week-?\s?days?|week-?ends?|(?:working|work|business)[\s-]?days?)"
_MONTH: Final = rf"(?:{'|'.join(_MONTHS)})[a-z]*\.?"
_BRACKETS: Final = r"""\[(?:[^\]"']|"[^"]*"|'[^']*')*\]"""
_CRON: Final = r"[\d*][\d*/,-]*"
_CSS: Final = r"(?:[.\#:][a-z_][\w-]*(?:\(\d+\))?)"
_UNIT: Final = rf"(?:{'|'.join(sorted(_UNITS, key=len, reverse=True))})"
_CURRENCY: Final = (
    r"(?:[$€£¥]|(?:eur|usd|gbp|chf|jpy|aud|cad|sek|nok|dkk|pln|czk|euros?|dollars?|pounds?|francs?|bucks)\b)"
)
_TOKEN: Final = re.compile(
    rf"""
      (?P<skip> \s+ | --[^\n]* )
    | (?P<T> "(?:[^"\\\n]|\\.)*"
        | (?<!\w)['‘’“”„«‚`](?=\S)[^'‘’“”„«»`"\n]*['’“”»`](?!\w) | (?<!\w)'(?=[{{\[])[^'\n]*'(?!\w) )
    | (?P<U> (?:https?|file)://[^\s"<>]*[^\s"<>,;.)] | www\.[\w-]+(?:\.[\w-]+)+(?:/[^\s"<>,;]*)? )
    | (?P<A> ntfy\.sh/[\w-]+ | [@\#!][\w-]+:[\w-]+(?:\.[\w-]+)+ | (?<=\s)@[a-z]\w{{4,}}(?!\S) | (?!xpath:|css:|jsonpath:)[a-z][a-z0-9+.-]*://[^\s"<>]*[^\s"<>,;.)] )
    | (?P<L> <(?!=|\s*-?\d[\d.,]*\s+(?:and|or)\b)(?:[^<>"\n=]|"[^"\n]*")+> )
    | (?P<R> (?<![^\s(,:=])/(?![\s/*])(?:[^/\\"\n]|\\.)+/[a-z]*(?![^\s,;)])
        | (?:(?<=regex[ ])|(?<=regexp[ ])|(?<=pattern[ ]))(?=[^"\n]*\\)[^"\s/][^"\n]*$ )
    | (?P<X> (?<![^\s(:])//?[a-z*@.](?:[^\s"'\[\],;]|{_BRACKETS})*(?<![.,]) )
    | (?P<M> (?:mailto:)?[^\s@,;<>"():]+@[^\s@,;<>"()]*[^\s@,;<>"().] )
    | (?P<J> (?<![^\s(])\$(?:\.{{1,2}}[\w*]|\[)(?:[^\s"',;\[\]]|{_BRACKETS})*(?<![.,]) )
    | (?P<W> (?<![^\s"])(?:(?:{_CRON}\s+){{2}}(?:{_CRON}|\?)\s+{_CRON}\s+
        (?:{_CRON}|\?|[a-z]{{3}}(?:[,-][a-z]{{3}})*)|@[a-z]+)(?![^\s"]) )
    | (?P<D> \d{{4}}-\d\d?-\d\d?(?:[T ]\d\d?:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)? | \d\d?\.\d\d?\.\d{{4}}
        | \d\d?/\d\d?/(?:\d{{4}}|\d\d) | \d\d?(?:\.|st|nd|rd|th)?\s+(?:of\s+)?{_MONTH},?\s+\d{{4}}
        | {_MONTH}\s+\d\d?(?:st|nd|rd|th)?,?\s+\d{{4}} )
    | (?P<C> \d\d?(?::|h(?!\d\d\s?m))\d\d(?:\s?[ap]\.?m\b\.?)? | \d\d?\s?[ap]\.?m\b\.? | \d\d?\s?o['’]?clock )
    | (?P<G> \+\d[\d ()-]{{6,}}\d )
    | (?P<P> \d+(?:[.,]\d+)?\s?(?:%|per\s?cent\b|percent\b) )
    | (?P<V> (?:\d+(?:\.\d+)?\s?|(?:{"|".join(_NUMBERS)})\s+|half\s+(?:an?\s+)?|(?:an?\s+)?quarter\s+of\s+an?\s+
        |(?:a\s+)?couple\s+of\s+){_UNIT}(?:\s*(?:and\s+)?\d+\s?{_UNIT})*(?![\w.]) )
    | (?P<N> {_CURRENCY}?\s?(?<![\w.])-?\d+(?:[.,]\d+)*(?:st|nd|rd|th)?\s?{_CURRENCY}?(?:(?=x\b)|(?!\w)) )
    | (?P<Y> {_DAYS}(?:\s*(?:-|–|to|through|till|until|,|and|&|/|or)\s*{_DAYS})*(?!\w) )
    | (?P<Z> [a-z]+/[a-z_]+(?:/[a-z_]+)?(?![\w/.]) )
    | (?P<S> (?<![^\s(,:])(?:[.\#][a-z_][\w-]*|(?:{"|".join(sorted(TAGS, key=len, reverse=True))}){_CSS}){_CSS}* )
    | (?P<word> \dxx\b | [^\W\d_][\w'’]*(?:-\w+)*(?:\.\w[\w-]*)* )
    | (?P<mark> [<>!]=|==|=>|<>|\S )
    """,
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text: their `line`, each with a blank behind it, and for each its start in
    the line and in the text, its end there, and its value.
    """

    line: str
    starts: tuple[int, ...]
    places: tuple[tuple[int, int], ...]
    values: tuple[str, ...]

    def value(self, at: int) -> str:
        """Return the value of the token at a position of the line."""
        return self.values[bisect_right(self.starts, at) - 1]

    def place(self, at: int) -> tuple[int, int]:
        """Return where the token at a position of the line stands in the text."""
        return self.places[bisect_right(self.starts, at) - 1]


@lru_cache(maxsize=64)
def tokens_of(text: str) -> Tokens:
    """Return the tokens of a text; none if it is too long."""
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    values: list[str] = []
    for found in _TOKEN.finditer(text) if len(text) <= LONGEST else ():
        kind = found.lastgroup or ""
        if kind == "skip":
            continue
        raw = found[0]
        kind, value = _read(kind, raw)
        if kind == "word" and value.lower() in FILLERS and not (value.lower() == "a" and _is_named(value, pieces)):
            continue
        pieces.append(value.lower() if kind in {"word", "mark"} else f"{kind}{len(values)}")
        values.append(value)
        places.append(found.span())
        if len(values) > MOST:
            return Tokens("", (), (), ())
    starts, at = [], 0
    for piece in pieces:
        starts.append(at)
        at += len(piece) + 1
    return Tokens("".join(f"{piece} " for piece in pieces), tuple(starts), tuple(places), tuple(values))


_BEFORE_NAMES: Final = (
    *("keyword", "keywords", "or", "sentinel", "tags", "tag", "tagged", "label", "labels", "group", "folder"),
    *("category", "user", "username", "basic"),
)


def _is_named(letter: str, before: list[str]) -> bool:
    """Return whether the letter a is a name and no article."""
    return letter == "A" or before[-1:] in [[word] for word in _BEFORE_NAMES]


def _read(kind: str, raw: str) -> tuple[str, str]:
    """Return the kind of a token, which its text may decide, and its value."""
    reader = _READERS.get(kind)
    value = reader(raw) if reader else raw
    if kind == "T" and re.fullmatch(r'"https?://[^\s"]+"', value):
        return "U", value[1:-1]
    if kind == "word" and raw.lower() in ZONES:
        return "Z", ZONES[raw.lower()]
    if kind == "word" and raw.lower() in _NUMBERS and raw.lower() not in {"one", "zero"}:
        return "N", str(_NUMBERS[raw.lower()])
    if kind == "Z" and zone_of(value) is None:
        return "word", raw
    if kind == "word" and raw.lower() in {"noon", "midday", "midnight"}:
        return "C", "00:00" if raw.lower() == "midnight" else "12:00"
    return kind, value


def _text(raw: str) -> str:
    return raw if raw[0] == '"' else quote(raw[1:-1])


def _pattern(raw: str) -> str:
    """Return a pattern between slashes as a text, with its flag i."""
    if raw[0] != "/":
        return f'"{raw.strip()}"'
    body, _, flags = raw[1:].rpartition("/")
    body = body.replace("\\/", "/")
    return f'"{"(?i)" if "i" in flags.lower() else ""}{body}"'


def _date(raw: str) -> str:
    """Return a date in words, or with points, as the language writes it."""
    if found := re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", raw):
        return f"{found[3]}-{int(found[2]):02}-{int(found[1]):02}"
    if found := re.search(rf"\b(?:{'|'.join(_MONTHS)})", raw, re.IGNORECASE):
        month = _MONTHS.index(found[0].lower()) + 1
        day, year = re.findall(r"\d+", raw)
        return f"{year}-{month:02}-{int(day):02}"
    return raw


def _clock(raw: str) -> str:
    """Return a time of day."""
    time = re.sub(r"\s|\.|o['’]?clock", "", raw.lower())
    if time.isdigit():
        return f"{int(time):02}:00"
    return re.sub(r"(?<=\d)h(?=\d)", ":", time)


def _number(raw: str) -> str:
    """Return a number without currency and thousands separators."""
    digits = re.sub(r"[^\d.,-]", "", re.sub(_CURRENCY, "", raw, flags=re.IGNORECASE))
    if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        return digits.replace(",", "")
    if re.fullmatch(r"-?\d{1,3}(?:\.\d{3})+,\d+", digits):
        digits = digits.replace(".", "")
    return digits.replace(",", ".").rstrip(".")


def _percent(raw: str) -> str:
    return f"{_number(re.sub(r'(?:%|per ?cent).*', '', raw, flags=re.IGNORECASE))}%"


def _duration(raw: str) -> str:
    """Return a duration in a unit of the language; months and years in days."""
    text = " ".join(raw.lower().split())
    parts = re.findall(rf"(\d+)\s?({_UNIT})", text)
    if len(parts) > 1:
        return f"{sum(int(number) * _MINUTES_OF.get(_UNITS[name], 0) for number, name in parts)} min"
    unit = _UNITS[re.split(r"[\d\s.]+", text)[-1]]
    if text.startswith("half"):
        return {"hour": "30 min", "day": "12 hour", "year": "182 day"}.get(unit, f"1 {unit}")
    if "quarter of" in text:
        return "15 min" if unit == "hour" else "6 hour"
    first = re.split(r"(?<=\d)(?=[a-z])|\s", text)[0]
    number = "2" if "couple" in text else str(_NUMBERS.get(first, first))
    return lengthen(number, unit)


def lengthen(number: str, unit: str) -> str:
    """Return a duration whose unit may be a month, a quarter or a year."""
    if unit in DAYS_OF:
        return f"{round(float(number) * DAYS_OF[unit])} day"
    return f"{number} {unit}"


def _days(raw: str) -> str:
    """Return days of the week."""
    days = re.sub(r"(?:working|work|business)[\s-]?days?", "weekdays", raw.lower())
    days = re.sub(r"week[\s-]?(day|end)s?", r"week\1s", days)
    days = re.sub(r"\s*(?:-|–|\bto\b|\bthrough\b|\btill\b|\buntil\b)\s*", "-", days)
    words = [word for word in re.split(r"\s*(?:,|\band\b|&|/|\bor\b)\s*", days) if word]
    return days_text(read_days(words))


_READERS: Final[dict[str, Callable[[str], str]]] = {
    "T": _text,
    "A": lambda raw: raw if "://" in raw else re.sub("^ntfy.sh/", "ntfy://", raw),
    "U": lambda raw: raw if ":/" in raw else f"https://{raw}",
    "M": lambda raw: re.sub("^mailto:", "", raw, flags=re.IGNORECASE),
    "R": _pattern,
    "D": _date,
    "C": _clock,
    "N": _number,
    "P": _percent,
    "V": _duration,
    "Y": _days,
    "S": quote,
    "X": quote,
    "J": quote,
}
"""How the values of tokens are written."""

_MOST_REPEATED: Final = 6
"""How often a part of a phrase is repeated at most, so that no text takes long."""
_SIGNS: Final = re.compile(
    r"(?P<blank>\s+)|(?P<open>\[|\()|(?P<close>[\])][*+]?)|(?P<or>\|)|(?P<look>[=!]\()|(?P<end>\$)"
    r"|<(?P<kind>[A-Z]+|w)(?P<many>\+?)>|(?P<take>\{)|(?P<taken>\})|\\(?P<sign>[\[\](){}|]|[^\s\w|\[\](){}\\]+)|(?P<word>[^\s\[\](){}|<>!$\\]+)"
)
_WORD: Final = r"(?![A-Z]\d)[^\W\d][\w'’.-]* "
_BETWEEN: Final = r"(?:(?:,|or|and|&|\||/) )*"


def compile_phrase(phrase: str) -> re.Pattern[str]:
    """Return the pattern of a phrase in the notation of `phrases.txt`."""
    parts: list[str] = []
    closes: list[str] = []
    for found in _SIGNS.finditer(phrase):
        place, kind = found[0], found.lastgroup
        is_taken = "=(" not in closes and "!(" not in closes
        if kind in {"kind", "many"}:
            one = _WORD if found["kind"] == "w" else f"[{found['kind']}]\\d+ "
            between = r"(?:(?:,|or) )+" if found["kind"] == "w" else _BETWEEN
            more = f"(?:{between}{one}){'+' if found['kind'] == 'w' else '*'}"
            whole = one + more if found["many"] else one
            parts.append(f"({whole})" if is_taken else f"(?:{whole})")
        elif kind in {"word", "sign"}:
            parts.append(f"{place if kind == 'word' else re.escape(found['sign'])} ")
        elif kind in {"open", "look", "take"}:
            closes.append(place)
            parts.append({"=(": "(?=", "!(": "(?!", "{": "(" if is_taken else "(?:"}.get(place, "(?:"))
        elif kind in {"close", "taken"}:
            opened = closes.pop()
            least = 1 if place.endswith("+") else 0
            parts.append(f"){{{least},{_MOST_REPEATED}}}" if place[1:] else ")?" if opened == "[" else ")")
        elif kind != "blank":
            parts.append(place)
    return re.compile("".join(parts))
