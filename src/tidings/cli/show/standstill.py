"""What `list` and `show` say first where looks at pages cannot be stored now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.cli.output import write_json, write_line
from tidings.service.show.records import problem_record
from tidings.storage.db.lock import standstill

if TYPE_CHECKING:
    from tidings.settings import Settings


def write_standstill(settings: Settings, *, as_json: bool) -> None:
    """Print what keeps looks from being stored, if anything does."""
    if not (said := standstill(settings.data)):
        return
    if as_json:
        write_json(problem_record(said, where=str(settings.data)))
    else:
        write_line(f"STANDSTILL: {said}")
