"""What a watch of changedetection.io inherits from its tags and the settings, as that program reads
it (0.60.10); files of older versions are first changed as its upgrades change them.

A tag adds its patterns and receivers to a watch whatever `overrides_watch` says: that is of the
settings for shops alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from typing import Any, Final

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.model.interval import Duration
from tidings.service.imports.draft import Note

UNSET: Final = frozenset({"", "system", "System default"})
"""Texts by which a field says that the settings decide."""
UNITS: Final = {"weeks": 7 * DAY, "days": DAY, "hours": HOUR, "minutes": MINUTE, "seconds": SECOND}
NO_PROXY: Final = "no-proxy"
UNKNOWN: Final = 29
"""The schema of a watch without settings: what its fields reveal is upgraded."""
LEAST_INTERVAL: Final = 3 * SECOND
"""How often that program checks a watch whose interval is empty."""
_TOKEN: Final = re.compile(r"(?<!{){(?!{)(\w+)(?<!})}(?!})")
_BROWSER: Final = "extra_browser_"


class Watch:
    """A watch with its tags and the settings; `headers` are those of files, the later ones win."""

    def __init__(
        self,
        record: Mapping[str, Any],
        tags: Sequence[Mapping[str, Any]],
        settings: Mapping[str, Any],
        headers: Mapping[str, str],
    ) -> None:
        self._settings = map_of(settings.get("settings"))
        self.application: Mapping[str, Any] = map_of(self._settings.get("application"))
        self.requests: Mapping[str, Any] = map_of(self._settings.get("requests"))
        self.is_alone = not self._settings
        """whether there are no settings beside it"""
        schema = self.application.get("schema_version")
        self.schema = schema if isinstance(schema, int) else UNKNOWN if self.is_alone else 0
        self.record = upgrade(record, self.schema)
        self.tags = [upgrade(tag, self.schema) for tag in tags]
        self.proxies = _read_proxies(settings, self.requests)
        self._has_list = "proxies" in settings
        self._of_files = headers

    def merge(self, name: str, *, of_all: str = "") -> list[str]:
        """Return a list of the watch, merged with those of all its tags and of the settings."""
        found = texts_of(self.record.get(name))
        for tag in self.tags:
            found += texts_of(tag.get(name))
        found += texts_of(self.application.get(of_all)) if of_all else []
        return list(dict.fromkeys(found))

    def first(self, name: str) -> Any:
        """Return the value of the watch, else of the settings."""
        own = self.record.get(name)
        return own if is_set(own) else self.application.get(name)

    def first_notifying(self, name: str) -> Any:
        """Return the value of the watch, else of the first tag that has one and is not muted, else
        of the settings.
        """
        for one in (self.record, *self.tags):
            if is_set(one.get(name)) and not one.get("notification_muted"):
                return one[name]
        return self.application.get(name)

    def first_of_tags(self, name: str) -> Any:
        """Return the value of the watch, else of the first tag that has one."""
        return next((one[name] for one in (self.record, *self.tags) if is_set(one.get(name))), None)

    def has_default_times(self) -> bool:
        """Return whether interval and hours are those of the settings (as `update_15` decides for
        older files).
        """
        given = self.record.get("time_between_check_use_default")
        own = map_of(self.record.get("time_between_check"))
        if given is None and (self.schema < 15 or self.is_alone):
            return own == map_of(self.requests.get("time_between_check")) or not any(own.values())
        return True if given is None else bool(given)

    def backend(self) -> str:
        """Return how the page is fetched; a browser that the settings no longer have is none."""
        found = str(self.first("fetch_backend") or "")
        url, kind = str(self.record.get("url") or ""), str(self.record.get("content-type") or "")
        if url.lower().endswith(".pdf") or kind.lower().partition(";")[0].strip() == "application/pdf":
            return "html_requests"
        browsers = [map_of(one).get("browser_name") for one in list_of(self.requests.get("extra_browsers"))]
        if found.startswith(_BROWSER):
            is_there = self.is_alone or found.removeprefix(_BROWSER) in browsers
            return "html_webdriver" if is_there else "html_requests"
        return found

    def proxy(self) -> tuple[str, str]:
        """Return the proxy (empty without one), and one that is named but not in the files."""
        own, of_all = (str(one.get("proxy") or "") for one in (self.record, self.requests))
        if "://" in own:
            return own, ""
        for name in (own, of_all):
            if name == NO_PROXY:
                return "", ""
            if name in self.proxies:
                return self.proxies[name], ""
            if name and not name.startswith("ui-") and not self._has_list:
                return "", name
        return next(iter(self.proxies.values()), ""), ""

    def headers(self) -> dict[str, str]:
        """Return the headers of a request; those of the settings and of files win over its own."""
        found: dict[str, tuple[str, str]] = {}
        agent = map_of(self.requests.get("default_ua")).get(self.backend() or "html_requests")
        usual = {"User-Agent": agent} if agent and "Chrome/87.0.4280.66" not in str(agent) else {}
        of_all = map_of(self._settings.get("headers"))
        if self.schema < 7:
            common = {"User-Agent", "Accept", "Accept-Encoding", "Accept-Language"}
            of_all = {name: text for name, text in of_all.items() if name not in common}
        for given in (usual, map_of(self.record.get("headers")), of_all, self._of_files):
            found |= {str(name).lower(): (str(name), str(text)) for name, text in given.items()}
        return dict(found.values())

    def restocking(self) -> Mapping[str, Any]:
        """Return the settings for a shop: of the first own tag that overrides, else its own."""
        own = {str(one) for one in list_of(self.record.get("tags"))}
        for tag in self.tags:
            if tag.get("overrides_watch") and tag.get("_key") in own:
                return map_of(tag.get("processor_config_restock_diff"))
        usual = {"follow_price_changes": True, "in_stock_processing": "in_stock_only"}
        return map_of(self.record.get("restock_diff")) or usual

    def note_settings(self) -> Iterator[Note]:
        """Yield a note for each setting of the program that is not as it is usually and has no
        equivalent, and one for all that are about its screens.
        """
        apart = []
        for group, given in (("requests", self.requests), ("application", self.application)):
            for name, value in given.items():
                if (name in NOTED and value in NOTED[name][0]) or name in READ:
                    continue
                if name in NOTED:
                    yield Note(NOTED[name][1].grade, f"{group}.{name}", NOTED[name][1].text)
                elif name in OF_SCREENS or name.startswith(("llm", "rss_")):
                    apart.append(name)
                elif is_set(value):
                    yield Note("refused", f"{group}.{name}", "this setting is unknown")
        if apart:
            yield Note("state", "settings", ", ".join(apart))


EMPTY: Final[tuple[Any, ...]] = (None, "", False, 0, [], {})
NOTED: Final[dict[str, tuple[tuple[Any, ...], Note]]] = {
    "jitter_seconds": (EMPTY, Note("approximated", "", "checks are not shifted at random")),
    "empty_pages_are_a_change": (
        EMPTY,
        Note("approximated", "", "a page that is nearly empty is fetched again after five minutes"),
    ),
    "ignore_whitespace": (
        (None, True),
        Note("approximated", "", "the layout of a text is never compared"),
    ),
    "rss_reader_mode": (EMPTY, Note("approximated", "", "a feed is read by its entries")),
}
"""Settings with the values that need no note, and the note for others."""
READ: Final = frozenset(
    """extra_proxies extra_browsers proxy time_between_check time_schedule_limit timeout default_ua
    minutes_between_check all_paused all_muted fetch_backend global_ignore_text
    global_subtractive_selectors history_snapshot_max_length notification_body notification_title
    notification_urls render_anchor_tag_content scheduler_timezone_default timezone tags webdriver_delay""".split()
)
"""Settings that rules of watches read."""
OF_SCREENS: Final = frozenset(
    """workers api_access_token_enabled api_access_token base_url active_base_url
    filter_failure_notification_threshold_attempts ignore_status_codes ssim_threshold
    pixel_difference_threshold_sensitivity min_change_percentage notification_format pager_size
    password schema_version shared_diff_access strip_ignored_lines ui extract_title_as_title""".split()
)
"""Settings of its screens, feeds, language models and its own work."""


def upgrade(record: Mapping[str, Any], schema: int) -> Mapping[str, Any]:
    """Return a watch or tag of an older file as the upgrades of its program leave it."""
    found = dict(record)
    minutes = found.pop("minutes_between_check", None)
    if schema < 1 and minutes:
        found["time_between_check"] = {**map_of(found.get("time_between_check")), "minutes": minutes}
    if (place := found.pop("css_filter", None)) and not found.get("include_filters"):
        found["include_filters"] = [place]
    if schema < 9:
        for name in ("notification_title", "notification_body"):
            if isinstance(found.get(name), str):
                found[name] = _TOKEN.sub(r"{{\1}}", found[name])
        found["notification_urls"] = [_TOKEN.sub(r"{{\1}}", one) for one in texts_of(found.get("notification_urls"))]
    if schema < 18 and found.get("processor") == "restock_diff":
        stock = "in_stock_only" if found.get("in_stock_only") else "all_changes"
        given = map_of(found.get("restock_settings")) or {"follow_price_changes": True}
        found["restock_settings"] = {**given, "in_stock_processing": stock}
    if old := found.pop("restock_settings", None):
        name = "processor_config_restock_diff" if "overrides_watch" in found else "restock_diff"
        if schema < 30 and not found.get(name):
            found[name] = old
    return found


def _read_proxies(settings: Mapping[str, Any], requests: Mapping[str, Any]) -> dict[str, str]:
    found = {str(name): str(map_of(one).get("url") or "") for name, one in map_of(settings.get("proxies")).items()}
    for one in map(map_of, list_of(requests.get("extra_proxies"))):
        if one.get("proxy_name") and one.get("proxy_url"):
            found[f"ui-0{one['proxy_name']}"] = str(one["proxy_url"])
    return found


def sum_times(given: Any) -> Duration:
    """Return the length of `{"hours": 1, "minutes": 30}`."""
    return round(sum(UNITS[unit] * float(value) for unit, value in map_of(given).items() if unit in UNITS and value))


def is_set(value: Any) -> bool:
    """Return whether a field has a value of its own."""
    return bool(value) and not (isinstance(value, str) and value in UNSET)


def matches_pattern(url: str, pattern: str) -> bool:
    """Return whether a tag with this pattern applies to an address."""
    pattern = pattern.strip().lower()
    if any(sign in pattern for sign in "*?["):
        return fnmatch(url.lower(), pattern)
    return bool(pattern) and pattern in url.lower()


def parse_headers(text: str) -> dict[str, str]:
    """Return the headers of a `headers.txt`."""
    lines = (line.strip().partition(":") for line in text.splitlines() if not line.strip().startswith("#"))
    return {name.strip(): value.strip() for name, colon, value in lines if colon}


def map_of(value: Any) -> Mapping[str, Any]:
    """Return a map, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """Return a list, an empty one for anything else."""
    return value if isinstance(value, list) else []


def texts_of(value: Any) -> list[str]:
    """Return the texts of a list that are not blank."""
    return [str(one) for one in list_of(value) if str(one).strip()]
