"""Completion, and what `script/docs` writes: `docs/reference/commands.md` and `docs/tidings.1`.

The commands as values: each verb with its arguments, read from the parser that takes them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tidings.cli.verbs import GROUPS, VERBS, common, parser_of
from tidings.record import dataclass

if TYPE_CHECKING:
    pass

FILES = frozenset({"FILE", "DIR", "FILE|TEXT|-", "FILE|TEXT|NAME|-", "DIR|FILE"})
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
    parts.append(
        "`tidings help COMMAND` prints the section of a command on a terminal. `tidings --version` prints the version.\n"
    )
    for group in GROUPS.values():
        parts.append(f"## {group}\n")
        for command in commands():
            if command.group == group:
                parts.append(
                    f"### {command.name}\n\n{_sentence(command.help)}\n\n```text\n{_wrap(command.usage)}\n```\n"
                )
                parts += [_table(command.arguments)] if command.arguments else []
    for heading, rows in _PARTS.items():
        lines = "".join(f"| `{name}` | {meaning} |\n" for name, meaning in rows.items())
        parts.append(f"## {heading}\n\n| | meaning |\n|---|---|\n{lines}")
    return "\n".join(parts)


def _wrap(usage: str) -> str:
    """Return a usage in lines of 90 columns, broken between arguments."""
    lines = [""]
    for part in usage.replace(" [", "\n[").split("\n"):
        if lines[-1] and len(lines[-1]) + len(part) >= 90:
            lines.append("   ")
        lines[-1] = f"{lines[-1]} {part}" if lines[-1] else part
    return "\n".join(lines)


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
    return [line for name, meaning in rows.items() for line in (".TP", f".B {_roff(name)}", _roff(_sentence(meaning)))]


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


_NAMES: Final = "tidings completion names 2>/dev/null"


def bash() -> str:
    """Return the script for bash; it needs no completion package."""
    common = " ".join(flag for argument in common_flags() for flag in argument.flags)
    with_value = "|".join(flag for argument in common_flags() for flag in argument.flags if argument.shown)
    of_verbs = "".join(f"        {command.name}) {_bash_verb(command)} ;;\n" for command in commands())
    of_values = "".join(
        f'        "{command.name} {flag}") {_bash_value(argument)} ;;\n'
        for command in commands()
        for argument in command.flags
        if argument.shown
        for flag in argument.flags
    )
    verbs = " ".join(command.name for command in commands())
    return f"""_tidings() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} verb= i words= files= names=
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${{COMP_WORDS[i]}} in
            {with_value}) ((i++)) ;;
            -*) ;;
            *) verb=${{COMP_WORDS[i]}}; break ;;
        esac
    done
    case $verb in
        "") words="{verbs} help --version --help" ;;
{of_verbs}    esac
    [[ $verb && $cur == -* ]] && files= names= && words+=" --help {common}"
    case "$verb $prev" in
        *" --data"|*" --config") words= names= files=1 ;;
{of_values}    esac
    [[ $names ]] && words+=" $({_NAMES})"
    COMPREPLY=($(compgen -W "$words" -- "$cur") $([[ $files ]] && compgen -f -- "$cur"))
}}
complete -o filenames -F _tidings tidings
"""


def _bash_verb(command: VerbEntry) -> str:
    words = [flag for argument in command.flags for flag in argument.flags]
    words += [choice for argument in command.positional for choice in argument.choices]
    shell = [f'words="{" ".join(words)}"']
    shell += ["names=1"] if any(argument.is_name for argument in command.positional) else []
    shell += ["files=1"] if any(argument.is_file for argument in command.positional) else []
    return " ".join(shell)


def _bash_value(argument: Argument) -> str:
    names, files = ("1" if is_so else "" for is_so in (argument.is_name, argument.is_file))
    return f'words="{" ".join(argument.choices)}" names={names} files={files}'


def zsh() -> str:
    """Return the script for zsh: for the file `_tidings` in a folder of `fpath`, or for `eval`."""
    verbs = "\n".join(f"        {_quote(f'{command.name}:{command.help}')}" for command in commands())
    shared = " ".join(_zsh_argument(argument) for argument in common_flags())
    of_verbs = "".join(
        f'        {command.name}) _arguments {own} "$shared[@]" ;;\n'
        for command in commands()
        for own in [" ".join(map(_zsh_argument, command.arguments))]
    )
    return f"""#compdef tidings
_tidings_names() {{ compadd -- ${{(f)"$({_NAMES})"}} }}
_tidings() {{
    local -a verbs shared
    shared=({shared})
    verbs=(
{verbs}
    )
    if (( CURRENT == 2 )); then
        _describe verb verbs
        return
    fi
    shift words
    (( CURRENT-- ))
    case $words[1] in
{of_verbs}    esac
}}
[[ ${{funcstack[1]}} == _tidings ]] && _tidings "$@" || compdef _tidings tidings
"""


def _zsh_argument(argument: Argument) -> str:
    kind = f":{_plain(argument.shown) or 'value'}:{_zsh_values(argument)}"
    if not argument.flags:
        return _quote(f"{'*' if argument.is_repeated else ''}{kind}")
    many = "*" if argument.is_repeated else ""
    return " ".join(
        _quote(f"{many}{flag}[{_plain(argument.help)}]{kind if argument.shown else ''}") for flag in argument.flags
    )


def _zsh_values(argument: Argument) -> str:
    if argument.choices:
        return f"({' '.join(argument.choices)})"
    return "_files" if argument.is_file else "_tidings_names" if argument.is_name else ""


def fish() -> str:
    """Return the script for fish: a file in `~/.config/fish/completions`."""
    lines = ["complete -c tidings -f"]
    for argument in common_flags():
        lines.append(_fish_flag("", argument))
    for command in commands():
        lines.append(
            f"complete -c tidings -n __fish_use_subcommand -a {command.name} -d {_quote(command.help, fish=True)}"
        )
        seen = f" -n '__fish_seen_subcommand_from {command.name}'"
        for argument in command.flags:
            lines.append(_fish_flag(seen, argument))
        for argument in command.positional:
            lines += [f"complete -c tidings{seen} {values}" for values in [_fish_values(argument)] if values != "-x"]
    return "\n".join(lines) + "\n"


def _fish_flag(seen: str, argument: Argument) -> str:
    spelled = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in argument.flags)
    values = f" {_fish_values(argument)}" if argument.shown else ""
    return f"complete -c tidings{seen} {spelled}{values} -d {_quote(argument.help, fish=True)}"


def _fish_values(argument: Argument) -> str:
    if argument.choices:
        return f"-x -a '{' '.join(argument.choices)}'"
    if argument.is_file:
        return "-r -F"
    return f"-x -a '({_NAMES})'" if argument.is_name else "-x"


def _plain(text: str) -> str:
    """Return a text without characters that are special in `_arguments`."""
    return "".join(" " if c in "[]:\\" else c for c in text)


def _quote(text: str, *, fish: bool = False) -> str:
    mark = "\\'" if fish else "'\\''"
    return "'" + text.replace("'", mark) + "'"


SHELLS: Final[dict[str, Callable[[], str]]] = {"bash": bash, "zsh": zsh, "fish": fish}
