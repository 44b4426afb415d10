"""Records have one form for instants and problems, whatever writes them."""

from tidings.clock import SECOND
from tidings.service.show.records import problem_record, rfc3339, spell_gap


def test_an_instant_has_always_six_digits():
    """Instants are RFC 3339 in UTC, with µs, so that their texts sort as they do."""
    assert [None, "1970-01-01T00:00:00.000000Z", "1970-01-01T00:00:01.500000Z"] == [
        rfc3339(at) for at in (None, 0, 3 * SECOND // 2)
    ]


def test_a_problem_has_its_place_and_its_details():
    """Details stand beside the message."""
    assert {"record": "problem", "where": "s", "message": "no", "kind": "404"} == problem_record(
        "no", where="s", details={"kind": "404"}
    )


def test_a_gap_is_said_in_two_units():
    """The second unit is left out where it is nothing; less than a minute is a minute."""
    minutes = (0, 5, 60, 75, 24 * 60, 27 * 60 + 30)

    assert ["1 min", "5 min", "1 h", "1 h 15 min", "1 d", "1 d 3 h"] == [spell_gap(m * 60 * SECOND) for m in minutes]
