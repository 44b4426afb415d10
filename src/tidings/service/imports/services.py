"""Programs that export one JSON file: Distill, Visualping, Update Scanner and Huginn.

Readers follow the published formats; what was not seen in a real file is marked.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.record import dataclass
from tidings.service.imports.draft import Draft, DraftClause, literal, plain_address, show_value, tag_of, write_text
from tidings.service.imports.reading import Files

UPDATE_SCANNER: Final = "https://github.com/sneakypete81/updatescanner/@JSON_BACKUP_ID"
HUGINN_EVERY: Final = {
    **{f"every_{n}m": n * MINUTE for n in (1, 2, 5, 10, 30)},
    **{f"every_{n}h": n * HOUR for n in (1, 2, 5, 12)},
    **{f"every_{n}d": n * DAY for n in (1, 2, 7)},
}


def _one(files: Files) -> Any:
    if not files.is_single or not files.names[0].lower().endswith(".json"):
        return None
    return files.json(files.names[0])


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _inner(value: Any) -> Mapping[str, Any]:
    """Return a map given as JSON in a text."""
    if isinstance(value, str):
        try:
            return _map(json.loads(value))
        except (ValueError, RecursionError):
            return {}
    return _map(value)


def is_distill(files: Files) -> bool:
    """Return whether it is an export of Distill Web Monitor."""
    record = _map(_one(files))
    return bool(record.get("client")) and isinstance(record.get("data"), list)


def read_distill(files: Files) -> Iterator[Draft]:
    """Yield a draft for each monitor."""
    for one in map(_map, _list(_map(_one(files)).get("data"))):
        draft = Draft(str(one.get("name") or ""), str(one.get("uri") or ""), "Distill", key=str(one.get("id") or ""))
        draft.url = plain_address(draft, draft.url)
        draft.tags = [tag_of(str(tag)) for tag in _list(one.get("tags"))]
        if one.get("state") not in (None, 40):
            draft.disabled = True
            draft.translate("state", f"{one['state']} is not the state of a monitor that is on, so it is paused")
        schedule = _inner(one.get("schedule"))
        draft.read("schedule", schedule, partial(_schedule, draft, schedule))
        config = _inner(one.get("config"))
        for selection in map(_map, _list(config.get("selections"))):
            draft.read("selections", selection, partial(_selection, draft, selection))
        for key in config.keys() - {"selections", "ignoreEmptyText", "includeStyle", "dataAttr"}:
            draft.refuse(f"config.{key}", f"{show_value(config[key])} is not in any published example")
        draft.monitor("all words", "config")
        draft.note("refused", "actions", "whom to notify is not in the file; write `Notify by …`")
        yield draft


def _selection(draft: Draft, selection: Mapping[str, Any]) -> None:
    if selection.get("dynamic"):
        draft.renders = "browser"
        draft.translate("dynamic")
    if selection.get("delay"):
        draft.step(f"wait {round(float(selection['delay']))} s", "delay")
    for frame in map(_map, _list(selection.get("frames"))):
        if frame.get("index"):
            draft.add("Frames 2", "frames", "the page is watched with its frames, not one of them alone")
        for place in map(_map, _list(frame.get("includes"))):
            draft.select(str(place.get("type") or "css"), str(place.get("expr") or ""), "includes")
        for place in map(_map, _list(frame.get("excludes"))):
            draft.add(f"Exclude {place.get('type') or 'css'} {write_text(str(place.get('expr') or ''))}", "excludes")


def _schedule(draft: Draft, schedule: Mapping[str, Any]) -> None:
    params = _map(schedule.get("params"))
    if schedule.get("type") == "INTERVAL" and isinstance(params.get("interval"), int | float):
        draft.check_every(params["interval"] * SECOND, "schedule")
    elif schedule:
        draft.refuse(
            "schedule", f"{show_value(schedule.get('type'))} is not in any published example; Tidings learns how often"
        )


def is_visualping(files: Files) -> bool:
    """Return whether it is a list of jobs from Visualping's API."""
    return bool(_visualping_jobs(files))


def _visualping_jobs(files: Files) -> list[Mapping[str, Any]]:
    record = _one(files)
    jobs = record if isinstance(record, list) else _list(_map(record).get("jobs"))
    return [one for one in map(_map, jobs) if "url" in one and {"mode", "interval"} <= one.keys()]


