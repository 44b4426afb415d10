"""Fill and empty the disk of a service that watches fifty pages; then try other faults (F-08).

    .venv/bin/python bench/disk.py [--times 20] [--pages 50] [--seconds 4] [--faults]

The disk is filled twenty times. It is a tmpfs of 24 MB, which only root may mount. Elsewhere it
says why it does nothing. `--faults` tries, besides a full disk: no inode free, no descriptor free,
no memory, a limit on file sizes, and by strace a quota, a read-only file system, errors of writes
and of fsync. After each fault every page must show what it is within a minute. Ends with status 1
if one did not, a version was lost, a state did not say disk, or not exactly one report was sent.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.full_disk import FAULTS, INJECTED, DiskLoop, Fault, Pages, no_room, small_disk, why_not
from tests.syscall_kills import is_possible


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=4.0, help="how long each fault lasts, at least")
    parser.add_argument("--faults", action="store_true", help="every kind of fault once instead")
    parser.add_argument("--only", help="with --faults: this one")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidings-disk-") as folder:
        if reason := why_not(Path(folder)):
            print(f"skipped: {reason}")
            return 0
        faults: dict[str, Fault] = {f"full {n + 1}": no_room for n in range(arguments.times)}
        if arguments.faults:
            faults = {**FAULTS, **(INJECTED if is_possible() else {})}
            if not is_possible():
                print("skipped: faults that strace injects; it is not here, or may not trace")
            faults = {name: fault for name, fault in faults.items() if arguments.only in {None, name}}
        with small_disk(Path(folder) / "disk", inodes=4_000) as disk, Pages(arguments.pages) as web:
            loop = DiskLoop(disk, web, logs=Path(folder) / "logs")
            try:
                report = loop.run(faults, seconds=arguments.seconds, say=lambda text: print(text, flush=True))
            finally:
                loop.place.close()
    slowest = max((r.seconds for r in report.rounds if r.seconds is not None), default=0.0)
    print(
        f"{len(report.rounds)} faults, {arguments.pages} pages; slowest to go on {slowest:.1f} s; {report.versions} versions, all restored;"
        f" {report.reports} report; {len(report.faults)} violations"
    )
    for fault in report.faults:
        print(f"  {fault}")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
