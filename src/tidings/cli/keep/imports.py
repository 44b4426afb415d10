"""`tidings import FILE|DIR`: import another program's jobs as sentinels; --dry-run shows them."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.cli.output import add_json, write_beside, write_json, write_line
from tidings.clock import SystemClock
from tidings.service.imports.draft import GRADES
from tidings.service.imports.import_jobs import Imported, take_in

if TYPE_CHECKING:
    from tidings.service.imports.draft import Judged
    from tidings.settings import Settings

WORDS = {
    "translated": "means the same",
    "approximated": "differs",
    "refused": "is left out",
    "state": "a counter or cache of that program",
}


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("source", type=Path, metavar="FILE|DIR", help="what to import; Tidings recognises the format")
    parser.add_argument(
        "--dry-run", action="store_true", help="print the sentinels and what happens to each field; store nothing"
    )
    parser.add_argument(
        "--schedule",
        choices=("keep", "learn"),
        default="keep",
        help="keep: keep each interval (default); learn: let Tidings choose, from a quarter of the interval to four times the interval",
    )
    parser.add_argument("--details", action="store_true", help="also list the fields that Tidings takes over unchanged")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Import, or print what would be imported."""
    found = take_in(
        settings,
        arguments.source,
        now=SystemClock().now(),
        learn=arguments.schedule == "learn",
        dry_run=arguments.dry_run,
    )
    if arguments.json:
        _write_records(found, is_dry=arguments.dry_run)
    else:
        for one in found.judged:
            _print(one, found, with_text=arguments.dry_run, with_all=arguments.details)
        _sum_up(found, arguments)
    return 0


def _write_records(found: Imported, *, is_dry: bool) -> None:
    for one in found.judged:
        notes = [{"grade": note.grade, "field": note.field, "text": note.text} for note in one.notes]
        write_json(
            {
                "record": "imported",
                "name": one.name,
                "url": one.draft.url,
                "from": one.draft.peer,
                "grade": one.grade,
                "text": one.shown,
                "stored": one.name in found.stored and not is_dry,
                "already": one.name in found.already,
                "changes_a_day": found.rates.get(one.name),
                "notes": notes,
            }
        )
    grades = Counter(one.grade for one in found.judged)
    write_json({"record": "import", "format": found.format.name, **{grade: grades[grade] for grade in GRADES[:3]}})


def _print(one: Judged, found: Imported, *, with_text: bool, with_all: bool) -> None:
    listed = [note for note in one.notes if with_all or note.grade in {"approximated", "refused"}]
    if with_text and one.text:
        for line in one.shown.splitlines():
            write_line(line)
    elif listed or not one.text:
        write_line(f"{one.name}: {one.draft.url}")
    for note in listed:
        write_line(f"  {note.field}: {WORDS[note.grade]}{': ' + note.text if note.text else ''}")
    if one.name in found.rates:
        write_line(f"  history: {found.rates[one.name]:.2g} changes a day expected")
    if with_text:
        write_line()


def _sum_up(found: Imported, arguments: argparse.Namespace) -> None:
    grades = Counter(one.grade for one in found.judged)
    write_line(
        f"{found.format.name}: {len(found.judged):,} job{'' if len(found.judged) == 1 else 's'}:"
        f" {grades['translated']:,} mean the same, {grades['approximated']:,} differ or lack something,"
        f" {grades['refused']:,} are left out"
    )
    if found.rates:
        write_line(f"the file says how often {len(found.rates):,} pages change")
    if arguments.dry_run:
        if any(one.shown != one.text for one in found.judged):
            write_line("addresses of receivers are secrets, and are only shown in part")
        write_line(
            f"nothing is stored; without --dry-run, {len(found.stored):,} would be stored; {len(found.already):,} "
            "exist already"
        )
    else:
        write_line(f"{len(found.stored):,} are stored, {len(found.already):,} existed already; nobody is notified")
    if arguments.schedule == "keep" and any(one.draft.every for one in found.judged):
        write_beside("the intervals are kept; with --schedule learn, Tidings chooses when to check")
