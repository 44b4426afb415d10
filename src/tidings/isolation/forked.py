"""A quiet end for a worker whose service was killed while it started the worker; imported only by
the process from which workers are forked.

Such a worker never gets its orders. Python would print a traceback for it (`EOFError: Ran out of
input`), in which nobody can see the cause.
"""

from __future__ import annotations

import sys
from types import TracebackType


def end_quietly(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Print an exception that ends this process, except the end of the pipe to the service."""
    if not issubclass(kind, EOFError):
        sys.__excepthook__(kind, error, traceback)


sys.excepthook = end_quietly
