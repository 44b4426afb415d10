"""Promise: pollers in other processes fetch for one service, under its budget and its hosts'
limits, and any of them may be killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading

import pytest

from tests.buses import make_name, own_server, remove_stream
from tests.fakes import Page, WebServer
from tests.services import Installation, Service, until
from tidings.service.machines.wire import VisitCipher, WireError, agree, make_key, unpack
from tidings.storage.observed import versions
from tidings.storage.watches import changes

GAP = 1.0
BLUR = 0.1
"""how much later than permitted a request may leave a poller on a busy machine, as part of `GAP`"""
CANARY = "correct-horse-battery"
HEAD = 16
"""bytes before each message on NATS"""
PUBLIC = 32
"""bytes of a public key"""


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
        assert [] == [gap for a, b in itertools.pairwise(starts) if (gap := b - a) < GAP * (1 - BLUR)]
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
    """A password in a header and the text of a page reach the poller that makes the check, and are
    in no byte that the server of the bus carries. Another poller that is taken over, has
    `bus.secret` and sees everything, can read neither.
    """
    messages: list[bytes] = []
    over = threading.Event()
    listening = threading.Thread(target=listen, args=(place.variables, messages, over))
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
    carried = b"".join(messages)
    assert b"take" in carried
    assert [] == decrypt_with_secret(messages, place.variables["TIDINGS_BUS_SECRET"])
    for word in (CANARY.encode(), b"salaries", b"127.0.0.2"):
        assert word not in carried
    assert CANARY not in "".join(place.outputs())


def decrypt_with_secret(messages: list[bytes], secret: str) -> list[object]:
    """Return what can be read of the checks of others with `bus.secret` and a key of one's own."""
    visits: list[tuple[str, list[object]]] = []
    for message in messages:
        with contextlib.suppress(WireError, ValueError, TypeError):
            visit, parts = unpack(message[HEAD:])
            visits.append((visit, parts if isinstance(parts, list) else [parts]))
    pieces = [(visit, each) for visit, parts in visits for each in parts if isinstance(each, bytes)]
    publics = {each for _, each in pieces if len(each) == PUBLIC}
    assert len(publics) > 1, "no key of a check was seen"
    (key, _), found = make_key(), []
    for (visit, data), public, is_service in itertools.product(pieces, publics, (True, False)):
        with contextlib.suppress(WireError):
            cipher = VisitCipher(agree(key, public, secret=secret, visit=visit), is_service=is_service)
            found.append(cipher.decrypt(data))
    return found


def listen(variables: dict[str, str], messages: list[bytes], over: threading.Event) -> None:
    """Gather all that an installation says on NATS."""

    async def gather() -> None:
        import nats

        client = await nats.connect(variables["TIDINGS_BUS_URL"])

        async def note(message) -> None:
            messages.append(message.data)

        await client.subscribe(f"{variables['TIDINGS_BUS_NAME']}.>", cb=note)
        await client.flush()
        while not over.is_set():  # noqa: ASYNC110 - the other thread says when
            await asyncio.sleep(0.05)
        await client.close()

    asyncio.run(gather())
