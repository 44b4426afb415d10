"""The contract of isolation: run a function on an argument; any outcome is a value.

A runner never raises because of the job: a job that loops, exhausts memory, crashes its process or
raises ends as `Died`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Literal, Protocol, TypeVar

from tidings.isolation.limits import JobLimits
from tidings.record import dataclass

A = TypeVar("A")
R = TypeVar("R")

Cause = Literal["deadline", "memory", "crash", "error"]


@dataclass(frozen=True, slots=True)
class Done(Generic[R]):
    """The job returned a value."""

    value: R


@dataclass(frozen=True, slots=True)
class Died:
    """The job failed; `reason` is a sentence for people.

    deadline: it exceeded its time; memory: it exceeded its memory; crash: its process died; error:
    it raised, or it or its answer could not be transferred.
    """

    cause: Cause
    reason: str


class Runner(Protocol):
    """Runs jobs on untrusted content."""

    async def run(self, function: Callable[[A], R], argument: A, *, seconds: float | None = None) -> Done[R] | Died:
        """Return the result of `function(argument)`, or how it died.

        `seconds` replaces the deadline of the runner's limits. The function is importable by name
        and the argument can be pickled, since the job may run in another process. Cancelling the
        call kills the job.
        """
        ...

    async def close(self) -> None:
        """Kill what still runs and return when every process is gone; later jobs die at once."""
        ...


class RunnerRow(Protocol):
    """The constructor of each row of `RUNNERS`."""

    def __call__(
        self, limits: JobLimits, *, workers: int = 1, preload: tuple[str, ...] = (), light_bytes: int = 0
    ) -> Runner:
        """Return a runner of at most `workers` concurrent jobs, and one more of at most
        `light_bytes` (0: none is light).

        `preload` names the modules that the jobs need.
        """
        ...


def explain_death(error: BaseException) -> Died:
    """Return how a job died that raised `error`."""
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, MemoryError):
        return Died("memory", "the job wanted more memory than it may have")
    return Died("error", f"the job raised {said}")


CLOSED = Died("crash", "the runner was closed")
