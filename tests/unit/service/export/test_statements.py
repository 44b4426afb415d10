"""Export of sentinels for other installations and programs."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from tests.stores import World
from tidings.clock import HOUR
from tidings.errors import UnknownNameError
from tidings.language import parser
from tidings.language.yaml import form
from tidings.model.observed.unit import SentinelMove
from tidings.model.watch.sentinel import Sentinel
from tidings.service.export.statements import Exported, list_opml, list_statements
from tidings.storage.watches import sentinels


def watch(world: World, name: str, key: str, clauses: str = "") -> None:
    """Store a sentinel with its text."""
    row = world.watch(name, key)
    text = f"Create Sentinel {name}\n  Using http://{key}.example/\n  Monitor all words\n  {clauses}".rstrip()
    world.write(
        lambda c: c.execute("UPDATE sentinel_revision SET text = :text WHERE sentinel_id = :id", text=text, id=row.id)
    )


def names(exported: Exported) -> list[str]:
    """Return the names in the statements of an export, as an installation without any reads it."""
    read = parser.parse(exported.write_text(), known=lambda name: None, events={}, zone="Asia/Tokyo")
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


def _points(exported: Exported, name: str) -> tuple[str, str]:
    """Return the start and the end of a sentinel of an export, in words."""
    (text,) = (text for text in exported.texts if text.startswith(f"Create Sentinel {name} "))
    found = {line.split()[0]: line.strip() for line in text.replace(" Using", "\nUsing").splitlines()}
    return found.get("From", ""), found.get("To", "")


def test_sentinel_follows_those_it_depends_on(world: World):
    """They may be younger, and depend on others themselves; all else keeps its order."""
    for name, clauses in (("a", "To end(b)"), ("x", ""), ("b", "From end(c)"), ("c", "")):
        watch(world, name, name, clauses)

    assert ["c", "b", "a", "x"] == names(world.read(list_statements, None))


@pytest.mark.parametrize("how", ["dropped", "ended", "not named"])
@pytest.mark.parametrize("clauses", ["From end(a)", "From end(a) + 1 day", "From start(a)", "To end(a) + 9 day"])
def test_date_stands_for_a_sentinel_that_is_not_exported(world: World, how: str, clauses: str):
    """It was dropped, has ended, or was not asked for."""
    watch(world, "a", "a")
    watch(world, "b", "b", clauses)
    at = world.at + HOUR
    world.commit(world.unit(sentinels=(SentinelMove(sentinel_id=1, state="enabled", at=at),)))
    if how == "dropped":
        world.write(sentinels.drop, 1, at)
    else:
        world.commit(world.unit(sentinels=(SentinelMove(sentinel_id=1, state="ended", at=at, reason="x"),)))
    exported = world.read(list_statements, None, ["b"] if how == "not named" else [])

    assert ["b"] == names(exported)
    assert ([], True) == (exported.left, "(a)" not in exported.texts[0])
    assert 1 == sum(":" in point for point in _points(exported, "b"))


def test_what_cannot_be_carried_over_is_named(world: World):
    """An end that nobody knows yet, and an event that is not in the export."""
    watch(world, "a", "a")
    watch(world, "b", "b", "To end(a)")
    watch(world, "c", "c", "From event(deploy)")
    watch(world, "d", "d", "To end(c)")
    exported = world.read(list_statements, None, ["b", "c", "d"])

    assert ["b"] == names(exported)
    assert ("", "") == _points(exported, "b")
    (end, event, dependent) = exported.left
    assert "b: its end, because it depends on a, which is not in this export" == end
    assert ("c: E", "d: E20") == (event[:4], dependent[:6])
    assert exported.write_text().startswith(f"-- not carried over: {end}\n")
    assert () == tuple(form.load(exported.write_yaml(), known=lambda name: None, events={}).problems)


@pytest.mark.parametrize("clause", ["Fetch at 06:00", "During 9:00 to 17:00", "Notify By console at 08:00", ""])
def test_zone_is_always_exported(world: World, clause: str):
    """The other installation may be in another one; a sentinel with a zone keeps it."""
    watch(world, "a", "a", clause)
    watch(world, "b", "b", f"{clause} Zone Asia/Tokyo")
    texts = world.read(list_statements, None, zone="Europe/Berlin").texts

    assert ["Zone Europe/Berlin", "Zone Asia/Tokyo"] == [
        line.strip() for text in texts for line in text.splitlines() if "Zone" in line
    ]


def test_defaults_of_tags_change_no_sentinel_before_them(world: World):
    """They were set later than the sentinel was made."""
    watch(world, "a", "a", "Tags t")
    world.write(sentinels.put_tag_default, "t", "Defaults For Tags t Notify By console Zone Asia/Tokyo")
    text = world.read(list_statements, None).write_text()
    (read, _) = parser.parse(text, known=lambda name: None, events={}).statements

    assert isinstance(read, Sentinel)
    assert (["dashboard"], "UTC") == ([c.kind for clause in read.notify for c in clause.channels], read.zone)


def test_unreadable_sentinel_is_named(world: World):
    """The others are exported."""
    watch(world, "a", "a")
    watch(world, "b", "b")
    world.write(lambda c: c.execute("UPDATE sentinel_revision SET text = 'x' WHERE sentinel_id = 1"))
    exported = world.read(list_statements, None)

    assert (["b"], 1) == (names(exported), len(exported.left))


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
