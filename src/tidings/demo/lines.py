"""Print the demo's records in plain lines, within the width of the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

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


def _row(time: str, name: str, edit: str, told: str, delay: str, width: int) -> str:
    room = max(12, width - TIME - NAME - EDIT - DELAY - 4 * len(GAP))
    cells = (time.rjust(TIME), _cut_text(name, NAME), _cut_text(edit, EDIT), _cut_text(told, room), delay.rjust(DELAY))
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
