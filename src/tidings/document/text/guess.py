"""Guess the charset of an undeclared text that is not UTF-8, by its letters (detection §4.1).

Most such pages of the Web are windows-1252, so another charset needs evidence: text that only East
Asian charsets produce, words entirely of non-ASCII letters, or a language that windows-1252 cannot
write. charset-normalizer ranks the rest. Only a part of the text is examined; the same bytes give
the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_SEARCHED = 300_000
"""The bytes of a body that are searched for text."""

SAMPLE_BYTES = 6_000
FEWEST_BYTES = 24
"""The least number of non-ASCII bytes for a guess."""

_MARKUP = re.compile(
    rb"<(script|style)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<[^>]*>|&[#A-Za-z0-9]+;", re.DOTALL | re.IGNORECASE
)
_LANGUAGE = re.compile(rb"""<html\b[^>]{0,300}?\blang\s*=\s*["']?([A-Za-z]{2,3})""", re.IGNORECASE)
_BEYOND = re.compile(rb"[\x80-\xff]+")
_HALFWIDTH = re.compile("[\uff61-\uff9f]")
_WIDE = re.compile("[^\x00-\x7f]")
_LONG_RUN = 3
_RUNS_OF_WORDS = 0.5
"""Share of non-ASCII bytes in runs of three or more: nearly all in Russian or Greek, few in French
or Polish.
"""

_RUNS_OF_EAST_ASIA = 0.2

_EAST_ASIAN = ["gb18030", "cp932", "euc_jp", "cp949", "big5hkscs"]
_NOT_LATIN = "cp1251 koi8_r koi8_u cp866 mac_cyrillic iso8859_5 cp1253 iso8859_7 cp1255 cp1256 iso8859_6 cp874".split()
_LATIN = ["cp1250", "iso8859_2", "cp1254", "cp1257"]
_LETTERS = {
    "Croatian": "čćđšž", "Czech": "áčďéěíňóřšťúůýž", "Hungarian": "áéíóöőúüű", "Polish": "ąćęłńóśźż", "Romanian": "ăâîşţ",
    "Slovak": "áäčďéíĺľňóôŕšťúýž", "Slovene": "čšž", "Turkish": "çğıöşüâîûi̇", "Estonian": "äõöüšž", "Latvian": "āčēģīķļņšūž",
    "Lithuanian": "ąčęėįšųūž",
}  # fmt: skip
_LANGUAGES = {
    b"hr": "Croatian", b"bs": "Croatian", b"cs": "Czech", b"hu": "Hungarian", b"pl": "Polish", b"ro": "Romanian", b"sk": "Slovak",
    b"sl": "Slovene", b"tr": "Turkish", b"et": "Estonian", b"lv": "Latvian", b"lt": "Lithuanian", b"en": "",
}  # fmt: skip
_NEARLY_ALL = 0.95


def guesses(data: bytes) -> Iterator[str]:
    """Yield likely charsets (Python's names), the likeliest first; empty if windows-1252 will
    do.
    """
    lines = _sample(data)
    runs = _BEYOND.findall(lines)
    beyond = sum(map(len, runs))
    if beyond < FEWEST_BYTES:
        return
    share = sum(len(run) for run in runs if len(run) >= _LONG_RUN) / beyond
    if share >= _RUNS_OF_EAST_ASIA:
        yield from _east_asian(data, lines)
    if share >= _RUNS_OF_WORDS:
        yield from (charset for charset, _ in _rank(b" ".join(runs), _NOT_LATIN))
        return
    declared = _LANGUAGE.search(data[:4_096])
    language = _LANGUAGES.get(declared[1].lower(), "other") if declared else ""
    for charset, detected in _rank(lines, _LATIN):
        if _is_in(language or detected, lines.decode(charset, "ignore")):
            yield charset


def _is_in(language: str, text: str) -> bool:
    """Return whether nearly all non-ASCII letters are those of a language."""
    letters = [letter for letter in text.lower() if letter > "\x7f" and letter.isalpha()]
    known = _LETTERS.get(language, "")
    return len(letters) > 0 and sum(letter in known for letter in letters) >= _NEARLY_ALL * len(letters)


def _east_asian(data: bytes, lines: bytes) -> list[str]:
    """Return the East Asian charsets by rank; without a ranking, the single one that fits: no long
    text fits by chance.
    """
    fitting = [charset for charset in _EAST_ASIAN if _fits(data, charset)]
    ranked = [charset for charset, _ in _rank(lines, fitting)] if fitting else []
    return ranked or (fitting if len(fitting) == 1 else [])


def _fits(data: bytes, charset: str) -> bool:
    """Return whether a body is valid in a charset, and not just as halfwidth katakana: in Shift_JIS
    each byte of A1 to DF is one.
    """
    try:
        text = data[:MOST_SEARCHED].decode(charset, "ignore" if len(data) > MOST_SEARCHED else "strict")
    except UnicodeDecodeError:
        return False
    return charset != "cp932" or 3 * len(_HALFWIDTH.findall(text)) <= len(_WIDE.findall(text))


def _rank(sample: bytes, charsets: list[str]) -> Iterator[tuple[str, str]]:
    """Yield (charset, language) of plausible readings of a sample, the best first."""
    from charset_normalizer import from_bytes  # loaded only as a last resort

    for match in from_bytes(sample, cp_isolation=charsets, enable_fallback=False):
        yield match.encoding, match.language


def _sample(data: bytes) -> bytes:
    """Return the first lines of text with non-ASCII bytes, without tags, scripts and styles."""
    lines: list[bytes] = []
    left = SAMPLE_BYTES
    for line in _MARKUP.sub(b"\n", data[:MOST_SEARCHED]).splitlines():
        if left <= 0:
            break
        if not line.isascii():
            lines.append(line.strip()[: 2 * SAMPLE_BYTES])
            left -= len(lines[-1]) + 1
    return b"\n".join(lines)
