"""The exact quality of search results from stored copies (002 §3), by ranking all of them."""

from __future__ import annotations

import numpy as np

from tidings.scheduling.population import Floats, Ids


class RankedResults:
    """The results of a workload: each is a query with a document that it may find."""

    def __init__(self, query: Ids, weights: Floats, exponent: float) -> None:
        """Take the results.

        Args:
            query: The query of each result, ascending.
            weights: How often each query is asked.
            exponent: That of the viewing curve.
        """
        self._query, self._weights = query, weights
        self._by_place = (np.arange(len(query)) - np.searchsorted(query, query) + 1.0) ** -exponent

    def views(self, scores: Floats) -> Floats:
        """Return how often each result is seen by its rank, not at all with a score of 0. Of equal
        scores, the earlier result has the better rank.
        """
        found = np.empty(len(scores))
        found[np.lexsort((-scores, self._query))] = self._by_place
        return np.where(scores > 0, found * self._weights[self._query], 0.0)

    def quality(self, shown: Floats, true: Floats) -> Floats:
        """Return what searchers get of each query.

        Args:
            shown: The score of each result by its stored copy, which orders them.
            true: Its score by the page as it is.
        """
        return np.bincount(self._query, self.views(shown) * true, minlength=len(self._weights)).astype(np.float64)
