import pytest

from tidings.web.access import LOCAL, Asker
from tidings.web.screens.people import own_path


@pytest.mark.parametrize(
    ("role", "readers", "editors", "admins"),
    [("reader", True, False, False), ("editor", True, True, False), ("admin", True, True, True)],
)
def test_role_includes_the_rights_of_lower_roles(role, readers, editors, admins):
    """Some requests need no role."""
    asker = Asker(role)

    assert [readers, editors, admins, True] == [asker.may(who) for who in ("readers", "editors", "admins", "anybody")]


def test_admin_sees_all_owners():
    """Other users see their own sentinels, and alter their own and the installation's."""
    anna = Asker("editor", 7, "anna", sees_all=False)

    assert (None, 7) == (LOCAL.viewer, anna.viewer)
    assert [True, True, False] == [anna.may_alter(owner) for owner in (1, 7, 8)]


@pytest.mark.parametrize(
    ("text", "path"),
    [("/a?b=c", "/a?b=c"), ("//evil", "/"), ("/\\evil", "/"), ("https:x", "/"), ("", "/"), ("/a\tb", "/")],
)
def test_return_path_stays_on_this_service(text, path):
    """H-089: any other target becomes `/`."""
    assert path == own_path(text)
