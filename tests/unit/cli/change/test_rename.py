"""`tidings rename NAME NEW-NAME` and `alter NAME Using URL` keep the history."""

from __future__ import annotations

import pytest

from tests.fakes import Page

HTML = {"Content-Type": "text/html"}


@pytest.fixture
def changed(tidings, server):
    """A sentinel `shop` with one change."""
    tidings("add", "--url", server.url("/news"), "--name", "shop")
    server.pages["/news"] = Page(b"<p>count 2</p>", HTML)
    tidings("check", "shop")
    return tidings


def test_renamed_sentinel_keeps_its_changes(changed):
    """The old name is free."""
    ran = changed("rename", "shop", "kettle-価格")

    assert "shop is now called kettle-価格; its versions and changes are kept\n" == ran.out
    assert ["kettle-価格"] == [record["sentinel"] for record in changed("changes", "--json").records]
    assert 1 == len(changed("changes", "kettle-価格", "--json").records)
    assert 2 == changed("show", "shop").code


def test_references_follow_the_new_name(changed, server, tmp_path):
    """Another sentinel that ends with `end(shop)` still does."""
    path = tmp_path / "s.sentinel"
    path.write_text(f"Create Sentinel other Using {server.url('/news')} Monitor any change To end(shop)")
    changed("add", str(path))
    changed("rename", "shop", "kettle")

    assert "To end(kettle)" in changed("show", "other").out
    assert "0 checked" not in changed("check", "other").out


@pytest.mark.parametrize("name", ["Monitor", "1st", "two words", "x;y", "taken"])
def test_invalid_or_used_name_is_refused(changed, server, name):
    """Nothing is renamed, and the error explains names."""
    changed("add", "--url", server.url("/news"), "--name", "taken")
    ran = changed("rename", "shop", name)

    assert 2 == ran.code
    assert "cannot be a name" in ran.err or "there is a sentinel taken already" in ran.err
    assert 0 == changed("show", "shop").code


def test_rename_of_a_sentinel_from_a_file_advises_to_edit_the_file(tidings, server, tmp_path):
    """Otherwise the next `apply` would create the old name again."""
    path = tmp_path / "s.sentinel"
    path.write_text(f"Create Sentinel s Using {server.url('/news')} Monitor any change")
    tidings("apply", str(path))

    assert "use the name t in its file too" in tidings("rename", "s", "t").out


def test_moved_page_gets_its_new_address_without_a_change(changed, server):
    """The first version at the new address is the baseline; the earlier changes stay."""
    server.pages["/new"] = Page(b"<p>quite another text</p>", HTML)
    changed("alter", "shop", "Using", server.url("/new"))
    at_first = changed("check", "shop").out
    server.pages["/new"] = Page(b"<p>quite another word</p>", HTML)
    ran = changed("check", "shop")

    assert "0 changed" in at_first
    assert "1 changed" in ran.out
    assert 2 == len(changed("changes", "shop", "--json").records)


def test_several_pages_move_under_their_names(tidings, server, tmp_path):
    """Each page needs one new address under its name; the error lists the present ones."""
    path = tmp_path / "s.sentinel"
    a, b = server.url("/news"), server.url("/b")
    path.write_text(f"Create Sentinel s Using {a} As A, {b} As B Monitor words of A OR links of B")
    tidings("add", str(path))
    wrong = tidings("alter", "s", "Using", a)
    right = tidings("alter", "s", "Using", f"{a} As A, {server.url('/c')} As B")

    assert (
        f'E36 "s" has other pages: give one new address for each page, in order (hint: it has {a} As A, {b} As B)'
        in wrong.err
    )
    assert 0 == right.code
    assert f"Using {a} As A, {server.url('/c')} As B" in tidings("show", "s").out