def read_visualping(files: Files) -> Iterator[Draft]:
    """Yield a draft for each job."""
    for job in _visualping_jobs(files):
        draft = Draft(str(job.get("description") or ""), str(job["url"]), "Visualping", key=str(job.get("id") or ""))
        draft.url = plain_address(draft, draft.url)
        draft.disabled = job.get("active") is False
        draft.read("interval", job["interval"], partial(_minutes, draft, job["interval"]))
        if text := str(job.get("xpath") or ""):
            draft.select("xpath" if text.startswith(("/", "(")) else "css", text, "xpath")
        if job.get("disable_js") is False:
            draft.renders = "browser"
            draft.translate("disable_js")
        _visual(draft, job)
        draft.monitor("all words", "mode", "" if job.get("mode") == "TEXT" else "words are compared, not pictures")
        draft.changed_at = [at for one in map(_map, _list(job.get("changes"))) if (at := _instant(one.get("created")))]
        yield draft


def _minutes(draft: Draft, value: Any) -> None:
    draft.check_every(float(value) * MINUTE, "interval")


def _visual(draft: Draft, job: Mapping[str, Any]) -> None:
    words = [str(word) for word in _list(job.get("keywords"))] or str(job.get("keywords") or "").split(",")
    if any(word.strip() for word in words):
        pattern = "(?i)" + "|".join(literal(word.strip()) for word in words if word.strip())
        draft.where(f"where matches {write_text(pattern)}", "keywords", "what came must have one of them")
    hours = _map(job.get("advanced_schedule"))
    draft.read("advanced_schedule", hours, partial(_hours, draft, hours))
    for name, given in _map(_map(job.get("notification")).get("config")).items():
        if _map(given).get("active") and _map(given).get("url"):
            if name == "webhook":
                draft.add(
                    f"Notify by webhook {given['url']}", f"notification: {name}", "a signed webhook of our own form"
                )
            else:
                draft.refuse(f"notification: {name}", "write its Apprise address: `Notify by …`")
    if job.get("crop"):
        draft.refuse("crop", "no part of a picture is compared")
    before = _map(job.get("preactions"))
    for action in map(_map, _list(before.get("actions")) if before.get("active") else []):
        place = str(action.get("selector") or "")
        spot = f"{'xpath' if place.startswith(('/', '(')) else 'css'} {write_text(place)}"
        if action.get("action") == "click":
            draft.step(f"click {spot}", "preactions")
        elif action.get("action") == "type":
            draft.step(f"fill {spot} with {write_text(str(action.get('value') or ''))}", "preactions")
        else:
            draft.refuse("preactions", f"{show_value(action.get('action'))} is not supported as a step")
    if definition := _map(job.get("summalyzer")).get("importantDefinition"):
        draft.comments.append(f"what is important: {show_value(definition)}")
        draft.refuse("summalyzer", "there is no language model; it is kept as a comment")


DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def _hours(draft: Draft, hours: Mapping[str, Any]) -> None:
    if hours.get("active_days"):
        days = ", ".join(DAYS[int(day) - 1] for day in _list(hours["active_days"]) if str(day) in {*"1234567"})
        span = f"{int(hours.get('start_time') or 0):02}:00 to {int(hours.get('stop_time') or 24):02}:00"
        draft.add(f"During {days} {span}", "advanced_schedule")


def _instant(text: Any) -> int:
    try:
        return round(datetime.fromisoformat(str(text)).timestamp() * SECOND)
    except (ValueError, OverflowError):
        return 0


def is_update_scanner(files: Files) -> bool:
    """Return whether it is a backup of Update Scanner."""
    return _map(_one(files)).get("id") == UPDATE_SCANNER


def read_update_scanner(files: Files) -> Iterator[Draft]:
    """Yield a draft for each page of the tree; folders become tags."""
    stack: list[tuple[tuple[str, ...], Mapping[str, Any]]] = [((), _map(_map(_one(files)).get("data")))]
    while stack:
        folders, node = stack.pop()
        if node.get("type") == "PageFolder":
            title = str(node.get("title") or "")
            inside = folders if title.lower() in {"", "root"} else (*folders, title)
            stack += [(inside, _map(one)) for one in reversed(_list(node.get("children")))]
        elif node.get("url"):
            yield _page(folders, node)


