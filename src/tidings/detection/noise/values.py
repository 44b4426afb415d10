"""Value classes: ranges of a line that say when or how often, not what; and the edits within them
(detection §4.1).

`time` is a time relative to now ("3 hours ago"), `count` a number of views, likes or items, `took`
the server's response time, `date` and `clock` those of the poll itself. Each is a range of one
line; a year is too coarse to be noise, and a date or a clock counts only if it matches the poll, so
that an appointment, a price or "born 13 years ago" never does.

An edit is a change of values only if on both sides values of the same classes, in the same order,
contain all of its tokens. The rest of the line is compared normally, so that a price beside a
counter is reported and the counter is not.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal

import re2

from tidings.document.document import Document
from tidings.document.text.words import spans_of_chunk
from tidings.model.interval import Instant
from tidings.model.observed.change import Edit
from tidings.record import dataclass

Label = Literal["time", "count", "took", "date", "clock"]

LONGEST_LINE = 400
"""Characters of a line that are examined around a change."""

_SECOND = 1_000_000
_DAY = 86_400
_CLOCK_TOLERANCE = 180
_FEW_WORDS = 4


@dataclass(frozen=True, slots=True)
class ValueStretch:
    """A range `start:end` of a line; `seconds` is the time of day that a clock shows."""

    label: Label
    start: int
    end: int
    seconds: int = -1


_NUMBER = r"\d{1,3}(?:[.,'\u2019 \u00a0\u202f]\d{3})+(?!\d)|\d+(?:[.,]\d{1,2})?"
_MANY = rf"(?:{_NUMBER})[ \u00a0\u202f]?(?:k|m|b|mio\.?|mrd\.?|tys\.?|mln|тыс\.?|млн|万|萬|億|亿|천|만)?\+?"

_AGO = (
    r"\b(?:an?|one|few|a few|a couple of|\d{1,4})[ -]?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?|mos?|months?) ago\b",
    r"\b(?:a few )?moments? ago\b|\bjust now\b",
    r"\bvor (?:etwa |ca\. |über )?(?:einer|einem|einigen|ein paar|wenigen|\d{1,4}) (?:sek|min|std|sekunden?|minuten?|stunden?|tag(?:en)?|wochen?|monat(?:en)?)\b",
    r"\bgerade eben\b",
    r"\bil y a (?:environ )?(?:une?|quelques|\d{1,4}) ?(?:s|min|h|j|secondes?|minutes?|heures?|jours?|semaines?|mois)\b|\bà l['\u2019]instant\b",
    r"\bhace (?:unos?|unas?|\d{1,4}) (?:segundos?|minutos?|min|horas?|h|días?|semanas?|mes(?:es)?)\b",
    r"\bhá (?:cerca de )?(?:uma?|\d{1,4}) (?:segundos?|minutos?|min|horas?|h|dias?|semanas?|mês|meses)\b",
    r"\b(?:una?|un['\u2019]|\d{1,4}) ?(?:second[oi]|minut[oi]|min|or[ae]|giorn[oi]|settiman[ae]|mes[ei]) fa\b",
    r"\b(?:een|\d{1,4}) (?:seconden?|min|minuut|minuten|uur|uren|dag|dagen|week|weken|maand|maanden) geleden\b",
    r"\bf[öo]r (?:et|ett|en|\d{1,4}) (?:sekund(?:er)?|minut(?:er|ter)?|min|timm?(?:e|er|ar)|dag(?:ar|er|e)?|veck(?:a|or)|uker?|måned(?:er)?|månad(?:er)?) (?:sedan|siden)\b",
    r"\b\d{1,4} (?:sekund\w{0,2}|sek|minut\w{0,2}|min|godzin\w{0,2}|godz|dni|dzień|tydzień|tygodni\w{0,2}|miesi\w{1,4}) temu\b",
    r"(?:\b\d{1,4} )?\b(?:секунд\w{0,2}|сек|минут\w{0,2}|мин|час\w{0,2}|дн\w{1,2}|день|недел\w{1,2}|месяц\w{0,2}) назад\b",
    r"\b\d{1,4} (?:saniye|dakika|dk|saat|gün|hafta|ay) önce\b",
    r"\d{1,4} ?(?:秒|分钟|分鐘|小时|小時|天|周|週|个月|個月)前|刚刚|剛剛",
    r"\d{1,4} ?(?:秒|分|時間|日|週間|か月|ヶ月)前",
    r"\d{1,4} ?(?:초|분|시간|일|주|개월) ?전",
)
_COUNTED = (
    r"views?|hits?|visits?|visitors?|reads?|plays?|streams?|downloads?|likes?|dislikes?|shares?|claps?|upvotes?|retweets?|reposts?|followers?|subscribers?"
    r"|(?:users?|guests?|members?|people|players?|visitors?|bots?)(?: (?:are|is))?(?: (?:currently|now))? (?:online|viewing|watching|browsing|looking|here)"
    r"|guests?|bots?|online|watching(?: now)?"
    r"|aufrufe?|besucher(?:innen)?|besuche|gäste|abonnenten|gefällt mir"
    r"|vues?|visites?|visiteurs?|abonnés?|en ligne|invités|j['\u2019]aime"
    r"|vistas?|visitas?|visitantes?|visualizaciones|seguidores|suscriptores|en línea|me gusta"
    r"|visualizações|curtidas|inscritos|visualizzazioni|visitatori|iscritti|mi piace|utenti online"
    r"|weergaven|bekeken|bezoekers|volgers|visningar|visninger|besökare|wyświetleń|wyświetlenia|odsłon"
    r"|просмотр\w{0,2}|подписчик\w{0,2}|посетител\w{0,2}|görüntüleme|izlenme"
)
_EAST = r"次?(?:观看|播放|浏览|阅读|觀看|瀏覽|閱讀)|(?:回)?(?:視聴|再生|閲覧)|조회수?|人在线"
_COUNT = (
    rf"(?<![\w.,$€£¥])(?:{_MANY})[ \u00a0](?:unique |total |page |profile |registered |hidden )?(?:{_COUNTED})\b",
    rf"\b(?:{_COUNTED})[ \u00a0]?(?:[:：][ \u00a0]?|\()(?:{_MANY})(?![\w%]|[.,]\d)",
    rf"(?:{_MANY}) ?(?:{_EAST})|(?:{_EAST})[:： ]{{0,2}}(?:{_MANY})",
)
_TOOK = (
    r"\b(?:generated|rendered|loaded|created|executed|took|erzeugt|généré|generado|сгенерирован\w{0,2})(?: \w{1,12}){0,2}[: ]{1,2}"
    r"\d{1,6}(?:[.,]\d{1,9})? ?(?:ms|s|secs?|seconds?|milliseconds?|sekunden?|secondes?|segundos?|сек\w{0,4})\b"
)
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero janeiro gennaio januari января",
            "february feb februar février febrero fevereiro febbraio februari февраля",
            "march mar märz mars marzo março maart марта",
            "april apr avril abril aprile апреля",
            "may mai mayo maio maggio mei maj мая",
            "june jun juni juin junio junho giugno июня",
            "july jul juli juillet julio julho luglio июля",
            "august aug août agosto augustus augusti августа",
            "september sep sept septembre septiembre setembro settembre сентября",
            "october oct oktober okt octobre octubre outubro ottobre октября",
            "november nov novembre noviembre novembro ноября",
            "december dec dezember dez décembre diciembre dezembro dicembre декабря",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = re.compile(
    rf"(?P<y1>20\d\d)[-/.](?P<m1>\d{{1,2}})[-/.](?P<d1>\d{{1,2}})(?=T\d|\b)"
    rf"|\b(?P<d2>\d{{1,2}})[./-](?P<m2>\d{{1,2}})[./-](?P<y2>20\d\d)\b"
    rf"|\b(?P<d3>\d{{1,2}})(?:st|nd|rd|th|\.|º)? (?:de |of )?(?P<m3>{_MONTH})\.?,? (?:de )?(?P<y3>20\d\d)\b"
    rf"|\b(?P<m4>{_MONTH})\.? (?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y4>20\d\d)\b"
    r"|(?P<y5>20\d\d)年(?P<m5>\d{1,2})月(?P<d5>\d{1,2})日",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? $"
    r"|(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|mo|di|mi|do|fr|sa|so)[,.] ?$"
    r"|(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo),? $",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?<![\d:.])(?P<h>[01]?\d|2[0-3]):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d)(?:\.\d{1,6})?)?(?: ?(?P<half>[ap])\.?m\b\.?)?(?![\d:])",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"(?<![\w.,])(?P<at>1[5-9]\d{8}|2\d{9})(?:\d{3})?(?![\w.,])")
_YESTERDAY = re.compile(
    r"\b(?:yesterday|today|gestern|heute|hier|aujourd['\u2019]hui|ayer|hoy|ieri|oggi)\b", re.IGNORECASE
)
_HINT = re.compile(
    r"\d|\bago\b|now\b|moment|vor e|vor w|eben\b|il y a|instant|\bhace\b|\bhá\b|\bfa\b|geleden|s[ei]d[ae]n|назад|刚|剛|yesterday|today|gestern|heute|hier\b"
    r"|aujourd|ayer|\bhoy\b|ieri|oggi",
    re.IGNORECASE,
)
"""A cheap test that every value passes: most lines fail it."""
_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"20\d\d")
"""A part of every date."""
_OTHER_I = re.compile("[\u0130\u0131]")
"""Characters that Python, but not RE2, folds to `i`."""
_AROUND = re.compile(r"\(\?<?[!=](?:[^()\\\[]|\\.|\[[^\]]*\])*\)|\\b")
_IN_SETS = re.compile(r"\[[^\]]*\]")
_LOOSER = {r"\d": r"0-9\x80-\x{10ffff}", r"\w": r"0-9A-Za-z_\x80-\x{10ffff}"}
"""Wider sets: RE2 needs ten times as long to compile the letters and digits of Unicode."""
_SPELLED = re.compile(r"\\u([0-9a-f]{4})")
_TABLE: tuple[tuple[Label, tuple[str, ...]], ...] = (
    ("time", _AGO),
    ("count", _COUNT),
    ("took", (_TOOK,)),
)


@lru_cache(maxsize=1_024)
def values_of(line: str, at: Instant = 0) -> tuple[ValueStretch, ...]:
    """Return the values in a line, in order; `at` is the time of the poll, 0 if unknown: then it
    has no date and no clock.

    `line` has at most `LONGEST_LINE` characters, which bounds every pattern.
    """
    has_digits = _DIGIT.search(line) is not None
    if not has_digits and not (_may_have(line, (_HINT.pattern,)) and _HINT.search(line)):
        return ()
    found = [
        ValueStretch(label, *match.span())
        for label, patterns in _TABLE
        if _may_have(line, patterns)
        for match in _pattern(tuple(one for one in patterns if _may_have(line, (one,)))).finditer(line)
    ]
    found += _days(line)
    if at and has_digits:
        found += _dates(line, at)
        found += [ValueStretch("clock", *match.span(), _seconds(match)) for match in _CLOCK.finditer(line)]
    stretches: list[ValueStretch] = []
    for value in sorted(found, key=lambda value: (value.start, -value.end)):
        if not stretches or value.start >= stretches[-1].end:
            stretches.append(value)
    return tuple(stretches)


def _may_have(line: str, patterns: tuple[str, ...]) -> bool:
    """Return whether one of the patterns may match a line: one pass of RE2 excludes most lines."""
    return _OTHER_I.search(line) is not None or _loose(patterns).search(line.encode("utf-8", "replace")) is not None


@lru_cache(maxsize=64)
def _pattern(patterns: Sequence[str]) -> re.Pattern[str]:
    """Return the compiled alternatives of the patterns, guarded so that hopeless positions are
    skipped.
    """
    return re.compile("|".join(patterns) or r"(?!)", re.IGNORECASE)


@lru_cache(maxsize=64)
def _loose(patterns: Sequence[str]) -> Any:
    """Return an RE2 pattern that matches wherever one of these does: without lookarounds, and
    with any character beyond ASCII as a digit or a letter.
    """
    text = _AROUND.sub("", "|".join(patterns))
    text = _IN_SETS.sub(lambda match: _loosen(match.group(), "{}"), text)
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    return re2.compile(_SPELLED.sub(lambda code: chr(int(code[1], 16)), _loosen(text, "[{}]")), options=options)


def _loosen(text: str, form: str) -> str:
    for written, looser in _LOOSER.items():
        text = text.replace(written, form.format(looser))
    return text


def are_paired(old: ValueStretch, new: ValueStretch, elapsed: int) -> bool:
    """Return whether two values may correspond: of one class, and clocks as far apart as the polls,
    `elapsed` seconds.
    """
    if old.label != new.label:
        return False
    if old.label != "clock":
        return True
    apart = (new.seconds - old.seconds - elapsed) % _DAY
    return min(apart, _DAY - apart) <= _CLOCK_TOLERANCE


def _days(line: str) -> Iterator[ValueStretch]:
    """Yield `yesterday` if it is nearly the whole line: in a sentence it is an ordinary word."""
    if line.count(" ") < _FEW_WORDS:
        yield from (ValueStretch("time", *match.span()) for match in _YESTERDAY.finditer(line))


def _dates(line: str, at: Instant) -> Iterator[ValueStretch]:
    seen = datetime.fromtimestamp(at / _SECOND, UTC)
    for match in _DATE.finditer(line) if _YEAR.search(line) else ():
        if any(abs(day - seen.date()) <= timedelta(days=1) for day in _readings(match)):
            before = _WEEKDAY.search(line, 0, match.start())
            yield ValueStretch("date", match.start() if before is None else before.start(), match.end())
    for match in _EPOCH.finditer(line):
        if abs(int(match["at"]) - at // _SECOND) <= _DAY:
            yield ValueStretch("date", *match.span())


def _readings(match: re.Match[str]) -> Iterator[date]:
    """Yield the possible days of a date: 3/4/2026 has two."""
    groups = match.groupdict()
    form = next(number for number in "12345" if groups[f"y{number}"])
    year, month, day = (groups[f"{name}{form}"] for name in "ymd")
    first = _MONTHS[month.lower()] if month.lower() in _MONTHS else int(month)
    for a, b in {(first, int(day)), (int(day), first) if form == "2" else (first, int(day))}:
        try:
            yield date(int(year), a, b)
        except ValueError:
            continue


def _seconds(match: re.Match[str]) -> int:
    hour = int(match["h"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
    return hour * 3600 + int(match["m"]) * 60 + int(match["s"] or 0)


MOST_EDITS = 200
"""With more edits the page was rewritten, and values are not searched."""

_TOKENS_AROUND = 12

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Covered:
    """Two corresponding ranges of tokens that are noise, and the name of the mask."""

    old: Span
    new: Span
    mask: str


def values_between(
    edits: Iterable[Edit], old: Document, new: Document, old_at: Instant = 0, new_at: Instant = 0
) -> list[Covered]:
    """Return the values that changed between two documents, polled at these times (0: unknown),
    each with its counterpart.

    Args:
        edits: The changes of words.
        old: The old page.
        new: The new page.
        old_at: When the old one was polled (µs).
        new_at: When the new one was polled (µs).
    """
    listed = [*edits]
    if len(listed) > MOST_EDITS:
        return []
    elapsed = (new_at - old_at) // _SECOND
    known = bool(old_at and new_at)
    found: dict[tuple[Span, Span], Covered] = {}
    for edit in listed:
        before = _list_touched(old, edit.old_start, edit.old_end, old_at if known else 0)
        after = _list_touched(new, edit.new_start, edit.new_end, new_at if known else 0) if before else []
        if len(before) != len(after):
            continue
        for (was, gone), (now, come) in zip(before, after, strict=True):
            if are_paired(was, now, elapsed):
                found[gone, come] = Covered(gone, come, was.label)
    return list(found.values())


def _list_touched(document: Document, start: int, end: int, at: Instant) -> list[tuple[ValueStretch, Span]]:
    """Return the values that contain a token of a range, or the place of an empty one, with their
    tokens.
    """

    def is_touched(span: Span) -> bool:
        return (span[0] < end and span[1] > start) if start < end else span[0] <= start <= span[1]

    pairs = (pair for first, last in _lines(document, start, end) for pair in _values(document, first, last, at))
    found = {span: value for value, span in pairs if is_touched(span)}
    return [(found[span], span) for span in sorted(found)]


def _lines(document: Document, start: int, end: int) -> Iterator[Span]:
    """Yield the tokens of the lines of a range, limited to some words before and after it."""
    ends = document.line_ends
    first = max(0, start - 1) if start == end else start
    number = bisect_right(ends, first)
    while number < len(ends):
        begins = ends[number - 1] if number else 0
        if begins > max(start, end - 1):
            break
        if ends[number] > begins:
            yield max(begins, start - _TOKENS_AROUND), min(ends[number], end + _TOKENS_AROUND)
        number += 1


def _values(document: Document, first: int, last: int, at: Instant) -> Iterator[tuple[ValueStretch, Span]]:
    """Yield the values in tokens `first:last`, which are of one line."""
    lead, chunks = document.chunks_around(first, last)
    line = " ".join(chunks)[:LONGEST_LINE]
    found = values_of(line, at)
    if not found:
        return
    places = list(_places(line))
    for value in found:
        touched = [number for number, (start, end) in enumerate(places) if start < value.end and end > value.start]
        if touched:
            yield value, (lead + touched[0], lead + touched[-1] + 1)


def _places(line: str) -> Iterator[Span]:
    """Yield the position of each token of a line."""
    position = 0
    for chunk in line.split():
        position = line.index(chunk, position)
        yield from ((position + start, position + end) for start, end in spans_of_chunk(chunk))
        position += len(chunk)
