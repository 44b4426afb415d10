"""The page of settings says what the table says."""

from pathlib import Path

from tidings import settings

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"


def test_the_page_is_what_the_table_prints():
    """Nobody changes a setting and forgets its page: `script/docs` writes it anew."""
    assert settings.markdown() == PAGE.read_text(encoding="utf-8")


def test_every_setting_has_a_line():
    """Each setting is documented once, with its type, its default and what it is."""
    rows = [line for line in settings.markdown().splitlines() if line.startswith("| `")]

    assert [row.name for row in settings.table()] == [line.split("`")[1] for line in rows]
    assert {3} == {line.replace(r"\|", "").count("|") - 1 for line in rows}


def test_a_secret_is_marked_as_one():
    """Who reads the page knows which values must not be shown."""
    reported = [line for line in settings.markdown().splitlines() if ", secret" in line]

    assert [row.name for row in settings.table() if row.secret] == [line.split("`")[1] for line in reported]
