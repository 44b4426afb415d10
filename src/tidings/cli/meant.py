"""What a command line that Tidings does not read may mean: words and flags of other programs.

A command is rewritten by the tables below and offered only if Tidings reads the result; the user's
own names and values stay in it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tidings.cli.verbs import VERBS, parser_of
from tidings.errors import UsageError
from tidings.language.clauses.notify import CHANNELS
from tidings.language.expressions import quote
from tidings.language.guesses.suggest import clause_for
from tidings.language.parser import parse
from tidings.language.problems import closest
from tidings.language.services import address_of
from tidings.settings import table

VERBS_MEANT: Final[Mapping[str, str]] = {
    **dict.fromkeys(("watch", "new", "create", "init", "monitor", "track", "follow", "subscribe"), "add"),
    **dict.fromkeys(("remove", "delete", "purge", "rm", "del", "unwatch", "unsubscribe", "kill", "end"), "drop"),
    **dict.fromkeys(("pause", "mute", "suspend", "snooze", "deactivate", "off", "stop"), "disable"),
    **dict.fromkeys(("resume", "continue", "unpause", "unmute", "activate", "on", "start"), "enable"),
    **dict.fromkeys(("ls", "jobs", "sites", "watches", "sentinels", "monitors", "pages", "urls"), "list"),
    **dict.fromkeys(("edit", "modify", "change", "set", "update", "configure"), "alter"),
    **dict.fromkeys(("run", "poll", "recheck", "refresh", "scan", "trigger", "fetch", "once", "now"), "check"),
    **dict.fromkeys(("get", "info", "view", "cat", "describe", "details", "inspect", "status", "state"), "show"),
    **dict.fromkeys(("log", "logs", "news", "recent", "events", "report", "latest", "feed", "last"), "changes"),
    **dict.fromkeys(("tail", "stream", "live"), "changes --follow"),
    **dict.fromkeys(("login", "logins", "credentials", "password", "passwords"), "secret set"),
    **dict.fromkeys(("versions", "snapshots", "archive"), "history"),
    **dict.fromkeys(("compare", "difference"), "diff"),
    **dict.fromkeys(("find", "grep", "query"), "search"),
    **dict.fromkeys(("crawl", "spider", "site"), "collect"),
    **dict.fromkeys(("validate", "lint", "try", "preview", "dry-run", "simulate-sentinel", "test-filter"), "test"),
    **dict.fromkeys(
        ("notify", "mail", "test-notify", "test-notification", "test-email", "test-mail", "send-test"), "test --notify"
    ),
    **dict.fromkeys(("daemon", "server", "ui", "web", "service", "up"), "serve"),
    **dict.fromkeys(("health", "errors", "failures", "problems", "diagnose", "self-test"), "doctor"),
    **dict.fromkeys(("config", "configuration", "options"), "settings"),
    **dict.fromkeys(("alerts", "messages", "notifications"), "deliveries"),
    **dict.fromkeys(("resend", "retry", "replay"), "deliveries replay"),
    "redeliver": "deliveries --dead",
    **dict.fromkeys(("next", "schedule", "queue", "budget", "usage", "quota"), "plan"),
    **dict.fromkeys(("stats", "why"), "explain"),
    **dict.fromkeys(("dump", "save"), "export"),
    "load": "import",
    "sync": "apply",
    "tokens": "token list",
    "users": "user list",
    "secrets": "secret list",
    **dict.fromkeys(("adduser", "useradd"), "user add"),
    "passwd": "user password",
    "tags": "list --json",
    "mv": "rename",
    "ignore": "mask",
    "prune": "gc",
    "tag": "alter",
    "label": "alter",
    "untag": "alter",
}
"""Words of other programs, and the verb here."""
ALONE: Final[Mapping[str, str]] = {
    "start": "serve",
    "resend": "deliveries --dead",
    "retry": "deliveries --dead",
    "replay": "deliveries --dead",
    "status": "doctor",
    "state": "doctor",
    "update": "check",
    "set": "settings",
    "configure": "settings",
}
"""Words that mean another verb if no name follows."""

_NOISE: Final[Mapping[str, frozenset[str]]] = {
    "test": frozenset({"test", "send", "mail", "email", "message", "notify"}),
    "list": frozenset({"all", "sentinels", "watches", "jobs", "pages", "names"}),
    "import": frozenset(
        {"changedetection", "changedetection.io", "urlwatch", "webchanges", "distill", "visualping", "opml", "csv"}
        | {"huginn", "kibitzr", "scanner", "update-scanner", "wachete", "feedly", "miniflux", "freshrss", "rss"}
        | {"from", "backup", "json", "feeds"}
    ),
    "export": frozenset({"to", "as", "all"}),
    "settings": frozenset({"show", "get", "list", "edit"}),
    "backup": frozenset({"create", "make", "all", "to"}),
    "changes": frozenset({"all", "of", "for"}),
    "diff": frozenset({"version", "versions", "and", "to"}),
    "history": frozenset({"of", "for"}),
    "search": frozenset({"for"}),
    "serve": frozenset({"start"}),
    "rename": frozenset({"to"}),
    "deliveries": frozenset({"list", "test", "retry", "resend", "again"}),
}
"""Words between verb and arguments that say nothing here."""
_SETTING: Final = frozenset({"set", "config", "configuration", "configure", "options", "settings"})
RECEIVER: Final = "you@example.org"
"""Who gets a test message in a suggestion for somebody who named nobody."""
_OF_NAMES: Final = frozenset(
    {"drop", "enable", "disable", "show", "check", "rename", "alter", "changes", "history", "diff"}
)
"""Verbs before the name of a sentinel: a noun between them says nothing."""
_NOUNS: Final = frozenset({"sentinel", "sentinels", "watch", "watches", "job", "jobs", "monitor", "page", "site"})
_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "user": {
        **dict.fromkeys(("create", "new", "make", "invite", "register"), "add"),
        **dict.fromkeys(("delete", "drop", "rm", "del"), "remove"),
        **dict.fromkeys(("passwd", "reset"), "password"),
    },
    "token": {
        **dict.fromkeys(("create", "new", "make"), "add"),
        **dict.fromkeys(("delete", "drop", "remove", "rm", "del"), "revoke"),
    },
    "secret": {
        **dict.fromkeys(("add", "create", "new", "store"), "set"),
        **dict.fromkeys(("delete", "remove", "rm", "del"), "drop"),
    },
    "export": {
        "sentinels": "text",
        "watches": "text",
        "statements": "text",
        "txt": "text",
        "yml": "yaml",
        "json": "jsonl",
        "ndjson": "jsonl",
        "changes": "csv",
        "excel": "csv",
        "spreadsheet": "csv",
        "versions": "warc",
    },
}
"""Words that are spelled differently here."""

FLAGS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("--css", "--selector", "--element", "--filter", "--part", "--area", "-s"), "--select {}"),
    **dict.fromkeys(("--ignore", "--remove", "--exclude-css", "--without", "--skip"), "--exclude {}"),
    **dict.fromkeys(("--interval", "--frequency", "--period", "--schedule", "--check-every", "-i"), "--every {}"),
    **dict.fromkeys(("--at", "--time"), "--every 'at {}'"),
    "--cron": "--every 'at 08:00'",
    "--hourly": "--every 1h",
    "--daily": "--every 1day",
    "--weekly": "--every 1week",
    **dict.fromkeys(
        (
            "--email",
            "--mail",
            "--notify-email",
            "--webhook",
            "--apprise",
            "--alert",
            "--receiver",
            "--notification",
            "--notify-url",
            "--channel",
        ),
        "--notify {}",
    ),
    **dict.fromkeys(("--label", "--tags", "--group", "--folder", "--category", "-t"), "--tag {}"),
    **dict.fromkeys(("--title", "--as", "--id", "-n"), "--name {}"),
    **dict.fromkeys(("--browser", "--javascript", "--js", "--chrome", "--headless", "--playwright"), "--render"),
    "--click": "--step 'click {q}'",
    **dict.fromkeys(("--wait-for", "--wait-for-selector"), "--step 'wait for {q}'"),
    **dict.fromkeys(("--delay", "--wait", "--sleep"), "--step 'wait {} s'"),
    **dict.fromkeys(("--auth", "--basic-auth", "--username", "--login"), "--user {}"),
    **dict.fromkeys(("--cookie", "--cookies"), "--header 'Cookie: {}'"),
    "--user-agent": "--header 'User-Agent: {}'",
    **dict.fromkeys(("--watch", "--type", "--what", "--track", "--for", "-m"), "--monitor {}"),
    **dict.fromkeys(("--keyword", "--text", "--contains", "--word", "--trigger"), "--monitor 'keyword {q}'"),
    **dict.fromkeys(("--lacks", "--not-contains", "--missing"), "--monitor 'any change where page lacks {q}'"),
    **dict.fromkeys(("--appears", "--text-appears", "--says", "--mentions"), "--monitor 'phrase {q} inserted'"),
    **dict.fromkeys(("--disappears", "--text-disappears"), "--monitor 'phrase {q} deleted'"),
    "--phrase": "--monitor 'phrase {q}'",
    **dict.fromkeys(("--regex", "--pattern", "--match"), "--monitor 'regex {q}'"),
    "--xpath": "--monitor 'all words in xpath {q}'",
    **dict.fromkeys(("--jsonpath", "--json-path", "--jq"), "--monitor 'any change in jsonpath {q}'"),
    **dict.fromkeys(("--below", "--price-below", "--under", "--less-than", "--max-price"), "--monitor 'price < {}'"),
    **dict.fromkeys(("--above", "--price-above", "--over", "--more-than", "--min-price"), "--monitor 'price > {}'"),
    **dict.fromkeys(("--links", "--images", "--items"), "--monitor {flag}"),
    **dict.fromkeys(("--added", "--new-only", "--additions-only", "--only-new"), "--only-added"),
    "--html": "--format html",
    "--side-by-side": "--view dual",
    **dict.fromkeys(("--count", "--lines", "--max", "--tail", "--number", "--top", "--num"), "--limit {}"),
    **dict.fromkeys(("--from", "--after", "--start"), "--since {}"),
    **dict.fromkeys(("--before", "--end"), "--until {}"),
    "--to": "--until {}|--notify {}",
    **dict.fromkeys(("--days", "--past"), "--last {}d"),
    "--today": "--since today",
    **dict.fromkeys(("--errors", "--broken", "--failed", "--problems", "--unhealthy", "--down"), "--failing"),
    **dict.fromkeys(("--out", "--file", "--path", "-o", "-f"), "--output {}"),
    **dict.fromkeys(("--sentinel", "--job", "--id"), "{}"),
    **dict.fromkeys(("--force", "--yes", "-y", "-f", "--quiet", "--verbose", "-v", "--now", "--save"), ""),
    "--fetch": "--every {}",
    **dict.fromkeys(("--dry-run", "--no-check", "--no-test"), ""),
    "add --dry-run": "!test",
    "add --test": "!test",
    "add --preview": "!test",
    "show --versions": "!history",
    "show --history": "!history",
    "list --versions": "!history",
    "show --changes": "!changes",
    "list --changes": "!changes",
    "show --diff": "!diff",
    "changes --diff": "!diff",
    **dict.fromkeys(("changes --errors", "changes --failed", "changes --checks"), "!history --polls"),
    "check --dry-run": "!plan",
    "list --next": "!plan",
    "diff --from": "{}",
    "diff --to": "{}",
    "diff --old": "{}",
    "diff --new": "{}",
    "diff --versions": "{}",
    "diff --version": "{}",
    **{f"{verb} --format": "--json" for verb in ("changes", "list", "show", "history", "search", "plan", "deliveries")},
    "list --status": "!list --failing",
    "list --health": "!list --failing",
    **dict.fromkeys(("history -n", "search -n", "deliveries -n"), "--limit {}"),
    **dict.fromkeys(("search --text", "search --query", "search --word", "search --contains"), "{}"),
    **dict.fromkeys(
        ("check --name", "show --name", "drop --name", "enable --name", "disable --name", "alter --name"), "{}"
    ),
    "disable --days": "--for '{} days'",
    "disable --hours": "--for '{} hours'",
    "user --admin": "--role admin",
    **dict.fromkeys(("user --email", "user --mail", "user --password", "user --name"), ""),
    **dict.fromkeys(("list --paused", "list --disabled", "list --active", "list --enabled"), ""),
    **dict.fromkeys(("list --state", "list --sorted"), ""),
    "backup --to": "{}",
    "backup -o": "{}",
    "export --all": "text",
    "export --json": "jsonl",
    "export --csv": "csv",
    "export --yaml": "yaml",
    **dict.fromkeys(("import --changedetection", "import --urlwatch", "import --distill", "import --opml"), "{}"),
    "serve --background": "",
    "serve --daemon": "",
    "export --format": "{}",
    "export --type": "{}",
    "export --as": "{}",
    "import --format": "",
    "import --from": "",
    "import --source": "",
    "import --type": "",
    "import --file": "{}",
    "backup --output": "{}",
    "backup --file": "{}",
    "restore --file": "{}",
    "serve --host": "--set serve.host={}",
    "serve --port": "--set serve.port={}",
    "deliveries --failed": "--dead",
    "deliveries --undelivered": "--dead",
    "deliveries --retry": "",
    "show --text": "",
    "test --test": "",
    "diff --last": "",
    "diff --latest": "",
    **dict.fromkeys(("search --in", "search --name", "search --job", "search --watch"), "--sentinel {}"),
    "search --history": "",
    "search --all-versions": "",
    "search --all": "",
    "changes -n": "--limit {}",
    "changes -f": "--follow",
    "changes --live": "--follow",
    "changes --watch": "--follow",
    **dict.fromkeys(("drop --purge", "drop --keep-versions", "drop --keep-history", "drop --keep"), ""),
    "drop --all-versions": "",
    "history --all": "--limit 0",
    "changes --all": "--limit 0",
    "list --limit": "",
    "list --sort": "",
    "search --before": "--at {}",
    "search --until": "--at {}",
    "search --on": "--at {}",
}
"""Flags of other programs, and what to write here: `{}` is the flag's value, `{q}` the value as a
text in quotes. `verb --flag` is of one verb, `a|b` is what the verb has, `!verb` another verb.
"""
_VALUED: Final = frozenset(
    {
        "import --format",
        "import --from",
        "import --source",
        "import --type",
        *(f"{verb} --format" for verb in ("changes", "list", "show", "history", "search", "plan", "deliveries")),
        "list --limit",
        "list --sort",
        "list --state",
        *(f"user --{name}" for name in ("email", "mail", "password", "name")),
    }
)
"""Flags whose value is left out."""
_CLAUSES: Final[Mapping[str, str]] = {
    "--every": "Fetch every {}",
    "--monitor": "Monitor {}",
    "--select": "Select css {q}",
    "--exclude": "Exclude css {q}",
    "--notify": "Notify {}",
    "--tag": "Tags {}",
    "--url": "Using {}",
    "--render": "Render browser",
    "--step": "Render browser steps ({})",
    "--header": "Header {q}",
}
"""The clauses that flags of `add` stand for, as `alter` takes them."""
_TYPES: Final = frozenset({"price", "text", "words", "links", "images", "items", "table", "number", "availability"})
_ADDRESS: Final = re.compile(
    r"(?:https?://|file:/)\S+|(?:[\w-]+\.)+(?!txt\b|ya?ml\b|json\b|tidings\b)[a-z]{2,}(?::\d+)?(?:/\S*)?", re.IGNORECASE
)

_NAME: Final = re.compile(r"[a-z_][\w-]*")
"""What may be a name after a noun: no flag, number or clause."""


def find_command(verb: str, words: Sequence[str]) -> str:
    """Return the command that a command line may mean, "" if there is none.

    Args:
        verb: Its verb, of Tidings or of another program.
        words: The further words.
    """
    if verb in _SETTING and (row := _setting(words)):
        return row
    for line in _lines(verb, list(words)):
        own, *rest = line
        if own in VERBS and (complete := _complete(own, rest)) is not None:
            return shlex.join(("tidings", own, *complete)).replace("'NAME'", "NAME")
    return ""


def _setting(words: Sequence[str]) -> str:
    """Return the line of a setting that is to be set, "" if words name none."""
    parts = [part for word in words for part in word.split("=") if part not in {"set", "to"}]
    if len(parts) < 2:
        return ""
    name, value = ".".join(parts[:-1]).replace("-", "_"), parts[-1]
    rows = table()
    flat = name.replace(".", "_")
    row = next((one for one in rows if name in {one.name, one.name.rpartition(".")[2]}), None)
    row = row or next((one for one in rows if flat in {one.name.replace(".", "_"), one.name.rpartition(".")[2]}), None)
    row = row or next((one for one in rows if one.name.startswith(f"{name}.")), None)
    if row is None:
        return ""
    section, _, key = row.name.partition(".")
    shown = value if row.type in {"int", "float", "bool"} else quote(value)
    return f"{key} = {shown} below [{section}] in tidings.toml (`tidings settings {row.name}` explains it)"


def _lines(verb: str, words: list[str]) -> Iterator[list[str]]:
    """Yield the possible command lines, each with its verb first."""
    if verb in _NOUNS and words and (words[0] in VERBS or words[0] in VERBS_MEANT):
        verb, words = words[0], words[1:]
    if verb in {"tag", "label", "untag"} and words:
        name, *tags = (word for word in words if not word.startswith("-"))
        clause = f"Tags {', '.join(tags)}" if tags and verb != "untag" else "Tags none"
        yield ["alter", name, clause]
    if "--help" in words:
        words = []
    is_alone = not any(not word.startswith("-") for word in words)
    if verb not in VERBS and verb not in VERBS_MEANT:
        verb = closest(verb, (*VERBS, *VERBS_MEANT)) or verb
    meant = (ALONE.get(verb) if is_alone else None) or VERBS_MEANT.get(verb) or ""
    if verb not in VERBS and not meant:
        return
    own, *before = [verb] if verb in VERBS else meant.split()
    plain = [word for word in words if not word.startswith("-")]
    if own in _OF_NAMES and len(plain) > 1 + (own == "rename") and words[0] in _NOUNS and _NAME.fullmatch(words[1]):
        words = words[1:]
    for word in words:
        if (other := FLAGS.get(f"{own} {word}", "")).startswith("!"):
            own, *further = other[1:].split()
            words = [*further, *(one for one in words if one != word)]
    yield [own, *_rewrite(own, [*before, *words])]


def _rewrite(verb: str, words: Sequence[str]) -> list[str]:
    """Return the words of a command with the flags and words of Tidings."""
    flags, plain = [*_flags(verb, words)], []
    given: list[tuple[str, str | None]] = []
    for flag, value in flags:
        if flag:
            given.append((flag, value))
        elif value is not None and value not in _NOISE.get(verb, ()):
            plain.append(_WORDS.get(verb, {}).get(value, value))
    if verb == "alter":
        return [*plain[:1], *_clauses(plain[1:], given)]
    if verb == "disable":
        plain, given = _pause(plain, given)
    if verb in {"enable", "disable", "check"} and plain in (["all"], ["everything"]):
        plain, given = [], [*given, ("--all", None)]
    if verb == "export" and plain:
        formats = next(one.choices for one in parser_of(verb)._actions if one.dest == "format") or ()  # noqa: SLF001 - no other way
        plain = sorted(plain, key=lambda word: word not in formats)
        plain = plain if plain[0] in formats else ["text", *plain]
    if verb == "test":
        receivers = [word for word in plain if "@" in word and "/" not in word]
        plain = [word for word in plain if word not in receivers]
        given += [("--notify", receiver) for receiver in receivers]
        given = [
            (flag, value if flag != "--notify" or _is_receiver(value or "") else RECEIVER) for flag, value in given
        ]
    if verb in {"add", "test", "collect"}:
        plain = [*_page(plain, given)]
    given = list(dict.fromkeys(given))
    return [
        *plain,
        *(part for flag, value in _join_monitors(given) for part in ([flag] if value is None else [flag, value])),
    ]


def _flags(verb: str, words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the flags with their values; a plain word is the value of no flag."""
    parser = parser_of("add" if verb == "alter" else verb)
    own = {flag: action for action in parser._actions for flag in action.option_strings}  # noqa: SLF001 - no other way
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if not re.match(r"--?[a-z]", word, re.IGNORECASE):
            yield "", word
            continue
        flag, is_joined, value = word.partition("=")
        if flag in own:
            if own[flag].nargs == 0:
                yield flag, None
            else:
                while waiting[1:] and (
                    waiting[0] in _NOISE.get(verb, ())
                    or not FLAGS.get(f"{verb} {waiting[0]}", waiting[0])
                    or FLAGS.get(waiting[0], "").startswith(f"{flag} ")
                ):
                    waiting.pop(0)
                yield flag, value if is_joined else waiting.pop(0) if waiting else str(own[flag].metavar)
            continue
        choices = FLAGS.get(f"{verb} {flag}", FLAGS.get(flag))
        template = choices and next((one for one in choices.split("|") if one.split(" ")[0] in own), choices)
        if template is None and "--monitor" in own:
            count = next((n for n, one in enumerate(waiting) if one.startswith("-") or _ADDRESS.fullmatch(one)), None)
            given = value if is_joined else " ".join(waiting[:count])
            if count == 0 and not is_joined and address_of(flag.lstrip("-")):
                count, given = 1, waiting[0]
            if meant := _wish(flag.lstrip("-").replace("-", " "), given):
                waiting = waiting if is_joined else waiting[len(waiting[:count]) :]
                yield meant
                continue
        if template is None:
            yield word, None
            continue
        takes = "{" in template.replace("{flag}", "") or f"{verb} {flag}" in _VALUED
        if takes and not is_joined:
            value = waiting.pop(0) if waiting and not waiting[0].startswith("--") else ""
        parts = [part.format(value, q=quote(value), flag=flag[2:]) for part in shlex.split(template)]
        if not parts:
            continue
        yield (parts[0], " ".join(parts[1:]) if parts[1:] else None) if parts[0].startswith("-") else ("", parts[0])


