"""Find the sentences of templates and screens for translation: every text of a template is one,
without being marked.

A text between tags is a sentence, and so are `aria-label`, `title`, `placeholder` and `alt`. Tags
and values within a sentence are placeholders, so that it is translated whole: `<1>Narrow the
sentinel</1>: {count} stay`. Content of `pre`, `kbd` or `textarea` is not translated.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, nodes
from jinja2.ext import Extension

from tidings.web.markup.localize import OURS

LONGEST: Final = 600
"""The longest sentence of the service, in characters."""
INLINE: Final = frozenset(("a", "b", "bdi", "code", "em", "i", "q", "s", "small", "span", "input"))
"""Elements that occur within a sentence."""
RAW: Final = frozenset(("pre", "textarea", "kbd", "script", "style"))
SPOKEN: Final = ("aria-label", "title", "placeholder", "alt", r"data-say-\w+")
"""Attributes with text for users, shown by the browser or by the screens' script."""
_TEMPLATE: Final = r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}"
_TAG: Final = rf'<[/!]?[a-zA-Z](?:{_TEMPLATE}|"(?:{_TEMPLATE}|[^"])*"|[^>"])*>'
_TOKEN: Final = re.compile(rf"({_TEMPLATE}|<!--.*?-->|{_TAG})", re.DOTALL)
_ATTRIBUTE: Final = re.compile(rf' ({"|".join(SPOKEN)})="((?:{_TEMPLATE}|[^"])*)"', re.DOTALL)
_WORD: Final = re.compile(r"[^\W\d_]")
_STRING: Final = re.compile(r"\"[^\"]*\"|'[^']*'")
_NAME: Final = re.compile(r"[A-Za-z_][\w.]*")
_ICON: Final = re.compile(r"\{\{ (?:icon|gauge)\(")
_NO_NAMES: Final = frozenset(("count", "at", "ago", "format", "number", "text", "most", "length", "span", "if", "else"))


class Sentences(Extension):
    """Jinja extension that sends every user-visible text of a template through the catalogue."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """Return a template with each sentence in a call of `_`."""
        del name, filename
        return "".join(_rewrite(source))


def _rewrite(source: str) -> Iterator[str]:
    run: list[str] = []
    silent = ""
    for token in _TOKEN.split(source):
        element = _element(token)
        if silent:
            yield token
            silent = "" if token.startswith(f"</{silent}") else silent
            continue
        if token.startswith(("{%", "{#", "<!")) or (element and element not in INLINE):
            yield from _write(run)
            run = []
            yield _translate_attributes(token)
            silent = element if element in RAW and not token.startswith("</") else ""
        elif token:
            run.append(token)
    yield from _write(run)


def _element(token: str) -> str:
    found = re.match(r"</?([a-zA-Z][\w-]*)", token)
    return found[1].lower() if found else ""


def _pairs(run: list[str]) -> dict[int, int]:
    """Return the positions of tags and of their ends; a tag without an end here is omitted."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for place, token in enumerate(run):
        if not (element := _element(token)):
            continue
        if element == "input":
            ends[place] = place
        elif not token.startswith("</"):
            opened.append(place)
        elif opened and _element(run[opened[-1]]) == element:
            ends[opened.pop()] = place
        else:
            opened.clear()
    return ends


def _write(run: list[str]) -> Iterator[str]:
    """Yield a run of texts, values and tags as sentences."""
    ends = _pairs(run)
    closed = set(ends.values())
    stretch: list[tuple[int, int]] = []
    place = 0
    while place < len(run):
        if _element(run[place]) and place not in ends and place not in closed:
            yield from _write_balanced(run, stretch)
            yield _translate_attributes(run[place])
            stretch = []
            place += 1
        else:
            last = ends.get(place, place)
            stretch.append((place, last))
            place = last + 1
    yield from _write_balanced(run, stretch)


def _write_balanced(run: list[str], stretch: list[tuple[int, int]]) -> Iterator[str]:
    """Yield one nesting level: a sentence if it has a word, else each element separately."""
    own = [run[first] for first, last in stretch if first == last]
    begin, end = 0, len(stretch)
    if any(_is_text(token) for token in own):
        while _is_beside(run, *stretch[begin]):
            begin += 1
        while _is_beside(run, *stretch[end - 1]):
            end -= 1
    else:
        begin = end
    for first, last in stretch[:begin]:
        yield from _pass_on(run, first, last)
    if begin < end:
        yield _sentence(run[stretch[begin][0] : stretch[end - 1][1] + 1])
    for first, last in stretch[end:]:
        yield from _pass_on(run, first, last)


