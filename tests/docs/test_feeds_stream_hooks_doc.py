"""The page on feeds, the stream and hooks says what is so, and its examples run."""

import asyncio
import itertools
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.unit.presentation.records import record
from tests.unit.web.insides import inside, notify_by, watch
from tidings.language.parser import parse
from tidings.model.watch.sentinel import Sentinel
from tidings.presentation.atom import MOST_ENTRIES
from tidings.service.sources.outside_events import KEYS_FOR, MOST_PARAMS
from tidings.settings import ServeSettings, load
from tidings.web import request_body, uvicorn_server
from tidings.web.api import hooks, stream
from tidings.web.resources import feeds
from tidings.web.routes import application, program_routes
from tidings.web.server import LEAST_TOKEN, check_address, listen, url_of
from tidings.web.uvicorn_server import Server

TEXT = (Path(__file__).parents[2] / "docs" / "howto" / "feeds-stream-hooks.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def blocks(language):
    return [text for name, text in BLOCKS if name == language]


@pytest.mark.parametrize("text", blocks("sentinel"))
def test_the_statements_are_some(text):
    """They are read without a problem or a warning."""
    parsed = parse(text)

    assert ((), ()) == (parsed.problems, parsed.warnings)
    assert any(isinstance(statement, Sentinel) for statement in parsed.statements)


def test_the_settings_are_settings(tmp_path):
    """A file with these lines is read and opens the door; without its token it does not."""
    (text,) = blocks("toml")
    (tmp_path / "tidings.toml").write_text(text, encoding="utf-8")
    serve = load(tmp_path, environment={}).serve
    given = tomllib.loads(text)["serve"]
    check_address(serve)

    assert (given["host"], given["token"], tuple(given["names"])) == (serve.host, serve.token, serve.names)
    assert f"at least {LEAST_TOKEN} characters" in TEXT


def test_the_reader_of_the_stream_reads_on_where_it_was(tmp_path):
    """The few lines of Python follow a real service, and begin again with the number that they kept."""
    (code,) = blocks("python")
    names: dict[str, Any] = {}
    exec(code, names)

    async def story():
        async with inside(tmp_path) as within:
            server, bound = Server(application(within)), listen(ServeSettings(port=0))
            serving = asyncio.create_task(server.serve(sockets=[bound]))
            url = f"{url_of(bound)}/api/v1/stream"

            def take(count, last):
                return list(itertools.islice(names["follow"](url, last), count))

            number = await watch(within, "shop")
            await notify_by(within, "stream", number, *[record(id=f"c{n}") for n in range(3)])
            first = await asyncio.to_thread(take, 1, "0")
            rest = await asyncio.to_thread(take, 2, first[-1][0])
            within.arrivals.end()
            server.end()
            await serving
        return first + rest

    had = asyncio.run(story())

    assert ["c0", "c1", "c2"] == [one["id"] for _, one in had]


def test_numbers_are_those_of_the_code():
    """Bounds, rates and times are what Tidings does."""
    output = {
        f"newest {MOST_ENTRIES} entries and at most {feeds.MOST_BYTES // 1_000_000} MB",
        f"no event for {stream.HEARTBEAT_SECONDS:g} seconds",
        f"reads nothing for {uvicorn_server.STALL_SECONDS:g} seconds",
        f"At most {stream.MOST_FOLLOWERS:,} clients can follow",
        f"more than {request_body.MOST_BYTES // 1_024} kB, more than {MOST_PARAMS // 1_024} kB of parameters, or JSON with more than {request_body.DEEPEST} levels",
        f"more than {hooks.EVENTS_BURST} at once",
        f"remembers the keys for {KEYS_FOR // 86_400_000_000} days",
    }  # fmt: skip
    text = " ".join(TEXT.split())

    assert 2.0 == hooks.EVENTS_PER_SECOND
    assert "two a second" in text
    assert [] == [one for one in output if one not in text]


def test_every_entrance_is_described():
    """A path that is added has its words."""
    heads = [one.path.partition("{")[0] for one in program_routes()]

    assert [] == [head for head in heads if head not in TEXT]
    assert str(ServeSettings().port) in TEXT
