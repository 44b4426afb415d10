"""Export of sentinels for other installations and programs."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from tests.stores import World
from tidings.errors import UnknownNameError
from tidings.language import parser
from tidings.language.yaml import form
from tidings.model.observed.unit import SentinelMove
from tidings.service.export.statements import Exported, list_opml, list_statements


def watch(world: World, name: str, key: str, clauses: str = "") -> None:
    """Store a sentinel with its text."""
    row = world.watch(name, key)
    text = f"Create Sentinel {name}\n  Using http://{key}.example/\n  Monitor all words\n  {clauses}".rstrip()
    world.write(
        lambda c: c.execute("UPDATE sentinel_revision SET text = :text WHERE sentinel_id = :id", text=text, id=row.id)
    )


def names(exported: Exported) -> list[str]:
    """Return the names in the statements of an export."""
    read = parser.parse(exported.write_text())
    assert () == tuple(read.problems)
    return [getattr(one, "name", "") for one in read.statements]


def test_exported_statements_can_be_registered_again(world: World):
    """The order is kept, and sentinels are disabled at the end."""
    watch(world, "first", "a")
    watch(world, "second", "b")
    world.commit(world.unit(sentinels=(SentinelMove(sentinel_id=1, state="disabled", at=world.at),)))
    exported = world.read(list_statements, None)

    assert ["first", "second", "first"] == names(exported)
    assert "Disable first" == exported.texts[-1]
    assert () == tuple(form.load(world.read(list_statements, None, ["second"]).write_yaml()).problems)


def test_names_select_sentinels(world: World):
    """An unknown name is an error."""
    watch(world, "first", "a")
    watch(world, "second", "b")

    assert ["second"] == names(world.read(list_statements, None, ["second"]))
    with pytest.raises(UnknownNameError, match="there is no sentinel third"):
        world.read(list_statements, None, ["third"])


def test_comment_names_the_secrets_to_set_first():
    """The values of secrets are never exported."""
    exported = Exported(["Create Sentinel a\n  Using http://a.example/\n  Monitor links"], ["shop"])

    assert exported.write_text().startswith("-- first: tidings secret set shop\n\nCreate Sentinel a")
    assert exported.write_yaml().startswith("# first: tidings secret set shop\n")


def test_feeds_and_pages_differ_in_opml(world: World):
    """The type of the last answer decides. Tags are categories."""
    watch(world, "feed", "a", "Tags x, y")
    watch(world, "page", "b")
    unit = world.make_stored(b"<rss/>")
    assert unit.version is not None
    world.commit(replace(unit, version=replace(unit.version, content_type="application/rss+xml; charset=utf-8")))
    root = ET.fromstring(world.read(list_opml, None, [], at=0))
    first, second = root.iter("outline")

    assert {"text": "feed", "type": "rss", "xmlUrl": "http://a.example/", "category": "x,y"} == first.attrib
    assert {"text": "page", "type": "link", "url": "http://b.example/"} == second.attrib
    assert "Thu, 01 Jan 1970 00:00:00 GMT" == root.findtext("head/dateCreated")


def test_end_of_a_pause_is_exported(world: World):
    """It is read again with its zone."""
    watch(world, "first", "a")
    step = SentinelMove(sentinel_id=1, state="disabled", at=world.at, resume_at=1_800_000_000_000_000)
    world.commit(world.unit(sentinels=(step,)))

    assert "Disable first until 2027-01-15T08:00:00+00:00" == world.read(list_statements, None).texts[-1]
