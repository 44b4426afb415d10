"""The filters of urlwatch and webchanges, in order, and their equivalents here.

They transform the text of the whole page in sequence. Here parts are selected first, by one
selector that is made of theirs, then texts are processed line by line; so a selecting filter after
one that produces text is refused.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from string import Formatter
from typing import Any, Final

from tidings.service.imports.draft import Draft, literal, show_value, write_text
from tidings.service.imports.selectors import ONLY_PATHS, jsonpath_of_jq, limit, select_in, xpath_of_css

Given = Mapping[str, Any]
Rule = Callable[[Draft, Given], None]
BY_LINE: Final = "it works on the whole text there, but line by line here"
NOTHING: Final = "it has no effect: the layout of a text is never compared"


def _select(kind: str) -> Rule:
    def rule(draft: Draft, given: Given) -> None:
        for unknown in ("method", "namespaces"):
            if given.get(unknown) not in (None, "", "html"):
                draft.note("approximated", f"filter: {kind}", f"{unknown} is decided by the page's content here")
        if given.get("exclude"):
            draft.add(f"Exclude {kind} {write_text(str(given['exclude']))}", f"filter: {kind}")
        if given.get("sort"):
            draft.add("Transform sort", f"filter: {kind}")

    return rule


def _lines(verb: str) -> Rule:
    def rule(draft: Draft, given: Given) -> None:
        text, pattern = given.get("text"), given.get("re")
        name = f"filter: {'grep' if verb == 'keep' else 'grepi'}"
        if pattern:
            draft.add(f"Transform {verb} lines regex {write_text(str(pattern))}", name)
        elif text:
            draft.add(f"Transform {verb} lines regex {write_text(literal(str(text)))}", name)

    return rule


_SPANS: Final = re.compile(r"\\[sWDnAZ]|\[\^|\(\?\w*s|[\^$]")
"""What a pattern has that may match across lines, or the edges of the whole text."""


def _replace(draft: Draft, given: Given) -> None:
    pattern, by = str(given.get("pattern") or ""), str(given.get("repl") or "")
    by_line = re.sub(r"[\^$]", "", pattern) if "(?m)" in pattern else pattern
    difference = BY_LINE if _SPANS.search(by_line) else ""
    draft.add(f"Transform replace regex {write_text(pattern)} with {write_text(by)}", "filter: re.sub", difference)


def _find(draft: Draft, given: Given) -> None:
    pattern, by = str(given.get("pattern") or ""), str(given.get("repl") or r"\g<0>")
    wanted = [found[1] or found[2] for found in _REFERENCE.finditer(by)]
    add_patterns(draft, pattern, "filter: re.findall", wanted=wanted or ["0"])


_REFERENCE: Final = re.compile(r"\\g<(\w+)>|\\(\d+)")
_GROUP: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<open>\((?!\?)|\(\?P<(?P<name>\w+)>)", re.DOTALL)


def add_patterns(draft: Draft, pattern: str, name: str, *, wanted: Collection[str] = (), difference: str = "") -> None:
    """Watch groups of a pattern, each by itself, since only its first group is compared here.

    Args:
        draft: The draft.
        pattern: A pattern of Python.
        name: The field.
        wanted: Groups, by number or name; 0 is the whole match. All of them if empty.
        difference: How the pattern differs.
    """
    groups = [found["name"] or "" for found in _GROUP.finditer(pattern) if found["open"]]
    numbers = [int(one) if one.isdigit() else groups.index(one) + 1 if one in groups else 0 for one in wanted]
    numbers = [one if one <= len(groups) else 0 for one in numbers] or [*range(1, len(groups) + 1)]
    for number in [0] if 0 in numbers or not numbers else dict.fromkeys(numbers):
        text = pattern if numbers == [1] and len(groups) == 1 else _with_one_group(pattern, number)
        draft.monitor(f"regex {write_text(text)}", name, difference)


def _with_one_group(pattern: str, number: int) -> str:
    """Return a pattern of which only one group is captured; none for 0."""
    at = 0

    def write(found: re.Match[str]) -> str:
        nonlocal at
        at += bool(found["open"])
        return found[0] if not found["open"] else "(" if at == number else "(?:"

    return _GROUP.sub(write, pattern)


def _text(draft: Draft, given: Given) -> None:
    """Note the text of a page, with links if the method writes their addresses."""
    draft.monitor("all words", "filter: html2text")
    if _writes_links(draft, given):
        draft.monitor("links", "filter: html2text")


def _writes_links(draft: Draft, given: Given) -> bool:
    method = str(given.get("method") or ("html2text" if draft.peer == "webchanges" else "re"))
    return method in {"pyhtml2text", "html2text", "lynx"} and not given.get("ignore_links")


def _between(draft: Draft, given: Given) -> None:
    edges = [str(given.get(one) or "") for one in ("start", "end")]
    if all(edges) and not any(re.search(r"[\\.^$*+?{}()|\[\]]", edge) for edge in edges):
        what = "the rest of the lines with these texts counts too"
        draft.monitor(f"all words between {' and '.join(map(write_text, edges))}", "filter: between", what)
    else:
        draft.refuse("filter: between", "only two plain texts, at which it begins and ends, are supported")


def _sort(draft: Draft, given: Given) -> None:
    if given.get("separator") not in (None, "", "\n"):
        draft.refuse("filter: sort", "only lines are sorted here")
    else:
        draft.add("Transform sort", "filter: sort", "in rising order" if given.get("reverse") else "")


def _unique(draft: Draft, given: Given) -> None:
    if given.get("separator") not in (None, "", "\n"):
        draft.refuse("filter: remove-duplicate-lines", "only lines are compared with each other here")
        return
    adjacent = "all equal lines but the first go, not only neighbours" if given.get("adjacent", False) else ""
    case = "capitals and small letters are distinguished" if given.get("ignore_case") else ""
    draft.add("Transform unique", "filter: remove-duplicate-lines", adjacent or case)


def _strip(draft: Draft, given: Given) -> None:
    if given.get("chars"):
        draft.note("approximated", "filter: strip", f"{show_value(given['chars'])} at the edges of a text is compared")
    else:
        draft.note("translated", "filter: strip", NOTHING)


def _nothing(draft: Draft, given: Given) -> None:  # noqa: ARG001 - one shape for all rules
    return


def _any_change(draft: Draft, given: Given) -> None:  # noqa: ARG001 - as above
    draft.monitor("any change", "filter", "words, links and images are compared instead of a sum of all bytes")


def _csv(draft: Draft, given: Given) -> None:
    names = [name for _, name, _, _ in Formatter().parse(str(given.get("format_message") or "")) if name]
    for name in dict.fromkeys(names):
        column = str(int(name) + 1) if name.isdigit() else write_text(name)
        draft.monitor(f"column {column}", "filter: csv2text")
    if not names:
        draft.monitor("table", "filter: csv2text")


def _pdf(draft: Draft, given: Given) -> None:
    if given.get("password"):
        draft.refuse("filter: pdf2text", "a PDF with a password is not read")
    else:
        draft.translate("filter: pdf2text")


FILTERS: Final[dict[str, tuple[str, Rule]]] = {
    "css": ("selector", _select("css")),
    "xpath": ("path", _select("xpath")),
    "element-by-id": ("id", _nothing),
    "element-by-class": ("class", _nothing),
    "element-by-style": ("style", _nothing),
    "element-by-tag": ("tag", _nothing),
    "html2text": ("method", _text),
    "grep": ("re", _lines("keep")),
    "grepi": ("re", _lines("drop")),
    "keep_lines_containing": ("text", _lines("keep")),
    "delete_lines_containing": ("text", _lines("drop")),
    "re.sub": ("pattern", _replace),
    "re.findall": ("pattern", _find),
    "between": ("start", _between),
    "sort": ("separator", _sort),
    "remove-duplicate-lines": ("", _unique),
    "remove_repeated": ("separator", _unique),
    "jq": ("query", _nothing),
    "csv2text": ("format_message", _csv),
    "pdf2text": ("password", _pdf),
    "pypdf": ("password", _pdf),
    "strip": ("chars", _strip),
    "sha1sum": ("", _any_change),
    "sha256sum": ("", _any_change),
    **dict.fromkeys(
        "striplines strip_each_line beautify format-json format-xml pretty-xml jsontoyaml reverse ical2text "
        "strip_empty_lines absolute_links".split(),
        ("", _nothing),
    ),
}
"""By name: the sub-key of a plain value, and the rule for the filter."""
SELECTING: Final = frozenset(
    {"css", "xpath", "jq", "element-by-id", "element-by-class", "element-by-style", "element-by-tag"}
)
TEXTUAL: Final = frozenset(
    {
        "html2text",
        "between",
        "grep",
        "grepi",
        "re.sub",
        "re.findall",
        "keep_lines_containing",
        "delete_lines_containing",
    }
)
LINEWISE: Final = frozenset("grep grepi keep_lines_containing delete_lines_containing".split())
"""Which lines are compared is decided by these."""
WHY: Final = {
    "ocr": "text in pictures is not read",
    "shellpipe": "no shell is run; `Using command` watches what a program writes, where the operator allows it",
    "execute": "no program is run on a page",
    "hexdump": "bytes are not compared",
    "ascii85": "bytes are not compared",
    "base64": "bytes are not compared",
}


IN_TEXT: Final = "it selects in what another filter left; write one selector for both"
SOURCE: Final = "without html2text the source is compared there; here words, links, images"


def apply(draft: Draft, given: Any) -> None:
    """Convert each filter of a job to clauses, in order."""
    has_text, is_empty = False, True
    chosen: list[tuple[str, str]] = []
    names: list[str] = []
    for name, options in map(_plain_jq, list_named(given)):
        is_empty = False
        names.append(name)
        if name not in FILTERS:
            draft.refuse(f"filter: {name}", WHY.get(name, "a filter of your own (hooks.py) is not run"))
            continue
        if name in SELECTING:
            found = None if has_text else _choose(draft, chosen, name, options)
            if found is None:
                draft.refuse(
                    f"filter: {name}", f"{show_value(next(iter(options.values()), ''))}: {_why(has_text, name)}"
                )
                continue
            chosen = found
        elif FILTERS[name][1] is _nothing:
            draft.note("translated", f"filter: {name}", NOTHING)
        FILTERS[name][1](draft, options)
        has_text = has_text or name in TEXTUAL
    for kind, text in chosen:
        draft.select(kind, text, "filter")
    _keep_last(draft, set(names))
    if not draft.parts and is_empty:
        draft.monitor("any change", "filter", SOURCE.replace("html2text", "a filter"))
    elif not draft.parts:
        is_source = not (has_text or LINEWISE & set(names)) and any(
            kind != "jsonpath" and not _ENDS_IN_TEXT.search(text) for kind, text in chosen
        )
        draft.monitor("any change" if is_source else "all words", "filter", SOURCE if is_source else "")


def _keep_last(draft: Draft, names: set[str]) -> None:
    """Leave out what a later filter takes away: the text of which it takes matches or lines."""
    if "re.findall" in names:
        draft.parts = [part for part in draft.parts if part.text.startswith("regex ")]
    elif any(part.text.startswith("all words between") for part in draft.parts):
        draft.parts = [part for part in draft.parts if part.text.startswith("all words between")]
    elif any(part.text == "all words" for part in draft.parts):
        draft.parts = [part for part in draft.parts if part.text != "any change"]
    if names & LINEWISE and any(part.text == "links" for part in draft.parts):
        draft.parts = [part for part in draft.parts if part.text != "links"]
        draft.note("approximated", "filter: html2text", "the addresses of links in these lines are not compared")


_ENDS_IN_TEXT: Final = re.compile(r"(?:text\(\)|@[\w:-]+)[\s)]*$|^[\w-]+\(")


def _why(has_text: bool, name: str) -> str:
    return IN_TEXT if has_text or name != "jq" else ONLY_PATHS


def _plain_jq(given: tuple[str, Given]) -> tuple[str, Given]:
    """Return a filter; jq where its shell runs nothing but jq."""
    name, options = given
    if name in {"shellpipe", "execute"}:
        try:
            words = shlex.split(str(options.get("command") or ""))
        except ValueError:
            return given
        query = [word for word in words[1:] if not re.fullmatch(r"-[rcMje]+|--raw-output", word)]
        if words[:1] == ["jq"] and len(query) == 1:
            return "jq", {"query": query[0]}
    return given


def _choose(draft: Draft, before: list[tuple[str, str]], name: str, options: Given) -> list[tuple[str, str]] | None:
    """Return the selectors of a filter, within those before it; None if the language has none."""
    if name == "jq":
        found = jsonpath_of_jq(str(options.get("query") or ""))
        if found is None:
            return None
        if found[1]:
            draft.note("approximated", "filter: jq", found[1])
        mine = [("jsonpath", path) for path in found[0]]
    else:
        mine = [_selector(draft, name, options)]
    both = [select_in(outer, inner) for outer in before for inner in mine] if before else mine
    return None if None in both else [one for one in both if one is not None]


def _selector(draft: Draft, name: str, options: Given) -> tuple[str, str]:
    """Return the kind and the text of what a filter selects; XPath if it takes some of it."""
    key, kind = FILTERS[name][0], "xpath" if name == "xpath" else "css"
    text = str(options.get(key) or "")
    if name.startswith("element-by"):
        text = text if key == "tag" else f'[{key}="{text}"]'
    skip, most = (int(options.get(one) or 0) for one in ("skip", "maxitems"))
    if kind == "css" and (skip or most or ":contains(" in text) and (path := xpath_of_css(text)):
        kind, text = "xpath", path
    if (skip or most) and kind == "css":
        draft.note("approximated", f"filter: {name}", "all that the selector finds, without skip and maxitems")
        return kind, text
    return kind, limit(text, skip, most) if skip or most else text


def list_named(given: Any) -> Iterator[tuple[str, Given]]:
    """Yield filters with their options, from a list or the old comma-separated form."""
    if isinstance(given, str):
        given = [
            {part.partition(":")[0].strip(): part.partition(":")[2]} if ":" in part else part.strip()
            for part in re.split(r",(?=\s*[a-z0-9._-]+(?::|,|$))", given)
            if part.strip()
        ]
    for one in given if isinstance(given, list) else []:
        if isinstance(one, str):
            yield one.strip(), {}
        elif isinstance(one, dict):
            for name, options in one.items():
                if isinstance(options, dict):
                    yield str(name), options
                else:
                    key = FILTERS.get(str(name), ("command", _nothing))[0]
                    yield str(name), {key: options} if key and options not in (None, True) else {}
