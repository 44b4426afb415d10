"""The pages for beginners are true: each recipe runs as it is written, on pages of this machine."""

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes import Page, WebServer
from tests.pdfs import pdf
from tidings.cli.main import main
from tidings.cli.verbs import VERBS
from tidings.settings import load

FOLDER = Path(__file__).parents[2] / "docs" / "begin"
RECIPES = (FOLDER / "recipes.md").read_text(encoding="utf-8")
OFFER = """<script type="application/ld+json">
{{"@type": "Product", "offers": {{"price": "{}", "availability": "{}"}}}}</script><p>Kettle"""
JOBS = "<h1>Jobs</h1><ul class=jobs>{}</ul><p>{} people were here"


@dataclass(frozen=True)
class Recipe:
    """Its pages before and after, what is printed of them, and the commands that are left out."""

    pages: dict[str, tuple[str | bytes, str | bytes]]
    added: str
    reported: str
    type: str = "text/html; charset=utf-8"
    left_out: str = "tidings serve"


RECIPE = {
    "1": Recipe(
        {"/kettle": (OFFER.format("129", "InStock"), OFFER.format("99", "InStock"))},
        "129",
        r"(?s)(?=.*129.*99)(?=.*^kettle-bargain: [^\n]*99)(?=.*^kettle-drop: [^\n]*99)",
    ),
    "2": Recipe(
        {"/lamp": (OFFER.format("129", "OutOfStock"), OFFER.format("129", "InStock") + " is in stock")},
        "OutOfStock",
        r"(?s)(?=.*OutOfStock.*InStock)(?=.*^lamp-words: )",
    ),
    "3": Recipe(
        {
            "/open": (
                JOBS.format("<li><a href=/a>welder</a>", 3),
                JOBS.format("<li><a href=/a>welder</a><li><a href=/b>baker</a>", 4),
            )
        },
        "links",
        'new link "baker"(?![^$]*people)',
    ),
    "4": Recipe(
        {"/news": ("<main><p>Rain on Monday.</p></main>", "<main><p>Rain on Monday.</p><p>Fair on Sunday.</p></main>")},
        "town-news",
        "(?m)^town-news: .*Fair on Sunday",
    ),
    "5": Recipe({"/load.json": ('{"load": 2}', '{"load": 7}')}, "2", '"2" → "7"', "application/json"),
    "6": Recipe(
        {"/fees.pdf": (pdf([["Fee: 30 euro"]]), pdf([["Fee: 35 euro"]]))}, "words", '"30" → "35"', "application/pdf"
    ),
    "7": Recipe(
        {"/members": ("<p>Balance 30 euro", "<p>Balance 25 euro")},
        "Balance",
        r'"25" \(was "30"\)',
        left_out="--login-form",
    ),
    "8": Recipe(
        {
            **{f"/{n}": (f"<p>Article {n} of the law", f"<p>Article {n} of the law") for n in (1, 3)},
            "/2": ("<p>Article 2 says ten days", "<p>Article 2 says twelve days"),
            "/": ("<a href=/one>one</a>", "<a href=/one>one</a><a href=/two>two</a>"),
        },
        "(?s)rules.*gazette|gazette.*rules",
        r'(?s)(?=.*rules: .*"twelve" \(was "ten"\))(?=.*gazette: .*two)',
    ),
    "9": Recipe(
        {"/": ("<p>All is well", "<p>Mail is down"), "/tidings": ("", "")}, "watching", "down", left_out="slack://"
    ),
    "10": Recipe({"/page": ("<p>one", "<p>two")}, "", '"record":"change"|"record": "change"'),
}


def sections() -> dict[str, str]:
    """Return the text of each recipe by its number."""
    parts = re.split(r"^## (\d+)\. .*$", RECIPES.partition("## If you")[0], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def commands(text: str) -> list[list[str]]:
    """Return the commands that a text shows, as words."""
    blocks = re.findall(r"^```console\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [shlex.split(line[2:]) for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def run_command(words: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Run a command; return its exit code and what it printed."""
    out = io.StringIO()
    monkeypatch.setattr("sys.stdin", io.StringIO("kettle\n"))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = main(words)
    return code, out.getvalue()


def serve(server: WebServer, recipe: Recipe, version: int) -> None:
    """Let the pages of a recipe be those before (0) or after (1)."""
    for path, bodies in recipe.pages.items():
        body = bodies[version]
        data = body if isinstance(body, bytes) else body.encode()
        server.pages[path] = Page(data, {"Content-Type": recipe.type})


@pytest.mark.parametrize("number", RECIPE)
def test_recipes_run(number, tmp_path, monkeypatch):
    """Each adds what it says and reports the change of its page; only the hosts are other ones."""
    recipe, text = RECIPE[number], sections()[number]
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "TIDINGS_DATA": str(tmp_path / "data"),
        "TIDINGS_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
        "TIDINGS_FETCH_HOST_GAP_SECONDS": "0",
        "TIDINGS_FETCH_PAGE_FLOOR_SECONDS": "0",
        "TIDINGS_DETECT_ISOLATION": "in_process",
    }.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "watched").mkdir()
    added = ""
    with WebServer() as server:

        def here(word: str) -> str:
            return re.sub(r"https://[a-z]+\.example", server.url("").rstrip("/"), word)

        (tmp_path / "watched" / "page.sentinel").write_text(
            f"Create Sentinel page Using {server.url('/page')} Monitor all words"
        )
        for block in re.findall(r"^```sentinel\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
            (tmp_path / "pages.sentinel").write_text(here(block))
        serve(server, recipe, 0)
        for words in commands(text):
            if recipe.left_out not in shlex.join(words):
                code, out = run_command([here(word) for word in words[1:]], monkeypatch)
                assert (0, words) == (code, words), out
                added += out
        serve(server, recipe, 1)
        check = next((words[1:] for words in commands(text) if words[1] == "check"), ["check", "--exit-code"])
        names = run_command(
            ["completion", "names", *check[1:3]] if "--data" in check else ["completion", "names"], monkeypatch
        )[1].split()
        code, reported = run_command([*check, *names], monkeypatch)

    assert (1, reported) == (code, reported)
    assert re.search(recipe.added, added), added
    assert re.search(recipe.reported, reported, re.MULTILINE), reported


def test_there_are_ten():
    """Each recipe of the page is one that runs here."""
    assert [str(number) for number in range(1, 11)] == list(sections()) == list(RECIPE)


@pytest.mark.parametrize("name", ["install.md", "keep-running.md", "recipes.md"])
def test_commands_are_verbs(name):
    """What a page calls is a verb, with arguments that it takes."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    called = [words[words.index("tidings") + 1 :] for words in commands(text) if "tidings" in words[:2]]

    assert {words[0] for words in called if words} - {"--version"} <= set(VERBS)


def test_settings_are_settings(tmp_path):
    """The names of settings in these pages exist."""
    settings = load(tmp_path, environment={})
    text = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md"))
    named = set(re.findall(r"`((?:budget|serve|fetch|store)\.[a-z_]+)`", text))

    assert named
    assert all(settings.value(name) is not None for name in named)
