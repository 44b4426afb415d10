"""All policies, under the names that settings and the command line use. Each row makes one from the pace (µs)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tidings.model.interval import Duration
from tidings.registry import Registry
from tidings.scheduling.best_effort import BestEffort
from tidings.scheduling.policy import Policy
from tidings.scheduling.round_robin import RoundRobin

Maker = Callable[[Duration], Policy[Any]]

POLICIES: Final[Registry[Maker]] = Registry("policy", {"best_effort": BestEffort, "round_robin": RoundRobin})
