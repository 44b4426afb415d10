from tidings.clock import DAY, HOUR, SECOND
from tidings.web.rate_limits import Pace, Tries

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


def test_one_address_locks_nobody_out():
    """Somebody who tries all day from one address leaves the owner at another all tries."""
    tries = Tries()
    for second in range(0, DAY // SECOND, 10):
        tries.wait("ada", "192.0.2.1", NOW + second * SECOND)

    assert [0] * 5 == [tries.wait("ada", "192.0.2.2", NOW + DAY) for _ in range(5)]


def test_many_addresses_have_one_limit_for_a_name():
    """Some hundred wrong passwords an hour."""
    tries = Tries()
    passed = [
        tries.wait("ada", f"192.0.2.{number}", NOW + HOUR * step // 10) for step in range(10) for number in range(200)
    ]

    assert 100 <= passed.count(0) <= 200


def test_right_passwords_are_not_counted():
    """A program that signs in each time is not slowed."""
    tries = Tries()

    def sign_in():
        wait = tries.wait("ada", "192.0.2.1", NOW)
        tries.succeed("ada", "192.0.2.1")
        return wait

    assert [0] * 500 == [sign_in() for _ in range(500)]
