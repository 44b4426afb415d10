from tidings.clock import SECOND
from tidings.web.pace import Pace

NOW = 1_700_000_000 * SECOND


def test_a_burst_passes_and_then_so_many_a_second():
    """The first ones at once, then one each half second."""
    pace = Pace(per_second=2, burst=3)

    assert [0, 0, 0, SECOND // 2] == [pace.wait("a", NOW) for _ in range(4)]
    assert SECOND // 4 == pace.wait("a", NOW + SECOND // 4)
    assert [0, SECOND // 2] == [pace.wait("a", NOW + SECOND // 2) for _ in range(2)]


def test_names_do_not_wait_for_each_other():
    """One that has gone wild takes no place of another."""
    pace = Pace(per_second=1, burst=1)

    assert [0, SECOND, 0] == [pace.wait(name, NOW) for name in "aab"]


def test_rest_gathers_no_more_than_a_burst():
    """After a day as after a minute; a clock that stands still or goes back gives nothing."""
    pace = Pace(per_second=1, burst=2)
    pace.wait("a", NOW)

    assert [0, 0] == [pace.wait("a", NOW + 86_400 * SECOND) for _ in range(2)]
    assert SECOND == pace.wait("a", NOW)


def test_it_remembers_a_bounded_number_of_names():
    """Whoever invents names fills no memory; the one that was here longest ago is forgotten."""
    pace = Pace(per_second=1, burst=1, most=2)
    for name in "abc":
        pace.wait(name, NOW)

    assert [0, SECOND] == [pace.wait(name, NOW) for name in "ac"]
