"""The output of the service; a closed output does not stop it."""

from __future__ import annotations

import ctypes
import errno
import io
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tidings.cli.run.serve import Printer


class _Left(io.StringIO):
    """A standard output whose reader has closed it."""

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


def test_change_is_printed(capsys):
    """Each change is one line with sentinel, summary and address."""
    monitor, unit = _find_service()

    Printer(monitor, as_json=False, verbose=False)(unit)

    assert "s: 1 text updated  http://a.example/\n" == capsys.readouterr().out


def test_change_for_the_console_channel_is_printed_once(capsys):
    """The channel itself writes to the console."""
    for kinds in (("console",), ("webhook", "console")):
        monitor, unit = _find_service(*kinds)
        Printer(monitor, as_json=False, verbose=False)(unit)
    monitor, unit = _find_service("webhook")
    Printer(monitor, as_json=False, verbose=False)(unit)

    assert "s: 1 text updated  http://a.example/\n" == capsys.readouterr().out


def test_closed_output_does_not_stop_the_service(capsys, monkeypatch):
    """`tidings serve | head -1`: polls continue, and the warning is printed once."""
    monitor, unit = _find_service()
    printer = Printer(monitor, as_json=False, verbose=False)
    monkeypatch.setattr(sys, "stdout", _Left())

    for _ in range(3):
        printer(unit)

    assert printer.is_output_lost
    assert (
        "tidings: standard output cannot be written (Broken pipe); the service continues\n" == capsys.readouterr().err
    )


HEAPS = """
import ctypes, threading
from tidings.cli.run import serve
c = ctypes.CDLL(None)
if {shares}:
    serve._share_heap()
c.malloc.restype = ctypes.c_void_p
thread = threading.Thread(target=lambda: c.malloc(100))
thread.start()
thread.join()
c.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(c.fdopen(1, b"w"))
c.malloc_info(0, out)
c.fflush(out)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="only glibc shows its heaps")
@pytest.mark.parametrize("shares", [True, False])
def test_all_threads_use_one_heap(shares):
    """Memory that one thread frees can be used by the others, so that less is needed in total."""
    program = HEAPS.format(shares=shares)

    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)

    assert shares == (shown.stdout.count("<heap nr=") == 1)