def _wish(words: str, value: str) -> tuple[str, str] | None:
    """Return the flag for one that is a service, or the words of a Monitor clause: `--price below
    100`, `--in-stock`; None for any other.
    """
    if address := address_of(words, value):
        hint = clause_for(f"Notify by {words} {value}", lambda clause: _reads(f"Monitor price {clause}"))
        found = re.match(r"write Notify by (?:webhook )?(\S+://\S+)", hint) if "://" in value else None
        return "--notify", found[1] if found else value if "://" in value else address
    begin = "" if words in {"when", "if", "where", "condition", "trigger"} else f"{words} "
    for wish in dict.fromkeys((f"{begin}{value}".strip(), f"{begin}{quote(value)}")):
        if _reads(f"Monitor {wish}"):
            return "--monitor", wish
        if found := re.match(r"write Monitor ([^;]+)", clause_for(f"Monitor {wish}", _reads)):
            return "--monitor", found[1]
    return None


def _is_receiver(value: str) -> bool:
    name = value.partition(" ")[0]
    return "@" in name or "://" in name or name in CHANNELS or bool(address_of(name))


def _reads(clause: str) -> bool:
    return not parse(f"Create Sentinel s Using https://example.org/ {clause}").problems


def _pause(plain: Sequence[str], given: list[tuple[str, str | None]]) -> tuple[list[str], list[tuple[str, str | None]]]:
    """Return the names and flags of `disable`: words on time behind a name are its end."""
    at = next((n for n, word in enumerate(plain) if word in {"until", "till", "for"} or word[:1].isdigit()), len(plain))
    words = " ".join(plain[at:]).split(maxsplit=1) if at < len(plain) and not plain[at][:1].isdigit() else []
    time = words[1] if words[1:] else " ".join(plain[at:])
    is_span = re.match(r"\d+ ?[a-z]+$", time) is not None
    return [*plain[:at]], [*given, *([("--for" if is_span else "--until", time)] if time else [])]


