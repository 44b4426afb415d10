"""Sentinels written in Python (sentinels §1.7): the same values as the other forms give.

    sentinel(
        "oil",
        A="https://blog.example/feed",
        B="https://news.example/breaking",
        monitor=items.inserted.of("A").where(contains="oil"),
        then=[check("B", within=minutes(10))],
        fetch=every(minutes(3), slack=minutes(2)),
        notify=[tell(dashboard, rate=immediate)],
    )

Changes are joined by `&`, `|` and `~`. Other fields are those of `model.sentinel.Sentinel`. The
language's checks apply: the printed text is parsed, and its problems are raised.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, TypeVar, cast

from tidings.errors import SentinelError
from tidings.language.clauses.scope import usual_patterns
from tidings.language.parser import parse
from tidings.language.problems import Problem
from tidings.language.times import measure as read_duration
from tidings.language.times import read_clock, read_days
from tidings.language.write.printer import to_text
from tidings.model.event_type import CreateEvent, EventSource, Origin
from tidings.model.interval import Duration
from tidings.model.watch.asking import BrowserStep, Login, StepVerb, Value, url_of
from tidings.model.watch.interest import (
    EXTREMES,
    FORMS,
    ON_PAGE,
    ON_TEXTS,
    AllOf,
    AnyOf,
    Condition,
    Expression,
    Interest,
    Not,
    Relation,
    Selector,
)
from tidings.model.watch.notifying import Cap, Channel, Notify, Quiet, Rate, Wording
from tidings.model.watch.sentinel import LISTING, Lasting, Scope, Sentinel, Then, Watched
from tidings.model.watch.timing import DAILY, Clock, Days, Fetch, FetchAt, FetchEvery, FetchOnChange, FetchOnDemand
from tidings.record import dataclass, replace

Made = TypeVar("Made", Sentinel, CreateEvent)
_RELATION = re.compile(r"(<=|>=|!=|<|>|=|between)\s*(-?\d+(?:\.\d+)?)(?:\s+and\s+(-?\d+(?:\.\d+)?))?(%?)")
_AMOUNT = re.compile(r"(more than\s+)?(\d+(?:\.\d+)?)(%?)")


@dataclass(frozen=True, slots=True)
class BuiltChange:
    """A change that can be narrowed and joined; `meant` is its model value."""

    meant: Expression

    @property
    def inserted(self) -> BuiltChange:
        """Return the change, insertions only."""
        return self._narrow(direction="inserted")

    @property
    def deleted(self) -> BuiltChange:
        """Return the change, deletions only."""
        return self._narrow(direction="deleted")

    @property
    def updated(self) -> BuiltChange:
        """Return the change, updates only."""
        return self._narrow(direction="updated")

    def within(self, language: Literal["css", "xpath", "jsonpath"], text: str) -> BuiltChange:
        """Return the change in this part of the page."""
        return self._narrow(selector=Selector(language, text))

    def compare_as(self, form: Literal["raw", "resolved", "canonical", "strict"]) -> BuiltChange:
        """Return the change of links or images at this level of identity, or of words as in the
        thesis. Raise `ValueError` if a type has no such form.
        """
        kind = cast("Interest", self.meant).kind
        if form not in FORMS.get(kind, ()):
            raise ValueError(f"{kind} have no form {form}")
        return self._narrow(form=form)

    def between(self, after: str = "", before: str = "") -> BuiltChange:
        """Return the number, or the words, after a text of the page, before one, or between two."""
        return self._narrow(after=after, before=before)

    def of(self, page: str) -> BuiltChange:
        """Return the change of this page only."""
        return self._narrow(of=page)

    def where(self, **conditions: str | Sequence[str]) -> BuiltChange:
        """Return the change if all conditions hold: `value="< 100"`, `changes="more than 5%"`,
        `contains="oil"`, `contains=("oil", "gas")`, `lacks="sold"`, `page_has="in stock"`, `is_="<
        100"`, `lowest="so far"`, `highest="30 days"`.

        Raises `ValueError` for an invalid condition.
        """
        meant = cast("Interest", self.meant)
        added = tuple(_condition(measure, value) for measure, value in conditions.items())
        return self._narrow(where=(*meant.where, *added))

    @property
    def unseen(self) -> BuiltChange:
        """Return the change, only of things and lines that no earlier version had."""
        meant = cast("Interest", self.meant)
        return self._narrow(where=(*meant.where, Condition("never seen")))

    def __and__(self, other: BuiltChange) -> BuiltChange:
        """Return both, in the same comparison."""
        return BuiltChange(AllOf((*_members(self, AllOf), *_members(other, AllOf))))

    def __or__(self, other: BuiltChange) -> BuiltChange:
        """Return either."""
        return BuiltChange(AnyOf((*_members(self, AnyOf), *_members(other, AnyOf))))

    def __invert__(self) -> BuiltChange:
        """Return the negation, to be joined by `&`."""
        return BuiltChange(Not(self.meant))

    def _narrow(self, **fields: Any) -> BuiltChange:
        if not isinstance(self.meant, Interest):
            raise TypeError("changes that are joined cannot be narrowed: narrow each")
        return BuiltChange(replace(self.meant, **fields))


any_change, words, links, images, items, number, status, price, availability = (
    BuiltChange(Interest(kind))
    for kind in ("any", "words", "links", "images", "items", "number", "status", "price", "availability")
)


pages = BuiltChange(Interest("links", of=LISTING))
"""The pages of a collection: those that are new, gone or moved."""


def keywords(*terms: str) -> BuiltChange:
    """Return changes in the counts of these words on the page."""
    return BuiltChange(Interest("keywords", terms))


def phrases(*terms: str) -> BuiltChange:
    """Return changes of these runs of words."""
    return BuiltChange(Interest("phrases", terms))


def table(ordinal: int | None = None, column: str = "") -> BuiltChange:
    """Return changes of all tables, or of the one of this number; only of a column if it is
    given.
    """
    return BuiltChange(Interest("table", ordinal=ordinal, column=column))


def nth_number(ordinal: int) -> BuiltChange:
    """Return changes of the number at this place of the text, from 1."""
    return BuiltChange(Interest("number", ordinal=ordinal if ordinal > 1 else None))


def entries(ordinal: int | None = None) -> BuiltChange:
    """Return changes of all lists (`list` of the language), or of the one of this number."""
    return BuiltChange(Interest("list", ordinal=ordinal))


def regex(pattern: str) -> BuiltChange:
    """Return changes of the matches of an RE2 pattern."""
    return BuiltChange(Interest("regex", pattern=pattern))


def header(name: str) -> BuiltChange:
    """Return changes of a response header."""
    return BuiltChange(Interest("header", header=name))


def seconds(amount: float) -> Duration:
    """Return so many seconds in µs."""
    return round(amount * 1_000_000)


def minutes(amount: float) -> Duration:
    """Return so many minutes in µs."""
    return seconds(amount * 60)


def hours(amount: float) -> Duration:
    """Return so many hours in µs."""
    return minutes(amount * 60)


def days(amount: float) -> Duration:
    """Return so many days of 24 hours in µs."""
    return hours(amount * 24)


def every(interval: Duration, *, slack: Duration | None = None) -> FetchEvery:
    """Return a fixed interval."""
    return FetchEvery(interval, slack)


def at(*times: str, slack: Duration | None = None) -> FetchAt:
    """Return times of day, on some days: `at("06:00", "18:00", "mon-fri")`. Raise `ValueError` for
    an invalid one.
    """
    clocks = sorted({_clock(text) for text in times if text[:1].isdigit()})
    if not clocks:
        raise ValueError('a time of day is missing; write for example at("06:00", "mon-fri")')
    return FetchAt(tuple(clocks), _days([text for text in times if not text[:1].isdigit()]), slack)


def on_event(*names: str, otherwise: Fetch = FetchOnDemand()) -> Fetch:  # noqa: B008 - it is frozen
    """Return a Fetch clause that polls when one of these events happens, in addition to
    `otherwise`.
    """
    return replace(otherwise, events=names)


def event(name: str, *, file: str = "", command: Sequence[str] = (), every: Duration | None = None) -> CreateEvent:
    """Return an event from a file's content or a command's output, polled regularly; with neither,
    from a webhook.

    Raises `SentinelError` with the language's problems.

    Args:
        name: What sentinels call the event.
        file: The file, empty for none.
        command: The command, word by word; empty for none.
        every: How often it is read (µs); None for the default.
    """
    origin: Origin = "file" if file else "command" if command else "webhook"
    return _check_form(CreateEvent(name, EventSource(origin, file, tuple(command), every)), f'event "{name}"')


def login(form: str, user: str, *, secret: str, success: str = "", via: Sequence[str] = ()) -> Login:
    """Return a login by a form, for `Asking.login`.

    Args:
        form: The address of the page with the form.
        user: The user name.
        secret: The name of the password's secret.
        success: A CSS selector that matches only when logged in, "" for no form with a password.
        via: Further addresses to which the form may send the password, and to which redirects may
            lead.
    """
    return Login(form, Value(user), secret, success, tuple(via))


def step(
    verb: StepVerb, place: str = "", value: str = "", *, by: str = "css", secret: str = "", wait: Duration = 0
) -> BrowserStep:
    """Return a browser step before a page is read, for `Asking.steps`.

    Args:
        verb: `click`, `fill`, `select`, `press`, `wait` or `scroll`.
        place: Where, in the language `by`: `css`, `xpath` or `text`; "" for the whole page.
        value: What is typed, chosen or pressed.
        by: The language of `place`.
        secret: The name of the secret that is typed instead of `value`.
        wait: How long a step waits that waits for no place (µs).
    """
    needs_value = verb in {"fill", "select", "press"}
    given = Value(secret or value, is_secret=bool(secret)) if needs_value else None
    return BrowserStep(verb, by if place else "", place, given, wait)


def command(*argv: str) -> str:
    """Return the address of a command's output, such as `command("df", "-h")`."""
    return url_of(argv)


