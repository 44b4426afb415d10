"""docs/howto/export.md says what the verb takes."""

import re
import shlex
from pathlib import Path

import pytest

from tidings.cli.keep.export import FORMATS
from tidings.cli.verbs import parser_of
from tidings.service.export.rows import COLUMNS

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "export.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"^\$ tidings export ([^|>\n]*)", PAGE, re.MULTILINE)))


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_taken(command):
    """What stands behind the prompt is read by the parser of the verb."""
    assert parser_of("export").parse_args(shlex.split(command)).format in FORMATS


def test_each_format_and_table_is_named():
    """The page leaves none out."""
    assert [] == [name for name in (*FORMATS, *COLUMNS) if f"`{name}`" not in PAGE and f"--of {name}" not in PAGE]
