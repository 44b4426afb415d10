"""Records have one form for instants and problems."""

from tidings.clock import SECOND
from tidings.service.show.records import problem_record, rfc3339, spell_gap


def test_instant_has_six_digits():
    """The format is RFC 3339 in UTC with microseconds, so that texts sort like instants."""
    assert [None, "1970-01-01T00:00:00.000000Z", "1970-01-01T00:00:01.500000Z"] == [
        rfc3339(at) for at in (None, 0, 3 * SECOND // 2)
    ]


def test_problem_record_has_its_place_and_details():
    """Details are beside the message."""
    assert {"record": "problem", "where": "s", "message": "no", "kind": "404"} == problem_record(
        "no", where="s", details={"kind": "404"}
    )


def test_gap_is_spelled_in_two_units():
    """A second unit of zero is left out, and less than a minute is a minute."""
    minutes = (0, 5, 60, 75, 24 * 60, 27 * 60 + 30)

    assert ["1 min", "5 min", "1 h", "1 h 15 min", "1 d", "1 d 3 h"] == [spell_gap(m * 60 * SECOND) for m in minutes]