def _rate(draft: Draft, rate: Any) -> None:
    if rate == 0:
        draft.add("Fetch on demand", "scanRateMinutes")
    elif rate is not None:
        draft.check_every(float(rate) * MINUTE, "scanRateMinutes")


def _page(folders: tuple[str, ...], node: Mapping[str, Any]) -> Draft:
    draft = Draft(str(node.get("title") or ""), str(node["url"]), "Update Scanner")
    draft.url = plain_address(draft, draft.url)
    draft.tags = [tag_of(one) for one in folders if one.strip()]
    rate = node.get("scanRateMinutes", node.get("scanRate"))
    draft.read("scanRateMinutes", rate, partial(_rate, draft, rate))
    if node.get("ignoreNumbers"):
        draft.add('Exclude regex "\\d+"', "ignoreNumbers")
    if node.get("changeThreshold"):
        draft.note("approximated", "changeThreshold", "every change counts; for more words use `where changed > …`")
    if node.get("selectors"):
        draft.select("css", str(node["selectors"]), "selectors")
    if node.get("doPost"):
        draft.add('Method "POST"', "doPost")
        draft.body(str(node.get("postParams") or ""), "postParams")
    draft.monitor("all words", "url")
    return draft


def is_huginn(files: Files) -> bool:
    """Return whether it is a scenario of Huginn."""
    record = _map(_one(files))
    return isinstance(record.get("agents"), list) and "links" in record


def read_huginn(files: Files) -> Iterator[Draft]:
    """Yield a draft for each agent that watches pages, with the receivers of its chain; each other
    agent is refused.
    """
    record = _map(_one(files))
    agents = [_map(one) for one in _list(record.get("agents"))]
    links = [(_map(one).get("source"), _map(one).get("receiver")) for one in _list(record.get("links"))]
    scenario = _Scenario(str(record.get("name") or ""), agents, links)
    used: set[int] = set()
    drafts = []
    for number, agent in enumerate(agents):
        if (kind := scenario.kind(number)) in {"WebsiteAgent", "RssAgent", "HttpStatusAgent"}:
            used.add(number)
            drafts += _huginn(agent, kind, number, scenario, used)
    yield from drafts
    for number, agent in enumerate(agents):
        if number not in used:
            draft = Draft(str(agent.get("name") or ""), "", "Huginn")
            draft.fault = f"{scenario.kind(number)} has no equivalent"
            yield draft


@dataclass(frozen=True, slots=True)
class _Branch:
    """A way from an agent that watches to receivers: the agents between them, in order, and the
    receivers.
    """

    between: tuple[int, ...]
    receivers: tuple[int, ...]


def _huginn(agent: Mapping[str, Any], kind: str, number: int, scenario: _Scenario, used: set[int]) -> list[Draft]:
    options = _map(agent.get("options"))
    urls = options.get("url") if isinstance(options.get("url"), list) else [options.get("url")]
    branches = scenario.branches(number, used)
    found = []
    for url, branch in itertools.product(urls or [""], branches):
        triggers = [scenario.agents[at] for at in branch.between if scenario.kind(at) == "TriggerAgent"]
        names = [str(agent.get("name") or ""), *(str(one.get("name") or "") for one in triggers)]
        draft = Draft(
            " ".join(names) if len(branches) > 1 else names[0],
            str(url or ""),
            "Huginn",
            key=str(agent.get("guid") or ""),
        )
        if options.get("url_from_event") or options.get("data_from_event"):
            draft.fault = "it follows addresses from other agents"
        draft.disabled = bool(agent.get("disabled"))
        draft.tags = [tag_of(scenario.name)] if scenario.name else []
        _huginn_times(draft, str(agent.get("schedule") or ""))
        _huginn_parts(draft, kind, options)
        if isinstance(options.get("headers"), dict):
            for name, value in options["headers"].items():
                draft.header(str(name), str(value), "headers")
        for at in branch.between:
            if scenario.kind(at) == "TriggerAgent":
                rules = _map(scenario.agents[at].get("options"))
                draft.read("TriggerAgent", rules, partial(_trigger, draft, rules, _places(options)))
            else:
                draft.translate(scenario.kind(at))
        for at in branch.receivers:
            _huginn_receiver(draft, scenario.kind(at), _map(scenario.agents[at].get("options")))
        found.append(draft)
    return found


