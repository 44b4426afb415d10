"""Why a piece of text does not follow the grammar, as a helpful message (sentinels §1.6).

A fault is an offset and what the grammar would accept there; the rules below are tried in order,
the most specific first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tidings.language.grammar.pieces import Lexeme, Piece, lexemes
from tidings.language.problems import ProblemReport, closest, did_you_mean, either
from tidings.language.words import CLAUSES, STATEMENTS, TYPES, UNITS, is_reserved
from tidings.record import dataclass

UNITS_EXPECTED = "s, min, hour, day or week"
STRAIGHT_QUOTES = 'texts use straight double quotes: "oil"'

_MARKS = frozenset('()<>,;=!+-%"/.@:')
_QUOTES = frozenset("'`´‘’“”„«»‹›")
_AFTER_NUMBER = frozenset({"slack", "and", "quiet", "max", "check"})
_UNITS_MEANT = {"m": "min", "hr": "hour", "hrs": "hour", "wk": "week"}
_SPELLED = {
    **{word.upper(): word for word in (*STATEMENTS, *CLAUSES)},
    "CHANGE_HISTORY": "ChangeHistory",
    "NUMBER_TYPE": "number",
    "COLLECTION": "Collection",
    "_SENTINEL": "Sentinel",
    "_USING": "Using",
    "_AS": "As",
    "AND": "AND",
    "OR": "OR",
    "NOT": "NOT",
    "COMMA": ",",
    "LPAR": "(",
    "RPAR": ")",
    "PERCENT": "%",
}
_CLASSES = {
    "URL": "a URL",
    "BARE_HOST": "",
    "NAME": "a name",
    "ADDRESS": "an address such as ann@example.org",
    "STRING": 'a text in "double quotes"',
    "ANGLE": "<a list>",
    "NUMBER": "a number",
    "UNIT": UNITS_EXPECTED,
    "DATE": "a date such as 2026-03-01",
    "CLOCK": "a time such as 08:00",
    "DAYS": "days such as mon-fri",
    "RELATION": "<, <=, =, !=, >= or >",
    "SIGN": "+ or -",
    "ZONE_NAME": "an IANA name such as Europe/Paris",
    "NOW": "now",
    "START": "start(NAME)",
    "END": "end(NAME)",
    "$END": "",
}
_MOST_CHOICES = 6
_LONGEST_FOUND = 60


@dataclass(frozen=True, slots=True)
class Fault:
    """The place of a syntax fault, the terminals that could stand there, and whether the piece
    ended too early.
    """

    offset: int
    expected: frozenset[str]
    at_end: bool


@dataclass(frozen=True, slots=True)
class _Scene:
    """The input of the rules: what was found, the text before it in the piece, what could have
    stood there.
    """

    piece: Piece
    fault: Fault
    found: Lexeme | None
    before: Sequence[Lexeme]
    report: ProblemReport

    @property
    def word(self) -> str:
        """Return what was found, as a message shows it."""
        return "" if self.found is None else self.found.text[:_LONGEST_FOUND]

    @property
    def shown(self) -> str:
        """Return the beginning of a message."""
        if self.found is None:
            return "found the end of the text"
        return f"found {self.word}" if self.word.startswith('"') else f'found "{self.word}"'

    @property
    def is_foreign(self) -> bool:
        """Return whether what was found belongs to the next clause, so that something is missing
        before it.
        """
        return self.fault.at_end or self.found is None

    def last(self, back: int = 1) -> str:
        """Return a word before the fault, in lower case, or an empty text."""
        return self.before[-back].text.lower() if len(self.before) >= back else ""

    def add_problem(
        self, code: str, message: str, *, expected: str = "", hint: str = "", offset: int | None = None
    ) -> bool:
        """Record a fault and return True, so that no other rule explains it.

        Args:
            code: E01 and so on.
            message: What is wrong.
            expected: What could stand there, empty if that does not help.
            hint: What to write instead, empty for none.
            offset: The place in the text; None for where reading ended.
        """
        self.report.fault(self.fault.offset if offset is None else offset, code, message, expected=expected, hint=hint)
        return True


def explain(text: str, piece: Piece, fault: Fault, report: ProblemReport) -> None:
    """Add the one fault of a piece to the report.

    Args:
        text: The whole text.
        piece: The piece that cannot be read.
        fault: Where reading ended, and what could have followed.
        report: Takes the fault.
    """
    found = next(lexemes(text, fault.offset), None)
    before = tuple(lexemes(text, piece.start, min(fault.offset, piece.end)))
    scene = _Scene(piece, fault, found, before, report)
    for rule in _RULES:
        if rule(scene):
            return
    _other(scene)


def _not_closed(scene: _Scene) -> bool:
    if scene.is_foreign:
        return False
    if scene.found is not None and scene.found.kind == "open":
        return scene.add_problem(
            "E02", "text is not closed", expected='a closing "', hint='write \\" for a quote inside a text'
        )
    if scene.word == "<" and "ANGLE" in scene.fault.expected:
        return scene.add_problem("E02", "list is not closed", expected="a closing >", hint="write <a, b> on one line")
    return False


def _strange_character(scene: _Scene) -> bool:
    if scene.is_foreign or not scene.word:
        return False
    letter = scene.word[0]
    if letter.isalnum() or letter == "_" or letter in _MARKS:
        return False
    return scene.add_problem(
        "E01", f'unexpected character "{letter}"', hint=STRAIGHT_QUOTES if letter in _QUOTES else ""
    )


def _word_as_name(scene: _Scene) -> bool:
    """Report a reserved word in place of a name, if what follows makes no sense."""
    name, leading = scene.last(), scene.last(2)
    if not is_reserved(name) or leading not in {"sentinel", "using", "as", "of", "check"}:
        return False
    shown, offset = scene.before[-1].text, scene.before[-1].start
    if leading == "using":
        return scene.add_problem("E03", f'found "{shown}"', expected="a URL or the name of a sentinel", offset=offset)
    if leading == "sentinel" and name == "using":
        return scene.add_problem("E03", f'found "{shown}"', expected="a name", offset=offset)
    return scene.add_problem("E04", write_reserved_message(shown), hint=f"try {shown}_1", offset=offset)


def _unit(scene: _Scene) -> bool:
    if "UNIT" not in scene.fault.expected or not scene.last()[:1].isdigit():
        return False
    choices = (*UNITS, "changes") if "CHANGES" in scene.fault.expected else UNITS
    word = scene.word.lower()
    hint = did_you_mean(word, choices)
    if "$END" in scene.fault.expected and not hint:
        return False
    is_word = word[:1].isalpha() and not is_reserved(word) and word not in _AFTER_NUMBER
    if scene.is_foreign or not is_word:
        return scene.add_problem("E05", f'"{scene.before[-1].text}" has no unit', expected=UNITS_EXPECTED)
    if word.rstrip("s") in {"month", "year"}:
        hint = "months and years have no fixed length; use days"
    elif word in _UNITS_MEANT:
        hint = f"write {scene.before[-1].text} {_UNITS_MEANT[word]}"
    return scene.add_problem("E05", f'unknown unit "{scene.word}"', expected=UNITS_EXPECTED, hint=hint)


def _per_one(scene: _Scene) -> bool:
    word = scene.word.lower()
    if scene.last() != "per" or word not in UNITS:
        return False
    return scene.add_problem("E03", scene.shown, expected="a number", hint=f"per 1 {word}")


def _condition(scene: _Scene) -> bool:
    if "BECOMES" not in scene.fault.expected or "$END" in scene.fault.expected:
        return False
    expected = "value, becomes, changes by, rises by, …"
    if scene.found is None:
        return scene.add_problem("E13", scene.shown, expected=expected)
    conditions = (
        "value",
        "is",
        "becomes",
        "lowest",
        "highest",
        "share",
        "inserted",
        "deleted",
        "changed",
        "changes",
        "rises",
        "drops",
        "contains",
        "lacks",
    )
    hint = did_you_mean(scene.word, (*conditions, "matches"))
    return scene.add_problem("E13", f'"{scene.word}" does not begin a condition', expected=expected, hint=hint)


def _change_type(scene: _Scene) -> bool:
    if not {"WORDS", "LINKS", "IMAGES"} <= scene.fault.expected:
        return False
    if "ANY" not in scene.fault.expected:
        after = scene.before[-1].text
        hint = did_you_mean(scene.word, ("words", "links", "images"))
        return scene.add_problem("E10", f'{scene.shown} after "{after}"', expected="words, links or images", hint=hint)
    expected = "any change, all words, all links or all images"
    return scene.add_problem("E10", scene.shown, expected=expected, hint=did_you_mean(scene.word, TYPES))


def _parenthesis(scene: _Scene) -> bool:
    expected = scene.fault.expected
    if (
        scene.word == ")"
        and "RPAR" not in expected
        and not scene.is_foreign
        and "(" not in {b.text for b in scene.before}
    ):
        return scene.add_problem("E09", 'found ")"', hint='no "(" is open here')
    if "RPAR" not in expected or not scene.is_foreign:
        return False
    return scene.add_problem("E09", scene.shown, expected='")"', hint='a "(" above is not closed')


def _unknown_clause(scene: _Scene) -> bool:
    if "$END" not in scene.fault.expected or scene.is_foreign or not scene.word[:1].isalpha():
        return False
    hint = did_you_mean(scene.word, (*CLAUSES, *STATEMENTS))
    if not hint and closest(scene.word, _spell(scene.fault.expected)):
        return False
    return scene.add_problem("E24", f'unknown clause "{scene.word}"', hint=hint)


def _list_of_texts(scene: _Scene) -> bool:
    if not {"ANGLE", "STRING"} <= scene.fault.expected:
        return False
    noun = scene.last()
    if noun in {"keyword", "keywords"}:
        return scene.add_problem(
            "E03", scene.shown, expected='<keyword, ...> or "keyword"', hint="write Monitor keywords <a, b>"
        )
    if noun in {"phrase", "phrases"}:
        return scene.add_problem(
            "E03", scene.shown, expected='<phrase, ...> or "phrase"', hint='write Monitor phrase "a b"'
        )
    return scene.add_problem("E03", scene.shown, expected='<a, b> or "a"')


def _statement(scene: _Scene) -> bool:
    if scene.before or "CREATE" not in scene.fault.expected:
        return False
    hint = did_you_mean(scene.word, STATEMENTS)
    choices = ["Create"] if hint == 'did you mean "Create"?' else list(STATEMENTS)
    return scene.add_problem("E03", scene.shown, expected=either([f'"{choice}"' for choice in choices]), hint=hint)


def _other(scene: _Scene) -> None:
    """Report what the grammar would accept."""
    spelled = _spell(scene.fault.expected)
    hint = did_you_mean(scene.word, spelled)
    expected = _write_expected(scene.fault.expected)
    if not hint and "_USING" in scene.fault.expected:
        hint = "Using https://… says which page"
    scene.add_problem("E03", scene.shown, expected=expected, hint=hint)


_RULES: tuple[Callable[[_Scene], bool], ...] = (
    _not_closed,
    _strange_character,
    _statement,
    _word_as_name,
    _per_one,
    _unit,
    _condition,
    _change_type,
    _parenthesis,
    _unknown_clause,
    _list_of_texts,
)


def write_reserved_message(name: str) -> str:
    """Return the message of E04."""
    return f'"{name}" is a keyword of the language and cannot be a name'


def _spell(terminals: frozenset[str]) -> list[str]:
    return sorted(_SPELLED.get(name, name.strip("_").lower()) for name in terminals if name not in _CLASSES)


def _write_expected(terminals: frozenset[str]) -> str:
    if "URL" in terminals and "EMAIL" in terminals:
        return "email ADDRESS, webhook URL, console, dashboard, feed or stream"
    if "URL" in terminals and "NAME" in terminals:
        return "a URL or the name of a sentinel"
    classes = [text for name, text in _CLASSES.items() if name in terminals and text]
    if {"END", "EVENT"} <= terminals:
        classes.append("event(NAME)")
        terminals -= {"EVENT"}
    words = [f'"{word}"' for word in _spell(terminals)]
    choices = (classes + words) or ["the end of the statement"]
    if len(choices) > _MOST_CHOICES:
        return f"{', '.join(choices[:_MOST_CHOICES])}, …"
    return either(choices)
