"""Detect the charset of a body: in one documented order, and never with an error.

1. a byte-order mark; 2. the `charset` of the Content-Type header; 3. a declaration inside the body
   (`<meta>`, XML declaration); 4.
UTF-8, if the bytes are valid and have no pattern of NUL bytes as in 6; 5. the charset of the page's
last version; 6. statistics: the pattern of NUL bytes of UTF-16 and UTF-32, else the letters
(detection §4.1); 7. windows-1252.

A declaration that the bytes contradict gives way to the next that fits. If none does, it is used
with replacements, consistently: a body that was cut or damaged in a few places is still in its
charset. If most letters contradict it, it is wrong, and the letters decide, as without one; what
they do not decide is read as UTF-8 where it is that, and as windows-1252 elsewhere.

A label `utf-16` without a mark leaves the byte order to the NUL bytes. Bytes cannot contradict a
one-byte charset: if the last version was in a multi-byte charset and the bytes fit that too, the
last one holds, since servers that lose their charset setting fall back to such a declaration
(detection §6 no. 4).

Most undeclared pages of the Web are windows-1252, so another charset needs evidence: text that only
East Asian charsets produce, words entirely of non-ASCII letters, or a language that windows-1252
cannot write. charset-normalizer ranks the rest. Only a part of the text is examined; the same bytes
give the same answer.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Literal

from tidings.record import dataclass

Source = Literal["bom", "header", "meta", "utf-8", "last good", "statistics", "fallback"]

_FALLBACK = "cp1252"
_EXAMINED = 4_096
_HEADER = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
_META = re.compile(rb"""<meta\b[^>]{0,500}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:\-]+)""", re.IGNORECASE)
_XML = re.compile(rb"""\A(?:\s|\xef\xbb\xbf)*<\?xml\b[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9_.:\-]+)""")
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_LABEL = re.compile(r"[A-Za-z0-9_.:\-]{1,40}")

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# Browsers' replacements of declared charsets (WHATWG Encoding, "names and labels"), where Python
# knows a wider one.
_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
_MULTIBYTE = frozenset(
    "utf-8 utf-16-le utf-16-be utf-32-le utf-32-be utf-16 utf-32 gb18030 cp932 cp949 big5hkscs euc_jp hz iso2022_jp iso2022_kr johab".split()
)
_ONE_BYTE = frozenset(
    "cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp437 cp720 cp737 cp775 cp850 cp852 cp855 cp857 cp858 cp860 cp861 cp862 "
    "cp863 cp864 cp865 cp866 cp869 cp874 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 "
    "iso8859-14 iso8859-15 iso8859-16 koi8-r koi8-u kz1048 mac-cyrillic mac-greek mac-iceland mac-latin2 mac-roman mac-turkish ptcp154".split()
)
_ALIASES = {
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "x-mac-cyrillic": "mac-cyrillic",
    "windows-874": "cp874",
    "x-gbk": "gb18030",
    "utf8mb4": "utf-8",
}


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, its charset (Python's name) and what decided it; `wrong` is a declared charset that
    most letters contradict.
    """

    text: str
    charset: str
    source: Source
    data: bytes | None = None
    wrong: str = ""

    @property
    def utf8(self) -> bytes:
        """Return the text in UTF-8; for a UTF-8 body its own bytes."""
        return self.text.encode("utf-8", "replace") if self.data is None else self.data


def decode(data: bytes, content_type: str | None = None, *, last_good: str = "") -> Decoded:
    """Return the text of a body, by the order above. Never fails."""
    for mark, charset in _MARKS:
        if data.startswith(mark):
            return Decoded(_replace(data[len(mark) :], charset), charset, "bom")
    last = find_charset(last_good)
    declared: tuple[str, Source] | None = None
    wide = _by_zeros(data)
    for label, source in _list_declared(data, content_type):
        # These labels leave the byte order to a mark, which is missing.
        charset = wide or label if label in {"utf-16", "utf-32"} else label
        declared = declared or (charset, source)
        text = strictly(data, charset)
        if text is None:
            continue
        if charset in _ONE_BYTE and last in _MULTIBYTE and (better := strictly(data, last)) is not None:
            return Decoded(better, last, "last good")
        return _whole(text, charset, source, data)
    if wide is None and (text := strictly(data, "utf-8")) is not None:
        return _whole(text, "utf-8", "utf-8", data)
    wrong = ""
    if declared is not None:
        text = _replace(data, declared[0])
        if not _is_contradicted(text, declared[0]):
            return Decoded(text, *declared)
        wrong = declared[0]
    if last and (text := strictly(data, last)) is not None:
        return Decoded(text, last, "last good", wrong=wrong)
    if wide is not None:
        return Decoded(_replace(data, wide), wide, "statistics", wrong=wrong)
    if (guessed := _guess(data)) is not None:
        return Decoded(*guessed, "statistics", wrong=wrong)
    if declared is not None:
        return Decoded(data.decode(wrong, _WITH_WESTERN if wrong == "utf-8" else "replace"), *declared, wrong=wrong)
    return Decoded(_replace(data, _FALLBACK), _FALLBACK, "fallback")


