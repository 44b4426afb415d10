"""What a text asks for, part by part, and the clauses that say it in the language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import field
from itertools import pairwise, product
from typing import Any, Final

from tidings.language.expressions import quote
from tidings.language.guesses.tokens import TAGS
from tidings.record import dataclass, replace


class NotMeantError(Exception):
    """A phrase does not fit here."""


class NotPossibleError(Exception):
    """A phrase has no meaning in the language; the text says what there is instead."""


ANY: Final = "any change"
WORDS: Final = "all words"
NUMBERS: Final = "numbers"
"""Several numbers, which the language has as matches of a pattern."""
_NUMERIC: Final = re.compile(r"(?:is |becomes |value )?(?:[<>=!]|between )|(?:rises|drops|changes) |lowest|highest")
_NUMBERS: Final = frozenset({"price", "number"})
_COUNTED: Final = frozenset({ANY, WORDS, "all links", "all images", "items", "table", "list"})
_NEVER_UPDATED: Final = frozenset({ANY, "all links", "all images", "price", "number", "status", "keyword", "regex"})
_MOST_WAYS: Final = 8
"""Most changes that alternatives of conditions are written as."""
RECEIVER: Final = "email you@example.org"
"""Who is notified in a suggestion for somebody who named nobody."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of Monitor. `texts` are alternatives: each is a change of the kind. Each condition
    is a set of alternatives, too.
    """

    kind: str = ""
    texts: tuple[str, ...] = ()
    form: str = ""
    direction: str = ""
    part: str = ""
    page: str = ""
    where: tuple[tuple[str, ...], ...] = ()
    joint: str = ""
    """what joins it to the change before it: OR, AND, AND NOT"""
    texts_joint: str = "OR"

    @property
    def is_named(self) -> bool:
        """Return whether it says what is watched."""
        return bool(self.kind or self.part)

    def with_text(self, text: str, joint: str) -> Change:
        """Return the change with one more alternative."""
        return replace(self, texts=(*self.texts, text), texts_joint=joint)


@dataclass(slots=True)
class Notice:
    """A Notify clause."""

    receivers: list[str] = field(default_factory=list)
    every: str = ""
    times: list[str] = field(default_factory=list)
    days: str = ""
    rate: str = ""
    quiet: str = ""
    cap: str = ""
    title: str = ""
    texts: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was said."""
        return not (self.receivers or self.every or self.times or self.days or self.rate or self.quiet or self.cap
                    or self.title or self.texts)  # fmt: skip

    def write(self) -> str:
        """Return the clause."""
        receivers = ", ".join(dict.fromkeys(self.receivers)) or RECEIVER
        if self.rate == "errors":
            return f"Errors to {receivers}"
        words = [f"Notify by {receivers}"]
        if self.times or self.days:
            words.append(f"at {', '.join(self.times or self._times_of_interval())} {self.days or 'daily'}")
        elif self.every or self.rate:
            words.append(self.rate or f"every {self.every}")
        words += [f"quiet {self.quiet}"] if self.quiet else []
        words += [f"max {self.cap}"] if self.cap else []
        if self.title or self.texts:
            words += [
                "with",
                *(("title", self.title) if self.title else ()),
                *(("text", *self.texts) if self.texts else ()),
            ]
        return " ".join(words)

    def _times_of_interval(self) -> list[str]:
        """Return the times of day of an interval on some days only; once a day if it does not
        divide a day.
        """
        found = re.fullmatch(r"(\d+) hour", self.every)
        hours = int(found[1]) if found else 24
        return (
            [f"{hour:02}:00" for hour in range(0, 24, hours)]
            if hours > 1 and 24 % hours == 0 < 24 - hours
            else ["08:00"]
        )


