"""A file that a browser sends is imported under a harmless name."""

import pytest

from tidings.clock import SECOND
from tidings.service.imports.upload import LONGEST_NAME, Upload, import_upload, safe_name
from tidings.service.sentinels.author import INSTALLATION
from tidings.storage.watches import sentinels

NOW = 1_700_000_000 * SECOND
JOBS = b"url: https://a.example/\nname: lamp\n---\nurl: https://b.example/\nname: kettle\n"


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("urls.yaml", "urls.yaml"),
        ("../../etc/passwd", "etc-passwd"),
        ("..\\x y.txt", "x-y.txt"),
        (".hidden", "hidden"),
        ("--option", "option"),
        ("é.txt", "txt"),
        ("a\0b", "a-b"),
        ("", "file"),
        ("...", "file"),
        ("x" * 100 + ".yaml", "x" * (LONGEST_NAME - 5) + ".yaml"),
    ],
)
def test_name_of_a_file_is_plain_and_bounded(name, plain):
    """It keeps its ending, which says what wrote it."""
    assert plain == safe_name(name)


def upload(world, content, *, name="urls.yaml", is_dry=True):
    return import_upload(Upload(world.settings, name, content, NOW, INSTALLATION, is_dry=is_dry))


def test_trial_shows_what_an_import_stores(world):
    """It stores nothing; then the sentinels are known."""
    trial = upload(world, JOBS)
    assert [] == world.read(sentinels.listing)
    done, again = (upload(world, JOBS, is_dry=is_dry) for is_dry in (False, True))

    assert ("", "") == (trial.problem, done.problem)
    assert ["lamp", "kettle"] == [job.name for job in trial.jobs] == [*done.stored]
    assert {"lamp", "kettle"} == {row.name for row in world.read(sentinels.listing)}
    assert ["lamp", "kettle"] == [*trial.stored]
    assert ([False, False], [True, True]) == tuple([job.is_known for job in one.jobs] for one in (trial, again))
    assert ["https://a.example/", "https://b.example/"] == [job.url for job in trial.jobs]


@pytest.mark.parametrize("content", [b"nonsense", b"", b"\xff\xfe\x00"])
def test_problem_of_a_file_names_no_folder(world, content):
    """It is that of the file alone."""
    found = upload(world, content, name="x.yaml")

    assert found.problem
    assert "tidings-import" not in found.problem
    assert ((), ()) == (found.jobs, found.stored)
