"""urlwatch and its fork webchanges: lists of jobs (YAML), the settings beside them, and the
database of old texts.

A directory may have all three; a list of jobs alone is enough.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from email.utils import getaddresses
from functools import partial
from typing import Any, Final
from urllib.parse import unquote, urlencode

from tidings.clock import MINUTE, SECOND
from tidings.model.interval import Instant
from tidings.model.url import split_url
from tidings.service.imports import filters
from tidings.service.imports.draft import Draft, Note, duration, form, plain_address, show_value, tag_of, write_text
from tidings.service.imports.reading import Files

JOBS: Final = ("urls.yaml", "jobs.yaml", "urls.yml", "jobs.yml")
SETTINGS: Final = ("urlwatch.yaml", "config.yaml")
DATABASES: Final = ("cache.db", "snapshots.db")
Rule = Callable[[Draft, Any, Mapping[str, Any]], None]
POLITE: Final = Note("refused", "", "Tidings decides when to retry a host")
BROWSER: Final = Note("refused", "", "what a browser waits for is a step: `Render browser steps (wait for …)`")
STATE_ONLY: Final = Note("state", "")
ERRORS: Final = Note("approximated", "", "lasting errors are reported once, and their end")


def _data(draft: Draft, value: Any, job: Mapping[str, Any]) -> None:
    if str(job.get("method") or "").upper() == "GET":
        draft.refuse("data", "a request by GET has no body here")
        return
    is_json = bool(job.get("data_as_json"))
    if isinstance(value, dict | list):
        draft.body(json.dumps(value) if is_json else form(dict(value)), "data")
    else:
        draft.body(str(value), "data")
    if not any(str(name).lower() == "content-type" for name in _map(job.get("headers"))):
        draft.header("Content-Type", f"application/{'json' if is_json else 'x-www-form-urlencoded'}", "data")


def _headers(draft: Draft, value: Any, _: Mapping[str, Any]) -> None:
    for name, text in value.items() if isinstance(value, dict) else []:
        draft.header(str(name), str(text), "headers")


def _cookies(draft: Draft, value: Any, _: Mapping[str, Any]) -> None:
    if isinstance(value, dict):
        draft.header("Cookie", "; ".join(f"{name}={text}" for name, text in value.items()), "cookies")


def _timeout(draft: Draft, value: Any, _: Mapping[str, Any]) -> None:
    seconds = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 60.0
    most = 10 * MINUTE
    length = min(most, round(seconds * SECOND)) if seconds > 0 else most
    differs = "at most ten minutes" if seconds <= 0 or seconds > 600 else ""
    draft.add(f"Timeout {duration(length)}", "timeout", differs)


def _proxy(draft: Draft, value: Any, job: Mapping[str, Any]) -> None:
    if value != (job.get(f"{split_url(draft.url).scheme}_proxy") or job.get("proxy")):
        draft.note("state", "proxy", "it is for addresses of another kind")
        return
    if "@" in str(value):
        draft.add(f"Proxy secret {write_text(draft.keep_secret('proxy', str(value)))}", "proxy")
    else:
        draft.add(f"Proxy {value}", "proxy")


_SIGNS: Final = re.compile(r"\^(?:\\?(?P<one>[+-])|\[(?P<any>[@+-]+)\])(?:\.\*)?")
_HEADS: Final = re.compile(r"\^?(?:\\?@@?|\\?[+-]\\?[+-]\\?[+-]|\[[+-]\]\{3\}|\\?[+-]\{3\}).*")
"""The lines of a comparison that say where it begins."""


def _diffs(draft: Draft, value: Any, _: Mapping[str, Any]) -> None:
    signs = {"+", "-"}
    for name, options in filters.list_named(value):
        pattern = str(options.get("re") or options.get("text") or "")
        given = found["one"] or found["any"] if (found := _SIGNS.fullmatch(pattern)) else ""
        if name in {"grep", "keep_lines_containing"} and given:
            signs &= set(given)
        elif name in {"grepi", "delete_lines_containing"} and given:
            signs -= set(given)
        elif name in {"grepi", "delete_lines_containing"} and _HEADS.fullmatch(pattern):
            draft.translate("diff_filter")
        else:
            draft.refuse("diff_filter", f"{name} {show_value(pattern)}: use a condition instead (`where …`)")
    if len(signs) == 1:
        draft.where("inserted" if signs == {"+"} else "deleted", "diff_filter")


def _additions(draft: Draft, value: Any, _: Mapping[str, Any]) -> None:
    is_exact = value is True or value == "disable_safeguard"
    why = "a page that loses most of its text is not reported by that; one that is nearly empty is checked again"
    draft.where("inserted", "additions_only", "" if is_exact else why)


def _deletions(draft: Draft, _: Any, __: Mapping[str, Any]) -> None:
    draft.where("deleted", "deletions_only")


def _params(draft: Draft, value: Any, _: Mapping[str, Any]) -> None:
    query = urlencode(value) if isinstance(value, dict | list) else str(value).lstrip("?")
    draft.url += ("&" if split_url(draft.url).query else "?") + query
    draft.translate("params")


def _agent(draft: Draft, value: Any, _: Mapping[str, Any]) -> None:
    draft.header("User-Agent", str(value), "useragent")


def _disable(draft: Draft, value: Any, _: Mapping[str, Any]) -> None:
    draft.disabled = value is False
    draft.translate("enabled")


def _tags(draft: Draft, value: Any, _: Mapping[str, Any]) -> None:
    texts = value if isinstance(value, list) else str(value).split(",")
    draft.tags = [tag_of(str(one)) for one in texts if str(one).strip()]


def _note(draft: Draft, value: Any, _: Mapping[str, Any]) -> None:
    draft.comments.append(show_value(value))
    draft.note("state", "note", "it is kept as a comment")


def _wait(draft: Draft, value: Any, _: Mapping[str, Any]) -> None:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, int | float):
            draft.step(f"wait {duration(round(one * SECOND))}", "wait_for")
            continue
        given = one if isinstance(one, dict) else {"selector": one}
        gone = "it is waited for, not until it is gone" if given.get("state") in {"hidden", "detached"} else ""
        text = str(given["selector"]).removeprefix("css=")
        if text.startswith("text="):
            draft.step(f"wait for text {write_text(text.removeprefix('text=').strip(QUOTES))}", "wait_for", gone)
            continue
        kind = "xpath" if text.startswith(("/", "(", "xpath=")) else "css"
        draft.step(f"wait for {kind} {write_text(text.removeprefix('xpath='))}", "wait_for", gone)


QUOTES: Final = "\"'"


def _sign_in(draft: Draft, value: Any, _: Mapping[str, Any]) -> None:
    parts = split_url(str(value))
    if isinstance(value, dict):
        draft.sign_in(str(value["username"]), str(value["password"]), "http_credentials")
    elif parts.netloc:
        draft.sign_in(unquote(parts.username or ""), unquote(parts.password or ""), "http_credentials")
    else:
        user, password = str(value).partition(":")[::2]
        draft.sign_in(user, password, "http_credentials")


def _differ(draft: Draft, value: Any, _: Mapping[str, Any]) -> None:
    given = _map(value)
    name = value if isinstance(value, str) else str(given.get("name") or next(iter(given), ""))
    if name in {"unified", "table", "wdiff"}:
        draft.translate("differ")
    elif name == "deepdiff":
        draft.translate("differ", "data are compared by their places: `Monitor any change`")
    else:
        draft.refuse("differ", f"{name}: changes are compared and shown by Tidings alone")


FIELDS: Final[dict[str, Rule | Note]] = {
    "tags": _tags,
    "enabled": _disable,
    "diff_filter": _diffs,
    "diff_filters": _diffs,
    "diff_tool": Note("refused", "", "changes are compared and shown by Tidings alone"),
    "treat_new_as_changed": Note("refused", "", "the first version is the baseline, and never reported"),
    "compared_versions": Note("approximated", "", "a page that alternates is learned as noise"),
    "max_tries": Note("approximated", "", "an error counts after three checks and an hour"),
    "method": lambda draft, value, _: draft.method(value, "method"),
    "data": _data,
    "post": _data,
    "data_as_json": STATE_ONLY,
    "headers": _headers,
    "cookies": _cookies,
    "http_proxy": _proxy,
    "https_proxy": _proxy,
    "proxy": _proxy,
    "timeout": _timeout,
    "ssl_no_verify": Note("refused", "", 'certificates are always verified; `Trust "file.pem"` adds one'),
    "ignore_cached": STATE_ONLY,
    "ignore_connection_errors": ERRORS,
    "ignore_timeout_errors": ERRORS,
    "ignore_too_many_redirects": ERRORS,
    "ignore_incomplete_reads": ERRORS,
    "ignore_http_error_codes": ERRORS,
    "suppress_errors": ERRORS,
    "suppress_repeated_errors": ERRORS,
    "suppress_error_ended": ERRORS,
    "encoding": Note("refused", "", "the encoding comes from the page and its letters"),
    "wait_until": Note("approximated", "", "the browser waits until the page is at rest"),
    "wait_for": _wait,
    "wait_for_selector": _wait,
    "wait_for_function": BROWSER,
    "wait_for_timeout": _wait,
    "wait_for_url": BROWSER,
    "wait_for_navigation": BROWSER,
    "initialization_url": BROWSER,
    "initialization_js": BROWSER,
    "init_script": BROWSER,
    "evaluate": BROWSER,
    "block_elements": BROWSER,
    "switches": BROWSER,
    "user_data_dir": BROWSER,
    "http_credentials": _sign_in,
    "ignore_default_args": BROWSER,
    "ignore_https_errors": Note("refused", "", 'certificates are always verified; `Trust "file.pem"` adds one'),
    "referer": lambda draft, value, _: draft.header("Referer", str(value), "referer"),
    "chromium_revision": STATE_ONLY,
    "useragent": _agent,
    "user_agent": _agent,
    "browser": STATE_ONLY,
    "stderr": Note("refused", "", "commands are not imported"),
    "additions_only": _additions,
    "deletions_only": _deletions,
    "differ": _differ,
    "params": _params,
    "no_redirects": Note("refused", "", "redirects are followed, and what they lead to is compared"),
    "http_client": POLITE,
    "http_version": POLITE,
    "impersonate": POLITE,
    "fingerprints": POLITE,
    "retries": POLITE,
    "same_site_delay": POLITE,
    "stealth": POLITE,
    "connect_over_cdp": BROWSER,
    "ignore_dh_key_too_small": POLITE,
    "no_conditional_request": STATE_ONLY,
    "monospace": STATE_ONLY,
    "is_markdown": STATE_ONLY,
    "markdown_padded_tables": STATE_ONLY,
    "contextlines": STATE_ONLY,
    "tz": STATE_ONLY,
    "empty_as_transient": STATE_ONLY,
    "note": _note,
    "user_visible_url": STATE_ONLY,
    "name": STATE_ONLY,
    "index_number": STATE_ONLY,
}
READ: Final = frozenset({"url", "navigate", "command", "kind", "filter", "filters", "use_browser"})


def is_ours(files: Files) -> bool:
    """Return whether a list of jobs is among these files."""
    return any(_jobs_in(files, name) for name in _lists(files))


def peer(files: Files) -> str:
    """Return which of the two programs wrote the files."""
    text = "".join(files.text(name) for name in _lists(files))
    is_later = "use_browser" in text or "additions_only" in text or "differ:" in text or "filters:" in text
    names = {name.rpartition("/")[2] for name in files.names}
    return "webchanges" if is_later or names & {"jobs.yaml", "snapshots.db", "jobs.yml"} else "urlwatch"


def read(files: Files) -> Iterator[Draft]:
    """Yield a draft for each job."""
    settings = next((files.yaml(name) for name in files.names if name.rpartition("/")[2] in SETTINGS), [])
    given = settings[0] if settings and isinstance(settings[0], dict) else {}
    receivers = _reporters(given.get("report"))
    history = _history(files)
    name = peer(files)
    for file in _lists(files):
        for job in _jobs_in(files, file):
            yield _draft(_with_defaults(job, given.get("job_defaults"), name), name, receivers, history)


def _lists(files: Files) -> list[str]:
    found = [
        name for name in files.names if name.endswith((".yaml", ".yml")) and name.rpartition("/")[2] not in SETTINGS
    ]
    return [name for name in found if name.rpartition("/")[2] in JOBS] or (found if files.is_single else [])


def _jobs_in(files: Files, name: str) -> list[dict[str, Any]]:
    keys = {"url", "navigate", "command"}
    return [one for one in files.yaml(name) if isinstance(one, dict) and one.keys() & keys]


def _with_defaults(job: dict[str, Any], defaults: Any, peer_name: str) -> dict[str, Any]:
    """Return a job with what it leaves to the defaults of its kind and of all; webchanges also
    completes maps.
    """
    given = _map(defaults)
    kind = "shell" if "command" in job else "browser" if "navigate" in job or job.get("use_browser") else "url"
    found: dict[str, Any] = {}
    for own in (given.get("all"), given.get(kind), job):
        for key, value in _map(own).items():
            before = found.get(key)
            if peer_name == "webchanges" and isinstance(before, dict) and isinstance(value, dict):
                found[key] = _merge(before, value)
            elif value is not None or before is None:
                found[key] = value
    return found


def _merge(before: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return a map of all jobs with that of one; names are the same in any case."""
    names = {str(name).lower() for name in own}
    return {**{name: value for name, value in before.items() if str(name).lower() not in names}, **own}


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _draft(
    job: dict[str, Any], peer_name: str, receivers: list[Note | str], history: Mapping[str, list[Instant]]
) -> Draft:
    url = str(job.get("url") or job.get("navigate") or "")
    location = str(job.get("user_visible_url") or url or job.get("command") or "")
    key = hashlib.sha1(location.encode(errors="surrogatepass")).hexdigest()  # noqa: S324 - by which that program knows the job
    draft = Draft(str(job.get("name") or ""), url, peer_name, key=key)
    if "command" in job:
        command = show_value(job["command"])
        draft.fault = f"it runs a command ({command}); `Using command` watches one, where the operator allows it"
    elif job.get("kind") not in (None, "url", "browser"):
        draft.fault = f"it is of a kind of your own ({show_value(job['kind'])}, hooks.py), which is not run"
    if draft.fault:
        return draft
    if "navigate" in job or job.get("use_browser"):
        draft.renders = "browser"
        draft.translate("navigate" if "navigate" in job else "use_browser")
    draft.url = plain_address(draft, url)
    given = job.get("filters", job.get("filter"))
    draft.read("filter", given, partial(filters.apply, draft, given))
    for field, value in job.items():
        rule = FIELDS.get(field)
        if field in READ or value in (None, "", [], {}) or (value is False and field != "enabled"):
            continue
        if isinstance(rule, Note):
            draft.note(rule.grade, field, rule.text)
        elif rule is not None:
            draft.read(field, value, partial(rule, draft, value, job))
        else:
            draft.refuse(field, f"this key is unknown: {show_value(value)}")
    for receiver in receivers:
        if isinstance(receiver, Note):
            draft.notes.append(receiver)
        else:
            draft.add(receiver, "report")
    times = history.get(key, [])
    draft.changed_at = times[1:]
    if times:
        draft.note("state", "history", f"{len(times) - 1} changes are learned from; their texts stay where they are")
    return draft


