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
    ("Fetch at 06:00, 18:00", "Fetch at 06:00, 18:00 daily"),
    ("Fetch at 18:00 and 06:00", "Fetch at 06:00, 18:00 daily"),
    ("Fetch daily at 6am, 6 pm", "Fetch at 06:00, 18:00 daily"),
    ("Fetch every monday at 8:30", "Fetch at 08:30 mon"),
    ("Fetch on weekdays at 8:00", "Fetch at 08:00 mon-fri"),
    ("Fetch at 24:00", "Fetch at 00:00 daily"),
    ("Fetch at 8:00 monday to friday", "Fetch at 08:00 mon-fri"),
    ("Fetch 30 minutes", "Fetch every 30 min"),
    ("Monitor text", "Monitor all words"),
    ("Monitor price below 100", "Monitor price where value < 100"),
    ("Monitor price under 99.5", "Monitor price where value < 99.5"),
    ("Monitor number < 5", "Monitor number where value < 5"),
    ("Monitor number >= -5", "Monitor number where value >= -5"),
    ('Monitor number in ".stock" above 0', 'Monitor number in css ".stock" where value > 0'),
    ("Monitor price over 5 OR text", "Monitor price where value > 5 OR all words"),
    ("Monitor price == 5", "Monitor price where value = 5"),
    ("Monitor price at least 5 but at most 9", "Monitor price where value >= 5 but value <= 9"),
    ("Monitor price less than 5", "Monitor price where value < 5"),
    ("Monitor price between 9 and 5", "Monitor price where value between 5 and 9"),
    ("Monitor price drops by 5%", "Monitor price where drops by 5%"),
    ("Monitor price drops below 100", "Monitor price where becomes < 100"),
    ("Monitor price becomes 0", "Monitor price where becomes = 0"),
    ("Monitor price where below 100", "Monitor price where value < 100"),
    ('Monitor price while page has "in stock"', 'Monitor price where page has "in stock"'),
    ('Monitor text only if the page says "open"', 'Monitor all words where page has "open"'),
    ('Monitor text if page does not have "closed"', 'Monitor all words where page lacks "closed"'),
    ("Monitor price is below 100", "Monitor price where is < 100"),
    ("Monitor price stays below 100 for at least 1 hour", "Monitor price where is < 100 for at least 1 hour"),
    ("Monitor price below 100 for 2 checks", "Monitor price where value < 100 for at least 2 checks"),
    ("Monitor text lasting 3 hours", "Monitor all words for at least 3 hour"),
    ("Monitor price is the lowest", "Monitor price where lowest so far"),
    ("Monitor price is a new low", "Monitor price where lowest so far"),
    ("Monitor price below the lowest of 30 days", "Monitor price where lowest of 30 day"),
    ('Monitor number in ".n" above the highest in 7 days', 'Monitor number in css ".n" where highest of 1 week'),
    ("Monitor links never seen", "Monitor all links where never seen before"),
    ("Monitor text for the first time", "Monitor all words where never seen before"),
    ('Monitor availability is "in stock"', 'Monitor availability where is "in stock"'),
    ("Monitor new links", "Monitor all links inserted"),
    ('Monitor keyword "oil" appears', 'Monitor keyword "oil" inserted'),
    ('Monitor phrase "sold out" disappears', 'Monitor phrase "sold out" deleted'),
    ("Monitor links are added", "Monitor all links inserted"),
    ("Monitor words removed", "Monitor all words deleted"),
    ('Monitor availability becomes "in stock"', 'Monitor availability where contains "in stock"'),
    ('Monitor css "main" containing "oil"', 'Monitor any change in css "main" where contains "oil"'),
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
    ("Notify console at 8:00, 18:00", "Notify by console at 08:00, 18:00 daily"),
    ('Tags "work", home', "Tags work, home"),
    ("During mon-fri", "During mon-fri 00:00 to 24:00"),
    ("During 8:00-18:00", "During daily 08:00 to 18:00"),
    ("During 08:00 to 18:00 mon-fri", "During mon-fri 08:00 to 18:00"),
    ("During sat 8:00 until 24:00", "During sat 08:00 to 00:00"),
    ("During weekends and wednesday", "During wed, sat-sun 00:00 to 24:00"),
    ("During 24:00 to 06:00", "During daily 00:00 to 06:00"),
    ("Until 2027-01-01", "To 2027-01-01"),
]
REFUSED = [
    ("Fetch mon-fri", '"mon-fri" needs a time of day', "write at 08:00 mon-fri"),
    ("Fetch every hour at 8:00", '"hour" has no time of day', "write daily at 08:00"),
    ("Notify console sat", '"sat" needs a time of day', "write at 08:00 sat"),
    ("Monitor words below 5", '"below" needs a number', "Monitor number in css"),
    ('Exclude ".ads"', "is a selector", 'Exclude css ".ads"'),
    ('Tags "my work"', "no spaces", "my-work"),
    ("Fetch at 24:00 fri", "24:00 is on the next day", "write at 00:00 sat"),
    ("Fetch monthly", 'found "monthly"', "write Fetch every 30 day"),
    ("Fetch twice a day", 'found "twice"', "write Fetch every 12 hour"),
    ("Fetch 3x a day", 'unknown unit "x"', "write Fetch every 8 hour"),
    ("Fetch every 15m", 'unknown unit "m"', "write Fetch every 15 min"),
    ("Fetch every morning", 'found "morning"', "write Fetch at 08:00 daily"),
    ("Check every 5 minutes", 'unknown clause "Check"', "write Fetch every 5 minutes"),
    ("Email anna@example.org", 'unknown clause "Email"', "write Notify by email anna@example.org"),
    ("Notify by slack", "not available as a channel", "write Notify by slack://"),
    ("Monitor price goes below 100", 'unknown clause "goes"', "write Monitor price becomes below 100"),
    ("Monitor price < $100", "unexpected character", "write Monitor price < 100"),
    ("Monitor price < 100 EUR", 'unknown clause "EUR"', "write Monitor price < 100"),
    ('Monitor "in stock"', "found", 'write Monitor phrase "in stock"'),
    ("Monitor everything", 'found "everything"', "write Monitor any change"),
    ('Monitor link "PDF"', 'found "link"', 'write Monitor links containing "PDF"'),
    ("Monitor .price", 'found ".price"', 'write Monitor css ".price"'),
    ("Ignore ads", 'found "ads"', 'write Exclude "ads"'),
    ("Exclude regex posted", 'found "posted"', 'write Exclude regex "posted"'),
    (r"Ignore regex \d+ visitors", "unexpected character", r'write Exclude regex "\d+ visitors"'),
    ("Exclude links", 'found "links"', "write Monitor any change AND NOT all links"),
    ("Tags work shop", 'unknown clause "shop"', "write Tags work, shop"),
    ("For 3 months", 'unknown unit "months"', "write For 90 day"),
    ("Render javascript", 'found "javascript"', "write Render browser"),
    ('Header "Cookie: a=b"', "found the end", 'write Header "Cookie" "a=b"'),
    ('Header "Authorization: Bearer $TOKEN"', "found the end", 'write Header "Authorization" secret "NAME"'),
    ('Monitor links Where text contains "engineer"', '"text"', 'write Monitor links where contains "engineer"'),
    ("Monitor words except numbers", '"except"', r'write Exclude regex "\d+"'),
    ('Monitor jsonpath "$.queue" > 100', "needs a number", "write number in before the part"),
    ("Timeout 30", "no unit", "write Timeout 30 s"),
    ("During 08:00 + 18:00", 'found "+"', '"to": 08:00 to 18:00'),
    ("During 08:00 to 08:00", "has no length", "08:00 to 18:00"),
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


STATEMENTS = [
    ("Watch https://www.shop.example/a for price below 5", "Using https://www.shop.example/a Monitor price below 5"),
    ("Create s Using https://a.example/ Monitor price", "Create Sentinel s Using https://a.example/ Monitor price"),
    ("Create Sentinel s https://a.example/ Monitor price", "Create Sentinel s Using https://a.example/ Monitor price"),
    ("Delete s", "Drop s"),
    ('Watch "https://shop.example/a" every hour', "Using https://shop.example/a Monitor any change Fetch every hour"),
    ("Watch the price on https://shop.example/a and email ann@x.org", "Monitor price Notify by email ann@x.org"),
    ("Sentinel a watches https://a.example/b daily", "Create Sentinel a Using https://a.example/b Monitor any change"),
    (
        'Monitor page "https://a.example/" tag shop',
        "Create Sentinel a Using https://a.example/ Monitor any change Tags shop",
    ),
    ("Watch feed https://a.example/feed.xml", "Monitor items inserted"),
    ('Watch json "https://a.example/v1" jsonpath "$.status"', 'Monitor jsonpath "$.status"'),
    ("Stop watching s", "Disable s"),
    ("Pause s", "Disable s"),
    ("Drop Sentinel s", "Drop s"),
    ("Update s Fetch daily", "Alter s Fetch daily"),
]


@pytest.mark.parametrize(("guess", "line"), STATEMENTS)
def test_a_statement_that_is_none_says_what_to_write(guess: str, line: str):
    """One problem, whose line is read."""
    (problem,) = parse(guess).problems
    said = problem.hint.removeprefix("write ")

    assert line in said
    assert not [other for other in parse(said).problems if other.code != "E20"]


@pytest.mark.parametrize(
    ("guess", "line"),
    [
        ("List all", "tidings list"),
        ("Show s", "tidings show s"),
        ("Check s now", "tidings check s"),
        ("Rename sentinel s to t", "tidings rename s t"),
    ],
)
def test_what_is_a_command_of_the_terminal_says_so(guess: str, line: str):
    """The language has no such statement; the command line has."""
    (problem,) = parse(guess).problems

    assert f"write {line}" == problem.hint


CLAUSES = [
    ("Only when price drops below 100", "Monitor price becomes below 100"),
    ("Notify when price < 100", "Monitor price < 100"),
    ('Notify me if keyword "sold out" disappears', 'Monitor keyword "sold out" disappears'),
    ('Trigger "in stock"', 'Monitor phrase "in stock"'),
    ("Check every weekday between 9:00 and 17:00", "During weekday 9:00 to 17:00"),
    (r"Ignore lines matching /\d+ views/", r'Transform drop lines regex "\d+ views"'),
    ('Remove elements ".banner"', 'Exclude css ".banner"'),
    ("With javascript", "Render browser"),
    ("Wait 5 seconds", "Render browser steps (wait 5 s)"),
    ('Click "#accept"', 'Render browser steps (click "#accept")'),
    ("Fetch backend playwright", "Render browser"),
    (r'Extract regex "(\d+) EUR"', r'Monitor regex "(\d+) EUR"'),
    ("Keep lines matching /Price/", 'Transform keep lines regex "Price"'),
    ("Sort lines", "Transform sort lines"),
    ("Remove duplicate lines", "Transform unique lines"),
    ("Only added lines", "Monitor all words inserted"),
    ("Notify at most once per day", "Notify by email you@example.org max 1 per 1 day"),
    ('Notify slack "https://hooks.example/x"', "Notify by https://hooks.example/x"),
    ('Filter css "#main" remove css ".ads"', 'Select css "#main" Exclude css ".ads"'),
    ('Monitor text in script "#d" jsonpath "$.x"', 'Monitor text in jsonpath "$.x" Select css "#d"'),
    ("Fetch every 5m Colour blue", "Fetch every 5 min"),
]


@pytest.mark.parametrize(("guess", "line"), CLAUSES)
def test_a_clause_that_is_none_says_what_to_write(guess: str, line: str):
    """The line is one that the language reads."""
    said = [problem.hint.removeprefix("write ") for problem in parse(f"{HEAD} {guess}").problems]

    assert line in said
    assert "E03" not in [problem.code for problem in parse(f"{HEAD} {line}").problems]


def test_names_may_stand_in_quotes_wherever_they_are_said():
    """Of sentinels, of pages, in orders and as a base."""
    text = """Create Sentinel "a" Using https://a.example/ As "shop", https://b.example/ As B Monitor price of "shop"
    Create Sentinel b Using "a" Fetch daily
    Alter "b" Fetch hourly
    Disable "a"
    Drop "b" """
    parsed = parse(text)

    assert () == parsed.problems
    assert "price of shop" in to_text(parsed.statements[0])
    assert ["Alter b\n  Fetch every 1 hour", "Disable a", "Drop b"] == [to_text(one) for one in parsed.statements[2:]]


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


@pytest.mark.parametrize("guess", ['Monitor table "Departures"'])
def test_no_line_is_offered_that_means_something_else(guess: str):
    """A name of a table is no selector."""
    problems = parse(f"{HEAD} {guess}").problems

    assert problems
    assert not [problem for problem in problems if "Departures" in problem.hint or "Exclude" in problem.hint]
