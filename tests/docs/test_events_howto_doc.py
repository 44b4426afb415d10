"""The page on events of other origin is true: its sentinels are read, its settings are settings, its figures are those of the code."""

import re
import tomllib
from pathlib import Path

from tidings.isolation.command import ENVIRONMENT
from tidings.language.parser import parse
from tidings.service.sources.outside_events import MOST_PARAMS
from tidings.service.sources.outside_sources import SHOWN
from tidings.settings import table

TEXT = (Path(__file__).parents[2] / "docs" / "howto" / "events.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def test_the_sentinels_are_read():
    """All examples are accepted without a word, together, as one text."""
    parsed = parse("".join(body for name, body in BLOCKS if name == "sentinel"), events={})

    assert () == parsed.problems == parsed.warnings
    assert 6 == len(parsed.statements)


def test_the_settings_are_settings():
    """Each setting that the page names is one."""
    known = {row.name for row in table()}
    written = [f"{section}.{key}" for name, body in BLOCKS if name == "toml" for section, keys in tomllib.loads(body).items() for key in keys]  # fmt: skip
    named = re.findall(r"`((?:events|fetch)\.\w+)`", TEXT)

    assert set() == {*written, *named} - known
    assert {"events.allow_files", "events.allow_commands", "fetch.allow_files"} <= set(written)


def test_the_figures_are_those_of_the_code():
    """What a hook may send, what of an output is reported, what a command finds in its environment."""
    assert f"at most {MOST_PARAMS:,} bytes" in TEXT
    assert f"the first {SHOWN:,} characters" in TEXT
    assert "`PATH`, `LANG` and `HOME`" in TEXT
    assert {"PATH", "LANG", "HOME"} == ENVIRONMENT.keys()
