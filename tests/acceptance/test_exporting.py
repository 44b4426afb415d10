"""Promise: sentinels and findings are exported in formats of other programs, without secrets."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from lxml import etree
from warcio.archiveiterator import ArchiveIterator

from tests.world import World, serve
from tidings.cli.main import main
from tidings.clock import HOUR
from tidings.model.secret import Secret
from tidings.settings import load
from tidings.storage.db.database import open_database
from tidings.storage.people import accounts
from tidings.storage.secrets import Vault
from tidings.storage.watches import sentinels

PASSWORD = "canary-in-a-header"
FEED = """<rss version="2.0"><channel><title>n</title><link>http://x/</link><description>d</description>
<item><title>one</title><guid>1</guid></item></channel></rss>"""
PAGES = ("<p>one</p>", "<p>two</p>", "<p>=1+2 beats @all</p>", "<p>one</p>")


@pytest.fixture
def lived(world: World) -> World:
    """Return a world of three sentinels: a page with four versions, a price, and a feed."""
    with contextlib.closing(open_database(world.settings)) as database:
        database.write(Vault(world.directory).put, "key", Secret(PASSWORD), kind="text", at=world.clock.now())
    world.page("/a", PAGES[0], headers={"Content-Type": "text/html; charset=utf-8", "Set-Cookie": "id=canary-cookie"})
    world.page("/price", "<p>costs 10.50 EUR</p>")
    world.page("/feed", FEED, headers={"Content-Type": "application/rss+xml"})
    world.add(
        'Create Sentinel a Using {/a} Monitor all words Fetch every 1 hour Tags home, my-shop Header "X-Key"'
        ' secret "key"'
        f" Notify by webhook {world.receiver()}?token=canary-address"
    )
    world.add("Create Sentinel price Using {/price} Monitor number Fetch every 1 hour")
    world.add("Create Sentinel feed Using {/feed} Monitor items inserted Fetch every 1 hour")

    with serve(world) as service:
        service.pass_time(HOUR // 2)
        for body, price in zip(PAGES[1:], ("11.00", "9.25", "9.25"), strict=True):
            world.page("/a", body)
            world.page("/price", f"<p>costs {price} EUR</p>")
            service.pass_time(HOUR)
    return world


def export(world: World, *words: str) -> int:
    """Run the command on the data directory of a world."""
    return main(["export", *words, "--data", str(world.directory)])


def texts(world: World) -> dict[str, str]:
    """Return the text of each sentinel."""
    return {row.name: row.text for row in world.read(sentinels.listing)}


@pytest.mark.parametrize("form", ["text", "yaml"])
def test_exported_sentinels_can_be_imported(lived: World, tmp_path: Path, form: str, capsys: Any) -> None:
    """The export names the secrets that they need; each sentinel has its zone, and all else is
    equal.
    """
    main(["disable", "feed", "--data", str(lived.directory)])
    capsys.readouterr()
    export(lived, form)
    written = capsys.readouterr().out
    file = tmp_path / f"all.{'yaml' if form == 'yaml' else 'tidings'}"
    file.write_text(written, encoding="utf-8")
    fresh = load(tmp_path / "fresh", environment={}, flags={"fetch.allow_networks": "127.0.0.0/8"})
    with contextlib.closing(open_database(fresh)) as database:
        database.write(Vault(fresh.data).put, "key", Secret("x"), kind="text", at=lived.clock.now())
    flags = ("--set", "fetch.allow_networks=127.0.0.0/8", "--set", "store.url=")
    code = main(["add", str(file), "--no-check", "--data", str(fresh.data), *flags])
    with contextlib.closing(open_database(fresh)) as database:
        rows = database.read(sentinels.listing)

    assert 0 == code, capsys.readouterr()
    assert {1} == {row.text.count("\n  Zone UTC") for row in rows}
    assert texts(lived) == {row.name: row.text.replace("\n  Zone UTC", "") for row in rows}
    assert {"feed"} == {row.name for row in rows if row.state == "disabled"}
    assert "tidings secret set key" in written


def test_exported_rows_match_the_database(lived: World, capsys: Any, tmp_path: Path) -> None:
    """JSON Lines, CSV and Parquet have the same rows; DuckDB reads the last."""
    for table in ("changes", "checks", "values"):
        export(lived, "jsonl", "--of", table)
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        export(lived, "csv", "--of", table)
        cells = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        file = tmp_path / f"{table}.parquet"
        export(lived, "parquet", "--of", table, "--output", str(file))
        found = duckdb.read_parquet(str(file))
        capsys.readouterr()

        assert len(lines) == len(cells) == len(found.fetchall()) > 0
        assert list(lines[0]) == list(cells[0]) == found.columns
        key = {"changes": "id", "checks": "id", "values": "since"}[table]
        assert [line["url"] for line in lines] == [row[0] for row in found.project("url").fetchall()]
        assert [str(line[key]) for line in lines] == [cell[key] for cell in cells]
    kept = [change["id"] for change in lived.changes()]
    export(lived, "jsonl")
    changes = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(kept) == sorted(change["id"] for change in changes)
    numbers = duckdb.read_parquet(str(tmp_path / "values.parquet")).order("since").project("number").fetchall()
    assert [10.5, 11.0, 9.25] == [number for (number,) in numbers]


def test_export_can_be_limited_to_names(lived: World, capsys: Any) -> None:
    """Names filter every format; an unknown name is an error."""
    export(lived, "jsonl", "a")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert {"a"} == {line["sentinel"] for line in lines}
    assert 2 == export(lived, "jsonl", "nobody")


def test_csv_has_no_formulas(lived: World, capsys: Any) -> None:
    """A text that begins like a formula is escaped."""
    export(lived, "csv")
    cells = [cell for row in csv.reader(io.StringIO(capsys.readouterr().out)) for cell in row]

    assert any("=1+2" in cell for cell in cells)
    assert [] == [cell for cell in cells if cell.startswith(("=", "@", "+", "-"))]


def test_versions_are_exported_as_warc(lived: World, tmp_path: Path) -> None:
    """Two readers return every body; a repeated one is a revisit."""
    file = tmp_path / "all.warc.gz"
    export(lived, "warc", "--output", str(file))
    url = lived.server.url("/a")
    with file.open("rb") as stream:
        read = [
            (record.rec_type, record.rec_headers["WARC-Target-URI"], record.content_stream().read())
            for record in ArchiveIterator(stream)
        ]
    with file.open("rb") as stream:
        fast = [
            (record.headers["WARC-Target-URI"], record.reader.read())
            for record in FastIterator(stream, record_types=WarcRecordType.response)
        ]
    checked = subprocess.run(
        [Path(sys.executable).with_name("warcio"), "check", file], capture_output=True, check=False
    )
    bodies = {body.decode() for kind, target, body in read if kind == "response" and target == url}

    assert set(PAGES) == bodies
    assert 1 == [kind for kind, *_ in read].count("revisit")
    assert sorted((target, body) for kind, target, body in read if kind == "response") == sorted(fast)
    assert (0, b"") == (checked.returncode, checked.stdout)
    assert b"canary-cookie" not in gzip.decompress(file.read_bytes())


def test_feeds_are_exported_as_opml(lived: World, tmp_path: Path, capsys: Any) -> None:
    """It is well formed and names each page; our own import reads it."""
    export(lived, "opml", "--output", str(tmp_path / "all.opml"))
    tree = etree.parse(tmp_path / "all.opml")
    outlines = {one.get("text"): one for one in tree.iter("outline")}
    capsys.readouterr()
    main(["import", "--dry-run", "--json", str(tmp_path / "all.opml"), "--data", str(tmp_path / "fresh")])
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert ("2.0", "opml") == (tree.getroot().get("version"), tree.getroot().tag)
    assert "rss" == outlines["feed"].get("type")
    assert lived.server.url("/a") == outlines["a"].get("url")
    assert [lived.server.url("/feed")] == [record["url"] for record in records if record["record"] == "imported"]


def test_export_has_no_secret(lived: World, tmp_path: Path, capsys: Any) -> None:
    """Encrypted values and addresses of receivers are left out."""
    for form in ("text", "yaml", "opml", "csv", "jsonl"):
        for table in ("changes", "checks", "values"):
            export(lived, form, "--of", table)
    export(lived, "warc", "--output", str(tmp_path / "all.warc.gz"))
    written = capsys.readouterr().out + gzip.decompress((tmp_path / "all.warc.gz").read_bytes()).decode()

    assert PASSWORD not in written
    assert "canary-address" not in written


def test_existing_file_is_not_overwritten(lived: World, tmp_path: Path, capsys: Any) -> None:
    """An option permits it; a binary format needs a file name."""
    (tmp_path / "a.csv").write_text("mine", encoding="utf-8")

    assert 2 == export(lived, "csv", "--output", str(tmp_path / "a.csv"))
    assert "mine" == (tmp_path / "a.csv").read_text(encoding="utf-8")
    assert 2 == export(lived, "warc")
    assert 0 == export(lived, "csv", "--output", str(tmp_path / "a.csv"), "--overwrite")
    assert ["a.csv"] == [path.name for path in tmp_path.iterdir() if path.is_file()]


def test_user_exports_only_their_own(lived: World, capsys: Any) -> None:
    """`--user` leaves out what belongs to others."""
    bob = lived.write(accounts.add, "bob", "editor", "", at=lived.clock.now())
    ada = lived.write(accounts.add, "ada", "editor", "", at=lived.clock.now())
    for name, owner in (("a", ada), ("price", bob), ("feed", ada)):
        lived.write(sentinels.give, lived.sentinel(name).id, owner.id)
    export(lived, "jsonl", "--user", "bob")
    export(lived, "jsonl", "--of", "checks", "--user", "bob")
    export(lived, "text", "--user", "bob")
    written = capsys.readouterr().out

    assert lived.server.url("/price") in written
    assert lived.server.url("/a") not in written
    assert lived.server.url("/feed") not in written
    assert 2 == export(lived, "jsonl", "--user", "nobody")
