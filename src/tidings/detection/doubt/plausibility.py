"""Decide whether an answer is the page, or something in its place (detection §4.1, sentinels §5.3).

Walls, logins, errors with status 200, empty, collapsed and damaged bodies. A suspicious body never
makes a version; the caller may poll again. At the first poll nothing is known of the page, so only
walls, errors and empty bodies are detected.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from typing import Final, Literal
from urllib.parse import SplitResult, urlsplit

from tidings.detection.doubt.walls import FAR_BELOW, HEAD_BYTES, RuleInput, find_wall, redirects, size_of
from tidings.document.document import Document
from tidings.record import dataclass

Suspicion = Literal["", "blocked", "soft_error", "collapsed", "empty", "login", "other_type"]
"""What an answer may be instead of the page."""
Verdict = tuple[Suspicion, str]

PLAUSIBLE: Verdict = ("", "")

FEWEST_USUAL = 20
"""The least usual words of a page that can collapse: a short page changes by halves."""

_LEFT_OF_DATA = {"json": 30, "xml": 60, "feed": 60}
"""Words from which data does not count as collapsed: lists of current things shrink normally; an
empty list has fewer.
"""

_LONGEST_LOGIN = 0.6
_SHOWN = tuple(b"<frame <iframe <object <embed <video <audio <canvas <svg <input <button refresh".split())
_TAIL = 2_048
_LOST = "\ufffd"
_LEAD = b"\xc3"
"""The first UTF-8 byte of each letter that was itself a first byte of UTF-8 (U+00C2 to U+00F4)."""

_FEW_LETTERS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A body, and what is known of its page.

    `usual_words` is the median of its last versions, None at the first poll; `reference` returns
    the newest readable version, if there is one, `reference_data` its bytes, `reference_url` their
    address. `url` is where the answer came from, `asked_url` the requested address; `is_same_text`
    says that the text is that of the newest version, `is_unframed` that only the end of the
    connection ended the body. An answer with an error `status` is judged by walls only.
    """

    document: Document
    data: bytes
    url: str = ""
    asked_url: str = ""
    status: int = 200
    is_unframed: bool = False
    usual_words: int | None = None
    usual_title: str = ""
    reference_data: bytes = b""
    reference_url: str = ""
    reference: Callable[[], Document | None] = lambda: None
    is_same_text: bool = False


def judge(answer: Answer) -> Verdict:
    """Return (kind of suspicion, a sentence with the rule and its evidence), or `PLAUSIBLE`."""
    document = answer.document
    if document.problem:
        return PLAUSIBLE
    words = document.words
    if answer.status >= 400:
        return PLAUSIBLE if document.textless else _wall(answer, words)
    if document.textless:
        return _other_type(answer, words)
    for check in (_empty, _wall, _elsewhere, _login, _error_object, _other_type, _judge_collapse, _judge_damage):
        verdict = check(answer, words)
        if verdict[0]:
            return verdict
    return PLAUSIBLE


def _empty(answer: Answer, words: int) -> Verdict:
    if words:
        return PLAUSIBLE
    if not answer.data.strip():
        return "empty", "the body is empty"
    document = answer.document
    if document.media != "html":
        return PLAUSIBLE
    # A wall may be only a script: its markup says more than that it is empty.
    found = _wall(answer, words)
    if found[0]:
        return found
    if answer.usual_words:
        return "empty", f"it has no text; {_usually(answer)}"
    if answer.usual_words is None and not (
        document.links or document.images or document.scripts or _shows(answer.data)
    ):
        return "empty", "it has no text, links, images or scripts"
    return PLAUSIBLE


_TYPES: Final = {
    "html": "an HTML page", "feed": "a feed", "xml": "XML", "json": "JSON", "text": "plain text", "pdf": "a PDF", "binary": "a file of another type",
}  # fmt: skip
_ALIKE: Final = frozenset({("xml", "feed"), ("text", "json"), ("text", "xml"), ("text", "feed"), ("binary", "pdf")})
"""(type before, type now) of data that is only detected better than before."""
_PROSE: Final = frozenset({"html", "text", "csv"})
"""Types that are guessed if undeclared: one may become another by a single tag."""


