"""File names of the archive, which never lead outside it."""

import pytest

from tidings.archive.files import file_name, is_file_name

SHA256 = "ab12" + "0" * 60


def test_file_name_has_two_folders_of_the_hash():
    """The folders are the first two pairs of digits of the blob's hash."""
    assert f"ab/12/{SHA256}.0f" == file_name(SHA256, "0f")
    assert is_file_name(file_name(SHA256, "0f"))


@pytest.mark.parametrize(
    "name",
    [
        "",
        SHA256,
        f"ab/12/{SHA256}",
        f"ab/13/{SHA256}.0",
        f"../12/{SHA256}.0",
        f"ab/12/../{SHA256}.0",
        f"/ab/12/{SHA256}.0",
        f"ab/12/{SHA256}.0/../../x",
        f"ab/12/{SHA256}.0\n",
        f"ab/12/{SHA256.upper()}.0",
        "tmp/12/x.0",
        "../../etc/passwd",
    ],
)
def test_foreign_name_is_no_file_name(name):
    """A path from a damaged row must not lead outside the archive."""
    assert not is_file_name(name)
