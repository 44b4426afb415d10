"""Files from anybody: a hostile one is refused as a whole, before anything is stored."""

import contextlib
import io
import json
import sqlite3
import stat
import tarfile
import zipfile

import pytest

from tests.bounded import bound_time
from tidings.errors import ImportFileError
from tidings.service.imports import reading
from tidings.service.imports.import_jobs import read
from tidings.service.imports.reading import Files


def pack(path, members):
    """Write a zip of these members."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            info = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(info, content)
    return path


def pack_tar(path, members):
    """Write a tar.gz of these members; the header of one may be given."""
    with tarfile.open(path, "w:gz") as file:
        for name, content in members.items():
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            data = content if isinstance(content, bytes) else content.encode()
            info.size = len(data) if info.isreg() else 0
            file.addfile(info, io.BytesIO(data))
    return path


def tar_link(name, kind):
    """Return the header of a link, a device or a pipe."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "/etc/passwd"
    return info


def link(name):
    """Return the header of a symbolic link."""
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


GOOD = {"changedetection.json": "{}", "u/watch.json": '{"url": "https://a.example/"}'}
ARCHIVES = {
    "a name that leads out (H-096)": ({**GOOD, "../../x": ""}, "leads outside"),
    "an absolute name (H-096)": ({**GOOD, "/etc/x": ""}, "leads outside"),
    "a name of Windows (H-096)": ({**GOOD, "C:\\x": ""}, "leads outside"),
    "a link (H-097)": ({**GOOD, link("u/history.txt"): "/etc/passwd"}, "is a link"),
    "a bomb (H-098)": ({**GOOD, "u/watch.json": b"[" + b"0," * 4_000_000 + b"0]"}, "times its size"),
    "JSON without end (H-101)": ({**GOOD, "u/watch.json": "[" * 200_000}, "is no JSON"),
    "JSON too deep": ({**GOOD, "u/watch.json": '{"a":' * 70 + "1" + "}" * 70}, "deeper than 60"),
}


@pytest.mark.parametrize("kind", ARCHIVES)
def test_hostile_archive_is_refused_completely(tmp_path, kind):
    """The valid members are refused too."""
    members, text = ARCHIVES[kind]
    pack(tmp_path / "b.zip", members)

    with bound_time(seconds=20), pytest.raises(ImportFileError, match=text):
        read(tmp_path / "b.zip")


TARS = {
    "a name that leads out": ({**GOOD, "../../x": ""}, "leads outside"),
    "an absolute name": ({**GOOD, "/etc/x": ""}, "leads outside"),
    "a symbolic link": ({**GOOD, tar_link("u/history.txt", tarfile.SYMTYPE): ""}, "a link or a device"),
    "a hard link": ({**GOOD, tar_link("u/history.txt", tarfile.LNKTYPE): ""}, "a link or a device"),
    "a pipe": ({**GOOD, tar_link("u/history.txt", tarfile.FIFOTYPE): ""}, "a link or a device"),
    "a bomb": ({**GOOD, "u/watch.json": b"[" + b"0," * 4_000_000 + b"0]"}, "more than an import reads"),
}


@pytest.mark.parametrize("kind", TARS)
def test_hostile_tar_is_refused_completely(tmp_path, kind):
    """changedetection.io writes a tar.gz before it is updated."""
    members, text = TARS[kind]
    pack_tar(tmp_path / "b.tar.gz", members)

    with bound_time(seconds=20), pytest.raises(ImportFileError, match=text):
        read(tmp_path / "b.tar.gz")


def test_tar_that_ends_early_is_refused(tmp_path):
    """An interrupted download is no smaller backup."""
    path = pack_tar(tmp_path / "b.tar.gz", GOOD)
    content = path.read_bytes()
    for cut in range(3, len(content)):
        path.write_bytes(content[:cut])
        with pytest.raises(ImportFileError, match=r"tar\.gz that cannot be read"):
            read(path)


