"""Commands as sources of pages: the output of a program of this machine, at an address `command:`
that holds its words.

Only the sentence `Using command "…" "…"` makes such an address. No address that a page names is
ever one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, unquote

SCHEME: Final = "command:"
HOST: Final = "command"
"""What stands for the host of all commands: it has no gap, since nobody is asked."""
_PLAIN: Final = "/-_.:=,@+~"


def is_command(url: str) -> bool:
    """Return whether an address is that of a command."""
    return url[: len(SCHEME)].lower() == SCHEME


def url_of(argv: Sequence[str]) -> str:
    """Return the address of a command, the same for the same words."""
    import shlex

    return SCHEME + quote(shlex.join(argv), safe=_PLAIN)


def argv_of(url: str) -> tuple[str, ...]:
    """Return the words of the command at an address; raises `ValueError` if it has none."""
    import shlex

    argv = tuple(shlex.split(unquote(url[len(SCHEME) :], errors="strict")))
    if not argv or not argv[0]:
        message = "it names no program"
        raise ValueError(message)
    return argv