@dataclass(slots=True)
class Wish:
    """The parts that were recognised."""

    verb: str = ""
    name: str = ""
    pages: list[tuple[str, str]] = field(default_factory=list)
    is_joint: bool = False
    """whether all pages must change"""
    is_site: bool = False
    is_condition: bool = False
    """whether a condition begins the text: what it is about was said elsewhere"""
    about: str = ""
    """the noun of the last condition"""
    is_statement: bool = False
    """whether the text may name the sentinel and its pages"""
    sort: str = ""
    """what is watched if nothing else is said, by the kind of page"""
    changes: list[Change] = field(default_factory=list)
    lasting: str = ""
    within: str = ""
    every: str = ""
    times: list[str] = field(default_factory=list)
    days: str = ""
    hours: str = ""
    how: str = ""
    zone: str = ""
    notices: list[Notice] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    has_browser: bool = False
    has_picture: bool = False
    tags: list[str] = field(default_factory=list)
    noise: list[str] = field(default_factory=list)
    """patterns that are ignored"""
    start: str = ""
    end: str = ""
    others: list[str] = field(default_factory=list)
    """clauses that need no further parts"""
    notes: list[str] = field(default_factory=list)
    """what a suggestion does not say"""
    joint: str = ""
    """what joins the next part of a Monitor or Exclude clause"""
    login: dict[str, str] = field(default_factory=dict)

    # ---- Monitor

    def change(self, kind: str, *texts: str, **fields: Any) -> None:
        """Add a change type, or name that of the present change."""
        if self.joint == "AND NOT" and not self.changes:
            self.changes.append(Change(ANY))
        joint, self.joint = self.joint if self.changes else "", ""
        last = self.changes[-1] if self.changes else None
        if last is not None and self.is_condition and not (joint or last.where) and last.kind in {ANY, WORDS}:
            self.changes[-1] = replace(last, kind=kind, texts=texts, **fields)
        elif (
            last is not None
            and (not joint or not last.is_named)
            and (last.kind in {"", kind, ANY} or kind in {ANY, last.kind})
        ):
            new_kind = last.kind if kind == ANY and last.kind else kind
            self.changes[-1] = replace(last, kind=new_kind, texts=texts or last.texts, **fields)
        elif last is not None and self.is_condition and not joint and last.is_named:
            raise NotMeantError  # a condition on something else than what is watched
        else:
            self.changes.append(Change(kind, texts, joint=joint or ("OR" if self.changes else ""), **fields))

    def narrow(self, **fields: Any) -> None:
        """Narrow the present change: its direction, part, page or form. A second direction after OR
        is a change of its own.
        """
        if not self.changes:
            self.changes.append(Change())
        last = self.changes[-1]
        if self.joint == "OR" and last.direction and fields.get("direction", last.direction) != last.direction:
            self.joint = ""
            self.changes.append(replace(last, joint="OR", **fields))
            return
        self.changes[-1] = replace(last, **fields)

    def where(self, *alternatives: str) -> None:
        """Add a condition to the present change; after OR, an alternative to its last one."""
        joint, self.joint = self.joint, ""
        if not self.changes:
            self.changes.append(Change())
        last = self.changes[-1]
        if joint == "OR" and last.where:
            self.changes[-1] = replace(last, where=(*last.where[:-1], (*last.where[-1], *alternatives)))
        elif alternatives not in last.where:
            self.changes[-1] = replace(last, where=(*last.where, alternatives))

    @staticmethod
    def secret_of(text: str) -> str:
        """Return the name of the secret for a variable, or NAME for a text that must be stored."""
        found = re.fullmatch(r'"?(?:.*\$\{?)?([A-Z][A-Z0-9_]+)\}?"?', text)
        return quote(found[1]) if found else '"NAME"'

    def copy(self) -> dict[str, object]:
        """Return the present state, for `restore`."""
        values = {name: getattr(self, name) for name in self.__slots__}
        copies = {name: copy(value) if isinstance(value, (list, dict)) else value for name, value in values.items()}
        return {**copies, "notices": deepcopy(self.notices)} if self.notices else copies

    def restore(self, values: dict[str, object]) -> None:
        """Return to an earlier state."""
        for name, value in values.items():
            setattr(self, name, value)

    def _monitor(self) -> str:
        """Return the Monitor clause."""
        parts: list[str] = []
        for before, change in pairwise((Change(), *self.changes)):
            is_rest = change.joint == "OR" and change == replace(before, direction="", joint="OR")
            if is_rest and before.direction in {"inserted", "deleted"} and change.kind not in _NEVER_UPDATED:
                change = replace(change, direction="updated")  # noqa: PLW2901 - new rows or changed rows
            ways = self._ways(change)
            text = f" {change.texts_joint if len(ways) > 1 else 'OR'} ".join(ways)
            is_mixed = len(ways) > 1 and change.joint.startswith("AND")
            parts.append(f"{change.joint} {f'({text})' if is_mixed else text}".strip())
        joined = " ".join(parts)
        if self.is_joint and len(self.pages) > 1:
            joined = " AND ".join(f"{self._of(joined, page)}" for _, page in self.pages)
        within = f" within {self.within}" if self.within else ""
        return f"Monitor {joined}{within}{f' for at least {self.lasting}' if self.lasting else ''}"

    @staticmethod
    def _of(text: str, page: str) -> str:
        kind, where, rest = text.partition(" where ")
        return f"{kind} of {page}{where}{rest}"

    def _ways(self, change: Change) -> list[str]:
        """Return the changes of the language that a change with alternatives stands for."""
        kind = change.kind
        is_numeric = any(_NUMERIC.match(one) for way in change.where for one in way)
        if kind == NUMBERS:
            kind = "number" if is_numeric else r'regex "\d[\d.,]*"'
        if kind in {"", ANY, WORDS} and is_numeric:
            kind = "number" if change.part or kind == WORDS else "price"
        kind = kind or ANY
        if " column " in kind:  # conditions are about each cell
            change = replace(
                change,
                where=tuple(tuple(re.sub("^is (?=[<>=])", "value ", one) for one in way) for way in change.where),
            )
        conditions = [_join_texts([_of_counts(kind, one) for one in way]) for way in change.where]
        if kind == "status" and (found := _state_condition(change.where)):
            conditions = [(found,)]
        combined = list(product(*conditions))[:_MOST_WAYS]
        tail = "".join(
            (f" {change.form}" if change.form else "",
             f" {change.direction}" if change.direction and kind not in {"price", "number", "availability", "status", ANY} else "",
             f" in {change.part}" if change.part else "",
             f" of {change.page}" if change.page else "")
        )  # fmt: skip
        if change.direction and kind == ANY:
            kind, tail = WORDS, f" {change.direction}{tail}"
        kinds = [f"{kind} {text}" for text in change.texts] or [kind]
        wheres = [f" where {' but '.join(where)}" if where else "" for where in combined]
        return [f"{one}{tail}{where}" for one in kinds for where in wheres]

    # ---- all clauses

    @property
    def notice(self) -> Notice:
        """Return the present Notify clause."""
        if not self.notices:
            self.notices.append(Notice())
        return self.notices[-1]

    def clauses(self) -> Iterator[str]:
        """Yield the clauses."""
        if self.changes:
            yield self._monitor()
        if self.noise:
            yield f"Exclude regex {chr(34)}{'|'.join(self.noise)}{chr(34)}"
        yield from dict.fromkeys(self.others)
        yield from self._when()
        for notice in self.notices:
            yield notice.write()
        if self.steps or self.has_browser or self.has_picture:
            steps = f" steps ({', '.join(self.steps)})" if self.steps else ""
            yield f"Render browser{' screenshot' if self.has_picture else ''}{steps}"
        if self.login:
            login = {"page": '"https://example.org/login"', "user": '"NAME"', "secret": '"NAME"'} | self.login
            yield f"Login form {login['page']} user {login['user']} password secret {login['secret']}"
        if self.tags:
            yield f"Tags {', '.join(dict.fromkeys(self.tags))}"

    def _when(self) -> Iterator[str]:
        opening = f"{self.days or 'daily'}{f' {self.hours}' if self.hours else ''}" if self.days or self.hours else ""
        if self.times and self.every not in {"", "1 day", "1 week"}:
            raise NotMeantError  # two intervals
        if self.times:
            yield f"Fetch at {', '.join(dict.fromkeys(self.times))} {self.days or 'daily'}"
        elif self.every in {"", "1 day", "1 week", "2 week", "30 day"} and self.days and not (self.hours or self.how):
            yield f"Fetch at 08:00 {self.days}"
        elif self.every or self.how:
            yield f"Fetch {self.how or f'every {self.every}'}"
            if opening:
                yield f"During {opening}"
        elif opening:
            yield f"During {opening}"
        yield from filter(None, (self.start, self.end, f"Zone {self.zone}" if self.zone else ""))


