"""`tidings settings`: every setting, its value and where it can be set."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tidings.cli.output import add_json, write_json, write_line
from tidings.errors import UsageError
from tidings.language.problems import did_you_mean
from tidings.settings import SettingRow, table

if TYPE_CHECKING:
    from tidings.settings import Settings


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("section", nargs="?", metavar="SECTION[.KEY]", help="show only this section or setting")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print the table; secrets are never shown."""
    rows = [row for row in table() if arguments.section in {None, row.name, row.name.partition(".")[0]}]
    if not rows:
        names = [row.name for row in table()]
        sections = dict.fromkeys(name.partition(".")[0] for name in names)
        hint = did_you_mean(arguments.section, (*names, *sections)) or f"the sections are {', '.join(sections)}"
        message = f'there is no setting or section "{arguments.section}"; {hint}'
        raise UsageError(message)
    for row in rows:
        value = settings.value(row.name)
        if arguments.json:
            write_json(_record(row, value))
        else:
            write_line(f"{row.name} = {_show_value(row, value)}")
            write_line(f"    {row.help}")
            write_line(f"    {row.type}, default {_show_value(row, row.default)}; {row.variable}")
    if not arguments.json:
        write_line()
        write_line(
            f"data directory: {settings.data} (--data, TIDINGS_DATA); file: tidings.toml in it (--config, TIDINGS_CONFIG)"
        )
    return 0


def _show_value(row: SettingRow, value: Any) -> str:
    if row.secret and value:
        return "***"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value) if value != "" else '""'


def _record(row: SettingRow, value: Any) -> dict[str, Any]:
    return {
        "record": "setting",
        "name": row.name,
        "value": "***" if row.secret and value else list(value) if isinstance(value, tuple) else value,
        "type": row.type,
        "default": list(row.default) if isinstance(row.default, tuple) else row.default,
        "secret": row.secret,
        "variable": row.variable,
        "help": row.help,
    }
