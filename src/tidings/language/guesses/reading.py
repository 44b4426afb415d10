"""Reads a line of tokens with the phrases of `phrases.txt`: at each place those of the present
clause, then words that begin another one, then words that say nothing.
"""

from __future__ import annotations

import re
import shlex
from functools import cache
from importlib.resources import files
from typing import Final

from tidings.language.guesses import effects
from tidings.language.guesses.effects import Effect, Several, Value
from tidings.language.guesses.tokens import Tokens, compile_phrase
from tidings.language.guesses.wish import Notice, NotMeantError, Wish
from tidings.record import dataclass

_BELONGS: Final = {"condition": "monitor", "quiet": "notify", "implied": "monitor", "-": ""}
"""Conditions belong to Monitor, quiet hours and limits to Notify; `implied` is a Monitor without
its word; after `-` the next word begins another clause.
"""
_NEEDS: Final = frozenset({"exclude", "select", "header", "tags"})
"""Kinds of clauses that are nothing without a further word."""
_NEAR_HEAD: Final = frozenset({"", "monitor", "fetch", "exclude", "tags"})
"""Kinds of clauses in which an address is a page of the sentinel."""


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A phrase: its pattern, what it adds, and in `leads` the kind of clause that begins."""

    pattern: re.Pattern[str]
    effects: tuple[tuple[Effect, tuple[str, ...]], ...]
    kind: str = ""
    refers: bool = False
    """whether the first value is the noun that a condition is about"""


@dataclass(frozen=True, slots=True)
class _Phrases:
    of: dict[str, tuple[_Phrase, ...]]
    fillers: dict[str, re.Pattern[str]]


@cache
def phrases() -> _Phrases:
    """Return all phrases, read once."""
    known: dict[str, str] = {}
    of: dict[str, list[_Phrase]] = {"": []}
    fillers: dict[str, re.Pattern[str]] = {}
    section = ""
    for line in files(__package__).joinpath("phrases.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and " => " not in line:
            section = line[1:-1]
        elif found := re.fullmatch(r"([A-Z]+) = (.*)", line):
            known[found[1]] = _expand(found[2], known)
        elif section.startswith("fillers") and line:
            fillers[section.removeprefix("fillers").strip()] = re.compile(f"(?:{line}) ")
        elif line and not line.startswith("#"):
            of.setdefault(section, []).append(_phrase(_expand(line, known), section, known))
    of["monitor"] = [*of.pop("conditions"), *of["monitor"]]
    return _Phrases({kind: tuple(rows) for kind, rows in of.items()}, fillers)


def _expand(text: str, known: dict[str, str]) -> str:
    return re.sub(r"@([A-Z]+)", lambda found: known[found[1]], text)


def _phrase(line: str, section: str, known: dict[str, str]) -> _Phrase:
    phrase, _, effect = line.partition(" => ")
    is_condition = section == "conditions"
    kind, _, effect = effect.partition(" ") if section == "leads" else ("", "", effect)
    words = " \0".join(shlex.split(effect)).split(" \0; \0")
    found = tuple((getattr(effects, name), tuple(rest)) for name, *rest in (one.split(" \0") for one in words))
    whole = f"{effects.nouns(known['THINGS'])} {phrase}" if is_condition else phrase
    return _Phrase(compile_phrase(whole), found, kind, is_condition)


def read(tokens: Tokens, text: str, wish: Wish) -> bool:
    """Read tokens into a wish. Return whether all of them are understood. Raise `NotPossibleError`
    for what the language does not have.

    Args:
        tokens: The tokens.
        text: The text that they are of.
        wish: What was read before, and takes what is read.
    """
    at, kind, is_open = 0, "", False
    while at < len(tokens.line):
        heads = phrases().of["head"] if wish.is_statement and kind in _NEAR_HEAD else ()
        if found := _first((*heads, *phrases().of.get(kind, ())), kind, tokens, text, wish, at):
            at, is_open = found[1], False
            kind = kind or ("monitor" if heads else "")
            continue
        if found := _first(phrases().of["leads"], kind, tokens, text, wish, at):
            lead, end = found
            if end == at and kind == _BELONGS.get(lead.kind, lead.kind):
                return False
            if is_open and kind in _NEEDS:
                return False  # a word that begins a clause, and no more of it
            kind, at = _begin(lead.kind, wish), end
            is_open = kind in {*_NEEDS, "monitor", "fetch"} and all(
                effect is effects.skip for effect, _ in lead.effects
            )
            continue
        filler = phrases().fillers.get(kind, phrases().fillers[""]).match(tokens.line, at)
        if filler is None:
            return False
        at = filler.end()
    return bool(tokens.line) and not is_open


def _first(
    rows: tuple[_Phrase, ...], kind: str, tokens: Tokens, text: str, wish: Wish, at: int
) -> tuple[_Phrase, int] | None:
    """Return the first phrase that is understood at a place, with its end; it is added to the
    wish.
    """
    for phrase in rows:
        if phrase.kind == "implied" and kind:
            continue
        found = phrase.pattern.match(tokens.line, at)
        if found and (found.end() > at or phrase.kind) and _add(phrase, found, tokens, text, wish):
            return phrase, found.end()
    return None


def _begin(lead: str, wish: Wish) -> str:
    """Begin another clause, and return its kind."""
    wish.joint = ""
    wish.is_condition |= lead == "condition"
    if lead == "notify" and (not wish.notices or not wish.notice.is_empty):
        wish.notices.append(Notice())
    return _BELONGS.get(lead, lead)


def _add(phrase: _Phrase, found: re.Match[str], tokens: Tokens, text: str, wish: Wish) -> bool:
    """Add a phrase to a wish; return False, and add nothing, if it is not meant."""
    values = [_value(found, group, tokens, text) for group in range(1, found.re.groups + 1)]
    before = wish.copy()
    try:
        if phrase.refers:
            noun = values.pop(0)
            effects.refer(wish, noun if isinstance(noun, str) else "")
        for effect, arguments in phrase.effects:
            effect(wish, *(_fill(argument, values) for argument in arguments))
    except NotMeantError:
        wish.restore(before)
        return False
    return True


def _fill(argument: str, values: list[Value]) -> Value:
    """Return an argument with the values of the phrase in it."""
    if re.fullmatch(r"\$\d", argument):
        return values[int(argument[1]) - 1]

    def write(found: re.Match[str]) -> str:
        value = str(values[int(found[1]) - 1])
        return effects.FILTERS[found[2]](value) if found[2] else value

    return re.sub(r"\$(\d)(?::([a-z]+))?", write, argument)


def _value(found: re.Match[str], group: int, tokens: Tokens, text: str) -> Value:
    """Return what a group stands for: the value of a token, several, or the words of the text."""
    matched, at = found[group] or "", found.start(group)
    places = [at + one.start() for one in re.finditer(r"[A-Z]\d+ ", matched)]
    if len(places) > 1:
        values = tuple(tokens.value(place) for place in places)
        return Several(values, "AND" if re.search(r"\band |& ", matched) else "OR")
    if places:
        return tokens.value(places[0])
    if not matched:
        return ""
    return text[tokens.place(at)[0] : tokens.place(found.end(group) - 2)[1]]
