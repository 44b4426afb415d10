"""Calendars: what is compared of them is what they say of their events."""

import pytest

from tidings.detection.job.contract import Body
from tidings.detection.job.examiner import compare_bodies
from tidings.model.watch.interest import Interest


def calendar(*events):
    return (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"
        + "".join(f"BEGIN:VEVENT\r\n{event}\r\nEND:VEVENT\r\n" for event in events)
        + "END:VCALENDAR\r\n"
    )


def compare(old, new):
    first, second = (
        Body(data=text.encode(), content_type="text/calendar; charset=utf-8", url="http://x.org/")
        for text in (old, new)
    )
    change, problem = compare_bodies(first, second, Interest("any"))
    assert not problem
    return " ".join((*change.inserted, *change.deleted, *(text for pair in change.updated for text in pair)))


A = "UID:a\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:Tea for all of us\r\nSEQUENCE:1"
B = "UID:b\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:Walk\r\nBEGIN:VALARM\r\nTRIGGER:-PT15M\r\nEND:VALARM"


@pytest.mark.parametrize(
    "new",
    [
        calendar(B, A),
        calendar(A.replace("20260101", "20260202"), B.replace("20260101", "20260203")),
        calendar(A.replace("SEQUENCE:1", "SEQUENCE:7"), B),
        calendar(A.replace("Tea for all", "Tea fo\r\n r all"), B),
        calendar(A + "\r\nLAST-MODIFIED:20260101T000000Z", B).replace("\r\n", "\n"),
    ],
)
def test_what_says_nothing_of_an_event_is_no_change(new):
    """The order of events, stamps, how often one was written, where long lines are folded, and line ends."""
    assert "" == compare(calendar(A, B), new)


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (calendar(A.replace("Tea", "Coffee"), B), "Coffee"),
        (calendar(A, B.replace("PT15M", "PT30M")), "PT30M"),
        (calendar(A, B, "UID:c\r\nSUMMARY:Swimming"), "Swimming"),
        (calendar(B), "Tea"),
        (calendar(A, B)[:-20], "END"),
    ],
)
def test_what_an_event_says_is_news(new, said):
    """Its summary, an alarm in it, one that came or went, and a calendar that breaks off."""
    assert said in compare(calendar(A, B), new)
