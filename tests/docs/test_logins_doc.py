"""The page on logins says what is so, and its examples are read."""

import argparse
import re
import shlex
from pathlib import Path

from tidings.cli.change import secret
from tidings.fetching.address import identify
from tidings.language.parser import parse
from tidings.model.interval import spell_duration
from tidings.model.watch.asking import LONGEST_TIMEOUT, secret_names
from tidings.model.watch.sentinel import Sentinel

TEXT = (Path(__file__).parents[2] / "docs" / "howto" / "logins.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def test_the_sentinels_are_read():
    """Each names the secret that the text speaks of, and each page has a key."""
    text = "".join(body for name, body in BLOCKS if name == "sentinel")
    parsed = parse(text)
    sentinels = [s for s in parsed.statements if isinstance(s, Sentinel)]

    assert () == parsed.problems
    assert ["W14"] == [warning.code for warning in parsed.warnings]
    assert [("api-token",), ("shop",), ("search-form",), ("way-in",), ("shop-password",)] == [
        secret_names(s.asking) for s in sentinels
    ]
    assert 5 == len({identify(s.pages[0].url, s.asking).key for s in sentinels})
    assert ["GET", "GET", "POST", "GET", "GET"] == [s.asking.method for s in sentinels]


def test_the_commands_are_taken():
    """Each line of the first example is one that `tidings secret` takes."""
    lines = next(body.splitlines() for name, body in BLOCKS if name == "console")
    commands = [shlex.split(line.removeprefix("$ ").rpartition("| ")[2]) for line in lines]
    parser = argparse.ArgumentParser()
    secret.configure(parser, "secret")
    for program, verb, *words in commands:
        assert ("tidings", "secret") == (program, verb)
        secret._check(parser.parse_args(words))

    assert {"set", "list", "drop", "rotate"} == {command[2] for command in commands}


def test_the_longest_timeout_is_documented():
    """The figure is the language's."""
    assert f"to at most {spell_duration(LONGEST_TIMEOUT)}" in TEXT
