"""Several memories at once: posteriors of different half-lives, weighted by how well each predicted
(bid §5).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tidings.estimation.gamma import Floats, Gamma
from tidings.record import dataclass

SHARE = 0.01
"""The least weight of each memory, so that a wrong one can recover."""


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Posteriors of the same pages with different half-lives, and their weights, shape (memories,
    pages).
    """

    parts: tuple[Gamma, ...]
    half_lives: tuple[float, ...]
    weights: Floats

    @classmethod
    def of(cls, prior: Gamma, half_lives: tuple[float, ...]) -> Mixture:
        """Return a mixture in which every memory has the prior and the same weight."""
        number = len(half_lives)
        return cls((prior,) * number, half_lives, np.full((number, len(prior.shape)), 1 / number))

    @property
    def mean(self) -> Floats:
        """Return the expected rates."""
        return np.asarray(sum(w * part.mean for w, part in zip(self.weights, self.parts, strict=True)))

    def chance(self, gap: ArrayLike) -> Floats:
        """Return the probability that each page changes within a gap."""
        return np.asarray(sum(w * part.chance(gap) for w, part in zip(self.weights, self.parts, strict=True)))

    def observe(self, prior: Gamma, elapsed: ArrayLike, gap: ArrayLike, changed: ArrayLike) -> Mixture:
        """Return the mixture after polls: first forgetting, then reweighting by prediction, then
        the observation.
        """
        aged = [
            part.forgetting(prior, elapsed, half_life)
            for part, half_life in zip(self.parts, self.half_lives, strict=True)
        ]
        likely = np.array([np.where(changed, p, 1 - p) for p in (part.chance(gap) for part in aged)])
        weights = self.weights * np.maximum(likely, 1e-12)
        weights = weights / weights.sum(axis=0)
        number = len(self.parts)
        weights = SHARE / number + (1 - SHARE) * weights
        return Mixture(tuple(part.observe(gap, changed) for part in aged), self.half_lives, weights)
