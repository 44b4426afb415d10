"""The report of the demo: how many of the town's edits were reported, how soon, and what a fixed
interval would have found; and its records in plain lines, within the width of the terminal.

Nothing here is hard-coded. The town's own log has the edits, the service's poll records the polls,
and the received messages the reports. Edits reported in one message count once. Instants and
durations are µs.
"""

from __future__ import annotations

import textwrap
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, Final

from tidings.model.interval import Duration, Instant
from tidings.record import dataclass

Record = Mapping[str, Any]

TIME: Final = 5
NAME: Final = 8
EDIT: Final = 24
DELAY: Final = 7
GAP: Final = "  "


def lines(record: Record, *, width: int = 80) -> list[str]:
    """Return the lines of a record."""
    match record["record"]:
        case "change":
            return [_change(record, width)]
        case "summary":
            return _summary(record, width)
        case _:
            return _note(record, width)


def head(width: int) -> str:
    """Return the head of the columns."""
    return _row("TIME", "PAGE", "WHAT HAPPENED THERE", "WHAT WAS REPORTED", "AFTER", width)


def _row(time: str, name: str, edit: str, reported: str, delay: str, width: int) -> str:
    room = max(12, width - TIME - NAME - EDIT - DELAY - 4 * len(GAP))
    cells = (
        time.rjust(TIME),
        _cut_text(name, NAME),
        _cut_text(edit, EDIT),
        _cut_text(reported, room),
        delay.rjust(DELAY),
    )
    return GAP.join(
        cell.ljust(size) for cell, size in zip(cells, (TIME, NAME, EDIT, room, DELAY), strict=True)
    ).rstrip()


def _cut_text(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _clock(record: Record) -> str:
    seconds = int(record.get("elapsed_seconds", 0))
    return f"{seconds // 60}:{seconds % 60:02}"


def _change(record: Record, width: int) -> str:
    edit = record["edit"] or "nothing: a false alarm"
    if record["edits"] > 1:
        edit = f"{_cut_text(edit, EDIT - 10)} ({record['edits']} edits)"
    delay = f"{record['delay_seconds']:.1f} s" if "delay_seconds" in record else ""
    return _row(_clock(record), record["sentinel"], edit, describe(record), delay, width)


def describe(record: Record) -> str:
    """Return a change record in as few words as possible."""
    base = record["url"].rstrip("/")

    def show(text: str) -> str:
        return f'"{text.removeprefix(base)}"'

    parts = [f"{show(pair['old'])} → {show(pair['new'])}" for pair in record["updated"]]
    parts += [f"moved {show(text)}" for text in record["moved"]]
    parts += [f"+ {show(text)}" for text in record["inserted"]]
    parts += [f"- {show(text)}" for text in record["deleted"]]
    return ", ".join(parts) or record["summary"]


def _wrap(record: Record, texts: Sequence[str], width: int) -> list[str]:
    """Return texts in lines beside the time, and the page's name if the record is about one."""
    begin = f"{_clock(record).rjust(TIME)}{GAP}"
    if "sentinel" in record:
        begin += f"{_cut_text(record['sentinel'], NAME).ljust(NAME)}{GAP}"
    indent = " " * len(begin)
    found: list[str] = []
    for text in texts:
        found += textwrap.wrap(text, width, initial_indent=indent if found else begin, subsequent_indent=indent)
    return found


def _summary(record: Record, width: int) -> list[str]:
    fixed, every = record["fixed"], record["changes"]
    texts = [
        f"Tidings reported {record['told']} of {every} changes with {record['looks']} checks{_after(record['median_seconds'])};",
        (
            f"a fixed interval with as many checks ({fixed['interval_seconds']:.1f} s): {fixed['told']} of {every}"
            f"{_after(fixed['median_seconds'])}."
        ),
        *_rest(record),
        f"{record['quiet_versions']} quiet changes kept (not asked for, so not reported); {_false(record)}.",
    ]
    return ["", *_wrap(record, texts, width), *([] if record["last"] else [""])]


def _after(seconds: float | None) -> str:
    return "" if seconds is None else f", median {seconds:.1f} s"


def _false(record: Record) -> str:
    count = record["false_alarms"]
    return f"{count} false alarm{'' if count == 1 else 's'}"


def _rest(record: Record) -> list[str]:
    """Return where the unreported changes are."""
    parts = [
        *([f"{record['overtaken']} overtaken by the page's next edit"] if record["overtaken"] else []),
        *([f"{record['waiting']} not checked yet"] if record["waiting"] else []),
    ]
    return [f"Of the others: {', '.join(parts)}."] if parts else []


def _note(record: Record, width: int) -> list[str]:
    match record["kind"]:
        case "begin":
            text = (
                f"A town of {record['pages']} pages opens on this machine, and `tidings serve` watches it. Nothing leaves the"
                " machine. Ctrl-C ends it."
            )
            return [*textwrap.wrap(text, width), ""]
        case "ready":
            inbox = [f"Its inbox: {record['url']}"] if record.get("url") else []
            return [f"Ready after {record['seconds']:.1f} s.", *inbox, "", head(width)]
        case "error":
            what = "is blocked, not changed" if record["error"] == "blocked" else "cannot be read"
            why = record["text"].partition(";")[0]
            text = f"{what}: {why}. Nobody is notified; it is checked again in {record['retry_seconds']} s."
            return _wrap(record, [text], width)
        case "recovered":
            return _wrap(record, [f"can be read again, after {record['seconds']:.0f} s."], width)
        case "fault":
            return _wrap(
                record, [f"The service has met a fault of its own; {record['log']} says more. Please report it."], width
            )
        case "killed":
            return _wrap(record, [f"The service (process {record['pid']}) is killed with kill -9."], width)
        case "back":
            return _wrap(record, [f"It is back after {record['seconds']:.1f} s."], width)
        case _:
            times = {0: "", 1: " One message came twice, with the same id."}
            repeated = times.get(record["repeated"], f" {record['repeated']} messages came twice, with the same ids.")
            text = f"Nothing lost: {record['versions']} versions and {record['changes']} changes are there, each was reported.{repeated}"
            return _wrap(record, [text], width)


@dataclass(frozen=True, slots=True)
class Logged:
    """An edit: when, and the content from then on."""

    at: Instant
    text: str
    content: str


@dataclass(frozen=True, slots=True)
class Notified:
    """A message: it reported a page after its first `number` edits, and arrived `at`."""

    number: int
    at: Instant


@dataclass(frozen=True, slots=True)
class Tally:
    """The reported edits: their delays, how many were overtaken by later ones, how many are
    pending.
    """

    delays: tuple[Duration, ...] = ()
    overtaken: int = 0
    waiting: int = 0

    @property
    def reported(self) -> int:
        """Return how many changes were reported."""
        return len(self.delays)

    @property
    def median_seconds(self) -> float | None:
        """Return the median delay, None if nothing was reported."""
        return median(self.delays) / 1_000_000 if self.delays else None

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.delays + other.delays, self.overtaken + other.overtaken, self.waiting + other.waiting)


