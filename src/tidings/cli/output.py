"""Output of commands: JSON Lines with `--json`, else lines for users, safe for a terminal.

Colours and the progress line are for terminals only, not for pipes and files.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO
from unicodedata import category

from tidings.errors import OutputError
from tidings.presentation.writing import cut_text_to_places, places, tame

if TYPE_CHECKING:
    from tidings.errors import PrintableProblem

GAP = "  "
COMMON = 20
"""Columns up to this width, such as times, are cut last."""
NARROWEST = 8
"""Least width of a column, in characters."""


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the flag `--json` to a command."""
    parser.add_argument("--json", action="store_true", help="print JSON, one record on each line")


def write_json(record: Mapping[str, Any]) -> None:
    """Write one record and flush."""
    try:
        _write(json_line(record))
    except UnicodeEncodeError:
        _write(json.dumps(record) + "\n")


def json_line(record: Mapping[str, Any]) -> str:
    """Return a record as one line of JSON; control and bidi characters are escaped."""
    text = json.dumps(record, ensure_ascii=False)
    if not text.isprintable():
        text = "".join(c if c.isprintable() or category(c) == "Zs" else json.dumps(c)[1:-1] for c in text)
    return text + "\n"


def write_line(text: str = "") -> None:
    """Write one line for users; page content cannot control the terminal."""
    write_lines([text])


def write_lines(texts: Iterable[str]) -> None:
    """Write lines for users at once; page content cannot control the terminal."""
    lines = "".join(paint(tame(text, keep="\t"), sys.stdout) + "\n" for text in texts)
    if not lines:
        return
    try:
        _write(lines)
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding or "ascii"
        _write(lines.encode(encoding, "backslashreplace").decode(encoding))


def write_beside(text: str) -> None:
    """Write a line on standard error: a warning, an error, or progress."""
    progress.clear()
    sys.stderr.write(paint(tame(text, keep="\t"), sys.stderr) + "\n")
    sys.stderr.flush()


def write_page(page: str) -> None:
    """Write an HTML page, declared as UTF-8; on output in another encoding only in characters
    common to both.
    """
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    _write(page if utf8 else page.encode("ascii", "xmlcharrefreplace").decode("ascii"))


def _write(text: str) -> None:
    """Write and flush. Raises `OutputError` if that fails, `BrokenPipeError` if the reader has
    left.
    """
    progress.clear()
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"standard output cannot be written: {error.strerror or error}; the command has done its work"
        raise OutputError(message) from error


def write_nowhere() -> None:
    """Redirect the rest of the output to the null device, including the buffer."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def table(rows: Iterable[Sequence[str]], head: Sequence[str]) -> None:
    """Print columns; the last one is not padded. In a terminal, or with COLUMNS set, the widest are
    cut to fit.
    """
    lines = [list(head), *([tame(cell, keep="\t") for cell in row] for row in rows)]
    room = shutil.get_terminal_size((0, 0)).columns
    widths = [max(map(places, column)) for column in zip(*lines, strict=True)]
    if room:
        widths = _within(widths, room - len(GAP) * (len(widths) - 1))
        lines = [[cut_text_to_places(cell, width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    for line in lines:
        padded = (cell + " " * (width - places(cell)) for cell, width in zip(line[:-1], widths, strict=False))
        write_line(GAP.join((*padded, line[-1])).rstrip(" "))


def _within(widths: Sequence[int], room: int) -> list[int]:
    """Return widths that fit into `room`: the widest are cut alike, then the last, which is text,
    and only then all others.
    """
    *others, last = leveled = _level(widths, room, COMMON)
    if sum(leveled) > room:
        leveled = [*others, min(last, max(NARROWEST, room - sum(others)))]
    return leveled if sum(leveled) <= room else _level(widths, room, NARROWEST)


def _level(widths: Sequence[int], room: int, least: int) -> list[int]:
    """Return widths with the widest cut to a common width, at least `least`."""
    most = next((m for m in range(max(widths), least, -1) if sum(min(w, m) for w in widths) <= room), least)
    return [min(width, most) for width in widths]


def short_time(text: str | None) -> str:
    """Return an RFC 3339 time to the second; a dash for none."""
    return "-" if text is None else text[:19].replace("T", " ")


def write_warnings(warnings: Iterable[PrintableProblem], *, as_json: bool) -> None:
    """Print the language's warnings: as records, or as lines on standard error."""
    for warning in warnings:
        if as_json:
            write_json({"record": "problem", "warning": True, **warning.as_dict()})
        else:
            write_beside(f"warning: {warning}")


_CODES: Final = {"good": "32", "warning": "33", "bad": "31", "strong": "1", "faint": "2"}
_STATE: Final = r"(?:^|(?<=  ))(?:{})(?= *$|  )"
"""A word that stands alone: a table cell, or the beginning of a line."""
_RULES: Final = {
    "good": (_STATE.format("ok|delivered|text"), r"\{\+.*?\+\}", r'(?<=" → )"[^"]*"|"[^"]*"(?= \(was ")'),
    "warning": (_STATE.format("warn|warning|waiting|disabled|withheld"), r"^warning:"),
    "bad": (
        _STATE.format(r"fail|dead|error|gone|(?:error|quarantined)\(\w+\)(?: \+\d+)?"),
        r"\[-.*?-\]",
        r'"[^"]*"(?= → ")|(?<=" \(was )"[^"]*"',
        r"^(?:tidings|STANDSTILL|\d+:\d+|[^ ]+:\d+:\d+):",
    ),
    "strong": (_STATE.format("changed|new"), r"^[A-Z]+(?:  +[A-Z]+(?: \(UTC\))?)+$"),
    "faint": (r"https?://[^ ]+", _STATE.format("unchanged|no news|baseline|not the text"), r"\(hint: .*\)$"),
}
_PATTERN: Final = re.compile("|".join(f"(?P<{style}>{'|'.join(found)})" for style, found in _RULES.items()))


def paint(line: str, stream: TextIO) -> str:
    """Return a line with coloured states, edits and addresses if the stream is a terminal.

    `NO_COLOR` and `TERM=dumb` switch colours off.
    """
    if not _has_colours(stream):
        return line
    return _PATTERN.sub(lambda found: f"\x1b[{_CODES[str(found.lastgroup)]}m{found[0]}\x1b[0m", line)


def _has_colours(stream: TextIO) -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


class Progress:
    """One line on standard error with the progress of long work.

    Each text replaces the one before; the line is cleared before anything else is written.
    """

    def __init__(self) -> None:
        self._is_shown = False

    def __call__(self, text: str) -> None:
        """Show progress; does nothing unless standard error is a terminal."""
        if sys.stderr.isatty():
            room = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{cut_text_to_places(tame(text), room)}")
            sys.stderr.flush()
            self._is_shown = True

    def clear(self) -> None:
        """Clear the line."""
        if self._is_shown:
            self._is_shown = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


progress: Final = Progress()
"""One per process, like standard error."""


class BesideProgress:
    """A text stream that clears the progress line before each write."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Clear the line and write a text."""
        progress.clear()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
