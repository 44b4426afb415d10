"""The table of verbs: source of parsers, `--help`, completion, man page and reference."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, Protocol, cast

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
        "change.trial", "try statements: fetch their pages once and show what would be watched; nothing is stored"
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

MEANT: Final = {
    "watch": "add --url URL",
    "new": "add --url URL",
    "create": "add --url URL",
    "remove": "drop NAME",
    "delete": "drop NAME",
    "rm": "drop NAME",
    "unwatch": "drop NAME",
    "ls": "list",
    "test-filter": "test FILE",
    "test-notify": "add --url URL --notify ADDRESS, which sends a test message",
    "pause": "disable NAME",
    "stop": "disable NAME",
    "resume": "enable NAME",
    "edit": "alter NAME CLAUSE…",
    "crawl": "collect URL",
    "spider": "collect URL",
    "find": "search WORDS",
    "grep": "search WORDS",
    "status": "doctor",
    "health": "doctor",
    "log": "changes",
    "logs": "changes",
    "config": "settings",
    "run": "check",
    "alerts": "deliveries",
    "cat": "show NAME",
    "compare": "diff NAME",
    "continue": "enable NAME",
    "daemon": "serve",
    "dump": "export",
    "fetch": "check NAME",
    "get": "show NAME",
    "ignore": "mask NAME",
    "info": "show NAME",
    "init": "add --url URL",
    "jobs": "list",
    "lint": "test FILE",
    "load": "import FILE",
    "mail": "add --url URL --notify ADDRESS, which sends a test message",
    "messages": "deliveries",
    "mute": "disable NAME",
    "next": "plan",
    "notifications": "deliveries",
    "notify": "add --url URL --notify ADDRESS, which sends a test message",
    "poll": "check NAME",
    "recheck": "check NAME",
    "refresh": "check NAME",
    "scan": "check NAME",
    "schedule": "plan",
    "server": "serve",
    "sites": "list",
    "snapshots": "history NAME",
    "preview": "test FILE",
    "resend": "deliveries replay ID",
    "retry": "deliveries replay ID",
    "errors": "doctor",
    "failures": "doctor",
    "problems": "doctor",
    "start": "serve",
    "stats": "explain NAME",
    "sync": "apply DIR",
    "tokens": "token list",
    "trigger": "check NAME",
    "ui": "serve",
    "unpause": "enable NAME",
    "update": "check NAME",
    "users": "user list, or user add NAME",
    "validate": "test FILE",
    "versions": "history NAME",
    "view": "show NAME",
    "watches": "list",
    "web": "serve",
    "why": "explain NAME",
}
"""What users of other programs may type, and its equivalent here."""


_LIMIT: Final = "--limit N"
_PRICE: Final = "--monitor 'price < 100'"
_AT: Final = "--every 'at 8:00, 20:00'"
_NO_FORMAT: Final = "the file alone: Tidings recognises its format"
_NO_QUESTION: Final = "the command without it: Tidings asks nothing"
FLAGS: Final = {
    "--all": "`tidings check` for all that is due, or their names",
    "--at": _AT,
    "--auth": "--user NAME",
    "--basic-auth": "--user NAME",
    "--below": _PRICE,
    "--browser": "--render",
    "--click": "--step 'click css \"…\"'",
    "--contains": "--monitor 'keyword \"…\"'",
    "--cookie": "--header 'Cookie: …'",
    "--count": _LIMIT,
    "--cron": _AT,
    "--css": "--select CSS",
    "--daily": "--every 1day",
    "--delay": "--step 'wait 5 s'",
    "--discord": "--notify discord://…",
    "--email": "--notify ADDRESS",
    "--filter": "--select CSS",
    "--force": _NO_QUESTION,
    "--frequency": "--every DURATION",
    "--group": "--tag TAG",
    "--hourly": "--every 1h",
    "--html": "--format html",
    "--ignore": "--exclude CSS",
    "--interval": "--every DURATION",
    "--javascript": "--render",
    "--jsonpath": "--monitor 'any change in jsonpath \"…\"'",
    "--keyword": "--monitor 'keyword \"…\"'",
    "--label": "--tag TAG",
    "--last": _LIMIT,
    "--lines": _LIMIT,
    "--mail": "--notify ADDRESS",
    "--max": _LIMIT,
    "--notify-email": "--notify ADDRESS",
    "--price": "--monitor price",
    "--price-above": "--monitor 'price > 100'",
    "--price-below": _PRICE,
    "--regex": "--monitor 'regex \"…\"'",
    "--remove": "--exclude CSS",
    "--selector": "--select CSS",
    "--slack": "--notify slack://…",
    "--tags": "--tag TAG",
    "--tail": _LIMIT,
    "--telegram": "--notify tgram://…",
    "--text": "--monitor 'keyword \"…\"'",
    "--title": "--name NAME",
    "--username": "--user NAME",
    "--wait-for": "--step 'wait for css \"…\"'",
    "--webhook": "--notify URL",
    "--xpath": "--monitor 'all words in xpath \"…\"'",
    "--yes": _NO_QUESTION,
    "add --dry-run": "tidings test 'Create Sentinel …'",
    "diff --from": "the versions after the name: tidings diff NAME 1 3",
    "diff --new": "the versions after the name: tidings diff NAME 1 3",
    "diff --old": "the versions after the name: tidings diff NAME 1 3",
    "diff --to": "the versions after the name: tidings diff NAME 1 3",
    "diff --versions": "the versions after the name: tidings diff NAME 1 3",
    "export --format": "the format as a word: tidings export yaml",
    "export --type": "the format as a word: tidings export yaml",
    "changes --since": _LIMIT,
    "show --version": "tidings history NAME, which lists the versions",
    "import --format": _NO_FORMAT,
    "import --from": _NO_FORMAT,
    "import --source": _NO_FORMAT,
    "import --type": _NO_FORMAT,
}
"""Flags that users of other programs may type, and their equivalents here; `verb --flag` is of one
verb.
"""


class _Parser(argparse.ArgumentParser):
    """A parser that suggests equivalents for flags of other programs."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and exit with 2."""
        verb = self.prog.rpartition(" ")[2]
        named = [word.partition("=")[0] for word in message.split()]
        meant = dict.fromkeys(filter(None, (FLAGS.get(f"{verb} {word}", FLAGS.get(word)) for word in named)))
        super().error(f"{message} (write {'; '.join(meant)})" if meant else message)


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