@dataclass(frozen=True, slots=True)
class _Scenario:
    """The agents of a scenario, and which receives what another sends."""

    name: str
    agents: Sequence[Mapping[str, Any]]
    links: Sequence[tuple[Any, Any]]

    def kind(self, number: int) -> str:
        """Return the type of an agent."""
        return str(self.agents[number].get("type") or "").removeprefix("Agents::")

    def after(self, number: int) -> list[int]:
        """Return the agents that receive what another sends."""
        found = [to for source, to in self.links if source == number and isinstance(to, int)]
        return [to for to in dict.fromkeys(found) if 0 <= to < len(self.agents)]

    def all_after(self, number: int) -> set[int]:
        """Return the agents that an agent reaches."""
        found: set[int] = set()
        stack = [number]
        while stack:
            new = [to for to in self.after(stack.pop()) if to not in found]
            found.update(new)
            stack += new
        return found

    def branches(self, number: int, used: set[int]) -> list[_Branch]:
        """Return the ways from an agent to receivers, those with the same agents between as one. A
        disabled agent passes nothing on.
        """
        found: dict[tuple[int, ...], list[int]] = {}
        stack: list[tuple[int, tuple[int, ...]]] = [(number, ())]
        while stack and len(found) < MOST_BRANCHES:
            at, way = stack.pop()
            onward: list[tuple[int, tuple[int, ...]]] = []
            receivers: list[int] = []
            for to in self.after(at):
                if self.kind(to) in PASSING and to not in way:
                    used.add(to)
                    if self.agents[to].get("disabled"):
                        used |= self.all_after(to)
                    else:
                        onward.append((to, (*way, to)))
                elif self.kind(to) in RECEIVING:
                    used.add(to)
                    if not self.agents[to].get("disabled"):
                        receivers.append(to)
            if receivers or not onward:
                found.setdefault(way, []).extend(receivers)
            stack += reversed(onward)
        ways = {way for way, receivers in found.items() if receivers}
        return [_Branch(way, tuple(found[way])) for way in found if way in ways or not ways]


PASSING: Final = frozenset({"ChangeDetectorAgent", "DeDuplicationAgent", "TriggerAgent"})
RECEIVING: Final = frozenset({"EmailAgent", "EmailDigestAgent", "PostAgent", "DataOutputAgent"})
MOST_BRANCHES: Final = 64


def _huginn_times(draft: Draft, schedule: str) -> None:
    if schedule in HUGINN_EVERY:
        draft.every = HUGINN_EVERY[schedule]
    elif schedule == "never":
        draft.add("Fetch on demand", "schedule")
    elif schedule in {"midnight", "noon"} or schedule[:-2].isdigit():
        hour = {"midnight": 0, "noon": 12}.get(schedule)
        if hour is None:
            hour = int(schedule[:-2]) + (12 if schedule.endswith("pm") else 0)
        draft.add(f"Fetch at {hour:02}:00 daily", "schedule")


def _huginn_parts(draft: Draft, kind: str, options: Mapping[str, Any]) -> None:
    if kind == "RssAgent":
        draft.monitor("items inserted", "type")
        return
    if kind == "HttpStatusAgent":
        draft.monitor("status", "type")
        return
    for name, one in _map(options.get("extract")).items():
        given = _map(one)
        what = {"@href": "links", "@src": "images"}.get(str(given.get("value")), "all words")
        if given.get("css") or given.get("xpath"):
            place = "css" if given.get("css") else "xpath"
            draft.monitor(f"{what} in {place} {write_text(str(given[place]))}", f"extract.{name}")
        elif given.get("path"):
            draft.monitor(f"any change in jsonpath {write_text(_path(str(given['path'])))}", f"extract.{name}")
        elif given.get("regexp"):
            draft.monitor(f"regex {write_text(str(given['regexp']))}", f"extract.{name}")
    pair = options.get("basic_auth")
    user, _, password = (":".join(map(str, pair)) if isinstance(pair, list) else str(pair or "")).partition(":")
    if user:
        draft.sign_in(user, password, "basic_auth")
    if options.get("user_agent"):
        draft.header("User-Agent", str(options["user_agent"]), "user_agent")
    for key in ("force_encoding", "disable_ssl_verification", "unzip", "template", "http_success_codes"):
        if options.get(key):
            draft.refuse(key, f"{key} has no equivalent")


