"""Changes as plain text, cut at whole changes to what a channel takes (issue A2: Telegram 4096, Discord 2000).

What went stands in `[-…-]`, what came in `{+…+}`, as `git diff --word-diff` has it: no colour is needed to read it.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Sequence
from typing import Final

from tidings.notification.edits import Edit, Record, edits_of, headline, more, seen_at
from tidings.notification.writing import cut, length, one_line

MOST: Final = 60_000
"""Units of UTF-16 in a text where the channel sets no limit."""
LEAST_LINE: Final = 6
STEPS: Final = (2_000, 400, 120)
"""Tried in turn: how long one text of an edit may be."""
_MENTION: Final = re.compile(r"@(?=(?:everyone|here|channel|all)\b)|<(?=[!@#])", re.IGNORECASE)


def plain(records: Sequence[Record], *, heading: str = "", most: int = MOST) -> str:
    """Return the changes as text of at most `most` units of UTF-16.

    What does not fit is left out at the end of a change and counted (`and 3 more changes`); a single change that is too
    long keeps its first edits. `heading` is the first line; with it a single change does not repeat its summary.
    """
    if not records:
        message = "a message needs at least one change"
        raise ValueError(message)
    top = [one_line(heading)] if heading else []
    if len(records) == 1:
        return _one(records[0], top, most=most)
    blocks = [_block(record, [headline(record)], most=STEPS[0], room=most) for record in records[: most // LEAST_LINE]]
    whole = _joined(top, blocks, len(records) - len(blocks))
    if length(whole) <= most:
        return whole
    fitting = _largest(len(blocks), lambda kept: _joined(top, blocks[:kept], len(records) - kept), most)
    if fitting:
        return _joined(top, blocks[:fitting], len(records) - fitting)
    rest = more(len(records) - 1, "change")
    first = _one(records[0], [*top, headline(records[0])], most=most - length(rest) - 2)
    return cut(f"{first}\n\n{rest}" if first else rest, most)


def _joined(top: Sequence[str], blocks: Sequence[str], missing: int) -> str:
    return "\n\n".join([*top, *blocks, *([more(missing, "change")] if missing else [])])


def _largest(count: int, text: Callable[[int], str], most: int) -> int:
    """Return the largest number up to `count` whose text fits, 0 if none does; more is never shorter."""
    return bisect.bisect_right(range(1, count + 1), most, key=lambda kept: length(text(kept)))


def _one(record: Record, top: Sequence[str], *, most: int) -> str:
    """Return one change under its heading: whole, else with shorter edits, else with fewer, else without."""
    for longest in STEPS:
        whole = _block(record, top, most=longest, room=most)
        if length(whole) <= most:
            return whole
    edits, rest = edits_of(record, most=most // LEAST_LINE + 1)
    lines = [_line(edit, STEPS[-1]) for edit in edits]
    where = _where(record)

    def kept(number: int) -> str:
        left = len(lines) - number + rest
        return "\n".join([*top, *where, *lines[:number], *([more(left)] if left else [])])

    if number := _largest(len(lines), kept, most):
        return kept(number)
    for short in ([*top, *where], [*top, one_line(str(record["url"]))], [*top]):
        if short and length("\n".join(short)) <= most:
            return "\n".join(short)
    return cut(" ".join(top) or headline(record), most)


def _block(record: Record, top: Sequence[str], *, most: int, room: int) -> str:
    edits, rest = edits_of(record, most=room // LEAST_LINE + 1)
    lines = [_line(edit, most) for edit in edits]
    return "\n".join([*top, *_where(record), *lines, *([more(rest)] if rest else [])])


def _where(record: Record) -> list[str]:
    return [line for line in (one_line(str(record["url"])), seen_at(record)) if line]


def _line(edit: Edit, most: int) -> str:
    old, new = cut(edit.old, most), cut(edit.new, most)
    match edit.kind:
        case "updated":
            return f"[-{old}-] {{+{new}+}}"
        case "deleted":
            return f"[-{old}-]"
        case "inserted":
            return f"{{+{new}+}}"
        case "moved":
            return f"moved: {new}"
        case "counted":
            return f"{old}: {new}"


def unmentioning(text: str) -> str:
    """Return a text that calls nobody in a chat: words such as `@everyone` come from pages, not from you."""
    return _MENTION.sub(lambda found: f"{found[0]}\u2060", text)