on_demand = FetchOnDemand()
on_change = FetchOnChange()


def check(*pages: str, within: Duration, least: int | None = None) -> Then:
    """Return the pages to poll as well when a part has changed."""
    return Then(within, pages, least)


def lasting(duration: Duration = 0, *, checks: int = 0) -> Lasting:
    """Return how long a change must last to be reported: so long (µs), or for so many checks."""
    return Lasting(checks, duration)


dashboard, console, feed, stream = (Channel(kind) for kind in ("dashboard", "console", "feed", "stream"))
immediate, best_effort, interactive = Rate("immediate"), Rate("best_effort"), Rate("interactive")


def email(address: str) -> Channel:
    """Return a mail address as receiver."""
    return Channel("email", address)


def webhook(url: str = "", *, secret: str = "") -> Channel:
    """Return the address of a webhook (a signed POST), or the name of its secret."""
    return Channel("webhook", secret or url, is_secret=bool(secret))


def apprise(url: str = "", *, secret: str = "") -> Channel:
    """Return the address of one of Apprise's services, or the name of the secret that holds it."""
    return Channel("apprise", secret or url, is_secret=bool(secret))


def digest(interval: Duration = 0, *, changes: int = 0) -> Rate:
    """Return the rate of a digest: when the interval is over or after so many changes."""
    return Rate("every", interval, changes)


