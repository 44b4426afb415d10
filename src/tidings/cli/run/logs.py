"""The log of a running service on standard error: lines for users, or one JSON record per line.

Secrets are of type `Secret`, which prints `***` in both.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from typing import Final

from tidings.cli.output import json_line
from tidings.clock import SECOND
from tidings.errors import SettingError
from tidings.service.show.records import rfc3339

FORMATS: Final = ("text", "json")
_log = logging.getLogger("tidings.serve")


class JsonFormatter(logging.Formatter):
    """Writes a record with `at`, `level`, `logger`, `message`, and `exception` if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line of JSON, without the line end."""
        found = {
            "at": rfc3339(round(record.created * SECOND)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            found["exception"] = self.formatException(record.exc_info)
        return json_line(found).rstrip("\n")


def set_up(form: str) -> None:
    """Log on standard error. Raises `SettingError` for an unknown form."""
    if form not in FORMATS:
        raise SettingError(f"serve.log_format cannot be {form!r}: expected {' or '.join(FORMATS)}")
    handler = logging.StreamHandler(sys.stderr)
    plain = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonFormatter() if form == "json" else plain)
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


def announce(text: str) -> None:
    """Write a line that begins with the program's name, or a record."""
    if any(isinstance(handler.formatter, JsonFormatter) for handler in logging.getLogger().handlers):
        _log.info("%s", text)
        return
    with contextlib.suppress(OSError):  # the reader may have left; the service goes on
        sys.stderr.write(f"tidings: {text}\n")
        sys.stderr.flush()
