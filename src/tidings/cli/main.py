"""`tidings VERB …`: import the verb's module, run it, turn errors into exit codes.

Exit codes: 0 ok, 1 the condition asked about holds (`--exit-code`), 2 the request is wrong, 3 the
verb failed.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tidings import __version__
from tidings.cli.output import progress, write_beside, write_json, write_line, write_nowhere
from tidings.cli.run.nothing_due import nothing_is_due
from tidings.cli.verbs import GROUPS, VERBS, common, module_of, parser_of
from tidings.clock import SystemClock
from tidings.errors import OutputError, SentinelError, TidingsError, UsageError
from tidings.settings import load

_REFUSALS: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    argv = sys.argv[1:] if argv is None else list(argv)
    _open_missing_streams()
    try:
        return _main([_readable(word) for word in argv])
    except BrokenPipeError:
        write_nowhere()
        return 0
    except KeyboardInterrupt:
        return 130
    except OutputError as error:
        write_nowhere()
        _report(error, as_json=False)
        return error.exit_code
    except TidingsError as error:
        _report(error, as_json="--json" in argv)
        return error.exit_code
    except (MemoryError, ImportError, OSError) as error:
        if not (refusal := _refusal(error)):
            raise
        _report(TidingsError(refusal), as_json="--json" in argv)
        return TidingsError.exit_code
    finally:
        progress.clear()


def _refusal(error: MemoryError | ImportError | OSError) -> str:
    """Return the machine's shortage or fault behind a failure, "" if there is none.

    Users can fix it: no traceback.
    """
    if isinstance(error, MemoryError) or "failed to map segment" in str(error) or "annot allocate memory" in str(error):
        return "there is not enough memory for this; `ulimit -v` and `free -m` show how much there is"
    if isinstance(error, OSError) and error.errno in _REFUSALS:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}; `tidings doctor` shows the free space, `ulimit -a` the limits"
    return ""


def _readable(word: str) -> str:
    """Return a word of the command line, decoded as UTF-8 where the locale could not decode it.

    Raises `UsageError` if it is not UTF-8 either.
    """
    if word.isascii() or not any("\ud800" <= c <= "\udfff" for c in word):
        return word
    try:
        return os.fsencode(word).decode("utf-8")
    except UnicodeError:
        message = (
            f"{word.encode('ascii', 'backslashreplace').decode()} cannot be read: the argument is neither in UTF-8 "
            "nor in the encoding of the terminal"
        )
        raise UsageError(message) from None


def _open_missing_streams() -> None:
    """Open standard streams that the caller has closed (`>&-`) as the null device.

    Else the next opened file, the database, would get their output.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open as long as the process


def _main(argv: list[str]) -> int:
    known, rest = common().parse_known_args(argv)
    if rest[:1] == ["help"]:
        rest = [*rest[1:2], "--help"]
    verb = next((word for word in rest if not word.startswith("-")), None)
    if verb is None or verb not in VERBS:
        return _no_verb(verb, rest)
    if verb == "check" and _OF_ALL_DUE.fullmatch(" ".join(rest)):
        settings = load(known.data, known.config, flags=_flags(known.set))
        if nothing_is_due(settings, SystemClock().wall()):
            if "--json" not in rest:
                write_line("0 checked, 0 changed")
            return 0
    rest.remove(verb)
    try:
        arguments = parser_of(verb).parse_args(rest, known)
    except UsageError as error:
        raise _explain(verb, rest, error) from error
    arguments.verb = verb
    settings = load(arguments.data, arguments.config, flags=_flags(arguments.set))
    return module_of(verb).run(arguments, settings)


_OF_ALL_DUE: Final = re.compile(r"(?:(?:^| )(?:check|--json|--exit-code|--wait|--for[ =]\d+ ?(?:s|min|h|hour|hours)))+")
"""The arguments of a check of all that is due, as cron runs it."""


def _explain(verb: str, words: Sequence[str], error: UsageError) -> UsageError:
    """Return the error of arguments that cannot be read, with the command to write instead."""
    from tidings.cli.meant import find_command  # only for what cannot be read

    meant = find_command(verb, words)
    return UsageError(f"{verb}: {error}; " + (f"write: {meant}" if meant else f"`tidings help {verb}` explains it"))


def _flags(given: Sequence[str] | None) -> dict[str, str]:
    pairs = (text.partition("=") for text in given or ())
    return {name: value for name, _, value in pairs}


def _no_verb(verb: str | None, rest: Sequence[str]) -> int:
    if verb == "version" or (verb is None and {"--version", "-V"} & {*rest}):
        sys.stdout.write(f"tidings {__version__}\n")
        return 0
    wants_help = verb is None and bool({"-h", "--help"} & {*rest})
    out = sys.stdout if wants_help else sys.stderr
    if verb is not None:
        from tidings.cli.meant import find_command  # only for what cannot be read

        meant = find_command(verb, [word for word in rest if word != verb])
        raise UsageError(f"there is no verb {verb!r}; " + (f"write: {meant}" if meant else "`tidings help` lists all"))
    out.write(
        "usage: tidings VERB …      `tidings help VERB` explains a verb, `tidings --version` prints the version\n"
    )
    for group in GROUPS.values():
        out.write(f"\n{group}:\n")
        for name, row in VERBS.items():
            if row.group == group:
                out.write(f"  {name:<11} {row.help}\n")
    return 0 if wants_help else 2


def _report(error: TidingsError, *, as_json: bool) -> None:
    if not as_json:
        for number, line in enumerate(str(error).splitlines()):
            write_beside(line if number or isinstance(error, SentinelError) else f"tidings: {line}")
        return
    problems = [p.as_dict() for p in error.problems] if isinstance(error, SentinelError) else [{"message": str(error)}]
    for problem in problems:
        write_json({"record": "problem", **problem})


if __name__ == "__main__":
    sys.exit(main())
