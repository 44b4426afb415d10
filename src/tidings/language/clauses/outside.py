"""Outside events: Create Event and Drop Event."""

from __future__ import annotations

from typing import cast

from lark import Token

from tidings.language.clauses.clause import Clause, Node, check_name, parts_of, read_positive_duration, unquote
from tidings.language.problems import either
from tidings.model.event_type import CreateEvent, DropEvent, EventSource

MOST_WORDS = 100
"""of a command"""


def read_event(node: Node, clause: Clause) -> CreateEvent | DropEvent:
    """Return the value of a statement on an event. Raise `FaultFoundError` (E04, E05, E17, E20,
    E21, E46).
    """
    name = cast("Token", node.children[2])
    clause.note("name", name.start_pos)
    check_name(name, clause)
    if node.data == "drop_event":
        _check_drop(name, clause)
        return DropEvent(str(name))
    if clause.events is not None and clause.events.exists(name):
        hint = f"use another name, or Drop Event {name} first"
        raise clause.fail(name.start_pos, "E21", f'you already have an event "{name}"', hint=hint)
    made = CreateEvent(str(name), _source(node, clause))
    if clause.events is not None:
        clause.events.note_made(made.name)
    return made


def _source(node: Node, clause: Clause) -> EventSource:
    origin = cast("Token", node.children[3])
    clause.note("source", origin.start_pos)
    texts = [child for child in node.children if isinstance(child, Token) and child.type == "STRING"]
    words = tuple(unquote(text) for text in texts)
    parts = parts_of(node)
    every = read_positive_duration(parts["duration"], clause) if "duration" in parts else None
    match origin.lower():
        case "file":
            _check_path(texts[0], clause)
            return EventSource("file", path=words[0], every=every)
        case "command":
            check_words(texts, clause)
            return EventSource("command", argv=words, every=every)
    return EventSource("webhook")


def _check_path(text: Token, clause: Clause) -> None:
    path = unquote(text)
    if not path.startswith("/") or ".." in path.split("/") or not path.isprintable():
        raise clause.fail(text.start_pos, "E47", f'"{path[:60]}" is not a complete path', expected='"/srv/report.csv"')


def check_words(texts: list[Token], clause: Clause) -> None:
    """Raise `FaultFoundError` (E47) unless the texts are the words of a command."""
    program = unquote(texts[0])
    if not program or "\0" in "".join(texts):
        raise clause.fail(
            texts[0].start_pos, "E47", "a command must begin with its program", expected='"/usr/bin/uptime"'
        )
    if len(texts) == 1 and any(letter.isspace() for letter in program):
        quoted = " ".join(f'"{word}"' for word in program.split())
        hint = f"the command does not run in a shell: write each word as a text of its own, {quoted}"
        raise clause.fail(texts[0].start_pos, "E47", f'there is no program "{program[:60]}"', hint=hint)
    if len(texts) > MOST_WORDS:
        message = f"a command has at most {MOST_WORDS} words"
        raise clause.fail(texts[MOST_WORDS].start_pos, "E47", message, hint="put them into a script")


def _check_drop(name: Token, clause: Clause) -> None:
    events = clause.events
    if events is None:
        return
    if not events.exists(name):
        raise clause.fail(name.start_pos, "E20", f'there is no event "{name}"', hint=events.hint(name))
    if users := events.users(name):
        message = f'the event "{name}" cannot be dropped: {either(users, joint="and")} wait{"s" if len(users) == 1 else ""} for it'
        hint = f"{'; '.join(f'Drop {user}' for user in users[:3])} first, or alter the sentinels that wait"
        raise clause.fail(name.start_pos, "E46", message, hint=hint)
    events.note_dropped(str(name))