def find_charset(label: str) -> str:
    """Return Python's name of the charset of a label, or "" for an invalid one (`rot13`)."""
    label = label.strip().lower()
    if not _LABEL.fullmatch(label):
        return ""
    if label in _ALIASES:
        return _ALIASES[label]
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return ""
    name = _WIDER.get(name, name)
    return name if name in _MULTIBYTE or name in _ONE_BYTE else ""


def strictly(data: bytes, charset: str) -> str | None:
    """Return the text of the bytes in a known charset, or None if they are invalid in it."""
    if charset == _FALLBACK:
        return _replace(data, charset)
    try:
        return data.decode(charset)
    except UnicodeError:
        return None


def _whole(text: str, charset: str, source: Source, data: bytes) -> Decoded:
    return Decoded(text, charset, source, data if charset == "utf-8" else None)


def _list_declared(data: bytes, content_type: str | None) -> Iterator[tuple[str, Source]]:
    if content_type and (label := _HEADER.search(content_type)) and (charset := find_charset(label[1])):
        yield charset, "header"
    head = data[:_EXAMINED]
    if b"charset" not in head.lower() and b"encoding" not in head:
        return
    head = _COMMENT.sub(b"", head)
    inside = _XML.search(head) or _META.search(head)
    if inside and (charset := find_charset(inside[1].decode("ascii"))):
        # A declaration that is readable as ASCII is not in a wide charset, whatever it says (WHATWG
        # HTML, prescan).
        yield ("utf-8" if charset.startswith(("utf-16", "utf-32")) else charset), "meta"


def _by_zeros(data: bytes) -> str | None:
    """Return the wide charset that matches the positions of the zero bytes, or None."""
    sample = data[:_EXAMINED]
    if sample.count(0) * 5 < len(sample) or len(sample) < 4:
        return None
    zeros = [sample[start::4].count(0) for start in range(4)]
    if min(zeros[2:]) * 4 > len(sample) * 3 // 4:
        return "utf-32-le"
    if min(zeros[:2]) * 4 > len(sample) * 3 // 4:
        return "utf-32-be"
    return "utf-16-be" if zeros[0] + zeros[2] > zeros[1] + zeros[3] else "utf-16-le"


def _guess(data: bytes) -> tuple[str, str] | None:
    """Return text and charset of a body by its letters, if they are conclusive and the whole body
    is valid in it.
    """
    for guess in guesses(data):
        charset = find_charset(guess)
        if charset and (text := strictly(data, charset)) is not None:
            return text, charset
    return None


def _replace(data: bytes, charset: str) -> str:
    """Return the decoded text with U+FFFD for invalid bytes; the five holes of windows-1252 are
    control characters, as in browsers.
    """
    if charset != _FALLBACK:
        return data.decode(charset, "replace")
    text = data.decode(charset, "replace")
    return data.decode("latin-1").translate(_WESTERN) if "\ufffd" in text else text


def _is_contradicted(text: str, charset: str) -> bool:
    """Return whether a declared charset is wrong by the letters beyond ASCII that it lost: more
    than one, since a body that was cut loses its last, and half of them. In the charsets of East
    Asia most bytes of others are valid: there a tenth.
    """
    lost = text.count(_LOST)
    return lost > 1 and (2 if charset == "utf-8" else 10) * lost > len(text) - len(text.encode("ascii", "ignore"))


def _read_western(error: UnicodeError) -> tuple[str, int]:
    """Return the letters of windows-1252 for bytes that are invalid in UTF-8."""
    assert isinstance(error, UnicodeDecodeError)  # noqa: S101 - only used to decode
    return error.object[error.start : error.end].decode("latin-1").translate(_WESTERN), error.end


_LOST = "\ufffd"
_WITH_WESTERN = "tidings.windows-1252"
codecs.register_error(_WITH_WESTERN, _read_western)
_WESTERN = {byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(0x80, 0xA0)}


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