def _other_type(answer: Answer, _: int) -> Verdict:
    """Judge an answer of another type than before: the home page for a feed, an error page for a
    PDF.
    """
    reference = answer.reference() if answer.usual_words is not None and not answer.is_same_text else None
    if reference is None or reference.problem:
        return PLAUSIBLE
    before, now = reference.media, answer.document.media
    if (
        before == now
        or (before, now) in _ALIKE
        or {before, now} <= _PROSE
        or (before == "json" and answer.data.lstrip()[:1] in {b"{", b"["})
    ):
        return PLAUSIBLE
    return "other_type", f"the answer is {_TYPES.get(now, now)}, the page was {_TYPES.get(before, before)}"


def _error_object(answer: Answer, _: int) -> Verdict:
    """Judge a small JSON object that holds only an error, on a page that had other content."""
    if answer.usual_words is None or answer.document.media != "json" or len(answer.data) > _LARGEST_ERROR:
        return PLAUSIBLE
    error = _error_key(answer.data)
    if not error or _error_key(answer.reference_data) == error:
        return PLAUSIBLE
    return "soft_error", f"the answer is JSON with {error!r}"


def _error_key(data: bytes) -> str:
    """Return the key under which a JSON object reports an error, empty if there is none."""
    try:
        value = json.loads(data) if len(data) <= _LARGEST_ERROR else None
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict) or len(value) > _MOST_ERROR_KEYS:
        return ""
    named = (
        key for key, text in value.items() if key.lower() in _ERROR_KEYS and text not in (None, False, "", 0, [], {})
    )
    coded = (
        key for key, text in value.items() if key.lower() in _CODE_KEYS and isinstance(text, int) and 400 <= text < 600
    )
    return next(itertools.chain(named, coded), "")


_LARGEST_ERROR = 4_096
_MOST_ERROR_KEYS = 8
_ERROR_KEYS = frozenset({"error", "errors", "error_message", "errormessage", "error_description", "exception", "fault"})
_CODE_KEYS = frozenset({"status", "statuscode", "status_code", "code", "errorcode", "error_code", "httpstatus"})


def _shows(data: bytes) -> bool:
    """Return whether a page without text has other content: frames, a drawing, a video, a timed
    redirect.
    """
    lowered = data.lower()
    return any(shown in lowered for shown in _SHOWN)


def _wall(answer: Answer, words: int) -> Verdict:
    document = answer.document
    if document.media != "html":
        return PLAUSIBLE
    found = find_wall(
        RuleInput(
            head=answer.data[:HEAD_BYTES],
            title=document.title,
            chunks=document.chunks,
            words=words,
            size=size_of(words, len(document.canonical)),
            usual_words=answer.usual_words,
            usual_title=answer.usual_title,
            is_error=answer.status >= 400,
        )
    )
    if found is None:
        return PLAUSIBLE
    return found[0], f"{found[1]}; {_words(answer, words)}"


def _elsewhere(answer: Answer, words: int) -> Verdict:
    """Judge a redirect of a known page: to a login, a consent page, an error page, the home
    page.
    """
    if answer.document.media != "html" or not answer.asked_url or answer.asked_url == answer.url:
        return PLAUSIBLE
    asked, final, before = _split(answer.asked_url), _split(answer.url), _split(answer.reference_url)
    if asked is None or final is None or _place(final) in {_place(asked), _place(before) if before else None}:
        return PLAUSIBLE
    found = _leads_to(asked, final)
    is_known = answer.usual_words is not None and not _is_as_usual(answer, words)
    if found is None or not (is_known or found[0] == "blocked"):
        return PLAUSIBLE
    return found[0], f"the answer came from {answer.url}, {found[1]}; {_words(answer, words)}"


