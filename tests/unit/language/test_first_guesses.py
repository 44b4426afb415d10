"""First guesses of people are read and written in the canonical form; others are answered with the
line to write.
"""

from __future__ import annotations

import pytest

from tests.bounded import bound_time
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
    ("Monitor table 2, column Price", 'Monitor table 2 column "Price"'),
    ('Monitor table, the column "Price" < 5 OR links', 'Monitor table column "Price" where value < 5 OR all links'),
    ("Monitor table 2, links", "Monitor table 2 OR all links"),
    ("Notify console max 5 per day", "Notify by console immediate max 5 per 1 day"),
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
    ("Monitor new list items", "Monitor items inserted"),
    ("Monitor list items added", "Monitor items inserted"),
    ("Monitor list entries", "Monitor items"),
    ("Monitor new entries", "Monitor items inserted"),
    ("Monitor new feed entries", "Monitor items inserted"),
    ("For 2 weeks from now", "For 2 week"),
    ("To now + 2 weeks", "To now + 2 week"),
    ("Notify me@example.com every day at 07:00", "Notify by email me@example.com at 07:00 daily"),
    (r'Monitor text matches "v\d+"', r'Monitor all words where matches "v\d+"'),
    (
        "Notify by email to me@example.com, boss@example.com weekly",
        "Notify by email me@example.com, email boss@example.com every 1 week",
    ),
    ("Notify by e-mail me@example.com", "Notify by email me@example.com immediate"),
    ('Notify me@example.com with title "x"', 'Notify by email me@example.com immediate with title "x"'),
    ("Notify email me@example.com immediately", "Notify by email me@example.com immediate"),
    ("Notify me@example.com at once", "Notify by email me@example.com immediate"),
    ("Notify me@example.com right away", "Notify by email me@example.com immediate"),
    ("Monitor price lower than 30", "Monitor price where value < 30"),
    ("Monitor number greater than 100", "Monitor number where value > 100"),
    ("Fetch every day at 9am and 5pm", "Fetch at 09:00, 17:00 daily"),
    ("Fetch Mondays at 9am", "Fetch at 09:00 mon"),
    ("Fetch every 15 sec", "Fetch every 15 s"),
    ("From now until 2027-01-01", "To 2027-01-01"),
    ('Exclude "nav, footer"', 'Exclude regex "nav, footer"'),
    ("Monitor price changes by more than 5%", "Monitor price where changes by more than 5%"),
    ("Monitor price between 10 and 20", "Monitor price where value between 10 and 20"),
    ('Monitor number in ".stock" = 0', 'Monitor number in css ".stock" where value = 0'),
    ("Monitor new feed items", "Monitor items inserted"),
    ("Monitor images added", "Monitor all images inserted"),
    ("Timeout 30 seconds", "Timeout 30 s"),
    (
        "Notify me@example.com, boss@example.com immediately",
        "Notify by email me@example.com, email boss@example.com immediate",
    ),
]
REFUSED = [
    ("Fetch mon-fri", '"mon-fri" needs a time of day', "write Fetch at 08:00 mon-fri"),
    ("Fetch every hour at 8:00", '"hour" has no time of day', "write daily at 08:00"),
    ("Notify console sat", '"sat" needs a time of day', "write Notify by console at 08:00 sat"),
    ("Monitor words below 5", '"below" needs a number', "write Monitor number where value < 5"),
    ('Exclude "Last updated: *"', "ends with a star", 'write Exclude regex "Last updated: .*"'),
    ('Ignore "(c) 20*"', "ends with a star", r'write Exclude regex "\(c\) 20.*"'),
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
    ("Exclude links", 'found "links"', "Monitor any change AND NOT all links"),
    ("Tags work shop", 'unknown clause "shop"', "write Tags work, shop"),
    ("For 3 months", 'unknown unit "months"', "write For 90 day"),
    ("Render javascript", 'found "javascript"', "write Render browser"),
    ('Header "Cookie: a=b"', "found the end", 'write Header "Cookie" "a=b"'),
    ('Header "Authorization: Bearer $TOKEN"', "found the end", 'write Header "Authorization" secret "TOKEN"'),
    ('Monitor links Where text contains "engineer"', '"text"', 'write Monitor links where contains "engineer"'),
    ("Monitor words except numbers", '"except"', r'write Monitor words Exclude regex "\d+"'),
    ('Monitor jsonpath "$.queue" > 100', "needs a number", 'write Monitor number in jsonpath "$.queue" > 100'),
    ("Timeout 30", "no unit", "write Timeout 30 s"),
    ("During 08:00 + 18:00", 'found "+"', '"to": 08:00 to 18:00'),
    ("During 08:00 to 08:00", "has no length", "08:00 to 18:00"),
]


def whole(guess: str) -> str:
    """Return a statement with a guess in it."""
    return f"{HEAD} {guess}" if guess.startswith("Monitor") else f"{HEAD} Monitor any change {guess}"


@pytest.mark.parametrize(("guess", "canonical"), READ)
def test_guess_is_read_and_written_canonically(guess: str, canonical: str):
    """It has the meaning of its canonical form, which is stored and shown."""
    found, meant = parse(whole(guess)), parse(whole(canonical))

    assert () == found.problems == meant.problems
    assert meant.statements == found.statements
    assert canonical in to_text(found.statements[0])


def mean_the_same(line: str, other: str) -> bool:
    """Return whether two lines of clauses mean the same, and have no fault."""
    found, meant = parse(whole(line)), parse(whole(other))
    return found.statements == meant.statements and () == found.problems == meant.problems


@pytest.mark.parametrize(("guess", "message", "hint"), REFUSED)
def test_impossible_guess_is_answered_with_the_words_to_write(guess: str, message: str, hint: str):
    """There is one problem."""
    (problem,) = parse(whole(guess)).problems

    assert message in str(problem)
    assert hint in str(problem) or mean_the_same(problem.hint.removeprefix("write "), hint.removeprefix("write "))


