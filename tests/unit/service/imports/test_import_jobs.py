"""An import stores all or nothing, and only once, with learned rates; a dry run stores nothing."""

import contextlib
import json
from typing import Any

import pytest

from tidings.cli.main import main
from tidings.clock import DAY, HOUR
from tidings.errors import ImportFileError
from tidings.language import parser
from tidings.model.watch.sentinel import Sentinel
from tidings.service.imports import import_jobs as taking
from tidings.service.imports.draft import Draft, judge, name_of, write_text
from tidings.service.imports.import_jobs import learn_rates, take_in
from tidings.service.sentinels import register
from tidings.settings import load
from tidings.storage import secrets
from tidings.storage.db.database import open_database
from tidings.storage.observed import estimates
from tidings.storage.secrets import Vault
from tidings.storage.watches import deliveries, sentinels, subscriptions

NOON = 1_700_000_000_000_000


def datastore(folder, watches):
    """Write a data directory of changedetection.io."""
    for uuid, (record, stamps) in watches.items():
        (folder / uuid).mkdir(parents=True)
        (folder / uuid / "watch.json").write_text(json.dumps(record))
        (folder / uuid / "history.txt").write_text("".join(f"{stamp},x.txt\n" for stamp in stamps))
    return folder


def often(hours, *, count=20):
    """Return stamps `hours` hours apart, up to noon."""
    return [NOON // 1_000_000 - number * hours * 3_600 for number in range(count)][::-1]


WATCHES = {
    "u1": (
        {
            "url": "https://a.example/",
            "title": "Quick",
            "last_checked": NOON // 1_000_000,
            "time_between_check_use_default": False,
            "time_between_check": {"minutes": 30},
        },
        often(4),
    ),
    "u2": ({"url": "https://b.example/", "title": "Slow", "headers": {"Cookie": "sid=c4nary"}}, often(200)),
    "u3": ({"url": "https://c.example/", "title": "Quick", "headers": {"Cookie": "sid=other"}}, []),
    "u4": ({"url": "https://d.example/", "title": "Slow", "headers": {"Cookie": "sid=third"}}, []),
}


@pytest.fixture
def settings(tmp_path):
    return load(tmp_path / "data", environment={})


def test_second_import_stores_nothing(tmp_path, settings):
    """Equal names get numbers, secrets are encrypted, and nobody is notified."""
    folder = datastore(tmp_path / "store", WATCHES)
    first = take_in(settings, folder, now=NOON)
    second = take_in(settings, folder, now=NOON + HOUR)
    with contextlib.closing(open_database(settings)) as database:
        rows = database.read(sentinels.listing)
        vault = Vault(settings.data)
        kept = {
            row.name.rpartition("-")[0]: vault.open_row(row)
            for row in database.read(secrets.listing)
            if row.name.startswith("import-")
        }
        count = sum(row.name.startswith("import-slow-cookie-") for row in database.read(secrets.listing))
        sent = database.read(deliveries.listing)

    assert ["Quick", "Slow", "Quick-2", "Slow-2"] == [row.name for row in rows] == list(first.stored)
    assert ((), ("Quick", "Slow", "Quick-2", "Slow-2")) == (second.stored, second.already)
    assert {"import-slow-cookie", "import-quick-cookie"} == kept.keys()
    assert 2 == count
    assert b"c4nary" not in (settings.data / "tidings.db").read_bytes()
    assert [] == sent


def test_history_becomes_learned_rates(tmp_path, settings):
    """A page that changed every four hours has a rate of about six a day from its first check, as
    the policy reads it.
    """
    found = take_in(settings, datastore(tmp_path / "store", WATCHES), now=NOON)
    with contextlib.closing(open_database(settings)) as database:
        known = database.read(estimates.load_all, settings.schedule.policy)
        pages = {sub.page_id for sub in database.read(subscriptions.listing)}

    assert {"Quick", "Slow"} == found.rates.keys()
    assert 4 < found.rates["Quick"] < 8
    assert 0.05 < found.rates["Slow"] < 0.3
    assert 2 == len(known.keys() & pages)


def test_dry_run_stores_nothing(tmp_path, settings):
    """No data directory is made. In an existing one, present sentinels are reported."""
    folder = datastore(tmp_path / "store", WATCHES)
    dry = take_in(settings, folder, now=NOON, dry_run=True)
    assert not settings.data.exists()
    take_in(settings, folder, now=NOON)
    again = take_in(settings, folder, now=NOON, dry_run=True)

    assert 4 == len(dry.stored)
    assert (0, 4) == (len(again.stored), len(again.already))


RECEIVERS = [
    "mailto://ada:s3cr3tpw@mail.example?to=bob@mail.example",  # imported
    "mailto://ada:s3cr3tpw@127.0.0.1:8925?to=bob@mail.example",  # Apprise cannot read it
    "mailto://ada:s3cr3tpw@mail.example with spaces",
    "nosuch://s3cr3tpw/5",
    "posts://hooks.example/s3cr3tpw",  # a webhook
]


@pytest.mark.parametrize("dry", [True, False])
def test_receivers_are_never_printed_and_stop_nothing(tmp_path, settings, capsys, dry):
    """A receiver that cannot be notified is left out by itself; no output holds an address, which
    may be a password.
    """
    watches: dict[str, Any] = {
        "u1": ({"url": "https://a.example/", "title": "Kettle", "notification_urls": RECEIVERS}, [])
    }
    folder = datastore(tmp_path / "store", {**WATCHES, **watches})
    for flags in ([], ["--json"], ["--details"], ["--details", "--json"]):
        assert 0 == main(["--data", str(settings.data), "import", *flags, *(["--dry-run"] if dry else []), str(folder)])
    text = "".join(capsys.readouterr())
    (one,) = [one for one in take_in(settings, folder, now=NOON, dry_run=True).judged if one.draft.title == "Kettle"]

    assert "s3cr3tpw" not in text
    assert "Notify by mailto://…" in text
    assert RECEIVERS[0] in one.text
    assert 3 == sum(note.grade == "refused" for note in one.notes)


def test_failed_import_stores_nothing(tmp_path, settings, monkeypatch):
    """The last job fails, and the others are rolled back."""
    carry_out, count = register.carry_out, []

    def fail_at_third(*given):
        count.append(1)
        if len(count) == 3:
            message = "the disk is full"
            raise OSError(message)
        return carry_out(*given)

    monkeypatch.setattr(taking, "AT_ONCE", 1)
    monkeypatch.setattr(register, "carry_out", fail_at_third)
    with pytest.raises(Exception, match=r"the disk is full|cannot be used"):
        take_in(settings, datastore(tmp_path / "store", WATCHES), now=NOON)

    with contextlib.closing(open_database(settings)) as database:
        assert [] == database.read(sentinels.listing)


def test_too_many_jobs_are_refused(tmp_path, settings, monkeypatch):
    """A list of a million addresses imports none (H-102). An address of a megabyte is refused, and
    the others are stored.
    """
    path = tmp_path / "urls.txt"
    path.write_text("https://a.example/\n" + "https://b.example/" + "x" * 1_000_000 + "\n")
    found = take_in(settings, path, now=NOON)
    monkeypatch.setattr(taking, "MOST_JOBS", 1)

    assert ["a-example"] == list(found.stored)
    assert "longer than an address is" in found.judged[1].notes[-1].text
    with pytest.raises(ImportFileError, match="at most 1 are imported"):
        take_in(settings, path, now=NOON)


def test_learn_widens_the_intervals(tmp_path, settings):
    """`--schedule learn` allows a quarter to four times of the interval."""
    path = tmp_path / "w.csv"
    path.write_text("url,interval\nhttps://a.example/,60\n")
    [kept] = take_in(settings, path, now=NOON, dry_run=True).judged
    [learning] = take_in(settings, path, now=NOON, dry_run=True, learn=True).judged

    assert "Fetch every 1 hour" in kept.text
    assert "Fetch on change between 15 min and 4 hour" in learning.text


def test_one_change_gives_no_rate():
    """A rate needs the time between two changes."""
    assert learn_rates(Draft("x", "https://a.example/", "x", changed_at=[NOON]), NOON) is None
    assert learn_rates(Draft("x", "https://a.example/", "x", changed_at=[NOON - DAY, NOON + DAY]), NOON) is None


@pytest.mark.parametrize(
    ("title", "url", "name"),
    [
        ("", "https://www.site.example/a/b?c=d", "site-example-a-b"),
        ("using", "https://a.example/", "using-page"),
        ("  ", "https://a.example/", "a-example"),
        ("日本", "https://a.example/", "w-日本"),
        ("'''", "https://a.example/", "w"),
        ("x" * 300, "https://a.example/", "x" * 60),
    ],
)
def test_names_are_valid_in_the_language(title, url, name):
    """Names are made of the title, or of host and path."""
    assert name == name_of(title, url)


@pytest.mark.parametrize("text", ["a", 'say "x"', "\\d+", 'a\\"b', "ends\\", "\\\\server"])
def test_written_texts_are_read_back(text):
    """Only a quote and a backslash are escaped, and only where necessary."""
    parsed = parser.parse(
        f"Create Sentinel x Using https://a.example/ Monitor keyword {write_text(text)} Body {write_text(text)}"
    )

    [sentinel] = parsed.statements
    assert () == tuple(parsed.problems)
    assert isinstance(sentinel, Sentinel)
    assert sentinel.asking.body is not None
    assert text == sentinel.asking.body.text


def test_others_write_while_drafts_are_judged(tmp_path, settings, monkeypatch):
    """No lock is held meanwhile. A name that another command gives then is not given twice."""
    calls: list[str] = []

    def judge_slowly(draft, name, *, learn):
        if not calls:
            with contextlib.closing(open_database(settings)) as other:
                register.register(
                    other, "Create Sentinel Quick Using https://z.example/ Monitor words", settings=settings, now=NOON
                )
        calls.append(name)
        return judge(draft, name, learn=learn)

    monkeypatch.setattr(taking, "judge", judge_slowly)
    found = take_in(settings, datastore(tmp_path / "store", WATCHES), now=NOON)

    assert ["Quick-2", "Slow", "Quick-3", "Slow-2"] == list(found.stored)
    assert calls == ["Quick", "Slow", "Quick-2", "Slow-2", *found.stored]
    assert [1, 1, 1, 1] == [sum(note.field == "interval" for note in one.notes) for one in found.judged]


def test_judging_twice_gives_the_same(tmp_path):
    """A draft is as it was: its clauses and notes are not added to."""
    drafts = taking.read(datastore(tmp_path / "store", WATCHES))[1]
    first = [judge(draft, "x", learn=False) for draft in drafts]

    assert first == [judge(draft, "x", learn=False) for draft in drafts]
