"""Promise: a real service whose machine's clock was wrong for a while goes on once it is right (F-21); `bench/clocks.py` is the long form."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.wrong_clocks import DAY, need_faketime, set_clock, to_year_2038
from tidings.storage.watches import events


def test_a_service_goes_on_after_a_wrong_clock(tmp_path: Path):
    """Once a clock that was a day ahead, or in 2038, is right again each page is checked within its
    interval, in no burst, and an event says that it was wrong.
    """
    fake = need_faketime()

    def play(name: str, ahead: int) -> tuple[list[str], int]:
        with set_clock(tmp_path / name, fake) as story:
            story.add()
            story.serve()
            _, after = story.be_wrong(ahead, hold=4.0, watch=9.0)
        return after.faults, len(story.place.read(events.listing, types=("clock.wrong",)))

    with ThreadPoolExecutor() as pool:  # two installations, side by side
        played = list(pool.map(play, ("day", "2038"), (DAY, to_year_2038())))

    assert [([], 1)] * 2 == played