STATEMENTS = [
    (
        "Watch https://www.shop.example/a for price below 5",
        "Using https://www.shop.example/a Monitor price where value < 5",
    ),
    ("Create s Using https://a.example/ Monitor price", "Create Sentinel s Using https://a.example/ Monitor price"),
    ("Create Sentinel s https://a.example/ Monitor price", "Create Sentinel s Using https://a.example/ Monitor price"),
    ("Delete s", "Drop s"),
    ('Watch "https://shop.example/a" every hour', "Using https://shop.example/a Monitor any change Fetch every 1 hour"),
    ("Watch the price on https://shop.example/a and email ann@x.org", "Monitor price Notify by email ann@x.org"),
    ("Sentinel a watches https://a.example/b daily", "Create Sentinel a Using https://a.example/b Monitor any change"),
    (
        'Monitor page "https://a.example/" tag shop',
        "Create Sentinel a Using https://a.example/ Monitor any change Tags shop",
    ),
    ("Watch feed https://a.example/feed.xml", "Monitor items inserted"),
    ('Watch json "https://a.example/v1" jsonpath "$.status"', 'Monitor any change in jsonpath "$.status"'),
    ("Stop watching s", "Disable s"),
    ("Pause s", "Disable s"),
    ("Pause Sentinel s until 2027-01-01", "Disable s"),
    ("Pause s for 2 days", "Disable s"),
    ("End Sentinel s", "Drop s"),
    ("Finish s", "Drop s"),
    (
        "Create Sentinel s Using https://a.example AND https://b.example AND https://c.example Monitor price < 3",
        (
            "Create Sentinel s Using https://a.example As A, https://b.example As B, https://c.example As C"
            " Monitor price of A where value < 3 AND price of B where value < 3 AND price of C where value < 3"
        ),
    ),
    ("Drop Sentinel s", "Drop s"),
    ("Update s Fetch daily", "Alter s Fetch daily"),
]


@pytest.mark.parametrize(("guess", "line"), STATEMENTS)
def test_unknown_statement_is_answered_with_a_line(guess: str, line: str):
    """There is one problem, and its line can be read."""
    (problem,) = parse(guess).problems
    text = problem.hint.removeprefix("write ")

    assert line in text
    assert not [other for other in parse(text).problems if other.code != "E20"]


@pytest.mark.parametrize(
    ("guess", "line"),
    [
        ("List all", "tidings list"),
        ("Show s", "tidings show s"),
        ("Check s now", "tidings check s"),
        ("Rename sentinel s to t", "tidings rename s t"),
    ],
)
def test_command_of_the_terminal_is_named_as_such(guess: str, line: str):
    """The language has no such statement."""
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
]


@pytest.mark.parametrize(("guess", "line"), CLAUSES)
def test_unknown_clause_is_answered_with_a_line(guess: str, line: str):
    """The language reads that line."""
    text = [problem.hint.removeprefix("write ") for problem in parse(f"{HEAD} {guess}").problems]

    assert line in text or any(mean_the_same(line, other) for other in text)
    assert "E03" not in [problem.code for problem in parse(f"{HEAD} {line}").problems]


