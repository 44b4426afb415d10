"""Answers texts that cannot be read: the clause, the statement or the command to write instead.

What is offered is read by the language without a fault. A part that is not understood has no
answer; nothing is left out of an answer silently.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from tidings.language.expressions import quote
from tidings.language.grammar.pieces import Piece, split_text
from tidings.language.guesses.reading import read
from tidings.language.guesses.tokens import tokens_of
from tidings.language.guesses.wish import NotMeantError, NotPossibleError, Wish
from tidings.language.problems import ProblemReport
from tidings.language.words import CLAUSES, name_of_host
from tidings.record import dataclass

Reads = Callable[[str], bool]
"""Whether the language reads a text without a fault."""

_HEAD: Final = re.compile(
    r"create\s+(?P<what>sentinel|collection)\s+(?P<name>[^\W\d][\w-]*|\"[^\"]*\")\s+using\s+"
    r"(?:(?P<site>(?:whole\s+)?(?:web)?site|sitemap|domain)\s+(?=\w+://)|(?:page|url|feed)\s+(?=\w+://))?",
    re.IGNORECASE,
)
_PAGE: Final = re.compile(
    r"(?P<url>[a-z][a-z0-9+.-]*://[^\s\"<>,;]+)(?:\s+as\s+(?P<name>\w+|\"[^\"]*\"))?\s*(?:,|(?P<joint>and|&|\+)(?=\s+\w+://))?\s*",
    re.IGNORECASE,
)
_OTHER_HEAD: Final = re.compile(
    r"(?P<verb>alter|defaults?\s+(?:for\s+)?(?:tags?|labels?))\s+"
    r"(?P<name>[^\W\d][\w-]*(?:\s*,\s*[\w-]+)*|\"[^\"]*\")(?=\s)(?:\s+(?:set|add|change|use|put)\b(?!\s+\"))?",
    re.IGNORECASE,
)
_BASED: Final = re.compile(
    r"create\s+(?:sentinel\s+)?(?P<name>[^\W\d][\w-]*)\s+(?:from|like|based\s+on|as|as\s+copy\s+of|copy\s+of)\s+"
    r"(?P<base>[^\W\d][\w-]*)(?=\s|$)",
    re.IGNORECASE,
)
_OUTPUT: Final = re.compile(
    r"(?:command\s+(?P<command>[^\"\s].*?)|file\s+(?P<file>/\S+))(?=\s+monitor\b|\s*$)", re.IGNORECASE
)
_ORDERS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), line)
    for pattern, line in (
        (r"rename\s+(?:sentinel\s+)?(\S+)\s+(?:to\s+|as\s+|->\s*)?(\S+)", r"tidings rename \1 \2"),
        (r"(?:show|list|ls|display|get)(?:\s+(?:me|all|my|every|sentinels?|watch(?:es)?|jobs|monitors|pages|everything|the))*", "tidings list"),
        (r"(?:show|display|describe|explain|inspect|get|status)\s+(?:(?:me|sentinel)\s+)*(\S+)", r"tidings show \1"),
        (r"(?:check|recheck|fetch|poll|refresh|run|test|look\s+at)\s+(?:sentinel\s+)?(?!https?:|every\b)(\S+)(?:\s+now)?", r"tidings check \1"),
        (r"(?:history|changes|diff)\s+(?:of\s+|for\s+)?(\S+)", r"tidings history \1"),
        (r"(?:help|\?)", "tidings --help"),
        (r"(?:clone|copy|duplicate)\s+(\S+)\s+(?:to|as|into)\s+(\S+)", r"Create Sentinel \2 Using \1"),
        (r"(?:enable\s+(\S+)\s+(?:from\s+scratch|anew|again|freshly)|reset\s+(\S+))", r"Enable \1\2 fresh"),
        (r"(?:accept|approve|acknowledge)\s+(?:sentinel\s+)?(\S+)", r"Confirm \1"),
        (r"alter\s+(\S+)\s+rename\s+(?:to\s+|as\s+)?(\S+)", r"tidings rename \1 \2"),
        (r"alter\s+(\S+)\s+(?:remove|delete|clear|drop|no)\s+(?:all\s+)?notify", r"Alter \1 Notify by dashboard"),
        (r"alter\s+(\S+)\s+(?:remove|delete|clear|drop|no)\s+(?:all\s+)?(\w+)", r"Alter \1 \2 none"),
        (r"(?:delete|remove|cancel|forget|rm|del|unwatch|end|finish|terminate|kill|drop)\s+(?:(?:sentinel|watch|job|the)\s+)*(\S+)", r"Drop \1"),
        *(
            (rf"(?:pause|suspend|mute|stop|disable|snooze)\s+(?:(?:sentinel|watch|job|watching|monitoring|checking)\s+)*(\S+){end}", line)
            for end, line in (
                (r"", r"Disable \1"),
                (r"\s+(?:for\s+)?(\d+\s*[a-z]+)", r"Disable \1 for \2"),
                (r"\s+(?:until|till|to)\s+(\d{4}\S+)(?:\s+(\S+))?", r"Disable \1 until \2 \3"),
                (r"\s+(?:(?:until|till|for|to)\s+)?(.+)", r"tidings disable \1 --until '\2'"),
            )
        ),
        (r"(?:resume|start|unpause|unmute|activate|restart|continue|enable)\s+(?:(?:sentinel|watch|job|watching|monitoring|checking)\s+)*(\S+)", r"Enable \1"),
        (r"confirm\s+sentinel\s+(\S+)", r"Confirm \1"),
        (r"(?:alter\s+sentinel|(?:change|update|edit|modify)(?:\s+sentinel)?)\s+(\S+)(\s.+)", r"Alter \1\2"),
    )
)  # fmt: skip
"""Statements of other languages, and what does the same here."""
_STILL: Final = re.compile(
    r"(?:\bno (?:new )?(?:\w+ )?(?:changes?|updates?|news|items?|entries|posts?)|\bnothing(?: new| changes| changed| happens| happened)?"
    r"|(?:\bnot|n't)(?: been)? (?:changed?|updated?)|\bunchanged|\bsilen(?:ce|t)|\bstale|\babsence of \w+|\blast (?:change|update))"
    r"\s+(?:for|in|within|since|after|during|is|was|[<>]=?|more than|older than|at least)?\s*"
    r"(\d+\s*(?:min|h|d|w|month|year)[a-z]*)",
    re.IGNORECASE,
)
"""The wish to be notified of no change for some time."""
_SEVERAL: Final = re.compile(
    r"(drop|disable|enable|confirm)\s+([^\W\d][\w-]*(?:(?:\s*,\s*(?:and\s+)?|\s+(?:and|&)\s+)[^\W\d][\w-]*)+)",
    re.IGNORECASE,
)
_LONGEST_ORDER: Final = 400
_LONG_UNIT: Final = re.compile(r"\b(?:month|quarter|year)(?:s|ly)?\b", re.IGNORECASE)
_EVENT: Final = re.compile(r"(?:create|drop)\s+event\b", re.IGNORECASE)
_MENDED: Final = frozenset({"E08", "E15", "E27", "E28"})
"""Faults of clauses that the grammar reads: days without a time, no channel, an unknown page, a
condition that does not fit.
"""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a text stands for, and remarks on it."""

    line: str
    notes: tuple[str, ...] = ()

    @property
    def hint(self) -> str:
        """Return the hint that shows it."""
        return "; ".join((f"write {self.line}", *dict.fromkeys(self.notes)))


