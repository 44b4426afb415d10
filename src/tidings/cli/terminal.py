"""What only a terminal gets: colours, and a line of progress. Pipes and files get neither."""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import Any, Final, TextIO

from tidings.presentation.writing import cut_text_to_places, tame

_CODES: Final = {"good": "32", "warning": "33", "bad": "31", "strong": "1", "faint": "2"}
_STATE: Final = r"(?:^|(?<=  ))(?:{})(?= *$|  )"
"""A word that stands alone, as the cell of a table or at the beginning of a line."""
_RULES: Final = {
    "good": (_STATE.format("ok|delivered|text"), r"\{\+.*?\+\}", r'(?<=" → )"[^"]*"'),
    "warning": (_STATE.format("warn|warning|waiting|disabled|withheld"), r"^warning:"),
    "bad": (
        _STATE.format(r"fail|dead|error|gone|(?:error|quarantined)\(\w+\)(?: \+\d+)?"),
        r"\[-.*?-\]",
        r'"[^"]*"(?= → ")',
        r"^(?:tidings|STANDSTILL|\d+:\d+|[^ ]+:\d+:\d+):",
    ),
    "strong": (_STATE.format("changed|new"), r"^[A-Z]+(?:  +[A-Z]+(?: \(UTC\))?)+$"),
    "faint": (r"https?://[^ ]+", _STATE.format("unchanged|no news|baseline|not the text"), r"\(hint: .*\)$"),
}
_PATTERN: Final = re.compile("|".join(f"(?P<{style}>{'|'.join(found)})" for style, found in _RULES.items()))


def paint(line: str, stream: TextIO) -> str:
    """Return a line with its states, edits and addresses in colour, if the stream is a terminal.

    `NO_COLOR` and `TERM=dumb` switch colours off.
    """
    if not _has_colours(stream):
        return line
    return _PATTERN.sub(lambda found: f"\x1b[{_CODES[str(found.lastgroup)]}m{found[0]}\x1b[0m", line)


def _has_colours(stream: TextIO) -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


class Progress:
    """One line on standard error that says how far long work is.

    Each text replaces the one before; the line is cleared before anything else is written.
    """

    def __init__(self) -> None:
        self._is_shown = False

    def __call__(self, text: str) -> None:
        """Show how far it is; nothing where standard error is no terminal."""
        if sys.stderr.isatty():
            room = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{cut_text_to_places(tame(text), room)}")
            sys.stderr.flush()
            self._is_shown = True

    def clear(self) -> None:
        """Take the line away."""
        if self._is_shown:
            self._is_shown = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


progress: Final = Progress()
"""Standard error is one, and so is its line."""


class BesideProgress:
    """A text stream that takes the line of progress away before something is written to it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text where the line was."""
        progress.clear()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
