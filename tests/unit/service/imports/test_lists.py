"""Lists of addresses become drafts, one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidings.clock import DAY, HOUR, MINUTE, SECOND, WEEK
from tidings.service.imports.draft import Draft
from tidings.service.imports.lists import (
    is_bookmarks,
    is_csv,
    is_list,
    is_opml,
    read_bookmarks,
    read_csv,
    read_list,
    read_opml,
)
from tidings.service.imports.reading import Files


def files(folder: Path, name: str, text: str) -> Files:
    """Write a file with this text and return it."""
    (folder / name).write_text(text)
    return Files(folder / name)


def opml(folder: Path, body: str) -> list[Draft]:
    """Return the drafts of outlines."""
    return list(read_opml(files(folder, "a.opml", f"<opml version='2.0'><body>{body}</body></opml>")))


def csv(folder: Path, text: str) -> list[Draft]:
    """Return the drafts of a table."""
    return list(read_csv(files(folder, "a.csv", text)))


def test_each_format_is_recognized_by_its_content(tmp_path: Path):
    """The name of a file is not enough."""
    list_, table = files(tmp_path, "l.txt", "# mine\n\nhttp://a.example/\n"), files(tmp_path, "t.csv", "URL,x\n")
    outline = files(tmp_path, "o.xml", "<?xml version='1.0'?><opml version='2.0'/>")
    marks = files(tmp_path, "b.html", "<!DOCTYPE NETSCAPE-Bookmark-file-1>")

    for file, recognised in ((list_, is_list), (table, is_csv), (outline, is_opml), (marks, is_bookmarks)):
        assert [recognised] == [one for one in (is_list, is_csv, is_opml, is_bookmarks) if one(file)]
    assert not is_csv(files(tmp_path, "other.csv", "name,x\n"))
    assert not is_list(files(tmp_path, "other.txt", "hello\nhttp://a.example/\n"))


def test_folders_of_outlines_are_tags(tmp_path: Path):
    """Categories are too. An outline without an address is only a folder."""
    inner = "<outline text='One' xmlUrl='http://a.example/feed' category='x,y/z' htmlUrl='http://a.example/'/>"
    (draft,) = opml(tmp_path, f"<outline text='News'><outline title='Far off'>{inner}</outline></outline>")

    assert ("One", "http://a.example/feed") == (draft.title, draft.url)
    assert ["News", "Far-off", "x", "y", "z"] == draft.tags
    assert ["http://a.example/"] == draft.comments
    assert ["items inserted"] == [part.text for part in draft.parts]


def test_user_in_an_address_becomes_a_secret(tmp_path: Path):
    """The text does not have the password."""
    (draft,) = opml(tmp_path, "<outline text='' xmlUrl='https://ann:c4nary@a.example/feed'/>")

    assert "https://a.example/feed" == draft.url
    assert ["Basic YW5uOmM0bmFyeQ=="] == list(draft.secrets.values())
    assert "c4nary" not in str(draft.clauses)


@pytest.mark.parametrize(
    ("text", "every"),
    [
        ("15", 15 * MINUTE),
        ("10 minutes", 10 * MINUTE),
        ("90 sec", 90 * SECOND),
        ("1.5h", 90 * MINUTE),
        ("2 hours", 2 * HOUR),
        ("1 day", DAY),
        ("2 weeks", 2 * WEEK),
        ("often", None),
        ("inf", None),
        ("", None),
    ],
)
def test_interval_is_read_in_many_spellings(tmp_path: Path, text: str, every: int | None):
    """A number alone is minutes. An unreadable interval is noted."""
    (draft,) = csv(tmp_path, f"url,interval\nhttp://a.example/,{text}\n")

    assert every == draft.every
    assert bool(text and every is None) is any(note.field == "interval" for note in draft.notes)


def test_separator_and_column_names_of_a_table_are_recognized(tmp_path: Path):
    """Rows without an address are skipped."""
    text = "Title;Link;Tags;CSS Selector;Dynamic\nShop;http://a.example/;a,b;.price;yes\nNone;;;;\n"
    (draft,) = csv(tmp_path, text)

    assert ("Shop", "http://a.example/", ["a", "b"], "browser") == (draft.title, draft.url, draft.tags, draft.renders)
    assert [".price"] == [one.text for one in draft.selects["css"]]


def test_bookmarks_have_the_tags_of_their_folders(tmp_path: Path):
    """Only web addresses are imported."""
    text = (
        "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><H3>Shops</H3><DL><A HREF='x'>no</A>"
        '<A HREF="http://a.example/?a=1&amp;b=2">A &amp; <b>B</b></A></DL><A HREF="javascript:x()">j</A>'
        '<A HREF="https://b.example/">B</A></DL>'
    )
    first, second = read_bookmarks(files(tmp_path, "b.html", text))

    assert ("A & B", "http://a.example/?a=1&b=2", ["Shops"]) == (first.title, first.url, first.tags)
    assert ("B", []) == (second.title, second.tags)


def test_invalid_line_is_named_by_its_number(tmp_path: Path):
    """The other lines are imported."""
    text = "# mine\nhttp://a.example/ shops, two words\nhello\nhttp://" + "a" * 9_000 + "\nhttp://b.example/ [1, 2]\n"
    drafts = list(read_list(files(tmp_path, "l.txt", text)))

    assert [[], ["shops", "two-words"]] == [[], drafts[0].tags]
    assert ["", "line 3 is not an address", "line 4 is longer than an address is", ""] == [one.fault for one in drafts]
    assert ["tags"] == [note.field for note in drafts[3].notes]


@pytest.mark.parametrize("url", ["http://[::1/x", "https://u:p@[::2/y"])
def test_unreadable_address_does_not_hide_others(tmp_path: Path, url: str):
    """Only the address itself is refused, when it is judged."""
    drafts = list(read_list(files(tmp_path, "l.txt", f"{url}\nhttp://b.example/\n")))

    assert [url, "http://b.example/"] == [draft.url for draft in drafts]
    assert 1 == len(csv(tmp_path, f"url\n{url}\n"))
    assert 1 == len(opml(tmp_path, f"<outline text='x' xmlUrl='{url}'/>"))
