"""The fields of a form beside the text of a sentinel: receivers, interval, name and tags become its
clauses, each refused by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tidings.errors import AddressError
from tidings.language.write.printer import page_text, to_text
from tidings.model.watch.sentinel import DEFAULT_NOTIFY, Sentinel
from tidings.record import replace
from tidings.service.sentinels import register
from tidings.service.sentinels.author import INSTALLATION, Author
from tidings.service.sentinels.receivers import check_addressees
from tidings.storage.watches import sentinels

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection

FIELDS: Final = ("notify", "every", "name", "tags")
"""What a form asks besides the page and the change."""
MOST_RECEIVERS: Final = 5
_TIME_OF_DAY: Final = re.compile(r"\d{1,2}:\d\d")
_NO_NAME: Final = re.compile(r"[^\w-]+")


def complete(
    c: Connection,
    text: str,
    fields: Mapping[str, str],
    settings: Settings,
    now: Instant,
    author: Author = INSTALLATION,
) -> tuple[str, dict[str, str]]:
    """Return a text with what the fields say, and why fields are refused.

    A text that is not one valid sentinel is returned as it is: it is refused when it is saved.

    Args:
        c: The connection.
        text: The statement of one sentinel.
        fields: The values of some `FIELDS`; an empty one says nothing.
        settings: The settings in use.
        now: Wall time (µs).
        author: Who fills in the form.
    """

    def read(written: str) -> tuple[list[Sentinel], list[str]]:
        parsed = register.understand(c, "", written, settings=settings, now=now, author=author, anew=True)
        sentinels_in = [one for one in parsed.statements if isinstance(one, Sentinel)]
        return sentinels_in, [f"{one.message}{f' ({one.hint})' if one.hint else ''}" for one in parsed.problems]

    written = {name: value for name, value in fields.items() if value}
    made, problems = read(text) if written else ([], [])
    if problems or len(made) != 1:
        return text, {}
    named = {"name": _refuse_name(c, fields.get("name", "")), "notify": _refuse_receivers(fields.get("notify", ""))}
    refused = {name: why for name, why in named.items() if why}
    sentinel = made[0]
    changes: dict[str, Any] = {}
    for name in written.keys() - refused.keys():
        probes: list[Sentinel] = []
        try:
            probes, problems = read(_probe(sentinel, name, written[name]))
            for probe in probes:
                check_addressees(probe)
        except AddressError as error:
            problems = [str(error).removeprefix(f"{sentinel.name}: ")]
        if problems or len(probes) != 1:
            refused[name] = _advise(name, problems)
            continue
        changes |= _changes(sentinel, name, probes[0])
    return to_text(replace(sentinel, **changes)), refused


def _advise(field: str, problems: Sequence[str]) -> str:
    """Return why a field is refused, and what to write."""
    if field == "notify":
        return " ".join(problems)
    if field == "every":
        return "write for example 10 min, 1 hour, 1 day, hourly, or at 08:00, 18:00"
    return "write letters and digits, with a letter first"


def _probe(sentinel: Sentinel, field: str, value: str) -> str:
    """Return a statement that says only what a field says."""
    name = _write_name(value) if field == "name" else sentinel.name
    text = f"Create Sentinel {name} Using {page_text(sentinel.pages[0])}\nMonitor any change\n"
    match field:
        case "every":
            is_whole = value.lower().startswith(("every ", "at ", "on "))
            lead = "" if is_whole else "at " if _TIME_OF_DAY.match(value) else "every "
            return f"{text}Fetch {lead}{value}"
        case "tags":
            return f"{text}Tags {', '.join(filter(None, map(_write_name, value.split(','))))}"
        case "notify":
            lines = (f"Notify By {register.channel_words(one)} immediate" for one in _list_receivers(value))
            return text + "\n".join(lines)
        case _:
            return text


def _changes(sentinel: Sentinel, field: str, probe: Sentinel) -> dict[str, Any]:
    """Return the parts of a sentinel that a field changes."""
    match field:
        case "name":
            return {"name": probe.name}
        case "every":
            return {"fetch": probe.fetch}
        case "tags":
            return {"tags": tuple(dict.fromkeys((*sentinel.tags, *probe.tags)))}
        case _:
            present = () if sentinel.notify == DEFAULT_NOTIFY else sentinel.notify
            return {"notify": tuple(dict.fromkeys((*present, *probe.notify)))}


def _write_name(text: str) -> str:
    """Return a text as a name or tag: `steel-kettle` for `steel kettle`."""
    return _NO_NAME.sub("-", text).strip("-")


def _refuse_name(c: Connection, name: str) -> str:
    """Return why a name cannot be given, empty if it can."""
    taken = bool(name) and _write_name(name) in sentinels.names(c)
    return "there is already a sentinel with this name" if taken else ""


def _list_receivers(value: str) -> list[str]:
    """Return the receivers of the field: with spaces between, or commas and spaces."""
    found = [one.strip(",") for one in value.split()]
    return [
        part for one in found if one for part in (one.split(",") if "," in one and "://" not in one else (one,)) if part
    ]


def _refuse_receivers(value: str) -> str:
    """Return why receivers are refused: each is a mail address or a URL."""
    receivers = _list_receivers(value)
    if len(receivers) > MOST_RECEIVERS:
        return f"more than {MOST_RECEIVERS} receivers; write the others into the statement"
    wrong = [one for one in receivers if "://" not in one and "@" not in one]
    if wrong:
        return f"{wrong[0][:80]} is neither an e-mail address nor a URL, such as https://… or ntfy://…"
    return ""
