"""Kinds of argument that several verbs share."""

from __future__ import annotations

import argparse
import re

from tidings.language.dates import measure

_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")


def duration(text: str) -> int:
    """Read `30s`, `5 min`, `1.5 h` as µs, with the units of the language."""
    match = _DURATION.fullmatch(text)
    if match is None:
        message = f"{text!r} is no duration; write a number and a unit, e.g. 30s, 5min, 2h"
        raise argparse.ArgumentTypeError(message)
    try:
        return measure(match[1], match[2])
    except (KeyError, ValueError) as error:
        message = f"{text!r} has no unit that is known; there are s, min, hour, day and week"
        raise argparse.ArgumentTypeError(message) from error