def _join_texts(ways: Sequence[str]) -> tuple[str, ...]:
    """Return alternatives of a condition; those on simple texts are one condition with a list."""
    found = [re.fullmatch(r'((?:page )?(?:contains|has)) "([^",<>]+)"', way) for way in ways]
    verbs = {one[1] for one in found if one}
    if len(ways) < 2 or not all(found) or len(verbs) > 1:
        return tuple(ways)
    return (f"{verbs.pop()} <{', '.join(one[2] for one in found if one)}>",)


def _state_condition(where: Sequence[tuple[str, ...]]) -> str:
    """Return the condition on states of `status` that conditions on numbers mean; "" if one means
    something else.
    """
    found = [re.fullmatch(r"(?:value |is |becomes )?(=|!=|>=?) (\d\d\d)", one) for way in where for one in way]
    if not (found and all(found)):
        return ""
    codes = [(one[1], "ok" if one[2] == "200" else one[2]) for one in found if one]
    if len(codes) == 1 and codes[0][0] == "!=":
        return f'lacks "{codes[0][1]}"'
    failed = {">500": "5..", ">=500": "5.."}
    states = (code if sign == "=" else failed.get(sign + code, "4..|5..") for sign, code in codes)
    return f'matches "{"|".join(dict.fromkeys(states))}"'


