"""What the arguments that several commands share accept."""

from __future__ import annotations

import pytest

from tidings.cli.arguments import read_statements
from tidings.errors import UsageError

STATEMENT = "Create Sentinel a Using https://example.org/"


def test_statements_are_read_from_a_file(tmp_path):
    """The name of the file comes along: its ending determines the format."""
    file = tmp_path / "my list.txt"
    file.write_text(STATEMENT)

    assert (STATEMENT, str(file)) == read_statements(str(file))


@pytest.mark.parametrize("text", [STATEMENT, f"{STATEMENT}\n{STATEMENT}", "Drop a"])
def test_several_words_are_statements_themselves(text):
    """Nobody makes a file for one sentence."""
    assert (text, "") == read_statements(text)


@pytest.mark.parametrize("word", ["example.org", "www.example.org:8080/a?b=c", "example.co.uk/"])
def test_an_address_without_its_scheme_is_answered_with_the_command(word):
    """It is no file, and what to type is shown."""
    with pytest.raises(UsageError, match=f"there is no file {word.partition('?')[0]}.*tidings add https://"):
        read_statements(word)


@pytest.mark.parametrize("name", ["watches.txt", "my watches.yaml", "watches", "../watches/all"])
def test_a_missing_file_is_named(name):
    """A name of several words that ends as a file of statements does is no statement."""
    with pytest.raises(UsageError, match=f"{name} cannot be read: No such file"):
        read_statements(name)
