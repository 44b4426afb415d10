"""The table of verbs: source of parsers, `--help`, completion, man page and reference."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, Protocol, cast

from tidings.errors import UsageError
from tidings.record import dataclass

if TYPE_CHECKING:
    from tidings.settings import Settings


class Verb(Protocol):
    """The functions of each verb's module."""

    def configure(self, parser: argparse.ArgumentParser, verb: str) -> None:
        """Declare the arguments of a verb."""
        ...

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        """Run it and return the exit code."""
        ...


@dataclass(frozen=True, slots=True)
class VerbRow:
    """A verb: its module, whose folder is the verb's group, and its description."""

    module: str
    help: str

    @property
    def group(self) -> str:
        """Return the heading under which the verb is listed."""
        return GROUPS[self.module.partition(".")[0]]


GROUPS: Final = {
    "change": "Change what is watched",
    "run": "Check pages",
    "show": "Show what there is",
    "keep": "Keep and move",
}

VERBS: Final = {
    "add": VerbRow("change.add", "watch a page (add --url URL), or run the statements of a file"),
    "collect": VerbRow("change.collect", "watch a whole site; Tidings finds its pages within a budget"),
    "apply": VerbRow("change.apply", "make the stored sentinels equal to the sentinels in files"),
    "test": VerbRow(
        "change.trial",
        "try statements of the language: fetch the pages that they name once and show what would be watched; store nothing",
    ),
    "alter": VerbRow("change.alter", "change clauses of a sentinel; this notifies nobody"),
    "enable": VerbRow("change.life", "continue a paused sentinel"),
    "disable": VerbRow("change.life", "pause a sentinel; its versions and changes are kept"),
    "rename": VerbRow("change.life", "give a sentinel another name; its versions and changes are kept"),
    "drop": VerbRow("change.life", "end a sentinel; its name can be used again"),
    "confirm": VerbRow("change.life", "compare with the newest version from now on (for Compare first)"),
    "secret": VerbRow("change.secret", "store tokens, passwords and cookies, encrypted"),
    "token": VerbRow("change.token", "manage the tokens of programs that use the API"),
    "user": VerbRow("change.user", "manage the accounts of people"),
    "check": VerbRow("run.check", "check the pages whose next check is due, or the pages of the named sentinels"),
    "serve": VerbRow("run.serve", "run the service: check and notify until stopped"),
    "mcp": VerbRow("run.mcp", "answer an assistant on standard input and output (MCP)"),
    "demo": VerbRow("run.demo", "show how Tidings works, on made-up pages of this machine"),
    "gc": VerbRow("run.gc", "delete versions that are not needed any more"),
    "simulate": VerbRow("run.simulate", "replay the recorded changes with other budgets, policies and urgencies"),
    "lab": VerbRow(
        "run.simulate", "compare the policy in use with the policies in the setting lab.policies, on made-up pages"
    ),
    "list": VerbRow("show.listing", "list all sentinels"),
    "show": VerbRow("show.show", "show one sentinel: its text, state and pages, and the reason for its next check"),
    "changes": VerbRow("show.history", "list what changed"),
    "history": VerbRow("show.history", "list the versions of a page, its checks or its values"),
    "diff": VerbRow("show.diff", "compare two versions, by default the last two"),
    "search": VerbRow("show.search", "search the text of all watched pages, now or in the past"),
    "queries": VerbRow("show.queries", "show what people searched for on this machine"),
    "deliveries": VerbRow("show.deliveries", "list messages and their receivers, or send some again"),
    "plan": VerbRow("show.plan", "list the next checks, each with its reason"),
    "explain": VerbRow(
        "show.plan", "show how often pages change, how late changes are seen, and what other intervals would achieve"
    ),
    "mask": VerbRow("show.mask", "show what is ignored as noise, and why; --off reports it again"),
    "doctor": VerbRow("show.doctor", "examine the installation; for each problem, show the command that fixes it"),
    "cluster": VerbRow("show.cluster", "list the processes that share the database, and what they hold"),
    "settings": VerbRow("show.configuration", "list every setting with its value, and where to set it"),
    "import": VerbRow("keep.imports", "import the watches of another program"),
    "export": VerbRow("keep.export", "write sentinels, changes, checks, values or versions for other programs"),
    "backup": VerbRow("keep.backup", "write all stored data into one file; the service may run"),
    "restore": VerbRow("keep.backup", "restore a backup into the data directory, completely or not at all"),
    "verify": VerbRow("keep.backup", "check that a backup is complete and can be restored"),
    "completion": VerbRow("show.completion", "print the script for completion in bash, zsh or fish"),
}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are ours, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError`."""
        raise UsageError(message)


def parser_of(verb: str) -> argparse.ArgumentParser:
    """Return the parser of a verb."""
    parser = _Parser(prog=f"tidings {verb}", description=VERBS[verb].help, parents=[common()])
    module_of(verb).configure(parser, verb)
    return parser


def module_of(verb: str) -> Verb:
    """Import a verb's module.

    Garbage collection is off meanwhile, and what was imported is never searched for garbage: that
    would free almost nothing in a tenth of the time. Numpy's linear algebra, which no verb waits
    for, gets one thread: to start others takes longer than to load the rest of it.
    """
    name = f"tidings.cli.{VERBS[verb].module}"
    if name in sys.modules:
        return cast("Verb", sys.modules[name])
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return cast("Verb", importlib.import_module(name))
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def common() -> argparse.ArgumentParser:
    """Return the parser of the flags that every verb takes, before the verb or after it."""
    parser = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, default=None, metavar="DIR", help="the data directory (or TIDINGS_DATA)")
    parser.add_argument(
        "--config",
        type=Path,
        default=None,
        metavar="FILE",
        help="the configuration file (or TIDINGS_CONFIG); default: tidings.toml in the data directory",
    )
    parser.add_argument(
        "--set", action="append", default=None, metavar="SECTION.KEY=VALUE", help="set a setting for this command only"
    )
    return parser
