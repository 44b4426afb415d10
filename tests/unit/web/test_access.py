import pytest

from tidings.web.access import LOCAL, Asker
from tidings.web.screens.people import own_path


@pytest.mark.parametrize(
    ("role", "readers", "editors", "admins"),
    [("reader", True, False, False), ("editor", True, True, False), ("admin", True, True, True)],
)
def test_a_role_is_enough_for_what_needs_less(role, readers, editors, admins):
    """And what needs no role is for everybody."""
    asker = Asker(role)

    assert [readers, editors, admins, True] == [asker.may(who) for who in ("readers", "editors", "admins", "anybody")]


def test_who_sees_all_is_narrowed_by_nothing():
    """Others see by their owner, and alter their own and the installation's."""
    anna = Asker("editor", 7, "anna", sees_all=False)

    assert (None, 7) == (LOCAL.viewer, anna.viewer)
    assert [True, True, False] == [anna.may_alter(owner) for owner in (1, 7, 8)]


@pytest.mark.parametrize(
    ("text", "path"),
    [("/a?b=c", "/a?b=c"), ("//evil", "/"), ("/\\evil", "/"), ("https:x", "/"), ("", "/"), ("/a\tb", "/")],
)
def test_one_is_led_back_to_a_path_of_this_service(text, path):
    """H-089."""
    assert path == own_path(text)
