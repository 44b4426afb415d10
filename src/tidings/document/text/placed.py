"""Texts of a change and their place, as people read them: nothing is said twice, paths of data are
words, and changes within one sentence are one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tidings.document.text.calendars import is_of_events, write_time
from tidings.document.text.excerpts import label_of, line_of
from tidings.model.observed.change import EditContext
from tidings.record import dataclass, replace

_COLONS: Final = " :："
_PATH: Final = re.compile(r"[\w$@-]*(?:\.[\w$@-]+|\[[^\[\]\n]{1,80}\])+")
"""A path of data, such as `service[name=search].state`."""
_STEP: Final = re.compile(r"\.?([\w$@-]+)|\[([^\[\]]*)\]")
_NAMES: Final = frozenset({"name", "title", "label", "key", "slug", "symbol", "code", "sku"})
"""Fields whose value names an element without the field."""
_KEYED: Final = re.compile(r"(\S{1,80}\]): (?=\S)")
"""The path of an element in front of it."""
_IN_SITEMAP: Final = re.compile(
    r"(?:urlset/url|sitemapindex/sitemap)\[loc=(?P<url>[^\]\s]*)\](?P<field>/\w+)?(?P<text>: .*)?", re.DOTALL
)
"""A page of a sitemap, or a field of it."""
_FIELDS: Final = {"lastmod": "last change", "changefreq": "how often it changes"}
_CLOSING: Final = re.compile(r"\s?[.!?…。！？)\]）」]{1,3}")
CELLS: Final = " | "
"""What separates the cells of a row, and the names of its columns."""
_NOWHERE: Final = EditContext("", 0)
_MOST_OBJECT: Final = 2_000


@dataclass(frozen=True, slots=True)
class PlacedText:
    """An update with its context. `between` are its parts if it consists of several updates of one
    sentence: (before, now), and the unchanged text that follows each but the last.
    """

    old: str
    new: str
    context: EditContext
    between: tuple[tuple[str, str, str], ...] = ()


def place_update(old: str, new: str, context: EditContext) -> PlacedText:
    """Return an update as people read it: a label in front of both texts is its label, and words at
    the start of a short line have the rest of the line.
    """
    if not context.label and (label := label_of(old, new)):
        old, new = old[len(label) + 2 :], new[len(label) + 2 :]
        context = replace(context, label=label, before="", after="")
    elif not (context.label or context.before) and (line := line_of(new, context.after, beside=old)):
        old, new = line_of(old, context.after, beside=new), line
        context = replace(context, after="")
    if context.label in {"start", "end"}:
        old, new = write_time(old), write_time(new)
    return PlacedText(old, new, say_once(context))


def place_text(text: str, context: EditContext) -> tuple[str, EditContext]:
    """Return an inserted or deleted text as people read it: the sign that ends its sentence belongs
    to it; an element of data follows the path of its array, its members without braces; the cells
    of a row follow the names of their columns.
    """
    if context.heading and is_of_events(text):
        return context.heading, replace(_NOWHERE, of=context.of, number=context.number)
    columns, cells = context.label.split(CELLS), text.split(CELLS)
    if len(columns) == len(cells) > 1:
        text = ", ".join(f"{column}: {cell}" if column else cell for column, cell in zip(columns, cells, strict=True))
        context = replace(context, label="")
    if not context.label and (keyed := _KEYED.match(text)) and _PATH.fullmatch(keyed[1]):
        above = keyed[1][: keyed[1].rindex("[")]
        context, text = replace(context, label=above), _say_members(text[keyed.end() :])
    if not context.label and (page := _IN_SITEMAP.fullmatch(text)) and page["text"] and not page["field"]:
        dates = page["text"].removeprefix(f": {page['url']}").strip(" :")
        context, text = (
            replace(context, label="page of the sitemap"),
            f"{page['url']} ({dates})" if dates else page["url"],
        )
    if _CLOSING.fullmatch(context.after):
        text, context = text + context.after.strip(), replace(context, after="")
    return text, say_once(context)


def say_once(context: EditContext) -> EditContext:
    """Return a context in which nothing occurs twice, without the colons at the ends."""
    if context == _NOWHERE:
        return context
    heading, label, above = (part.strip(_COLONS) for part in (context.heading, context.label, context.above))
    label = say_path(label)
    if heading.casefold() in {label.casefold(), context.before.strip(_COLONS).casefold()}:
        heading = ""
    if above.casefold() in {label.casefold(), heading.casefold()}:
        above = ""
    if (heading, label, above) == (context.heading, context.label, context.above):
        return context
    return replace(context, heading=heading, label=label, above=above)


def say_path(label: str) -> str:
    """Return a path of data with brackets in words: `service › search › state` for
    `service[name=search].state`; any other label as it is.
    """
    if page := _IN_SITEMAP.fullmatch(label):
        field = (page["field"] or "").strip("/")
        return f"{page['url']} › {_FIELDS.get(field, field)}" if field else page["url"]
    if "[" not in label or not _PATH.fullmatch(label):
        return label
    return " › ".join(_say_step(*step) for step in _STEP.findall(label))


def _say_step(name: str, element: str) -> str:
    if name:
        return name
    field, equals, value = element.partition("=")
    if not equals:
        return f"number {int(element) + 1:,}" if element.isdecimal() else element
    return value if field in _NAMES else f"{field} {value}"


def _say_members(text: str) -> str:
    """Return an object of JSON with plain members as `id: 8, title: Driver`; any other text as it
    is.
    """
    if not text.startswith("{") or len(text) > _MOST_OBJECT:
        return text
    try:
        members: Any = json.loads(text, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return text
    if not isinstance(members, Mapping) or any(isinstance(value, (dict, list)) for value in members.values()):
        return text
    plain = {None: "null", True: "true", False: "false"}
    return ", ".join(f"{name}: {value if isinstance(value, str) else plain[value]}" for name, value in members.items())


def join_updates(updates: Sequence[PlacedText]) -> Iterator[PlacedText]:
    """Yield updates in order; those that follow each other in one sentence are one."""
    joined: PlacedText | None = None
    for one in updates:
        if joined is None:
            joined = one
        elif (between := _between(joined, one)) is None:
            yield joined
            joined = one
        else:
            parts = joined.between or ((joined.old, joined.new, ""),)
            parts = (*parts[:-1], (*parts[-1][:2], between), (one.old, one.new, ""))
            joined = PlacedText(
                f"{joined.old}{between}{one.old}",
                f"{joined.new}{between}{one.new}",
                replace(joined.context, after=one.context.after),
                parts,
            )
    if joined is not None:
        yield joined


def _between(first: PlacedText, second: PlacedText) -> str | None:
    """Return the unchanged text between two updates of one sentence; None if they are elsewhere."""
    one, other = first.context, second.context
    places = [(at.heading, at.label, at.above, at.link, at.area) for at in (one, other)]
    if places[0] != places[1] or not (one.after and other.before):
        return None
    between, found, _ = one.after.partition(second.new)
    last = first.between[-1][1] if first.between else first.new
    is_behind = f"{one.before}{first.new}{between}".endswith(other.before) and other.before.endswith(last + between)
    return between if found and is_behind and between.strip() else None


class LinkPair(NamedTuple):
    """A link with another address now, and perhaps another text: the addresses and texts, before
    and now.
    """

    old: str
    new: str
    was: str
    now: str


def pair_links(old: Mapping[str, str], new: Mapping[str, str], *, is_same: bool = False) -> list[LinkPair]:
    """Return the links that have another address now: those of the same text, if it occurs once on
    each side, else the only link of each side.

    Args:
        old: The addresses that are gone, with the texts of their links (empty: unknown).
        new: The new ones.
        is_same: Whether a pair must have the same text.
    """
    counts = Counter(old.values()), Counter(new.values())
    by_name = {name: url for url, name in new.items()}
    pairs = [
        LinkPair(url, by_name[name], name, name)
        for url, name in old.items()
        if name and counts[0][name] == counts[1][name] == 1
    ]
    if pairs or is_same or len(old) != 1 or len(new) != 1:
        return pairs
    (was, name), (now, new_name) = next(iter(old.items())), next(iter(new.items()))
    return [LinkPair(was, now, name, new_name)] if name and new_name else []
