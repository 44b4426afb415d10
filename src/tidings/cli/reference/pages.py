"""The pages that `script/docs` writes: `docs/reference/commands.md` and `docs/tidings.1`.

The commands as values: each verb with its arguments, read from the parser that takes them.
"""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Final

from tidings.cli.verbs import GROUPS, VERBS, common, parser_of
from tidings.record import dataclass

if TYPE_CHECKING:
    pass

FILES = frozenset({"FILE", "DIR", "FILE|-", "DIR|FILE"})
"""Metavars of arguments that name files."""
NAMES = frozenset({"NAME", "NAME | replay ID…"})
"""Metavars of positional arguments that name sentinels; the only flag that does is `--sentinel`."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A flag with all its spellings, or a positional argument, which has none.

    `shown` is the placeholder of its value, empty if it takes none.
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
    """A verb: its description, usage and own arguments."""

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
        """Return its positional arguments in order."""
        return tuple(argument for argument in self.arguments if not argument.flags)


def commands() -> tuple[VerbEntry, ...]:
    """Return all commands, in the order of the table of verbs."""
    shared = {argument.flags for argument in common_flags()}
    return tuple(_command(name, shared) for name in VERBS)


def common_flags() -> tuple[Argument, ...]:
    """Return the flags of every verb."""
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


REFERENCE: Final = "docs/reference/commands.md"
MAN: Final = "docs/tidings.1"
"""Their paths, from the root of the repository."""
_INTRODUCTION: Final = """Tidings watches web pages, feeds and APIs that can only be polled.
It notifies people of the changes that they asked for."""
_EXITS: Final = {
    "0": "The command did its work.",
    "1": "The answer is yes: there is a change or a problem (only with --exit-code).",
    "2": "The command or its input is wrong; the message says what to write.",
    "3": "The command could not do its work; the message says why.",
}
_VARIABLES: Final = {
    "TIDINGS_DATA": "The data directory, if --data is not given.",
    "TIDINGS_CONFIG": "The configuration file, if --config is not given.",
    "TIDINGS_SECTION_KEY": "A setting; `tidings settings` lists them all.",
    "NO_COLOR": "If set, nothing is in colour. Pipes and files never get colour.",
}
_PARTS: Final = {"Exit codes": _EXITS, "Environment": _VARIABLES}


def markdown() -> str:
    """Return the reference of all commands as a page."""
    parts = [f"# Commands\n\n<!-- Written by script/docs. -->\n\n{_INTRODUCTION}\n"]
    parts.append("Every command takes these flags:\n\n" + _table(common_flags()))
    parts.append("`tidings help COMMAND` prints the same on a terminal. `tidings --version` prints the version.\n")
    for group in GROUPS.values():
        parts.append(f"## {group}\n")
        for command in commands():
            if command.group == group:
                parts.append(f"### {command.name}\n\n{_sentence(command.help)}\n\n```text\n{command.usage}\n```\n")
                parts += [_table(command.arguments)] if command.arguments else []
    for heading, rows in _PARTS.items():
        lines = "".join(f"| `{name}` | {said} |\n" for name, said in rows.items())
        parts.append(f"## {heading}\n\n| | meaning |\n|---|---|\n{lines}")
    return "\n".join(parts)


def _table(arguments: tuple[Argument, ...]) -> str:
    rows = "".join(f"| `{_cell(_spell(a))}` | {_cell(_sentence(a.help))} |\n" for a in arguments)
    return f"| argument | meaning |\n|---|---|\n{rows}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def man() -> str:
    """Return the page for `man tidings`, in the macros of man (7)."""
    lines = ['.TH TIDINGS 1 "" "" "Tidings"', ".SH NAME", "tidings \\- watch web pages and notify of what changed"]
    lines += [".SH SYNOPSIS", ".B tidings", ".I COMMAND", "[argument ...]"]
    lines += [".SH DESCRIPTION", *map(_roff, _INTRODUCTION.splitlines())]
    lines += [".SH COMMON FLAGS", *_terms({_spell(a): a.help for a in common_flags()})]
    for group in GROUPS.values():
        lines.append(f".SH {group.upper()}")
        for command in commands():
            if command.group == group:
                lines += [f".SS tidings {command.name}", _roff(_sentence(command.help))]
                lines += _terms({_spell(a): a.help for a in command.arguments})
    for heading, rows in _PARTS.items():
        lines += [f".SH {heading.upper()}", *_terms(rows)]
    return "\n".join(lines) + "\n"


def _terms(rows: dict[str, str]) -> list[str]:
    return [line for name, said in rows.items() for line in (".TP", f".B {_roff(name)}", _roff(_sentence(said)))]


def _roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return f"\\&{text}" if text[:1] in {".", "'"} else text


def _spell(argument: Argument) -> str:
    value = argument.shown + (" …" if argument.is_repeated and not argument.flags else "")
    return f"{', '.join(argument.flags)} {value}".strip()


def _sentence(text: str) -> str:
    """Return a text as a sentence; one that begins with a flag or command stays lower-case."""
    if not text:
        return "The sentinel."
    begun = text if re.match(r"[\w-]*[:(]|--", text) else text[0].upper() + text[1:]
    return begun if begun.endswith((".", "!", "?")) else f"{begun}."
