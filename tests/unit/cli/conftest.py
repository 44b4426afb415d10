"""Runs the command line in this process, with its own data directory and web server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import Page, WebServer
from tidings.cli.change.add import is_address
from tidings.cli.main import main


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


Tidings = Callable[..., Ran]


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as running:
        running.pages["/news"] = Page(b"<title>The News</title><p>count 1</p>", {"Content-Type": "text/html"})
        yield running


@pytest.fixture
def tidings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tidings:
    for name, value in {
        "TIDINGS_DATA": str(tmp_path / "data"),
        "TIDINGS_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
        "TIDINGS_FETCH_HOST_GAP_SECONDS": "0",
        "TIDINGS_FETCH_PAGE_FLOOR_SECONDS": "0",
        "TIDINGS_DETECT_ISOLATION": "in_process",
    }.items():
        monkeypatch.setenv(name, value)

    def run(*words: str, checks: bool = False) -> Ran:
        """Run a command; first checks of files are off by default, because most addresses in tests do not exist."""
        is_page = "--url" in words or (words[1:2] and is_address(words[1]))
        if words[:1] in {("add",), ("apply",)} and not (is_page or checks):
            words = (*words, "--no-check")
        capsys.readouterr()
        try:
            code = main(list(words))
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        output = capsys.readouterr()
        return Ran(code, output.out, output.err)

    return run
