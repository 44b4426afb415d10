"""Backup and restore on a directory of some size, while versions are written beside them.

PYTHONPATH=. .venv/bin/python bench/backups.py [--mb 300] [--rate 50]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

from tests.backups import NOON, content, fill, put
from tidings.archive.archive import Archive
from tidings.errors import TidingsError
from tidings.service.backup.backup import back_up
from tidings.service.backup.restore import restore, verify
from tidings.settings import load
from tidings.storage.db.database import open_database

BODY = 80_000
"""Bytes of a body that becomes a file; as many again are kept in rows."""
ALONE_SECONDS = 10.0
"""How long versions are written before the first backup, to compare."""


def grow(data: Path, megabytes: int) -> None:
    """Fill a directory, half in rows and half in files."""
    fill(data, "one")
    with contextlib.closing(open_database(load(data, environment={}))) as database:
        for file_bytes in (None, 100):
            archive = Archive(data / "blobs", file_bytes=file_bytes, chain_length=10)
            for _ in range(megabytes * 1_000_000 // BODY // 2):
                put(database, archive, os.urandom(BODY))


def churn(data: Path, rate: float, report: Path) -> None:
    """Write a version so many times a second, and remove the file of the one before, as a poller
    does, until the report is asked for.
    """
    archive = Archive(data / "blobs", file_bytes=100, chain_length=10)
    written: list[float] = []
    with contextlib.closing(open_database(load(data, environment={}))) as database:
        last = ""
        begun = time.monotonic()
        while not report.with_suffix(".stop").exists():
            at = time.monotonic()
            put(database, archive, os.urandom(BODY))
            new = database.read(lambda c: c.value("SELECT file FROM blob ORDER BY rowid DESC LIMIT 1"))
            if last:
                database.write(lambda c, gone=last: c.execute("DELETE FROM blob WHERE file = :gone", gone=gone))
                archive.remove([last])
            last = new
            written.append(time.monotonic() - at)
            time.sleep(max(0.0, begun + len(written) / rate - time.monotonic()))
    report.write_text(json.dumps(written))


def start_churn(data: Path, rate: float, report: Path) -> int:
    """Start `churn` in a process, and return its id."""
    child = os.fork()
    if child == 0:
        churn(data, rate, report)
        os._exit(0)
    return child


def stop_churn(child: int, report: Path) -> list[float]:
    """Stop it; return the seconds that each version took, ascending."""
    report.with_suffix(".stop").touch()
    os.waitpid(child, 0)
    return sorted(json.loads(report.read_text()))


def describe(held: list[float], seconds: float) -> str:
    """Return the pace and the times of written versions."""
    middle, longest = held[len(held) // 2] * 1e3, held[-1] * 1e3
    pace = len(held) / seconds
    return f"{pace:.0f} versions a second were written; one took {middle:.1f} ms (median), {longest:.0f} ms at most"


def main() -> None:
    """Print what it takes, and whether every backup that was made is whole."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mb", type=int, default=300)
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tidings-backups-"))
    try:
        data = folder / "data"
        grow(data, given.mb)
        settings, violations = load(data, environment={}), 0
        report = folder / "alone.json"
        child = start_churn(data, given.rate, report)
        time.sleep(ALONE_SECONDS)
        print(f"before it {describe(stop_churn(child, report), ALONE_SECONDS)}")
        report = folder / "written.json"
        child = start_churn(data, given.rate, report)
        begun = time.monotonic()
        for number in range(given.times):
            at = time.monotonic()
            made = back_up(settings, folder / "b.tar", at=NOON, overwrite=True)
            seconds = time.monotonic() - at
            print(
                f"backup {number + 1}: {made.size / 1e6:,.0f} MB in {seconds:.2f} s, "
                f"{made.size / 1e6 / seconds:,.0f} MB/s"
            )
            try:
                verify(folder / "b.tar", deep=True)
            except TidingsError as error:
                violations += 1
                print(error)
        elapsed = time.monotonic() - begun
        print(f"meanwhile {describe(stop_churn(child, report), elapsed)}")
        at = time.monotonic()
        restore(load(folder / "new", environment={}), folder / "b.tar", at=NOON, ask=None)
        seconds = time.monotonic() - at
        per_second = made.size / 1e6 / seconds
        print(
            f"restore: {seconds:.2f} s, {per_second:,.0f} MB/s; 10 GB at this pace: {10_000 / per_second / 60:.1f} min"
        )
        print(f"bodies given back after it: {content(folder / 'new')[1]:,}; backups that were not whole: {violations}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