def improve(text: str, report: ProblemReport, reads: Reads, follows: Callable[[str, str], bool]) -> None:
    """Add the lines to write to the faults of a text.

    Args:
        text: The text.
        report: Its faults.
        reads: Whether a text has no fault.
        follows: Whether a text follows a rule of the grammar.
    """
    for pieces in _join_clauses(split_text(text)):
        if report.codes(pieces[0].start, pieces[-1].end) and not _EVENT.match(text, pieces[0].start):
            _Statement(text, pieces, report, reads, follows).answer()


def _join_clauses(statements: Iterable[tuple[Piece, ...]]) -> Iterator[tuple[Piece, ...]]:
    """Yield statements; clauses behind a semicolon belong to the statement before it."""
    waiting: tuple[Piece, ...] = ()
    for pieces in statements:
        if waiting and pieces[0].word.capitalize() in CLAUSES:
            waiting = (*waiting, *pieces)
            continue
        if waiting:
            yield waiting
        waiting = pieces
    if waiting:
        yield waiting


def clause_for(text: str, reads: Reads) -> str:
    """Return the hint for one clause; "" if it is not understood.

    Args:
        text: The clause.
        reads: Whether the language reads clauses.
    """
    try:
        found = _read_clause(text, Wish())
    except NotPossibleError as error:
        return str(error)
    return _Answer(found[0], tuple(found[1].notes)).hint if found and reads(found[0]) and found[0] != text else ""


