"""The two written forms of the language by the name of the file: `*.yaml` and `*.yml` hold YAML, every other the sentence form."""

from __future__ import annotations

from typing import Any

from tidings.language import parser
from tidings.language.parser import Parsed

YAML = (".yaml", ".yml")


def parse_file(name: str, text: str, **given: Any) -> Parsed:
    """Return the statements of a file; takes what `parser.parse` takes. YAML is loaded when the first such file is met."""
    if not name.lower().endswith(YAML):
        return parser.parse(text, **given)
    from tidings.language.yaml import form as yaml_form

    return yaml_form.load(text, **given)
