"""The sentences of the screens, and their translations: one file of `translations/` for each
language other than English.

`translations/en.json` lists every sentence of the screens; `script/docs` writes it. A translation
is a copy of it under the language's tag with other values. The key "" has the language's plural
rule, as in gettext. Untranslated sentences appear in English.
"""

from __future__ import annotations

import json
import re
from contextvars import ContextVar
from functools import cache
from gettext import c2py
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup, escape

ENGLISH: Final = "en"
PLURAL: Final = "n != 1"
"""Index of the English plural form for a count: 0 is the first."""
FOLDER: Final = Path(__file__).parent / "translations"
ENGLISH_FILE: Final = FOLDER / f"{ENGLISH}.json"
_language: ContextVar[str] = ContextVar("language", default=ENGLISH)
_ELEMENT: Final = re.compile(r"<(\w+)")
_MARK: Final = re.compile(r"\{(\w+)\}|<(/?)(\d+)>")


def choose_language(accepted: str) -> None:
    """Select the first language of a list that has a translation, for this request.

    Args:
        accepted: The header `Accept-Language`; its order counts, its weights do not.
    """
    asked = [one.partition(";")[0].strip().lower() for one in accepted[:200].split(",")]
    tags = [tag for one in asked for tag in (one, one.partition("-")[0])]
    _language.set(next((tag for tag in tags if tag in languages()), ENGLISH))


def get_language() -> str:
    """Return the tag of the selected language."""
    return _language.get()


@cache
def languages() -> frozenset[str]:
    """Return the tags of the available languages."""
    return frozenset({ENGLISH, *(path.stem for path in FOLDER.glob("*.json"))})


def translate(sentence: str, /, **values: object) -> str:
    """Return a sentence in the reader's language, as plain text.

    Args:
        sentence: The English sentence; `{name}` is replaced by a value.
        values: The values by name; without any, the places are left as they are.
    """
    text = _translate(_language.get(), sentence)
    return text.format(**values) if values else text


def sentence(text: str) -> str:
    """Return a sentence unchanged: marks it for the catalogue; `translate` translates it later."""
    return text


def sentences(*texts: str) -> tuple[str, ...]:
    """Return sentences unchanged: marks each for the catalogue; `translate` translates it later."""
    return texts


def translate_count(many: float, one: str, more: str) -> str:
    """Return a sentence with a count in the reader's language.

    Args:
        many: The count; one that is not whole is shown with two digits.
        one: The English sentence for one; `{n}` is replaced by the count.
        more: The same for any other count.
    """
    forms, form_of = _forms(_language.get(), one, more)
    whole = int(many) if many == int(many) else None
    text: str = forms[min(form_of(2 if whole is None else whole), len(forms) - 1)]
    return text.format(n=f"{many:.2g}" if whole is None else f"{whole:,}")


def draw(sentence: str, /, **values: Any) -> Markup:
    """Return a sentence of a template as markup: every value is escaped unless it is `Markup`.

    Args:
        sentence: The English sentence; `{name}` is replaced by a value, `<1>` and `</1>` by the tag
            `_1` and its end.
        values: The values and tags by name.
    """
    parts = _parts(_language.get(), sentence)
    return Markup("").join(
        part
        if name is None
        else values[name]
        if not is_end
        else Markup("</{}>").format(_ELEMENT.findall(values[name])[0])
        for part, name, is_end in parts
    )


@cache
def _read(language: str) -> dict[str, Any]:
    if language == ENGLISH:
        return {}
    found: dict[str, Any] = json.loads((FOLDER / f"{language}.json").read_text("utf-8"))
    return found


def _translate(language: str, sentence: str) -> str:
    return str(_read(language).get(sentence) or sentence)


@cache
def _forms(language: str, one: str, more: str) -> tuple[tuple[str, ...], Any]:
    given = _read(language)
    found = given.get(one)
    if not isinstance(found, list) or not found:
        return (one, more), c2py(PLURAL)
    return tuple(map(str, found)), c2py(given.get("", PLURAL))


@cache
def _parts(language: str, sentence: str) -> tuple[tuple[Markup, str | None, bool], ...]:
    """Return a translated sentence in pieces: text, or a placeholder's name and whether it is a
    tag's end.
    """
    text, done = _translate(language, sentence), 0
    parts: list[tuple[Markup, str | None, bool]] = []
    for found in _MARK.finditer(text):
        parts += (
            (escape(text[done : found.start()]), None, False),
            (Markup(), found[1] or f"_{found[3]}", bool(found[2])),
        )
        done = found.end()
    return (*parts, (escape(text[done:]), None, False))