Log = Mapping[str, Sequence[Logged]]
"""Page → its edits in order."""


def tally(log: Log, tellings: Mapping[str, Sequence[Notified]]) -> Tally:
    """Return the tally of messages. A delay runs from the oldest edit of a message to its
    arrival.
    """
    return sum((_tally(edits, tellings.get(place, ())) for place, edits in log.items()), Tally())


def _tally(edits: Sequence[Logged], tellings: Sequence[Notified]) -> Tally:
    delays: list[Duration] = []
    overtaken = seen = 0
    for notice in sorted(tellings, key=lambda notice: notice.number):
        if notice.number > seen:
            delays.append(notice.at - edits[seen].at)
            overtaken += notice.number - seen - 1
            seen = notice.number
    return Tally(tuple(delays), overtaken, len(edits) - seen)


def evenly(polls: int, places: Sequence[str]) -> dict[str, int]:
    """Return the polls of each page if all have the same interval; the remainder goes to the first
    ones.
    """
    each, left = divmod(polls, len(places))
    return {place: each + (number < left) for number, place in enumerate(places)}


Span = tuple[Instant, Instant]


def count_fixed_interval(
    log: Log,
    opening: Mapping[str, str],
    *,
    polls: Mapping[str, int],
    alive: Sequence[Span],
    is_down: Callable[[str, Instant], bool] = lambda place, at: False,  # noqa: ARG005 - never
) -> Tally:
    """Return the tally of evenly spaced checks at each page over the periods in which the service
    was `alive`.

    Each check is in the middle of its interval and is reported at once. A poll of a page whose
    server is down finds nothing. `opening` has the contents before the first edit.

    Args:
        log: The edits of each page.
        polls: The number of checks of each page.
        is_down: Whether the server of a page is down at an instant.
    """
    total = Tally()
    for place, edits in log.items():
        seen = [at for at in _instants(alive, polls[place]) if not is_down(place, at)]
        total += _count_fixed(edits, opening[place], seen)
    return total


def _instants(alive: Sequence[Span], polls: int) -> list[Instant]:
    """Return the midpoints of `polls` equal parts of the joined periods."""
    whole = sum(end - begin for begin, end in alive)
    found: list[Instant] = []
    before = 0
    for begin, end in alive:
        while len(found) < polls and (at := whole * (2 * len(found) + 1) // (2 * polls)) < before + end - begin:
            found.append(begin + at - before)
        before += end - begin
    return found


def _count_fixed(edits: Sequence[Logged], opening: str, polls: Sequence[Instant]) -> Tally:
    instants = [edit.at for edit in edits]
    tellings: list[Notified] = []
    shown = opening
    for at in polls:
        number = bisect_right(instants, at)
        content = edits[number - 1].content if number else opening
        if content != shown:
            tellings.append(Notified(number, at))
            shown = content
    return _tally(edits, tellings)
