"""CSS selectors for lexbor: what it does not know, or reads against the standard, is rewritten.

Selectors level 4 (https://www.w3.org/TR/selectors-4/). States that only an interactive browser has
are refused, with an alternative.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_CONTROLS: Final = "button, input, select, textarea, fieldset"
_DISABLED: Final = (
    f":is(:is({_CONTROLS}, optgroup, option)[disabled], optgroup[disabled] > option,"
    f" fieldset[disabled] > :is({_CONTROLS}), fieldset[disabled] > :not(legend:first-of-type) :is({_CONTROLS}))"
)
_WRITTEN: Final = {
    ":scope": ":root",
    "&": ":root",
    ":matches(": ":is(",
    ":any(": ":is(",
    ":-webkit-any(": ":is(",
    ":-moz-any(": ":is(",
    ":open": ":is(details, dialog)[open]",
    ":muted": ":is(audio, video)[muted]",
    ":required": ":is(input, select, textarea)[required]",
    ":optional": ":is(input, select, textarea):not([required])",
    ":disabled": _DISABLED,
    ":enabled": f":is({_CONTROLS}, optgroup, option):not({_DISABLED})",
}
_STRING: Final = r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
_TOKEN: Final = re.compile(
    rf"""(?P<unlike>\[\s*(?P<name>[^\]=!"'\s]+)\s*!=\s*(?P<value>{_STRING}|[^\]"'\s]+)(?P<flag>\s+[is])?\s*\])"""
    rf"""|(?P<kept>{_STRING}|\\.|\[(?:{_STRING}|[^\]"'])*\])|(?P<pseudo>:[\w-]+\(?|&)""",
    re.DOTALL | re.IGNORECASE,
)
_OF_ITS_OWN: Final = re.compile(r":has\(\s*(?::scope|&)\s*(?=[\s>+~])")

_BARE: Final = re.compile(rf"(?P<kept>{_STRING}|\\.)|(?P<before>^|[\s>+~,(])(?=:[a-z-])", re.DOTALL | re.IGNORECASE)
"""The place of a pseudo-class without an element: within `:has`, lexbor tries only one child or
sibling for it.
"""

_REASONS: Final = {
    **dict.fromkeys(
        "hover active focus focus-within focus-visible visited local-link target target-within user-valid user-invalid current past future playing paused "
        "host host-context defined fullscreen modal".split(),
        "only a browser in use knows this",
    ),
    **dict.fromkeys(
        "default indeterminate in-range out-of-range valid invalid read-only read-write placeholder-shown".split(),
        "it depends on the content of a form; use an attribute: [checked], [selected], [max]",
    ),
    **dict.fromkeys(
        "contains -soup-contains -soup-contains-own has-text text".split(),
        "css cannot search for text; write xpath \"//p[contains(., 'text')]\"",
    ),
    "lang": 'write the attribute: [lang|="de"], [lang|="de"] *',
    "dir": 'write the attribute: [dir="rtl"], [dir="rtl"] *',
}
"""Refused pseudo-classes, by name: those that no page states, or that lexbor would match
wrongly.
"""
_NAMES: Final = re.compile(rf"{_STRING}|\\.|(?<!:):([\w-]+)", re.DOTALL)
_BARE_DIGIT: Final = re.compile(r"=\s*\d[^\]]*\]")


@lru_cache(maxsize=1_024)
def for_lexbor(text: str) -> str:
    """Return a selector with the meaning of `text` for lexbor."""
    plain = _OF_ITS_OWN.sub(":has(", text)
    if ":has(" in plain:
        plain = _BARE.sub(lambda found: found["kept"] or f"{found['before']}*", plain)
    return _TOKEN.sub(_rewrite, plain)


def explain_refusal(text: str) -> str:
    """Return why a selector asks for what no page states, empty if it does not."""
    for found in _NAMES.finditer(text):
        if (name := (found[1] or "").lower()) in _REASONS:
            return f":{name} never matches here: {_REASONS[name]}"
    plain = _OF_ITS_OWN.sub(":has(", text)
    if ":has(" in plain and {":scope", "&"} & {(found["pseudo"] or "").lower() for found in _TOKEN.finditer(plain)}:
        return "it cannot be read: within :has, :scope must be first"
    return ""


def why_not(text: str) -> str:
    """Return what is wrong with a selector that lexbor cannot parse."""
    if "::" in text:
        return "it cannot be read: a part that begins with :: is not an element of a page"
    if _BARE_DIGIT.search(text):
        return 'it cannot be read: write a value that begins with a digit in quotes, [id="1"]'
    return "it cannot be read"


def _rewrite(found: re.Match[str]) -> str:
    if found["unlike"]:
        return f":not([{found['name']}={found['value']}{found['flag'] or ''}])"
    if found["kept"]:
        return found["kept"]
    return _WRITTEN.get(found["pseudo"].lower(), found["pseudo"])
