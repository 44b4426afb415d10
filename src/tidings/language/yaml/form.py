"""Sentinels as YAML (sentinels §1.7): the same statements, as a list of mappings.

A YAML text is converted, clause by clause, to the sentence form and parsed from there, so that both
forms accept and refuse the same, with the same messages; problems refer to their place in the YAML.
Anchors are refused, a number as a duration is in seconds, an unknown key is an error. `yaml` is
loaded with this module.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Unpack

import yaml
from yaml.nodes import Node, ScalarNode, SequenceNode

from tidings.language.grammar.pieces import Piece
from tidings.language.grammar.syntax import Compound, EventPart, Order, Part, follows, read_part
from tidings.language.parser import Parsed, ParseOptions, meaning_of_parts, read_options
from tidings.language.problems import MOST, ProblemReport, either
from tidings.language.words import name_of_host
from tidings.language.write.table import GATHERED, NOTHING
from tidings.language.yaml.clauses import BODIES, SYNONYMS
from tidings.language.yaml.data import plain
from tidings.language.yaml.nodes import (
    FormError,
    Segment,
    Segments,
    duration,
    fields,
    is_mapping,
    is_nothing,
    is_true,
    join,
    members,
    scalar,
    string,
)
from tidings.model.watch.sentinel import Statement

LARGEST = 1_000_000
"""The longest YAML text, in characters."""
DEEPEST = 100

_VERBS = ("alter", "defaults", "enable", "disable", "drop", "confirm", "event", "drop_event")
_PAGES = frozenset({"url", "urls", "page"})
"""Synonyms of the key `pages`."""
_TAKES = {
    "name": frozenset({"pages", "using"}),
    "alter": frozenset({"pages"}),
    "event": frozenset({"using"}),
    "enable": frozenset({"fresh"}),
}
"""Keys of the head of a statement, beside its first key."""
_WITH_CLAUSES = frozenset({"name", "alter", "defaults"})
CLAUSES: tuple[str, ...] = tuple("headers" if word == "header" else word for word in BODIES)
"""The keys of the clauses: the words of the sentence form, `history` for ChangeHistory, `headers`
for all Header clauses.
"""


def to_yaml(statements: Iterable[Statement]) -> str:
    """Return statements as a YAML text, without default values, as in the sentence form."""
    data = [plain(statement) for statement in statements]
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return text


class _Dumper(yaml.SafeDumper):
    """Writes texts so that they parse back unchanged: a bare Unicode line end would become a
    blank.
    """

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - asked of each value
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> ScalarNode:
    style = '"' if set(text) & _LINE_ENDS else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_LINE_ENDS = frozenset("\x85\u2028\u2029\ufeff")
_Dumper.add_representer(str, _text)


def load(text: str, **options: Unpack[ParseOptions]) -> Parsed:
    """Return the statements of a YAML text, with its problems and warnings at their places; see
    `parser.parse`.
    """
    report = _Places()
    return meaning_of_parts(_parts(text, report), report, *read_options(options))


class _Places(ProblemReport):
    """A report with offsets in the converted text, and places in the YAML."""

    def __init__(self) -> None:
        super().__init__("")
        self._starts: list[int] = [0]
        self._marks: list[tuple[int, int]] = [(1, 1)]

    def add(self, segments: Iterable[Segment]) -> None:
        """Append pieces of text, each with its node."""
        offset, texts = len(self.text), []
        for text, node in segments:
            self._starts.append(offset)
            self._marks.append((node.start_mark.line + 1, node.start_mark.column + 1))
            texts.append(text)
            offset += len(text)
        self.text += "".join(texts)

    def refuse(self, error: FormError) -> None:
        """Record a fault in the form of a node."""
        self.add([(" ", error.node)])
        self.fault(len(self.text) - 1, error.code, error.message, expected=error.expected, hint=error.hint)

    def _place(self, offset: int) -> tuple[int, int]:
        return self._marks[bisect_right(self._starts, offset) - 1]


def _parts(text: str, report: _Places) -> Iterator[Part]:
    try:
        root = _compose(text)
        if root is None:
            return
        statements = members(root) if isinstance(root, SequenceNode) else [root]
    except FormError as error:
        report.refuse(error)
        return
    for statement in statements:
        if report.faults >= MOST:
            return
        try:
            part = _part(statement, report)
        except FormError as error:
            report.refuse(error)
            continue
        if part is not None:
            yield part


def _compose(text: str) -> Node | None:
    """Return the root of a YAML text. Raise `FormError` (E43) for invalid YAML, and for anchors."""
    nowhere = ScalarNode("", "", yaml.Mark("", 0, 0, 0, "", 0))
    if len(text) > LARGEST:
        raise FormError(nowhere, "E43", f"the text is longer than {LARGEST} characters")
    try:
        root: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = ScalarNode("", "", mark) if mark is not None else nowhere
        raise FormError(place, "E43", f"this is not YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise FormError(nowhere, "E43", f"this is not YAML: {str(error).partition(chr(10))[0]}") from error
    except RecursionError as error:
        raise FormError(nowhere, "E43", "this is not YAML: it is nested too deeply") from error
    if root is not None:
        _check_tree(root, set(), 0)
    return root


def _check_tree(node: Node, seen: set[int], depth: int) -> None:
    """Raise `FormError` for a node in two places: a kilobyte of text could mean gigabytes."""
    if id(node) in seen:
        raise FormError(
            node, "E43", "anchors and aliases are not accepted", hint="use Defaults for what many sentinels share"
        )
    if depth > DEEPEST:
        raise FormError(node, "E43", "this is not YAML: it is nested too deeply")
    seen.add(id(node))
    if isinstance(node.value, list):
        for member in node.value:
            for child in member if isinstance(member, tuple) else (member,):
                _check_tree(child, seen, depth + 1)


def _part(node: Node, report: _Places) -> Part | None:
    """Return one statement; None if its head cannot be read."""
    head, rest, rule = _head(node)
    first = _read(head, rule, node, report)
    if rule in {"event", "drop_event"}:
        return None if first is None else EventPart(first)
    if rule == "command":
        order: Order | None = first
        return order
    faults = report.faults
    clauses: list[Any] = []
    for name, value in rest.items():
        if report.faults >= MOST:
            break
        for word, body in _bodies(name, value, report):
            clause = _read(_line(word, body, value), "clause", value, report)
            if clause is not None:
                clauses.append(clause)
    return None if first is None else Compound(first, tuple(clauses), report.faults == faults)


def _bodies(name: str, node: Node, report: _Places) -> Iterator[tuple[str, Node | None]]:
    """Yield each clause of a key: its word, and the node of its value (None: removed)."""
    word = "header" if name in {"headers", "header"} else name
    if is_nothing(node) and word in NOTHING:
        yield word, None
        return
    if word == "header" and is_mapping(node):
        error = FormError(node, "E45", "found a mapping", expected="a list of {name: …, value: …}")
        report.refuse(error)
        return
    meant = SYNONYMS[word][0] if word in SYNONYMS else word
    for member in members(node) if meant in GATHERED else (node,):
        yield word, member


def _line(word: str, body: Node | None, node: Node) -> Segments:
    meant, meaning = SYNONYMS.get(word) or (word, BODIES[word])
    yield "ChangeHistory " if meant == "history" else f"{meant} ", node
    if body is None:
        yield "none", node
    else:
        yield from meaning(body)


def _read(segments: Segments, rule: str, node: Node, report: _Places) -> Any:
    """Add a piece to the text and return its tree by a rule of the grammar; None if it has a
    fault.
    """
    start, place, pieces = len(report.text), node, list[Segment]()
    try:
        for segment in segments:
            text, place = (segment, place) if isinstance(segment, str) else segment
            pieces.append((text, place))
    except FormError as error:
        report.refuse(error)
        return None
    report.add([*pieces, ("\n", place)])
    end = len(report.text) - 1
    found = read_part(report.text, Piece("", start, end), rule, report)
    if found is None and rule == "clause":
        from tidings.language.guesses.suggest import clause_for  # only for what cannot be read

        if hint := clause_for(report.text[start:end], lambda line: follows(line, "clause")):
            report.add_hint(start, end, hint)
    return found


def _head(node: Node) -> tuple[Segments, Mapping[str, Node], str]:
    """Return the head of a statement, its clauses, and the rule of its head."""
    keys = ("name", "pages", *_PAGES, "using", *_VERBS, "fresh", "until", *CLAUSES, "header", *SYNONYMS)
    found = fields(node, keys)
    own = {"until"} if "disable" in found else set[str]()
    rest = {
        name: value
        for name, value in found.items()
        if name not in own and (name in CLAUSES or name in SYNONYMS or name == "header")
    }
    for key in _PAGES & found.keys():
        if "pages" in found:
            raise FormError(found[key], "E23", f'"{key}" repeats "pages"', hint="keep one")
        found["pages"] = found.pop(key)
    if "name" not in found and "pages" in found and not found.keys() & set(_VERBS):
        raise FormError(
            node, "E25", "this sentinel has no name", expected="name:", hint=f"write name: {_name_for(found['pages'])}"
        )
    verbs = [verb for verb in _VERBS if verb in found]
    if len(verbs) + ("name" in found) != 1:
        raise FormError(node, "E25", f"a statement has one of {either(['name', *_VERBS], joint='and')}")
    kind = verbs[0] if verbs else "name"
    for key in ("pages", "using", "fresh"):
        if key in found and key not in _TAKES.get(kind, ()):
            raise FormError(found[key], "E45", f'"{key}" cannot be used with "{kind}"', hint=f"leave {key} out")
    if rest and kind not in _WITH_CLAUSES:
        what = "using" if kind == "event" else "a name"
        raise FormError(node, "E45", f"{kind} takes {what} and nothing else")
    match kind:
        case "name":
            return _creation(node, found), rest, "head"
        case "alter":
            return _alteration(found), rest, "moved" if "pages" in found else "alter_head"
        case "defaults":
            return _defaults(found["defaults"]), rest, "defaults_head"
        case "event":
            return _event(node, found), {}, "event"
        case "drop_event":
            return _event_dropped(found["drop_event"]), {}, "drop_event"
    return _command(kind, found), {}, "command"


def _name_for(pages: Node) -> str:
    """Return a suggested name for a sentinel on some pages."""
    first = next(iter(members(pages)), pages)
    return name_of_host(str(first.value) if isinstance(first, ScalarNode) else "")


def _creation(node: Node, found: Mapping[str, Node]) -> Segments:
    yield "Create Sentinel "
    yield scalar(found["name"])
    yield " Using "
    if ("pages" in found) == ("using" in found):
        raise FormError(
            node, "E25", "a sentinel has pages, or a sentinel that it is made from", expected="pages: or using:"
        )
    if "using" in found:
        yield scalar(found["using"])
        return
    yield from _list_pages(found["pages"])


def _list_pages(pages: Node) -> Segments:
    for number, page in enumerate(members(pages)):
        yield "" if number == 0 else ", "
        if not is_mapping(page):
            yield scalar(page)
            continue
        parts = fields(page, ("url", "command", "as"))
        if ("url" in parts) == ("command" in parts):
            raise FormError(page, "E25", "a page has one key", expected="url: or command:")
        if "url" in parts:
            yield scalar(parts["url"])
        else:
            yield from _words("command", parts["command"])
        if "as" in parts:
            yield " As "
            yield scalar(parts["as"])


def _event(node: Node, found: Mapping[str, Node]) -> Segments:
    yield "Create Event "
    yield scalar(found["event"])
    yield " Using "
    if "using" not in found:
        raise FormError(node, "E25", "an event needs a source", expected="using:", hint="using: webhook")
    source = found["using"]
    if not is_mapping(source):
        yield scalar(source)
        return
    parts = fields(source, ("file", "command", "every"))
    if ("file" in parts) == ("command" in parts):
        raise FormError(source, "E25", "an event has one source", expected="file: or command:")
    for origin in parts.keys() - {"every"}:
        yield from _words(origin, parts[origin])
    if "every" in parts:
        yield " every "
        yield duration(parts["every"])


def _words(origin: str, words: Node) -> Segments:
    yield origin, words
    for word in members(words):
        yield " "
        yield string(word)


def _event_dropped(name: Node) -> Segments:
    yield "Drop Event "
    yield scalar(name)


def _alteration(found: Mapping[str, Node]) -> Segments:
    yield "Alter "
    yield scalar(found["alter"])
    if "pages" in found:
        yield " Using "
        yield from _list_pages(found["pages"])


def _defaults(tags: Node) -> Segments:
    yield "Defaults For Tags "
    yield from join(tags)


def _command(verb: str, found: Mapping[str, Node]) -> Segments:
    yield f"{verb} "
    yield scalar(found[verb])
    if "fresh" in found and is_true(found["fresh"]):
        yield " fresh"
    if "until" in found:
        yield " until "
        yield scalar(found["until"])
