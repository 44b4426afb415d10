"""All settings: one frozen object, one table that generates its documentation.

Values come, later ones winning, from the defaults below, `tidings.toml` in the data directory (or
`--config`), the environment (`TIDINGS_SECTION_KEY`) and flags. The environment is read only here.
An unknown key is an error.
"""

from __future__ import annotations

import dataclasses
import functools
import ipaddress
import math
import os
import re
import stat
import tomllib
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, get_type_hints

from tidings.errors import SettingError
from tidings.record import dataclass, replace

ALLOW_COMMANDS = "allow_commands"
"""The key, of two sections, that allows Tidings to run commands.

Only the operator may have write access to a file that sets it (R-18).
"""
DELETED = frozenset(
    {
        "events.max_file_bytes",
        "events.max_output_bytes",
        "fetch.connect_seconds",
        "fetch.max_ratio",
        "fetch.max_redirects",
        "fetch.robots_cache_seconds",
        "schedule.needs",
        "serve.ping_seconds",
    }
)
"""Settings of earlier versions. A file or an environment that still has one is accepted: it has no
effect, and `Settings.ignored` names it.
"""
RENAMED = {"detect.second_looks": "detect.second_polls"}
"""Settings of earlier versions that have another name now; both names are accepted."""
RESERVED = frozenset({"TIDINGS_DATA", "TIDINGS_CONFIG", "TIDINGS_DATA_SETS"})
_OF_KUBERNETES = re.compile(r"TIDINGS_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)")
"""Variables that Kubernetes sets in each container if a service is named tidings."""


def _setting(
    default: Any, text: str, *, secret: bool = False, least: float | None = None, most: float | None = None
) -> Any:
    return field(
        default=default, repr=not secret, metadata={"help": text, "secret": secret, "least": least, "most": most}
    )


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """How pages are requested."""

    user_agent: str = _setting("", "the User-Agent header; if empty: name, version and `contact`")
    contact: str = _setting(
        "", "a URL or mail address where the owner of a site can reach you; it becomes part of the User-Agent"
    )
    allow_networks: tuple[str, ...] = _setting((), "private networks from which pages may be fetched, e.g. 127.0.0.0/8")
    allow_files: tuple[str, ...] = _setting(
        (), "directories whose files may be watched by file: addresses; if empty: no files"
    )
    allow_commands: bool = _setting(
        False,
        "whether the output of commands may be watched (`Using command`). Commands run with the rights of Tidings. This"
        " can be set only in the environment, or in a settings file that nobody else can write",
    )
    host_gap_seconds: float = _setting(5.0, "minimum time between the starts of two requests to a host", least=0)
    host_connections: int = _setting(1, "how many requests to one host may run at the same time", least=1, most=16)
    page_floor_seconds: float = _setting(
        60.0,
        "minimum time between two checks of a page. A second check that confirms a change may come sooner, unless this is more than a minute",
        least=0,
    )
    total_seconds: float = _setting(
        30.0, "time limit of one fetch, including all redirects and the body", least=0.01, most=600
    )
    max_body_bytes: int = _setting(10_000_000, "maximum size of a body after decompression", least=1)
    robots: bool = _setting(True, "whether robots.txt is obeyed")
    freshness_seconds: float = _setting(
        3_600.0,
        "how long Cache-Control or Expires may delay the next check of a page that is fetched on change; 0: not at all",
        least=0,
        most=86_400,
    )
    browser_path: str = _setting(
        "", "path of the browser for `Render browser`; if empty: chromium, chromium-browser or google-chrome on PATH"
    )
    browser_pages: int = _setting(1, "how many pages are rendered at the same time", least=1, most=16)
    browser_cost: float = _setting(
        10.0,
        "how many checks of the budget one rendered check costs. Each request beyond this number costs one more",
        least=1,
    )
    browser_requests: int = _setting(
        100, "how many requests one rendered page may make for its parts", least=0, most=1_000
    )
    browser_memory_mb: int = _setting(
        1_500, "memory limit of the browser; if a page needs more, the browser is stopped", least=100
    )


