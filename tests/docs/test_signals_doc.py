"""The page on signals says what is so, and its examples run."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.asgi import ask
from tests.unit.web.insides import inside, watch
from tidings.clock import MINUTE
from tidings.model.interval import HOUR
from tidings.scheduling import index
from tidings.scheduling.policies import POLICIES
from tidings.service.sources.websub import METHODS, PATH
from tidings.service.watch.hints import SAME
from tidings.settings import ScheduleSettings, ServeSettings, load
from tidings.web.api.hooks import MOST_URLS, SIGNALS_BURST, SIGNALS_PER_SECOND
from tidings.web.routes import application
from tidings.web.server import listen, url_of
from tidings.web.uvicorn_server import Server

TEXT = (Path(__file__).parents[2] / "docs" / "howto" / "signals.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def block(language: str) -> str:
    (found,) = (text for name, text in BLOCKS if name == language)
    return str(found)


def test_the_python_notifies_a_running_service(tmp_path):
    """It says what the service made of it, with and without a token; what is sent again is not new."""
    names: dict[str, Any] = {}
    exec(block("python"), names)

    async def story(token: str) -> list[Any]:
        async with inside(tmp_path / (token or "open"), token=token) as within:
            await watch(within, "shop")
            server, bound = Server(application(within)), listen(ServeSettings(port=0))
            serving = asyncio.create_task(server.serve(sockets=[bound]))
            await server.listens.wait()
            reported = [
                await asyncio.to_thread(
                    names["signal"],
                    url_of(bound),
                    ["https://shop.example/", "https://x.example/"],
                    key="1",
                    token=token,
                )
                for _ in range(2)
            ]
            server.end()
            await serving
            bound.close()
            return reported

    for token in ("", "example-of-a-token-that-is-long"):
        first, again = asyncio.run(story(token))
        assert (1, True, ["https://x.example/"]) == (first["pages"], first["new"], first["unknown"])
        assert not again["new"]


def test_the_curl_is_answered_as_shown(tmp_path):
    """A form with the one field, and the line that comes back."""
    _, data, _, answer = re.search(r"curl -d (\S+?)=(\S+) (\S+)\n(.*)", block("console")).groups()  # type: ignore[union-attr]

    async def story() -> Any:
        async with inside(tmp_path) as within:
            await watch(within, "shop")
            headers = {"content-type": "application/x-www-form-urlencoded"}
            body = b"url=" + data.replace("/prices", "/").encode()
            return await ask(application(within), "/api/v1/signals", "POST", headers=headers, body=body)

    found = asyncio.run(story())
    assert (202, json.loads(answer)) == (found.status, found.json())


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_the_policies_that_heed_hints(name):
    """Those that are named do, the default among them, and `best_effort` does not."""
    heeds = index.HINTS <= POLICIES[name](HOUR).reads
    named = {"price": True, "price_hours": True, "wic": True, "best_effort": False}

    assert heeds is named.get(name, heeds)
    assert f"`{ScheduleSettings().policy}` (the default)" in TEXT


def test_the_numbers_are_those_that_hold():
    """Each is a constant of the code."""
    assert f"at most {MOST_URLS:,}" in TEXT
    assert f"more than {SIGNALS_BURST} at once, or more than ten a second" in TEXT
    assert (10, 10) == (SIGNALS_PER_SECOND, SAME / MINUTE)


def test_the_settings_for_hubs_are_settings(tmp_path):
    """A file with these lines is read; without it no hub is asked."""
    (tmp_path / "tidings.toml").write_text(block("toml"), encoding="utf-8")
    given = load(tmp_path, environment={})

    assert ("https://tidings.example.org", "price") == (given.serve.public_url, given.schedule.policy)
    assert "" == ServeSettings().public_url
    assert PATH in TEXT
    assert {"sha1", "sha256", "sha384", "sha512"} == set(METHODS)
