"""Completion of the command line, a script for each shell.

The scripts ask `tidings completion names` for the names of sentinels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tidings.cli.reference.pages import commands, common_flags

if TYPE_CHECKING:
    from tidings.cli.reference.pages import Argument, VerbEntry

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
    said = [f'words="{" ".join(words)}"']
    said += ["names=1"] if any(argument.is_name for argument in command.positional) else []
    said += ["files=1"] if any(argument.is_file for argument in command.positional) else []
    return " ".join(said)


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