def notify(
    *channels: Channel,
    rate: Rate = immediate,
    quiet: tuple[str, str] | None = None,
    most: tuple[int, Duration] | None = None,
    title: str = "",
    text: str = "",
) -> Notify:
    """Return a Notify clause.

    Args:
        channels: The receivers.
        rate: When.
        quiet: The quiet hours, as in ("22:00", "07:00"); None for none.
        most: How many messages at most in how long (µs); None for no bound.
        title: The template of the title, "" for the default one.
        text: The template of the text, with a line end between lines, "" for the default one.
    """
    hushed = None if quiet is None else Quiet(_clock(quiet[0]), _clock(quiet[1]))
    wording = Wording(title, text.rstrip("\n")) if title or text else None
    return Notify(channels, rate, hushed, None if most is None else Cap(*most), wording)


def sentinel(name: str, *urls: str, monitor: BuiltChange, **fields: Any) -> Sentinel:
    """Return a sentinel on these pages; `A="https://…"` names one. All other names are fields of
    `model.sentinel.Sentinel`.

    Raises `SentinelError` with the language's problems, `TypeError` for an unknown field.
    """
    known = set(Sentinel.__slots__)
    watched = [Watched(url) for url in urls]
    watched += [Watched(url, page) for page, url in fields.items() if page not in known and isinstance(url, str)]
    given = {field: _freeze(value) for field, value in fields.items() if field in known or not isinstance(value, str)}
    built = Sentinel(name=name, pages=tuple(watched), monitor=monitor.meant, **given)
    return _check_form(built, f'sentinel "{name}"')


