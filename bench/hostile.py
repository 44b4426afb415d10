"""Every hostile input of `docs/design/hostile.md` that concerns fetching or what is inside a body: what came of it, its memory and its time.

    PYTHONPATH=. .venv/bin/python bench/hostile.py [--only H-044]

The inputs are `tests/hostile_rows.py`, the table that the tests use. The servers are in this process; what is asked is asked by a fresh
process for each row, which has imported the client and has asked for nothing yet. What only the whole product can answer
(`tests/hostile_product.py`) is played by it, in this process and without a figure of memory; contents of bodies
(`tests/hostile_content.py`) are examined in a fresh process each. Memory is the growth of that process' peak
(`VmHWM`) over its resident memory when it began, so that what the first fetch of any process loads is in it. Linux only. Ends with 1
if a row does not end as required or goes over one of its limits.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from tests.hostile import Row, Stage, act
from tests.hostile_rows import rows

if TYPE_CHECKING:
    from tests.hostile_content import ContentRow
    from tests.hostile_product import ProductRow

LONGEST_TEXT = 64


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a row; memory in MiB."""

    row: Row | ProductRow | ContentRow
    got: str
    growth: float | None
    seconds: float

    @property
    def is_right(self) -> bool:
        """Say whether it ended as required, inside its limits."""
        row = self.row
        if self.got != row.expected or self.growth is None:
            return self.got == row.expected
        limits = row  # only the product has none
        return self.growth <= limits.most_mebibytes and self.seconds <= limits.most_seconds  # type: ignore[union-attr]


def memory(name: str) -> int:
    """Return a line of /proc/self/status in KiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def ask_apart(pipe: Connection) -> None:
    """Do what comes through the pipe, in this process, and send back the result and the growth of memory in KiB."""
    ask = pipe.recv()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # VmHWM begins again
    before = memory("VmRSS")
    result = act(ask)
    pipe.send((result, memory("VmHWM") - before))


def play(row: Row) -> Played:
    """Play one row."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    with Stage() as stage:
        ask = row.scene(stage)
        child = context.Process(target=ask_apart, args=(theirs,))
        child.start()
        theirs.close()
        try:
            ours.send(ask)
            result, growth = ours.recv()
        finally:
            child.kill()
            child.join()
        return Played(row, row.see(stage, result), growth / 1024, result.seconds)


def examine_apart(pipe: Connection, number: int) -> None:
    """Play a row of contents in this process, and send back what came of it, the growth of memory in KiB and CPU seconds."""
    from tests.hostile_content import CONTENT_ROWS

    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before, began = memory("VmRSS"), time.process_time()
    got = CONTENT_ROWS[number].story()
    pipe.send((got, memory("VmHWM") - before, time.process_time() - began))


def play_content(row: ContentRow, number: int) -> Played:
    """Play one row of contents; what it needs to make its input is counted too."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=examine_apart, args=(theirs, number))
    child.start()
    theirs.close()
    try:
        got, growth, seconds = ours.recv()
    finally:
        child.kill()
        child.join()
    return Played(row, got, growth / 1024, seconds)


def play_whole(row: ProductRow) -> Played:
    """Play one row against a whole Tidings on a manual clock."""
    from tests.fakes import WebServer
    from tests.world import World

    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, WebServer() as server:
        got = row.story(World(Path(folder) / "data", server))
    return Played(row, got, None, time.monotonic() - began)


def lines(played: Played) -> Iterator[str]:
    """Yield the row of the table."""
    row = played.row
    what = row.what if len(row.what) <= LONGEST_TEXT else f"{row.what[: LONGEST_TEXT - 1]}…"
    got = played.got if played.is_right else f"**{played.got}**"
    growth = "" if played.growth is None else f"{played.growth:.1f}"
    cell = what.replace("|", "\\|").replace("\t", "\\t")
    yield f"| {row.id} | {cell} | {row.word}: {row.expected} | {got} | {growth} | {played.seconds:.2f} |"


def main() -> int:
    """Print the table; return 1 if a row is wrong."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="", help="rows whose id begins so")
    chosen = options.parse_args()
    print("| id | input | required | got | RSS growth MiB | seconds |\n|---|---|---|---|---:|---:|")
    # not above: the processes that ask import this file and are to stay small
    from tests.hostile_content import CONTENT_ROWS
    from tests.hostile_product import PRODUCT_ROWS

    plays: list[tuple[str, Callable[[], Played]]] = [
        *((row.id, partial(play, row)) for row in rows()),
        *((row.id, partial(play_whole, row)) for row in PRODUCT_ROWS),
        *((row.id, partial(play_content, row, number)) for number, row in enumerate(CONTENT_ROWS)),
    ]
    played = []
    for id_, played_by in sorted(plays, key=lambda one: one[0]):
        if id_.startswith(chosen.only):
            played.append(played_by())
            print(*lines(played[-1]), sep="\n", flush=True)
    right = sum(one.is_right for one in played)
    ids = {one.row.id for one in played}
    whole = ids - {one.row.id for one in played if not one.is_right}
    most = max((one for one in played if one.growth is not None), key=lambda one: one.growth or 0)
    print(
        f"\n{right}/{len(played)} as required, {len(whole)}/{len(ids)} ids; most memory {most.growth or 0:.1f} MiB ({most.row.id})"
    )
    return int(right != len(played))


if __name__ == "__main__":
    sys.exit(main())
