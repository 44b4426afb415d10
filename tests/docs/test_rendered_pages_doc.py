"""The page on rendered pages says what is so, and its examples run."""

import re
import shlex
import tomllib
from pathlib import Path

from tests.browsers import Rendering, need_chromium
from tests.fakes import Page, WebServer
from tidings.cli.main import main
from tidings.fetching.browser import chromium, parts, visit
from tidings.language.parser import parse
from tidings.model.observed.outcome import Fetched
from tidings.model.watch.sentinel import Sentinel
from tidings.service.on_demand.seen_now import SCRIPTS_ONLY
from tidings.settings import FetchSettings, load

TEXT = (Path(__file__).parents[2] / "docs" / "howto" / "rendered-pages.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def shop() -> WebServer:
    page, _ = blocks("html")
    return WebServer(
        pages={
            "/kettles": Page(page.encode(), {"Content-Type": "text/html"}),
            "/kettles.json": Page(b'[{"name": "Whistler", "price": 20}]', {"Content-Type": "application/json"}),
        }
    )


def test_the_sentinel_is_one():
    """It is read without a problem or a warning, and asks for a browser and pictures."""
    text, stepping = blocks("sentinel")
    parsed = parse(text)
    (sentinel,) = parsed.statements

    assert isinstance(sentinel, Sentinel)
    assert ((), ()) == (parsed.problems, parsed.warnings)
    assert ("browser", True) == (sentinel.asking.render, sentinel.asking.screenshot)
    assert [] == [*parse(stepping).problems, *parse(stepping).warnings]


def test_each_step_of_the_table_is_one():
    """What stands there in code is read."""
    rows = re.findall(r"^\| (`(?:click|fill|select|press|wait|scroll)[^|]*) \|", TEXT, flags=re.MULTILINE)
    steps = [step for row in rows for step in re.findall(r"`([^`]+)`", row)]
    head = "Create Sentinel a Using https://a.example/ Monitor all words Render browser"

    assert 10 == len(steps)
    assert () == parse(f"{head} steps ({', '.join(steps)})").problems


def test_the_settings_are_settings(tmp_path):
    """A file with these lines is read, and the defaults are those that the text names."""
    (text,) = blocks("toml")
    (tmp_path / "tidings.toml").write_text(text, encoding="utf-8")
    settings = load(tmp_path, environment={})
    (given,) = tomllib.loads(text).values()

    assert given == {name: settings.value(f"fetch.{name}") for name in given}
    assert (1, 10.0) == (FetchSettings().browser_pages, FetchSettings().browser_cost)


def test_the_words_and_numbers_are_those_of_the_code():
    """Warning, programs, times and bounds."""
    (warning,) = blocks("text")

    assert " ".join(warning.split()).removeprefix("warning ") == SCRIPTS_ONLY.partition(" (docs")[0]
    assert all(f"`{name}`" in TEXT for name in chromium.NAMES[:3])
    assert (0.5, 10.0, 3.0) == (visit.QUIET_SECONDS, visit.RESTLESS_SECONDS, visit.RESTLESS_STILL_SECONDS)
    assert (1_280, 8_000, 2_000_000) == (visit.VIEW_WIDTH, visit.MOST_PICTURE_HEIGHT, visit.MOST_PICTURE_BYTES)
    assert 5 == parts.BYTES_A_PAGE


def test_the_page_is_watched_as_it_says():
    """The example's page, rendered, is the example's HTML."""
    need_chromium()
    _, shown = blocks("html")
    rendering = Rendering()
    try:
        with shop() as server:
            outcome = rendering.render(server.url("/kettles"))
    finally:
        rendering.close()

    assert isinstance(outcome, Fetched)
    assert shown.strip() == re.sub(r">\s+<", "><", outcome.body.decode()).strip()


def test_the_commands_run(tmp_path, monkeypatch, capsys):
    """Added, polled, listed with its picture, and the picture written."""
    need_chromium()
    text, _ = blocks("sentinel")
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "TIDINGS_DATA": str(tmp_path / "data"),
        "TIDINGS_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
        "TIDINGS_FETCH_HOST_GAP_SECONDS": "0",
        "TIDINGS_DETECT_ISOLATION": "in_process",
    }.items():
        monkeypatch.setenv(name, value)
    with shop() as server:
        (tmp_path / "shop.txt").write_text(text.replace("https://shop.example", server.url("").rstrip("/")))
        assert 0 == main(["add", "shop.txt", "--no-check"])
        assert 0 == main(["check", "shop"])
    capsys.readouterr()
    commands = [shlex.split(line[2:]) for block in blocks("console") for line in block.splitlines() if line[:2] == "$ "]
    for command in commands:
        if command[:2] == ["tidings", "history"]:
            assert 0 == main(command[1:])
    output = capsys.readouterr().out

    assert "PICTURE" in output
    assert b"WEBP" == (tmp_path / "shop.webp").read_bytes()[8:12]
