"""Sentinels for other installations and programs."""

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
    """Store a sentinel with a text that means it."""
    row = world.watch(name, key)
    text = f"Create Sentinel {name}\n  Using http://{key}.example/\n  Monitor all words\n  {clauses}".rstrip()
    world.write(
        lambda c: c.execute("UPDATE sentinel_revision SET text = :text WHERE sentinel_id = :id", text=text, id=row.id)
    )


def names(exported: Exported) -> list[str]:
    """Return what an export states when it is read again."""
    read = parser.parse(exported.write_text())
    assert () == tuple(read.problems)
    return [getattr(one, "name", "") for one in read.statements]


def test_what_is_exported_can_be_registered_again(world: World):
    """In its order; the disabled ones are switched off last."""
    watch(world, "first", "a")
    watch(world, "second", "b")
    world.commit(world.unit(sentinels=(SentinelMove(sentinel_id=1, state="disabled", at=world.at),)))
    exported = world.read(list_statements, None)

    assert ["first", "second", "first"] == names(exported)
    assert "Disable first" == exported.texts[-1]
    assert () == tuple(form.load(world.read(list_statements, None, ["second"]).write_yaml()).problems)


def test_some_are_chosen_by_name(world: World):
    """A name that is not there is an error."""
    watch(world, "first", "a")
    watch(world, "second", "b")

    assert ["second"] == names(world.read(list_statements, None, ["second"]))
    with pytest.raises(UnknownNameError, match="there is no sentinel third"):
        world.read(list_statements, None, ["third"])


def test_secrets_to_be_set_first_are_named():
    """As a comment: their values are never exported."""
    exported = Exported(["Create Sentinel a\n  Using http://a.example/\n  Monitor links"], ["shop"])

    assert exported.write_text().startswith("-- first: tidings secret set shop\n\nCreate Sentinel a")
    assert exported.write_yaml().startswith("# first: tidings secret set shop\n")


def test_feeds_are_feeds_in_opml_and_pages_are_links(world: World):
    """By what was last fetched; tags are categories."""
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
