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


def test_server_libraries_are_imported_only_when_opened():
    """A service is ready as early as without a server (stack: 0.06 s of CPU for the libraries,
    which load once it is ready).
    """
    code = "import sys, tidings.web.door; print(sorted({'starlette', 'uvicorn', 'h11'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]\n" == done.stdout


def test_open_address_without_a_token_is_refused():
    """The error is raised before a port is bound."""
    with pytest.raises(SettingError, match=r"serve\.token"):
        door(host="0.0.0.0")


def test_unopened_server_releases_its_port():
    """A service may stop before it is ready."""
    first = door()
    first.bind()
    port = int(first.url.rpartition(":")[2])
    asyncio.run(first.close())

    listen(ServeSettings(port=port)).close()


@pytest.mark.parametrize(("kind", "is_woken"), [(STREAMED, True), ("change.found", False)])
def test_followers_are_woken_only_by_events_of_the_stream(kind, is_woken):
    """Other events would make them read the database in vain."""
    one = door()
    waiting = one.arrivals.join()
    one.note(Unit(at=1, epoch=1, events=(Event(type=EventType.PAGE_OK, at=1), Event(type=kind, at=1))))

    assert is_woken == waiting.is_set()
