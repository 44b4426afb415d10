"""All settings: one frozen object, one table that prints its own documentation.

Values come, later ones winning, from the defaults below, `tidings.toml` in the data directory (or `--config`), the environment
(`TIDINGS_SECTION_KEY`) and flags. The environment is read here and nowhere else. An unknown key is an error.
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from tidings.errors import SettingError

ALLOW_COMMANDS = "allow_commands"
"""The key, of two sections, that lets Tidings run commands.

A file that says it must be the operator's alone (R-16).
"""
RESERVED = frozenset({"TIDINGS_DATA", "TIDINGS_CONFIG", "TIDINGS_DATA_SETS"})


def _setting(
    default: Any, text: str, *, secret: bool = False, least: float | None = None, most: float | None = None
) -> Any:
    return field(
        default=default, repr=not secret, metadata={"help": text, "secret": secret, "least": least, "most": most}
    )


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """How pages are asked for."""

    user_agent: str = _setting("", "User-Agent header; empty: name, version and `contact`")
    contact: str = _setting("", "URL or mail address a site's owner can use to reach you; part of the User-Agent")
    allow_networks: tuple[str, ...] = _setting(
        (), "networks that may be asked although they are private, e.g. 127.0.0.0/8"
    )
    allow_files: tuple[str, ...] = _setting(
        (), "directories below which file: addresses may be watched; empty: nowhere"
    )
    allow_commands: bool = _setting(
        False,
        "whether what commands write may be watched (`Using command`); they run as Tidings does. Only the settings"
        " file, which nobody else may write, or the environment can say so",
    )
    host_gap_seconds: float = _setting(
        5.0, "least time from the start of one request to a host to the start of the next", least=0
    )
    host_connections: int = _setting(1, "requests to one host at the same time", least=1, most=16)
    page_floor_seconds: float = _setting(
        60.0,
        "least time between two polls of a page; a second check may come sooner, unless it is more than a minute",
        least=0,
    )
    total_seconds: float = _setting(30.0, "deadline of one fetch, all hops and the body included", least=0.01, most=600)
    connect_seconds: float = _setting(10.0, "deadline for a connection, TLS included", least=0.01, most=600)
    max_body_bytes: int = _setting(10_000_000, "largest body after decoding", least=1)
    max_ratio: int = _setting(200, "largest growth by decoding, once over 1 MB", least=1)
    max_redirects: int = _setting(10, "redirects followed by one fetch", least=0, most=50)
    robots: bool = _setting(True, "obey robots.txt")
    robots_cache_seconds: float = _setting(86_400.0, "how long an answer for robots.txt is used", least=0)
    freshness_seconds: float = _setting(
        3_600.0,
        "how long after a check Cache-Control or Expires may hold back the next one of a page that is fetched on change; 0: never",
        least=0,
        most=86_400,
    )
    browser_path: str = _setting(
        "", "browser for pages with `Render browser`; empty: chromium, chromium-browser or google-chrome on PATH"
    )
    browser_pages: int = _setting(1, "pages that are rendered at the same time", least=1, most=16)
    browser_cost: float = _setting(
        10.0, "what a rendered poll takes from the budget; its further requests are charged one by one", least=1
    )
    browser_requests: int = _setting(100, "requests for the parts of one rendered page", least=0, most=1_000)
    browser_memory_mb: int = _setting(1_500, "memory of the browser; it is ended when a page takes more", least=100)


@dataclass(frozen=True, slots=True)
class BudgetClass:
    """A budget of its own for sentinels that name it (`Class NAME`): at most `polls` requests in any `period` (hour, day or week).

    It is a token bucket that saves up a 24th of them, one at least; what a full one gives at once flows in so much slower.
    """

    name: str
    polls: float
    period: str

    def __str__(self) -> str:
        return f"{self.polls:g} per {self.period}"

    @property
    def pace(self) -> float:
        """Return the requests a second that it allows in the long run, were it never full."""
        return self.polls / _PERIODS[self.period]

    @property
    def burst(self) -> float:
        """Return how many requests may be saved up."""
        return max(1.0, self.polls / 24)

    @property
    def rate_per_second(self) -> float:
        """Return how many requests flow in."""
        return (self.polls + 1 - self.burst) / _PERIODS[self.period]


_CLASS = re.compile(r"([A-Za-z_][\w-]*)\s*:\s*(\d+(?:\.\d+)?)\s+per\s+(hour|day|week)", re.ASCII)
_PERIODS = {"hour": 3_600.0, "day": 86_400.0, "week": 604_800.0}


def _read_classes(items: Iterable[str]) -> dict[str, BudgetClass]:
    """Return classes by name. Raises `ValueError` for one that cannot be read, or has a name that is taken."""
    classes: dict[str, BudgetClass] = {}
    for item in items:
        found = _CLASS.fullmatch(item)
        if found is None or float(found[2]) <= 0:
            message = f'expected NAME: NUMBER per hour, day or week, such as "gentle: 500 per day"; found {item!r}'
            raise ValueError(message)
        if found[1] in classes or found[1] == "default":
            why = "budget.polls_per_day sets it" if found[1] == "default" else "it is there already"
            message = f"the class {found[1]} cannot be set up: {why}"
            raise ValueError(message)
        classes[found[1]] = BudgetClass(found[1], float(found[2]), found[3])
    return classes


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """How many polls may be spent."""

    polls_per_day: float = _setting(50_000.0, "requests of all pages together in a day (a token bucket)", least=0)
    burst: float = _setting(2_000.0, "requests that may be saved up and spent at once", least=1)
    classes: tuple[str, ...] = _setting(
        (),
        'budgets within it, for sentinels that name one (`Class gentle`), e.g. "gentle: 500 per day": never more in any day (hour, week)',
    )

    def map_names(self) -> dict[str, BudgetClass]:
        """Return the classes by name, the most generous first."""
        classes = _read_classes(self.classes)
        return dict(sorted(classes.items(), key=lambda item: (-item[1].pace, item[0])))


@dataclass(frozen=True, slots=True)
class ScheduleSettings:
    """When pages without an interval of their own are looked at."""

    pace_seconds: float = _setting(
        3_600.0,
        "how long a page waits between its first checks (best_effort), all checks (round_robin), or checks of one that changes once a day (price)",
        least=0.01,
    )
    policy: str = _setting(
        "price",
        "who chooses among the pages that are fetched on change: best_effort (learns each page's interval, from the pace on), best_effort_weighted (the same, and forgets old intervals sooner), price (looks where a look is worth its price, as the page changes and as Importance, Urgency and Life say), price_hours (the same, and learns in which hours of the week the pages of a host change), round_robin (the pace, always) or wic (looks when what has gathered is worth a look, whether or not it could wait); docs/howto/when-to-look.md says more of each",
    )
    needs: str = _setting(
        "demand",
        "who comes first of pages that are needed in time: demand (the earliest deadline as long as all can be made, else what serves most), aggregate (always what serves most), or by paper 001: s_edf (always the earliest deadline), mrsf (what lacks the fewest looks), m_edf (what has the least time left in all)",
    )
    concurrency: int = _setting(64, "fetches in flight at most", least=1, most=4_096)
    sitemap_pages: int = _setting(
        3,
        "the sitemaps that a host's robots.txt names are read, every six hours, if they list so many watched pages; 0: never (for policies that weigh hints)",
        least=0,
    )


@dataclass(frozen=True, slots=True)
class DetectSettings:
    """Comparing pages."""

    isolation: str = _setting("killable", "where page content is parsed: killable (worker processes) or in_process")
    workers: int = _setting(
        1, "worker processes; small pages have one more, so that none waits for a large one", least=1, most=64
    )
    job_seconds: float = _setting(10.0, "deadline of one job; its process is killed then", least=0.01)
    job_memory_mb: int = _setting(1_024, "address space of a worker", least=64)
    second_looks: bool = _setting(
        True,
        "whether a page that changed may be fetched again within a minute, to separate noise from news (at most 8 times, and 1 in 50 polls)",
    )
    attempts: int = _setting(3, "deaths after which a comparison is given up, with a notice", least=1)
    heal: bool = _setting(
        True,
        "whether a part that its selector no longer finds is searched for by what was there (notified)",
    )


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """Telling people."""

    timeout_seconds: float = _setting(20.0, "deadline of one attempt to deliver", least=0.01, most=120)
    webhook_secret: str = _setting("", "secret that signs webhooks (whsec_…); empty: made at first use", secret=True)
    disable_days: float = _setting(5.0, "an endpoint that only failed for so long is switched off", least=0)
    noisy_changes: int = _setting(
        0,
        "after more changes than this in `noisy_seconds` a sentinel reports them together, and says so; 0: never",
        least=0,
    )
    noisy_seconds: float = _setting(3_600.0, "see `noisy_changes`; also how long a noisy one's news gather", least=60)
    smtp_host: str = _setting("", "mail server that takes e-mail; empty: no e-mail is sent")
    smtp_port: int = _setting(0, "its port; 0: 465 with tls, 587 with starttls, 25 with none", least=0, most=65_535)
    smtp_security: str = _setting("starttls", "tls (from the first byte), starttls (asked for, never left out) or none")
    smtp_user: str = _setting("", "name to log in with; empty: no log-in")
    smtp_password: str = _setting("", "password to log in with", secret=True)
    weekly: bool = _setting(
        False,
        "whether the receivers of all sentinels get the figures of the week on Mondays at 8",
    )
    mail_from: str = _setting("", "sender of e-mail, e.g. Tidings <tidings@example.org>; empty: `smtp_user`")


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The database."""

    url: str = _setting("", "postgresql://… ; empty: tidings.db in the data directory", secret=True)
    busy_seconds: float = _setting(5.0, "how long a write waits for another process", least=0)
    blob_file_bytes: int = _setting(65_536, "compressed bodies above this become files (SQLite only)", least=0)
    chain_length: int = _setting(100, "longest chain of deltas behind one version", least=1, most=1_000)
    history_days: float = _setting(
        365.0, "how long the versions around a change are kept where its sentinel has no ChangeHistory", least=0
    )
    values_days: float = _setting(
        1_825.0, "how long the course of watched prices, numbers and cells is kept (history --values)", least=0
    )
    afterlife_days: float = _setting(
        30.0, "how long what a sentinel found is kept after its end, and a body that was withheld", least=0
    )


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Search over what is stored."""

    index: bool = _setting(
        True, "whether a running service keeps the search index; else `tidings search` brings it up to date itself"
    )
    log: bool = _setting(
        True,
        "whether it is counted, on this machine, what is searched for on the screen and by `tidings search`, and which"
        " results are opened",
    )


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """The running service."""

    tick_seconds: float = _setting(1.0, "longest time between two rounds over what is due", least=0.01)
    lease_seconds: float = _setting(30.0, "time after which a silent poller has lost its lease", least=0.1)
    stop_seconds: float = _setting(8.0, "time that fetches in flight get when the service is stopped", least=0)
    zone: str = _setting("UTC", "time zone of sentinels that name none")
    host: str = _setting("127.0.0.1", "address on which feeds, the stream and hooks are served")
    port: int = _setting(8_780, "its port; 0: any that is free, which is printed", least=0, most=65_535)
    token: str = _setting(
        "", "what readers of feeds and the stream must show; needed where `host` is no loopback address", secret=True
    )
    edit_token: str = _setting(
        "",
        "what must be shown to change what is watched in the browser; it lets its holder read, too. Empty: where `token` is set, the screens only show",
        secret=True,
    )
    names: tuple[str, ...] = _setting(
        (), "names under which it may be asked, e.g. of a proxy before it; addresses and localhost always may"
    )
    proxies: tuple[str, ...] = _setting(
        (), "addresses of proxies before it that say in `proxy_header` who has signed in; none is a network"
    )
    proxy_header: str = _setting(
        "Remote-User", "the header in which they say it; of anybody else it counts for nothing"
    )
    ping_url: str = _setting(
        "",
        "address that is asked (POST) every `ping_seconds` while the service works, e.g. of a healthchecks.io check;"
        " whoever is there raises the alarm when that ends",
        secret=True,
    )
    ping_seconds: float = _setting(60.0, "see `ping_url`", least=1)
    log_format: str = _setting("text", "how the log on standard error is written: text, or json (one record a line)")
    public_url: str = _setting(
        "",
        "how the Internet reaches this service, e.g. https://tidings.example.org; then feeds' hubs are asked to announce what is new (WebSub); empty: none is",
    )


@dataclass(frozen=True, slots=True)
class EventSettings:
    """Events of other origin: webhooks, files and commands (`Create Event`)."""

    allow_files: tuple[str, ...] = _setting(
        (), "directories below which the content of files may make events; empty: nowhere"
    )
    allow_commands: bool = _setting(False, "whether the output of commands may make events; they run as Tidings does")
    every_seconds: float = _setting(
        60.0, "how often files and commands without an interval of their own are checked", least=1
    )
    command_seconds: float = _setting(30.0, "deadline of a command; it is killed then with all it started", least=0.01)
    max_output_bytes: int = _setting(1_000_000, "output of a command at most; one that writes more is killed", least=1)
    max_file_bytes: int = _setting(
        10_000_000, "how much of a file is read to see whether its content changed, from its beginning", least=1
    )


@dataclass(frozen=True, slots=True)
class BusSettings:
    """Pollers on other machines (docs/howto/many-machines.md)."""

    url: str = _setting(
        "",
        "where pollers on other machines get checks from: nats://, tls:// or postgresql://; empty: there are none",
        secret=True,
    )
    secret: str = _setting(
        "",
        "shared by the service and its pollers, at least 16 characters; all they say is encrypted with it",
        secret=True,
    )
    name: str = _setting("tidings", "name of this installation on the bus; several may use one server")
    lanes: tuple[str, ...] = _setting(
        ("pages",), "what a poller takes: pages, browser (those with `Render browser`), or both"
    )


@dataclass(frozen=True, slots=True)
class LabSettings:
    """The laboratory: comparisons, of which nothing acts on what is watched."""

    policies: tuple[str, ...] = _setting(
        (),
        "policies that `tidings lab` compares with `schedule.policy`: those of the service and azar, cam, ebr, index, lambda_crawl, lambda_crawl_polite, medd, nutch, olston_pandey, periodic, random, sbr, stormcrawler",
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All sections; frozen. `data` is the data directory."""

    data: Path = Path()
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
    """One line of the table: full name, type, default, whether it is secret, what it does."""

    name: str
    type: str
    default: Any
    secret: bool
    help: str
    variable: str
    least: float | None
    most: float | None


