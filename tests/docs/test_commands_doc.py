"""The command reference and the man page are those of the parsers."""

import subprocess
from pathlib import Path

import pytest

from tidings.cli import reference
from tidings.cli.reference import commands
from tidings.cli.verbs import VERBS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("path", "made"), [(reference.REFERENCE, reference.markdown), (reference.MAN, reference.man)])
def test_a_page_says_what_the_parsers_say(path, made):
    """`script/docs` writes it."""
    assert made() == (ROOT / path).read_text(encoding="utf-8")


def test_every_command_and_flag_is_described():
    """No flag is without a word of help, and each command stands in both pages."""
    known, document, man = commands(), reference.markdown(), reference.man()
    silent = [f"{c.name} {a.flags[0]}" for c in known for a in c.flags if not a.help]

    assert [] == silent
    assert list(VERBS) == [command.name for command in known]
    assert all(f"\n### {name}\n" in document and f"\n.SS tidings {name}\n" in man for name in VERBS)


def test_the_man_page_is_read_by_man():
    """The macros are used as groff wants them, where there is groff."""
    try:
        ran = subprocess.run(
            ["groff", "-Kutf8", "-man", "-Tutf8", "-ww", "-z", ROOT / reference.MAN], capture_output=True, check=True
        )
    except FileNotFoundError:
        pytest.skip("there is no groff (apt-get install groff)")

    assert b"" == ran.stderr
