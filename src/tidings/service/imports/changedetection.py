"""changedetection.io: a backup (zip), its data directory, `url-watches.json`, or one `watch.json`.

`inherited.Watch` has what a watch inherits from its tags and the settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from tidings.clock import HOUR, SECOND
from tidings.model.interval import Instant
from tidings.service.imports.draft import (
    Draft,
    DraftClause,
    Note,
    literal,
    plain_address,
    show_value,
    tag_of,
    why_invalid,
    write_text,
)
from tidings.service.imports.filters import add_patterns
from tidings.service.imports.inherited import (
    LEAST_INTERVAL,
    Watch,
    list_of,
    map_of,
    matches_pattern,
    parse_headers,
    sum_times,
    texts_of,
)
from tidings.service.imports.reading import Files
from tidings.service.imports.selectors import select_by_jq, xpath_of_css

PEER: Final = "changedetection.io"
RESTOCKING: Final = "restock_diff.json"
"""Beside the watch: the settings of its processor."""
DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
BROWSERS: Final = ("html_webdriver", "extra_browser", "playwright", "puppeteer")

Rule = Callable[[Draft, Any, Watch], None]


def _selects(draft: Draft, _: Any, watch: Watch) -> None:
    for text in watch.merge("include_filters"):
        _select(draft, text.strip())


def _select(draft: Draft, text: str) -> None:
    name = "include_filters"
    if text.startswith(("xpath:", "/")):
        draft.select("xpath", text.removeprefix("xpath:"), name)
    elif text.startswith("xpath1:"):
        draft.select("xpath", text.removeprefix("xpath1:"), name)
    elif text.startswith("json:"):
        draft.select("jsonpath", text.removeprefix("json:"), name)
    elif text.startswith(("jq:", "jqraw:")):
        select_by_jq(draft, text.partition(":")[2], name)
    elif ":contains(" in text and (path := xpath_of_css(text.removeprefix("css:"))) is not None:
        draft.select("xpath", path, name)
    else:
        draft.select("css", text.removeprefix("css:"), name)


def _excludes(draft: Draft, _: Any, watch: Watch) -> None:
    name = "subtractive_selectors"
    for text in watch.merge(name, of_all="global_subtractive_selectors"):
        path = text.removeprefix("xpath:").removeprefix("xpath1:")
        is_css = not text.startswith(("xpath:", "xpath1:", "/"))
        if is_css and ":contains(" in text and (found := xpath_of_css(text)) is not None:
            is_css, path = False, found
        if not is_css:
            draft.add(f"Exclude xpath {write_text(path)}", name)
        else:
            draft.add(f"Exclude css {write_text(text)}", name)


def _pattern(text: str) -> tuple[str, str]:
    """Return a line of that program, a case-insensitive text or `/pattern/flags`, as a pattern, and
    how it differs.
    """
    found = re.fullmatch(r"/(.*)/([a-z]*)", text.strip(), re.DOTALL)
    if found is None:
        return f"(?i){literal(text.strip())}", ""
    flags = "".join(flag for flag in "ims" if flag in found[2])
    spans = "it is matched line by line here" if {"s", "m"} & set(found[2]) else ""
    return (f"(?{flags}){found[1]}" if flags else found[1]), spans


def _add_ignored(draft: Draft, _: Any, watch: Watch) -> None:
    for text in watch.merge("ignore_text", of_all="global_ignore_text"):
        pattern, difference = _pattern(text)
        draft.add(f"Transform drop lines regex {write_text(pattern)}", "ignore_text", difference)


def _keep_lines(draft: Draft, _: Any, watch: Watch) -> None:
    patterns = [f"(?:{literal(text.strip())})" for text in watch.merge("extract_lines_containing")]
    draft.add(f"Transform keep lines regex {write_text('(?i)' + '|'.join(patterns))}", "extract_lines_containing")


def _extract(draft: Draft, _: Any, watch: Watch) -> None:
    for text in watch.merge("extract_text"):
        pattern, difference = _pattern(text)
        add_patterns(draft, pattern, "extract_text", difference=difference)


def _either(texts: list[str]) -> str:
    found = [_pattern(text)[0] for text in texts]
    return "(?i)" + "|".join(f"(?:{one.removeprefix('(?i)')})" for one in found)


def _add_trigger(draft: Draft, _: Any, watch: Watch) -> None:
    texts = [text.strip() for text in watch.merge("trigger_text")]
    if not any(text.startswith("/") for text in texts):
        what = "the whole page is searched, not the selected part" if _has_filters(watch) else ""
        draft.where(f"where page has {_list_texts(texts)}", "trigger_text", what)
    else:
        what = "of a pattern, what came must match it; there any line of the page may"
        draft.where(f"where matches {write_text(_either(texts))}", "trigger_text", what)


def _list_texts(texts: list[str]) -> str:
    """Return texts of which one is enough."""
    return write_text(texts[0]) if len(texts) == 1 else f"<{', '.join(write_text(text) for text in texts)}>"


def _add_forbidden(draft: Draft, _: Any, watch: Watch) -> None:
    for text in watch.merge("text_should_not_be_present"):
        if text.strip().startswith("/"):
            draft.refuse(
                "text_should_not_be_present", f"{show_value(text)}: a page can lack a text here, not a pattern"
            )
        elif _has_filters(watch):
            draft.refuse("text_should_not_be_present", f"{show_value(text)}: {OF_WHOLE_PAGE}")
        else:
            what = "what changed while the text was there is not reported later"
            draft.where(f"where page lacks {write_text(text.strip())}", "text_should_not_be_present", what)


OF_WHOLE_PAGE: Final = (
    "there it must be absent from the selected part; `where page lacks` here asks of the whole page, and would"
    " hide changes while the text is elsewhere on the page"
)


def _has_filters(watch: Watch) -> bool:
    """Return whether the watch reads a part of its page."""
    of_all = {"subtractive_selectors": "global_subtractive_selectors"}
    return any(watch.merge(name, of_all=of_all.get(name, "")) for name in ("include_filters", *of_all))


def _directions(draft: Draft, _: Any, watch: Watch) -> None:
    asked = {
        "inserted": watch.record.get("filter_text_added", True),
        "deleted": watch.record.get("filter_text_removed", True),
        "updated": watch.record.get("filter_text_replaced", True),
    }
    if any(asked.values()) and not all(asked.values()):
        what = "" if asked["updated"] else "the words that came and went in a changed line count too"
        for direction, is_asked in asked.items():
            if is_asked:
                draft.where(direction, "filter_text_added, filter_text_removed, filter_text_replaced", what)


def _interval(draft: Draft, _: Any, watch: Watch) -> None:
    is_usual = watch.has_default_times()
    given = (watch.requests if is_usual else watch.record).get("time_between_check")
    amount = sum_times(given)
    if not amount and is_usual and watch.is_alone:
        amount = 3 * HOUR
    elif not amount:
        amount = LEAST_INTERVAL
    draft.check_every(amount, "time_between_check")


def _hours(draft: Draft, _: Any, watch: Watch) -> None:
    name, is_usual = "time_schedule_limit", watch.has_default_times()
    own = map_of(watch.record.get(name))
    if is_usual and own.get("enabled"):
        draft.note("state", name, "that program follows the schedule of its settings")
    given = map_of(watch.requests.get(name)) if is_usual else own
    if not given.get("enabled"):
        return
    spans = [(day[:3], _span(one)) for day in DAYS if (one := map_of(given.get(day))).get("enabled")]
    if not spans:
        draft.disabled = True
        draft.translate(name, "no day is enabled, so it is paused")
        return
    if len(spans) == 7 and {span for _, span in spans} == {"00:00 to 24:00"}:
        draft.translate(name)
        return
    zone = given.get("timezone") or watch.application.get("scheduler_timezone_default")
    zone = zone or watch.application.get("timezone") or "UTC"
    text = ", ".join(f"{day} {span}" for day, span in spans)
    draft.add(f"During {text} Zone {str(zone).strip()}", name, many=2)


def _span(one: Mapping[str, Any]) -> str:
    """Return the hours of a day. That program asks only for the schedule of the present day, so
    that hours after midnight never count.
    """
    start, length = str(one.get("start_time") or "00:00"), map_of(one.get("duration"))
    hour, _, minute = start.partition(":")
    end = (int(hour) + int(length.get("hours") or 0)) * 60 + int(minute or 0) + int(length.get("minutes") or 0)
    end = min(end, 24 * 60)
    return f"{int(hour):02}:{int(minute or 0):02} to {end // 60:02}:{end % 60:02}"


def _add_fetching(draft: Draft, _: Any, watch: Watch) -> None:
    kind = watch.backend()
    if kind.startswith(BROWSERS):
        draft.renders = draft.renders or "browser"
        draft.translate("fetch_backend")
    elif kind not in {"", "html_requests"}:
        draft.refuse("fetch_backend", f"{kind} is not supported; pages are requested directly")


def _delay(draft: Draft, _: Any, watch: Watch) -> None:
    wait = watch.first("webdriver_delay")
    if wait and draft.renders:
        draft.steps.insert(0, DraftClause(f"wait {int(wait)} s", "webdriver_delay"))
    elif wait:
        draft.note("state", "webdriver_delay")


def _timeout(draft: Draft, _: Any, watch: Watch) -> None:
    seconds = watch.requests.get("timeout")
    if seconds not in (None, "", 45):
        draft.add(f"Timeout {int(seconds)} s", "requests.timeout")


STEPS: Final = {
    "Click element": "click {place}",
    "Click element if exists": "click {place}",
    "Click element containing text": "click text {value}",
    "Click element containing text if exists": "click text {value}",
    "Enter text in field": "fill {place} with {value}",
    "Check checkbox": "click {place}",
    "Uncheck checkbox": "click {place}",
    "Press Enter": 'press "Enter"',
    "Select by label": "select {place} with {value}",
    "<select> by option text": "select {place} with {value}",
    "Wait for text": "wait for text {value}",
    "Wait for text in element": "wait for text {value}",
    "Wait for seconds": "wait {seconds} s",
    "Scroll down": "scroll to end",
}
DIFFERS: Final = {
    "Click element if exists": "a step that cannot be done is an error here",
    "Click element containing text if exists": "a step that cannot be done is an error here",
    "Wait for text in element": "the text may be anywhere on the page",
    "Check checkbox": "it is clicked, whatever its state",
    "Uncheck checkbox": "it is clicked, whatever its state",
    "Scroll down": "the page is scrolled to its end",
}


def _steps(draft: Draft, value: Any, watch: Watch) -> None:
    if not watch.is_alone and not watch.backend().startswith(BROWSERS):
        draft.note("state", "browser_steps", "that program runs them in a browser only")
        return
    for step in value if isinstance(value, list) else []:
        one = map_of(step)
        operation = str(one.get("operation") or "")
        if operation in {"", "Choose one", "Goto site"}:
            continue
        place, given = str(one.get("selector") or ""), str(one.get("optional_value") or "")
        kind = "xpath" if place.startswith(("/", "xpath=", "(")) else "css"
        if "{{" in given or "{%" in given:
            draft.refuse("browser_steps", f"{operation} {show_value(given)}: a template (Jinja) is not run")
        elif operation == "Remove elements" and place:
            draft.add(f"Exclude {kind} {write_text(place)}", "browser_steps")
        elif operation in STEPS:
            words = {
                "place": f"{kind} {write_text(place.removeprefix('xpath='))}",
                "value": _write_typed(draft, operation, place, given),
                "seconds": given or "1",
            }
            draft.step(STEPS[operation].format(**words), "browser_steps", DIFFERS.get(operation, ""))
        else:
            draft.refuse("browser_steps", f"{operation} {show_value(place or given)} is not supported as a step")


_PASSWORDS: Final = re.compile(r"(?i)pass|pwd|token|secret|otp|\bpin\b")


def _write_typed(draft: Draft, operation: str, place: str, text: str) -> str:
    """Return what is typed; a password by the name of a secret, which is typed on https only."""
    is_typed = operation == "Enter text in field" and draft.url.startswith("https:")
    if is_typed and _PASSWORDS.search(place) and len(text) >= LEAST_SECRET:
        return f"secret {write_text(draft.keep_secret('typed', text))}"
    return write_text(text)


LEAST_SECRET: Final = 4
"""The fewest characters of a text that is typed as a secret."""


def _headers(draft: Draft, _: Any, watch: Watch) -> None:
    for name, text in watch.headers().items():
        if "{{" in text or "{%" in text:
            draft.refuse("headers", f"{name} is a template (Jinja), which is not run")
        else:
            draft.header(name, text, "headers")


def _body(draft: Draft, value: Any, watch: Watch) -> None:
    if str(watch.record.get("method") or "GET").upper() == "GET":
        draft.refuse("body", "a request by GET has no body here")
    elif "{{" in str(value) or "{%" in str(value):
        draft.refuse("body", "it is a template (Jinja), which is not run")
    else:
        draft.body(str(value), "body")


def _add_proxy(draft: Draft, _: Any, watch: Watch) -> None:
    known, missing = watch.proxy()
    if missing:
        draft.refuse("proxy", f"what {show_value(missing)} means is in proxies.json, which is not in the file")
    elif "@" in known:
        draft.add(f"Proxy secret {write_text(draft.keep_secret('proxy', known))}", "proxy")
    elif known:
        draft.add(f"Proxy {known}", "proxy")
    elif watch.record.get("proxy"):
        draft.translate("proxy")


def _add_notifying(draft: Draft, _: Any, watch: Watch) -> None:
    urls = texts_of(watch.first_notifying("notification_urls"))
    muted = [
        name
        for name, is_muted in (
            ("notification_muted", watch.record.get("notification_muted")),
            ("application.all_muted", watch.application.get("all_muted") and urls),
        )
        if is_muted
    ]
    if muted:
        draft.note("approximated", muted[0], "no receiver; changes are shown on the dashboard")
        draft.note("state", "notification_urls", "muted")
        return
    wording = _write_wording(draft, watch) if urls else ""
    for url in urls:
        _notify(draft, url.strip(), wording)


def _notify(draft: Draft, url: str, wording: str) -> None:
    name = "notification_urls"
    scheme = url.partition("://")[0].lower()
    if scheme in {"post", "posts"}:
        rest, _, query = url.partition("://")[2].partition("?")
        params = [one for one in query.split("&") if one]
        kept = "&".join(one for one in params if not one.startswith(("+", "%2B")))
        if len(kept.split("&")) < len(params) or (params and not kept):
            draft.refuse(name, "a webhook has no headers of your own; its signature shows who sent it")
        address = f"http{'s' if scheme == 'posts' else ''}://{rest}{'?' + kept if kept else ''}"
        what = (
            "the request has headers and a signature of our own"
            if "text" in wording
            else "a signed webhook of our own form is sent"
        )
        draft.add(f"Notify by webhook {address}{wording}", name, what)
    elif scheme in {"get", "gets", "put", "puts", "delete", "deletes", "patch"}:
        draft.refuse(name, f"{scheme}:// is of that program alone; a webhook is sent by POST")
    elif url:
        draft.add(f"Notify by {url}{wording}", name)


_USUAL: Final = {
    "notification_title": ("", "ChangeDetection.io Notification - {{watch_url}}", "System default"),
    "notification_body": ("", "{{watch_url}} had a change.\n---\n{{diff}}\n---", "System default"),
}
"""The message that nobody wrote."""
_SAME: Final = {
    "watch_tag": "tags",
    "diff_clean": "diff",
    "diff_added_clean": "diff_added",
    "diff_removed_clean": "diff_removed",
}
"""Placeholders of another name here."""
_HOLE: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def _write_wording(draft: Draft, watch: Watch) -> str:
    """Return the end of a Notify clause: the title and the text of messages, if they have only
    placeholders that messages here have.
    """
    parts = []
    for field, word in (("notification_title", "title"), ("notification_body", "text")):
        given = str(watch.first_notifying(field) or "").strip()
        if given.replace("{{ ", "{{").replace(" }}", "}}") in _USUAL[field]:
            continue
        text = _HOLE.sub(lambda found: "{{" + _SAME.get(found[1], found[1]) + "}}", given)
        part = f" {word} {' '.join(write_text(line) for line in text.splitlines())}"
        if why := why_invalid(f"Create Sentinel x Using https://x.example/ Monitor words Notify by feed with{part}", 2):
            draft.refuse(field, f"{show_value(given)}: {why}")
        else:
            draft.translate(field)
            parts.append(part)
    return f" with{''.join(parts)}" if parts else ""


def _add_processor(draft: Draft, value: Any, watch: Watch) -> None:
    if value == "restock_diff":
        _add_restocking(draft, watch)
    elif value == "image_ssim_diff":
        draft.renders = "browser screenshot"
        draft.translate("processor", "pictures are stored; words are compared, not pictures")
    elif value not in {"", None, "text_json_diff"}:
        draft.refuse("processor", f"{show_value(value)} is not supported; words are watched")


def _add_restocking(draft: Draft, watch: Watch) -> None:
    given = watch.restocking()
    stock = given.get("in_stock_processing")
    if stock == "in_stock_only":
        draft.monitor('availability where matches "InStock"', "in_stock_processing")
    elif stock == "all_changes":
        draft.monitor("availability", "in_stock_processing")
    if given.get("follow_price_changes"):
        share = given.get("price_change_threshold_percent")
        by = f"changes by {share}%" if share else ""
        bounds = [
            f"value {sign} {given[key]}"
            for sign, key in (("<", "price_change_min"), (">", "price_change_max"))
            if given.get(key)
        ]
        for bound in bounds or [""]:
            conditions = " but ".join(filter(None, (bound, by)))
            draft.monitor(f"price{' where ' + conditions if conditions else ''}", "follow_price_changes")


OPERATORS: Final = {">": ">", "<": "<", ">=": ">=", "<=": "<=", "==": "=", "!=": "!="}


ANY_OF: Final = "conditions, conditions_match_logic"


def _conditions(draft: Draft, value: Any, watch: Watch) -> None:
    logic = str(watch.record.get("conditions_match_logic", "ALL") or "")
    if not logic:
        draft.note("state", "conditions", "that program asks for none without their logic")
        return
    match_any = logic.upper() == "ANY"
    rows = [map_of(row) for row in value] if isinstance(value, list) else []
    rows = [row for row in rows if row.get("field") and row.get("operator") and row.get("value") not in (None, "")]
    tests = [_condition(str(row["field"]), str(row["operator"]), str(row["value"]), watch) for row in rows]
    if match_any and len(rows) > 1:
        if watch.merge("extract_text") or any(not test for test, _ in tests):
            draft.refuse(ANY_OF, "any of several conditions, of which one has no equivalent: write a sentinel each")
            return
        for test, what in tests:
            draft.monitor(test if test.startswith("number") else f"all words where {test}", ANY_OF, what)
        return
    numbers = [test.removeprefix("number where ") for test, _ in tests if test.startswith("number")]
    if numbers:
        draft.monitor(f"number where {' but '.join(numbers)}", "conditions", "the first number of the text is read")
    for row, (test, what) in zip(rows, tests, strict=True):
        name = f"conditions: {row['field']} {row['operator']}"
        if not test:
            draft.refuse(name, what)
        elif not test.startswith("number"):
            draft.where(f"where {test}", name, what)


def _condition(field: str, operator: str, value: str, watch: Watch) -> tuple[str, str]:
    """Return a row as a condition (or as a number with one) and how it differs; "" and why not, if
    there is none.
    """
    whole = "the whole page is searched, in any case"
    if field == "extracted_number" and operator in OPERATORS:
        return f"number where value {OPERATORS[operator]} {value}", "the first number of the text is read"
    if field == "page_filtered_text" and operator == "in":
        return f"page has {write_text(value)}", whole
    if field == "page_filtered_text" and operator == "!in":
        return (
            ("", f"{show_value(value)}: {OF_WHOLE_PAGE}")
            if _has_filters(watch)
            else (
                f"page lacks {write_text(value)}",
                whole,
            )
        )
    if field == "page_filtered_text" and operator == "contains_regex":
        return f"matches {write_text('(?i)' + value)}", "what came must match, not the whole text"
    if field == "levenshtein_ratio" and operator in {"<", "<="} and 0 < _number(value) < 1:
        share = round((1 - _number(value)) * 100, 2)
        return f"share > {share:g}%", "the share of words that changed, not of characters"
    return "", f"{field} {operator} {show_value(value)} is not supported"


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _history_length(draft: Draft, _: Any, watch: Watch) -> None:
    value = watch.first("history_snapshot_max_length")
    if value and int(value) > 1:
        draft.add(f"ChangeHistory {int(value) - 1}", "history_snapshot_max_length")


def _pause(draft: Draft, _: Any, watch: Watch) -> None:
    if watch.record.get("paused"):
        draft.disabled = True
        draft.translate("paused")
    if watch.application.get("all_paused"):
        draft.disabled = True
        draft.translate("application.all_paused")


def _refuse_script(draft: Draft, _: Any, watch: Watch) -> None:
    if watch.is_alone or watch.backend().startswith(BROWSERS):
        draft.refuse("webdriver_js_execute_code", "no script of your own is run in a page")
    else:
        draft.note("state", "webdriver_js_execute_code", "that program runs it in a browser only")


def _unique(draft: Draft, _: Any, __: Watch) -> None:
    draft.add("Transform unique", "remove_duplicate_lines")


def _sort_lines(draft: Draft, _: Any, __: Watch) -> None:
    draft.add("Transform sort", "sort_text_alphabetically")


def _never_seen(draft: Draft, _: Any, __: Watch) -> None:
    draft.where("where never seen before", "check_unique_lines")


def _ld_price(draft: Draft, value: Any, _: Watch) -> None:
    if value == "accepted":
        draft.monitor("price", "track_ldjson_price_data")


def _intents(draft: Draft, _: Any, watch: Watch) -> None:
    for field in ("llm_intent", "llm_change_summary"):
        if value := watch.first_of_tags(field):
            draft.comments.append(f"its intent: {show_value(value)}")
            draft.refuse(field, "there is no language model; it is kept as a comment")


def _prefilter(draft: Draft, value: Any, _: Watch) -> None:
    draft.add(f"Exclude css {write_text(str(value))}", "llm_prefilter")


STATE_ONLY: Final = Note("state", "")
TRANSLATED: Final = Note("translated", "")
FIELDS: Final[dict[str, Rule | Note]] = {
    "title": TRANSLATED,
    "page_title": STATE_ONLY,
    "tags": TRANSLATED,
    "tag": TRANSLATED,
    "method": lambda draft, value, _: draft.method(value, "method"),
    "body": _body,
    "webdriver_js_execute_code": _refuse_script,
    "link_to_open": Note("refused", "", "messages lead to the page that is watched"),
    "browser_steps": _steps,
    "strip_ignored_lines": STATE_ONLY,
    "ignore_whitespace": STATE_ONLY,
    "trim_text_whitespace": STATE_ONLY,
    "remove_duplicate_lines": _unique,
    "sort_text_alphabetically": _sort_lines,
    "check_unique_lines": _never_seen,
    "conditions": _conditions,
    "processor": _add_processor,
    "track_ldjson_price_data": _ld_price,
    "notification_format": STATE_ONLY,
    "notification_screenshot": Note(
        "refused", "", "messages have no pictures; `Render browser screenshot` stores them"
    ),
    "ignore_status_codes": Note("refused", "", "an answer with an error is not a version; `Monitor status` watches it"),
    "llm_prefilter": _prefilter,
    "render_anchor_tag_content": STATE_ONLY,
}
MERGED: Final[dict[str, tuple[str, Rule]]] = {
    "include_filters": ("", _selects),
    "subtractive_selectors": ("global_subtractive_selectors", _excludes),
    "extract_lines_containing": ("", _keep_lines),
    "ignore_text": ("global_ignore_text", _add_ignored),
    "extract_text": ("", _extract),
    "trigger_text": ("", _add_trigger),
    "text_should_not_be_present": ("", _add_forbidden),
}
ALWAYS: Final[dict[str, Rule]] = {
    "paused": _pause,
    "headers": _headers,
    "proxy": _add_proxy,
    "interval": _interval,
    "time_schedule_limit": _hours,
    "fetch_backend": _add_fetching,
    "webdriver_delay": _delay,
    "requests.timeout": _timeout,
    "notification_urls": _add_notifying,
    "filter_text_added": _directions,
    "history_snapshot_max_length": _history_length,
    "llm_intent": _intents,
}
"""Fields whose value may come from the settings."""
STATE: Final = frozenset(
    """date_created last_checked last_changed check_count last_viewed viewed last_error last_notification_error
    previous_md5 previous_md5_before_filters fetch_time content-type remote_server_reply
    consecutive_filter_failures uuid has_ldjson_price_data notification_alert_count favicon
    favicon_last_fetched filter_failure_notification_send newest_history_key history_n restock
    browser_steps_last_error_step last_check_status use_page_title_in_list
    history extract_title_as_title in_stock minutes_between_check css_filter
    llm_evaluation_cache _llm_result _llm_intent _llm_change_summary llm_last_tokens_used
    llm_tokens_used_cumulative last_filter_config_hash skip_when_unchanged""".split()
)
"""Counters and caches."""
ELSEWHERE: Final = frozenset(
    """url llm_intent llm_change_summary headers paused proxy notification_muted webdriver_delay
    time_schedule_limit history_snapshot_max_length notification_title notification_body time_between_check
    time_between_check_use_default fetch_backend notification_urls
    filter_text_added filter_text_removed filter_text_replaced conditions_match_logic restock_settings
    restock_diff follow_price_changes in_stock_only price_change_threshold_percent price_change_min
    price_change_max llm_backend_profile llm_change_summary_mode""".split()
)
"""Fields that rules of other fields read and report, or that mean nothing without another field."""


def is_ours(files: Files) -> bool:
    """Return whether these are files of changedetection.io."""
    names = {name.rpartition("/")[2] for name in files.names}
    if names & {"changedetection.json", "url-watches.json", "watch.json"}:
        return True
    if not files.is_single or not files.names[0].endswith(".json"):
        return False
    record = files.json(files.names[0])
    return isinstance(record, dict) and ("watching" in record or {"url", "time_between_check"} <= record.keys())


def read(files: Files) -> Iterator[Draft]:
    """Yield a draft for each watch, those in their own files before the remains of an upgrade."""
    by_name = {name: name.rpartition("/") for name in files.names}
    single = files.names[0] if files.is_single else ""
    main = next((n for n, (_, _, last) in by_name.items() if last == "changedetection.json"), None)
    old = next((n for n, (_, _, last) in by_name.items() if last == "url-watches.json"), None) or (
        single if single and "watching" in map_of(files.json(single)) else None
    )
    settings = map_of(files.json(main)) if main else map_of(files.json(old)) if old else {}
    if proxies := next((n for n, (_, _, last) in by_name.items() if last == "proxies.json"), None):
        settings = {**settings, "proxies": files.json(proxies)}
    watches = {
        folder.rpartition("/")[2]: (folder, map_of(files.json(n)))
        for n, (folder, _, last) in by_name.items()
        if last == "watch.json"
    }
    if single and not old and not watches:
        watches = {"": ("", map_of(files.json(single)))}
    if not watches and old:
        folder = by_name[old][0]
        watches = {
            uuid: (f"{folder}/{uuid}".lstrip("/"), map_of(one))
            for uuid, one in map_of(settings.get("watching")).items()
        }
    tags = {
        folder.rpartition("/")[2]: map_of(files.json(n))
        for n, (folder, _, last) in by_name.items()
        if last == "tag.json"
    }
    tags |= {
        uuid: map_of(one)
        for uuid, one in map_of(map_of(map_of(settings.get("settings")).get("application")).get("tags")).items()
    }
    top = by_name[main or old or ""][0] if main or old else ""
    for uuid, (folder, record) in watches.items():
        yield _draft(files, uuid, folder, record, top, tags, settings)


def _draft(
    files: Files,
    uuid: str,
    folder: str,
    record: Mapping[str, Any],
    top: str,
    tags: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> Draft:
    url = str(record.get("url") or "")
    own = {str(tag) for tag in list_of(record.get("tags"))}
    known = [{**map_of(tag), "_key": key} for key, tag in tags.items()]
    mine = [tag for tag in known if tag["_key"] in own]
    mine += [
        tag for tag in known if tag["_key"] not in own and matches_pattern(url, str(tag.get("url_match_pattern") or ""))
    ]
    draft = Draft(str(record.get("title") or record.get("page_title") or ""), url, PEER, key=uuid)
    if url.startswith("source:"):
        draft.url = url.removeprefix("source:")
        draft.monitor("any change", "url", "words, links and images are compared, not the source")
    restocking = f"{folder}/{RESTOCKING}".lstrip("/")
    if restocking in files.names:
        record = {**record, **map_of(files.json(restocking))}
    titles = [str(tag.get("title") or "") for tag in mine]
    watch = Watch(record, mine, settings, _headers_of_files(files, folder, top, titles))
    draft.url = plain_address(draft, draft.url)
    titles += str(record.get("tag") or "").split(",")
    draft.tags = [tag_of(title) for title in titles if title.strip()]
    _apply(draft, watch)
    if not draft.parts:
        kind = "words OR links" if watch.application.get("render_anchor_tag_content") else "all words"
        for part in kind.split(" OR "):
            draft.monitor(part, "processor")
    _learn(draft, files, folder, record)
    return draft


def _headers_of_files(files: Files, folder: str, top: str, titles: list[str]) -> dict[str, str]:
    """Return the headers of the file for all watches, that of the watch, and those of its tags."""
    of_tags = (re.sub(r"[\W_]", "", title).lower() for title in titles)
    found: dict[str, str] = {}
    for name in (f"{top}/headers.txt", f"{folder}/headers.txt", *(f"{top}/headers-{one}.txt" for one in of_tags)):
        if name.lstrip("/") in files.names:
            found |= parse_headers(files.text(name.lstrip("/")))
    return found


def _apply(draft: Draft, watch: Watch) -> None:
    for field, (of_all, merge) in MERGED.items():
        if watch.merge(field, of_all=of_all):
            draft.read(field, watch.record.get(field), partial(merge, draft, None, watch))
    for field, value in watch.record.items():
        if value in (None, "", [], {}, False) or field in MERGED:
            continue
        rule = FIELDS.get(field)
        if isinstance(rule, Note):
            draft.note(rule.grade, field, rule.text)
        elif rule is not None:
            draft.read(field, value, partial(rule, draft, value, watch))
        elif field in STATE:
            draft.note("state", field)
        elif field not in ELSEWHERE:
            draft.refuse(field, f"this field is unknown: {show_value(value)}")
    for field, rule in ALWAYS.items():
        draft.read(field, watch.record.get(field), partial(rule, draft, None, watch))
    draft.notes += watch.note_settings()


def _learn(draft: Draft, files: Files, folder: str, record: Mapping[str, Any]) -> None:
    """Add the times of changes from the index of stored texts: its first line is the first check,
    not a change.
    """
    name = next((n for n in (f"{folder}/history.txt", f"{folder}/history-restock_diff.txt") if n in files.names), None)
    if name is not None:
        stamps = [line.partition(",")[0].strip() for line in files.text(name).splitlines() if "," in line]
        draft.changed_at = [_instant(stamp) for stamp in stamps if stamp.isdigit()][1:]
        draft.note(
            "state", "history", f"{len(draft.changed_at)} changes are learned from; their texts stay where they are"
        )
    if str(record.get("last_checked") or "").isdigit():
        draft.polled_until = _instant(str(record["last_checked"]))


def _instant(stamp: str) -> Instant:
    return min(int(stamp), 253_402_300_799) * SECOND