def _leads_to(asked: SplitResult, final: SplitResult) -> tuple[Suspicion, str] | None:
    words = redirects()
    label = _label(final) if _label(final) != _label(asked) else ""
    segments = _segments(final) - _segments(asked)
    if (final.hostname or "").endswith(words.blocked_hosts) or segments & words.blocked:
        return "blocked", "which is a check against robots"
    if label in words.consent_hosts or segments & words.consent:
        return "blocked", "which asks for consent"
    if label in words.login_hosts or segments & words.login:
        return "login", "which is a log-in"
    if segments & words.error:
        return "soft_error", "which is an error page"
    if final.path in {"", "/"} and not final.query and not _is_home(asked):
        return "soft_error", "which is the home page"
    return None


def _login(answer: Answer, words: int) -> Verdict:
    usual = answer.usual_words
    if usual is None or not answer.document.password or words >= _LONGEST_LOGIN * usual:
        return PLAUSIBLE
    if answer.document.title == answer.usual_title and words >= FAR_BELOW * usual:
        return PLAUSIBLE
    reference = answer.reference()
    if reference is not None and reference.password:
        return PLAUSIBLE
    return "login", f"it asks for a password; {_words(answer, words)}"


def _judge_collapse(answer: Answer, words: int) -> Verdict:
    usual = answer.usual_words
    if usual is None or usual < FEWEST_USUAL or words >= FAR_BELOW * usual:
        return PLAUSIBLE
    if words >= _LEFT_OF_DATA.get(answer.document.media, words + 1):
        return PLAUSIBLE
    return "collapsed", f"most of the page is gone: {_words(answer, words)}"


def _judge_damage(answer: Answer, _: int) -> Verdict:
    """Judge a body that is complete by its framing and incomplete by its content, compared with the
    version before.
    """
    if answer.usual_words is None or not answer.reference_data:
        return PLAUSIBLE
    if answer.is_unframed and 2 * len(answer.data) < len(answer.reference_data):
        return (
            "collapsed",
            "it ended with the connection, and is less than half as long as the version before",
        )
    if missing := _missing_end(answer):
        return "collapsed", f"it is cut: {missing}, unlike in the version before"
    if _has_broken_letters(answer):
        return "collapsed", "its letters are broken: they were written in one charset and read in another"
    return PLAUSIBLE


def _missing_end(answer: Answer) -> str:
    """Return the part at the end of the version before that this one lacks."""
    media, data, before = answer.document.media, answer.data, answer.reference_data
    tail, tail_before = data[-_TAIL:].rstrip().lower(), before[-_TAIL:].rstrip().lower()
    if media == "html":
        for end in (b"</html", b"</body"):
            if end in tail_before:
                return "" if b"</html" in tail or b"</body" in tail else f"there is no {end.decode()}> at its end"
        is_open = tail.rfind(b"<") > tail.rfind(b">") and tail_before.rfind(b"<") < tail_before.rfind(b">")
        return "its last tag is not closed" if is_open else ""
    if media in {"xml", "feed"}:
        end = tail_before[tail_before.rfind(b"</") :] if tail_before.endswith(b">") else b""
        is_end = end.startswith(b"</") and len(end) < len(tail_before)
        return f"there is no {end.decode('ascii', 'replace')} at its end" if is_end and end not in tail else ""
    if media == "text" and data.lstrip()[:1] in {b"{", b"["} and tail_before[-1:] in {b"}", b"]"}:
        reference = answer.reference()
        return "its last bracket is not closed" if reference is not None and reference.media == "json" else ""
    return ""


def _has_broken_letters(answer: Answer) -> bool:
    """Return whether letters that the version before has are lost, encoded twice, or question
    marks.
    """
    document = answer.document
    if answer.data.isascii():
        return not answer.reference_data.isascii() and "?" in document.text and _are_question_marks(answer)
    lost = document.text.count(_LOST) if _LOST in document.text else 0
    twice = _twice_encoded(document.text) if _LEAD in document.canonical else 0.0
    if lost < _FEW_LETTERS and twice < _MANY_TWICE:
        return False
    reference = answer.reference()
    if reference is None or reference.problem:
        return False
    if lost >= _FEW_LETTERS and lost > 2 * reference.text.count(_LOST):
        return True
    return twice >= _MANY_TWICE and twice > 2 * _twice_encoded(reference.text)