def _read_clause(text: str, wish: Wish) -> tuple[str, Wish] | None:
    """Return the clauses that a text stands for, and what was read; None if it is not
    understood.
    """
    tokens = tokens_of(text)
    if not read(tokens, text, wish):
        return None
    if _LONG_UNIT.search(text):
        wish.notes.append("months and years have no fixed length")
    try:
        return " ".join(wish.clauses()), wish
    except NotMeantError:
        return None


class _Statement:
    """A statement with faults."""

    def __init__(
        self,
        text: str,
        pieces: Sequence[Piece],
        report: ProblemReport,
        reads: Reads,
        follows: Callable[[str, str], bool],
    ) -> None:
        self._text = text[pieces[0].start : pieces[-1].end]
        self._start = pieces[0].start
        self._end = pieces[-1].end
        self._pieces = pieces
        self._report = report
        self._reads = reads
        self._follows = follows
        self._names_site = False
        """whether the head names a whole site, so that no clause alone is an answer"""
        self._faulty = [piece for piece in pieces if self._is_guess(piece)]

    def _is_guess(self, piece: Piece) -> bool:
        """Return whether a piece has a fault that another line mends: it cannot be read, or its
        words do not fit together.
        """
        codes = self._report.codes(piece.start, piece.end)
        text = self._text[piece.start - self._start : piece.end - self._start]
        rules = ("clause",) if piece.start != self._start else ("head", "command", "alter_head", "defaults_head")
        return bool(codes) and (codes <= _MENDED or not any(self._follows(text, rule) for rule in rules))

    def answer(self) -> None:
        """Add the line to write to the faults."""
        if not self._faulty:
            return
        try:
            self._answer()
        except NotPossibleError as error:
            self._report.answer(self._start, self._end, str(error))

    def _answer(self) -> None:
        if still := _STILL.search(self._text):
            line = f"tidings changes NAME --last '{still[1]}' --json"
            raise NotPossibleError(
                f"no change is not reported; write {line} in cron: it prints nothing if nothing changed"
            )
        if order := self._order():
            self._report.answer(self._start, self._end, order.hint)
            return
        head, rest = self._split_head()
        first = self._faulty[0]
        behind = self._end - len(rest)
        is_head_good = first.start != self._start or bool(
            head.pages
            and not head.is_joint
            and behind < first.end
            and self._text[behind - self._start : first.end - self._start].strip()
        )
        is_head_good = is_head_good and not _BASED.match(self._text) and not _OUTPUT.search(self._text)
        if is_head_good and first.start == self._start:
            self._faulty = [Piece("", behind, first.end), *self._faulty[1:]]
        hints = {piece.start: self._hint(piece, head) for piece in self._faulty if piece.start != self._start}
        if is_head_good and all(hint is not None for hint in hints.values()) and self._fits(head, hints):
            self._add_hints(hints)
            return
        mended = {piece.start for piece in self._faulty}
        is_mended = all(
            not self._report.codes(one.start, one.end) or one.start in mended or one.start == self._start
            for one in self._pieces
        )
        is_mended = is_mended or ";" in self._text
        if is_mended and (whole := self._whole(head, rest)):
            self._report.answer(self._start, self._end, whole.hint)
            return
        self._add_hints(hints)

    def _fits(self, head: Wish, hints: Mapping[int, _Answer | None]) -> bool:
        """Return whether the answers to several clauses fit together."""
        lines = [hint.line for hint in hints.values() if hint is not None]
        return len(lines) == 1 or self._reads(
            " ".join(
                (self._write_head(head), *("Monitor any change",)[any("Monitor " in line for line in lines) :], *lines)
            )
        )

    def _add_hints(self, hints: Mapping[int, _Answer | None]) -> None:
        for piece in self._faulty:
            if found := hints.get(piece.start):
                start = self._start if piece.word == "" else piece.start
                self._report.add_hint(start, piece.end, found.hint)

    def _order(self) -> _Answer | None:
        """Return the order, or the command of the shell, that the statement means."""
        text = " ".join(self._text.split()).rstrip(" ;.")
        if found := _SEVERAL.fullmatch(text):
            names = re.split(r"\s*,\s*(?:and\s+)?|\s+(?:and|&)\s+", found[2])
            return _Answer("; ".join(f"{found[1].capitalize()} {name}" for name in names))
        for pattern, line in _ORDERS if len(text) <= _LONGEST_ORDER else ():
            if found := pattern.fullmatch(text):
                meant = found.expand(line).strip()
                if meant != text and (meant.startswith("tidings ") or self._reads(meant)):
                    return _Answer(meant)
        return None

    def _split_head(self) -> tuple[Wish, str]:
        """Return what the head of the statement says, and the text behind the head."""
        wish = Wish()
        text = self._text
        if found := _OTHER_HEAD.match(text):
            verb = "Alter" if found["verb"].lower() == "alter" else "Defaults For Tags"
            wish.verb = f"{verb} {found['name']}"
            return wish, text[found.end() :]
        if found := _BASED.match(text):
            wish.verb = f"Create Sentinel {found['name']} Using {found['base']}"
            return wish, text[found.end() :]
        found = _HEAD.match(text)
        if found is None:
            return wish, text
        wish.name, wish.is_site = found["name"], found["what"].lower() == "collection" or bool(found["site"])
        self._names_site = bool(found["site"])
        at = found.end()
        while page := _PAGE.match(text, at):
            wish.pages.append((page["url"], (page["name"] or "").strip('"')))
            wish.is_joint |= bool(page["joint"])
            at = page.end()
        if not wish.pages and (output := _OUTPUT.match(text, at)):
            words = " ".join(map(quote, shlex.split(output["command"] or "")))
            wish.pages.append((f"command {words}" if words else f"file://{output['file']}", ""))
            at = output.end()
        if not wish.pages:
            wish.name = ""
            return wish, text
        return wish, text[at:]

    def _hint(self, piece: Piece, head: Wish) -> _Answer | None:
        """Return the answer to one clause; None if it needs the other clauses."""
        if self._names_site:
            return None
        text = self._text[piece.start - self._start : piece.end - self._start]
        wish = Wish(pages=list(head.pages), verb=head.verb, is_site=head.is_site)
        found = _read_clause(text, wish)
        if not found or not found[0] or wish.is_joint or wish.is_site != head.is_site:
            return None
        if wish.changes and (not wish.changes[0].is_named or (piece.word != "monitor" and self._has("monitor"))):
            return None
        others = [one for one in self._pieces if one is not piece and one.word == "notify"]
        if any(not notice.receivers for notice in wish.notices) and others:
            return None
        monitor = "" if wish.changes else "Monitor any change "
        statement = f"{self._write_head(wish)} {monitor}{found[0]}"
        return _Answer(found[0], tuple(wish.notes)) if self._reads(statement) else None

    def _has(self, word: str) -> bool:
        return any(piece.word == word for piece in self._pieces)

    def _write_head(self, wish: Wish) -> str:
        if wish.verb:
            return wish.verb
        pages = wish.pages or [("https://example.org/", "")]
        if wish.is_joint and len(pages) > 1:
            pages = [(url, name or "ABCDEFGHIJ"[number % 10]) for number, (url, name) in enumerate(pages)]
            wish.pages = pages
        wish.is_site = wish.is_site or any(change.kind == "pages" for change in wish.changes)
        if wish.is_site:
            pages = [(url.rstrip("*"), name) for url, name in pages]
        pages_text = ", ".join(f"{url}{f' As {name}' if name else ''}" for url, name in pages)
        what = "Collection" if wish.is_site else "Sentinel"
        return f"Create {what} {wish.name or name_of_host(pages[0][0])} Using {pages_text}"

    def _whole(self, head: Wish, rest: str) -> _Answer | None:
        """Return the whole statement; None if a part of it is not understood."""
        for taken in (frozenset(), frozenset({"monitor"}), frozenset({"notify"}), frozenset({"monitor", "notify"})):
            wish = Wish(
                pages=list(head.pages), verb=head.verb, name=head.name, is_site=head.is_site, is_joint=head.is_joint
            )
            wish.is_statement = not head.pages and not head.verb
            clauses = self._read_all(wish, rest, taken)
            if clauses is None:
                continue
            if self._is_loose(wish, clauses):
                continue
            try:
                line = self._compose(wish, clauses)
            except NotMeantError:
                continue
            if line and self._reads(line):
                return _Answer(line, tuple(wish.notes))
        return None

    def _is_loose(self, wish: Wish, clauses: Sequence[tuple[str, str]]) -> bool:
        """Return whether a condition or quiet hours belong to a clause that was kept as it is."""
        words = {word for word, _ in clauses}
        return bool("monitor" in words and wish.changes) or bool(
            "notify" in words and any(not notice.receivers for notice in wish.notices)
        )

    def _read_all(self, wish: Wish, rest: str, taken: frozenset[str]) -> list[tuple[str, str]] | None:
        """Read what is not a clause of the language, and return the clauses that are; None if
        something is not understood.

        Args:
            wish: Takes what is read.
            rest: The text behind the head.
            taken: The clauses that are read, too, since others belong to them.
        """
        clauses: list[tuple[str, str]] = []
        first = len(self._text) - len(rest)
        run: list[str] = []
        texts: list[str] = []
        for piece in self._pieces:
            start, end = max(piece.start - self._start, first), piece.end - self._start
            if start >= end:
                continue
            text = self._text[start:end]
            is_good = (
                piece.word not in {"", *taken} and not self._is_guess(piece) and self._is_clause(text, piece, wish)
            )
            if is_good:
                clauses.append((piece.word, " ".join(text.split())))
                texts.append(" ".join(run))
                run = []
            else:
                run.append(text)
        for text in (*texts, " ".join(run)):
            tokens = tokens_of(text)
            if text.strip() and not read(tokens, text, wish):
                return None
        return clauses

    def _is_clause(self, text: str, piece: Piece, wish: Wish) -> bool:
        """Return whether a piece is a clause of the language, without a fault."""
        monitor = "" if piece.word == "monitor" or wish.verb else "Monitor any change "
        return self._follows(text, "clause") and self._reads(f"{self._write_head(wish)} {monitor}{text}")

    def _compose(self, wish: Wish, parts: Sequence[tuple[str, str]]) -> str:
        if not wish.verb and not wish.pages:
            return ""
        head = self._write_head(wish)
        clauses = list(wish.clauses())
        monitor = next((text for word, text in parts if word == "monitor"), "")
        if not monitor and not wish.changes and not wish.verb and not wish.is_site:
            monitor = f"Monitor {wish.sort or 'any change'}"
        if wish.is_joint and monitor and not wish.changes:
            return ""
        others = [text for word, text in parts if word != "monitor"]
        asked = [clause for clause in clauses if clause.startswith("Monitor ")]
        rest = [clause for clause in clauses if clause not in asked]
        return " ".join(filter(None, (head, monitor, *asked, *others, *rest)))
