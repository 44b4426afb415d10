"""The commands as values: each verb with its arguments, read from the parser that takes them."""

from __future__ import annotations

import argparse

from tidings.cli.verbs import VERBS, common, parser_of
from tidings.record import dataclass

FILES = frozenset({"FILE", "DIR", "FILE|-", "DIR|FILE"})
"""Metavars of arguments that name files."""
NAMES = frozenset({"NAME", "NAME | replay ID…"})
"""Metavars of positional arguments that name sentinels; the only flag that does is `--sentinel`."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A flag with all its spellings, or a positional argument, which has none.

    `shown` is what stands for its value, empty if it takes none.
    """

    flags: tuple[str, ...]
    shown: str
    choices: tuple[str, ...]
    help: str
    is_repeated: bool

    @property
    def is_file(self) -> bool:
        """Return whether its value names a file."""
        return self.shown in FILES

    @property
    def is_name(self) -> bool:
        """Return whether it names a sentinel."""
        return self.flags == ("--sentinel",) or (not self.flags and self.shown in NAMES)


@dataclass(frozen=True, slots=True)
class VerbEntry:
    """A verb: what it does, how it is called, its own arguments."""

    name: str
    group: str
    help: str
    usage: str
    arguments: tuple[Argument, ...]

    @property
    def flags(self) -> tuple[Argument, ...]:
        """Return its flags."""
        return tuple(argument for argument in self.arguments if argument.flags)

    @property
    def positional(self) -> tuple[Argument, ...]:
        """Return its arguments without a flag, in their order."""
        return tuple(argument for argument in self.arguments if not argument.flags)


def commands() -> tuple[VerbEntry, ...]:
    """Return all commands, in the order of the table of verbs."""
    shared = {argument.flags for argument in common_flags()}
    return tuple(_command(name, shared) for name in VERBS)


def common_flags() -> tuple[Argument, ...]:
    """Return the flags that every verb takes."""
    return _arguments(common())


def _command(name: str, shared: set[tuple[str, ...]]) -> VerbEntry:
    parser = parser_of(name)
    own = tuple(argument for argument in _arguments(parser) if argument.flags not in shared)
    words = [f"tidings {name}", *map(_usage, own)]
    return VerbEntry(name, VERBS[name].group, VERBS[name].help, " ".join(words), own)


def _arguments(parser: argparse.ArgumentParser) -> tuple[Argument, ...]:
    formatter = argparse.HelpFormatter(parser.prog)
    return tuple(
        Argument(
            flags=tuple(action.option_strings),
            shown="" if action.nargs == 0 else _write_action(action),
            choices=tuple(map(str, action.choices or ())),
            help=(formatter._expand_help(action) if action.help else "").replace("\n", " "),
            is_repeated=action.nargs in {"*", "+"} or isinstance(action, argparse._AppendAction),
        )
        for action in parser._actions
        if not isinstance(action, argparse._HelpAction)
    )


def _write_action(action: argparse.Action) -> str:
    if action.choices:
        return "|".join(map(str, action.choices))
    return str(action.metavar or action.dest.upper())


def _usage(argument: Argument) -> str:
    if not argument.flags:
        return f"[{argument.shown}{' …' if argument.is_repeated else ''}]"
    return f"[{argument.flags[0]}{f' {argument.shown}' if argument.shown else ''}]"
