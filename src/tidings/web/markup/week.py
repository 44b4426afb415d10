"""The hours of the week in which changes were found: one square per hour, darker for more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

from tidings.web.markup.catalogue import say, sentences
from tidings.web.markup.spell import count

DAYS: Final = sentences("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
SIDE: Final = 19
ROW: Final = 17


def picture(hours: Mapping[tuple[int, int], int]) -> Markup:
    """Return the picture of a week.

    Args:
        hours: Changes by day (0: Monday) and hour.
    """
    most = max(hours.values(), default=1)
    cells = Markup("").join(
        Markup('<rect class="f1" x="{}" y="{}" width="17" height="14" rx="2" fill-opacity="{:.2f}"/>').format(
            34 + SIDE * hour, ROW * day, 0.06 + 0.94 * hours.get((day, hour), 0) / most
        )
        for day in range(7)
        for hour in range(24)
    )
    names = Markup("").join(
        Markup('<text x="0" y="{}">{}</text>').format(ROW * k + 12, say(day)) for k, day in enumerate(DAYS)
    )
    clock = Markup("").join(
        Markup('<text x="{}" y="132">{}</text>').format(34 + SIDE * hour, hour) for hour in (0, 6, 12, 18)
    )
    said = say("{changes} by day and hour of the week", changes=count(sum(hours.values()), "change"))
    return Markup('<svg class="plot hours" viewBox="0 0 492 136" role="img" aria-label="{}">{}{}{}</svg>').format(
        said, names, cells, clock
    )
