"""The table of verbs: parsers, `--help`, completion, man page and reference are made from it."""

from __future__ import annotations

import argparse
import gc
import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, Protocol, cast

if TYPE_CHECKING:
    from tidings.settings import Settings


class Verb(Protocol):
    """What each module of this package offers for each of its verbs."""

    def configure(self, parser: argparse.ArgumentParser, verb: str) -> None:
        """Declare the arguments of a verb."""
        ...

    def run(self, arguments: argparse.Namespace, settings: Settings) -> int:
        """Do it and return the exit code."""
        ...


@dataclass(frozen=True, slots=True)
class VerbRow:
    """A verb: its module, whose folder is the verb's group, and what it does."""

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
    "add": VerbRow("change.add", "watch a page (add URL), or what the statements in a file say"),
    "apply": VerbRow("change.apply", "watch exactly what files say; --prune, --dry-run"),
    "test": VerbRow(
        "change.trial", "try statements: fetch their pages once, show what would be watched, store nothing"
    ),
    "alter": VerbRow("change.alter", "change clauses of a sentinel; nobody is notified of that"),
    "enable": VerbRow("change.life", "watch again after disable; --fresh: from a new baseline"),
    "disable": VerbRow("change.life", "pause a sentinel; nothing is lost"),
    "rename": VerbRow("change.life", "give a sentinel another name; its versions and changes stay"),
    "drop": VerbRow("change.life", "end a sentinel and free its name"),
    "confirm": VerbRow("change.life", "make the newest version the one that a sentinel compares with (Compare first)"),
    "secret": VerbRow("change.secret", "keep tokens, passwords and cookies: set NAME, list, drop NAME, rotate"),
    "token": VerbRow("change.token", "tokens of the API: add NAME --scope read|edit|admin, list, revoke NAME"),
    "user": VerbRow(
        "change.user", "who may sign in: add NAME --role ROLE, list, role, password, remove, export, share"
    ),
    "check": VerbRow("run.check", "check what is due, or the named sentinels, now; for cron"),
    "serve": VerbRow("run.serve", "run the service: check and notify until stopped"),
    "demo": VerbRow("run.demo", "see in a minute what Tidings does: a town of pages on this machine, watched"),
    "gc": VerbRow("run.gc", "delete versions that nobody needs any more; --dry-run"),
    "simulate": VerbRow("run.simulate", "replay what happened here under other budgets, policies and urgencies"),
    "lab": VerbRow("run.laboratory", "compare the policy in use with those of lab.policies, on made-up pages"),
    "list": VerbRow("show.listing", "list all sentinels"),
    "show": VerbRow("show.show", "show one sentinel: its text, state, pages, next check and why"),
    "changes": VerbRow("show.past", "list what changed"),
    "history": VerbRow("show.past", "list the versions of a page; --polls: every check"),
    "diff": VerbRow("show.past", "compare two versions, by default the last two"),
    "search": VerbRow("show.search", "find words in all that is stored, now or on a day in the past (--at DATE)"),
    "queries": VerbRow(
        "show.queries", "what was searched for here: list, import FILE, erase; pages: whose checks improve it"
    ),
    "deliveries": VerbRow("show.deliveries", "list messages and their receivers; --dead; replay ID"),
    "plan": VerbRow("show.plan", "list the next checks, each with its reason; --expert: rates and prices"),
    "explain": VerbRow(
        "show.explain", "say how often pages change and when, how late that is seen, and what other paces bring"
    ),
    "mask": VerbRow("show.mask", "show what is ignored as noise, where and why; --off MASK, --on MASK"),
    "doctor": VerbRow("show.doctor", "say whether all is well, and the command that mends what is not"),
    "settings": VerbRow("show.configuration", "list every setting, its value and where it can be set"),
    "import": VerbRow("keep.imports", "take over what another program watches, with its history; --dry-run"),
    "backup": VerbRow("keep.backup", "write all that is kept into one file, while the service runs"),
    "restore": VerbRow("keep.backup", "put a backup into the data directory, whole or not at all"),
    "verify": VerbRow("keep.backup", "say whether a backup is whole and could be restored; --deep: every body"),
    "completion": VerbRow("show.completion", "print the completion of the command line for bash, zsh or fish"),
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
    "test-notify": "add --notify ADDRESS",
    "pause": "disable NAME",
    "stop": "disable NAME",
    "resume": "enable NAME",
    "edit": "alter NAME CLAUSE…",
    "find": "search WORDS",
    "grep": "search WORDS",
    "status": "doctor",
    "health": "doctor",
    "log": "changes",
    "logs": "changes",
    "config": "settings",
    "run": "check",
    "export": "show NAME --json",
}
"""What people who know other programs try, and what does it here."""


FLAGS: Final = {
    "--all": "`tidings check` for all that is due, or their names",
    "--browser": "--render",
    "--cookie": "--header 'Cookie: …'",
    "--css": "--select CSS",
    "--delay": "--step 'wait 5 s'",
    "--filter": "--select CSS",
    "--frequency": "--every DURATION",
    "--html": "--format html",
    "--ignore": "--exclude CSS",
    "--interval": "--every DURATION",
    "--javascript": "--render",
    "--jsonpath": "--monitor 'any change in jsonpath \"…\"'",
    "--keyword": "--monitor 'keyword \"…\"'",
    "--mail": "--notify ADDRESS",
    "--notify-email": "--notify ADDRESS",
    "--regex": "--monitor 'regex \"…\"'",
    "--selector": "--select CSS",
    "--tags": "--tag TAG",
    "--title": "--name NAME",
    "--webhook": "--notify URL",
    "--xpath": "--monitor 'all words in xpath \"…\"'",
}
"""Flags that people who know other programs try, and what to write here."""


class _Parser(argparse.ArgumentParser):
    """A parser that says what to write for a flag of other programs."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong, and exit with 2."""
        named = (word.partition("=")[0] for word in message.split())
        meant = next((FLAGS[word] for word in named if word in FLAGS), "")
        super().error(f"{message} (write {meant})" if meant else message)


def parser_of(verb: str) -> argparse.ArgumentParser:
    """Return the parser of a verb."""
    parser = _Parser(prog=f"tidings {verb}", description=VERBS[verb].help, parents=[common()])
    module_of(verb).configure(parser, verb)
    return parser


def module_of(verb: str) -> Verb:
    """Import a verb's module.

    The garbage collector rests meanwhile: it would free almost nothing in a tenth of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return cast("Verb", importlib.import_module(f"tidings.cli.{VERBS[verb].module}"))
    finally:
        if was_enabled:
            gc.enable()


def common() -> argparse.ArgumentParser:
    """Return the parser of the flags that every verb takes, before the verb or after it."""
    parser = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, default=None, metavar="DIR", help="data directory (TIDINGS_DATA)")
    parser.add_argument(
        "--config",
        type=Path,
        default=None,
        metavar="FILE",
        help="configuration (TIDINGS_CONFIG), else tidings.toml in the data directory",
    )
    parser.add_argument(
        "--set", action="append", default=None, metavar="SECTION.KEY=VALUE", help="a setting for this command"
    )
    return parser