def _page(plain: Sequence[str], given: list[tuple[str, str | None]]) -> Iterator[str]:
    """Yield the plain words of a command on a page; its address, name and change type become
    flags.
    """
    named = {flag for flag, _ in given}
    has_address = "--url" in named or any(_ADDRESS.fullmatch(word) for word in plain)
    others = [word for word in plain if not _ADDRESS.fullmatch(word)]
    wish = " ".join(others)
    if (
        has_address
        and "--monitor" not in named
        and others[1:]
        and (_reads(f"Monitor {wish}") or clause_for(f"Monitor {wish}", _reads))
    ):
        given.append(_wish("when", wish) or ("--monitor", wish))
        plain = [word for word in plain if word not in others]
    for word in plain:
        if _ADDRESS.fullmatch(word) and "--url" not in named:
            given.insert(0, ("--url", word if ":/" in word else f"https://{word}"))
            named.add("--url")
        elif has_address and word.lower() in _TYPES and "--monitor" not in named:
            given.append(("--monitor", word.lower()))
        elif has_address and re.fullmatch(r"[^\W\d][\w-]*", word) and "--name" not in named:
            given.append(("--name", word))
            named.add("--name")
        else:
            yield word


def _join_monitors(given: Sequence[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
    """Return flags with one `--monitor` for all: a type that another one narrows is left out."""
    wishes = list(dict.fromkeys(value for flag, value in given if flag == "--monitor" and value))
    if len(wishes) < 2:
        return list(given)
    longest = [one for one in wishes if not any(other != one and other.startswith(f"{one} ") for other in wishes)]
    joined = ("--monitor", " OR ".join(longest))
    return list(dict.fromkeys(joined if flag == "--monitor" else (flag, value) for flag, value in given))


def _clauses(words: Sequence[str], given: Sequence[tuple[str, str | None]]) -> Iterator[str]:
    """Yield the clauses of `alter`."""
    if words:
        clause = " ".join(words)
        yield f"Fetch {clause}" if re.match(r"(?:every|at|hourly|daily|weekly)\b", clause, re.IGNORECASE) else clause
    for flag, value in given:
        if flag in _CLAUSES:
            clause = _CLAUSES[flag].format(value, q=quote(value or ""))
            yield re.sub(r"\bevery (?=at |every )", "", clause)


def _complete(verb: str, words: Sequence[str]) -> list[str] | None:
    """Return the words with the names of arguments that are missing; None if Tidings does not read
    them.
    """
    parser = parser_of(verb)
    whole = list(words)
    if verb in {"add", "test"} and "--url" in whole:
        flags = [*_flags(verb, whole)]
        if any(not flag for flag, _ in flags):
            return None  # a page and a file, or a word that is not understood
    if verb in {"enable", "disable"} and not whole:
        whole = ["NAME"]
    if verb == "alter" and len(whole) < 2:
        whole = [*(whole or ["NAME"]), "Fetch every 2 hour"]
    needed = [one for one in parser._actions if not one.option_strings and one.nargs in {None, "+"}]  # noqa: SLF001 - no other way
    for missing in range(len(needed) + 1):
        names = [str(one.metavar or one.dest).partition("|")[0] for one in needed[len(needed) - missing :]]
        try:
            parser.parse_args([*whole, *names])
        except UsageError:
            continue
        return [*whole, *names]
    return None
