"""The grammar as the tables that lark makes of it, so that a text is read without building them: `sentinel.tables`.

`script/docs` writes the file again; a test refuses one that is not what the grammar gives. Made of another grammar or for another
version of lark it is not used: then the tables are built, which takes longer and gives the same.
"""

from __future__ import annotations

import json
import zlib
from importlib.resources import files
from typing import Any

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

STARTS = ("document", "clause", "command", "head", "alter_head", "moved", "defaults_head", "event", "drop_event")
_FOLDER = files("tidings.language.grammar")


def grammar() -> Lark:
    """Return the parser: from the tables if they are this lark's, else from the grammar."""
    stored = json.loads(zlib.decompress(_FOLDER.joinpath("sentinel.tables").read_bytes()))
    if stored["of"] != _origin():
        return built()
    tables = stored["tables"]
    memo = {int(number): member for number, member in tables["memo"].items()}
    table = tables["data"]["parser"]["parser"]
    table["tokens"] = {int(number): name for number, name in table["tokens"].items()}
    table["states"] = {
        int(state): {int(token): (action, target) for token, (action, target) in actions.items()}
        for state, actions in table["states"].items()
    }
    loaded: Lark = Lark.load({"data": tables["data"], "memo": memo})
    return loaded


def built() -> Lark:
    """Return the parser, built from the grammar."""
    return Lark(_text(), parser="lalr", lexer="contextual", start=list(STARTS), maybe_placeholders=False)


def packed() -> bytes:
    """Return the tables of the grammar as `sentinel.tables` holds them: the same bytes at every run."""
    data, memo = built().memo_serialize([TerminalDef, Rule])
    tables = _in_order(json.loads(json.dumps(data)), json.loads(json.dumps(memo)))
    text = json.dumps({"of": _origin(), "tables": tables}, sort_keys=True, separators=(",", ":"))
    return zlib.compress(text.encode(), 9)


def _text() -> str:
    return _FOLDER.joinpath("sentinel.lark").read_text(encoding="utf-8")


def _origin() -> list[object]:
    """Return what tables are made of: the grammar, by its checksum, and the version of lark."""
    return [zlib.crc32(_text().encode()), lark.__version__]


def _in_order(data: Any, memo: dict[str, Any]) -> dict[str, Any]:
    """Return tables whose rules, tokens and states are numbered by what they are: lark numbers them as they come to hand."""
    order = sorted(memo, key=lambda number: json.dumps(memo[number], sort_keys=True))
    numbers = {int(old): new for new, old in enumerate(order)}
    data = _renumbered(data, numbers)
    for part in ("lexer_conf", "parser_conf"):
        for name, value in data["parser"][part].items():
            if isinstance(value, list):
                data["parser"][part][name] = sorted(value, key=json.dumps)
    data["rules"] = sorted(data["rules"], key=json.dumps)
    table = data["parser"]["parser"]
    names = {token: number for number, token in enumerate(sorted(table["tokens"].values()))}
    tokens = {int(old): names[name] for old, name in table["tokens"].items()}
    actions = {
        int(state): sorted((tokens[int(token)], action, target) for token, (action, target) in row.items())
        for state, row in table["states"].items()
    }
    states = _states(table["start_states"], actions)
    table["tokens"] = {number: name for name, number in names.items()}
    table["states"] = {
        states[old]: {token: (action, target if action else states[target]) for token, action, target in row}
        for old, row in actions.items()
    }
    for ends in ("start_states", "end_states"):
        table[ends] = {start: states[state] for start, state in table[ends].items()}
    return {"data": data, "memo": {numbers[int(old)]: member for old, member in memo.items()}}


def _states(starts: dict[str, int], actions: dict[int, list[tuple[int, int, Any]]]) -> dict[int, int]:
    """Return the new number of each state: as they are reached from the starts, by their tokens in order."""
    numbers: dict[int, int] = {}
    waiting = [starts[start] for start in sorted(starts)]
    for state in waiting:
        if state not in numbers:
            numbers[state] = len(numbers)
            waiting.extend(target for _, action, target in actions[state] if action == 0)
    return numbers


def _renumbered(value: Any, numbers: dict[int, int]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"@"}:
            return {"@": numbers[value["@"]]}
        return {key: _renumbered(member, numbers) for key, member in value.items()}
    return [_renumbered(member, numbers) for member in value] if isinstance(value, list) else value
