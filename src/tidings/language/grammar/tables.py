"""The grammar as prebuilt tables of lark, so that parsing needs no table construction:
`sentinel.tables`.

`script/docs` rewrites the file; a test fails if it does not match the grammar. Tables of another
grammar or lark version are ignored: then the tables are built, which takes longer and gives the
same.

In the file the tokens of a state with equal effect are one set, and a state's lexer is made on
first use: most texts use a tenth of them.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Mapping
from copy import copy
from importlib.resources import files
from typing import Any

import lark
from lark import Lark
from lark.common import LexerConf
from lark.grammar import Rule
from lark.lexer import AbstractBasicLexer, BasicLexer, ContextualLexer, TerminalDef
from lark.parsers.lalr_analysis import IntParseTable, Reduce, Shift
from lark.parsers.lalr_parser import LALR_Parser, _Parser

STARTS = ("document", "clause", "command", "head", "alter_head", "moved", "defaults_head", "event", "drop_event")
_FOLDER = files("tidings.language.grammar")


def grammar() -> Lark:
    """Return the parser: from the tables if they match this lark, else from the grammar."""
    stored = json.loads(zlib.decompress(_FOLDER.joinpath("sentinel.tables").read_bytes()))
    if stored["of"] != _origin():
        return build()
    tables = stored["tables"]
    memo = {int(number): member for number, member in tables["memo"].items()}
    load: Callable[..., Lark] = Lark._load_from_dict  # noqa: SLF001 - of just this version of lark
    return load(tables["data"], memo, _plugins=_PLUGINS)


class _StoredParser(LALR_Parser):
    """lark's parser, with a table made of the stored sets of tokens."""

    @classmethod
    def deserialize(cls, data: Any, memo: Any, *rest: Any) -> _StoredParser:
        """Return the parser; `rest` are the rule callbacks and the debug flag."""
        states: dict[int, dict[str, Any]] = {}
        for number, row in enumerate(data["states"]):
            states[number] = {}
            for tokens, action, target in row:
                act = (Reduce, memo[target]) if action else (Shift, target)
                states[number] |= dict.fromkeys(data["sets"][tokens], act)
        table: Any = IntParseTable(states, data["start_states"], data["end_states"])  # type: ignore[no-untyped-call]
        parser = cls.__new__(cls)
        parser._parse_table = table  # noqa: SLF001 - its own
        parser.parser = _Parser(table, *rest)
        return parser


class _LateLexer(ContextualLexer):
    """lark's lexer, which makes those of single states on first use."""

    def __init__(
        self, conf: LexerConf, states: dict[int, Collection[str]], always_accept: Collection[str] = ()
    ) -> None:
        self.lexers = _Lexers(conf, states, always_accept)
        self.root_lexer = BasicLexer(conf)


class _Lexers(dict[int, AbstractBasicLexer]):
    """The lexer of each state; states that accept the same tokens share one."""

    def __init__(self, conf: LexerConf, states: Mapping[int, Collection[str]], always: Collection[str]) -> None:
        super().__init__()
        self._conf = conf
        self._states = states
        self._always = {*conf.ignore, *always}
        self._made: dict[frozenset[str], AbstractBasicLexer] = {}

    def __missing__(self, state: int) -> AbstractBasicLexer:
        accepted = frozenset(self._states[state])
        if accepted not in self._made:
            conf, known = copy(self._conf), self._conf.terminals_by_name
            conf.terminals = [known[name] for name in accepted | self._always if name in known]
            self._made[accepted] = BasicLexer(conf)
        self[state] = self._made[accepted]
        return self._made[accepted]


_PLUGINS = {"LALR_Parser": _StoredParser, "ContextualLexer": _LateLexer}


def build() -> Lark:
    """Return the parser, built from the grammar."""
    return Lark(_text(), parser="lalr", lexer="contextual", start=list(STARTS), maybe_placeholders=False)


def pack() -> bytes:
    """Return the tables of the grammar as `sentinel.tables` holds them: the same bytes at every
    run.
    """
    data, memo = build().memo_serialize([TerminalDef, Rule])
    tables = _in_order(json.loads(json.dumps(data)), json.loads(json.dumps(memo)))
    text = json.dumps({"of": _origin(), "tables": tables}, sort_keys=True, separators=(",", ":"))
    return zlib.compress(text.encode(), 9)


def _text() -> str:
    return _FOLDER.joinpath("sentinel.lark").read_text(encoding="utf-8")


def _origin() -> list[object]:
    """Return the origin of the tables: the grammar's checksum, and the version of lark."""
    return [zlib.crc32(_text().encode()), lark.__version__]


def _in_order(data: Any, memo: dict[str, Any]) -> dict[str, Any]:
    """Return tables with rules, tokens and states in canonical order: lark numbers them
    arbitrarily.
    """
    order = sorted(memo, key=lambda number: json.dumps(memo[number], sort_keys=True))
    numbers = {int(old): new for new, old in enumerate(order)}
    data = _renumber(data, numbers)
    for part in ("lexer_conf", "parser_conf"):
        for name, value in data["parser"][part].items():
            if isinstance(value, list):
                data["parser"][part][name] = sorted(value, key=json.dumps)
    data["rules"] = sorted(data["rules"], key=json.dumps)
    table = data["parser"]["parser"]
    actions = {
        int(state): sorted((table["tokens"][token], action, target) for token, (action, target) in row.items())
        for state, row in table["states"].items()
    }
    states = _states(table["start_states"], actions)
    rows: list[list[tuple[tuple[str, ...], int, int]]] = [[] for _ in states]
    for old, row in actions.items():
        by_act: dict[tuple[int, int], list[str]] = {}
        for token, action, target in row:
            by_act.setdefault((action, target["@"] if action else states[target]), []).append(token)
        rows[states[old]] = [(tuple(tokens), *act) for act, tokens in by_act.items()]
    sets = sorted({tokens for row in rows for tokens, *_ in row})
    place = {tokens: number for number, tokens in enumerate(sets)}
    table["sets"] = sets
    table["states"] = [[(place[tokens], *act) for tokens, *act in row] for row in rows]
    del table["tokens"]
    for ends in ("start_states", "end_states"):
        table[ends] = {start: states[state] for start, state in table[ends].items()}
    return {"data": data, "memo": {numbers[int(old)]: member for old, member in memo.items()}}


def _states(starts: dict[str, int], actions: dict[int, list[tuple[str, int, Any]]]) -> dict[int, int]:
    """Return the new number of each state: as they are reached from the starts, by their tokens in
    order.
    """
    numbers: dict[int, int] = {}
    waiting = [starts[start] for start in sorted(starts)]
    for state in waiting:
        if state not in numbers:
            numbers[state] = len(numbers)
            waiting.extend(target for _, action, target in actions[state] if action == 0)
    return numbers


def _renumber(value: Any, numbers: dict[int, int]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"@"}:
            return {"@": numbers[value["@"]]}
        return {key: _renumber(member, numbers) for key, member in value.items()}
    return [_renumber(member, numbers) for member in value] if isinstance(value, list) else value
