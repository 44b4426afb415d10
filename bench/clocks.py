"""Run real services whose machine's clock is wrong for a while, then right (F-21).

    PYTHONPATH=. python bench/clocks.py [STORY …]

Needs libfaketime (`apt-get install faketime`). Each story is a `tidings serve` of its own with two
loopback hosts of two pages, `Fetch every 2 s`, a host gap of 0.2 s and a budget of 4 checks at once
and 3 a second. A clock that is not shifted judges what the hosts saw, while the clock is wrong and
after it:

- each page is checked within its interval and the slack (3 s, and the time that `tidings add` took,
  as the measure of how busy the machine is);
- two requests of a host arrive at least 0.1 s apart (the gap less 0.1 s for a busy machine);
- the budget is kept in every stretch of time (0.6 checks of tolerance).

It prints a line a story and takes about a minute and a half. The exit status is 1 if one fails. A
machine that really sleeps stops its monotonic clock too; here it goes on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from tests.wrong_clocks import DAY, HOUR, SLACK, Clocked, Seen, library, set_clock, to_year_1970, to_year_2038

HOLD, WATCH = 5.0, 10.0
"""seconds for which a clock is wrong, and is watched once it is right"""
AT_ONCE = 2
SPRING = datetime(2027, 3, 28, 1, tzinfo=UTC)
AUTUMN = datetime(2027, 10, 31, 1, tzinfo=UTC)
"""when clocks in Berlin go from 02:00 to 03:00, and from 03:00 to 02:00"""
BERLIN = "Create Sentinel daily Using {{d}} Monitor any change Fetch at {at} Zone Europe/Berlin"
Found = list[tuple[str, Seen]]


def be_wrong(story: Clocked, seconds: Callable[[], int]) -> tuple[Found, list[str]]:
    """A running service, a wrong clock, the right one again."""
    story.add()
    story.serve()
    meanwhile, after = story.be_wrong(seconds(), hold=HOLD, watch=WATCH)
    return [("wrong", meanwhile), ("right", after)], []


def change_hour(story: Clocked, change: datetime, expected: int) -> tuple[Found, list[str]]:
    """A running service sees the hour change; of the page with a time of day `expected` checks come then."""
    story.move_to(change - timedelta(minutes=3))
    story.add()
    story.serve()
    story.move_to(change - timedelta(seconds=4))
    begun = time.monotonic()
    seen = story.watch(HOLD + WATCH)
    daily = sum(path == "/d" for _, (_, path) in story.log(begun))
    return [("across", seen)], [] if daily == expected else [f"{daily} daily checks, not {expected}"]


def suspend(story: Clocked) -> tuple[Found, list[str]]:
    """A running service sleeps for eight hours."""
    story.add()
    service = story.serve()
    return [("after", story.suspend(service, 8 * HOUR, watch=WATCH))], []


def check_first(story: Clocked) -> tuple[Found, list[str]]:
    """A check by a clock that is in 2038, then a service by the right one."""
    story.add()
    story.shift(to_year_2038())
    checked = story.place.run("check")
    story.shift(0)
    service = story.place.serve()
    service.wait_ready()
    return [("right", story.watch(WATCH))], [] if checked.returncode == 0 else [
        f"check ended with {checked.returncode}"
    ]


STORIES: dict[str, tuple[Callable[[Clocked], tuple[Found, list[str]]], str]] = {
    "90-minutes": (partial(be_wrong, seconds=lambda: 90 * 60), ""),
    "a-day": (partial(be_wrong, seconds=lambda: DAY), ""),
    "2038": (partial(be_wrong, seconds=to_year_2038), ""),
    "1970": (partial(be_wrong, seconds=to_year_1970), ""),
    "spring": (partial(change_hour, change=SPRING, expected=1), BERLIN.format(at="03:00")),
    "autumn": (partial(change_hour, change=AUTUMN, expected=0), BERLIN.format(at="02:00")),
    "suspend": (suspend, ""),
    "check-first": (check_first, ""),
}


def run_story(name: str, fake: Path, folder: Path) -> bool:
    """Play a story and print its line; return whether all was well."""
    play, more = STORIES[name]
    try:
        with set_clock(folder / name, fake, more) as story:
            seen, faults = play(story)
    except AssertionError as error:
        seen, faults = [], [str(error)[-500:]]
    faults = [*faults, *(f"{when}: {fault}" for when, each in seen for fault in each.faults)]
    figures = "; ".join(f"{when}: {each}" for when, each in seen)
    print(
        f"{name:<12} {'FAILS' if faults else 'well '} {figures}{''.join(f' | {fault}' for fault in faults)}", flush=True
    )
    return not faults


def main() -> int:
    """Print a line a story; return 1 if one fails."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("stories", nargs="*", metavar="STORY", help=", ".join(STORIES))
    chosen = options.parse_args().stories or list(STORIES)
    if unknown := set(chosen) - set(STORIES):
        options.error(f"no such story: {', '.join(sorted(unknown))}")
    fake = library()
    if fake is None:
        print("there is no libfaketime here; `apt-get install faketime` brings it", file=sys.stderr)
        return 2
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        good = list(pool.map(lambda name: run_story(name, fake, Path(folder)), chosen))
    print(f"{sum(good)} of {len(good)} stories well (slack {SLACK:g} s + `add`), {time.monotonic() - begun:.0f} s")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