def _pass_on(run: list[str], first: int, last: int) -> Iterator[str]:
    """Yield what is not part of a sentence; its elements may contain one."""
    yield _translate_attributes(run[first])
    if last > first:
        yield from _write(run[first + 1 : last])
        yield run[last]


def _is_beside(run: list[str], first: int, last: int) -> bool:
    """Return whether a token at the edge of a sentence is outside of it: a space, an icon, a key, a
    field.
    """
    if first == last:
        return not run[first].strip() or bool(_ICON.match(run[first]) or _element(run[first]))
    return not any(_is_text(token) or token.startswith("{{") for token in run[first + 1 : last])


def _is_text(token: str) -> bool:
    return not token.startswith(("{", "<")) and bool(_WORD.search(unescape(token)))


def _sentence(run: list[str]) -> str:
    """Return the call for a sentence, with the surrounding space outside."""
    text, values, sets = "", [], ""
    ends, number = _pairs(run), 0
    closing: dict[int, int] = {}
    for place, token in enumerate(run):
        if _element(token):
            if place in ends:
                number += 1
                closing[ends[place]] = number
                text += f"<{number}>"
                sets += f"{{% set _{number} %}}{_translate_attributes(token)}{{% endset %}}"
                values.append(f"_{number}=_{number}")
            if place in closing and token.startswith("</"):
                text += f"</{closing[place]}>"
        elif token.startswith("{{"):
            name = _name(token[2:-2], {one.partition("=")[0] for one in values})
            text += f"{{{name}}}"
            values.append(f"{name}=({token[2:-2].strip()})")
        else:
            text += unescape(token)
    before, after = text[: len(text) - len(text.lstrip(" \n"))], text[len(text.rstrip(" \n")) :]
    core = re.sub(r"[ \n]+", " ", text.strip(" \n"))
    call = ", ".join([_quote(core), *values])
    return f"{before}{sets}{{{{ _({call}) }}}}{after}"


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _name(expression: str, taken: set[str]) -> str:
    """Return the placeholder name of a value for translators: the last part of the first name in
    it.
    """
    found = [one.split(".")[-1] for one in _NAME.findall(_STRING.sub("", expression)) if one not in _NO_NAMES]
    name = next((one for one in found if one not in _NO_NAMES), "value")
    while name in taken:
        name += "_"
    return name


def _translate_attributes(tag: str) -> str:
    """Return a tag with its user-visible attributes as sentences."""
    if not tag.startswith("<"):
        return tag

    def replace(found: re.Match[str]) -> str:
        pieces = [one for one in re.split(f"({_TEMPLATE})", found[2]) if one]
        if not any(_is_text(one) for one in pieces) or any(one.startswith("{%") for one in pieces):
            return found[0]
        return f' {found[1]}="{_sentence(pieces)}"'

    return _ATTRIBUTE.sub(replace, tag)


def sentences_of_templates(environment: Environment) -> Iterator[tuple[str, ...]]:
    """Yield each sentence of the templates: its text, or both texts of a count."""
    loader = environment.loader
    assert loader is not None  # noqa: S101 - the screens' templates have one
    for name in loader.list_templates():
        tree = environment.parse(loader.get_source(environment, name)[0])
        for call in tree.find_all(nodes.Call):
            if isinstance(call.node, nodes.Name):
                texts = [one.value for one in call.args if isinstance(one, nodes.Const) and isinstance(one.value, str)]
                yield from _of_call(call.node.name, texts)


