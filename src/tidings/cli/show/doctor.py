"""`tidings doctor`: check the installation. One line per finding, ok, warn or fail, with the
command that fixes it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING, Any

from tidings.cli.output import add_json, write_json, write_line
from tidings.clock import SystemClock
from tidings.service.health import doctor

if TYPE_CHECKING:
    from tidings.service.show.finding import Finding
    from tidings.settings import Settings
    from tidings.storage.db.database import Database


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("--deep", action="store_true", help="also read every stored body and compare it with its hash")
    parser.add_argument("--exit-code", action="store_true", help="exit with 1 if there is a problem")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Examine and print; a database that cannot be opened is a finding too."""
    database, refusal = doctor.attempt(settings)
    try:
        found: Counter[str] = Counter()
        for finding in doctor.examine(
            settings,
            database,
            refusal=refusal,
            now=SystemClock().wall(),
            installed=doctor.get_installed(),
            restore=_restore(settings, database) if arguments.deep and database is not None else None,
        ):
            found[finding.status] += 1
            _print(finding, as_json=arguments.json)
    finally:
        if database is not None:
            database.close()
    if not arguments.json:
        write_line()
        write_line(", ".join(f"{found[status]} {status}" for status in ("ok", "warn", "fail")))
    return 1 if arguments.exit_code and found.keys() - {"ok"} else 0


def record(finding: Finding) -> dict[str, Any]:
    """Return a finding as `--json` prints it."""
    return {
        "record": "check",
        "what": finding.what,
        "status": finding.status,
        "detail": finding.detail,
        "mend": finding.mend,
    }


def _print(finding: Finding, *, as_json: bool) -> None:
    if as_json:
        write_json(record(finding))
        return
    mend = f"  (fix: {finding.mend})" if finding.mend else ""
    write_line(f"{finding.status:<4}  {finding.what:<16}  {finding.detail}{mend}")


def _restore(settings: Settings, database: Database) -> doctor.Restore:
    from tidings.service.run.from_settings import open_archive  # it loads the whole service, only for --deep

    return open_archive(settings, dialect=database.dialect).restore
