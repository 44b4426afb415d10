"""Health on the command line: the same words in `list`, `show` and `check`; `doctor` prints its own
lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.cli.output import write_line
from tidings.clock import SystemClock
from tidings.service.health import sources
from tidings.service.show.finding import MOST_LINES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.service.health.trouble import Health, Trouble
    from tidings.settings import Settings
    from tidings.storage.db.database import Database

MOST_NAMES = 3


def read_health(database: Database, settings: Settings) -> Health:
    """Return the present health of everything watched."""
    now = SystemClock().wall()
    polled = sources.is_polled(settings, database, now=now)
    return database.read(sources.health_of, settings, now=now, is_polled=polled)


def brief(found: Health) -> str:
    """Return the health of one sentinel for a column: its worst trouble, and how many more; empty
    for none.
    """
    own = found.own
    if not own:
        return ""
    return own[0].brief if len(own) == 1 else f"{own[0].brief} +{len(own) - 1}"


def write_troubles(found: Health) -> None:
    """Print troubles, one per line with its sentinels; of many the first, and how many more."""
    for trouble in found.troubles[:MOST_LINES]:
        write_line(f"{_whose(trouble)}{trouble.line}")
    if rest := found.troubles[MOST_LINES:]:
        write_line(f"and {len(rest)} more (tidings doctor)")


def _whose(trouble: Trouble) -> str:
    names: Sequence[str] = trouble.sentinels
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{', '.join(names[:MOST_NAMES])}{more}: " if names else ""
