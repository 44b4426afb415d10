import asyncio
import subprocess
import sys
from dataclasses import replace

import pytest

from tidings.errors import SettingError
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event, Unit
from tidings.service.notify.deliver import STREAMED
from tidings.settings import ServeSettings, Settings
from tidings.web.door import Door
from tidings.web.listening import listen


def door(**serve):
    return Door(replace(Settings(), serve=ServeSettings(**{"port": 0, **serve})))


def test_nothing_that_answers_is_imported_before_it_opens():
    """A service is ready as soon as before there was a door (stack: 0.06 s of CPU for what answers, loaded once it is ready)."""
    code = "import sys, tidings.web.door; print(sorted({'starlette', 'uvicorn', 'h11'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]\n" == done.stdout


def test_a_door_that_is_open_to_strangers_is_none():
    """It is refused before anything is taken or made."""
    with pytest.raises(SettingError, match=r"serve\.token"):
        door(host="0.0.0.0")


def test_a_door_that_was_never_opened_gives_its_port_back():
    """A service that stops before it was ready leaves nothing behind."""
    first = door()
    first.bind()
    port = int(first.url.rpartition(":")[2])
    asyncio.run(first.close())

    listen(ServeSettings(port=port)).close()


@pytest.mark.parametrize(("kind", "is_woken"), [(STREAMED, True), ("change.found", False)])
def test_followers_are_woken_for_what_is_on_the_stream(kind, is_woken):
    """And for nothing else: a busy service does not let them read the database in vain."""
    one = door()
    waiting = one.arrivals.join()
    one.note(Unit(at=1, epoch=1, events=(Event(type=EventType.PAGE_OK, at=1), Event(type=kind, at=1))))

    assert is_woken == waiting.is_set()