def sentences_of_code(folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield each sentence in the code of a folder, in the same form."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                yield from _of_call(name, texts)


def briefs_of_health(folder: Path) -> Iterator[tuple[str]]:
    """Yield each fixed brief of a trouble in the code of a folder: `brief="overdue"`."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "brief":
                for one in ast.walk(node.value):
                    if isinstance(one, ast.Constant) and isinstance(one.value, str):
                        yield (one.value,)


def sentences_of_service(paths: Iterable[Path]) -> Iterator[tuple[str, ...]]:
    """Yield each sentence in the code of these modules: every text of two words or more that is no
    documentation, query or command; counts; and the names of what `doctor` examines.
    """
    for path in paths:
        tree = ast.parse(path.read_text("utf-8"))
        skipped = {id(one) for one in _list_silent(tree)}
        for node in ast.walk(tree):
            match node:
                case ast.JoinedStr() if id(node) not in skipped:
                    yield from _of_text(_write_joined(node), _ONE_WORD)
                case ast.Constant(value=str(text)) if id(node) not in skipped:
                    yield from _of_text(text)
                case ast.Call(func=ast.Name(id="spell_count"), args=[_, *rest]):
                    yield from _of_call("count", [one for (one,) in _words(rest)])
                case ast.Call(func=ast.Name(id="ok" | "warn" | "fail" | "Finding")):
                    yield from _words(node.args[:2])
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.Dict(keys=keys, values=values)):
                    listed = {"SOURCES": keys, "CHECKS": keys}.get(name, values if name in _TABLES else [])
                    yield from _words(listed)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.Tuple(elts=values)) if name in _TABLES:
                    yield from _words(values)
                case _:
                    pass


_TABLES: Final = frozenset(("_SENTENCES", "_SORTS", "AREAS", "_WORDS", "_HEADS"))
"""Tables whose values are sentences, even of one word."""
_TWO_WORDS: Final = re.compile(r"[A-Za-z]{2,}\S* (?:\S+ )*[A-Za-z]{2,}")
_ONE_WORD: Final = re.compile(r"(?:^| )[A-Za-z]{2,}[,:;.]? |[ ,][A-Za-z]{2,}$")
_LETTERS: Final = re.compile("[A-Za-z]{2}")
_NO_SENTENCE: Final = re.compile(
    r"\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|WITH|ORDER|FROM|WHERE|JOIN|LEFT|AND)\b|tidings |[a-z-]+:[^ ]|[<^(:]"
)
_CODE: Final = re.compile(
    r"[{}\\]|</?\w|[ (=]:\w|\b(?:SELECT|JOIN|WHERE|VALUES|ORDER BY|CONFLICT|BIGINT|NULL)\b|\w\.\w+ = "
)
_PLACE: Final = re.compile(r"\{\w*\}")


def _list_silent(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the texts of a module that are documentation, types, or parts of another text."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant()):
                yield node.value
            case ast.Call(func=ast.Attribute(value=ast.Constant() as words, attr="split")):
                yield words
            case ast.AnnAssign(annotation=annotation) | ast.arg(annotation=ast.expr() as annotation):
                yield from ast.walk(annotation)
            case ast.JoinedStr(values=values):
                yield from (one for one in values if isinstance(one, ast.Constant))
            case ast.FormattedValue(format_spec=ast.JoinedStr() as spec):
                yield from ast.walk(spec)
            case _:
                pass


def _write_joined(node: ast.JoinedStr) -> str:
    text, names = "", set[str]()
    for one in node.values:
        if isinstance(one, ast.Constant):
            text += str(one.value)
        elif isinstance(one, ast.FormattedValue):
            name = _name(ast.unparse(one.value), names)
            names.add(name)
            text += f"{{{name}}}"
    return text


def _of_text(text: str, words: re.Pattern[str] = _TWO_WORDS) -> Iterator[tuple[str]]:
    plain = _PLACE.sub("0", text)
    if text.startswith("<"):
        for found in OURS.finditer(text):
            yield from _of_text(found["said"] or found["label"], _LETTERS)
    elif len(text) <= LONGEST and words.search(plain) and not _NO_SENTENCE.match(text) and not _CODE.search(plain):
        yield (text,)


def _words(nodes: Iterable[ast.AST | None]) -> Iterator[tuple[str]]:
    for one in nodes:
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and _WORD.search(one.value):
            yield (one.value,)
        elif isinstance(one, ast.JoinedStr) and _WORD.search(_PLACE.sub("", text := _write_joined(one))):
            yield (text,)


def _of_call(name: str, texts: list[str]) -> Iterator[tuple[str, ...]]:
    match name, texts:
        case (("_" | "translate" | "sentence" | "draw"), [text, *_]):
            yield (text,)
        case "sentences", _:
            yield from ((text,) for text in texts)
        case "translate_count", [one, more]:
            yield one, more
        case "count", [noun, *rest]:
            yield f"{{n}}\N{NO-BREAK SPACE}{noun}", f"{{n}}\N{NO-BREAK SPACE}{rest[0] if rest else noun + 's'}"
        case _:
            pass


def catalogue(
    environment: Environment, folder: Path, health: Path, service: Iterable[Path], more: Iterable[str]
) -> dict[str, Any]:
    """Return the English catalogue: each sentence with itself, each count with its forms.

    Args:
        environment: The templates.
        folder: The code of the screens.
        health: The code that finds troubles.
        service: The modules whose sentences screens show.
        more: Sentences of other tables that screens show.
    """
    found = {
        *sentences_of_templates(environment),
        *sentences_of_code(folder),
        *briefs_of_health(health),
        *sentences_of_service(service),
        *((text,) for text in more),
    }
    return {texts[0]: texts[0] if len(texts) == 1 else list(texts) for texts in sorted(found)}
