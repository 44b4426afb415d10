"""Jobs in the calling thread: they cannot be killed, and need no start. For tests and for trusted
content.
"""

from __future__ import annotations

from collections.abc import Callable

from tidings.isolation.limits import JobLimits
from tidings.isolation.runner import CLOSED, A, Died, Done, R, explain_death


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
