"""`tidings backup FILE|DIR`, `restore FILE`, `verify FILE`: all data in one file."""

from __future__ import annotations

import argparse
import getpass
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.cli.output import add_json, write_beside, write_json, write_line
from tidings.clock import SECOND, SystemClock
from tidings.errors import UsageError
from tidings.model.secret import Secret
from tidings.service.backup.backup import Made, back_up
from tidings.service.backup.package import FILES
from tidings.service.backup.restore import Restored, Verified, restore, verify
from tidings.service.show.records import rfc3339

if TYPE_CHECKING:
    from tidings.service.backup.package import Manifest
    from tidings.settings import Settings


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Declare the arguments."""
    if verb == "backup":
        parser.add_argument(
            "target",
            type=Path,
            metavar="FILE|DIR",
            help="the file to write; if you name a directory, the name of the file is the date and time",
        )
        parser.add_argument(
            "--with-secrets",
            action="store_true",
            help="include secrets.key and the file with settings, encrypted with a passphrase",
        )
        parser.add_argument(
            "--keep",
            type=int,
            default=0,
            metavar="N",
            help="for DIR: delete all but the N newest backups (default: delete none)",
        )
        parser.add_argument(
            "--verify",
            action="store_true",
            help="check the whole backup, as `verify --deep` does, before it replaces or deletes others",
        )
        parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")
    else:
        parser.add_argument("target", type=Path, metavar="FILE", help="the backup")
    if verb == "restore":
        parser.add_argument(
            "--replace", action="store_true", help="move the present data to before-restore-TIME/ first"
        )
        parser.add_argument(
            "--trust",
            action="store_true",
            help="do not pause sentinels that run commands, read files or fetch private addresses",
        )
        parser.add_argument(
            "--without-secrets", action="store_true", help="do not restore secrets.key and tidings.toml"
        )
    if verb == "verify":
        parser.add_argument(
            "--deep",
            action="store_true",
            help="also unpack the backup and compare every stored body with its hash; this needs disk space",
        )
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Run one of the three."""
    if arguments.verb == "backup":
        verified: list[Verified] = []
        made = _back_up(arguments, settings, verified)
        _print_backup(made, with_secrets=arguments.with_secrets, as_json=arguments.json)
        for found in verified:
            _print_verification(made.path, found, as_json=arguments.json)
    elif arguments.verb == "restore":
        ask = None if arguments.without_secrets else _ask
        _print_restoration(
            restore(
                settings,
                arguments.target,
                at=SystemClock().wall(),
                ask=ask,
                replace=arguments.replace,
                trust=arguments.trust,
            ),
            settings,
            as_json=arguments.json,
        )
    else:
        _print_verification(arguments.target, verify(arguments.target, deep=arguments.deep), as_json=arguments.json)
    return 0


def _back_up(arguments: argparse.Namespace, settings: Settings, verified: list[Verified]) -> Made:
    if arguments.keep < 0:
        message = "--keep N needs a number of at least 1"
        raise UsageError(message)
    return back_up(
        settings,
        arguments.target,
        at=SystemClock().wall(),
        passphrase=_ask_twice() if arguments.with_secrets else None,
        keep=arguments.keep,
        overwrite=arguments.overwrite,
        check=(lambda path: verified.append(verify(path, deep=True))) if arguments.verify else None,
    )


def _ask() -> Secret:
    """Return the passphrase, from a hidden prompt or the first line of standard input."""
    if sys.stdin.isatty():
        return Secret(getpass.getpass("passphrase: "))
    return Secret(sys.stdin.readline().removesuffix("\n").removesuffix("\r"))


def _ask_twice() -> Secret:
    first = _ask()
    if sys.stdin.isatty() and getpass.getpass("repeat: ") != first.reveal():
        message = "the two passphrases differ"
        raise UsageError(message)
    return first


def _record(manifest: Manifest) -> dict[str, Any]:
    return {
        "made_at": rfc3339(manifest.at),
        "tidings": manifest.tidings,
        "schema": manifest.schema,
        "installation": manifest.installation,
        "files": manifest.files,
        "has_secrets": manifest.has_secrets,
    }


def _print_backup(made: Made, *, with_secrets: bool, as_json: bool) -> None:
    if as_json:
        deleted = [str(path) for path in made.deleted]
        write_json(
            {
                "record": "backup",
                "file": str(made.path),
                "bytes": made.size,
                **_record(made.manifest),
                "secret_files": list(made.secret_files),
                "not_decrypted": list(made.shut),
                "deleted": deleted,
            }
        )
        return
    contents = f"the database and {made.manifest.files:,} file{'' if made.manifest.files == 1 else 's'} of bodies"
    write_line(f"{made.path}: {made.size:,} bytes, {contents}")
    for path in made.deleted:
        write_line(f"{path} is deleted")
    if made.secret_files:
        write_line(f"with {' and '.join(made.secret_files)}, encrypted")
    if not with_secrets:
        write_beside("the backup has no secrets.key and no tidings.toml: keep a copy of both, or use --with-secrets")
    for name in FILES if with_secrets else ():
        if name not in made.secret_files:
            write_beside(f"the backup has no {name}, because this installation has none")
    if made.shut:
        write_beside(f"the key of these secrets is missing, here and in the backup: {', '.join(made.shut)}")


def _print_verification(path: Path, found: Verified, *, as_json: bool) -> None:
    if as_json:
        counts = {"sentinels": found.sentinels, "bodies": found.bodies, "deep": found.is_deep}
        write_json({"record": "verified", "file": str(path), **_record(found.manifest), **counts})
        return
    given = ": restored and verified by hash" if found.is_deep else " (--deep restores and verifies them)"
    write_line(f"{path} is complete: made {_day(found.manifest.at)} by Tidings {found.manifest.tidings}")
    write_line(
        f"{found.sentinels:,} sentinel{'' if found.sentinels == 1 else 's'}, {found.bodies:,} {'body' if found.bodies == 1 else 'bodies'}{given}"
    )


def _print_restoration(found: Restored, settings: Settings, *, as_json: bool) -> None:
    if as_json:
        write_json(
            {
                "record": "restored",
                **_record(found.manifest),
                "data": str(settings.data),
                "sentinels": found.sentinels,
                "paused": list(found.paused),
                "events_paused": list(found.sources_paused),
                "tokens": list(found.tokens),
                "secrets_restored": found.has_secrets,
                "aside": None if found.aside is None else str(found.aside),
            }
        )
        return
    count = f"{found.sentinels:,} sentinel{'' if found.sentinels == 1 else 's'}"
    write_line(f"{settings.data} is as it was on {_day(found.manifest.at)}: {count}; new messages get new ids")
    if found.aside is not None:
        write_line(f"the old data is in {found.aside}; delete it when everything works")
    if found.paused:
        write_line(f"paused, because they use this machine or its network: {', '.join(found.paused)}")
        write_line(f"if you made this backup: tidings enable {' '.join(found.paused)}")
    for name in found.sources_paused:
        write_line(
            f"the event {name} is stopped, because it reads this machine; to resume it, drop it and add it again"
        )
    if found.tokens:
        write_line(f"all API tokens of the backup are valid, also those revoked since then: {', '.join(found.tokens)}")
        write_line("`tidings token revoke NAME` revokes one; users have the passwords of the backup")
    if not found.has_secrets and not (settings.data / "secrets.key").exists():
        write_beside("secrets.key is missing: put your copy into the data directory, or set the secrets again")


def _day(at: int) -> str:
    return f"{datetime.fromtimestamp(at // SECOND, UTC):%Y-%m-%d %H:%M:%S} UTC"
