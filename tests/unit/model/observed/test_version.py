"""Versions have public ids that differ from all numbers."""

from tidings.model.observed.version import version_id


def test_version_id_has_page_and_number():
    """The id is PAGE.NUMBER."""
    assert "12.3" == version_id(12, 3)


def test_version_ids_are_unique():
    """Page 1, version 12 is not page 11, version 2."""
    pairs = [(page, seq) for page in range(1, 40) for seq in range(1, 40)]

    assert len(pairs) == len({version_id(*pair) for pair in pairs})