def collection(
    name: str,
    *urls: str,
    scope: Sequence[str] = (),
    depth: int = 3,
    a_day: float = 500,
    monitor: BuiltChange = pages,
    **fields: Any,
) -> Sentinel:
    """Return a site that is discovered page by page; all other names are those of `sentinel`.

    Raises what `sentinel` raises.

    Args:
        name: What it is called.
        urls: The pages, feeds or sitemaps that it begins with.
        scope: Patterns of paths, "/docs/*"; none for all that lies where the first pages lie.
        depth: How many links away from the first pages a page may be.
        a_day: Requests that its pages may cost a day.
        monitor: What is reported; its new, gone and moved pages by default.
        fields: Other fields of `model.sentinel.Sentinel`.
    """
    patterns = tuple(scope) or usual_patterns([Watched(url) for url in urls])
    return sentinel(name, *urls, monitor=monitor, scope=Scope(patterns, depth, a_day), **fields)


def _check_form(built: Made, what: str) -> Made:
    """Return a built value if it survives printing and parsing."""
    parsed = parse(to_text(built), files=True)
    if parsed.problems:
        raise SentinelError(parsed.problems)
    if parsed.statements != (built,):
        raise SentinelError([Problem(1, 1, "E45", f"{what} cannot be written in the language")])
    return built


def _freeze(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _members(change: BuiltChange, joint: type[AllOf | AnyOf]) -> tuple[Expression, ...]:
    return change.meant.parts if isinstance(change.meant, joint) else (change.meant,)


def _condition(measure: str, given: str | Sequence[str]) -> Condition:
    name = cast("Any", measure.removesuffix("_").replace("_", " "))
    if name in {*ON_TEXTS, *ON_PAGE}:
        first, *others = (given,) if isinstance(given, str) else given
        return Condition(name, text=first, others=tuple(others))
    value = str(given)
    if measure in EXTREMES:
        return Condition(name, span=_span(measure, value))
    if name == "is" and not _RELATION.fullmatch(value.strip()):
        return Condition(name, text=value)
    if measure in {"changes", "rises", "drops"}:
        amount = _AMOUNT.fullmatch(value.strip())
        found = amount and (">" if amount[1] else ">=", amount[2], amount[3])
    else:
        related = _RELATION.fullmatch(value.strip())
        if related and (related[1] == "between") == bool(related[3]):
            upper = float(related[3] or 0)
            return Condition(name, cast("Relation", related[1]), float(related[2]), bool(related[4]), upper=upper)
        found = None
    if not found:
        example = "more than 5%" if measure in {"changes", "rises", "drops"} else "< 100"
        raise ValueError(f'{measure}="{value}" cannot be read; write for example {measure}="{example}"')
    return Condition(name, cast("Relation", found[0]), float(found[1]), is_percent=bool(found[2]))


def _span(measure: str, value: str) -> Duration:
    """Return how far back values count (µs), 0 for all of them."""
    if value == "so far":
        return 0
    try:
        return read_duration(*value.split())
    except (ArithmeticError, KeyError, TypeError):
        raise ValueError(f'{measure}="{value}" cannot be read; write "so far" or for example "30 days"') from None


def _days(texts: Sequence[str]) -> Days:
    try:
        return read_days(texts) if texts else DAILY
    except ValueError:
        raise ValueError(f'"{", ".join(texts)}" are not days; write for example mon-fri') from None


def _clock(text: str) -> Clock:
    clock = read_clock(text)
    if clock is None:
        raise ValueError(f'"{text}" is not a time of day; expected 00:00 to 23:59')
    return clock
