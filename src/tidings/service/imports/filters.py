"""The filters of urlwatch and webchanges, in order, and their equivalents here.

They transform the text of the whole page in sequence. Here parts are selected first, then texts are
processed line by line; so a selecting filter after one that produces text is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tidings.service.imports.draft import Draft, literal, show_value, write_text

Given = Mapping[str, Any]
Rule = Callable[[Draft, Given], None]
BY_LINE: Final = "it works on the whole text there, but line by line here"
NOTHING: Final = "it has no effect: the layout of a text is never compared"


_JQ_NAME: Final = r"[A-Za-z_]\w*|\"[^\"\\]+\""
_JQ_STEP: Final = rf"(?:\.(?:{_JQ_NAME})|\.?\[(?:(?:-?\d+)?(?::(?:-?\d+)?)?|\"[^\"\\]+\")\])\??"
_JQ_PATH: Final = re.compile(rf"\s*(?:\.|(?:{_JQ_STEP})+)\s*(?:\||$)")


def jsonpath_of_jq(query: str) -> str | None:
    """Return a plain path of jq as JSONPath, or several joined by `|`, each with or without `?`;
    None for anything else.
    """
    path, at = "$", 0
    while at < len(query):
        if (found := _JQ_PATH.match(query, at)) is None or (found[0].endswith("|") and found.end() == len(query)):
            return None
        for step in re.findall(_JQ_STEP, found[0]):
            plain = step.removesuffix("?")
            if plain.startswith('."'):
                plain = f"[{plain[1:]}]"
            bracket = plain.removeprefix(".") if plain.startswith(".[") else plain
            path += "[*]" if bracket == "[]" else bracket
        at = found.end()
    return path if query.strip() else None


def _select(kind: str, key: str) -> Rule:
    def rule(draft: Draft, given: Given) -> None:
        text = str(given.get(key) or "")
        if given.get("skip") or given.get("maxitems"):
            draft.refuse(
                f"filter: {kind}", "skip and maxitems: name the place in the selector (:nth-child, [position() < 3])"
            )
        for unknown in ("method", "namespaces"):
            if given.get(unknown) not in (None, "", "html"):
                draft.note("approximated", f"filter: {kind}", f"{unknown} is decided by the page's content here")
        if text:
            draft.select(kind, text, f"filter: {kind}")
        if given.get("exclude"):
            draft.add(f"Exclude {kind} {write_text(str(given['exclude']))}", f"filter: {kind}")
        if given.get("sort"):
            draft.add("Transform sort", f"filter: {kind}")

    return rule


def _element(attribute: str) -> Rule:
    def rule(draft: Draft, given: Given) -> None:
        value = str(next(iter(given.values()), ""))
        css = value if attribute == "tag" else f'[{attribute}="{value}"]'
        draft.select("css", css, f"filter: element-by-{attribute}")

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


def _replace(draft: Draft, given: Given) -> None:
    pattern, by = str(given.get("pattern") or ""), str(given.get("repl") or "")
    draft.add(f"Transform replace regex {write_text(pattern)} with {write_text(by)}", "filter: re.sub", BY_LINE)


def _find(draft: Draft, given: Given) -> None:
    pattern, by = str(given.get("pattern") or ""), str(given.get("repl") or r"\g<0>")
    difference = (
        "" if by in {r"\g<0>", r"\1"} else f"repl {by!r} is left out: the match, or its first group, is compared"
    )
    draft.monitor(f"regex {write_text(pattern)}", "filter: re.findall", difference)


def _text(draft: Draft, given: Given) -> None:
    method = str(given.get("method") or "re")
    if method in {"pyhtml2text", "html2text", "lynx"}:
        draft.monitor("all words", "filter: html2text")
        draft.monitor("links", "filter: html2text")
    else:
        draft.monitor("all words", "filter: html2text")


def _sort(draft: Draft, given: Given) -> None:
    if given.get("separator") not in (None, "", "\n"):
        draft.refuse("filter: sort", "only lines are sorted here")
    else:
        draft.add("Transform sort", "filter: sort", "in rising order" if given.get("reverse") else "")


def _unique(draft: Draft, given: Given) -> None:
    adjacent = "all equal lines but the first go, not only neighbours" if given.get("adjacent", False) else ""
    draft.add("Transform unique", "filter: remove-duplicate-lines", adjacent)


def _query(draft: Draft, given: Given) -> None:
    query = str(given.get("query") or "")
    if (path := jsonpath_of_jq(query)) is None:
        draft.refuse("filter: jq", f"{show_value(query)}: only plain paths of jq are supported")
    else:
        draft.select("jsonpath", path, "filter: jq", "jq is written as JSONPath")


def _nothing(draft: Draft, given: Given) -> None:  # noqa: ARG001 - one shape for all rules
    return


def _any_change(draft: Draft, given: Given) -> None:  # noqa: ARG001 - as above
    draft.monitor("any change", "filter", "words, links and images are compared instead of a sum of all bytes")


def _csv(draft: Draft, given: Given) -> None:
    draft.monitor("table", "filter: csv2text", "a table is compared by its rows" if given.get("format_message") else "")


def _pdf(draft: Draft, given: Given) -> None:
    if given.get("password"):
        draft.refuse("filter: pdf2text", "a PDF with a password is not read")
    else:
        draft.translate("filter: pdf2text")


FILTERS: Final[dict[str, tuple[str, Rule]]] = {
    "css": ("selector", _select("css", "selector")),
    "xpath": ("path", _select("xpath", "path")),
    "element-by-id": ("id", _element("id")),
    "element-by-class": ("class", _element("class")),
    "element-by-style": ("style", _element("style")),
    "element-by-tag": ("tag", _element("tag")),
    "html2text": ("method", _text),
    "grep": ("re", _lines("keep")),
    "grepi": ("re", _lines("drop")),
    "keep_lines_containing": ("text", _lines("keep")),
    "delete_lines_containing": ("text", _lines("drop")),
    "re.sub": ("pattern", _replace),
    "re.findall": ("pattern", _find),
    "sort": ("separator", _sort),
    "remove-duplicate-lines": ("", _unique),
    "remove_repeated": ("separator", _unique),
    "jq": ("query", _query),
    "csv2text": ("format_message", _csv),
    "pdf2text": ("password", _pdf),
    "pypdf": ("password", _pdf),
    "sha1sum": ("", _any_change),
    "sha256sum": ("", _any_change),
    **dict.fromkeys(
        "strip striplines strip_each_line beautify format-json format-xml pretty-xml jsontoyaml reverse ical2text "
        "strip_empty_lines absolute_links".split(),
        ("", _nothing),
    ),
}
"""By name: the sub-key of a plain value, and the rule for the filter."""
SELECTING: Final = frozenset(
    {"css", "xpath", "jq", "element-by-id", "element-by-class", "element-by-style", "element-by-tag"}
)
TEXTUAL: Final = frozenset(
    {"html2text", "grep", "grepi", "re.sub", "re.findall", "keep_lines_containing", "delete_lines_containing"}
)
WHY: Final = {
    "ocr": "text in pictures is not read",
    "shellpipe": "no shell is run; `Using command` watches what a program writes, where the operator allows it",
    "execute": "no program is run on a page",
    "hexdump": "bytes are not compared",
    "ascii85": "bytes are not compared",
    "base64": "bytes are not compared",
}


def apply(draft: Draft, given: Any) -> None:
    """Convert each filter of a job to clauses, in order."""
    has_text, is_empty, selected = False, True, 0
    for name, options in list_named(given):
        is_empty = False
        if name in SELECTING:
            selected += 1
        if name not in FILTERS:
            draft.refuse(f"filter: {name}", WHY.get(name, "a filter of your own (hooks.py) is not run"))
        elif name in SELECTING and (has_text or selected > 1):
            draft.refuse(f"filter: {name}", "it selects in what another filter left; write one selector for both")
        else:
            if FILTERS[name][1] is _nothing:
                draft.note("translated", f"filter: {name}", NOTHING)
            FILTERS[name][1](draft, options)
        has_text = has_text or name in TEXTUAL
    if not draft.parts:
        if is_empty:
            draft.monitor(
                "any change", "filter", "without a filter the source is compared there; here words, links, images"
            )
        else:
            draft.monitor("all words", "filter")


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
                    key = FILTERS.get(str(name), ("", _nothing))[0]
                    yield str(name), {key: options} if key and options not in (None, True) else {}
