"""Whom to notify, when, and what is shown: Notify, Errors, Compare, ChangeHistory, Presentation."""

from __future__ import annotations

import json
import re
from typing import Any, cast

from lark import Token, Tree

from tidings.language.clauses.asking import read_secret_name
from tidings.language.clauses.clause import (
    Clause,
    FaultFoundError,
    Node,
    first,
    last,
    parts_of,
    read_count,
    read_positive_duration,
    unquote,
    word_types,
)
from tidings.language.clauses.when import read_clocks, read_often, read_span_of_day, read_weekdays
from tidings.language.problems import did_you_mean
from tidings.language.services import address_of
from tidings.language.times import LONGEST, measure
from tidings.language.verify import check_address
from tidings.model.watch.notifying import PLACEHOLDERS, Cap, Channel, Notify, Quiet, Rate, Wording, fill, holes
from tidings.model.watch.sentinel import Compare, History

LONGEST_WORDING = 16_384
"""The longest title and text of a Notify clause, in characters."""
WORDLESS = frozenset({"stream", "dashboard"})
"""Channels that get records, or nothing, and no wording."""
CHANNELS = ("email", "webhook", "console", "dashboard", "feed", "stream")


_OTHERS = {
    **dict.fromkeys(("mail", "e-mail"), "email anna@example.org"),
    **dict.fromkeys(("me", "us", "screen", "terminal"), "dashboard, or by email anna@example.org"),
    **dict.fromkeys(("rss", "atom"), "feed"),
}
"""Common names of channels, and how the language writes them."""


def read_notify(node: Node, clause: Clause) -> Notify:
    """Return whom to notify and when; mail is accepted with W10."""
    channels = _channels(node, clause)
    parts = parts_of(node)
    shown_only = all(channel.kind == "dashboard" for channel in channels)
    rate = Rate("interactive" if shown_only else "immediate")
    if "rate" in parts:
        rate = _rate(parts["rate"], channels, clause)
    quiet = cap = None
    if "quiet" in parts:
        clause.note("quiet", first(parts["quiet"]).start_pos)
        quiet = Quiet(*read_span_of_day(parts["quiet"], clause, "quiet"))
    if "max" in parts:
        _, number, per = cast("list[Any]", parts["max"].children)
        clause.note("max", first(parts["max"]).start_pos)
        span = measure("1", per) if isinstance(per, Token) else read_positive_duration(per, clause)
        cap = Cap(read_count(number, clause, "max"), span)
    wording = _wording(parts["wording"], channels, clause) if "wording" in parts else None
    return Notify(channels, rate, quiet, cap, wording)


def _wording(node: Node, channels: tuple[Channel, ...], clause: Clause) -> Wording:
    """Return the templates of title and text; E49 for an unknown placeholder, invalid JSON, or too
    long a text.
    """
    texts = [word for word in node.children if isinstance(word, Token) and word.type == "STRING"]
    has_title = "TITLE" in word_types(node)
    for word in texts:
        _check_placeholders(word, clause)
    title = unquote(texts[0]) if has_title else ""
    lines = texts[1:] if has_title else texts
    wording = Wording(title, "\n".join(map(unquote, lines)).rstrip("\n"))
    place = texts[0].start_pos
    if sum(map(len, texts)) > LONGEST_WORDING:
        raise clause.fail(
            place, "E49", f"title and text have more than {LONGEST_WORDING:,} characters", hint="shorten them"
        )
    if not title and not wording.text.strip():
        raise clause.fail(place, "E49", "there is no title and no text", hint='text "{{diff}}"')
    if silent := [channel.kind for channel in channels if channel.kind in WORDLESS]:
        message = f"messages to the {silent[0]} cannot have a title or text of their own"
        raise clause.fail(
            place, "E49", message, hint=f"a Notify clause of its own for {silent[0]}, without title and text"
        )
    if wording.is_json and any(channel.kind == "webhook" for channel in channels):
        _check_json(wording.text, lines[0], clause)
    return wording


def _check_placeholders(text: Token, clause: Clause) -> None:
    for name, at in holes(text):
        if name in PLACEHOLDERS:
            continue
        place = (text.start_pos or 0) + at
        expected = f"one of {', '.join(PLACEHOLDERS)}"
        if name is None:
            message = f'"{text[at : at + 20]}" is not a placeholder'
            raise clause.fail(
                place, "E49", message, expected=expected, hint="write {{diff}}; a template has no statements"
            )
        hint = did_you_mean(name, PLACEHOLDERS) or "a placeholder is a name; nothing is computed"
        raise clause.fail(place, "E49", f'there is no placeholder "{name[:40]}"', expected=expected, hint=hint)


def _check_json(text: str, place: Token, clause: Clause) -> None:
    try:
        json.loads(fill(text, {**dict.fromkeys(PLACEHOLDERS, "x"), "changes": "1"}))
    except ValueError as error:
        message = f"the text begins like JSON, but is not valid JSON: {error}"
        hint = r'put placeholders into strings: text "{\"text\": \"{{diff}}\"}"'
        raise clause.fail(place.start_pos, "E49", message, hint=hint) from None


def read_errors(node: Node, clause: Clause) -> tuple[Channel, ...]:
    """Return who is notified of the errors of a page."""
    return _channels(node, clause)


def _channels(node: Node, clause: Clause) -> tuple[Channel, ...]:
    found = [_channel(child, clause) for child in node.children if isinstance(child, Tree) and child.data == "channel"]
    return tuple(dict.fromkeys(found))