WRITTEN = [
    ('Monitor keywords "a", "b"', 'Monitor keyword "a" OR keyword "b"'),
    ('Monitor keyword "a" or "b"', 'Monitor keyword "a" OR keyword "b"'),
    ('Monitor keywords "a" and "b" appear', 'Monitor keyword "a" appear AND keyword "b" appear'),
    ('Monitor keywords ("a", "b", "c")', 'Monitor keyword "a" OR keyword "b" OR keyword "c"'),
    ('Monitor any of keywords "a", "b"', 'Monitor keyword "a" OR keyword "b"'),
    ('Monitor phrases "low risk", "no fee"', 'Monitor phrase "low risk" OR phrase "no fee"'),
    (
        'Monitor phrase "sold out" or "gone" disappears',
        'Monitor phrase "sold out" disappears OR phrase "gone" disappears',
    ),
    ('Monitor words "a", "b"', 'Monitor keyword "a" OR keyword "b"'),
    ("Monitor keywords: a, b", "Monitor keywords <a, b>"),
    ("Monitor keywords a, b", 'Monitor keyword "a" OR keyword "b"'),
    ("Monitor keyword a or b", 'Monitor keyword "a" OR keyword "b"'),
    ('Monitor keywords ["a", "b"]', 'Monitor keyword "a" OR keyword "b"'),
    ('Monitor keywords "a" "b"', 'Monitor keyword "a" OR keyword "b"'),
    ("Monitor new items in the list", "Monitor items inserted"),
    ("Monitor new items in list", "Monitor items inserted"),
    ("Monitor new bullet points", "Monitor new items"),
    ("Monitor new posts", "Monitor items inserted"),
    ("Monitor new articles", "Monitor items inserted"),
    ("Monitor new rows", "Monitor table inserted"),
    ("Fetch every 2 hours on weekdays", "Fetch every 2 hours During weekdays"),
    ("Fetch every 2 hours Monday to Friday", "Fetch every 2 hours During monday-friday"),
    ("Fetch every 2 hours mon-fri", "Fetch every 2 hours During mon-fri"),
    ("Fetch every 2 hours, weekdays only", "Fetch every 2 hours During weekdays"),
    ("Fetch every 2 hours only on weekdays", "Fetch every 2 hours During weekdays"),
    ("Fetch hourly on weekdays", "Fetch hourly During weekdays"),
    ("Fetch every hour on weekdays", "Fetch every hour During weekdays"),
    ("Fetch every 10 min on working days", "Fetch every 10 min During mon-fri"),
    ("Fetch every 2 hours at weekends", "Fetch every 2 hours During weekends"),
    ("Fetch every 15 minutes between 08:00 and 18:00 Mon-Fri", "Fetch every 15 minutes During mon-fri 08:00 to 18:00"),
    ("Fetch every 15 minutes from 8 to 18 on weekdays", "Fetch every 15 minutes During weekdays 08:00 to 18:00"),
    ("Fetch every 15 min 08:00-18:00", "Fetch every 15 min During daily 08:00 to 18:00"),
    ("Fetch every 15 min during working hours", "During mon-fri 09:00 to 17:00"),
    ("Fetch every 15 min weekdays 9am-5pm", "Fetch every 15 min During weekdays 9am to 5pm"),
    ("Fetch every hour between 8am and 6pm", "Fetch every hour During daily 8am to 6pm"),
    ("Fetch every 15 minutes from 08:00 to 18:00", "Fetch every 15 minutes During daily 08:00 to 18:00"),
    ("Fetch every 30 min during the day", "During daily 08:00 to 20:00"),
    ("Fetch hourly between 9 and 17", "Fetch hourly During daily 09:00 to 17:00"),
    ("From today", "From now"),
    ("From tomorrow", "From now + 1 day"),
    ("From right now", "From now"),
    ("Starting today", "From now"),
    ("Start now", "From now"),
    ("From next week", "From now + 1 week"),
    ("To 2 weeks", "For 2 weeks"),
    ("To next week", "For 1 week"),
    ("For the next 2 weeks", "For 2 weeks"),
    ("For two weeks", "For 2 weeks"),
    ("For a week", "For 1 week"),
    ("For one month", "For 30 day"),
    ("for the next month", "For 30 day"),
    ("Until tomorrow", "To now + 1 day"),
    ("To in 3 days", "For 3 days"),
    ("For 2 weeks only", "For 2 weeks"),
    ("Until 2 weeks from now", "For 2 weeks"),
    ("Notify me@example.com daily digest at 07:00", "Notify me@example.com at 07:00 daily"),
    ("Notify me@example.com as a daily digest at 7am", "Notify me@example.com at 7am daily"),
    ("Notify me@example.com with a daily summary at 07:00", "Notify me@example.com at 07:00 daily"),
    ("Notify me@example.com digest at 07:00", "Notify me@example.com at 07:00 daily"),
    ("Notify me@example.com digest daily at 07:00", "Notify me@example.com at 07:00 daily"),
    ("Notify me@example.com weekly digest", "Notify me@example.com weekly"),
    ("Notify me@example.com weekly digest on Monday at 8:00", "Notify me@example.com at 8:00 monday"),
    ("Notify me@example.com every morning at 7", "Notify me@example.com at 07:00 daily"),
    ("Notify me@example.com each day at 07:00", "Notify me@example.com at 07:00 daily"),
    ("Notify me@example.com once a day at 7:00", "Notify me@example.com at 7:00 daily"),
    ("Notify me@example.com one mail a day", "Notify me@example.com daily"),
    ("Notify me@example.com daily at 7", "Notify me@example.com at 07:00 daily"),
    ("Notify me@example.com every morning", "Notify me@example.com at 08:00 daily"),
    ("Notify me@example.com summary every Monday", "Notify me@example.com at 08:00 monday"),
    ("Notify me@example.com Quiet hours 22:00-07:00", "Notify me@example.com quiet 22:00 to 07:00"),
    ("Notify me@example.com quiet 22:00-07:00", "Notify me@example.com quiet 22:00 to 07:00"),
    ("Notify me@example.com quiet from 22:00 to 07:00", "Notify me@example.com quiet 22:00 to 07:00"),
    ("Notify me@example.com quiet hours from 22:00 to 07:00", "Notify me@example.com quiet 22:00 to 07:00"),
    ("Notify me@example.com quiet hours: 22-7", "Notify me@example.com quiet 22:00 to 07:00"),
    ("Notify me@example.com quiet between 10pm and 7am", "Notify me@example.com quiet 10pm to 7am"),
    ("Notify me@example.com not between 22:00 and 07:00", "Notify me@example.com quiet 22:00 to 07:00"),
    ("Notify me@example.com do not disturb 22:00-07:00", "Notify me@example.com quiet 22:00 to 07:00"),
    ("Notify me@example.com no messages between 22:00 and 07:00", "Notify me@example.com quiet 22:00 to 07:00"),
    ("Notify me@example.com silent 22:00 to 07:00", "Notify me@example.com quiet 22:00 to 07:00"),
    ("Notify me@example.com except 22:00-07:00", "Notify me@example.com quiet 22:00 to 07:00"),
    ("Notify me@example.com not at night", "Notify me@example.com quiet 22:00 to 07:00"),
    ("Quiet hours 22:00-07:00", "Notify by email you@example.org quiet 22:00 to 07:00"),
    ("Quiet 22:00 to 07:00", "Notify by email you@example.org quiet 22:00 to 07:00"),
    ("No notifications between 22:00 and 07:00", "Notify by email you@example.org quiet 22:00 to 07:00"),
    ("Do not disturb 22:00-07:00", "Notify by email you@example.org quiet 22:00 to 07:00"),
    (
        'Login with user "anna" password $GRADES_PW',
        'Login form https://example.org/login user "anna" password secret "GRADES_PW"',
    ),
    ('Login user "anna" password "x"', 'Login form https://example.org/login user "anna" password secret "NAME"'),
    ("Login as anna password $PW", 'Login form https://example.org/login user "anna" password secret "PW"'),
    ('Login user anna password secret "PW"', 'Login form https://example.org/login user "anna" password secret "PW"'),
    ("Login anna with password $PW", 'Login form https://example.org/login user "anna" password secret "PW"'),
    ('Login "anna" "secret"', 'Login form https://example.org/login user "anna" password secret "NAME"'),
    ('Log in as "anna" with password "x"', 'Login form https://example.org/login user "anna" password secret "NAME"'),
    ('With login user "anna" password "x"', 'Login form https://example.org/login user "anna" password secret "NAME"'),
    ('Username "anna" password "pw"', 'Login form https://example.org/login user "anna" password secret "NAME"'),
    ('Basic auth "anna" "x"', 'Header "Authorization" secret "NAME"'),
    ('Auth "anna:pw"', 'Header "Authorization" secret "NAME"'),
    ('Bearer "abc"', 'Header "Authorization" secret "NAME"'),
    ('Header Authorization "Bearer abc"', 'Header "Authorization" secret "NAME"'),
    ('With browser Wait for ".loaded"', 'Render browser steps (wait for ".loaded")'),
    ('Render browser Wait for ".loaded"', 'Render browser steps (wait for ".loaded")'),
    ('With a browser and wait for ".loaded"', 'Render browser steps (wait for ".loaded")'),
    ('Wait for ".loaded"', 'Render browser steps (wait for ".loaded")'),
    ("Render browser wait 5 s", "Render browser steps (wait 5 s)"),
    ('Render with browser wait for css ".loaded"', 'Render browser steps (wait for ".loaded")'),
    ('Use browser wait until ".loaded" appears', 'Render browser steps (wait for ".loaded")'),
    ('Render browser waiting for ".loaded"', 'Render browser steps (wait for ".loaded")'),
    ("With browser", "Render browser"),
    (
        "Monitor text changes except dates",
        r'Monitor text Exclude regex "\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}"',
    ),
    (
        "Monitor text ignoring dates",
        r'Monitor text Exclude regex "\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}"',
    ),
    (
        "Monitor text except dates and times",
        r'Monitor text Exclude regex "\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}|\d{1,2}:\d\d(:\d\d)?"',
    ),
    (
        "Monitor all words without timestamps",
        r'Monitor all words Exclude regex "\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}|\d{1,2}:\d\d(:\d\d)?"',
    ),
    ("Monitor any change ignoring numbers", r'Monitor any change Exclude regex "\d+"'),
    (
        "Monitor text but not dates",
        r'Monitor text Exclude regex "\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}"',
    ),
    (
        "Ignore dates",
        r'Exclude regex "\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}"',
    ),
    (
        "Exclude dates",
        r'Exclude regex "\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}"',
    ),
    ("Ignore times", r'Exclude regex "\d{1,2}:\d\d(:\d\d)?"'),
    (
        "Ignore timestamps",
        r'Exclude regex "\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}|\d{1,2}:\d\d(:\d\d)?"',
    ),
    (
        "Ignore the date",
        r'Exclude regex "\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}"',
    ),
    ("Exclude changing numbers", r'Exclude regex "\d+"'),
    (r"Monitor regex /v\d+\.\d+\.\d+/", r'Monitor regex "v\d+\.\d+\.\d+"'),
    (r"Monitor /v\d+/", r'Monitor regex "v\d+"'),
    (r"Monitor pattern /v\d+/i", r'Monitor regex "(?i)v\d+"'),
    (r'Monitor regexp "v\d+"', r'Monitor regex "v\d+"'),
    (r"Monitor regular expression /v\d+/", r'Monitor regex "v\d+"'),
    (r"Monitor text matching /v\d+/", r'Monitor text matches "v\d+"'),
    ("Monitor links matching /pdf$/", 'Monitor links matches "pdf$"'),
    (r"Exclude regex /\d+ views/", r'Exclude regex "\d+ views"'),
    ("Monitor status = 404", 'Monitor status where matches "404"'),
    ("Monitor status is 404", 'Monitor status where matches "404"'),
    ("Monitor status 404", 'Monitor status where matches "404"'),
    ("Monitor status becomes 404", 'Monitor status where matches "404"'),
    ("Monitor status code 404", 'Monitor status where matches "404"'),
    ("Monitor status >= 400", 'Monitor status where matches "4..|5.."'),
    ("Monitor status != 200", 'Monitor status where lacks "ok"'),
    ('Monitor status = "404"', 'Monitor status where matches "404"'),
    ("Monitor status changes", "Monitor status"),
    ("Monitor status changes to 404", 'Monitor status where matches "404"'),
    ("Monitor http status 404", 'Monitor status where matches "404"'),
    ("Monitor status = 200", 'Monitor status where matches "ok"'),
    ("Fetch when it changes", "Fetch on change"),
    ("Fetch when the page changes", "Fetch on change"),
    ("Fetch whenever it changes", "Fetch on change"),
    ("Fetch on every change", "Fetch on change"),
    ("Fetch on update", "Fetch on change"),
    ("Fetch as often as it changes", "Fetch on change"),
    ("Fetch as needed", "Fetch on change"),
    ("Fetch automatically", "Fetch on change"),
    ('Fetch cron "0 */6 * * *"', "Fetch every 6 hour"),
    ('Fetch cron "*/15 8-17 * * 1-5"', "Fetch every 15 min During mon-fri 08:00 to 18:00"),
    ("Fetch cron 30 7 * * 1", "Fetch at 07:30 mon"),
    ('Fetch "0 9 * * mon-fri"', "Fetch at 09:00 mon-fri"),
    ('Fetch schedule "@daily"', "Fetch at 00:00 daily"),
    ('Fetch cron "0 9,17 * * *"', "Fetch at 09:00, 17:00 daily"),
    ('Fetch cron "0 0 1 * *"', "Fetch every 30 day"),
    ("Fetch */10 * * * *", "Fetch every 10 min"),
    ('Fetch cron "5 4 * * sun"', "Fetch at 04:05 sun"),
    ('Cron "0 */6 * * *"', "Fetch every 6 hour"),
    ("Fetch every Monday at 9am Europe/Berlin", "Fetch every Monday at 9am Zone Europe/Berlin"),
    ("Fetch at 09:00 Europe/Berlin", "Fetch at 09:00 Zone Europe/Berlin"),
    ("Fetch daily at 9am UTC", "Fetch daily at 9am Zone UTC"),
    ("Fetch daily at 08:00 CET", "Fetch daily at 08:00 Zone CET"),
    ("Fetch at 09:00 mon-fri Europe/Paris", "Fetch at 09:00 mon-fri Zone Europe/Paris"),
    ("Fetch at 9am (Europe/Berlin)", "Fetch at 9am Zone Europe/Berlin"),
    ("Fetch at 09:00 in Europe/Berlin", "Fetch at 09:00 Zone Europe/Berlin"),
    ("Fetch daily at 9am timezone Europe/Berlin", "Fetch daily at 9am Zone Europe/Berlin"),
    ("Notify me@example.com daily at 8:00 Europe/Berlin", "Notify me@example.com daily at 8:00 Zone Europe/Berlin"),
    ("Time zone Europe/Berlin", "Zone Europe/Berlin"),
    ("Notify email to me@example.com and boss@example.com", "Notify email me@example.com, boss@example.com"),
    ("Notify by mail to me@example.com weekly", "Notify by email me@example.com weekly"),
    ("Notify me by email at me@example.com", "Notify by email me@example.com"),
    ("Notify me@example.com and boss@example.com weekly", "Notify me@example.com, boss@example.com weekly"),
    ("Notify me@example.com, boss@example.com once a week", "Notify me@example.com, boss@example.com weekly"),
    (
        'Notify slack://token/#prices with "New price: {new}"',
        'Notify slack://token/#prices with text "New price: {{diff_added}}"',
    ),
    (
        'Notify slack://token/#prices message "New price: {new}"',
        'Notify slack://token/#prices with text "New price: {{diff_added}}"',
    ),
    ('Notify slack://token/#prices text "x {url}"', 'Notify slack://token/#prices with text "x {{watch_url}}"'),
    ('Notify slack://token/#prices with message "x"', 'Notify slack://token/#prices with text "x"'),
    ('Notify slack://token/#prices saying "x"', 'Notify slack://token/#prices with text "x"'),
    ('Notify me@example.com subject "Price" text "{diff}"', 'Notify me@example.com with title "Price" text "{{diff}}"'),
    ('Notify me@example.com with subject "x {name}"', 'Notify me@example.com with title "x {{watch_title}}"'),
    ("Notify tgram://b/c at most 5 per day", "Notify tgram://b/c max 5 per 1 day"),
    ("Notify tgram://b/c max 5 a day", "Notify tgram://b/c max 5 per 1 day"),
    ("Notify tgram://b/c limit 5 per day", "Notify tgram://b/c max 5 per 1 day"),
    ("Notify tgram://b/c no more than 5 per day", "Notify tgram://b/c max 5 per 1 day"),
    ("Notify tgram://b/c up to 5 messages per day", "Notify tgram://b/c max 5 per 1 day"),
    ("Notify tgram://b/c at most five messages each day", "Notify tgram://b/c max 5 per 1 day"),
    ("Compare with last notified version", "Compare first -- and Confirm NAME after a message"),
    ("Compare with last seen version", "Compare first -- and Confirm NAME after a message"),
    ("Compare to previous version", "Compare pairwise"),
    ("Compare with the first version", "Compare first"),
    ("Compare with original", "Compare first"),
    ("Compare against last", "Compare pairwise"),
    ("Compare last notified", "Compare first -- and Confirm NAME after a message"),
    ("Compare with the version I was last told about", "Compare first -- and Confirm NAME after a message"),
    ("Compare with last version", "Compare pairwise"),
    ("Compare previous", "Compare pairwise"),
    ("Compare with 7 versions ago", "Compare moving 7"),
    ("Notify me@example.com asap", "Notify me@example.com immediate"),
    ("History 50", "ChangeHistory 50"),
    ("History 50 versions", "ChangeHistory 50"),
    ("Keep 50 versions", "ChangeHistory 50"),
    ("Keep last 50 versions", "ChangeHistory 50"),
    ("Keep the last 50 versions", "ChangeHistory 50"),
    ("Keep history 90 days", "ChangeHistory 90 days"),
    ("Monitor price falls below 49.99 EUR", "Monitor price becomes below 49.99"),
    ("Monitor price drops under 30 euros", "Monitor price becomes under 30"),
    ("Monitor price < 30€", "Monitor price < 30"),
    ("Monitor price cheaper than 30", "Monitor price below 30"),
    ("Monitor price below $30", "Monitor price below 30"),
    ("Monitor price drops 10%", "Monitor price drops by 10%"),
    ("Monitor price drops by at least 10%", "Monitor price drops by 10%"),
    ("Monitor price falls 10 percent", "Monitor price falls by 10%"),
    ("Monitor number bigger than 100", "Monitor number above 100"),
    ("Monitor number exceeds 100", "Monitor number becomes above 100"),
    ('Monitor new links WHERE text contains "engineer"', 'Monitor new links where contains "engineer"'),
    ('Monitor new links with "engineer"', 'Monitor new links containing "engineer"'),
    ('Monitor new links whose text contains "engineer"', 'Monitor new links containing "engineer"'),
    ('Monitor json "$.tag_name"', 'Monitor jsonpath "$.tag_name"'),
    ('Monitor JSON path "$.tag_name"', 'Monitor jsonpath "$.tag_name"'),
    ("Monitor json $.tag_name", 'Monitor jsonpath "$.tag_name"'),
    ("Monitor numbers", r'Monitor regex "\d[\d.,]*"'),
    ("Monitor numbers > 5", "Monitor number where value > 5"),
    ("Monitor keywords ['a', 'b']", 'Monitor keyword "a" OR keyword "b"'),
    ('Monitor keywords "a", "b" OR price', 'Monitor keyword "a" OR keyword "b" OR price'),
    (
        'Monitor keyword "a", "b" inserted in css "main"',
        'Monitor keyword "a" inserted in css "main" OR keyword "b" inserted in css "main"',
    ),
    ('Monitor phrases "a b" | "c d"', 'Monitor phrase "a b" OR phrase "c d"'),
    ('Monitor either "a" or "b"', 'Monitor phrase "a" OR phrase "b"'),
    ('Monitor "a" or "b"', 'Monitor phrase "a" OR phrase "b"'),
    ('Monitor "a", "b"', 'Monitor phrase "a" OR phrase "b"'),
    ('Monitor text "a" or "b"', 'Monitor phrase "a" OR phrase "b"'),
    ("Fetch every 2 hours on weekdays between 9 and 17", "Fetch every 2 hours During weekdays 09:00 to 17:00"),
    ("Fetch every 2 hours on weekdays from 9am to 5pm", "Fetch every 2 hours During weekdays 9am to 5pm"),
    ("Fetch every 30 min mon-fri 8:00-18:00", "Fetch every 30 min During mon-fri 8:00 to 18:00"),
    ("Fetch every 30 min on Mondays", "Fetch every 30 min During mondays"),
    ("Fetch every 30 min on Saturday and Sunday", "Fetch every 30 min During saturday and sunday"),
    ("Fetch every 5 minutes except at night", "Fetch every 5 minutes During daily 06:00 to 22:00"),
    ("Fetch every 5 minutes not at night", "Fetch every 5 minutes During daily 06:00 to 22:00"),
    ("Fetch every 5 minutes on business days", "Fetch every 5 minutes During mon-fri"),
    ("Fetch every 15 min in working hours", "Fetch every 15 min During mon-fri 09:00 to 17:00"),
    ("Fetch daily at 9", "Fetch daily at 09:00"),
    ("Fetch at 9", "Fetch at 09:00"),
    ("Fetch at 9 and 17", "Fetch at 09:00 and 17:00"),
    ("Fetch daily 9:00", "Fetch daily at 9:00"),
    ("Fetch every working day at 9:00", "Fetch every weekday at 9:00"),
    ("Fetch weekly on Monday at 9am", "Fetch every Monday at 9am"),
    ("Fetch every Monday 9am", "Fetch every Monday at 9am"),
    ("Fetch every 1st of the month", "Fetch at 08:00 daily"),
    ("Fetch every quarter of an hour", "Fetch every 15 min"),
    ("For 30 days starting today", "For 30 days"),
    ("Notify me@example.com weekly on Mondays at 8", "Notify me@example.com every Mondays at 08:00"),
    ("Notify me@example.com in a daily digest", "Notify me@example.com daily"),
    ("Notify me@example.com batched daily", "Notify me@example.com daily"),
    ("Notify me@example.com digest", "Notify me@example.com daily"),
    ("Notify me@example.com daily summary", "Notify me@example.com daily"),
    ("Notify me@example.com max once per hour", "Notify me@example.com max 1 per 1 hour"),
    ("Notify me@example.com only on weekdays", "Notify me@example.com at 08:00 weekdays"),
    ("Notify me@example.com between 8:00 and 20:00", "Notify me@example.com quiet 20:00 to 8:00"),
    ("Notify me@example.com only between 08:00 and 20:00", "Notify me@example.com quiet 20:00 to 08:00"),
    ("Notify me@example.com at 07:00 as digest", "Notify me@example.com at 07:00 daily"),
    ("Notify me@example.com every day at 7", "Notify me@example.com at 07:00 daily"),
    ('Notify discord://id/token with message "{{new}}"', 'Notify discord://id/token with text "{{diff_added}}"'),
    ('Notify me@example.com template "x"', 'Notify me@example.com with text "x"'),
    ("Notify by telegram tgram://b/c", "Notify by tgram://b/c"),
    (
        'Login https://a.example/login user "anna" password secret "PW"',
        'Login form https://a.example/login user "anna" password secret "PW"',
    ),
    (
        'Login at https://a.example/login with user "anna" password secret "PW"',
        'Login form https://a.example/login user "anna" password secret "PW"',
    ),
    (
        'Login form https://a.example/login user anna password "x"',
        'Login form https://a.example/login user "anna" password secret "NAME"',
    ),
    (
        'Login form "https://a.example/login" username "anna" password $PW',
        'Login form "https://a.example/login" user "anna" password secret "PW"',
    ),
    ('Cookie "a=b"', 'Header "Cookie" "a=b"'),
    ('Header Authorization: "Bearer abc"', 'Header "Authorization" secret "NAME"'),
    ('Headers "X-A: b"', 'Header "X-A" "b"'),
    ("Header X-A b", 'Header "X-A" "b"'),
    ('User-Agent "x"', 'Header "User-Agent" "x"'),
    ("With javascript", "Render browser"),
    ("With chromium", "Render browser"),
    ("Using browser", "Render browser"),
    ("Browser", "Render browser"),
    ("Render", "Render browser"),
    ("Render with browser", "Render browser"),
    ("Render js wait 3", "Render browser steps (wait 3 s)"),
    ('Wait for css ".loaded"', 'Render browser steps (wait for ".loaded")'),
    ("Wait 5", "Render browser steps (wait 5 s)"),
    ("Scroll down", "Render browser steps (scroll to end)"),
    ('Click ".more"', 'Render browser steps (click ".more")'),
    ("Screenshot", "Render browser screenshot"),
    ("With screenshot", "Render browser screenshot"),
    (
        "Exclude dates and times",
        r'Exclude regex "\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}|\d{1,2}:\d\d(:\d\d)?"',
    ),
    (
        "Ignore numbers and dates",
        r'Exclude regex "\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}|\d+"',
    ),
    (
        "Ignore date changes",
        r'Exclude regex "\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}"',
    ),
    ("Exclude ads", 'Exclude "ads"'),
    ("Exclude css .ads", 'Exclude css ".ads"'),
    ("Exclude .ads", 'Exclude css ".ads"'),
    ("Ignore #banner", 'Exclude css "#banner"'),
    ('Exclude elements ".ads"', 'Exclude css ".ads"'),
    ("Select .content", 'Select css ".content"'),
    ("Select css .content", 'Select css ".content"'),
    ('Select id "main"', 'Select css "#main"'),
    ("Select main", 'Select css "main"'),
    ('Only css "main"', 'Select css "main"'),
    (
        'Monitor text in ".x" except dates',
        r'Monitor text in ".x" Exclude regex "\d{1,4}[-./]\d{1,2}[-./]\d{2,4}|\d{1,2}\.? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}"',
    ),
    ("Monitor price < 30 EUR", "Monitor price < 30"),
    ("Monitor price less than 30 EUR", "Monitor price less than 30"),
    ("Monitor price changes", "Monitor price"),
    ("From 1 March 2027", "From 2027-03-01"),
    ("Fetch every 5 min in Europe/Berlin timezone", "Fetch every 5 min Zone Europe/Berlin"),
    ("To 31st Dec. 2026", "To 2026-12-31"),
    ("Until March 5, 2027", "To 2027-03-05"),
    ("History keep 50 versions", "ChangeHistory 50"),
    ("History keep 30 days", "ChangeHistory 30 days"),
    ('Login with "portal"', 'Login form https://example.org/login user "portal" password secret "NAME"'),
    ("Monitor number change > 5%", "Monitor number changes by more than 5%"),
    ("Monitor number changed by 5", "Monitor number changes by 5"),
    ("Monitor price changes over 10%", "Monitor price changes by more than 10%"),
    ("Monitor price decreases", "Monitor price drops by more than 0"),
    ("Monitor price drops", "Monitor price drops by more than 0"),
    ("Monitor price drop 10%", "Monitor price drops by 10%"),
    ("Monitor price drops by more than 10 EUR", "Monitor price drops by more than 10"),
    ("Monitor price <= 99,99", "Monitor price <= 99.99"),
    ("Monitor price is lower than before", "Monitor price drops by more than 0"),
    ("Monitor lowest price", "Monitor price is the lowest so far"),
    ("Monitor number .stock > 0", 'Monitor number in css ".stock" > 0'),
    ("Monitor status not ok", 'Monitor status where lacks "ok"'),
    ("Monitor status != ok", 'Monitor status where lacks "ok"'),
    ("Monitor status error", "Monitor status"),
    ("Monitor status is down", "Monitor status"),
    ("Monitor down", "Monitor status"),
    ("Monitor page is down", "Monitor status"),
    ("Monitor status in 4xx", 'Monitor status where matches "4.."'),
    ("Monitor status 4xx", 'Monitor status where matches "4.."'),
    ("Monitor status 404 or 410", 'Monitor status where matches "404|410"'),
    ('Monitor availability = "in stock"', 'Monitor availability is "in stock"'),
    ("Monitor availability in stock", 'Monitor availability becomes "in stock"'),
    ("Monitor in stock", 'Monitor availability becomes "in stock"'),
    ("Monitor back in stock", 'Monitor availability becomes "in stock"'),
    ("Monitor stock", 'Monitor availability becomes "in stock"'),
    ("Monitor feed", "Monitor items inserted"),
    ('Monitor new articles containing "oil"', 'Monitor items inserted containing "oil"'),
    ('Monitor new items with "oil"', 'Monitor new items containing "oil"'),
    ('Monitor new items matching "oil"', 'Monitor new items containing "oil"'),
    ('Monitor new links whose text contains "x"', 'Monitor new links containing "x"'),
    ('Monitor new links where text contains "x"', 'Monitor new links where contains "x"'),
    ('Monitor new links where url contains "x"', 'Monitor new links where contains "x"'),
    ('Monitor new links where href matches "x"', 'Monitor new links where matches "x"'),
    ('Monitor links containing text "x"', 'Monitor links containing "x"'),
    ("Monitor h1", 'Monitor css "h1"'),
    ("Monitor table row 3", 'Monitor table in css "tr:nth-child(3)"'),
    ("Monitor new rows in table", "Monitor table inserted"),
    ("Monitor anything", "Monitor any change"),
    ("Monitor any text", "Monitor text"),
    ("Monitor visible text", "Monitor text"),
    ("Monitor source", "Monitor any change"),
    ("Monitor html", "Monitor any change"),
    ("Compare with baseline", "Compare first"),
    ("Compare with the previous check", "Compare pairwise"),
    ("Compare to first", "Compare first"),
    ("Compare previous version", "Compare pairwise"),
    ("History 50 changes", "ChangeHistory 50"),
    ("History 90 days", "ChangeHistory 90 days"),
    ("Tags: shopping, christmas", "Tags shopping, christmas"),
    ("Tag shopping and christmas", "Tags shopping, christmas"),
    ("Labels shopping", "Tags shopping"),
    ("Group shopping", "Tags shopping"),
    ("Priority high", "Importance 0.9"),
    ('Proxy "http://p:3128"', "Proxy http://p:3128"),
    ('Zone "Europe/Berlin"', "Zone Europe/Berlin"),
    ("Timezone Europe/Berlin", "Zone Europe/Berlin"),
    ("Notify me@example.com at most every 2 hours", "Notify me@example.com max 1 per 2 hours"),
    ("Notify me@example.com not more often than once per hour", "Notify me@example.com max 1 per 1 hour"),
    ("Notify email: me@example.com", "Notify email me@example.com"),
    ("Notify: me@example.com", "Notify me@example.com"),
    ("Monitor keyword 'a'", 'Monitor keyword "a"'),
    ("Monitor phrase “in stock”", 'Monitor phrase "in stock"'),
    ('Monitor price < 30 and availability = "in stock"', 'Monitor price < 30 and availability is "in stock"'),
    ('Monitor keyword "sale" OR price < 20 EUR', 'Monitor keyword "sale" OR price < 20'),
    (r"Monitor text OR regex /x\d/", r'Monitor text OR regex "x\d"'),
    ("Exclude css '.ads'", 'Exclude css ".ads"'),
    ("Select '.price'", 'Select ".price"'),
    ("Monitor number in 'span.x' > 3", 'Monitor number in "span.x" > 3'),
    ("Fetch every 10 minutes starting today", "Fetch every 10 minutes From now"),
    ("Fetch every 10 min until 2 weeks from now", "For 2 weeks"),
    ("Fetch every 10 min at night", "Fetch every 10 min During daily 22:00 to 06:00"),
    ("Fetch every 10 minutes Mon-Fri 9-17", "Fetch every 10 minutes During mon-fri 09:00 to 17:00"),
    ("Fetch every 10 minutes on weekdays 9-17", "Fetch every 10 minutes During weekdays 09:00 to 17:00"),
    ("Fetch on weekdays every 2 hours", "Fetch every 2 hours During weekdays"),
    ("Fetch weekdays 9-17 every 15 min", "Fetch every 15 min During weekdays 09:00 to 17:00"),
    ("Monitor price drops to 50", "Monitor price becomes at most 50"),
    ('Monitor number in css ".n" rises', 'Monitor number in css ".n" rises by more than 0'),
    ("Exclude header", 'Exclude css "header"'),
    ("Ignore the footer", 'Exclude css "footer"'),
    ("Select header", 'Select css "header"'),
    ("Monitor price rises to $1,200", "Monitor price becomes at least 1200"),
    ("Fetch every 15 min except weekends", "Fetch every 15 min During mon-fri"),
    ('Delay until ".list"', 'Render browser steps (wait for ".list")'),
    ("Use browser on", "Render browser"),
    ('Notify console "new: {{diff}}"', 'Notify console with text "new: {{diff}}"'),
    ("Fetch between 8 and 18 every 15 min", "Fetch every 15 min During daily 08:00 to 18:00"),
]


