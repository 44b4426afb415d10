"""Promise: a real service whose machine's clock was wrong for a while goes on once it is right (F-21); `bench/clocks.py` is the long form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.wrong_clocks import DAY, need_faketime, set_clock, to_year_2038
from tidings.storage.watches import events


@pytest.mark.parametrize("ahead", [lambda: DAY, to_year_2038], ids=["a day", "to 2038"])
def test_a_service_goes_on_after_a_wrong_clock(tmp_path: Path, ahead: Callable[[], int]):
    """Once a clock that was ahead is right again each page is checked within its interval, in no burst, and an event says that it was wrong."""
    with set_clock(tmp_path / "data", need_faketime()) as story:
        story.add()
        service = story.serve()
        _, after = story.be_wrong(ahead(), hold=4.0, watch=9.0)
        printed = service.err
    wrong = story.place.read(events.listing, types=("clock.wrong",))

    assert [] == after.faults, after
    assert 1 == len(wrong), printed
