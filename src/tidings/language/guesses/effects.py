"""What a phrase adds to a wish: the functions that `phrases.txt` names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from tidings.language.expressions import quote
from tidings.language.guesses.tokens import lengthen
from tidings.language.guesses.wish import (
    ANY,
    WORDS,
    Change,
    Notice,
    NotMeantError,
    NotPossibleError,
    Wish,
    literal,
    part_of,
    selector_of,
    text_pattern,
)
from tidings.language.services import address_of
from tidings.language.times import nearest_zone
from tidings.language.words import is_reserved
from tidings.record import dataclass, replace

Effect = Callable[..., None]
NEW: Final = "new|newly|added|inserted|additional|fresh|latest"
NOISE: Final = {
    "date": r"\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}",
    "time": r"\d{1,2}:\d\d(:\d\d)?",
    "number": r"\d+",
}
"""Patterns of what changes without being news."""
PLACES: Final = {
    **dict.fromkeys(("new", "added", "new_value", "after", "current"), "diff_added"),
    **dict.fromkeys(("old", "removed", "old_value", "before", "previous"), "diff_removed"),
    **dict.fromkeys(("url", "link", "address", "watch_url"), "watch_url"),
    **dict.fromkeys(("name", "title", "sentinel", "watch_title"), "watch_title"),
    **dict.fromkeys(("diff", "change", "changes", "text", "value", "price", "message"), "diff"),
    **dict.fromkeys(("time", "date", "when"), "detected_at"),
    "summary": "summary",
}
"""Names of placeholders that people write, and those of the language."""
WORTH: Final = {"highest": "1", "high": "0.9", "medium": "0.5", "normal": "0.5", "low": "0.2", "lowest": "0.1"}
_SIGNS: Final = {
    **dict.fromkeys(("<", "below", "under", "beneath", "less", "lower", "cheaper", "smaller", "fewer"), "<"),
    **dict.fromkeys((">", "above", "over", "more", "higher", "greater", "bigger", "larger", "dearer", "exceeds"), ">"),
    **dict.fromkeys(("<=", "most", "maximum", "max"), "<="),
    **dict.fromkeys((">=", "least", "minimum", "min"), ">="),
    **dict.fromkeys(("!=", "<>"), "!="),
}
_DOWN: Final = re.compile(r"drop|fall|decrease|decline|sink|.* (?:down|lower|cheaper)$|is reduced")
_UP: Final = re.compile(r"rise|grow|increase|climb|.* (?:up|higher|dearer)$")
_MINUTES: Final = {"hour": 60, "day": 1_440, "week": 10_080, "month": 43_200}
_OTHER_DAYS: Final = {"sat-sun": "mon-fri", "mon-fri": "sat-sun", "sun": "mon-sat", "sat": "sun-fri"}
_NOUNS: Final[Mapping[str, str]] = {
    "links?": "all links",
    "images?": "all images",
    "rows?|cells?": "table",
    "prices?": "price",
    "numbers?": "number",
    "texts?|words?|lines?|content": WORDS,
    "keywords?": "keyword",
    "phrases?": "phrase",
    "it|they|value|title|names?|address|url|href|label|change|body|description|part|element|any of them|one of them|page": "",
}
"""Words for what a condition is about, and their change types."""


@dataclass(frozen=True, slots=True)
class Several:
    """Values in a row, and the word between them: AND or OR."""

    values: tuple[str, ...]
    joint: str


Value = str | Several


def several(found: Value) -> Several:
    """Return one value or several as several."""
    return found if isinstance(found, Several) else Several((found,), "OR")


def nouns(things: str) -> str:
    """Return the phrase for the noun before a condition; `things` are the words for entries."""
    return f"[{{{'|'.join((*_NOUNS, things))}}}]"


def refer(wish: Wish, noun: str) -> None:
    """Turn to the change that a condition is about: the present one, or another one.

    Raises `NotMeantError` if it was not said that this is watched.
    """
    wish.about = lowered = noun.lower()
    if not lowered:
        return
    kind = next((kind for words, kind in _NOUNS.items() if re.fullmatch(words, lowered)), "items")
    last = wish.changes[-1] if wish.changes else None
    if lowered == "value" and last is None:
        kind = "number"
    if last is not None and (
        (kind == WORDS and last.kind not in {"", ANY})
        or (kind == "items" and last.kind.partition(" ")[0] in {"list", "table"})
    ):
        return  # what is watched, by its text or as entries
    if not kind or (last is not None and last.kind == kind):
        return
    if last is None or (wish.joint and last.is_named):
        wish.change(kind)
    elif not last.is_named or (last.kind in {ANY, WORDS} and not last.where and kind != WORDS):
        wish.narrow(kind=kind)
    elif kind not in {WORDS, "items"}:
        raise NotMeantError


# ---- of all clauses


def skip(_wish: Wish) -> None:
    """Add nothing."""


def refuse(_wish: Wish, reason: str) -> None:
    """Refuse a phrase that has no meaning in the language."""
    raise NotPossibleError(reason)


def refuse_parts(wish: Wish, text: str, reason: str) -> None:
    """Refuse a phrase with two parts of a page. Raises `NotMeantError` if the second is a text."""
    if not selector_of(text):
        raise NotMeantError
    refuse(wish, reason)


def put(wish: Wish, field: str, value: str) -> None:
    """Set a field of the wish, or one of its Notify clause: `notice.quiet`."""
    owner, _, name = field.rpartition(".")
    setattr(wish.notice if owner else wish, name, value)


def add(wish: Wish, field: str, value: str) -> None:
    """Add to a list of the wish."""
    getattr(wish, field).append(value)


def add_times(wish: Wish, field: str, found: Value, usual: str) -> None:
    """Add the found times of day to a field of the wish, or of its Notify clause; the usual one if
    none was found.
    """
    owner, _, name = field.rpartition(".")
    times: list[str] = getattr(wish.notice if owner else wish, name)
    times += [clock(one) for one in several(found or usual).values]


def write(wish: Wish, clause: str) -> None:
    """Add a clause."""
    wish.others.append(clause)
    wish.joint = ""


def join(wish: Wish, joint: str) -> None:
    """Join the next part."""
    wish.joint = joint


def sign_of(words: str) -> str:
    """Return the sign of a comparison in words."""
    lowered = words.lower().split()
    if lowered[:2] in (["no", "more"], ["not", "more"], ["up", "to"]):
        return "<="
    if lowered[:2] == ["no", "less"]:
        return ">="
    sign = next((_SIGNS[word] for word in lowered if word in _SIGNS), "=")
    return f"{sign}=" if "equal" in lowered and sign in "<>" else sign


def clock(text: str) -> str:
    """Return a time of day; a number is a full hour. Raises `NotMeantError` for more than 24."""
    if text.isdigit() and int(text) > 24:
        raise NotMeantError
    return f"{int(text):02}:00" if text.isdigit() else text


def each(unit: str, times: int = 1) -> str:
    """Return a number of a unit of time: `days` and `daily` are days. A duration stays as it is."""
    if " " in unit:
        return unit
    word = unit.lower().removesuffix("s")
    often = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter"}
    if word in {"fortnightly", "biweekly"}:
        return f"{2 * times} week"
    word = {"yearly": "year", "annually": "year", "second": "s", "minute": "min", **often}.get(word, word)
    return lengthen(str(times), word)


def spell_wild(text: str) -> str:
    """Return a text as it is, or as a pattern if it has a star."""
    return f"regex {text_pattern(text)}" if "*" in text else text


FILTERS: Final[Mapping[str, Callable[[str], str]]] = {
    "bare": lambda text: text.strip('"'),
    "clock": clock,
    "each": each,
    "literal": literal,
    "next": lambda year: str(int(float(year)) + 1),
    "ordinal": lambda word: str(("first", "second", "third", "fourth", "fifth").index(word.lower()) + 1),
    "sign": sign_of,
    "span": lambda span: f"of {span}" if span else "so far",
    "twice": lambda unit: each(unit, 2),
    "upper": str.upper,
    "wild": spell_wild,
    "zone": nearest_zone,
    "worth": lambda worth: WORTH.get(worth.lower()) or f"{float(worth[:-1]) / 100:g}",
}
"""How values are written in the arguments of effects."""


# ---- Monitor


def watch(wish: Wish, kind: str, part: str = "") -> None:
    """Add a change type, or a part of the page."""
    wish.change(kind.strip(), **({"part": part} if part else {}))


def watch_some(wish: Wish, kind: str, which: str) -> None:
    """Add a change type with its direction in a word before it."""
    lowered = which.lower()
    direction = "inserted" if re.fullmatch(NEW, lowered) else {"removed": "deleted"}.get(lowered, lowered)
    wish.change(kind.strip(), **({"direction": direction} if direction in {"inserted", "deleted", "updated"} else {}))


def require(wish: Wish, condition: str) -> None:
    """Add a condition."""
    wish.where(condition)


def narrow(wish: Wish, field: str, value: str) -> None:
    """Narrow the present change."""
    wish.narrow(**{field: value.lower()})


def narrow_both(wish: Wish) -> None:
    """Narrow the present change to what is inserted, and add the same change of what is deleted."""
    wish.narrow(direction="inserted")
    wish.changes.append(replace(wish.changes[-1], direction="deleted", joint="OR"))


def narrow_to(wish: Wish, kind: str, text: str) -> None:
    """Narrow the present change to a part of the page."""
    wish.narrow(part=part_of(kind, text))
    wish.joint = ""


def narrow_to_page(wish: Wish, page: str) -> None:
    """Narrow the present change to a page by its name. Raises `NotMeantError` for another word."""
    name = next((name for _, name in wish.pages if name.lower() == page.lower()), "")
    if not name:
        raise NotMeantError
    wish.narrow(page=name)


def watch_page(wish: Wish, name: str) -> None:
    """Watch a page by its name. Raises `NotMeantError` for another word."""
    if name not in [known for _, known in wish.pages if known]:
        raise NotMeantError
    wish.change(ANY, page=name)


def watch_part(wish: Wish, kind: str, text: str) -> None:
    """Watch a part of the page: of the present change, or by itself."""
    _watch_selector(wish, part_of(kind, text))


def _watch_selector(wish: Wish, selector: str) -> None:
    last = wish.changes[-1] if wish.changes else Change()
    if last.is_named and not (wish.joint or last.part or last.texts):
        wish.narrow(part=selector)
        return
    wish.joint = "OR" if wish.joint == "AND" else wish.joint
    wish.change("", part=selector)


def watch_after(wish: Wish, text: str) -> None:
    """Watch what stands behind a text on its line."""
    wish.change("regex", f'"{literal(text)}\\s*(\\S+)"')


def watch_files(wish: Wish, ending: str) -> None:
    """Watch links to files."""
    wish.change("all links")
    wish.where(f'matches "(?i)\\.{ending.lower()}$"')


def watch_script(wish: Wish, script: str, path: str) -> None:
    """Watch data in a script of the page."""
    wish.narrow(part=f"jsonpath {path}")
    write(wish, f"Select {part_of('css', script)}")


def watch_between(wish: Wish, first: str, second: str) -> None:
    """Watch the text between two headings."""
    headings = "*[self::h1 or self::h2 or self::h3 or self::h4]"
    before, after = (f"{headings}[contains(., {text[1:-1]!r})]" for text in (first, second))
    wish.narrow(part=f"xpath {quote(f'//text()[preceding::{before}][following::{after}]')}")


def watch_section(wish: Wish, text: str) -> None:
    """Watch what stands below a heading, up to the next one."""
    if selector := find_selector(text):
        _watch_selector(wish, selector)
        return
    headings = "*[self::h1 or self::h2 or self::h3 or self::h4 or self::h5 or self::h6]"
    wish.narrow(part=f"xpath {quote(f'//text()[preceding::{headings}[1][contains(., {text[1:-1]!r})]]')}")
    if not wish.changes[-1].kind:
        wish.narrow(kind=WORDS)


def filter_items(wish: Wish, field: str, sign: str, value: str) -> None:
    """Watch only the entries of JSON with some values of a field. Raises `NotMeantError` if no
    entries are watched.

    Args:
        wish: Takes it.
        field: The name of the field, or its path behind `$` or `@`.
        sign: How its value is compared, in signs or words.
        value: A number, or a text in quotes.
    """
    last = wish.changes[-1] if wish.changes else Change()
    name = re.sub(r"^\W+", "", field.strip('"'))
    if last.kind != "items" or name.lower() in _NO_FIELDS or not re.fullmatch(r"[^\W\d]\w*(?:\.\w+)*", name):
        raise NotMeantError
    found = re.fullmatch(r'jsonpath "(.*?)(?:\[\*\])?"', last.part)
    if last.part and not found:
        raise NotMeantError
    relation = {"=": "=="}.get(sign_of(sign), sign_of(sign))
    shown = value if not value.startswith('"') else "'" + value[1:-1].replace("'", "\\\\'") + "'"
    path = found[1] if found and found[1] != "$" else "$.."
    test = f"@.{name} {relation} {shown}"
    is_further = bool(wish.is_condition and re.search(r"\[\?@[^\]]*\]$", path))
    wish.joint = ""
    wish.narrow(part=f'jsonpath "{path[:-1]} && {test}]"' if is_further else f'jsonpath "{path}[?{test}]"')
    if not last.part:
        column = f'table column "{name}" where {f"value {sign_of(sign)}" if shown == value else "contains"} {value}'
        wish.notes.append(f"this is for JSON; for a table write Monitor {column}")


_NO_FIELDS: Final = frozenset("where when if while and or but is value number count".split())
"""Words before a comparison that name no field."""


def contain_in(wish: Wish, field: str, text: str) -> None:
    """Add a text that a field of an entry must be, or a row must contain."""
    try:
        filter_items(wish, field, "=", text)
    except NotMeantError:
        contain(wish, text)


def contain_word(wish: Wish, word: str) -> None:
    """Add a word that a text must contain. Raises `NotMeantError` for what has no such text."""
    if wish.changes and wish.changes[-1].kind in {"price", "number", "availability", "status"}:
        raise NotMeantError
    contain(wish, quote(word))


def count_entries(wish: Wish, sign: str, number: str) -> None:
    """Add how many entries or words must change. Raises `NotMeantError` if none are watched."""
    last = wish.changes[-1] if wish.changes else Change()
    if last.kind not in {"items", "list", "table", "all links", "all images", WORDS, ANY}:
        raise NotMeantError
    wish.where(f"{last.direction or 'changed'} {sign_of(sign)} {number}")


def add_texts(wish: Wish, kind: str, found: Value) -> None:
    """Add texts that are watched for."""
    texts = several(found)
    wish.change(kind, *texts.values, texts_joint=texts.joint)


def add_words(wish: Wish, found: str) -> None:
    """Add words without quotes as keywords."""
    words = [word for word in re.split(r"\s*(?:,|\bor\b|\band\b)\s*", found) if word]
    wish.change("keyword", *map(quote, words))


def add_text(wish: Wish, text: str) -> None:
    """Add a text in quotes: a part of the page, a further text of the kind before it, what its
    entries contain, or a phrase.
    """
    last = wish.changes[-1] if wish.changes else Change()
    selector = find_selector(text)
    if wish.joint and last.where and last.where[-1][-1].startswith("contains "):
        contain(wish, text)
    elif wish.joint and last.texts and not last.where:
        wish.changes[-1] = last.with_text(text, wish.joint)
        wish.joint = ""
    elif re.fullmatch(r'"\.\w{2,5}"', text) and last.kind in {"all links", "all images"}:
        wish.where(f'matches "{literal(text)}$"')
    elif selector:
        _watch_selector(wish, selector)
    elif last.kind in {"all links", "all images", "items", "list", WORDS} and not wish.joint:
        contain(wish, text)
    else:
        wish.change("phrase", text)


def find_selector(text: str) -> str:
    """Return a text in quotes as a selector if it stands where a text of the page could; a short
    word is one only if it names a large element.
    """
    is_word = re.fullmatch(r'"[a-z]{1,8}"', text)
    return (
        ""
        if is_word and not re.fullmatch("main|article|aside|body|header|footer|nav|table|h[1-6]", text[1:-1])
        else selector_of(text)
    )


def contain(wish: Wish, found: Value) -> None:
    """Add the texts that a change must contain; one with a star is a pattern."""
    if not (wish.changes or wish.is_condition):
        raise NotMeantError
    texts = several(found)
    if (
        wish.about in {"title", "name", "names", "description", "body"}
        and wish.changes
        and wish.changes[-1].kind == "items"
    ):
        text = texts.values[0].strip('<>"').partition(",")[0]
        title = f'; only titles of a feed: items in xpath "//item[contains(title, {text!r})]"'
        wish.notes.append(f"this searches the whole entry{title if wish.about == 'title' else ''}")
    is_address = wish.about in {"url", "address", "href"}
    if len(texts.values) == 1 and re.match('"[.#][a-z]', texts.values[0]) and not wish.joint and not is_address:
        _watch_selector(wish, selector_of(texts.values[0]))
        return
    conditions = [f"matches {text_pattern(text)}" if "*" in text else f"contains {text}" for text in texts.values]
    for ways in [(one,) for one in conditions] if texts.joint == "AND" else [tuple(conditions)]:
        wish.where(*ways)


def lack(wish: Wish, found: Value) -> None:
    """Add the texts of which a change must contain none."""
    if not (wish.changes or wish.is_condition):
        raise NotMeantError
    wish.joint = ""
    for text in several(found).values:
        wish.where(f"lacks {text}")


def match(wish: Wish, text: str) -> None:
    """Add a condition on a pattern, or on a text with stars."""
    if not (wish.changes or wish.is_condition):
        raise NotMeantError
    pattern, kind = text[1:-1], wish.changes[-1].kind if wish.changes else ""
    if re.search(r"(?<![\\.\])\w])\*", pattern) and not re.search(r"[\\^$+|\[(]", pattern):
        wish.where(f"matches {text_pattern(text)}")
    else:
        wish.where(f"contains {text}" if kind == "items" and re.fullmatch(r"[\w ]+", pattern) else f"matches {text}")


def check_page(wish: Wish, has: str, found: Value) -> None:
    """Add a condition on the whole page."""
    texts = several(found)
    conditions = [f"page {has} {text}" for text in texts.values]
    for ways in [(one,) for one in conditions] if (texts.joint == "AND") == (has == "has") else [tuple(conditions)]:
        wish.where(*ways)


def compare_number(wish: Wish, verb: str, words: str, number: str) -> None:
    """Add a comparison with a number.

    Args:
        wish: Takes it.
        verb: "" or a verb; one of movement means the moment when the comparison begins to hold.
        words: The comparison in words, or "".
        number: The number.
    """
    verb = verb.lower()
    sign = sign_of(words) if words else "<=" if _DOWN.match(verb) else ">=" if _UP.match(verb) else "="
    measure = "is" if verb in {"is", "stays"} else "becomes" if verb or "exceeds" in words.lower() else "value"
    wish.where(f"{measure} {sign} {number}")


def move(wish: Wish, verb: str, more: str, size: str) -> None:
    """Add a change by a number or a percentage.

    Args:
        wish: Takes it.
        verb: Says in which direction.
        more: Says whether it must be more than the size.
        size: The number or percentage; "" for any.
    """
    verb = verb.lower()
    word = "drops" if _DOWN.match(verb) else "rises" if _UP.match(verb) else "changes"
    is_more = not size or re.search(r"more|over|>(?!=)", more.lower())
    wish.where(f"{word} by {'more than ' if is_more else ''}{size or 0}")


def watch_lowest(wish: Wish) -> None:
    """Watch a price for its lowest value, or for what is said next."""
    wish.change("price")
    if not any(change.where for change in wish.changes):
        wish.where("lowest so far")


def count_changes(wish: Wish, sign: str, number: str, verb: str) -> None:
    """Add to a wish how many words or entries must change: the sign compares their number, and the
    verb says how they change.
    """
    verb = verb.lower()
    is_new, is_old = re.match("add|new|insert|appear", verb), re.match("remov|delet|gone|disappear", verb)
    measure = "inserted" if is_new else "deleted" if is_old else "changed"
    wish.where(f"{measure} {sign_of(sign or 'at least')} {number}")


def watch_status(wish: Wish, negation: str, codes: Value) -> None:
    """Watch for states of the page, or for all but one of them. Raises `NotMeantError` for all but
    several.
    """
    wanted = [code.strip('"').lower() for code in several(codes).values]
    states = ["ok" if code in {"200", "2xx", "ok"} else code.replace("xx", "..") for code in wanted]
    if negation and (len(states) > 1 or "." in states[0]):
        raise NotMeantError
    wish.change("status")
    wish.where(f'lacks "{states[0]}"' if negation else f'matches "{"|".join(states)}"')


def watch_stock(wish: Wish, state: str) -> None:
    """Watch for a product that becomes available, or unavailable."""
    wish.change("availability")
    wish.where(f'becomes "{state}"')


def watch_availability(wish: Wish, found: Value) -> None:
    """Watch for states of a product."""
    wish.change("availability")
    wish.where(*(f"is {text}" for text in several(found).values))


def watch_table(wish: Wish, number: str, text: str) -> None:
    """Watch tables: all, one by its number, a selector, or its caption."""
    caption = f"xpath {quote(f'//table[contains(caption, {text[1:-1]!r})]')}"
    watch(wish, f"table {number}", (selector_of(text) or caption) if text else "")


def watch_column(wish: Wish, found: Value, number: str) -> None:
    """Watch columns of tables."""
    if not wish.changes or not wish.changes[-1].kind.startswith("table"):
        watch(wish, f"table {number}")
    if number and wish.changes[-1].kind.split()[1:2] in ([], ["column"]):
        wish.narrow(kind=f"table {number}")
    table = wish.changes[-1]
    columns = [f"{table.kind} column {quote(name.strip(chr(34)))}" for name in several(found).values]
    wish.narrow(kind=columns[0])
    wish.changes += [replace(table, kind=column, joint="OR") for column in columns[1:]]


def watch_row(wish: Wish, name: str, number: str) -> None:
    """Watch a row of tables: each change of a cell names it."""
    if not wish.changes or not wish.changes[-1].kind.startswith("table"):
        watch(wish, f"table {number}")
    wish.where(f"contains {quote(name.strip(chr(34)))}")


# ---- Exclude and Select


def write_part(wish: Wish, word: str, kind: str, text: str) -> None:
    """Add a clause to a wish that begins with this word, on a part of the page: kind and text say
    which.
    """
    write(wish, f"{word} {part_of(kind, text)}")


def exclude_texts(wish: Wish, found: Value) -> None:
    """Leave out texts, or parts of the page."""
    for text in several(found).values:
        write(wish, f"Exclude {find_selector(text) or spell_wild(text)}")


def exclude_noise(wish: Wish, found: str) -> None:
    """Leave out dates, times or numbers, together with those before."""
    lowered = found.lower()
    kinds = {
        kind
        for kind, words in (("date", "dat|day|stamp"), ("time", "time|clock|hour|stamp"), ("number", "num|digit|count"))
        if re.search(words, lowered) or any(NOISE[kind] in one for one in wish.noise)
    }
    wish.noise = [NOISE[kind] for kind in NOISE if kind in kinds]
    wish.joint = ""


def exclude_kind(wish: Wish, kind: str) -> None:
    """Leave out changes of a type."""
    if not wish.changes:
        wish.changes.append(Change(ANY))
    wish.changes.append(Change(kind, joint="AND NOT"))


# ---- Fetch


def open_hours(wish: Wish, start: str, end: str) -> None:
    """Check only at these hours; from 9 to 5 ends in the afternoon."""
    if start.isdigit() and end.isdigit() and 6 <= int(start) <= 12 and int(end) < 7:
        end = str(int(end) + 12)
    wish.hours = f"{clock(start)} to {clock(end)}"


def range_over(wish: Wish, least: str, most: str) -> None:
    """Let Tidings choose between a number of the same unit and a duration."""
    wish.how = f"on change between {least} {most.partition(' ')[2]} and {most}"


def check_monthly(wish: Wish, day: str, time: str) -> None:
    """Check every month: on a day of it, that is every day, since there are no days of a month."""
    if not (day or time):
        wish.every = "30 day"
        return
    wish.times.append(clock(time or "08:00"))
    wish.days = "daily"
    wish.notes.append("there are no days of the month: this checks every day, and reports only changes")


def leave_out(wish: Wish, days: str) -> None:
    """Check only on the other days. Raises `NotMeantError` if these are not in a row."""
    if days not in _OTHER_DAYS:
        raise NotMeantError
    wish.days = _OTHER_DAYS[days]


def divide(wish: Wish, unit: str, times: str) -> None:
    """Check so many times in a unit of time."""
    unit = {"daily": "day", "hourly": "hour", "weekly": "week"}.get(unit.lower(), unit.lower())
    found = max(1, _MINUTES[unit] // max(1, int(float(times))))
    duration = f"{found // 60} hour" if found % 60 == 0 else f"{found} min"
    wish.every = {"24 hour": "1 day", "168 hour": "1 week", "720 hour": "30 day"}.get(duration, duration)


def let_decide(wish: Wish, number: str, unit: str, floor: str) -> None:
    """Let Tidings choose in a wish, within a number of checks per unit of time, or with a floor for
    the interval.
    """
    if number:
        floor = f"{max(1, -(-_MINUTES[unit.lower()] // int(float(number))))} min"
    wish.how = f"on change between {floor} and 1 day" if floor else "on change"


def allow_slack(wish: Wish, size: str) -> None:
    """Allow checks to be late. Raises `NotMeantError` without an interval."""
    if not wish.every:
        raise NotMeantError
    wish.every = f"{wish.every} slack {size}"


_CRON_NAMES: Final = {
    "@hourly": "1 hour",
    "@weekly": "1 week",
    "@monthly": "30 day",
    "@yearly": "365 day",
    "@annually": "365 day",
}
_WEEK: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun")


def read_cron(wish: Wish, found: str) -> None:
    """Check by the five fields of cron, or by a name such as @daily. Raises `NotMeantError` for
    another text.
    """
    fields = found.strip('"').lower().split()
    if fields in (["@daily"], ["@midnight"]):
        wish.times = ["00:00"]
        return
    if len(fields) != 5:
        if not fields or fields[0] not in _CRON_NAMES:
            raise NotMeantError
        wish.every = _CRON_NAMES[fields[0]]
        return
    minute, hour, day, _, week = fields
    if week not in {"*", "?"}:
        wish.days = re.sub(r"\d", lambda number: _WEEK[int(number[0]) % 7], week.replace(",", ", "))
    step = re.fullmatch(r"(?:\*|\d+(?:-\d+)?)/(\d+)", minute)
    hours = re.fullmatch(r"(?:\*|(\d+)-(\d+))(?:/(\d+))?", hour)
    if day not in {"*", "?"}:
        wish.every = "30 day"
    elif minute.isdigit() and re.fullmatch(r"\d+(?:,\d+)*", hour):
        wish.times = [f"{int(one):02}:{int(minute):02}" for one in hour.split(",")]
    elif minute == "*":
        wish.every = "1 min"
    elif step or hours:
        wish.every = f"{step[1]} min" if step else f"{(hours and hours[3]) or 1} hour"
    else:
        raise NotMeantError
    if hours and hours[1]:
        wish.hours = f"{int(hours[1]):02}:00 to {(int(hours[2]) + 1) % 24:02}:00"


# ---- Notify


_HOOKS: Final[Mapping[str, str]] = {
    r"https://hooks\.slack\.com/services/": "slack://",
    r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/": "discord://",
    r"https://maker\.ifttt\.com/use/": "ifttt://",
    r"https://ntfy\.sh/": "ntfy://",
}
"""Web hooks of services, which take messages in a form of their own, and their addresses here."""

_HOOK_PATHS: Final[Mapping[str, str]] = {"slack": "/services/", "discord": "/api/webhooks/"}
"""Paths of web hooks of a service that is named beside its address."""


def notify_also(wish: Wish) -> None:
    """Begin a second Notify clause. Raises `NotMeantError` if the first one has no time yet."""
    notice = wish.notice
    if not (notice.rate or notice.every or notice.times or notice.days):
        raise NotMeantError
    wish.notices.append(Notice())


def receive(wish: Wish, found: Value) -> None:
    """Notify at addresses."""
    for value in several(found).values:
        if found_hook := next((one for one in _HOOKS if re.match(one, value)), None):
            wish.notice.receivers.append(re.sub(found_hook, _HOOKS[found_hook], value).rstrip("/"))
            continue
        is_mail = "@" in value and "://" not in value
        is_web = re.match("https?://", value, re.IGNORECASE)
        wish.notice.receivers.append(f"{'email ' if is_mail else 'webhook ' if is_web else ''}{value}")


def serve(wish: Wish, name: str, text: str) -> None:
    """Notify through a service; the name of the receiver stays in its address."""
    text, address = text.strip('"'), address_of(name, text.strip('"'))
    hook = re.match(rf"https?://[^/]+{_HOOK_PATHS.get(name.lower(), '$.')}", text)
    if hook:
        wish.notice.receivers.append(f"{name.lower()}://{text[hook.end() :].strip('/')}")
        return
    if "://" in text and (not text.startswith("http") or address == address_of(name)):
        receive(wish, text)
        return
    wish.notice.receivers.append(address)


def receive_text(wish: Wish, text: str) -> None:
    """Notify at an address in quotes; another text is the text of the message."""
    if "://" in text or "@" in text:
        receive(wish, re.sub("^mailto:(?!//)", "", text.strip('"')))
    else:
        set_text(wish, "text", text)


def send_at_hour(wish: Wish, hour: str) -> None:
    """Notify at a full hour, if it was said how often. Raises `NotMeantError` otherwise."""
    if not (wish.notice.receivers or wish.notice.every):
        raise NotMeantError
    add_times(wish, "notice.times", hour, "")


def collect_messages(wish: Wish, unit: str) -> None:
    """Collect changes; a time or an interval that is said elsewhere wins."""
    notice = wish.notice
    if unit or not (notice.every or notice.times or notice.days):
        notice.every = each(unit or "day")


def hush_days(wish: Wish, days: str) -> None:
    """Send nothing on these days: messages come in the morning of the others."""
    if days not in _OTHER_DAYS:
        raise NotMeantError
    wish.notice.days = _OTHER_DAYS[days]
    wish.notes.append(f"messages come only on the other days, {_OTHER_DAYS[days]}")


def set_text(wish: Wish, what: str, text: str) -> None:
    """Set the title or the text of the messages, with the placeholders of the language."""

    def name(hole: re.Match[str]) -> str:
        place = PLACES.get(hole[1].lower())
        return f"{{{{{place}}}}}" if place else hole[0]

    template = re.sub(r"(?:\{\{|\$\{|\{|%\(|%|\$)\s*(\w+)\s*(?:\}\}|\}|\)s|%)", name, text)
    if what == "title":
        wish.notice.title = template
    else:
        wish.notice.texts.append(template)


def title_message(wish: Wish, text: str) -> None:
    """Set the title of the messages. Raises `NotMeantError` if nothing is watched: the title of a
    page is meant.
    """
    if not wish.changes:
        raise NotMeantError
    set_text(wish, "title", text)


# ---- how a page is requested, how long it is watched, and the rest


def click(wish: Wish, text: str) -> None:
    """Click on an element, or on a text."""
    wish.steps.append(f"click {selector_of(text) or f'text {text}'}")


def wait(wish: Wish, found: str) -> None:
    """Wait for some time, or for an element."""
    if found.startswith('"'):
        found = f"for {selector_of(found).removeprefix('css ') or f'text {found}'}"
    wish.steps.append(f"wait {found}")


def send_header(wish: Wish, name: str, value: str) -> None:
    """Send a header; what should not be in a statement is a secret."""
    name, value = name.strip('":'), value if value.startswith('"') else quote(value)
    is_secret = name.lower() in {"authorization", "proxy-authorization", "x-api-key", "x-auth-token"} or "$" in value
    write(wish, f'Header "{name}" {f"secret {wish.secret_of(value)}" if is_secret else value}')


def send_whole_header(wish: Wish, text: str) -> None:
    """Send a header that is one text."""
    name, _, value = text[1:-1].partition(":")
    send_header(wish, name, quote(value.strip()))


def log_in(wish: Wish, field: str, value: str) -> None:
    """Log in by a form; a password is a secret."""
    wish.login.setdefault("page", "https://example.org/login")
    if field == "password" or (field == "user" and "user" in wish.login):
        wish.login["secret"] = wish.secret_of(value)
    elif value:
        if field == "page" and "://" not in value:
            return  # the form's selector: it is found by itself
        wish.login[field] = value if field == "page" or value.startswith('"') else quote(value)


def tag(wish: Wish, found: Value) -> None:
    """Add tags."""
    names = (text.strip('"') for text in several(found).values)
    wish.tags += [name if re.fullmatch(r"[^\W\d][\w-]*", name) else quote(name) for name in names]


def limit_site(wish: Wish, number: str, unit: str) -> None:
    """Limit the requests of a site. Raises `NotMeantError` for a single page."""
    if not wish.is_site:
        raise NotMeantError
    write(wish, f"Budget {number} per {unit.lower()}")


def scope_site(wish: Wish, text: str) -> None:
    """Limit a site to paths. Raises `NotMeantError` for a single page, or another text."""
    if not wish.is_site or not text.startswith(('"/', '"!')):
        raise NotMeantError
    write(wish, f"Scope {text}")


def last(wish: Wish, span: str) -> None:
    """Report a condition only if it holds so long. Raises `NotMeantError` without a condition."""
    if not wish.is_condition:
        raise NotMeantError
    wish.lasting = span


def collect(wish: Wish, depth: str) -> None:
    """Watch a whole site."""
    wish.is_site = True
    if depth:
        write(wish, f"Depth {depth}")


def call(wish: Wish, found: str) -> None:
    """Name the sentinel. Raises `NotMeantError` for a second name, or one that is not possible."""
    name = re.sub(r"\W+", "-", found.strip('"')).strip("-")
    if wish.name or is_reserved(name) or not re.match(r"[^\W\d]", name):
        raise NotMeantError
    wish.name = name


def begin(wish: Wish) -> None:
    """Begin a statement. Raises `NotMeantError` if it has a page already."""
    if wish.pages:
        raise NotMeantError


def add_page(wish: Wish, sort: str, url: str) -> None:
    """Add a page; what kind of page it is says what is watched unless something else does."""
    if wish.pages and not wish.joint:
        raise NotMeantError
    wish.is_joint |= wish.joint == "AND"
    wish.joint = ""
    wish.pages.append((url, ""))
    wish.sort = wish.sort or ("items inserted" if sort.lower() in {"feed", "rss"} else "")
