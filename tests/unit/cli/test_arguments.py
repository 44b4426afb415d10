"""Arguments that several commands share."""

from __future__ import annotations

import pytest

from tidings.cli.arguments import read_statements
from tidings.errors import UsageError

STATEMENT = "Create Sentinel a Using https://example.org/"


def test_statements_are_read_from_a_file(tmp_path):
    """The file name is returned too, because its ending determines the format."""
    file = tmp_path / "my list.txt"
    file.write_text(STATEMENT)

    assert (STATEMENT, str(file)) == read_statements(str(file))


@pytest.mark.parametrize("text", [STATEMENT, f"{STATEMENT}\n{STATEMENT}", "Drop a", f"{STATEMENT}{'a' * 300}"])
def test_several_words_are_statements(text):
    """One statement needs no file."""
    assert (text, "") == read_statements(text)


@pytest.mark.parametrize("word", ["example.org", "www.example.org:8080/a?b=c", "example.co.uk/"])
def test_address_without_a_scheme_is_refused_with_the_command_to_type(word):
    """A word without a scheme could be a file or an address."""
    with pytest.raises(UsageError, match=f"there is no file {word.partition('?')[0]}.*tidings add https://"):
        read_statements(word)


@pytest.mark.parametrize("name", ["watches.txt", "my watches.yaml", "watches", "../watches/all"])
def test_missing_file_is_named_in_the_error(name):
    """A name with a space that ends like a file of statements is no statement."""
    with pytest.raises(UsageError, match=f"{name} cannot be read: No such file"):
        read_statements(name)
