"""What people write first is read, and written in the one canonical form; what is not says the line to write."""

from __future__ import annotations

import pytest

from tidings.language.parser import parse
from tidings.language.write.printer import to_text

HEAD = "Create Sentinel s Using https://a.example/"
READ = [
    ("Fetch daily", "Fetch every 1 day"),
    ("Fetch hourly", "Fetch every 1 hour"),
    ("Fetch weekly slack 1 hour", "Fetch every 1 week slack 1 hour"),
    ("Fetch every day", "Fetch every 1 day"),
    ("Fetch every hour", "Fetch every 1 hour"),
    ("Fetch every day at 8:00", "Fetch at 08:00 daily"),
    ("Fetch daily at 8:00", "Fetch at 08:00 daily"),
    ("Fetch mon-fri at 8:00", "Fetch at 08:00 mon-fri"),
    ("Fetch 30 minutes", "Fetch every 30 min"),
    ("Monitor text", "Monitor all words"),
    ("Monitor price below 100", "Monitor price where value < 100"),
    ("Monitor price under 99.5", "Monitor price where value < 99.5"),
    ("Monitor number < 5", "Monitor number where value < 5"),
    ("Monitor number >= -5", "Monitor number where value >= -5"),
    ('Monitor number in ".stock" above 0', 'Monitor number in css ".stock" where value > 0'),
    ("Monitor price over 5 OR text", "Monitor price where value > 5 OR all words"),
    ('Monitor all words containing "oil"', 'Monitor all words where contains "oil"'),
    ('Monitor words in ".price"', 'Monitor all words in css ".price"'),
    ('Monitor css "table"', 'Monitor any change in css "table"'),
    ('Monitor xpath "//table" OR price', 'Monitor any change in xpath "//table" OR price'),
    ('Select "main"', 'Select css "main"'),
    ('Ignore css "footer"', 'Exclude css "footer"'),
    ("Ignore <a, b>", "Exclude words <a, b>"),
    ('Exclude "posted"', "Exclude words <posted>"),
    ('Ignore "posted (today)"', r'Exclude regex "posted \(today\)"'),
    ("Notify by anna@example.org immediate", "Notify by email anna@example.org immediate"),
    ("Notify anna@example.org daily", "Notify by email anna@example.org every 1 day"),
    ("Notify console hourly", "Notify by console every 1 hour"),
    ("Notify console every day at 08:00", "Notify by console at 08:00 daily"),
    ("Notify console mon-fri at 8:00", "Notify by console at 08:00 mon-fri"),
    ("Notify https://hooks.example/x", "Notify by webhook https://hooks.example/x immediate"),
    ('Tags "work", home', "Tags work, home"),
    ("During mon-fri", "During mon-fri 00:00 to 24:00"),
    ("During 8:00-18:00", "During daily 08:00 to 18:00"),
    ("During 08:00 to 18:00 mon-fri", "During mon-fri 08:00 to 18:00"),
    ("During sat 8:00 until 24:00", "During sat 08:00 to 00:00"),
    ("Until 2027-01-01", "To 2027-01-01"),
]
REFUSED = [
    ("Fetch at 06:00, 18:00", "Fetch takes one time of day", "Fetch at 18:00"),
    ("Fetch mon-fri", '"mon-fri" needs a time of day', "write at 08:00 mon-fri"),
    ("Fetch every hour at 8:00", '"hour" has no time of day', "write daily at 08:00"),
    ("Notify console sat", '"sat" needs a time of day', "write at 08:00 sat"),
    ("Monitor words below 5", '"below" needs a number', "Monitor number in css"),
    ('Exclude ".ads"', "is a selector", 'Exclude css ".ads"'),
    ('Tags "my work"', "no spaces", "my-work"),
    ("During 08:00 + 18:00", 'found "+"', '"to": 08:00 to 18:00'),
    ("During 08:00 to 08:00", "no time at all", "08:00 to 18:00"),
]


def whole(guess: str) -> str:
    """Return a statement with a guess in it."""
    return f"{HEAD} {guess}" if guess.startswith("Monitor") else f"{HEAD} Monitor any change {guess}"


@pytest.mark.parametrize(("guess", "canonical"), READ)
def test_a_first_guess_is_read_and_written_canonically(guess: str, canonical: str):
    """It means what its canonical form means, which is what is stored and shown."""
    found, meant = parse(whole(guess)), parse(whole(canonical))

    assert () == found.problems == meant.problems
    assert meant.statements == found.statements
    assert canonical in to_text(found.statements[0])


@pytest.mark.parametrize(("guess", "message", "hint"), REFUSED)
def test_a_guess_that_cannot_be_meant_says_what_to_write(guess: str, message: str, hint: str):
    """One problem, with the words to write instead."""
    (problem,) = parse(whole(guess)).problems

    assert message in str(problem)
    assert hint in str(problem)


def test_names_may_stand_in_quotes():
    """A text that is a name is one; for another the nearest name is shown."""
    (made,) = parse('Create Sentinel "kettle" Using https://a.example/ Monitor price').statements
    (problem,) = parse('Create Sentinel "kettle shop" Using https://a.example/ Monitor price').problems

    assert to_text(made).startswith("Create Sentinel kettle Using")
    assert "write kettle-shop" in str(problem)


def test_words_of_guesses_are_no_reserved_words():
    """A sentinel, and its tags, may be called by any of them, as before."""
    text = f"{HEAD.replace(' s ', ' ignore ')} Monitor price Tags text, daily, over, under, hourly, until, below, containing"
    parsed = parse(text)

    assert () == parsed.problems
    assert to_text(parsed.statements[0]).endswith("Tags text, daily, over, under, hourly, until, below, containing")
