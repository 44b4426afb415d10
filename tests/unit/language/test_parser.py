import subprocess
import sys

import pytest

from tests.strategies_language import EXAMPLES, KNOWN
from tidings.errors import SentinelError
from tidings.language.parser import parse, read
from tidings.language.verify import KnownSentinel
from tidings.language.write.printer import to_text
from tidings.model.watch.sentinel import (
    AllOf,
    Channel,
    Command,
    FetchEvery,
    Interest,
    Notify,
    Point,
    Rate,
    Sentinel,
    Watched,
)

SECOND = 1_000_000
DAY = 86_400 * SECOND
NOW = 1_700_000_000 * SECOND
DECEMBER_2_2002 = 1_038_787_200 * SECOND
JANUARY_2_2003 = 1_041_465_600 * SECOND


def only(text, **arguments):
    (statement,) = read(text, **arguments)
    return statement


def test_the_example_of_the_thesis_is_read_letter_for_letter():
    """2 Dec 2002 to 2 Jan 2003, looked at every 2 days, mailed every 4, when links and images changed (W-10)."""
    parsed = parse(EXAMPLES[0], now=NOW)

    assert () == parsed.problems
    assert (
        Sentinel(
            name="s1",
            pages=(Watched("http://www.cnn.com"),),
            monitor=AllOf((Interest("links"), Interest("images"))),
            fetch=FetchEvery(2 * DAY),
            start=Point("at", text="2002-12-02", instant=DECEMBER_2_2002),
            end=Point("at", text="2003-01-02", instant=JANUARY_2_2003),
            notify=(Notify((Channel("email", "jill@aol.com"),), Rate("every", 4 * DAY)),),
        ),
    ) == parsed.statements


def test_the_example_of_the_thesis_is_doubted_where_it_should_be():
    """Its dates are ambiguous, its end has passed, AND is stricter than it sounds, mail is not sent yet."""
    parsed = parse(EXAMPLES[0], now=NOW)

    assert [
        "1:45: W8 reported only when both change (hint: to be notified of either, write OR or a comma)",
        "1:95: W1 12/02/02 is read as 2002-12-02 (month/day/year) (hint: write 2002-12-02)",
        "1:104: W11 its end has passed on 2003-01-02: nothing will be watched (hint: give a later To)",
        "1:107: W1 01/02/03 is read as 2003-01-02 (month/day/year) (hint: write 2003-01-02)",
        "1:126: W10 mail to jill@aol.com is not sent until mail is set up (notify.smtp_host) (hint: until then, use tidings changes or a webhook)",
    ] == [str(warning) for warning in parsed.warnings]


def test_every_problem_of_a_text_keeps_its_statement_back():
    """Statements with a problem are not among those understood; the others are."""
    parsed = parse(
        "Create Sentinel a Using https://x.example Monitor links; Create Sentinel b Using www.x.example Monitor links"
    )

    assert (["a"], ["E22"]) == ([to_text(s).split()[2] for s in parsed.statements], [p.code for p in parsed.problems])


def test_case_line_ends_comments_and_semicolons_mean_nothing():
    """Words of the language are read in any case; `--` begins a comment but not inside an address."""
    text = "CREATE sentinel a -- my first\nUSING https://x.example/a--b\nmonitor ANYCHANGE--yes\n;; disable a;"

    assert (
        Sentinel(name="a", pages=(Watched("https://x.example/a--b"),), monitor=Interest("any")),
        Command("disable", "a"),
    ) == read(text)


def test_reading_raises_with_all_problems():
    """`read` raises one error that holds each problem as data and says them all."""
    with pytest.raises(SentinelError) as caught:
        read("Create Sentinel a Using www.x.example Monitor all imges")

    assert ["E22", "E10"] == [problem.code for problem in caught.value.problems]  # type: ignore[attr-defined]
    assert str(caught.value).startswith('1:25: E22 found "www.x.example"; expected')


def test_a_zone_of_the_caller_must_exist():
    """The zone of sentinels that name none is the caller's to get right."""
    with pytest.raises(ValueError, match='unknown time zone "Mars"'):
        parse("", zone="Mars")


def test_dates_are_read_in_the_sentinels_zone():
    """The Zone clause holds for all dates of the statement, wherever it stands; else the caller's zone does."""
    text = "Create Sentinel a Using https://x.example Monitor links From 2026-07-01"
    midnight_utc = 1_782_864_000 * SECOND

    def start(more, zone="UTC"):
        return only(text + more, zone=zone).start.instant - midnight_utc

    assert (0, -2 * 3600 * SECOND, -2 * 3600 * SECOND, 4 * 3600 * SECOND) == (
        start(""),
        start(" Zone Europe/Paris"),
        start("", "Europe/Paris"),
        start(" Zone America/New_York", "Europe/Paris"),
    )


def test_to_now_and_an_offset_becomes_a_date():
    """`To now + 7 day` means the time that it is when it is first read, however often the text is read again."""
    sentinel = only("Create Sentinel a Using https://x.example Monitor links To now + 7 day", now=NOW)

    assert Point("at", text="2023-11-21T22:13:20+00:00", instant=NOW + 7 * DAY) == sentinel.end


def test_a_deep_text_is_refused_not_followed():
    """Ten thousand parentheses or NOTs are told as a fault, without a word about Python's stack."""
    nested = "(" * 10_000 + "links" + ")" * 10_000
    nots = "NOT " * 10_000 + "links"
    mixed = "(links AND NOT " * 200 + "images" + ")" * 200
    head = "Create Sentinel a Using https://x.example Monitor "

    assert ([], ["E12"], ["E12"]) == tuple(
        [problem.code for problem in parse(head + monitor).problems] for monitor in (nested, nots, mixed)
    )


def test_listing_does_not_need_the_parser():
    """Printing sentinels imports neither lark nor the parser (the command line starts in 0.3 s)."""
    script = (
        "import sys, tidings.language.write.printer, tidings.language.verify;"
        "print([name for name in ('lark', 'tidings.language.parser') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert "[]" == printed.strip()


def test_names_not_known_are_not_checked_without_a_list():
    """Without `known` (a check that needs no service) commands and events of others pass; a base cannot."""
    text = "Disable x; Create Sentinel a Using https://x.example Monitor links From end(x); Create Sentinel b Using y"

    assert ["E20"] == [problem.code for problem in parse(text).problems]


def test_known_sentinels_of_the_same_text_come_first():
    """A name dropped in the text is free again in the same text, and what was made can be spoken of."""
    s0 = KNOWN["s0"]
    parsed = parse(
        "Drop s0; Create Sentinel s0 Using https://x.example Monitor links; Disable s0", known={"s0": s0}.get
    )

    assert (3, ()) == (len(parsed.statements), parsed.problems)
    assert isinstance(s0, KnownSentinel)