def test_tar_is_unpacked_for_the_time_of_the_import_only(tmp_path, monkeypatch):
    """Its files are read as those of a directory are, and removed."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pack_tar(tmp_path / "b.tar.gz", GOOD)
    found = read(tmp_path / "b.tar.gz")[1]

    assert ["https://a.example/"] == [draft.url for draft in found]
    assert [tmp_path / "b.tar.gz"] == list(tmp_path.iterdir())


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    """A million empty members need almost no bytes (H-098)."""
    monkeypatch.setattr(reading, "MOST_MEMBERS", 10)
    pack(tmp_path / "b.zip", {**GOOD, **{f"x{number}": "" for number in range(20)}})

    with pytest.raises(ImportFileError, match="22 members"):
        read(tmp_path / "b.zip")


def test_too_large_files_are_refused(tmp_path, monkeypatch):
    """Each file has a limit, and all together have one."""
    pack(tmp_path / "b.zip", {**GOOD, "u/watch.json": json.dumps({"url": "https://a.example/", "x": "y" * 5_000})})
    monkeypatch.setattr(reading, "MOST_FILE", 1_000)
    with pytest.raises(ImportFileError, match="more than 1,000 bytes"):
        read(tmp_path / "b.zip")
    monkeypatch.setattr(reading, "MOST_FILE", 10_000)
    monkeypatch.setattr(reading, "MOST_ALL", 5_000)
    with pytest.raises(ImportFileError, match="together"):
        read(tmp_path / "b.zip")


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 10)}]" for n in range(8)
)
YAMLS = {
    "references that grow (H-101)": (f"{BOMB}\nurl: https://a.example/", "grow without end"),
    "an object of Python (H-101)": ("url: !!python/object/apply:os.system ['x']", "is no YAML"),
    "a map in itself": ("url: &a [*a]", "grow without end"),
    "brackets without end": ("url: " + "[" * 5_000, "is no YAML"),
}


@pytest.mark.parametrize("kind", YAMLS)
def test_hostile_yaml_is_refused(tmp_path, kind):
    """Nothing is made of it, within a limited time."""
    text, output = YAMLS[kind]
    (tmp_path / "urls.yaml").write_text(text)

    with bound_time(seconds=20), pytest.raises(ImportFileError, match=output):
        read(tmp_path / "urls.yaml")


@pytest.mark.parametrize("name", ["x.opml", "x.xml"])
def test_xml_with_a_dtd_is_refused(tmp_path, name):
    """Entities could grow, or read files."""
    (tmp_path / name).write_text('<!DOCTYPE opml [<!ENTITY a "b">]><opml><body/></opml>')

    with pytest.raises(ImportFileError, match="DTD"):
        read(tmp_path / name)


def test_view_in_place_of_the_table_is_not_queried(tmp_path):
    """A view could compute without end."""
    (tmp_path / "urls.yaml").write_text("url: https://a.example/")
    with sqlite3.connect(tmp_path / "cache.db") as raw:
        raw.execute("CREATE VIEW CacheEntry AS SELECT 'x' AS guid, 1 AS timestamp, 'y' AS data, 0 AS tries")
    raw.close()

    with pytest.raises(ImportFileError, match="has no table of urlwatch"):
        read(tmp_path)


def test_links_in_a_directory_are_not_followed(tmp_path):
    """A link could lead to any place of the disk."""
    (tmp_path / "secret.json").write_text('{"url": "https://a.example/"}')
    folder = tmp_path / "datastore"
    (folder / "u").mkdir(parents=True)
    (folder / "u" / "watch.json").symlink_to(tmp_path / "secret.json")

    assert [] == Files(folder).names


@pytest.mark.parametrize("content", [b"", b"\0\1\2", b"hello", b'{"a": 1}', b"PK\x03\x04broken"])
def test_unknown_format_is_refused(tmp_path, content):
    """The file is empty, binary, a text, another JSON or a broken zip. A missing file is an error
    too.
    """
    (tmp_path / "x.json").write_bytes(content)

    with pytest.raises(ImportFileError):
        read(tmp_path / "x.json")
    with pytest.raises(ImportFileError, match="there is no file"):
        read(tmp_path / "y")


def nest(start, line, count):
    """Return a text of which each line refers nine times to the line before."""
    return start + "".join(line.format(n=n, m=n - 1) for n in range(1, count))


NINE = ", ".join(["*a{m}"] * 9)
JOB = "\n---\nurl: https://a.example/\n"
HOSTILE = {
    "merged.yaml": (
        nest(
            "a0: &a0 {{x: 1}}\n".format(),
            "a{n}: &a{n} {{{{<<: [NINE]}}}}\n".replace("{{{{", "{{").replace("}}}}", "}}").replace("NINE", NINE),
            12,
        ),
        "grow without end",
    ),
    "aliases.yaml": (nest("a0: &a0 [x]\n", "a{n}: &a{n} [NINE]\n".replace("NINE", NINE), 12), "grow without end"),
    "itself.yaml": ("a: &a [*a]", "grow without end"),
    "merges-itself.yaml": ("a: &a {<<: *a}", "grow without end"),
    "deep-alias.yaml": (nest("a0: &a0 [x]\n", "a{n}: &a{n} [*a{m}]\n", 70), "deeper than 60"),
    "deep.yaml": ("[" * 200, "deeper than 60"),
    "deep-map.yaml": ("{a: " * 200_000, "no YAML"),
    "deep-block.yaml": ("- " * 70 + "x", "deeper than 60"),
    "digits.yaml": ("url: " + "9" * 5_000, "without end"),
    "base-60.yaml": ("url: 1" + ":1" * 2_000_000, "without end"),
    "tagged-base-60.yaml": ('url: !!int "1' + ":1" * 2_000_000 + '"', "without end"),
    "python.yaml": ("!!python/object/apply:os.system [x]", "no YAML"),
    "no-int.yaml": ('url: !!int ""', "no YAML"),
    "no-bool.yaml": ("url: !!bool maybe", "no YAML"),
    "no-time.yaml": ("url: !!timestamp x", "no YAML"),
    "list-as-key.yaml": ("? [a]\n: b", "no YAML"),
    "digits.json": ('{"url": ' + "9" * 5_000 + "}", "no JSON"),
    "lists.json": ("[" + "[]," * 5_000_000 + "[]]", "grow without end"),
    "deep.opml": ("<opml><body>" + '<outline text="a">' * 200_000, "deeper than 60"),
    "many.opml": ("<opml><body>" + "<outline/>" * 2_100_000 + "</body></opml>", "grow without end"),
    "dtd.opml": ('<!DOCTYPE opml [<!ENTITY a "b">]><opml version="1"><body/></opml>', "DTD"),
    "wide.csv": ("url,name\nhttps://a.example/," + "x" * 200_000, "field larger"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_is_refused_at_once(tmp_path, name):
    """What would grow while it is read is refused before, by whatever program it may be."""
    text, why = HOSTILE[name]
    (tmp_path / name).write_text(text)

    with bound_time(seconds=30), pytest.raises(ImportFileError, match=why):
        read(tmp_path / name)


def test_dtd_in_another_encoding_is_refused(tmp_path):
    """A DTD is found by the parser, whatever the bytes are."""
    text = '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE opml [<!ENTITY a "b">]><opml><body/></opml>'
    (tmp_path / "a.opml").write_bytes(text.encode("utf-16"))
    with contextlib.closing(Files(tmp_path / "a.opml")) as files, pytest.raises(ImportFileError, match="DTD"):
        files.xml("a.opml")


def test_merged_maps_within_bounds_are_read(tmp_path):
    """Jobs may share what they have in common. Of equal keys the last counts, as there."""
    text = "a: &a {timeout: 5, name: A}\n---\n<<: &b {timeout: 9}\nurl: https://a.example/\nurl: https://b.example/\n"
    (tmp_path / "urls.yaml").write_text(text)
    [draft] = read(tmp_path / "urls.yaml")[1]

    assert "https://b.example/" == draft.url
    assert "Timeout 9 s" in [clause.text for clause in draft.clauses]


def test_many_bookmarks_without_an_end_are_read_in_time(tmp_path):
    """Each is read once only."""
    (tmp_path / "b.html").write_text("<!DOCTYPE NETSCAPE-Bookmark-file-1>" + '<h3><a href="x" >' * 100_000)

    with bound_time(seconds=20):
        assert [] == read(tmp_path / "b.html")[1]


def test_query_without_end_is_stopped(tmp_path, monkeypatch):
    """A database may compute what it says it stores."""
    path = tmp_path / "cache.db"
    with contextlib.closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE t (a)")
        raw.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(1_000)])
        raw.commit()
    monkeypatch.setattr(reading, "MOST_STEPS", 3_000_000)
    with (
        contextlib.closing(Files(path)) as files,
        pytest.raises(ImportFileError, match="interrupted"),
        files.database("cache.db") as raw,
    ):
        raw.execute("SELECT count(*) FROM t, t b, t c").fetchall()
