"""What a subscription knows beside the versions of its page: the headers of the last answer, the entries of a feed that were there, what its
selectors found. Written with its cursor, in one unit; what cannot be read is as if nothing were known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Remembered:
    """`headers` by name in small letters, "" for one that was not there; `marks` of entries, the oldest first; `targets` as healing writes them."""

    headers: Mapping[str, str] = field(default_factory=dict)
    marks: tuple[str, ...] = ()
    targets: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of(cls, text: str) -> Remembered:
        """Read what is stored of a subscription."""
        if not text:
            return cls()
        said = json.loads(text)
        return cls(said.get("headers", {}), tuple(said.get("marks", ())), tuple(said.get("targets", ())))

    @property
    def text(self) -> str:
        """Return it as it is stored, empty for nothing."""
        said = {"headers": dict(self.headers), "marks": list(self.marks), "targets": list(self.targets)}
        kept = {name: value for name, value in said.items() if value}
        return json.dumps(kept, ensure_ascii=False, separators=(",", ":"), sort_keys=True) if kept else ""
