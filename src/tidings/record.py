"""Dataclasses that cost little to make and to copy (decision 0076).

`dataclass` and `replace` mean what those of `dataclasses` mean. The standard library writes and
compiles five to seven methods for each frozen class: half a millisecond, for hundreds of classes of
which a command uses few. Here what all classes can share is shared, and the rest is compiled when
it is first called. Slots are set by their descriptors, which is twice as quick. All else of
`dataclasses` (`field`, `fields`, `asdict` …) works with these classes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import repeat
from operator import attrgetter, call
from reprlib import recursive_repr
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

__all__ = ["dataclass", "replace"]

_MISSING = dataclasses.MISSING
MANY_COPIES: Final = 100
"""Copies of a class after which a function is compiled that makes them."""


def _make_dataclass(
    cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True, kw_only: bool = False
) -> Any:
    def decorate(cls: type) -> type:
        by_hand = {name for name, value in vars(cls).items() if name != "__hash__" or value is not None}
        made: type = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
        methods: dict[str, Any] = {"__init__": _compile_later(made, "__init__"), "__repr__": _describe}
        if eq:
            methods["__eq__"] = _compile_later(made, "__eq__")
            methods["__hash__"] = _compile_later(made, "__hash__") if frozen else None
        if frozen and slots:
            methods |= {"__getstate__": _get_state, "__setstate__": _set_state}
        if frozen:
            methods |= {name: _make_refusal(made, name) for name in ("__setattr__", "__delattr__")}
        for name, method in methods.items():
            if name not in by_hand:
                setattr(made, name, method)
        return made

    return decorate if cls is None else decorate(cls)


def _copy_with(value: Any, /, **changes: Any) -> Any:
    cls = value.__class__
    slots = _slots_of(cls)
    setters = slots.setters
    if slots.copy is not None and changes.keys() <= setters.keys():
        copy = slots.copy(value)
    elif slots.names and not setters and slots.are_all and changes.keys() <= slots.names:
        copy, values = object.__new__(cls), value.__dict__
        copy.__dict__.update({name: values[name] for name in slots.names})
        copy.__dict__.update(changes)
        return copy
    elif not slots.are_all or not changes.keys() <= setters.keys():
        return dataclasses.replace(value, **changes)
    else:
        copy = object.__new__(cls)
        any(map(call, setters.values(), repeat(copy), slots.read(value)))
        slots.copies += 1
        if slots.copies == MANY_COPIES:
            slots.copy = _compile_copy(cls, setters)
    for name, changed in changes.items():
        setters[name](copy, changed)
    return copy


if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:
    dataclass, replace = _make_dataclass, _copy_with


def _compile_later(cls: type, name: str) -> Callable[..., Any]:
    """Return a method that puts the real one in its place when it is first called."""

    def compile_and_call(self: Any, /, *values: Any, **named: Any) -> Any:
        made = _METHODS[name](cls)
        made.__qualname__, made.__module__ = f"{cls.__qualname__}.{name}", cls.__module__
        if vars(cls)[name] is compile_and_call:
            type.__setattr__(cls, name, made)
        return made(self, *values, **named)

    return compile_and_call


def _compile_init(cls: type) -> Callable[..., Any]:
    """Return the `__init__` of a class: its arguments are the fields, named ones last."""
    is_frozen, slots = "__setattr__" in vars(cls), _slots_of(cls).setters
    scope: dict[str, Any] = {"__set": object.__setattr__, "__missing": _MISSING}  # no field begins so
    placed: list[str] = ["self"]
    named: list[str] = []
    lines: list[str] = []
    for one in dataclasses.fields(cls):
        name, value, default = one.name, one.name, ""
        if one.default_factory is not _MISSING:
            scope[f"__make_{name}"], default = one.default_factory, " = __missing"
            value = f"__make_{name}() if {name} is __missing else {name}" if one.init else f"__make_{name}()"
        elif one.default is not _MISSING:
            scope[f"__default_{name}"], default = one.default, f" = __default_{name}"
            value = name if one.init else f"__default_{name}"
        elif not one.init:
            continue
        if one.init:
            (named if one.kw_only else placed).append(name + default)
        if not is_frozen:
            lines.append(f"self.{name} = {value}")
        elif name in slots:
            scope[f"__set_{name}"] = slots[name]
            lines.append(f"__set_{name}(self, {value})")
        else:
            lines.append(f"__set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    arguments = ", ".join([*placed, *(["*", *named] if named else [])])
    return _compile(f"def __init__({arguments}):\n " + "\n ".join(lines or ["pass"]), scope)


def _compile_eq(cls: type) -> Callable[..., Any]:
    ours, theirs = (_write_tuple(cls, of) for of in ("self", "other"))
    same = "other.__class__ is self.__class__"
    return _compile(f"def __eq__(self, other):\n return {ours} == {theirs} if {same} else NotImplemented", {})


def _compile_hash(cls: type) -> Callable[..., Any]:
    return _compile(f"def __hash__(self):\n return hash({_write_tuple(cls, 'self')})", {})


_METHODS: Mapping[str, Callable[[type], Callable[..., Any]]] = MappingProxyType(
    {"__init__": _compile_init, "__eq__": _compile_eq, "__hash__": _compile_hash}
)


def _compile_copy(cls: type, setters: Mapping[str, Callable[[Any, Any], None]]) -> Callable[[Any], Any]:
    """Return a function that copies an instance, in half of the time that a loop over its fields
    takes.
    """
    scope: dict[str, Any] = {"__make": object.__new__, "__cls": cls}
    lines = ["copy = __make(__cls)"]
    for name, setter in setters.items():
        scope[f"__set_{name}"] = setter
        lines.append(f"__set_{name}(copy, value.{name})")
    return _compile("def __copy__(value):\n " + "\n ".join([*lines, "return copy"]), scope)


_COMPILED = frozenset({*_METHODS, "__copy__"})


def _write_tuple(cls: type, of: str) -> str:
    return "(" + "".join(f"{of}.{one.name}, " for one in dataclasses.fields(cls) if one.compare) + ")"


def _compile(text: str, scope: dict[str, Any]) -> Callable[..., Any]:
    exec(text, scope)  # noqa: S102 - of our own field names, as `dataclasses` does
    return next(value for name, value in scope.items() if name in _COMPILED)  # type: ignore[no-any-return]


def _make_refusal(cls: type, method: str) -> Callable[..., None]:
    verb = "assign to" if method == "__setattr__" else "delete"

    def refuse(self: Any, name: str, *value: Any) -> None:
        if type(self) is cls or name in self.__dataclass_fields__:
            raise dataclasses.FrozenInstanceError(f"cannot {verb} field {name!r}")
        getattr(super(cls, self), method)(name, *value)

    return refuse


@recursive_repr()
def _describe(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _get_state(self: Any) -> tuple[Any, ...]:
    return _slots_of(self.__class__).read(self)


def _set_state(self: Any, state: tuple[Any, ...]) -> None:
    if setters := _slots_of(self.__class__).setters:
        any(map(call, setters.values(), repeat(self), state))
    else:  # a class with a `__dict__` beside its slots
        for one, value in zip(dataclasses.fields(self), state, strict=False):
            object.__setattr__(self, one.name, value)


class _Slots:
    """How the fields of an instance are read as a tuple, and set one by one; without setters they
    are in its `__dict__`, beside cached properties.

    `are_all`: they say all of it, and it may be copied by them. `copy` does so, once many `copies`
    were made: to compile it takes as long as two hundred copies.
    """

    __slots__ = ("are_all", "copies", "copy", "names", "read", "setters")

    def __init__(
        self,
        names: Iterable[str],
        read: Callable[[Any], tuple[Any, ...]],
        setters: Mapping[str, Callable[[Any, Any], None]],
        *,
        are_all: bool,
    ) -> None:
        self.names = frozenset(names)
        self.read = read
        self.setters = setters
        self.are_all = are_all
        self.copies = 0
        self.copy: Callable[[Any], Any] | None = None


@cache
def _slots_of(cls: type) -> _Slots:
    fields = dataclasses.fields(cls)
    names = [one.name for one in fields]
    is_plain = not hasattr(cls, "__post_init__") and all(one.init for one in fields)
    if cls.__dictoffset__:
        has_slots = any("__slots__" in vars(base) for base in cls.__mro__[:-1])
        return _Slots(names, _make_reader(names), {}, are_all=is_plain and not has_slots)
    return _Slots(names, _make_reader(names), {name: getattr(cls, name).__set__ for name in names}, are_all=is_plain)


def _make_reader(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)
