"""kibitzr: `kibitzr.yml` (checks, formerly pages), with the times of old texts if git has them
separately.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.service.imports.draft import Draft, Note, plain_address, show_value
from tidings.service.imports.reading import Files
from tidings.service.imports.selectors import ONLY_PATHS, jsonpath_of_jq, limit, select_in, xpath_of_css

PEER: Final = "kibitzr"
NAMES: Final = ("kibitzr.yml", "kibitzr.yaml")
UNITS: Final = {"second": SECOND, "minute": MINUTE, "hour": HOUR, "day": DAY, "week": 7 * DAY}
Rule = Callable[[Draft, Any], None]
Selector = tuple[str, str]
"""A kind and a text."""


def is_ours(files: Files) -> bool:
    """Return whether a file lists checks of kibitzr."""
    return any(_checks(files.yaml(name)) for name in _lists(files))


def read(files: Files) -> Iterator[Draft]:
    """Yield a draft for each check; a batch is one for each of its items."""
    for name in _lists(files):
        documents = files.yaml(name)
        notifiers = _map(_map(documents[0] if documents else {}).get("notifiers"))
        for check in _checks(documents):
            for one in _expand(check):
                yield _draft(one, notifiers)


def _lists(files: Files) -> list[str]:
    found = [name for name in files.names if name.endswith((".yml", ".yaml"))]
    return [name for name in found if name.rpartition("/")[2] in NAMES] or (found if files.is_single else [])


def _checks(documents: list[Any]) -> list[dict[str, Any]]:
    given = _map(documents[0] if documents else {})
    found = given.get("checks") or given.get("pages") or []
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _expand(check: dict[str, Any]) -> list[dict[str, Any]]:
    items = check.get("items")
    if not isinstance(items, list) or "url-pattern" not in check:
        return [check]
    rest = {key: value for key, value in check.items() if key not in {"items", "url-pattern", "batch"}}
    titles = str(check.get("batch") or check.get("name") or "{}")
    return [
        {**rest, "name": titles.replace("{}", str(item)), "url": str(check["url-pattern"]).replace("{}", str(item))}
        for item in items
    ]


def _draft(check: Mapping[str, Any], notifiers: Mapping[str, Any]) -> Draft:
    draft = Draft(str(check.get("name") or ""), str(check.get("url") or ""), PEER, key=str(check.get("name") or ""))
    if "script" in check or not draft.url:
        draft.fault = "it runs a script; `Using command` watches a program, where the operator allows it"
        return draft
    draft.url = plain_address(draft, draft.url)
    for field, value in check.items():
        rule = FIELDS.get(field)
        if field in {"name", "url", "notify"} or value in (None, "", [], {}):
            continue
        if isinstance(rule, Note):
            draft.note(rule.grade, field, rule.text)
        elif rule is not None:
            draft.read(field, value, partial(rule, draft, value))
        else:
            draft.refuse(field, f"this key is unknown: {show_value(value)}")
    if not draft.parts:
        draft.monitor("all words", "transform")
    if draft.every is None and not any(clause.text.startswith("Fetch") for clause in draft.clauses):
        draft.every = 5 * MINUTE
    receivers = check.get("notify") or []
    for one in receivers if isinstance(receivers, list) else [receivers]:
        draft.read("notify", one, partial(_notify, draft, one, notifiers))
    return draft


def _transform(draft: Draft, value: Any) -> None:
    """Read the steps in order: each selects in what those before it left."""
    chosen: list[Selector] = []
    has_text = False
    for step in value if isinstance(value, list) else [value]:
        name, given = (step, None) if isinstance(step, str) else next(iter(step.items()), ("", None))
        field, rule = f"transform: {name}", TRANSFORMS.get(str(name))
        if name in SELECTING:
            inner = SELECTING[name](draft, str(given), field)
            both = [select_in(one, other) for one in chosen for other in inner] if chosen else [*inner]
            found = [one for one in both if one is not None]
            if has_text or len(found) < len(both):
                draft.refuse(field, f"{show_value(given)}: {IN_ANOTHER}")
            elif found:
                chosen = found
        elif isinstance(rule, Note):
            draft.note(rule.grade, field, rule.text)
            has_text = has_text or name == "text"
        elif rule is not None:
            rule(draft, given)
        else:
            draft.refuse(field, "programs and templates of your own are not run")
    for kind, text in chosen:
        draft.select(kind, text, "transform")


def _first(draft: Draft, text: str, field: str) -> list[Selector]:
    """Return what finds the first element."""
    path = text if field.endswith("xpath") else xpath_of_css(text)
    if path is not None:
        return [("xpath", limit(path, 0, 1))]
    draft.note("approximated", field, "all that the selector finds, not the first alone")
    return [("css", text)]


def _query(draft: Draft, text: str, field: str) -> list[Selector]:
    found = jsonpath_of_jq(text)
    if found is None:
        draft.refuse(field, f"{show_value(text)}: {ONLY_PATHS}")
        return []
    if found[1]:
        draft.note("approximated", field, found[1])
    return [("jsonpath", path) for path in found[0]]


IN_ANOTHER: Final = "it selects in what another step left; write one selector for both"
SELECTING: Final[dict[str, Callable[[Draft, str, str], list[Selector]]]] = {
    "css": _first,
    "tag": _first,
    "xpath": _first,
    "css-all": lambda _, text, __: [("css", text)],
    "xpath-all": lambda _, text, __: [("xpath", text)],
    "jq": _query,
}


def _changes(draft: Draft, given: Any) -> None:
    if given == "new":
        draft.where("inserted", "transform: changes")
    else:
        draft.translate("transform: changes")


TRANSFORMS: Final[dict[str, Rule | Note]] = {
    "text": Note("translated", "", "words are compared"),
    "json": Note("translated", "", "data are compared by their places"),
    "changes": _changes,
    "cut": Note("state", ""),
}


def _period(draft: Draft, value: Any) -> None:
    if isinstance(value, int | float):
        draft.check_every(value * SECOND, "period")
        return
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)?\s*([a-z]+?)s?\s*", str(value).lower(), re.ASCII)
    if found is None or found[2] not in UNITS:
        draft.refuse("period", f"{show_value(value)} is not a time that Tidings can read")
    else:
        draft.check_every(float(found[1] or 1) * UNITS[found[2]], "period")


def _schedule(draft: Draft, value: Any) -> None:
    times: dict[str, list[str]] = {}
    for one in value if isinstance(value, list) else [value]:
        given = _map(one)
        unit, every = str(given.get("unit") or "").rstrip("s"), int(given.get("every", 1))
        at = given.get("at")
        if unit in DAYS or (at and unit == "day"):
            times.setdefault(str(at or "00:00"), []).append("daily" if unit == "day" else unit[:3])
            if every > 1:
                draft.note("approximated", "schedule", f"each {every} days became each day")
        elif unit in UNITS:
            draft.check_every(every * UNITS[unit], "schedule")
        else:
            draft.refuse("schedule", f"{show_value(one)} is not a time that Tidings can read")
    by_days: dict[str, list[str]] = {}
    for at, days in times.items():
        by_days.setdefault(", ".join(dict.fromkeys(days)), []).append(at)
    for names, hours in by_days.items():
        draft.add(f"Fetch at {', '.join(hours)} {names}", "schedule")


DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def _headers(draft: Draft, value: Any) -> None:
    for name, text in _map(value).items():
        draft.header(str(name), str(text), "headers")


FIELDS: Final[dict[str, Rule | Note]] = {
    "transform": _transform,
    "period": _period,
    "schedule": _schedule,
    "headers": _headers,
    "delay": Note("approximated", "", "the browser waits until the page is at rest"),
    "scenario": Note(
        "refused", "", "no program of your own controls the browser; `Render browser steps (…)` has steps"
    ),
    "form": Note("refused", "", "steps fill forms: `Render browser steps (fill css … with …)`"),
    "verify-cert": Note("refused", "", 'certificates are always verified; `Trust "file.pem"` adds one'),
    "error": Note("approximated", "", "lasting errors are reported once, and their end"),
    "cache": Note("state", ""),
}


def _notify(draft: Draft, one: Any, notifiers: Mapping[str, Any]) -> None:
    name, own = (one, None) if isinstance(one, str) else next(iter(_map(one).items()), ("", None))
    given = _map(own) or _map(notifiers.get(str(name)))
    token, chat = given.get("token"), given.get("chat")
    url = given.get("url")
    if name == "telegram" and token and chat:
        for room in chat if isinstance(chat, list) else [chat]:
            draft.add(f"Notify by tgram://{token}/{room}", "notify: telegram")
    elif name == "slack" and url:
        draft.add("Notify by slack://" + "/".join(str(url).rstrip("/").split("/")[-3:]), "notify: slack")
    elif name == "gotify" and url and token:
        draft.add(f"Notify by gotifys://{str(url).partition('://')[2].strip('/')}/{token}", "notify: gotify")
    elif name in {"smtp", "mailgun"} and (given.get("recipients") or given.get("to")):
        draft.notify_by_mail(given.get("recipients") or given.get("to"), f"notify: {name}")
    else:
        draft.refuse(f"notify: {name}", "its address or token is not in the file; write `Notify by …`")


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
