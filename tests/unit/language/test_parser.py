"""Texts are read as statements, or refused with all problems."""

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


def test_example_of_the_thesis_is_read():
    """It lasts from 2 Dec 2002 to 2 Jan 2003, is checked every 2 days and mailed every 4, if links
    and images changed (W-10).
    """
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


def test_example_of_the_thesis_has_its_warnings():
    """Its dates are ambiguous, its end has passed, AND is stricter than it sounds, and mail is not
    sent yet.
    """
    parsed = parse(EXAMPLES[0], now=NOW)

    assert [
        "1:45: W8 reported only when both change (hint: to be notified of either, write OR or a comma)",
        "1:95: W1 12/02/02 is read as 2002-12-02 (month/day/year) (hint: write 2002-12-02)",
        "1:104: W11 its end has passed on 2003-01-02: nothing will be watched (hint: give a later To)",
        "1:107: W1 01/02/03 is read as 2003-01-02 (month/day/year) (hint: write 2003-01-02)",
        "1:126: W10 mail to jill@aol.com is not sent until mail is set up (notify.smtp_host) (hint: until then, use tidings changes or a webhook)",
    ] == [str(warning) for warning in parsed.warnings]


def test_statement_with_a_problem_is_left_out():
    """The other statements are understood."""
    parsed = parse(
        "Create Sentinel a Using https://x.example Monitor links; Create Sentinel b Using www.x.example Monitor links"
    )

    assert (["a"], ["E22"]) == ([to_text(s).split()[2] for s in parsed.statements], [p.code for p in parsed.problems])


def test_case_line_ends_comments_and_semicolons_do_not_matter():
    """`--` begins a comment, but not inside an address."""
    text = "CREATE sentinel a -- my first\nUSING https://x.example/a--b\nmonitor ANYCHANGE--yes\n;; disable a;"

    assert (
        Sentinel(name="a", pages=(Watched("https://x.example/a--b"),), monitor=Interest("any")),
        Command("disable", "a"),
    ) == read(text)


def test_error_has_all_problems():
    """`read` raises one error with each problem as data."""
    with pytest.raises(SentinelError) as caught:
        read("Create Sentinel a Using www.x.example Monitor all imges")

    assert ["E22", "E10"] == [problem.code for problem in caught.value.problems]  # type: ignore[attr-defined]
    assert str(caught.value).startswith('1:25: E22 found "www.x.example"; expected')


def test_unknown_zone_of_the_caller_is_refused():
    """Sentinels without a zone use it."""
    with pytest.raises(ValueError, match='unknown time zone "Mars"'):
        parse("", zone="Mars")


def test_dates_are_in_the_zone_of_the_sentinel():
    """The Zone clause holds for all dates of the statement, at any place; otherwise the caller's
    zone does.
    """
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


def test_to_now_with_an_offset_becomes_a_date():
    """`To now + 7 day` means the time when it is first read, however often it is read again."""
    sentinel = only("Create Sentinel a Using https://x.example Monitor links To now + 7 day", now=NOW)

    assert Point("at", text="2023-11-21T22:13:20+00:00", instant=NOW + 7 * DAY) == sentinel.end


def test_deeply_nested_text_is_refused():
    """Ten thousand parentheses or NOTs are a fault, and Python's stack is not mentioned."""
    nested = "(" * 10_000 + "links" + ")" * 10_000
    nots = "NOT " * 10_000 + "links"
    mixed = "(links AND NOT " * 200 + "images" + ")" * 200
    head = "Create Sentinel a Using https://x.example Monitor "

    assert ([], ["E12"], ["E12"]) == tuple(
        [problem.code for problem in parse(head + monitor).problems] for monitor in (nested, nots, mixed)
    )


def test_listing_does_not_load_the_parser():
    """Printing sentinels imports neither lark nor the parser (the command line starts in 0.3 s)."""
    script = (
        "import sys, tidings.language.write.printer, tidings.language.verify;"
        "print([name for name in ('lark', 'tidings.language.parser') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert "[]" == printed.strip()


def test_unknown_names_are_accepted_without_a_list():
    """Without `known` (a check without a service) commands and events of others pass; a base does
    not.
    """
    text = "Disable x; Create Sentinel a Using https://x.example Monitor links From end(x); Create Sentinel b Using y"

    assert ["E20"] == [problem.code for problem in parse(text).problems]


def test_sentinels_of_the_same_text_come_first():
    """A name that the text drops is free in it, and a created one can be named."""
    s0 = KNOWN["s0"]
    parsed = parse(
        "Drop s0; Create Sentinel s0 Using https://x.example Monitor links; Disable s0", known={"s0": s0}.get
    )

    assert (3, ()) == (len(parsed.statements), parsed.problems)
    assert isinstance(s0, KnownSentinel)
