"""The fixes that troubles advise are commands that are accepted."""

import shlex

import pytest

from tidings.cli.main import main
from tidings.service.health.page_troubles import KIND_MENDS


@pytest.mark.parametrize("kind", KIND_MENDS)
def test_fix_of_a_failure_can_be_pasted(kind, tmp_path, capsys):
    """The shell takes it as it is printed, with what follows `#` as a remark."""
    data = str(tmp_path / "data")
    text = (
        "Create Collection c Using https://a.example/ Monitor any change"
        if kind == "scope"
        else "Create Sentinel c Using https://a.example/ Monitor any change"
    )
    assert 0 == main(["add", text, "--no-check", "--data", data])
    words = shlex.split(KIND_MENDS[kind].format(name="c"), comments=True)

    assert "tidings" == words[0]
    assert 0 == main([*words[1:], "--data", data]), capsys.readouterr().err
