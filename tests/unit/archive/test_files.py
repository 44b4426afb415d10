"""Names of files: ours, and nothing that leads elsewhere."""

import pytest

from tidings.archive.files import file_name, is_file_name

SHA256 = "ab12" + "0" * 60


def test_fan_out():
    """A file lies two folders deep, named by the digits of its blob."""
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
def test_foreign(name):
    """What the archive did not name is not taken for its own."""
    assert not is_file_name(name)
