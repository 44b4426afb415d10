"""What the service prints, and that nobody who stops reading stops it."""

from __future__ import annotations

import errno
import io
import os
import sys
from types import SimpleNamespace
from typing import Any

from tidings.cli.run.serve import Printer


class _Left(io.StringIO):
    """An output whose reader has left."""

    def flush(self) -> None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def _find_service(*kinds: str) -> tuple[Any, Any]:
    page = SimpleNamespace(identity=SimpleNamespace(given="http://a.example/"))
    targets = tuple(SimpleNamespace(kind=kind) for kind in kinds)
    owner = SimpleNamespace(row=SimpleNamespace(name="s"), everybody=lambda: targets)
    watchlist = SimpleNamespace(pages={1: page}, sentinels={1: owner})
    change = SimpleNamespace(page_id=1, sentinel_id=1, summary="1 text updated", quiet=False)
    unit = SimpleNamespace(changes=(change,), poll=None, page=None)
    return SimpleNamespace(watchlist=watchlist), unit


def test_what_is_found_is_printed(capsys):
    """One line a change: whose, what, where."""
    monitor, unit = _find_service()

    Printer(monitor, as_json=False, verbose=False)(unit)

    assert "s: 1 text updated  http://a.example/\n" == capsys.readouterr().out


def test_news_for_the_console_is_printed_once(capsys):
    """The console is a channel: what it writes is not written beside it too."""
    for kinds in (("console",), ("webhook", "console")):
        monitor, unit = _find_service(*kinds)
        Printer(monitor, as_json=False, verbose=False)(unit)
    monitor, unit = _find_service("webhook")
    Printer(monitor, as_json=False, verbose=False)(unit)

    assert "s: 1 text updated  http://a.example/\n" == capsys.readouterr().out


def test_a_reader_that_has_left_stops_nothing(capsys, monkeypatch):
    """`tidings serve | head -1`: the looks go on, and that is said once, not at each change."""
    monitor, unit = _find_service()
    printer = Printer(monitor, as_json=False, verbose=False)
    monkeypatch.setattr(sys, "stdout", _Left())

    for _ in range(3):
        printer(unit)

    assert printer.is_unheard
    assert (
        "tidings: standard output cannot be written (Broken pipe); the service continues\n" == capsys.readouterr().err
    )