def _path(text: str) -> str:
    return text if text.startswith("$") else f"$.{text}"


def _huginn_receiver(draft: Draft, kind: str, options: Mapping[str, Any]) -> None:
    if kind in {"EmailAgent", "EmailDigestAgent"} and options.get("recipients"):
        draft.notify_by_mail(options["recipients"], kind)
    elif kind == "PostAgent" and options.get("post_url"):
        draft.add(f"Notify by webhook {options['post_url']}", kind, "a signed webhook of our own form is sent")
    elif kind == "DataOutputAgent":
        draft.add("Notify by feed", kind)
    else:
        draft.refuse(kind, "its receiver is not in the file; write `Notify by …`")


def _places(options: Mapping[str, Any]) -> dict[str, str]:
    """Return where each extracted field is."""
    found = {}
    for name, given in _map(options.get("extract")).items():
        one = _map(given)
        if kind := next((kind for kind in ("css", "xpath") if one.get(kind)), ""):
            found[str(name)] = f"in {kind} {write_text(str(one[kind]))}"
        elif one.get("path"):
            found[str(name)] = f"in jsonpath {write_text(_path(str(one['path'])))}"
    return found


SIGNS: Final = {
    "field<value": "<",
    "field<=value": "<=",
    "field>value": ">",
    "field>=value": ">=",
    "field==value": "=",
    "field!=value": "!=",
}
FIRST_NUMBER: Final = "the first number of the part is read"


def _trigger(draft: Draft, options: Mapping[str, Any], places: Mapping[str, str]) -> None:
    """Narrow what is watched to the fields of the rules, each under its conditions."""
    found: dict[tuple[str, str], list[str]] = {}
    rules = [_map(rule) for rule in _list(options.get("rules"))]
    for rule in rules:
        kind, value = str(rule.get("type") or ""), rule.get("value")
        field = re.sub(r"^\$\.?\[?['\"]?|['\"]?\]$", "", str(rule.get("path") or ""))
        place = places.get(field) or (next(iter(places.values())) if len(places) == 1 and not field else "")
        test = _test(kind, value)
        if test is None:
            draft.refuse("TriggerAgent", f"{kind} {show_value(value)} is not supported")
        elif not place and test.startswith("matches"):
            draft.where(f"where {test}", "TriggerAgent", "what came must match")
        elif not place:
            draft.refuse("TriggerAgent", f"{kind} {show_value(value)}: no field {show_value(field)} is extracted")
        else:
            what = "all words" if test.startswith("matches") else "number"
            found.setdefault((what, place), []).append(test)
    must = str(options.get("must_match") or len(rules))
    is_any = must == "1" and len(rules) > 1
    if must not in {"1", str(len(rules))}:
        draft.refuse("TriggerAgent", f"{must} of {len(rules)} rules must match: write a sentinel for each case")
    for name in list(found)[1:] if not is_any else ():
        draft.refuse(
            "TriggerAgent", f"{' '.join(name)} where {' but '.join(found.pop(name))}: another field is compared"
        )
    parts = [
        (f"{what} {place} where {test}", FIRST_NUMBER if what == "number" else "what came must match")
        for (what, place), tests in found.items()
        for test in (tests if is_any else [" but ".join(tests)])
    ]
    if parts:
        draft.parts = [DraftClause(text, "TriggerAgent", difference) for text, difference in parts]


def _test(kind: str, value: Any) -> str | None:
    """Return a rule as a condition, None for one that has no equivalent."""
    if kind == "regex":
        texts = [str(one) for one in value] if isinstance(value, list) else [str(value)]
        return f"matches {write_text(texts[0] if len(texts) == 1 else '|'.join(f'(?:{one})' for one in texts))}"
    if kind in SIGNS and re.fullmatch(r"-?\d+(?:\.\d+)?", str(value).strip(), re.ASCII):
        return f"value {SIGNS[kind]} {str(value).strip()}"
    return None