def _of_counts(kind: str, condition: str) -> str:
    """Return a condition that fits the change type: of texts and lists, changes by a percentage is
    a share, and a number is a count.
    """
    found = re.fullmatch(r"changes by (more than )?(\d+(?:\.\d+)?)(%?)", condition)
    if found and kind in _COUNTED:
        relation = ">" if found[1] else ">="
        return f"share {relation} {found[2]}%" if found[3] else f"changed {relation} {found[2]}"
    return condition


def part_of(kind: str, text: str) -> str:
    """Return a part of the page. Raises `NotMeantError` for a text that is no selector."""
    kind, selector = kind.lower(), text[1:-1]
    if kind.startswith(("xpath", "json")):
        return f"{'xpath' if kind.startswith('x') else 'jsonpath'} {text}"
    if kind.startswith(("id", "class")):
        return f"css {quote(('#' if kind.startswith('id') else '.') + selector.lstrip('#.'))}"
    found = selector_of(text) or (f"css {text}" if kind and not _HEADING.fullmatch(selector) else "")
    if not found:
        raise NotMeantError
    return found


_HEADING: Final = re.compile(r"(?!H[1-6]\b)[A-Z][\w' -]*")
"""A text that is a heading of a page, and no selector."""


def literal(text: str) -> str:
    """Return a pattern for just this text in quotes."""
    return re.escape(text.strip('"')).replace(r"\ ", " ").replace(r"\-", "-")


def selector_of(text: str) -> str:
    """Return a text in quotes as a selector of the language; "" if it does not look like one."""
    selector = text[1:-1].replace('\\"', '"').strip()
    if re.match(r"\.?//?[\w*@.]|\(/", selector):
        return f"xpath {text}"
    if re.match(r"\$[.\[]", selector):
        return f"jsonpath {text}"
    if re.match(r"[.#\[*:][\w\-\[:\"='*]", selector):
        return f"css {text}"
    first = re.match(r"([a-z][a-z0-9]*)(?=$|[.#:\[\s>+~,])", selector)
    is_element = first is not None and first[1] in TAGS
    rest = re.split(r"[\s>+~,]+", selector) if is_element else []
    return f"css {text}" if rest and all(_SIMPLE.match(one) for one in rest if one) else ""


_SIMPLE: Final = re.compile(rf"(?:{'|'.join(TAGS)})?(?:[.#:\[]|$)|\*")


def text_pattern(text: str) -> str:
    """Return a text in quotes with stars as a pattern in quotes."""
    pattern = text[1:-1].strip()
    body = ".*".join(re.escape(one).replace(r"\ ", " ").replace(r"\-", "-") for one in pattern.split("*"))
    if pattern.startswith("*") and not pattern.endswith("*"):
        body = body.removeprefix(".*") + "$"
    return quote(body) if "\\" not in pattern else f'"{body}"'