def _are_question_marks(answer: Answer) -> bool:
    """Return whether at least half of the words with other letters that are gone have `?` in their
    place; one in an address is none. A space of another kind is a letter here: it is lost as well.
    """
    reference = answer.reference()
    if reference is None or reference.problem:
        return False
    now = _WORDS.findall(answer.document.text)
    unchanged, marked = set(now), {_MARKS.sub("?", word) for word in now if "?" in word}
    gone = [word for word in _WORDS.findall(reference.text) if not word.isascii() and word not in unchanged]
    lost = sum(_MARKS.sub("?", word) in marked for word in gone)
    return lost >= _FEW_LETTERS and lost >= len(gone) / 2


_WINDOWS_1252 = {
    ord(character): byte
    for byte in range(256)
    for character in {bytes([byte]).decode("cp1252", "replace").replace("\ufffd", chr(byte)), chr(byte)}
}
_LETTERS = re.compile("[^\x00-\x7f\xa0][^\x00-\x7f]*")
_WORDS = re.compile("[^ \t\n\r\f\v]+")
_MARKS = re.compile(r"[^\x00-\x7f]+|\?+")
"""Letters, and what is left of them where they are lost: a `?` a letter, or a byte."""
_ENOUGH_RUNS = 50
_LONGEST_RUN = 300
_MANY_TWICE = 0.2


def _twice_encoded(text: str) -> float:
    """Return the share of the first non-ASCII letters that is UTF-8 read as windows-1252.

    Ordinary text hardly ever decodes that way. Not all letters of a broken page do: those written
    as entities (`&eacute;`) are intact.
    """
    found = [match[0] for match in itertools.islice(_LETTERS.finditer(text), _ENOUGH_RUNS)]
    return sum(map(_was_utf8, found)) / len(found) if found else 0.0


def _was_utf8(letters: str) -> bool:
    """Return whether letters, encoded again, are UTF-8; of very many the first are tested."""
    try:
        bytes([_WINDOWS_1252[ord(character)] for character in letters[:_LONGEST_RUN]]).decode("utf-8")
    except KeyError:
        return False
    except UnicodeDecodeError as error:
        return len(letters) > _LONGEST_RUN and error.end >= _LONGEST_RUN
    return True


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None


def _place(url: SplitResult) -> tuple[str, str, str]:
    """Return an address without what servers redirect normally: scheme, `www.`, a trailing slash,
    case.
    """
    return url.netloc.lower().removeprefix("www."), url.path.rstrip("/").lower(), url.query


def _is_home(url: SplitResult) -> bool:
    """Return whether an address is another name of a home page: `/index.html`, `/home`, `/en/`."""
    return all(part in {"index", "home", "default", "main"} or len(part) == 2 for part in _segments(url))


def _label(url: SplitResult) -> str:
    return url.netloc.lower().partition(".")[0]


def _segments(url: SplitResult) -> set[str]:
    """Return the parts of a path, without file extensions."""
    return {part.rsplit(".", 1)[0] if "." in part else part for part in url.path.lower().split("/") if part}


def _is_as_usual(answer: Answer, words: int) -> bool:
    """Return whether a page has its usual size: its redirect is then legitimate."""
    usual = answer.usual_words or 0
    return answer.document.title == answer.usual_title and 0.5 * usual <= words <= 2 * usual


def _words(answer: Answer, words: int) -> str:
    return f"it has {words:,} words{'' if answer.usual_words is None else f', {_usually(answer)}'}"


def _usually(answer: Answer) -> str:
    return f"usually the page has {answer.usual_words:,}"