@pytest.mark.parametrize(("guess", "line"), WRITTEN)
def test_guess_is_answered_with_the_whole_line(guess: str, line: str):
    """It is the one hint, and has no fault itself."""
    (problem,) = parse(whole(guess)).problems

    assert mean_the_same(line, problem.hint.removeprefix("write ").partition("; ")[0])


def test_two_pages_that_must_both_change_are_named_in_the_answer():
    """The whole statement is written: a change type is limited to a page by its name."""
    for joint in ("AND", "and", "&"):
        guess = f"Create Sentinel s Using https://a.example/ {joint} https://b.example/ Monitor price < 200 Fetch every 3 hours"
        (problem,) = parse(guess).problems
        line = problem.hint.removeprefix("write ")

        assert (
            "Using https://a.example/ As A, https://b.example/ As B Monitor price of A where value < 200 AND price of B where value < 200 Fetch"
            in line
        )
        assert () == parse(line).problems


@pytest.mark.parametrize(
    ("guess", "lines"),
    [
        ("From today To 2 weeks", ["From now", "For 2 week"]),
        ('With browser Wait for ".loaded" Monitor numbers', ['Render browser steps (wait for ".loaded")', r'Monitor regex "\d[\d.,]*"']),
        ("Monitor new links Fetch every 2 hours on weekdays Notify a@b.org not at night", ["Fetch every 2 hour During mon-fri", "Notify by email a@b.org quiet 22:00 to 07:00"]),
    ],
)  # fmt: skip
def test_each_clause_of_a_guess_is_answered(guess: str, lines: list[str]):
    """So is one right after the address."""
    assert [f"write {line}" for line in lines] == [problem.hint for problem in parse(f"{HEAD} {guess}").problems]


