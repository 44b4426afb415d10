"""`tidings VERB …`: find the verb, import its module, run it, turn errors into exit codes.

Exit codes: 0 ok, 1 the thing asked about is so (`--exit-code`), 2 the request is wrong, 3 the verb could not do its work.
"""

from __future__ import annotations

import argparse
import errno
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

from tidings import __version__
from tidings.cli.output import write_json, write_line, write_nowhere
from tidings.cli.run.nothing_due import nothing_is_due
from tidings.clock import SystemClock
from tidings.errors import OutputError, SentinelError, TidingsError, UsageError
from tidings.language.words import closest
from tidings.presentation.writing import tame
from tidings.settings import load

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
class Row:
    """A verb: its module and what it does."""

    module: str
    help: str


_REFUSALS: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
)

VERBS: dict[str, Row] = {
    "add": Row("change.add", "watch something: statements of the language, or --url URL"),
    "apply": Row("change.apply", "make what is watched equal to files; --prune, --dry-run"),
    "test": Row("change.trial", "read statements, fetch once, show what would be watched; stores nothing"),
    "list": Row("show.listing", "all sentinels"),
    "show": Row("show.show", "one sentinel: its text, its state, what comes next and why, how its pages do"),
    "mask": Row("show.mask", "what is left out as noise on a sentinel's pages, where and why; --off MASK, --on MASK"),
    "alter": Row("change.alter", "other clauses for a sentinel; nothing is told for that itself"),
    "enable": Row("change.life", "go on watching after disable; --fresh: from a new base"),
    "disable": Row("change.life", "pause a sentinel; nothing is lost"),
    "drop": Row("change.life", "end a sentinel and free its name"),
    "rename": Row("change.life", "call a sentinel otherwise; its versions and changes stay"),
    "confirm": Row("change.life", "let the newest version be what a sentinel compares with (Compare first)"),
    "check": Row("run.check", "look at what is due (or named), tell what changed; for cron"),
    "serve": Row("run.serve", "watch and tell until stopped"),
    "demo": Row("run.demo", "a living town on this machine, watched: see in a minute what Tidings does"),
    "changes": Row("show.past", "what changed"),
    "history": Row("show.past", "versions of a page, --polls: every look"),
    "diff": Row("show.past", "two versions compared, by default the last two"),
    "deliveries": Row("show.deliveries", "what was told, to whom; --dead; replay ID"),
    "plan": Row("show.plan", "the next looks, each with its reason; --expert: rates and prices"),
    "explain": Row(
        "show.explain", "how often a sentinel's pages change and when, how late that is seen, what other paces bring"
    ),
    "simulate": Row(
        "run.simulate", "what other budgets, policies and urgencies would have brought on what happened here"
    ),
    "secret": Row("change.secret", "tokens, passwords and cookies: set NAME, list, drop NAME, rotate"),
    "token": Row("change.token", "what programs show to the API: add NAME --scope read|edit|admin, list, revoke NAME"),
    "settings": Row("show.configuration", "every setting, its value and where it can be set"),
    "gc": Row("run.gc", "let go of the versions that nobody needs any more; --dry-run"),
    "lab": Row("run.laboratory", "the policy in use beside those of lab.policies, on made-up pages"),
    "doctor": Row("show.doctor", "is all well? ok, warn or fail, with the command that mends it"),
}


