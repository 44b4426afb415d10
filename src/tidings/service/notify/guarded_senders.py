"""Errands: mail and chat libraries in a process of their own, behind the guard that judges fetches (contracts §6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidings.isolation.guarded import Guarded
from tidings.isolation.runner import Done
from tidings.notification.channel import A, Answer, Refused

if TYPE_CHECKING:
    from tidings.isolation.guarded import Fault
    from tidings.isolation.runner import Runner


@dataclass(frozen=True, slots=True)
class GuardedErrands:
    """Joins a runner, whose processes do nothing else, with a judgement of addresses that can be pickled."""

    runner: Runner
    fault: Fault

    async def run(self, job: Callable[[A], Answer], argument: A, *, seconds: float) -> Answer:
        """Return what the job says; one that died is to be tried again: what it was doing may have been done."""
        ended = await self.runner.run(Guarded(job, self.fault), argument, seconds=seconds)
        if isinstance(ended, Done):
            return ended.value
        return Refused(reason=f"the attempt was given up: {ended.reason}")