def _channel(node: Node, clause: Clause) -> Channel:
    word, address = first(node), last(node)
    if "SECRET" in word_types(node):
        name = read_secret_name(address, clause, without="messages to it wait until it is")
        return Channel("webhook" if word.type == "WEBHOOK" else "apprise", name, is_secret=True)
    match word.type:
        case "EMAIL" | "ADDRESS":
            receiver = re.sub("^mailto:", "", address, flags=re.IGNORECASE)
            message = f"mail to {receiver} is not sent until mail is set up (notify.smtp_host)"
            clause.warn(word.start_pos, "W10", message, hint="until then, use tidings changes or a webhook")
            return Channel("email", receiver)
        case "URL" | "WEBHOOK":
            return _address(word, address, clause)
        case "CONSOLE" | "DASHBOARD" | "FEED" | "STREAM":
            clause.note(word.lower(), word.start_pos)
            return Channel(word.lower())
    if word.lower() == "none":
        hint = "Notify by dashboard: changes are shown, and no message is sent"
        raise clause.fail(word.start_pos, "E03", f'found "{word}"', expected="a channel", hint=hint)
    if word.lower() in {"daily", "hourly", "weekly", "immediately", "instantly"}:
        hint = f"name a receiver first: Notify by email you@example.org {word.lower()}"
        raise clause.fail(word.start_pos, "E15", f'"{word}" is not a channel', hint=hint)
    receiver = "" if address is word else str(address)
    hint = _OTHERS.get(word.lower()) or address_of(word, receiver) or did_you_mean(word, CHANNELS)
    hint = f"write Notify by {hint}" if "mean" not in hint and hint else hint
    hint = hint or "give an Apprise or https:// address instead, for example tgram://bot/chat"
    raise clause.fail(word.start_pos, "E15", f'"{word}" is not available as a channel', hint=hint)


def _address(word: Token, url: Token, clause: Clause) -> Channel:
    scheme = url.partition("://")[0].lower()
    if scheme not in {"http", "https"}:
        if word.type == "WEBHOOK":
            message = f'a webhook cannot be a "{scheme}:" address'
            raise clause.fail(url.start_pos, "E22", message, expected="http:// or https://")
        return Channel("apprise", str(url))
    if not check_address(clause.report, url.start_pos or 0, url):
        raise FaultFoundError
    return Channel("webhook", str(url))


def _rate(node: Node, channels: tuple[Channel, ...], clause: Clause) -> Rate:
    parts, word = parts_of(node), first(node)
    match last(node) if not parts else word:
        case Token(type="EFFORT"):
            clause.note("best effort", word.start_pos)
            return Rate("best_effort")
        case Token(type="IMMEDIATE"):
            return Rate("immediate")
        case Token(type="INTERACTIVE"):
            return _interactive(word, channels, clause)
    if word.type == "AT":
        clause.note("at", word.start_pos)
        days = read_weekdays(parts.get("days"))
        return Rate("at", clocks=read_clocks(parts["times"], days, clause), days=days)
    if "days" in parts or "often" in parts:
        clause.note("often", word.start_pos)
        return _often(node, clause)
    interval = read_positive_duration(parts["duration"], clause) if "duration" in parts else 0
    changes = 0
    if "many" in parts:
        clause.note("many", first(parts["many"]).start_pos)
        changes = read_count(first(parts["many"]), clause, "every", hint="immediate reports each change by itself")
    return Rate("every", interval, changes)


def _often(node: Node, clause: Clause) -> Rate:
    """Return the rate of `daily`, `hourly`, `every day at 08:00` or `mon-fri at 08:00`."""
    meant = read_often(node, clause)
    if isinstance(meant, int):
        return Rate("every", meant, 0)
    return Rate("at", clocks=meant[0], days=meant[1])


def _interactive(word: Token, channels: tuple[Channel, ...], clause: Clause) -> Rate:
    pushed = next((channel.kind for channel in channels if channel.kind != "dashboard"), None)
    if pushed is not None:
        message = f"interactive works only for the dashboard, not for {pushed}"
        raise clause.fail(word.start_pos, "E15", message, hint="write immediate, or every 1 hour")
    return Rate("interactive")


def read_compare(node: Node, clause: Clause) -> Compare:
    """Return which versions are compared."""
    word = cast("Token", node.children[1])
    clause.note(f"compare {word.lower()}", first(node).start_pos)
    if word.type == "PAIRWISE":
        return Compare()
    if word.type == "FIRST":
        return Compare("first")
    hint = "Compare pairwise compares each version with the one before"
    n = read_count(cast("Token", node.children[2]), clause, f"Compare {word.lower()}", least=2, hint=hint)
    return Compare(cast("Any", word.lower()), n)


def read_history(node: Node, clause: Clause) -> History:
    """Return which changes are stored: a number of them, or their age."""
    number = cast("Token", node.children[1])
    if "UNIT" not in word_types(node):
        return History(
            changes=read_count(number, clause, "ChangeHistory", hint="for an age, write ChangeHistory 90 day")
        )
    age = measure(number, last(node)) if len(number) <= 20 else LONGEST + 1
    if not 0 < age <= LONGEST:
        message = f'"{number[:20]} {last(node)}" is not an age'
        raise clause.fail(number.start_pos, "E05", message, expected="more than 0 s, at most 100 years")
    return History(age=age)


def read_presentation(node: Node, _clause: Clause) -> str:
    """Return how a change is shown."""
    return "_".join(str(word).lower() for word in node.children[1:])
