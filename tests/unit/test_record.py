"""Classes of `record` are those of `dataclasses`, whatever is asked of them: the two are compared."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar

import pytest

from tidings import record


def define(dataclass: Callable[..., Any]) -> dict[str, Any]:
    """Return classes of every sort that the house has, made by one of the two decorators."""

    @dataclass(frozen=True, slots=True)
    class Point:
        """A frozen class with slots."""

        x: int
        y: int = 2
        names: list[str] = field(default_factory=list)
        hidden: str = field(default="h", repr=False, compare=False)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named:
        """A class whose fields are named, one made of another."""

        kind: ClassVar[str] = "named"
        a: int = 1
        b: Any

    @dataclass(slots=True)
    class Open:
        """A class that may be changed, with a field that is no argument."""

        a: int
        twice: int = field(init=False)
        many: list[int] = field(init=False, default_factory=list)

        def __post_init__(self) -> None:
            self.twice = 2 * self.a

    @dataclass(frozen=True)
    class Lazy:
        """A class without slots."""

        a: int
        b: str = "b"

        @cached_property
        def whole(self) -> str:
            return f"{self.a}{self.b}"

    @dataclass(frozen=True, slots=True, eq=False)
    class Known:
        """A class whose instances are themselves only."""

        a: int

    @dataclass(frozen=True, slots=True)
    class Said:
        """A class with methods written by hand."""

        a: int

        def __repr__(self) -> str:
            return "said"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Said)

        def __hash__(self) -> int:
            return 7

    @dataclass(frozen=True, slots=True)
    class Solid(Point):
        """A class that has more fields than its parent."""

        z: int = 3

    @dataclass(frozen=True, slots=True)
    class Nothing:
        """A class without fields."""

    @dataclass
    class Plain:
        """A class of no options."""

        a: int = 1

    @dataclass(frozen=True, slots=True)
    class Alike:
        """A class whose fields have names that a generated method could use."""

        missing: int
        at: int
        set_at: int
        make_many: int = 0
        many: list[int] = field(default_factory=list)

    @dataclass(slots=True)
    class Late:
        """A class that may be changed, with a field that is set later."""

        a: int
        later: int = field(init=False, repr=False)

    made = [Point, Named, Open, Lazy, Known, Said, Solid, Nothing, Plain, Alike, Late]
    return {one.__name__: one for one in made}


OURS, THEIRS = define(record.dataclass), define(dataclasses.dataclass)
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Point", (1,), {}),
    ("Point", (1, 5), {"names": ["n"], "hidden": "x"}),
    ("Point", (), {}),
    ("Point", (1, 2, [], "h", 5), {}),
    ("Point", (1,), {"z": 1}),
    ("Named", (), {"b": 4}),
    ("Named", (4,), {}),
    ("Open", (3,), {}),
    ("Open", (3,), {"twice": 1}),
    ("Lazy", (1,), {}),
    ("Known", (1,), {}),
    ("Said", (1,), {}),
    ("Solid", (1, 2), {"z": 4}),
    ("Nothing", (), {}),
    ("Nothing", (1,), {}),
    ("Plain", (), {}),
    ("Alike", (1, 2, 3), {}),
    ("Alike", (1, 2, 3, 4), {"many": [5]}),
    ("Late", (1,), {}),
]


def describe(classes: dict[str, Any], use: Callable[[dict[str, Any]], Any]) -> str:
    """Return what comes of a use of the classes, in words: what is returned, or what is raised."""
    try:
        return repr(use(classes)).replace(define.__qualname__, "")
    except (TypeError, AttributeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def is_refused(step: Callable[[], None]) -> bool:
    """Return whether an instance may not be altered so.

    The library's own error for classes with slots is a wrong `super`.
    """
    try:
        step()
    except (AttributeError, TypeError):
        return True
    return False


USES: dict[str, Callable[[Any], Any]] = {
    "repr": repr,
    "fields": dataclasses.asdict,
    "equal": lambda made: (made == copy.copy(made), made != copy.copy(made), made == 1, made == record.replace(made)),
    "hash": lambda made: hash(made) == hash(copy.copy(made)),
    "in a set": lambda made: made in frozenset([made, 0]),
    "deep copy": lambda made: repr(copy.deepcopy(made)),
    "assign": lambda made: is_refused(lambda: setattr(made, "a", 9)),
    "assign x": lambda made: is_refused(lambda: setattr(made, "x", 9)),
    "assign what is none": lambda made: is_refused(lambda: setattr(made, "other", 9)),
    "delete": lambda made: is_refused(lambda: delattr(made, "a")),
    "parts": lambda made: type(made).__match_args__,
    "room": lambda made: hasattr(made, "__dict__"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("call", range(len(CALLS)))
def test_uses(call: int, use: str) -> None:
    """A class of ours is made, compared, shown, copied and refused as the library's."""
    name, values, named = CALLS[call]

    def make_and_use(classes: dict[str, Any]) -> Any:
        return USES[use](classes[name](*values, **named))

    assert describe(THEIRS, make_and_use) == describe(OURS, make_and_use)


@pytest.mark.parametrize("changes", [{}, {"a": 5}, {"b": 5}, {"x": 5}, {"names": []}, {"twice": 1}, {"nobody": 1}])
@pytest.mark.parametrize("call", [n for n, (_, values, _) in enumerate(CALLS) if len(values) < 3])
def test_replace(call: int, changes: dict[str, Any]) -> None:
    """A copy with other values is what `dataclasses.replace` returns, and raises what it raises."""
    name, values, named = CALLS[call]

    def copy_by(replace: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
        return lambda classes: replace(classes[name](*values, **named), **changes)

    assert describe(THEIRS, copy_by(dataclasses.replace)) == describe(OURS, copy_by(record.replace))


def test_cached_values_are_not_copied() -> None:
    """What an instance found out about itself is no part of a copy with another value."""
    first = OURS["Lazy"](1)
    assert "1b" == first.whole
    assert "2b" == record.replace(first, a=2).whole


def test_defaults_are_not_shared() -> None:
    """Each instance has a list of its own."""
    one, other = OURS["Point"](1), OURS["Point"](1)
    assert one.names is not other.names
    assert OURS["Open"](1).many is not OURS["Open"](1).many


@record.dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A class that pickles by its name."""

    a: int
    b: tuple[int, ...] = ()


class Wide(Sent):
    """A class with a `__dict__` beside the slots of its parent."""


@pytest.mark.parametrize("made", [Sent, Wide])
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol: int, made: type[Sent]) -> None:
    """A frozen instance comes back as it was from every pickle."""
    sent = made(a=1, b=(2, 3))
    assert sent == pickle.loads(pickle.dumps(sent, protocol))


def test_names_of_methods() -> None:
    """An error of a call names the class, before and after the first instance."""
    with pytest.raises(TypeError, match=r"Sent.__init__\(\) missing 1 required keyword-only argument: 'a'"):
        Sent()  # type: ignore[call-arg]
    Sent(a=1)
    with pytest.raises(TypeError, match=r"Sent.__init__\(\) missing 1 required keyword-only argument: 'a'"):
        Sent()  # type: ignore[call-arg]


def test_refusal_names_the_field() -> None:
    """An instance that may not be altered says which field was meant."""
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'a'"):
        Sent(a=1).a = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'a'"):
        del Sent(a=1).a
