"""The parts of a composite change as plain JSON, beside the texts of the change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, fields
from typing import Any

from tidings.model.change import ChangeSet, ObjectCount, ObjectPlace
from tidings.model.composite import Composite, Part

_LISTS = ("kinds", "inserted", "deleted", "moved")


def to_plain(composite: Composite) -> dict[str, Any]:
    """Return a composite without what is as usual; of what was found the texts, since the tokens are those of the part's own change."""
    return {
        "verdict": composite.verdict,
        "reason": composite.reason,
        "parts": [
            {
                field.name: _found(part.found) if field.name == "found" else getattr(part, field.name)
                for field in fields(Part)
                if getattr(part, field.name) != field.default
            }
            for part in composite.parts
        ],
    }


def from_plain(data: Mapping[str, Any]) -> Composite:
    """Return the composite that `to_plain` wrote."""
    parts = tuple(_part(part) for part in data["parts"])
    return Composite(verdict=data["verdict"], reason=data["reason"], parts=parts)


def _part(data: Mapping[str, Any]) -> Part:
    values: dict[str, Any] = {name: _change_set(value) if name == "found" else value for name, value in data.items()}
    return Part(**values)


def _found(found: ChangeSet) -> dict[str, Any]:
    lists = {name: list(getattr(found, name)) for name in _LISTS}
    objects = [(o.kind, o.object, o.old, o.new) for o in found.objects]
    places = {"places": list(map(astuple, found.places))} if found.places else {}
    return {**lists, "updated": list(found.updated), "objects": objects, **places}


def _change_set(data: Mapping[str, Any]) -> ChangeSet:
    lists = {name: tuple(data[name]) for name in _LISTS}
    objects = tuple(ObjectCount(*count) for count in data["objects"])
    places = tuple(ObjectPlace(*place) for place in data.get("places", ()))
    return ChangeSet(**lists, updated=tuple((old, new) for old, new in data["updated"]), objects=objects, places=places)