@pytest.mark.parametrize(
    "clauses",
    [
        "Monitor price Fetch every 2 hours From 2026-01-01",
        "Monitor price Notify console every 10 changes To 2027-01-01",
        "Monitor price Tags mail, wait For 2 week",
        "Monitor price Tags quiet, hours From 2026-01-01",
        "Monitor price Tags up, down To 2027-01-01",
        "Monitor price Tags drops To 2027-01-01",
    ],
)
def test_fault_elsewhere_leaves_the_other_clauses(clauses: str):
    """Words of a guess are never split into two clauses."""
    assert 1 == len(parse(f"{HEAD} {clauses} Colour blue").problems)


def test_names_may_be_quoted_everywhere():
    """They are those of sentinels and pages, in commands and as a base."""
    text = """Create Sentinel "a" Using https://a.example/ As "shop", https://b.example/ As B Monitor price of "shop"
    Create Sentinel b Using "a" Fetch daily
    Alter "b" Fetch hourly
    Disable "a"
    Drop "b" """
    parsed = parse(text)

    assert () == parsed.problems
    assert "price of shop" in to_text(parsed.statements[0])
    assert ["Alter b\n  Fetch every 1 hour", "Disable a", "Drop b"] == [to_text(one) for one in parsed.statements[2:]]


