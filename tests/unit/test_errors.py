"""Errors form one tree; its exit codes are those of the command line."""

import inspect
import re

import pytest

from tidings import errors
from tidings.errors import SentinelError, TidingsError, UsageError

CLASSES = {
    name: value for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, TidingsError)
}


@pytest.mark.parametrize("name", CLASSES)
def test_every_error_is_in_the_tree_that_the_module_draws(name):
    """The drawing at the head of the module names each error below its parent."""
    drawing = re.findall(r"^([│├└─ ]*)(\w+Error) ", inspect.getdoc(errors) or "", flags=re.MULTILINE)
    depths = {error: len(branch) // 4 for branch, error in drawing}
    parent = CLASSES[name].__mro__[1].__name__

    assert depths[name] == 1 + depths.get(parent, -1)


@pytest.mark.parametrize("name", CLASSES)
def test_exit_codes(name):
    """A request that is wrong ends with 2, a verb that could not do its work with 3."""
    assert (2 if issubclass(CLASSES[name], UsageError) else 3) == CLASSES[name].exit_code


@pytest.mark.parametrize("name", [name for name in CLASSES if name != "SentinelError"])
def test_an_error_carries_its_text(name):
    """What is printed is what was said where the error was raised."""
    assert "text" == str(CLASSES[name]("text"))


@pytest.mark.parametrize("name", CLASSES)
def test_every_error_says_what_it_means(name):
    """Each class has a docstring of its own, a sentence."""
    assert (CLASSES[name].__doc__ or "").strip().endswith(".")
    assert CLASSES[name].__doc__ != CLASSES[name].__mro__[1].__doc__


class Fault:
    """A problem of the language."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text

    def as_dict(self):
        """Return the record."""
        return {"message": self.text}


def test_a_sentinel_error_keeps_each_problem():
    """All faults of a text are printed, a line each, and kept as values."""
    faults = [Fault("1:2: E1 here"), Fault("3:4: E2 there")]
    error = SentinelError(faults)

    assert "1:2: E1 here\n3:4: E2 there" == str(error)
    assert tuple(faults) == error.problems
