"""Promise: pollers in other processes fetch for one service, under its budget and its hosts'
limits, and any of them may be killed.
"""

from __future__ import annotations

import asyncio
import itertools
import threading

import pytest

from tests.buses import make_name, own_server, remove_stream
from tests.fakes import Page, WebServer
from tests.services import Installation, Service, until
from tidings.storage.observed import versions
from tidings.storage.watches import changes

GAP = 0.2
CANARY = "correct-horse-battery"


@pytest.fixture(params=["nats", "postgres"])
def bus(request):
    """Yield the variables of a bus of its own."""
    with own_server(request.param) as url:
        name = make_name()
        yield {"TIDINGS_BUS_URL": url, "TIDINGS_BUS_NAME": name, "TIDINGS_BUS_SECRET": "a secret of a test"}
        asyncio.run(remove_stream(request.param, url, name))


@pytest.fixture
def place(tmp_path, bus):
    """Yield a data directory whose pages are fetched by pollers."""
    variables = {**bus, "TIDINGS_FETCH_HOST_GAP_SECONDS": str(GAP), "TIDINGS_FETCH_USER_AGENT": "service"}
    place = Installation(tmp_path / "data", variables)
    yield place
    place.close()


def start_poller(place: Installation, tmp_path, name: str) -> Service:
    """Start a poller that has no data directory."""
    own = Installation(tmp_path / name, {**place.variables, "TIDINGS_FETCH_USER_AGENT": name})
    place.services.append(service := own.serve("--role", "poller"))
    until(lambda: "poller: takes pages" in service.err, 30, "the poller does not start")
    assert not (tmp_path / name).exists()
    return service


def test_pollers_may_be_killed_and_no_change_is_lost(place, tmp_path):
    """Two of them; each is killed and started again. Every edit is reported, gaps hold, and only
    pollers ask the server.
    """
    with WebServer("127.0.0.2") as server:
        server.pages["/"] = Page(b"<p>edit 0</p>")
        place.run(
            "add", "-", "--no-check", text=f"Create Sentinel s Using {server.url()} Monitor any change Fetch every 1 s"
        )
        service = place.serve()
        service.wait_ready()
        pollers = [start_poller(place, tmp_path, f"poller-{number}") for number in range(2)]
        until(lambda: len(server.seen) > 2, 60, "there is no baseline")
        for edit in range(1, 3):
            server.pages["/"] = Page(b"<p>edit %d</p>" % edit)
            await_edit(place, edit)
            pollers[edit % 2].kill()
            pollers[edit % 2] = start_poller(place, tmp_path, f"poller-{edit % 2}")
        starts = sorted(seen.arrived for seen in server.seen)

        assert {"poller-0", "poller-1"} >= {seen.headers["user-agent"] for seen in server.seen}
        assert [] == [gap for a, b in itertools.pairwise(starts) if (gap := b - a) < GAP - 0.02]
        assert "Traceback" not in "".join(place.outputs())


def await_edit(place: Installation, edit: int) -> None:
    """Return once a change names an edit."""
    until(lambda: str(edit) in last_summary(place), 60, "an edit was not reported")


def last_summary(place: Installation) -> str:
    """Return what the newest change says."""
    rows = place.read(changes.listing, limit=1)
    return rows[0].row.summary if rows else ""


@pytest.mark.parametrize("bus", ["nats"], indirect=True)
def test_no_secret_is_on_the_bus(place, tmp_path):
    """A password in a header and the text of a page reach the poller, and are in no byte that the
    server of the bus carries.
    """
    carried, over = bytearray(), threading.Event()
    listening = threading.Thread(target=listen, args=(place.variables, carried, over))
    listening.start()
    try:
        with WebServer("127.0.0.2") as server:
            server.pages["/"] = Page(b"<p>salaries of the board</p>")
            place.run("secret", "set", "canary", "-", text=CANARY)
            text = f'Create Sentinel s Using {server.url()} Header "X-Api-Key" secret "canary" Monitor any change'
            added = place.run("add", "-", "--no-check", text=text)
            assert 0 == added.returncode, added.stderr
            place.serve().wait_ready()
            start_poller(place, tmp_path, "poller")
            until(lambda: server.seen, 30, "nothing was asked")
            until(lambda: place.read(versions.newest, 1), 30, "nothing was fetched")

            assert CANARY == server.seen[-1].headers["x-api-key"]
    finally:
        over.set()
        listening.join()
    assert b"take" in carried
    for word in (CANARY.encode(), b"salaries", b"127.0.0.2"):
        assert word not in carried
    assert CANARY not in "".join(place.outputs())


def listen(variables: dict[str, str], carried: bytearray, over: threading.Event) -> None:
    """Gather all that an installation says on NATS."""

    async def gather() -> None:
        import nats

        client = await nats.connect(variables["TIDINGS_BUS_URL"])

        async def note(message) -> None:
            carried.extend(message.data)

        await client.subscribe(f"{variables['TIDINGS_BUS_NAME']}.>", cb=note)
        await client.flush()
        while not over.is_set():  # noqa: ASYNC110 - the other thread says when
            await asyncio.sleep(0.05)
        await client.close()

    asyncio.run(gather())
