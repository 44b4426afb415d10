from tidings.clock import SECOND
from tidings.web.rate_limits import Pace

NOW = 1_700_000_000 * SECOND


def test_burst_passes_and_later_requests_wait():
    """After the burst, one request passes each half second."""
    pace = Pace(per_second=2, burst=3)

    assert [0, 0, 0, SECOND // 2] == [pace.wait("a", NOW) for _ in range(4)]
    assert SECOND // 4 == pace.wait("a", NOW + SECOND // 4)
    assert [0, SECOND // 2] == [pace.wait("a", NOW + SECOND // 2) for _ in range(2)]


def test_names_have_separate_limits():
    """A sender with too many requests does not slow another one."""
    pace = Pace(per_second=1, burst=1)

    assert [0, SECOND, 0] == [pace.wait(name, NOW) for name in "aab"]


def test_rest_refills_at_most_one_burst():
    """A day gives no more than a minute. A clock that stops or goes back gives nothing."""
    pace = Pace(per_second=1, burst=2)
    pace.wait("a", NOW)

    assert [0, 0] == [pace.wait("a", NOW + 86_400 * SECOND) for _ in range(2)]
    assert SECOND == pace.wait("a", NOW)


def test_names_in_memory_are_limited():
    """Invented names do not fill the memory; the least recently used is forgotten."""
    pace = Pace(per_second=1, burst=1, most=2)
    for name in "abc":
        pace.wait(name, NOW)

    assert [0, SECOND] == [pace.wait(name, NOW) for name in "ac"]
