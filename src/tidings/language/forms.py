"""The two written forms of the language by file name: `*.yaml` and `*.yml` hold YAML, all others
the sentence form. Files of other tools are recognized, with a message on what to do with them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, Unpack

from tidings.language import parser
from tidings.language.parser import Parsed, ParseOptions
from tidings.language.problems import Problem
from tidings.language.words import name_of_host
from tidings.model.url import split_url
from tidings.record import replace

YAML = (".yaml", ".yml")


def parse_file(name: str, text: str, **options: Unpack[ParseOptions]) -> Parsed:
    """Return the statements of a file. YAML is loaded with the
    first such file.

    A file of another tool without a readable statement has one problem that says so (E50).
    """
    if not name.lower().endswith(YAML):
        parsed = parser.parse(text, **options)
    else:
        from tidings.language.yaml import form as yaml_form

        parsed = yaml_form.load(text, **options)
    if parsed.problems and not parsed.statements:
        # only if a text cannot be read

        message, hint = recognise(text)
        if message:
            return replace(parsed, problems=(Problem(1, 1, "E50", message, hint=hint),), warnings=())
    return parsed


LARGEST: Final = 2_000_000
"""The longest text that is tried as JSON, in characters."""

_ADDRESS = re.compile(r"https?://\S+")
_JOB = re.compile(r"^(?:-\s+)?(?:url|navigate|command|kind)\s*:", re.MULTILINE)
_FOREIGN = re.compile(
    r"^(?:-\s+|\s+)?(?:filters?|diff_filters?|navigate|command|max_tries|compared_versions|user_visible_url|timeout|kind|data)\s*:|^---\s*$",
    re.MULTILINE,
)
"""Keys of a list of jobs that no statement of ours has."""
_JOB_URL = re.compile(r"""^(?:-\s+)?(?:url|navigate)\s*:\s*["']?(https?://[^\s"']+)""", re.MULTILINE)
_WEBCHANGES = re.compile(
    r"^(?:-\s+)?(?:use_browser|differ|additions_only|deletions_only|note|suppress_errors|no_conditional_request|filters|diff_filters)\s*:",
    re.MULTILINE,
)
_OURS = re.compile(
    r"^(?:-\s+|\s+)?(?:pages|using|alter|monitor|defaults|every|fetch|notify|css|ignore)\s*:", re.MULTILINE
)


def recognise(text: str) -> tuple[str, str]:
    """Return what a text of another tool is and what to write, two empty texts for an unknown
    one.
    """
    begin = text.lstrip("\ufeff \t\r\n")[:4_000]
    if begin[:1] == "<":
        if re.search(r"<opml\b", begin, re.IGNORECASE):
            found = re.search(r"""\bxmlUrl\s*=\s*["'](https?://[^"']+)""", text, re.IGNORECASE)
            return _describe(
                "an OPML list of feeds", found[1].replace("&amp;", "&") if found else "", monitor="items inserted"
            )
        return "", ""
    if begin[:1] in {"{", "["}:
        return _of_json(text)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("#", "--"))]
    if lines and all(_ADDRESS.match(line) for line in lines) and not re.search(r"\bmonitor\b", begin, re.IGNORECASE):
        address = lines[0].split()[0]
        return "this is a list of addresses", f"for each: tidings add --url {address}"
    if _JOB.search(text) and (_FOREIGN.search(text) or _WEBCHANGES.search(text)) and not _OURS.search(text):
        found = _JOB_URL.search(text)
        tool = "webchanges" if _WEBCHANGES.search(text) else "urlwatch"
        return _describe(f"a job list of {tool}", found[1] if found else "")
    return "", ""


def _of_json(text: str) -> tuple[str, str]:
    if len(text) > LARGEST:
        return "", ""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return "", ""
    watches: Any = data
    if isinstance(data, Mapping):
        watching = data.get("watching")
        watches = list(watching.values()) if isinstance(watching, Mapping) else data.get("data", data)
        if watches is data:
            watches = [data] if "url" in data else list(data.values())
    first = next((one for one in watches if isinstance(one, Mapping)), {}) if isinstance(watches, list) else {}
    if "uri" in first:
        return _describe("an export of Distill", str(first["uri"]))
    address = (
        str(first.get("url", "")) if "url" in first or (isinstance(data, Mapping) and "watching" in data) else None
    )
    return ("", "") if address is None else _describe("an export of changedetection.io", address)


def _describe(what: str, address: str, *, monitor: str = "any change") -> tuple[str, str]:
    """Return what a file is, and the statement for its first page."""
    message = f"this is {what}, not a text in the sentinel language"
    if not split_url(address).hostname:
        return message, "write a statement for each page: Create Sentinel NAME Using https://… Monitor any change"
    line = f"Create Sentinel {name_of_host(address)} Using {address} Monitor {monitor}"
    return message, f"write a statement for each page; the first is: {line}"