@dataclass(frozen=True, slots=True)
class BudgetClass:
    """A separate budget for sentinels that name it (`Class NAME`): at most `polls` requests in any
    `period` (hour, day or week).

    A token bucket of a 24th of them, at least one; the inflow is reduced by what a full bucket
    gives at once.
    """

    name: str
    polls: float
    period: str

    def __str__(self) -> str:
        return f"{self.polls:g} per {self.period}"

    @property
    def pace(self) -> float:
        """Return its long-term rate in requests per second, if it never overflows."""
        return self.polls / _PERIODS[self.period]

    @property
    def burst(self) -> float:
        """Return the bucket's capacity in requests."""
        return max(1.0, self.polls / 24)

    @property
    def rate_per_second(self) -> float:
        """Return the inflow in requests per second."""
        return (self.polls + 1 - self.burst) / _PERIODS[self.period]


_CLASS = re.compile(r"([A-Za-z_][\w-]*)\s*:\s*(\d+(?:\.\d+)?)\s+per\s+(hour|day|week)", re.ASCII)
_PERIODS = {"hour": 3_600.0, "day": 86_400.0, "week": 604_800.0}


def _read_classes(items: Iterable[str]) -> dict[str, BudgetClass]:
    """Parse classes by name. Raises `ValueError` for an invalid one, or a repeated name."""
    classes: dict[str, BudgetClass] = {}
    for item in items:
        found = _CLASS.fullmatch(item)
        if found is None or float(found[2]) <= 0:
            message = f'expected NAME: NUMBER per hour, day or week, such as "gentle: 500 per day"; found {item!r}'
            raise ValueError(message)
        if found[1] in classes or found[1] == "default":
            why = "budget.polls_per_day sets it" if found[1] == "default" else "it exists already"
            message = f"the class {found[1]} cannot be defined: {why}"
            raise ValueError(message)
        classes[found[1]] = BudgetClass(found[1], float(found[2]), found[3])
    return classes


MOST_SAVED = 2_000.0
"""The most requests that a budget saves unless `budget.burst` says more."""


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """How many requests may be made."""

    polls_per_day: float = _setting(
        50_000.0, "how many requests Tidings may make in a day, for all pages together", least=0
    )
    burst: float = _setting(
        0.0,
        "how many requests that were not used may be saved and then made at once. A new budget starts with them, so the first day may use them in addition. 0: those of an hour, at most 2,000",
        least=0,
    )
    classes: tuple[str, ...] = _setting(
        (),
        'further limits, for sentinels that name a class (`Class gentle`), e.g. "gentle: 500 per day". The limit applies to every period of that length: an hour, a day or a week',
    )

    @property
    def capacity(self) -> float:
        """Return how many requests may be saved."""
        return max(1.0, self.burst or min(MOST_SAVED, self.polls_per_day / 24))

    def add_classes(self, per_day: Mapping[str, float]) -> BudgetSettings:
        """Return these settings with further classes: how many requests in a day by name."""
        more = (f"{name}: {polls:.4f} per day" for name, polls in per_day.items())
        return replace(self, classes=(*self.classes, *more))

    def map_names(self) -> dict[str, BudgetClass]:
        """Return the classes by name, the most generous first."""
        classes = _read_classes(self.classes)
        return dict(sorted(classes.items(), key=lambda item: (-item[1].pace, item[0])))


@dataclass(frozen=True, slots=True)
class ScheduleSettings:
    """When pages with `Fetch on change` are checked."""

    pace_seconds: float = _setting(
        3_600.0,
        "the time between checks of a new page (best_effort), of every page (round_robin), or of a page that changes once a day (price, price_hours, wic)",
        least=0.01,
    )
    policy: str = _setting(
        "price",
        "the method that decides when a page with `Fetch on change` is checked: price, price_hours, best_effort, best_effort_weighted, round_robin or wic. docs/howto/when-to-check.md describes each of them",
    )
    concurrency: int = _setting(64, "how many fetches may run at the same time", least=1, most=4_096)
    sitemap_pages: int = _setting(
        3,
        "how many of your pages the sitemaps of a host must list, so that Tidings reads these sitemaps every six hours; 0: sitemaps are never read",
        least=0,
    )