def _reporters(report: Any) -> list[Note | str]:
    """Return clauses for the enabled reporters."""
    found: list[Note | str] = []
    for name, options in report.items() if isinstance(report, dict) else []:
        if not isinstance(options, dict) or not options.get("enabled"):
            continue
        addresses = _addresses(str(name), options)
        if addresses is None:
            found.append(Note("refused", f"report: {name}", "there is no such receiver; see `Notify by`"))
        else:
            found += [f"Notify by {one}" for one in addresses]
    return found


def _addresses(name: str, o: Mapping[str, Any]) -> list[str] | None:
    """Return the receivers in the language, none for one without output, None for an unsupported
    one.
    """
    url = str(o.get("webhook_url") or "")
    end = split_url(url).path.strip("/").split("/")
    chats, topic = o.get("chat_id"), split_url(str(o.get("topic_url") or ""))
    mailboxes = [one for _, one in getaddresses([str(o.get("to") or "")])]
    sender = str(o.get("from_mail") or "").partition("@")[0]
    region = "?region=eu" if o.get("region") == "eu" else ""
    device = f"/{o['device']}" if o.get("device") else ""
    forms: dict[str, Callable[[], str | list[str]]] = {
        "stdout": lambda: "console",
        "html": list,
        "text": list,
        "markdown": list,
        "email": lambda: [f"email {one}" for one in mailboxes],
        "telegram": lambda: [
            f"tgram://{o['bot_token']}/{one}" for one in (chats if isinstance(chats, list) else [o["chat_id"]])
        ],
        "pushover": lambda: f"pover://{o['user']}@{o['app']}{device}",
        "pushbullet": lambda: f"pbul://{o['api_key']}",
        "slack": lambda: "slack://" + "/".join(end[-3:]),
        "discord": lambda: "discord://" + "/".join(end[-2:]),
        "mattermost": lambda: f"mmosts://{split_url(url).netloc}/{end[-1]}",
        "webhook": lambda: ("discord://" + "/".join(end[-2:])) if "discord" in url else "slack://" + "/".join(end[-3:]),
        "gotify": lambda: f"gotifys://{split_url(str(o['server_url'])).netloc}/{o['token']}",
        "ntfy": lambda: f"ntfys://{topic.netloc}{topic.path}",
        "prowl": lambda: f"prowl://{o['api_key']}",
        "ifttt": lambda: f"ifttt://{o['key']}@{o['event']}",
        "mailgun": lambda: [f"mailgun://{sender}@{o['domain']}/{o['api_key']}/{one}{region}" for one in mailboxes],
        "matrix": lambda: f"matrixs://{o['access_token']}@{split_url(str(o['homeserver'])).netloc}/{o['room_id']}",
    }
    try:
        found = forms[name]() if name in forms else None
    except (KeyError, IndexError):
        return None
    return [found] if isinstance(found, str) else found


