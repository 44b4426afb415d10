"""The world of each acceptance test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes import WebServer
from tests.world import World


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as running:
        yield running


@pytest.fixture
def world(tmp_path: Path, server: WebServer) -> World:
    return World(tmp_path / "data", server)


@pytest.fixture
def make_world(tmp_path: Path, server: WebServer) -> Callable[..., World]:
    return lambda **flags: World(tmp_path / "data", server, **flags)