@dataclass(frozen=True, slots=True)
class DetectSettings:
    """How pages are compared."""

    isolation: str = _setting("killable", "where page content is parsed: killable (in worker processes) or in_process")
    workers: int = _setting(
        1,
        "how many worker processes there are; one more handles small pages, so that they do not wait for large ones",
        least=1,
        most=64,
    )
    job_seconds: float = _setting(10.0, "time limit of one comparison; then its process is killed", least=0.01)
    job_memory_mb: int = _setting(1_024, "memory limit of a worker process", least=64)
    second_polls: bool = _setting(
        True,
        "whether Tidings may fetch a changed page again within a minute, to find out what is noise. A page gets 8 such fetches at first, and later at most one in 50 checks",
    )
    attempts: int = _setting(
        3, "after how many failures of the worker process a comparison is given up; you are then notified", least=1
    )
    heal: bool = _setting(
        True,
        "whether Tidings searches for a similar element when a selector matches nothing any more; you are then notified",
    )


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """How messages are sent."""

    timeout_seconds: float = _setting(20.0, "time limit of one attempt to deliver a message", least=0.01, most=120)
    webhook_secret: str = _setting(
        "", "the secret that signs webhooks (whsec_…); if empty, one is made at the first use", secret=True
    )
    disable_days: float = _setting(5.0, "a receiver that accepts nothing for this long is switched off", least=0)
    noisy_changes: int = _setting(
        0,
        "if a sentinel finds more changes than this within `noisy_seconds`, they are reported together, and you are notified of this; 0: never",
        least=0,
    )
    noisy_seconds: float = _setting(
        3_600.0, "the period for `noisy_changes`, and the time between two messages of a noisy sentinel", least=60
    )
    smtp_host: str = _setting("", "the mail server; if empty, no e-mail is sent")
    smtp_port: int = _setting(
        0, "the port of the mail server; 0: 465 for tls, 587 for starttls, 25 for none", least=0, most=65_535
    )
    smtp_security: str = _setting(
        "starttls", "tls (encrypted from the start), starttls (required, not optional) or none"
    )
    smtp_user: str = _setting("", "the user name on the mail server; if empty, Tidings does not log in")
    smtp_password: str = _setting("", "the password on the mail server", secret=True)
    weekly: bool = _setting(
        False, "whether the receivers of all sentinels get the figures of the week, on Mondays at 8:00"
    )
    mail_from: str = _setting("", "the sender of e-mail, e.g. Tidings <tidings@example.org>; if empty: `smtp_user`")


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The database."""

    url: str = _setting("", "postgresql://… ; if empty: the file tidings.db in the data directory", secret=True)
    busy_seconds: float = _setting(5.0, "how long Tidings waits if another process has locked the database", least=0)
    blob_file_bytes: int = _setting(
        65_536, "a body whose compressed size is larger becomes a file (SQLite only)", least=0
    )
    chain_length: int = _setting(
        100,
        "a version may be stored as its difference from an older version; this is the maximum length of such a chain",
        least=1,
        most=1_000,
    )
    history_days: float = _setting(
        365.0,
        "how many days Tidings keeps the two versions that a change lies between, if the sentinel has no ChangeHistory",
        least=0,
    )
    values_days: float = _setting(
        1_825.0, "how long the values of watched prices, numbers and cells are kept (history --values)", least=0
    )
    afterlife_days: float = _setting(
        30.0,
        "how long the changes of an ended sentinel are kept, and also answers that were not accepted as versions, such as error pages",
        least=0,
    )
    polls_days: float = _setting(
        120.0,
        "how long each check is kept (history --polls, reports, simulate, exports); versions, changes and the counts of a page are kept longer",
        least=30,
    )
    messages_days: float = _setting(
        90.0,
        "how long the text of a delivered message is kept, and a record on the stream; messages that were not delivered are kept",
        least=7,
    )


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Search in the stored texts."""

    index: bool = _setting(
        True, "whether a running service updates the search index; otherwise `tidings search` updates it first"
    )
    log: bool = _setting(
        True,
        "whether searches on the screen and by `tidings search`, and the opened results, are counted on this machine",
    )


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """The running service."""

    tick_seconds: float = _setting(1.0, "maximum time until the service notices that a check is due", least=0.01)
    lease_seconds: float = _setting(30.0, "how long a process keeps the lease without renewing it", least=0.1)
    stop_seconds: float = _setting(
        8.0, "how long requests that are already running may continue when the service is stopped", least=0
    )
    zone: str = _setting("UTC", "time zone of sentinels without the clause `Zone`")
    host: str = _setting("127.0.0.1", "address of the screens, feeds, stream, hooks and API")
    port: int = _setting(8_780, "the port; 0: any free port, which is printed", least=0, most=65_535)
    token: str = _setting(
        "", "the token that clients must send; required if other machines can reach `host`", secret=True
    )
    edit_token: str = _setting(
        "",
        "the token for reading and for editing sentinels in the browser. If `edit_token` is empty and `token` is set, nobody can edit in the browser",
        secret=True,
    )
    names: tuple[str, ...] = _setting(
        (),
        "additional host names that requests may use, e.g. the name of a proxy; the address of the service and localhost always work",
    )
    proxies: tuple[str, ...] = _setting(
        (),
        "addresses of proxies that sign users in and send the user's name in `proxy_header`; single addresses, not networks",
    )
    proxy_header: str = _setting(
        "Remote-User", "the header with the user's name; it is ignored unless one of `proxies` sends it"
    )
    ping_url: str = _setting(
        "",
        "an address that gets a POST request every minute while the service works, e.g. a check of"
        " healthchecks.io; that service notifies you when the requests stop",
        secret=True,
    )
    mqtt_url: str = _setting(
        "",
        "the MQTT broker of Home Assistant, e.g. mqtt://user:password@192.168.1.5:1883; with mqtts: over TLS",
        secret=True,
    )
    log_format: str = _setting(
        "text", "the format of the log on standard error: text, or json (one record on each line)"
    )
    public_url: str = _setting(
        "",
        "the address of this service on the Internet, e.g. https://tidings.example.org. With this address, messages link to the screens, and Tidings subscribes to the hubs of feeds (WebSub)",
    )


