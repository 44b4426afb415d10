"""How long to wait for a database server that does not answer, and the state of its outage."""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

from tidings.errors import StoreLostError
from tidings.record import dataclass

log = logging.getLogger("tidings.storage")

BRIEF_SECONDS: Final = 5.0
"""How long a command waits, and a service that is stopping."""
FIRST_PAUSE_SECONDS: Final = 0.1
MOST_PAUSE_SECONDS: Final = 5.0
"""The longest pause between two attempts."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A time in which the server did not answer: `seconds` so far or in total, `error` is the
    latest message of server or network.
    """

    seconds: float
    error: str


class Patience:
    """Waits between attempts to reach the server, doubling each time. Used by the thread of the
    database and read by others.

    `seconds` is how long an outage may last before its error is raised; None: without limit, until
    `hurry`.
    """

    def __init__(self, seconds: float | None = BRIEF_SECONDS) -> None:
        self._seconds = seconds
        self._begun: float | None = None
        self._error = ""
        self._said: set[str] = set()
        self._attempts = 0
        self._hurried = threading.Event()
        self._ended: list[Outage] = []

    @property
    def outage(self) -> Outage | None:
        """Return the current outage, or None; a lost connection that is restored at once is
        none.
        """
        begun = self._begun
        return None if begun is None or self._attempts < 2 else Outage(time.monotonic() - begun, self._error)

    def wait(self, error: StoreLostError) -> None:
        """Wait until the next attempt. Raise `error` when patience is over."""
        pause = self.pause(error)
        if self._hurried.is_set():
            time.sleep(pause)
        else:
            self._hurried.wait(pause)

    def pause(self, error: StoreLostError) -> float:
        """Return the seconds until the next attempt, 0 the first time. Raise `error` when patience
        is over.
        """
        if self._begun is None:
            self._begun = time.monotonic()
        self._error = str(error)
        self._attempts += 1
        if self._attempts == 1:
            return 0.0
        if self._error not in self._said:
            self._said.add(self._error)
            log.warning("%s; trying again until it answers", error)
        most = BRIEF_SECONDS if self._hurried.is_set() else self._seconds
        if most is not None and time.monotonic() - self._begun >= most:
            raise error
        return float(min(FIRST_PAUSE_SECONDS * 2 ** min(self._attempts - 2, 10), MOST_PAUSE_SECONDS))

    def over(self) -> None:
        """Record that the server has answered."""
        if self._begun is None:
            return
        outage = Outage(time.monotonic() - self._begun, self._error)
        if self._attempts > 1:
            log.warning("the database answers again, after %.1f s; what waited for it goes on", outage.seconds)
        else:
            log.info("the connection to the database was cut and made anew (%s)", outage.error)
        self._begun, self._error, self._attempts = None, "", 0
        self._said.clear()
        self._ended.append(outage)

    def hurry(self) -> None:
        """Limit all waiting to a few seconds from now on: the service is stopping."""
        self._hurried.set()

    def take_ended(self) -> list[Outage]:
        """Return the outages that have ended since the last call."""
        ended, self._ended = self._ended, []
        return ended
