"""A fixed table of implementations by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from tidings.errors import UsageError

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """A fixed mapping from a name to a row; an unknown name raises an error that lists the known
    ones.

    `noun` is the word for a row in messages ("policy", "change type"); `refused` gives, for names
    known elsewhere, why they are not valid here.
    """

    def __init__(self, noun: str, rows: Mapping[str, T], *, refused: Mapping[str, str] | None = None) -> None:
        self.noun = noun
        self._rows = dict(rows)
        self._refused = dict(refused or {})

    def __getitem__(self, name: str) -> T:
        try:
            return self._rows[name]
        except KeyError:
            known = ", ".join(sorted(self._rows))
            why = self._refused.get(name)
            message = f'the {self.noun} "{name}" {why}' if why else f'there is no {self.noun} "{name}"'
            message += f"; there are: {known}"
            raise UsageError(message) from None

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)
