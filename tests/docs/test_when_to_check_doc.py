"""What the page on who chooses when to check says is so, and its examples run."""

import re
import tomllib
from pathlib import Path

from tests.fakes import Page, WebServer
from tidings.cli.main import main
from tidings.scheduling.policies import POLICIES, TO_COMPARE
from tidings.settings import ScheduleSettings, load

DOCS = Path(__file__).parents[2] / "docs"
HOWTO = (DOCS / "howto" / "when-to-check.md").read_text(encoding="utf-8")
TEXT = HOWTO + (DOCS / "why" / "planning.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def block(language: str) -> str:
    (found,) = (text for name, text in BLOCKS if name == language)
    return str(found)


def test_all_policies_are_named_and_no_others():
    """The tables have a word on each policy of the service, and on each to compare with."""
    chosen, compared = (
        re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", part, flags=re.MULTILINE) for part in TEXT.split("| `lab.policies` |")
    )

    assert set(POLICIES) == set(re.findall(r"`(\w+)`", " ".join(chosen)))
    assert set(TO_COMPARE) == set(re.findall(r"`(\w+)`", " ".join(compared)))


def test_the_default_is_the_one_that_is_said_to_be(tmp_path):
    """And the example's settings are settings."""
    default = re.findall(r"^\| `(\w+)` \|[^|]*This is the default\. \|", TEXT, flags=re.MULTILINE)[0]
    (tmp_path / "tidings.toml").write_text(block("toml"), encoding="utf-8")
    settings = load(tmp_path, environment={})
    given = tomllib.loads(block("toml"))

    assert ScheduleSettings().policy == default
    assert given == {part: {name: settings.value(f"{part}.{name}") for name in names} for part, names in given.items()}


def test_the_plan_is_what_it_shows(tmp_path, monkeypatch, capsys):
    """The sentinels, added and polled once, have the next checks of the page, in its order and with its reasons."""
    (tmp_path / "tidings.toml").write_text(block("toml"), encoding="utf-8")
    for name, value in {
        "TIDINGS_DATA": str(tmp_path),
        "TIDINGS_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
        "TIDINGS_FETCH_HOST_GAP_SECONDS": "0",
        "TIDINGS_FETCH_ROBOTS": "false",
        "TIDINGS_DETECT_ISOLATION": "in_process",
    }.items():
        monkeypatch.setenv(name, value)
    paths = ("/", "/terms", "/prices", "/feed", "/downloads")
    with WebServer(pages={path: Page(b"<p>as it was</p>", {"Content-Type": "text/html"}) for path in paths}) as server:
        here = re.sub(r"https://\w+\.example/", server.url("/"), block("sentinel"))
        (tmp_path / "all.txt").write_text(here, encoding="utf-8")
        assert 0 == main(["add", str(tmp_path / "all.txt"), "--no-check"])
        assert 0 == main(["check"])
        capsys.readouterr()
        assert 0 == main(["plan"])
        shown = re.sub(r"https://\w+\.example/", server.url("/"), block("console"))
    text = [re.sub(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "…", line) for line in capsys.readouterr().out.splitlines()]

    assert shown.splitlines()[1:] == text
