"""All ways to run a job; `detect.isolation` names the one in use.

`InProcess` is for tests and for trusted content: its jobs cannot be killed, and need no start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tidings.isolation.killable import Killable
from tidings.isolation.runner import CLOSED, A, Died, Done, JobLimits, R, RunnerRow, explain_death
from tidings.registry import Registry


class InProcess:
    """Runs a job at once, in the calling thread; exceptions are caught, limits are not enforced."""

    def __init__(
        self, limits: JobLimits, *, workers: int = 1, preload: tuple[str, ...] = (), light_bytes: int = 0
    ) -> None:
        del limits, workers, preload, light_bytes  # every row is made alike (`runner.RunnerRow`)
        self._closed = False

    async def run(self, function: Callable[[A], R], argument: A, *, seconds: float | None = None) -> Done[R] | Died:
        """Return the function's result, or what it raised; `seconds` cannot be enforced here."""
        del seconds
        if self._closed:
            return CLOSED
        try:
            return Done(function(argument))
        except Exception as error:  # noqa: BLE001 - a job may raise anything, and what it raises is its outcome
            return explain_death(error)

    async def close(self) -> None:
        """Refuse later jobs."""
        self._closed = True


RUNNERS: Final[Registry[RunnerRow]] = Registry("way to run jobs", {"in_process": InProcess, "killable": Killable})