def _history(files: Files) -> dict[str, list[Instant]]:
    """Return when the text of each job changed, by its key, oldest first; the first entry is the
    first poll.
    """
    name = next((one for one in files.names if one.rpartition("/")[2] in DATABASES), None)
    if name is None:
        return {}
    with files.database(name) as raw:
        tables = {row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "CacheEntry" in tables:
            text = (
                "SELECT guid, timestamp, data FROM CacheEntry WHERE (tries = 0 OR tries IS NULL)"
                " AND timestamp IS NOT NULL ORDER BY guid, timestamp"
            )
            return _times(raw, text, lambda data: data)
        if "webchanges" in tables:
            return _times(
                raw, "SELECT uuid, timestamp, msgpack_data FROM webchanges ORDER BY uuid, timestamp", _good_text
            )
    raise files.refusal(f"{name} has no table of urlwatch or webchanges")


def _times(raw: sqlite3.Connection, text: str, content: Callable[[Any], Any]) -> dict[str, list[Instant]]:
    found: dict[str, list[Instant]] = {}
    last: tuple[Any, Any] = (None, None)
    for key, stamp, data in raw.execute(text):
        given = content(data)
        if given is None or (key, given) == last or not isinstance(stamp, int | float):
            continue
        last = (key, given)
        found.setdefault(str(key), []).append(round(min(stamp, 253_402_300_799) * SECOND))
    return found


def _good_text(blob: Any) -> Any:
    """Return what distinguishes a text of webchanges from others, None for a failed poll.

    Of the map (MessagePack) only the failure count is read: `t`, a small number after its name.
    """
    content = bytes(blob) if isinstance(blob, bytes | memoryview) else str(blob).encode()
    place = content.find(b"\xa1t")
    if place >= 0 and content[place + 2 : place + 3] not in (b"\x00", b""):
        return None
    start = content.find(b"\xa1d")
    return hashlib.sha256(content[start:place] if 0 <= start < place else content).digest()