def test_quoted_text_that_is_a_name_is_accepted():
    """For another text the nearest name is shown."""
    (made,) = parse('Create Sentinel "kettle" Using https://a.example/ Monitor price').statements
    (problem,) = parse('Create Sentinel "kettle shop" Using https://a.example/ Monitor price').problems

    assert to_text(made).startswith("Create Sentinel kettle Using")
    assert "write kettle-shop" in str(problem)


def test_words_of_guesses_are_not_reserved():
    """They may name a sentinel and its tags, as before."""
    text = f"{HEAD.replace(' s ', ' ignore ')} Monitor price Tags text, daily, over, under, hourly, until, below, containing"
    parsed = parse(text)

    assert () == parsed.problems
    assert to_text(parsed.statements[0]).endswith("Tags text, daily, over, under, hourly, until, below, containing")


@pytest.mark.parametrize(
    ("guess", "wrong"),
    [
        ('Monitor table "Departures"', ('css "Departures', "Exclude")),
        ('Monitor number in block "Open jobs"', ("Open jobs",)),
        ('Select section "News"', ("News",)),
        ('Monitor price Notify command "/bin/x"', ("Notify command",)),
        ('Monitor price Notify by exec "ls"', ("exec",)),
        ("Monitor price drops to 50", ("more than 0",)),
        ("Monitor availability drops", ("more than 0",)),
        ("Monitor text Ignore price changes", ("Monitor",)),
        ("Monitor text Ignore price", ("Exclude",)),
        ("Monitor links except images", ("Exclude",)),
        ("Monitor text Exclude header and footer", ('Header "',)),
        ("Monitor price Fetch every 15 min without weekends", ("Exclude",)),
    ],
)
def test_answer_never_means_something_else(guess: str, wrong: tuple[str, ...]):
    """A heading is no selector, a program no receiver, a day no word of the page."""
    problems = parse(f"{HEAD} {guess}").problems

    assert problems
    assert not [problem for problem in problems for text in wrong if text in problem.hint]


@pytest.mark.parametrize(
    "unit",
    ['"a" ', '"a", ', "a and ", "8:00-9:00 ", "mon-fri, ", "dates and ", "https://a.example ", "a < 1 and ", "cookie "],
)
@pytest.mark.parametrize(
    "start",
    [
        "Monitor keywords ",
        "Monitor text except ",
        "Fetch every 15 min ",
        "Notify a@b.example ",
        "Monitor items where ",
        "Fetch monthly ",
    ],
)
def test_long_guess_is_answered_in_limited_time(start: str, unit: str):
    """No rule tries all ways to split a repeated text (ReDoS)."""
    with bound_time(10):
        assert parse(f"Create Sentinel s Using https://a.example {start}{unit * 90}!").problems
