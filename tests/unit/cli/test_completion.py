"""Shells complete commands, flags, values and names."""

import shutil
import subprocess

import pytest

from tidings.cli.reference import SHELLS, commands
from tidings.cli.verbs import VERBS

ASKED = """
tidings() { printf 'kettle\\nkiosk\\n'; }
for line in "$@"; do
    read -ra COMP_WORDS <<<"$line"
    [[ $line == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _tidings
    echo "${COMPREPLY[*]}"
done
"""


def test_bash_completes_commands_flags_values_and_names():
    """The script runs in a real bash."""
    asked = {
        "tidings ch": "check changes",
        "tidings diff k": "kettle kiosk",
        "tidings diff --view d": "dual",
        "tidings --data x list --a": "--all",
        "tidings deliveries --sentinel ki": "kiosk",
        "tidings add --name k": "",
        "tidings completion z": "zsh",
    }

    ran = subprocess.run(
        ["bash", "--norc", "-c", SHELLS["bash"]() + ASKED, "-", *asked], capture_output=True, text=True, check=True
    )

    assert list(asked.values()) == ran.stdout.splitlines()
    assert "" == ran.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_script_has_every_command_and_flag(shell):
    """The shell can parse the script, where it is installed."""
    script = SHELLS[shell]()
    flags = {flag for command in commands() for argument in command.flags for flag in argument.flags}
    spelled = {f"-l {flag[2:]}" if shell == "fish" else flag for flag in flags}

    assert [] == [word for word in (*VERBS, *spelled) if word not in script]
    if shutil.which(shell):
        assert 0 == subprocess.run([shell, "-n"], input=script, text=True, check=False).returncode


def test_names_are_those_of_existing_sentinels(tidings, tmp_path):
    """Without a database there are none, and no database is made."""
    assert (0, "") == (tidings("completion", "names").code, tidings("completion", "names").out)
    assert not (tmp_path / "data").exists()
    text = tmp_path / "s.txt"
    text.write_text("Create Sentinel kettle Using http://a.example/ Monitor all words")
    tidings("add", str(text))

    assert "kettle\n" == tidings("completion", "names").out


def test_completion_command_prints_the_script(tidings):
    """The argument is the name of the shell."""
    assert SHELLS["fish"]() == tidings("completion", "fish").out