@dataclass(frozen=True, slots=True)
class EventSettings:
    """Events from outside a page: webhooks, files and commands (`Create Event`)."""

    allow_files: tuple[str, ...] = _setting((), "directories whose files may be watched for events; if empty: no files")
    allow_commands: bool = _setting(
        False, "whether commands may be run for events; they run with the rights of Tidings"
    )
    every_seconds: float = _setting(
        60.0, "how often files and commands are checked if the event has no interval", least=1
    )
    command_seconds: float = _setting(
        30.0, "time limit of a command; then it is killed with every process that it started", least=0.01
    )


@dataclass(frozen=True, slots=True)
class BusSettings:
    """Pollers on other machines (docs/howto/many-machines.md)."""

    url: str = _setting(
        "",
        "address of the bus for pollers on other machines: nats://, tls:// or postgresql://; if empty: there is no bus",
        secret=True,
    )
    secret: str = _setting(
        "",
        "secret of the service and its pollers, at least 16 characters; it encrypts their messages",
        secret=True,
    )
    name: str = _setting("tidings", "name of this installation on the bus; several installations may use one server")
    lanes: tuple[str, ...] = _setting(
        ("pages",), "which checks a poller makes: pages, browser (pages with `Render browser`), or both"
    )


@dataclass(frozen=True, slots=True)
class LabSettings:
    """The comparison of policies; it does not affect what is watched."""

    policies: tuple[str, ...] = _setting(
        (),
        "policies that `tidings lab` compares with `schedule.policy`: the policies of the service, and azar, cam, ebr, index, lambda_crawl, lambda_crawl_polite, medd, nutch, olston_pandey, periodic, random, sbr, stormcrawler",
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All sections; frozen. `data` is the data directory, `ignored` names the deleted settings that
    are still given, each with its source; `file` is the file with settings, None for that of the
    directory.
    """

    data: Path = Path()
    ignored: tuple[str, ...] = ()
    file: Path | None = None
    fetch: FetchSettings = FetchSettings()
    budget: BudgetSettings = BudgetSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    detect: DetectSettings = DetectSettings()
    notify: NotifySettings = NotifySettings()
    store: StoreSettings = StoreSettings()
    search: SearchSettings = SearchSettings()
    serve: ServeSettings = ServeSettings()
    events: EventSettings = EventSettings()
    bus: BusSettings = BusSettings()
    lab: LabSettings = LabSettings()

    def value(self, name: str) -> Any:
        """Return the value of `section.key`."""
        section, _, key = name.partition(".")
        return getattr(getattr(self, section), key)


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One row of the table: full name, type, default, whether it is secret, description."""

    name: str
    type: str
    default: Any
    secret: bool
    help: str
    variable: str
    least: float | None
    most: float | None


SECTIONS: tuple[str, ...] = tuple(
    f.name for f in dataclasses.fields(Settings) if f.name not in {"data", "ignored", "file"}
)


@functools.cache
def table() -> tuple[SettingRow, ...]:
    """Return every setting, in the order of its section."""
    return tuple(_rows())


def _rows() -> Iterator[SettingRow]:
    for section in SECTIONS:
        kind = _section_type(section)
        hints = get_type_hints(kind)
        for f in dataclasses.fields(kind):
            yield SettingRow(
                name=f"{section}.{f.name}",
                type=_type_name(hints[f.name]),
                default=f.default,
                secret=f.metadata["secret"],
                help=f.metadata["help"],
                variable=_name_variable(f"{section}.{f.name}"),
                least=f.metadata["least"],
                most=f.metadata["most"],
            )


def spell_bounds(row: SettingRow) -> str:
    """Return the bounds of a number in words, empty if it has none."""
    parts = [f"at least {row.least:g}"] if row.least is not None else []
    parts += [f"at most {row.most:g}"] if row.most is not None else []
    return f", {' and '.join(parts)}" if parts else ""


_KINDS = {"str": "text", "int": "whole number", "float": "number", "bool": "`true` or `false`", "list": "list"}


def markdown() -> str:
    """Return the table as a documentation page; `script/docs` writes it to
    docs/reference/settings.md.
    """
    lines = [_HEAD]
    for section in SECTIONS:
        lines += [f"## `[{section}]`", "", (_section_type(section).__doc__ or "").strip(), ""]
        lines += ["| setting | meaning | value |", "|---|---|---|"]
        for row in table():
            if row.name.startswith(f"{section}."):
                kind = f"{_KINDS[row.type]}{spell_bounds(row)}{', secret' if row.secret else ''}"
                meaning = row.help.replace("|", chr(92) + "|")
                lines.append(f"| `{row.name}` | {meaning} | {kind}; default: {_show_default(row)} |")
        lines.append("")
    return "\n".join(lines)


_HEAD = """# Settings

This page lists all settings. `tidings settings` prints the same list with the values in use. You can set a value in three places:

1. in the file `tidings.toml` in the data directory, or in the file given with `--config FILE`;
2. in an environment variable;
3. on the command line, with `--set SECTION.KEY=VALUE`.

If you set a value in several places, the last of these places is used. An unknown setting is an error.

The environment variable for `fetch.robots` is `TIDINGS_FETCH_ROBOTS`, and so on. If the value is a list, separate its items with commas.
If a setting is a secret, you can also keep its value in a file: `TIDINGS_SERVE_TOKEN_FILE=/run/secrets/token`. Two variables
are no settings: `TIDINGS_DATA` names the data directory, and `TIDINGS_CONFIG` names the configuration file.

This is an example of `tidings.toml`:

```toml
[fetch]
contact = "https://example.org/about-our-crawler"
allow_networks = ["127.0.0.0/8"]

[budget]
polls_per_day = 20000
```
"""


def _show_default(row: SettingRow) -> str:
    if isinstance(row.default, bool):
        return f"`{str(row.default).lower()}`"
    if row.default in ("", ()):
        return "empty"
    if isinstance(row.default, tuple):
        return f"`{list(row.default)}`"
    return (
        f'`"{row.default}"`'
        if isinstance(row.default, str)
        else f"`{row.default:g}`"
        if row.default < 1e6
        else f"`{row.default:_}`"
    )


def default_data_directory(environment: Mapping[str, str] | None = None) -> Path:
    """Return `TIDINGS_DATA`, else the user's data folder."""
    environment = os.environ if environment is None else environment
    if given := environment.get("TIDINGS_DATA"):
        return Path(given)
    base = environment.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "tidings"


@dataclass(frozen=True, slots=True)
class Supervised:
    """systemd's environment of a service: the notification socket, and the watchdog interval."""

    address: str
    watchdog_seconds: float


def read_supervisor(environment: Mapping[str, str] | None = None) -> Supervised:
    """Return the supervisor of this process; a watchdog of another process is ignored."""
    environment = os.environ if environment is None else environment
    own = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    waits = environment.get("WATCHDOG_USEC", "")
    seconds = int(waits) / 1_000_000 if own and waits.isascii() and waits.isdecimal() else 0.0
    return Supervised(environment.get("NOTIFY_SOCKET", ""), seconds)


def load(
    data: Path | None = None,
    config: Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings of a data directory.

    `flags` are `section.key` → text. Raises `SettingError` with the source, the key and the
    expected value.

    Args:
        data: The data directory; None for the usual one.
        config: The file with settings; None for that of the directory.
        environment: The variables; None for those of the process.
    """
    environment = os.environ if environment is None else environment
    data = data or default_data_directory(environment)
    if config is None and environment.get("TIDINGS_CONFIG"):
        config = Path(environment["TIDINGS_CONFIG"])
    values: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    rows = {row.name: row for row in table()}
    ignored: list[str] = []
    for source, name, raw in _sources(data, config, environment, flags or {}, rows):
        if name in DELETED:
            ignored.append(f"{name} ({source})")
            continue
        section, _, key = RENAMED.get(name, name).partition(".")
        values[section][key] = _convert(rows[f"{section}.{key}"], raw, source)
    sections = {section: _section_type(section)(**given) for section, given in values.items()}
    return Settings(data=data, ignored=tuple(ignored), file=config, **sections)


def _sources(
    data: Path,
    config: Path | None,
    environment: Mapping[str, str],
    flags: Mapping[str, str],
    rows: Mapping[str, SettingRow],
) -> Iterator[tuple[str, str, Any]]:
    path = config or data / "tidings.toml"
    if config is not None and not _is_there(config):
        message = f"there is no configuration file {config}"
        raise SettingError(message)
    if _is_there(path):
        yield from _file(path, rows)
    variables = {_name_variable(name): name for name in (*rows, *DELETED, *RENAMED)}
    files = {f"{row.variable}_FILE": row for row in rows.values() if row.secret}
    for variable, raw in environment.items():
        if variable in variables:
            yield variable, variables[variable], raw
        elif variable in files:
            yield variable, files[variable].name, _read_secret(variable, raw, files[variable], environment)
        elif variable.startswith("TIDINGS_") and variable not in RESERVED and not _OF_KUBERNETES.fullmatch(variable):
            message = f"the environment variable {variable} is not a setting; `tidings settings` lists them all"
            raise SettingError(message)
    for name, raw in flags.items():
        if name in DELETED:
            message = f"{name} is no longer a setting; leave out --set {name}"
            raise SettingError(message)
        if name not in rows and name not in RENAMED:
            message = f"there is no setting {name}; `tidings settings` lists them all"
            raise SettingError(message)
        if name == f"fetch.{ALLOW_COMMANDS}":
            message = f"--set cannot set {name}: write it into {path}, or set {rows[name].variable}"
            raise SettingError(message)
        yield f"--set {name}", name, raw


def _read_secret(variable: str, raw: str, row: SettingRow, environment: Mapping[str, str]) -> str:
    """Return the content of the file that a variable names, without the final line end."""
    if row.variable in environment:
        message = f"{variable} and {row.variable} are both set; unset one of them"
        raise SettingError(message)
    try:
        value = Path(raw).read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else "it is not in UTF-8"
        message = f"{variable} names {raw}, which cannot be read: {reason}"
        raise SettingError(message) from error
    if not value:
        message = f"{variable} names {raw}, which is empty; write the secret into it, or unset {variable}"
        raise SettingError(message)
    return value


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        message = (
            f"{path} cannot be read: {error.strerror or error}; check the owner and the permissions of {path.parent}"
        )
        raise SettingError(message) from error


def _name_variable(setting: str) -> str:
    return f"TIDINGS_{setting.replace('.', '_')}".upper()


def _file(path: Path, rows: Mapping[str, SettingRow]) -> Iterator[tuple[str, str, Any]]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise SettingError(message) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"{path} is not a TOML file: {error}"
        raise SettingError(message) from error
    for section, given in document.items():
        if section in SECTIONS and not isinstance(given, dict):
            message = f"{path}: {section} is a section; write [{section}] on a line of its own, and its settings below"
            raise SettingError(message)
        if section not in SECTIONS:
            message = f"{path}: there is no section [{section}]; there are: {', '.join(SECTIONS)}"
            raise SettingError(message)
        for key, raw in given.items():
            if f"{section}.{key}" not in {*rows, *DELETED, *RENAMED}:
                message = f"{path}: there is no setting {section}.{key}; `tidings settings` lists them all"
                raise SettingError(message)
            name = f"{section}.{key}"
            if key == ALLOW_COMMANDS and _convert(rows[name], raw, str(path)):  # also "yes", or 1
                _check_owner(path, name)
            yield str(path), f"{section}.{key}", raw


def _check_owner(path: Path, name: str) -> None:
    """Raise `SettingError` if another user could write the file that lets Tidings run commands.

    The file, or its folder.
    """
    for place in (path, path.resolve().parent):
        found = place.stat()
        if found.st_uid not in {0, os.geteuid()}:
            fault, mend = "it belongs to another user", f"chown it to the user who runs Tidings: chown {os.geteuid()}"
        elif found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not found.st_mode & stat.S_ISVTX:
            fault, mend = "other users can write to it", "remove their permission: chmod go-w"
        else:
            continue
        message = (
            f"{path}: {name} is refused because of {place}: {fault}, and could choose the commands that run here; "
            f"{mend} {place}"
        )
        raise SettingError(message)


@functools.cache
def _section_type(section: str) -> Any:
    return get_type_hints(Settings)[section]


def _type_name(kind: Any) -> str:
    if kind is tuple or typing.get_origin(kind) is tuple:
        return "list"
    return str(kind.__name__)


def _convert(row: SettingRow, raw: Any, source: str) -> Any:
    try:
        value = _parse(row, raw)
    except (TypeError, ValueError) as error:
        shown = "the value" if row.secret else repr(raw)
        message = f"{source}: {row.name} cannot be {shown}: {error}"
        raise SettingError(message) from error
    return value


def _parse(row: SettingRow, raw: Any) -> Any:
    if row.type == "list":
        return _parse_list(row, raw)
    if row.type == "bool":
        return _parse_bool(raw)
    if row.type == "str":
        if not isinstance(raw, str):
            message = "expected a text"
            raise ValueError(message)
        return raw
    return _parse_number(row, raw)


def _parse_list(row: SettingRow, raw: Any) -> tuple[str, ...]:
    given = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        message = "expected texts: a list of them, or one with commas between them"
        raise ValueError(message)
    items = tuple(item.strip() for item in given if item.strip())
    if row.name == "fetch.allow_networks":
        for item in items:
            ipaddress.ip_network(item)
    if row.name == "budget.classes":
        _read_classes(items)
    return items


def _parse_number(row: SettingRow, raw: Any) -> float:
    """Return an int or a float as the row requires; infinity and NaN are refused."""
    message = f"expected {'a whole number' if row.type == 'int' else 'a number'}{spell_bounds(row)}"
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise ValueError(message)
    try:
        number = int(raw) if row.type == "int" and not isinstance(raw, float) else float(raw)
        is_good = math.isfinite(number) and (row.type != "int" or number == int(number))
    except (ValueError, OverflowError):
        is_good, number = False, 0
    if not is_good or (row.least is not None and number < row.least) or (row.most is not None and number > row.most):
        raise ValueError(message)
    return int(number) if row.type == "int" else number


def _parse_bool(raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if str(raw).lower() not in words:
        message = "expected true or false"
        raise ValueError(message)
    return words[str(raw).lower()]
