"""Nouns are values: frozen, compared by their content, without behaviour."""

import dataclasses
import importlib
import pkgutil
import typing
from collections.abc import Mapping

import pytest

import tidings.model
from tidings import clock
from tidings.model import interval
from tidings.model.event_type import EventType
from tidings.model.observed.poll_reason import Why
from tidings.model.secret import Secret

MODULES = [
    importlib.import_module(found.name) for found in pkgutil.walk_packages(tidings.model.__path__, "tidings.model.")
]
NOUNS = {
    name: value
    for module in MODULES
    for name, value in vars(module).items()
    if dataclasses.is_dataclass(value) and isinstance(value, type) and value.__module__ == module.__name__
}
MADE = {  # what a noun needs at least, where a field has no default
    "int": 1,
    "str": "a",
    "float": 1.0,
    "bool": False,
    "bytes": b"",
    "Secret": Secret("a"),
    "Why": Why.CHANGE,
    "EventType": EventType.PAGE_OK,
}


def make(kind):
    """Return a noun with a value in each field that has no default."""
    hints = typing.get_type_hints(kind)
    needed = [f.name for f in dataclasses.fields(kind) if f.default is f.default_factory is dataclasses.MISSING]
    return kind(**{name: make_value(hints[name]) for name in needed})


def make_value(hint):
    """Return a value of a type, the first of a choice."""
    if hint is type(None) or type(None) in typing.get_args(hint):
        return None
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return arguments[0]
    if origin is tuple:
        return ()
    if origin is Mapping:
        return {}
    if arguments:
        return make_value(arguments[0])
    return make(hint) if dataclasses.is_dataclass(hint) else MADE[hint.__name__]


@pytest.mark.parametrize("name", NOUNS)
def test_noun_is_frozen(name):
    """Its fields cannot be set, and none can be added."""
    noun = make(NOUNS[name])

    for field in dataclasses.fields(noun):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(noun, field.name, None)
    assert not hasattr(noun, "__dict__")


@pytest.mark.parametrize("name", NOUNS)
def test_nouns_with_equal_content_are_equal(name):
    """A copy with nothing replaced is equal too."""
    first, second = make(NOUNS[name]), make(NOUNS[name])

    assert first == second == dataclasses.replace(first)


@pytest.mark.parametrize("name", NOUNS)
def test_noun_has_a_docstring(name):
    """It is its own."""
    assert not (NOUNS[name].__doc__ or f"{name}(").startswith(f"{name}(")


def test_nouns_are_found():
    """The tests above test something."""
    assert {"Unit", "Sentinel", "Version", "PageState", "Fetched", "ChangeSet", "ExecutionInterval"} <= set(NOUNS)


def test_instants_and_durations_are_whole_microseconds():
    """They are the same in nouns and on the clock."""
    assert (clock.Instant, clock.Duration) == (interval.Instant, interval.Duration) == (int, int)
    assert [clock.WEEK, clock.DAY, clock.HOUR, clock.MINUTE, clock.SECOND] == [size for _, size in interval.UNITS]
