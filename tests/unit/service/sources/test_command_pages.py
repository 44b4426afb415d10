"""Pages written by commands: the result is a value, and nothing runs unless the operator allows it."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, cast

import pytest

from tidings.model.observed.outcome import Failed, Fetched, FetchRequest, Outcome
from tidings.model.watch.asking import argv_of, url_of
from tidings.service.sources.command_pages import CommandFetcher
from tidings.settings import FetchSettings

ALLOWED = FetchSettings(allow_commands=True, total_seconds=5, max_body_bytes=1_000)


class Others:
    """A fetcher that records requests."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def fetch(self, request: FetchRequest, permit: Any) -> Outcome:
        """Record an address."""
        self.asked.append(request.url)
        return Failed(kind="404", reason="not there")

    async def close(self) -> None:
        """Do nothing."""


def ran(*argv: str, settings: FetchSettings = ALLOWED, **more: Any) -> Outcome:
    """Return the outcome of a command."""
    fetcher = CommandFetcher(settings, Others())
    return asyncio.run(fetcher.fetch(FetchRequest(url=url_of(argv), **more), cast("Any", None)))


def test_output_is_the_body_without_a_request():
    """No host is contacted."""
    outcome = ran("/bin/echo", "a b", "c")

    assert isinstance(outcome, Fetched)
    assert (b"a b c\n", 0, None) == (outcome.body, outcome.requests, outcome.content_type)


@pytest.mark.parametrize(
    ("argv", "kind", "why"),
    [
        (("/bin/sh", "-c", "echo no disk >&2; exit 3"), "command", "/bin/sh ended with exit code 3: no disk"),
        (("/bin/sh", "-c", "exit 1"), "command", "/bin/sh ended with exit code 1 without a message"),
        (("/bin/sh", "-c", "kill -9 $$"), "command", "/bin/sh ended with signal 9 without a message"),
        (("/no/such/program",), "command", "/no/such/program cannot be run: No such file or directory"),
        (("/bin/sh", "-c", "while :; do echo yyyyyyyy; done"), "size", "/bin/sh wrote more than 1,000 bytes"),
    ],
)
def test_failed_command_has_its_reason(argv: tuple[str, ...], kind: str, why: str):
    """The reason is the exit code with standard error."""
    outcome = ran(*argv)

    assert isinstance(outcome, Failed)
    assert (kind, why) == (outcome.kind, outcome.reason)


def test_hanging_command_is_ended():
    """The limit is the timeout of the sentinel."""
    outcome = ran("/bin/sleep", "60", timeout=200_000)

    assert isinstance(outcome, Failed)
    assert ("command", "/bin/sleep did not end within 0.2 s") == (outcome.kind, outcome.reason)


def test_long_standard_error_is_cut_and_escaped():
    """The end of the text is kept, in one line."""
    outcome = ran(
        "/bin/sh",
        "-c",
        "i=0; while [ $i -lt 3000 ]; do echo xxxxxxxx; i=$((i+1)); done >&2; printf 'a\\033[1mb\\n' >&2; exit 1",
    )

    assert isinstance(outcome, Failed)
    assert outcome.reason.endswith("xxxxxxxx a [1mb")
    assert 400 > len(outcome.reason)


def test_memory_of_a_command_is_limited():
    """A process gets at most a gibibyte."""
    outcome = ran(sys.executable, "-c", "bytearray(2 << 30)")

    assert isinstance(outcome, Failed)
    assert "MemoryError" in outcome.reason


def test_command_does_not_run_unless_allowed(tmp_path):
    """The program is not started."""
    outcome = ran("/bin/touch", str(tmp_path / "trace"), settings=FetchSettings())

    assert isinstance(outcome, Failed)
    assert "address" == outcome.kind
    assert "fetch.allow_commands = true" in outcome.reason
    assert [] == [*tmp_path.iterdir()]


@pytest.mark.parametrize("more", [{"render": "browser"}, {"method": "POST"}, {"body": "x"}])
def test_request_clauses_are_refused_for_a_command(more: dict[str, Any]):
    """Method, body and rendering would have no effect."""
    outcome = ran("/bin/echo", **more)

    assert isinstance(outcome, Failed)
    assert "request" == outcome.kind


def test_other_addresses_are_passed_on():
    """Commands are allowed in this test."""
    others = Others()
    asyncio.run(CommandFetcher(ALLOWED, others).fetch(FetchRequest(url="https://a.example/"), cast("Any", None)))

    assert ["https://a.example/"] == others.asked


@pytest.mark.parametrize("argv", [("df",), ("df", "-h"), ("a b", "", "ü\n%20", "'\"")])
def test_address_of_a_command_round_trips(argv: tuple[str, ...]):
    """The arguments may have any characters."""
    assert argv == argv_of(url_of(argv))
    assert url_of(argv).isprintable()
