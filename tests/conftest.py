"""Fixtures and settings of all tests."""

from __future__ import annotations

import gc
import ipaddress
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "tidings",
    max_examples=int(os.environ.get("TESTS_EXAMPLES", "40")),  # those who hunt ask for more
    deadline=None,  # a busy machine is no fault of the code
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),  # CI runs the same examples each time; people search for new ones
)
settings.load_profile("tidings")


HERE = Path(__file__).parent
REAL = "tests/integration/"
"""Tests of real processes: the longest there are."""
WHOLE = ("acceptance", "docs", "integration")
"""What `--quick` leaves out whole; what it leaves out beside that is in `slow.txt`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true", help="what takes a moment only: no stories, processes, servers, browser"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("quick"):
        settings.register_profile("quick", settings.get_profile("tidings"), max_examples=10)
        settings.load_profile("quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if config.getoption("quick") and collection_path in {HERE / name for name in WHOLE} else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the longest tests: at the end a worker with nothing to do takes what is left, which is to be short then."""
    items.sort(key=lambda item: not item.nodeid.startswith(REAL))
    if config.getoption("quick"):
        slow = {line for line in (HERE / "slow.txt").read_text("utf-8").splitlines() if not line.startswith("#")}
        left_out = {
            item
            for item in items
            if item.nodeid.partition("[")[0].rpartition("::")[2] in slow
            or "[postgresql" in item.nodeid
            or "chromium" in getattr(item, "fixturenames", ())
        }
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


gc.disable()  # until what collection makes (thousands of items, none of them garbage) is out of the collector's sight


def pytest_collection_finish() -> None:
    """Take what collection made out of the garbage collector's sight, which else goes through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture
def disk() -> Iterator[Path]:
    """Yield a folder for tests that watch files: where temporary folders lie, in memory below /dev it may be, no file is a page."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder).resolve()


class LeftLoopbackError(RuntimeError):
    """A test tried to reach something that is not on this machine."""


def _stay_home(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse every dial out of loopback, whatever room it comes from: guards are forgotten, not broken ."""
    if event not in {"socket.connect", "socket.sendto"}:
        return
    address = arguments[1]
    if not isinstance(address, tuple) or not isinstance(address[0], str):
        return
    host = address[0].partition("%")[0]
    if host in {"", "localhost"}:
        return
    try:
        parsed = ipaddress.ip_address(host)
    except ValueError:
        return  # a name is looked up first; its address is dialled next
    if not (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback:
        raise LeftLoopbackError(f"{event} to {host}: a test must stay on loopback")


sys.addaudithook(_stay_home)
