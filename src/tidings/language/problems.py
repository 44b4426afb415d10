"""Faults of a text and warnings: plain data, so that the command line, a form and the API show the
same.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from operator import attrgetter

from tidings.record import dataclass, replace

MOST = 10
"""The most problems reported at once (sentinels §1.6)."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault (codes E01…) or a warning (W1…) at a place of the text; lines and columns count from
    1, columns in characters.

    `expected` is what the language accepts there, `hint` what to write instead; both may be empty.
    """

    line: int
    column: int
    code: str
    message: str
    expected: str = ""
    hint: str = ""

    @property
    def place(self) -> tuple[int, int, str]:
        """Return line, column and code, by which problems are sorted."""
        return self.line, self.column, self.code

    def __str__(self) -> str:
        """Return `line:column: code message; expected … (hint: …)`."""
        text = f"{self.line}:{self.column}: {self.code} {self.message}"
        if self.expected:
            text += f"; expected {self.expected}"
        if self.hint:
            text += f" (hint: {self.hint})"
        return text

    def as_dict(self) -> dict[str, int | str]:
        """Return the problem with the keys of the JSON record (contracts §12)."""
        return {
            "line": self.line,
            "column": self.column,
            "code": self.code,
            "message": self.message,
            "expected": self.expected,
            "hint": self.hint,
        }


class ProblemReport:
    """Collects the problems and warnings of one text; places are offsets, converted to lines only
    when needed.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._problems: list[tuple[int, Problem]] = []
        self.origin: int | None = None
        """where the piece begins whose faults are recorded; None: the place of a fault is in it"""
        self._warnings: list[Problem] = []
        self._ends: list[int] | None = None

    def fault(self, offset: int, code: str, message: str, *, expected: str = "", hint: str = "") -> None:
        """Record a fault, which makes the text invalid.

        Args:
            offset: The place in the text.
            code: E01 and so on.
            message: What is wrong.
            expected: What could stand there, empty if that does not help.
            hint: What to write instead, empty for none.
        """
        origin = offset if self.origin is None else self.origin
        self._problems.append((origin, self.problem(offset, code, message, expected=expected, hint=hint)))

    def codes(self, start: int, end: int) -> frozenset[str]:
        """Return the codes of the faults of a piece of the text."""
        return frozenset(problem.code for origin, problem in self._problems if start <= origin < end)

    def add_hint(self, start: int, end: int, hint: str) -> None:
        """Set the hint of the first fault of a piece, and drop what was expected there."""
        place = next(n for n, (origin, _) in enumerate(self._problems) if start <= origin < end)
        origin, problem = self._problems[place]
        self._problems[place] = origin, replace(problem, expected="", hint=hint)

    def answer(self, start: int, end: int, hint: str) -> None:
        """Keep only the first fault of a piece, with a hint that answers all of them."""
        first = min((one for one in self._problems if start <= one[0] < end), key=lambda one: one[1].place)
        self._problems = [one for one in self._problems if one is first or not start <= one[0] < end]
        self.add_hint(start, end, hint)

    def warn(self, offset: int, code: str, message: str, *, hint: str = "") -> None:
        """Record a warning; the text stays valid.

        Args:
            offset: The place in the text.
            code: W1 and so on.
            message: The warning.
            hint: What to write instead, empty for none.
        """
        self._warnings.append(self.problem(offset, code, message, hint=hint))

    def problem(self, offset: int, code: str, message: str, *, expected: str = "", hint: str = "") -> Problem:
        """Return a problem at an offset, without recording it.

        Args:
            offset: The place in the text.
            code: E01 or W1 and so on.
            message: What is wrong.
            expected: What could stand there, empty if that does not help.
            hint: What to write instead, empty for none.
        """
        line, column = self._place(offset)
        return Problem(line, column, code, message, expected, hint)

    def line(self, offset: int) -> int:
        """Return the line of an offset."""
        return self._place(offset)[0]

    @property
    def faults(self) -> int:
        """Return how many faults were recorded so far."""
        return len(self._problems)

    @property
    def noted(self) -> int:
        """Return how many faults and warnings were recorded so far."""
        return len(self._problems) + len(self._warnings)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return the first faults, in the order of the text."""
        return tuple(sorted((problem for _, problem in self._problems), key=attrgetter("place"))[:MOST])

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Return all warnings, in the order of the text."""
        return tuple(sorted(self._warnings, key=attrgetter("place")))

    def _place(self, offset: int) -> tuple[int, int]:
        if self._ends is None:
            self._ends = [found.start() for found in re.finditer("\n", self.text)]
        line = bisect_left(self._ends, offset)
        start = self._ends[line - 1] + 1 if line else 0
        return line + 1, offset - start + 1


_LONGEST_TYPO = 40


def closest(word: str, choices: Iterable[str]) -> str | None:
    """Return the most similar of `choices`, as written there, or None."""
    if len(word) > _LONGEST_TYPO:
        return None
    spelled = {choice.lower(): choice for choice in choices}
    found = get_close_matches(word.lower(), spelled, n=1, cutoff=0.7)
    return spelled[found[0]] if found else None


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return the hint `did you mean "X"?`, or an empty text."""
    meant = closest(word, choices)
    return f'did you mean "{meant}"?' if meant else ""


def either(choices: Sequence[str], *, joint: str = "or") -> str:
    """Return choices for a sentence: `a, b or c`."""
    if len(choices) < 2:
        return "".join(choices)
    return f"{', '.join(choices[:-1])} {joint} {choices[-1]}"
