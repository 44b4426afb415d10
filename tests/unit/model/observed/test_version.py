"""Versions have public ids that are never taken for numbers of another kind."""

from tidings.model.observed.version import version_id


def test_the_id_of_a_version_names_page_and_number():
    """The id is PAGE.NUMBER."""
    assert "12.3" == version_id(12, 3)


def test_no_two_versions_share_an_id():
    """Page 1, version 12 is not page 11, version 2."""
    pairs = [(page, seq) for page in range(1, 40) for seq in range(1, 40)]

    assert len(pairs) == len({version_id(*pair) for pair in pairs})
