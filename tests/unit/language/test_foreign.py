"""Files of other tools are recognized; texts of Tidings never are."""

from __future__ import annotations

import pytest

from tidings.language.forms import parse_file
from tidings.language.parser import parse

FILES = [
    ("list.txt", "https://a.example/\n# later\nhttps://b.example/x work, home\n", "a list of addresses", "tidings add --url https://a.example/"),
    ("urls.yaml", "name: A\nurl: https://www.a.example/\nfilter:\n - css: .x\n---\nurl: https://b.example/\n", "urlwatch", "Create Sentinel a Using https://www.a.example/ Monitor any change"),
    ("urls.yaml", "command: ls\n---\nnavigate: https://b.example/\n", "urlwatch", "Using https://b.example/"),
    ("urls.txt", "url: https://a.example/\nmax_tries: 3\n", "urlwatch", "Using https://a.example/"),
    ("jobs.yaml", "url: https://a.example/\nuse_browser: true\nadditions_only: true\n", "webchanges", "Using https://a.example/"),
    ("url-watches.json", '{"watching": {"u": {"url": "https://a.example/"}}}', "changedetection.io", "Using https://a.example/"),
    ("watches.json", '[{"url": "https://a.example/", "last_checked": 3}]', "changedetection.io", "Using https://a.example/"),
    ("monitors.json", '{"data": [{"uri": "https://a.example/"}]}', "Distill", "Using https://a.example/"),
    ("feeds.opml", '<?xml version="1.0"?><opml><body><outline xmlUrl="https://a.example/rss?a=1&amp;b"/></body></opml>', "OPML", "Using https://a.example/rss?a=1&b Monitor items"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "what", "line"), FILES, ids=[f"{number} {row[2]}" for number, row in enumerate(FILES)]
)
def test_file_of_another_tool_is_named(name: str, text: str, what: str, line: str):
    """One problem names it and has the line for its first page, which can be read."""
    (problem,) = parse_file(name, text).problems
    output = problem.hint.partition("the first is: ")[2]

    assert "E50" == problem.code
    assert what in problem.message
    assert line in problem.hint
    assert not output or () == parse(output).problems


OURS = [
    ("a.txt", "Create Sentinel s Using https://a.example/"),
    ("a.txt", "https://a.example/ Monitor price"),
    ("a.yaml", "- name: s\n  url: https://a.example/\n  css: .price\n"),
    ("a.yaml", "- url: https://a.example/\n  monitor: price\n"),
    ("a.yaml", "[1, 2"),
    ("a.txt", "{"),
    ("a.txt", ""),
]


@pytest.mark.parametrize(("name", "text"), OURS)
def test_fault_in_a_text_of_tidings_is_reported_as_such(name: str, text: str):
    """A missing word does not point to another tool."""
    assert "E50" not in [problem.code for problem in parse_file(name, text).problems]