MEANT: Final = {
    "watch": "add --url URL",
    "new": "add --url URL",
    "create": "add --url URL",
    "remove": "drop NAME",
    "delete": "drop NAME",
    "pause": "disable NAME",
    "stop": "disable NAME",
    "resume": "enable NAME",
    "edit": "alter NAME CLAUSE…",
    "status": "doctor",
    "health": "doctor",
    "log": "changes",
    "logs": "changes",
    "config": "settings",
    "run": "check",
    "import": "add FILE",
    "export": "show NAME --json",
}
"""What people who know other programs try, and what does it here."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    argv = sys.argv[1:] if argv is None else list(argv)
    _open_closed()
    try:
        return _main([_readable(word) for word in argv])
    except BrokenPipeError:
        write_nowhere()
        return 0
    except KeyboardInterrupt:
        return 130
    except OutputError as error:
        write_nowhere()
        _tell(error, as_json=False)
        return error.exit_code
    except TidingsError as error:
        _tell(error, as_json="--json" in argv)
        return error.exit_code
    except (MemoryError, ImportError, OSError) as error:
        if not (refusal := _refusal(error)):
            raise
        _tell(TidingsError(refusal), as_json="--json" in argv)
        return TidingsError.exit_code


def _refusal(error: MemoryError | ImportError | OSError) -> str:
    """Return what the machine has not got for a verb, "" if that is not why it failed; people can mend it, and need no traceback for that."""
    if isinstance(error, MemoryError) or "failed to map segment" in str(error) or "annot allocate memory" in str(error):
        return "there is not enough memory for this; `ulimit -v` and `free -m` show what there is"
    if isinstance(error, OSError) and error.errno in _REFUSALS:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}; `tidings doctor` shows how much room there is, `ulimit -a` what is allowed"
    return ""


def _readable(word: str) -> str:
    """Return a word of the command line, read as UTF-8 where the locale could not read it. Raises `UsageError` if it is not that either."""
    if word.isascii() or not any("\ud800" <= c <= "\udfff" for c in word):
        return word
    try:
        return os.fsencode(word).decode("utf-8")
    except UnicodeError:
        message = f"{word.encode('ascii', 'backslashreplace').decode()} cannot be read: it is neither in UTF-8 nor in the encoding of the terminal"
        raise UsageError(message) from None


def _open_closed() -> None:
    """Let what a caller has closed (`>&-`) lead nowhere: else the next file that is opened, the database, would be written to as that."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open as long as the process


def _main(argv: list[str]) -> int:
    common = _common()
    known, rest = common.parse_known_args(argv)
    verb = next((word for word in rest if not word.startswith("-")), None)
    if verb is None or verb not in VERBS:
        return _no_verb(verb, rest)
    if verb == "check" and set(rest) <= {"check", "--json", "--exit-code", "--wait"}:
        settings = load(known.data, known.config, flags=_flags(known.set))
        if nothing_is_due(settings, SystemClock().wall()):
            if "--json" not in rest:
                write_line("0 checked, 0 changed")
            return 0
    module = _module(VERBS[verb].module)
    parser = argparse.ArgumentParser(prog=f"tidings {verb}", description=VERBS[verb].help, parents=[_common()])
    module.configure(parser, verb)
    rest.remove(verb)
    arguments = parser.parse_args(rest, known)
    arguments.verb = verb
    settings = load(arguments.data, arguments.config, flags=_flags(arguments.set))
    return module.run(arguments, settings)


def _module(name: str) -> Verb:
    """Import a verb's module; the garbage collector rests meanwhile, for it would find next to nothing and take a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return cast("Verb", importlib.import_module(f"tidings.cli.{name}"))
    finally:
        if was_enabled:
            gc.enable()


def _common() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--data", type=Path, default=None, metavar="DIR", help="data directory (TIDINGS_DATA)")
    common.add_argument(
        "--config",
        type=Path,
        default=None,
        metavar="FILE",
        help="configuration (TIDINGS_CONFIG), else tidings.toml in the data directory",
    )
    common.add_argument(
        "--set", action="append", default=None, metavar="SECTION.KEY=VALUE", help="a setting for this command"
    )
    return common


def _flags(given: Sequence[str] | None) -> dict[str, str]:
    pairs = (text.partition("=") for text in given or ())
    return {name: value for name, _, value in pairs}


def _no_verb(verb: str | None, rest: Sequence[str]) -> int:
    if verb is None and "--version" in rest:
        sys.stdout.write(f"tidings {__version__}\n")
        return 0
    wants_help = verb is None and ("-h" in rest or "--help" in rest)
    out = sys.stdout if wants_help else sys.stderr
    if verb is not None:
        meant = MEANT.get(verb) or closest(verb, VERBS)
        out.write(f"tidings: there is no verb {verb!r}{f'; try: tidings {meant}' if meant else ''}\n\n")
    out.write("usage: tidings VERB … (tidings VERB --help tells more)\n\n")
    for name, row in VERBS.items():
        out.write(f"  {name:<11} {row.help}\n")
    return 0 if wants_help else 2


def _tell(error: TidingsError, *, as_json: bool) -> None:
    if not as_json:
        lines = "\n".join(tame(line) for line in str(error).splitlines())
        sys.stderr.write(f"{lines}\n" if isinstance(error, SentinelError) else f"tidings: {lines}\n")
        return
    problems = [p.as_dict() for p in error.problems] if isinstance(error, SentinelError) else [{"message": str(error)}]
    for problem in problems:
        write_json({"record": "problem", **problem})


if __name__ == "__main__":
    sys.exit(main())