SECTIONS: tuple[str, ...] = tuple(f.name for f in dataclasses.fields(Settings) if f.name != "data")


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
                variable=f"TIDINGS_{section}_{f.name}".upper(),
                least=f.metadata["least"],
                most=f.metadata["most"],
            )


def spell_bounds(row: SettingRow) -> str:
    """Return the bounds of a number in words, empty if it has none."""
    parts = [f"at least {row.least:g}"] if row.least is not None else []
    parts += [f"at most {row.most:g}"] if row.most is not None else []
    return f", {' and '.join(parts)}" if parts else ""


def markdown() -> str:
    """Return the table as a page of the documentation; `script/docs` writes it to docs/reference/settings.md."""
    lines = [_HEAD]
    for section in SECTIONS:
        lines += [f"## `[{section}]`", "", (_section_type(section).__doc__ or "").strip(), ""]
        lines += ["| setting | type | default | what it is |", "|---|---|---|---|"]
        for row in table():
            if row.name.startswith(f"{section}."):
                kind = f"{row.type}{spell_bounds(row)}{', secret' if row.secret else ''}"
                lines.append(
                    f"| `{row.name}` | {kind} | {_show_default(row)} | {row.help.replace('|', chr(92) + '|')} |"
                )
        lines.append("")
    return "\n".join(lines)


