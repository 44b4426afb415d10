import pytest

from tidings.clock import DAY, HOUR, SECOND
from tidings.storage.people import accounts
from tidings.web.rate_limits import PER_NAME, Pace, Tries

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


FORMS = ("ada", "ADA", "ａｄａ", "𝐚𝐝𝐚", "ⓐⓓⓐ", "aᵈa", "Ada", "ＡDA", "𝕒da", "ad𝖆", "ᴬda", "𝚊𝚍𝚊", "ada")


def test_all_forms_of_a_name_are_one_name():
    """Each of these signs in to the account ada: together they have the tries of one name."""
    tries = Tries()

    assert PER_NAME == [tries.wait(name, "192.0.2.1", NOW) for name in FORMS].count(0)
    assert {"ada"} == {accounts.fold(name) for name in FORMS}


def test_what_the_form_ignores_of_a_name_makes_no_other_name():
    """A name is read up to the longest that there is."""
    tries = Tries()
    names = [f"{'a' * 64}{number}" for number in range(20)]

    assert PER_NAME == [tries.wait(name, "192.0.2.1", NOW) for name in names].count(0)


@pytest.mark.parametrize(
    ("addresses", "passed"),
    [
        ([f"2001:db8::{number:x}" for number in range(200)], PER_NAME),
        ([f"::ffff:192.0.2.{number}" for number in range(6)], 6),
        (["::ffff:192.0.2.1", "192.0.2.1"] * 10, PER_NAME),
        ([f"fe80::1%eth{number}" for number in range(20)], PER_NAME),
        ([f"2001:db8:0:{number:x}::1" for number in range(20)], 20),
    ],
)
def test_addresses_of_one_machine_are_one_place(addresses, passed):
    """A network of 64 bits is one place; an IPv4 address is one place in each of its forms."""
    tries = Tries()

    assert passed == [tries.wait("ada", address, NOW) for address in addresses].count(0)


def test_one_network_locks_nobody_out():
    """Somebody who tries all day from all addresses of a network leaves the owner all tries."""
    tries = Tries()
    for second in range(0, DAY // SECOND, 10):
        tries.wait("ａda", f"2001:db8::{second:x}", NOW + second * SECOND)

    assert [0] * 5 == [tries.wait("ada", "2001:db8:1::1", NOW + DAY) for _ in range(5)]


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
