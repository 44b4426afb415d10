"""The state of a policy beside the population: arrays in the same order, as fields of a frozen
dataclass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from tidings.record import dataclass, replace
from tidings.scheduling.policy import Population


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """The pages; subclasses add arrays."""

    population: Population


B = TypeVar("B", bound=Beside)


def freeze(state: B) -> B:
    """Return the state with read-only arrays."""
    for name in _arrays(state):
        getattr(state, name).setflags(write=False)
    return state


def carry_over(before: B, fresh: B) -> B:
    """Return `fresh`, a state of unknown pages, with the values of `before` for pages that stay."""
    places, here = before.population.present(fresh.population.ids)
    columns = {}
    for name in _arrays(fresh):
        column = getattr(fresh, name).copy()
        column[here] = getattr(before, name)[places]
        columns[name] = column
    return freeze(replace(fresh, **columns))


def recall(
    state: B,
    memories: Mapping[int, Mapping[str, Any]],
    names: Sequence[str],
    is_readable: Callable[[Mapping[str, Any]], bool],
) -> B:
    """Return the state with the remembered values of pages; unknown pages and unreadable memories
    are skipped.

    Args:
        state: The policy's state.
        memories: The remembered values of each page.
        names: The names of the arrays.
        is_readable: Whether a memory is valid.
    """
    kept = {page: memory for page, memory in memories.items() if is_readable(memory)}
    rows, here = state.population.present(np.fromiter(kept, dtype=np.int64, count=len(kept)))
    told = [memory for memory, is_here in zip(kept.values(), here.tolist(), strict=True) if is_here]
    columns = {}
    for name in names:
        column = getattr(state, name).copy()
        column[rows] = [memory[name] for memory in told]
        columns[name] = column
    return freeze(replace(state, **columns))


def widen(kind: type[B], state: Beside, **more: Any) -> B:
    """Return a state of another kind, with the fields of `state` and more."""
    names = {each.name for each in fields(kind)} - more.keys()
    return kind(**{name: getattr(state, name) for name in names}, **more)


def _arrays(state: Beside) -> list[str]:
    return [each.name for each in fields(state) if isinstance(getattr(state, each.name), np.ndarray)]