_HEAD = """# Settings

This page is made by `script/docs` from the table in `src/tidings/settings.py`; `tidings settings` prints the same table with the
values that hold.

Values come, later ones winning, from the defaults below, from `tidings.toml` in the data directory (or `--config FILE`), from the
environment and from `--set SECTION.KEY=VALUE`. The variable of `section.key` is `TIDINGS_SECTION_KEY`: `fetch.robots` is
`TIDINGS_FETCH_ROBOTS`. A list is written with commas there. A secret may be read from a file: `TIDINGS_SERVE_TOKEN_FILE=/run/secrets/token`
(as containers and systemd's credentials give it) is its content without the last line end. An unknown key is an error. `TIDINGS_DATA` names the data directory and
`TIDINGS_CONFIG` the file.

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
    """Return `TIDINGS_DATA`, else the user's own data folder."""
    environment = os.environ if environment is None else environment
    if given := environment.get("TIDINGS_DATA"):
        return Path(given)
    base = environment.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "tidings"


@dataclass(frozen=True, slots=True)
class Supervised:
    """What systemd gives a service: the socket to notify, and how long its watchdog waits."""

    address: str
    watchdog_seconds: float


def read_supervisor(environment: Mapping[str, str] | None = None) -> Supervised:
    """Return what a supervisor gave this process; a watchdog of another process is none."""
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

    `flags` are `section.key` → text. Raises `SettingError` that names the source, the key and what is expected.
    """
    environment = os.environ if environment is None else environment
    data = data or default_data_directory(environment)
    if config is None and environment.get("TIDINGS_CONFIG"):
        config = Path(environment["TIDINGS_CONFIG"])
    values: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    rows = {row.name: row for row in table()}
    for source, name, raw in _sources(data, config, environment, flags or {}, rows):
        section, _, key = name.partition(".")
        values[section][key] = _convert(rows[name], raw, source)
    sections = {section: _section_type(section)(**given) for section, given in values.items()}
    return Settings(data=data, **sections)


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
    variables = {row.variable: row.name for row in rows.values()}
    files = {f"{row.variable}_FILE": row for row in rows.values() if row.secret}
    for variable, raw in environment.items():
        if variable in variables:
            yield variable, variables[variable], raw
        elif variable in files:
            yield variable, files[variable].name, _read_secret(variable, raw, files[variable], environment)
        elif variable.startswith("TIDINGS_") and variable not in RESERVED and _is_ours(variable):
            message = f"the environment variable {variable} is no setting; `tidings settings` lists them all"
            raise SettingError(message)
    for name, raw in flags.items():
        if name not in rows:
            message = f"there is no setting {name}; `tidings settings` lists them all"
            raise SettingError(message)
        if name == f"fetch.{ALLOW_COMMANDS}":
            message = f"--set cannot say {name}: write it into {path}, or set {rows[name].variable}"
            raise SettingError(message)
        yield f"--set {name}", name, raw


def _read_secret(variable: str, raw: str, row: SettingRow, environment: Mapping[str, str]) -> str:
    """Return the content of the file that a variable names, without the line end behind it."""
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
        message = f"{path} cannot be read: {error.strerror or error}; check owner and rights of {path.parent}"
        raise SettingError(message) from error


def _is_ours(variable: str) -> bool:
    return variable.split("_")[1].lower() in SECTIONS


def _file(path: Path, rows: Mapping[str, SettingRow]) -> Iterator[tuple[str, str, Any]]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise SettingError(message) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"{path} is no TOML file: {error}"
        raise SettingError(message) from error
    for section, given in document.items():
        if section in SECTIONS and not isinstance(given, dict):
            message = f"{path}: {section} is a section; write [{section}] on a line of its own, and its settings below"
            raise SettingError(message)
        if section not in SECTIONS:
            message = f"{path}: there is no section [{section}]; there are: {', '.join(SECTIONS)}"
            raise SettingError(message)
        for key, raw in given.items():
            if f"{section}.{key}" not in rows:
                message = f"{path}: there is no setting {section}.{key}; `tidings settings` lists them all"
                raise SettingError(message)
            if raw is True and key == ALLOW_COMMANDS:
                _check_owner(path, f"{section}.{key}")
            yield str(path), f"{section}.{key}", raw


def _check_owner(path: Path, name: str) -> None:
    """Raise `SettingError` if somebody else could write what lets Tidings run commands.

    The file, or its folder.
    """
    for place in (path, path.resolve().parent):
        found = place.stat()
        if found.st_uid not in {0, os.geteuid()}:
            fault, mend = "it belongs to another user", f"chown it to the user who runs Tidings: chown {os.geteuid()}"
        elif found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not found.st_mode & stat.S_ISVTX:
            fault, mend = "others can write it", "take that right away: chmod go-w"
        else:
            continue
        message = f"{path}: {name} does not hold because of {place}: {fault}, and with it which commands run here; {mend} {place}"
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
    """Return an int or a float as the row asks for; infinity and NaN are no numbers here."""
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
