"""Periodic: round robin at instants that are fixed."""

from __future__ import annotations

import numpy as np

from tidings.record import dataclass
from tidings.scheduling.paced.lateness import phases, wait_in_phase
from tidings.scheduling.paced.round_robin import RoundRobin
from tidings.scheduling.policy import Instants, Rows
from tidings.scheduling.population import Population


@dataclass(frozen=True, slots=True)
class PeriodicPolling(RoundRobin):
    """Periodic polling: every page at instants that are `pace` apart and its own, those of different pages evenly spread (fixed order, Cho and
    Garcia-Molina 2000). A poll that comes late moves none of those after it.
    """

    def _gaps(self, population: Population, rows: Rows | slice) -> Instants:
        gap = RoundRobin._gaps(self, population, rows)  # noqa: SLF001 - our own
        wait = wait_in_phase(population["last_polled"][rows], gap, phases(population.ids[rows]))
        waited: Instants = np.clip(wait, population["shortest"][rows], population["longest"][rows])
        return waited
