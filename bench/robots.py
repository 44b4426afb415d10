"""Our reading of robots.txt beside plain Protego and the standard library, on 665 real files and 11,382 verdicts.

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR .venv/bin/python bench/robots.py [--show]

We read by Protego too, but keep only the groups that concern us, strip a byte order mark and stop after 500 KiB (RFC 9309 §2.5).
`--show` prints each row where we differ from plain Protego.
"""

from __future__ import annotations

import argparse
from collections import Counter

from tests import data_sets
from tidings.fetching.robots import MAX_ROBOTS_BYTES, parse


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--show", action="store_true")
    show = arguments.parse_args().show
    files = dict(data_sets.files_of("conformance/robots.tar.zst"))
    rows = data_sets.rows_of("conformance/robots_verdicts.csv.gz")
    read: dict[tuple[str, str], object] = {}
    counts: Counter[str] = Counter()
    for row in rows:
        key = (row["file"], row["user_agent"])
        if key not in read:
            read[key] = parse(files[row["file"]][:MAX_ROBOTS_BYTES], row["user_agent"])
        ours = read[key].can_fetch(f"http://example.org{row['path']}", row["user_agent"])  # type: ignore[attr-defined]
        protego, stdlib = row["protego_allows"] == "1", row["stdlib_allows"] == "1"
        counts["rows"] += 1
        counts["as Protego"] += ours == protego
        counts["as the standard library"] += ours == stdlib
        counts["Protego as the standard library"] += protego == stdlib
        if show and ours != protego:
            print(
                f"{row['file']}  {row['user_agent']}  {row['path']}  ours {ours}, Protego {protego}, standard library {stdlib}"
            )
    for name, count in counts.items():
        print(f"{name:34} {count:6,} {count / counts['rows']:8.2%}")


if __name__ == "__main__":
    main()
