"""The two written forms of the language by the name of the file: `*.yaml` and `*.yml` hold YAML, every other the sentence form."""

from __future__ import annotations

from typing import Any

from tidings.language import parser
from tidings.language.parser import Parsed
from tidings.language.problems import Problem
from tidings.record import replace

YAML = (".yaml", ".yml")


def parse_file(name: str, text: str, **given: Any) -> Parsed:
    """Return the statements of a file; takes what `parser.parse` takes. YAML is loaded when the first such file is met.

    What is a file of another tool, and no statement can be read of, has one problem that says so (E50).
    """
    if not name.lower().endswith(YAML):
        parsed = parser.parse(text, **given)
    else:
        from tidings.language.yaml import form as yaml_form

        parsed = yaml_form.load(text, **given)
    if parsed.problems and not parsed.statements:
        from tidings.language import foreign  # only where a text cannot be read

        message, hint = foreign.recognise(text)
        if message:
            return replace(parsed, problems=(Problem(1, 1, "E50", message, hint=hint),), warnings=())
    return parsed
