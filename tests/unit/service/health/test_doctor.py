"""Doctor reports the faults of a data directory in any state, and never fails on it."""

import hashlib
import inspect
import os
import random
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.nats_server import NatsServer
from tests.stores import START, World
from tidings.archive.archive import Archive
from tidings.cli.verbs import VERBS
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.errors import StoreDamagedError, StoreMissingError, StoreNewerError, spell_install
from tidings.model.event_type import EventType
from tidings.model.observed.unit import ComparisonRow, DeliveryResult, Event
from tidings.service.health import doctor, machine, page_troubles, service_troubles, sources
from tidings.service.show.finding import MOST_LINES
from tidings.settings import BusSettings, Settings, StoreSettings
from tidings.storage.db.database import REVISIONS
from tidings.storage.db.lock import PollerLock, release_lease, renew_lease
from tidings.storage.observed import versions
from tidings.storage.watches import events

INSTALLED = doctor.Installed(
    python=(3, 11, 7),
    sqlite=(3, 53, 4),
    single_writer=False,
    libxml2=(2, 14, 6),
    libraries=dict(machine.LIBRARY_FLOORS),
)


PLURALS = {"blob": "blobs", "invariant": "invariants"}
"""The name of a single fault, and of its check."""


def plenty(path):
    """Return the usage of a nearly empty disk."""
    return SimpleNamespace(total=100 * 2**30, free=90 * 2**30)


def examine(world, *, later=SECOND, installed=INSTALLED, restore=None):
    """Return the findings of doctor in an open world, shortly after its last event."""
    now = world.at + later
    return list(
        doctor.examine(world.settings, world.database, now=now, installed=installed, restore=restore, usage=plenty)
    )


def explain_refusal(settings, *, restore=None):
    """Return the error of opening a directory, if there is one, and the findings of doctor, like the command."""
    database, refusal = doctor.attempt(settings)
    now = START + HOUR
    try:
        return refusal, list(
            doctor.examine(
                settings, database, refusal=refusal, now=now, installed=INSTALLED, restore=restore, usage=plenty
            )
        )
    finally:
        if database is not None:
            database.close()


def only(found, what):
    """Return the only finding with this name."""
    (one,) = [f for f in found if f.what == what]
    return one


def bad(found):
    """Return the findings that are not ok, as (status, what)."""
    return [(f.status, f.what) for f in found if f.status != "ok"]


def store_file(world, body=b"a body that lies in a file", page_id=1):
    """Store a version whose body is a file under blobs/; return the file's name."""
    archive = Archive(world.settings.data / "blobs", file_bytes=0, chain_length=4)
    name = hashlib.sha256(body).hexdigest()
    plan = archive.plan(body, name, None, None)
    archive.write_files(plan)
    world.commit(world.make_stored(body, page_id, blobs=plan.blobs))
    return plan.blobs[0].file


def restorer(world):
    """Return the function with which `--deep` restores bodies."""
    return Archive(world.settings.data / "blobs", file_bytes=0, chain_length=4, keep_bytes=0).restore


# -- a healthy directory ------------------------------------------------------------------------------------------------------


def test_healthy_directory_has_only_ok_lines(world):
    """None of them proposes a fix."""
    world.watch()
    store_file(world)
    world.commit(world.make_unchanged())
    world.write(release_lease, "poller", "test", 1)
    found = examine(world, restore=restorer(world))

    assert [] == bad(found)
    assert {""} == {f.mend for f in found}
    assert {"python", "libraries", "sqlite", "space", "lock", "database", *doctor.CHECKS} == {f.what for f in found}


def test_versions_and_schema_are_reported(world):
    """A bug report needs Python, SQLite and its mode, the schema and the file."""
    found = examine(world)

    assert "3.11.7" == only(found, "python").detail
    assert "3.53.4, several processes may write" == only(found, "sqlite").detail
    assert f"{world.settings.data}/tidings.db, schema {REVISIONS[-1]}" == only(found, "database").detail


def test_examination_changes_nothing(world):
    """Doctor writes neither rows nor files."""
    world.watch()
    store_file(world)
    before = sorted(path.name for path in world.settings.data.rglob("*"))
    world.database.has_changed()
    refusal, _ = explain_refusal(world.settings)

    assert refusal is None
    assert not world.database.has_changed()
    assert before == sorted(path.name for path in world.settings.data.rglob("*"))


def test_removed_setting_is_named(world):
    """Otherwise a user would believe that it has an effect."""
    world.settings = replace(world.settings, ignored=("schedule.needs (tidings.toml)",))

    line = only(examine(world), "settings")

    assert ("warn", "schedule.needs (tidings.toml) is no longer a setting and has no effect") == (
        line.status,
        line.detail,
    )


def test_bus_that_does_not_answer_is_a_failure(world, tmp_path):
    """The address is shown without the password. Without a bus nothing is said of one."""
    assert [] == [line for line in examine(world) if line.what == "bus"]
    with NatsServer(tmp_path) as server:
        url = server.url.replace("//", "//me:hidden@")
        world.settings = replace(world.settings, bus=BusSettings(url=url, secret="s" * 16))
        well = only(examine(world), "bus")
        server.kill()
        ill = only(examine(world), "bus")

    assert ("ok", f"{server.url} answers") == (well.status, well.detail)
    assert ("fail", "tidings settings bus  # and see that its server runs") == (ill.status, ill.mend)
    assert server.url in ill.detail
    assert "hidden" not in ill.detail


def test_single_writer_mode_is_a_warning_with_the_fixed_version(world):
    """This SQLite can corrupt a WAL with two writers; the line names the first version without the
    fault.
    """
    world.database.single_writer = True
    line = only(examine(world, installed=replace(INSTALLED, sqlite=(3, 40, 1))), "sqlite")

    assert ("warn", True, True) == (line.status, "3.40.1" in line.detail, "3.51.3" in line.detail)


# -- a directory that cannot be opened ---------------------------------------------------------------------------------------------


def test_unused_directory_is_a_warning(tmp_path):
    """Nothing is made by the examination; the fix is the first `add`."""
    settings = Settings(data=tmp_path / "new")
    _, found = explain_refusal(settings)

    assert ("warn", "tidings add --url URL") == (only(found, "database").status, only(found, "database").mend)
    assert not settings.data.exists()


def test_directory_with_only_a_configuration_is_a_warning(tmp_path):
    """No data was lost."""
    (tmp_path / "tidings.toml").write_text("")
    _, found = explain_refusal(Settings(data=tmp_path))

    assert "warn" == only(found, "database").status


def test_lost_database_is_a_failure_with_its_fix(world):
    """The directory was used. The fix restores a backup."""
    world.database.close()
    for path in world.settings.data.glob("tidings.db*"):
        path.unlink()
    refusal, found = explain_refusal(world.settings)
    line = only(found, "database")

    assert isinstance(refusal, StoreMissingError)
    assert "fail" == line.status
    assert line.mend.startswith("tidings restore --replace BACKUP  #")
    assert not (world.settings.data / "tidings.db").exists()


@pytest.mark.parametrize(
    "damage",
    [lambda b: b"no database" + b[11:], lambda b: b[: len(b) // 2], lambda b: b""],
    ids=["header", "cut", "empty"],
)
def test_damaged_database_is_a_failure_with_its_fix(world, damage):
    """The file is no database, truncated or empty. The line names the file, and the fix restores a
    backup.
    """
    world.database.close()
    path = world.settings.data / "tidings.db"
    path.write_bytes(damage(path.read_bytes()))
    refusal, found = explain_refusal(world.settings)
    line = only(found, "database")

    assert isinstance(refusal, StoreDamagedError)
    assert ("fail", True, True) == (
        line.status,
        str(path) in line.detail,
        line.mend.startswith("tidings restore --replace BACKUP"),
    )


def test_newer_database_is_a_failure_with_its_fix(world):
    """The fix upgrades Tidings."""
    world.write(lambda c: c.execute("UPDATE alembic_version SET version_num = '9999'"))
    world.database.close()
    refusal, found = explain_refusal(world.settings)
    line = only(found, "database")

    assert isinstance(refusal, StoreNewerError)
    assert ("fail", spell_install()) == (line.status, line.mend)


def test_other_checks_run_without_a_database(tmp_path):
    """Versions, space and lock are still checked."""
    _, found = explain_refusal(Settings(data=tmp_path))

    assert ["python", "libraries", "sqlite", "space", "lock", "database"] == [f.what for f in found]


def test_flipped_bits_never_break_doctor(world, tmp_path):
    """Doctor runs to its end whatever the pages of the file contain, and always finds a page with
    many faults.
    """
    world.report_change()
    store_file(world)
    roots = world.read(
        lambda c: [
            row[0] for row in c.rows("SELECT rootpage FROM sqlite_master WHERE name <> 'alembic_version'") if row[0]
        ]
    )
    world.database.close()
    whole = (world.settings.data / "tidings.db").read_bytes()
    refusals, unseen = 0, []
    for seed in range(60):
        data = tmp_path / f"flipped-{seed}"
        shutil.copytree(world.settings.data, data)
        chance, flips = random.Random(seed), 4 * seed
        page = range(100, len(whole)) if seed % 3 == 0 else page_of_rows(whole, roots, chance)
        (data / "tidings.db").write_bytes(flip(whole, page, flips, chance))
        refusal, found = explain_refusal(Settings(data=data), restore=restorer(world))
        refusals += refusal is not None
        if refusal is None:
            names = list(dict.fromkeys(PLURALS.get(f.what, f.what) for f in found))
            assert list(doctor.CHECKS) == names[-len(doctor.CHECKS) :]
        if flips > 50 and not any(f.status == "fail" for f in found):
            unseen.append(seed)

    assert [] == unseen
    assert 10 < refusals < 30


def page_of_rows(whole, roots, chance):
    """Return the byte range of one page of a table or an index."""
    root = chance.choice(roots)
    return range((root - 1) * 4096, root * 4096)


def flip(whole, page, flips, chance):
    """Return the file with bits flipped in a part of it."""
    damaged = bytearray(whole)
    for _ in range(flips):
        damaged[chance.choice(page)] ^= 1 << chance.randrange(8)
    return bytes(damaged)


# -- bodies ------------------------------------------------------------------------------------------------------------------------


def test_missing_body_file_is_a_failure_with_its_fix(world):
    """The fix copies the file from a backup."""
    world.watch()
    name = store_file(world)
    (world.settings.data / "blobs" / name).unlink()
    line = only(examine(world), "blob")

    assert ("fail", True) == (line.status, f"blobs/{name} is missing" in line.detail)
    assert f"tar -xf BACKUP -C {world.settings.data} blobs/{name}" == line.mend


def test_body_file_outside_blobs_is_a_failure(world):
    """The row is damaged, whatever the path contains."""
    world.watch()
    store_file(world)
    world.write(lambda c: c.execute("UPDATE blob SET file = '../tidings.db'"))
    line = only(examine(world), "blob")

    assert ("fail", True) == (line.status, line.mend.startswith("tidings restore --replace BACKUP"))


def test_version_without_its_body_row_is_a_failure(world):
    """The body was never stored."""
    world.watch()
    world.commit(world.make_stored(b"one"))
    found = _without_foreign_keys(world, "DELETE FROM blob")

    assert ("fail", "blob") in bad(found)
    assert ("fail", "invariant") in bad(found)


def _without_foreign_keys(world, text):
    """Break foreign keys, as a damaged disk would; return the findings."""
    driver = world.database._driver
    driver._raw.execute("PRAGMA foreign_keys = OFF")
    world.write(lambda c: c.execute(text))
    driver._raw.execute("PRAGMA foreign_keys = ON")
    return examine(world)


def test_only_deep_reads_bodies(world):
    """The file exists with other bytes; only restoring shows that it is damaged."""
    world.watch()
    name = store_file(world)
    path = world.settings.data / "blobs" / name
    path.write_bytes(path.read_bytes()[:-1] + b"\0")

    assert "ok" == only(examine(world), "blobs").status
    assert "fail" == only(examine(world, restore=restorer(world)), "blob").status


def test_deep_restores_each_body_after_its_base(world):
    """Each is decoded once, along the chains."""
    world.watch()
    asked = []
    archive = Archive(world.settings.data / "blobs", file_bytes=None, chain_length=8)
    newest = None
    for number in range(4):
        body = (b"words that stay " * 200) + b"%d" % number
        name = hashlib.sha256(body).hexdigest()
        plan = archive.plan(body, name, newest, None)
        world.commit(world.make_stored(body, blobs=plan.blobs))
        newest = (world.read(versions.blob, name), body)

    def restore(sha256, lookup):
        base = lookup(sha256).base
        assert not base or base in asked
        asked.append(sha256)
        return b""

    examine(world, restore=restore)

    assert 4 == len(set(asked)) == len(asked)


def test_file_replaced_during_the_examination_is_not_missing(world):
    """The poller may write a body again between the check of rows and the check of files."""
    world.watch()
    name = store_file(world)
    folder = (world.settings.data / "blobs" / name).parent
    stale = f"{name.rpartition('.')[0]}.ff"
    world.write(lambda c: c.execute("UPDATE blob SET file = :file", file=stale))
    read = world.database.read
    reads: list[int] = []

    def replacing(fn, *args, **more):
        result = read(fn, *args, **more)
        if fn is doctor._list_bodies and not reads:
            reads.append(1)
            (folder / Path(name).name).rename(folder / Path(name).with_suffix(".aa").name)
            world.write(lambda c: c.execute("UPDATE blob SET file = :file", file=str(Path(name).with_suffix(".aa"))))
        return result

    world.database.read = replacing

    assert "ok" == only(examine(world), "blobs").status


def test_many_faults_are_counted(world):
    """The first missing bodies are named, the others counted."""
    world.watch()
    for number in range(MOST_LINES + 5):
        (world.settings.data / "blobs" / store_file(world, b"body %d" % number)).unlink()
    found = [f for f in examine(world) if f.what == "blob"]

    assert MOST_LINES + 1 == len(found)
    assert "and 5 more" == found[-1].detail


def test_broken_invariant_is_a_failure(world):
    """The database itself cannot detect it: a version is missing."""
    world.watch()
    world.commit(world.make_stored(b"one"))
    world.write(lambda c: c.execute("UPDATE page SET last_seq = 7"))
    found = [f for f in examine(world) if f.what == "invariant"]

    assert {"fail"} == {f.status for f in found}
    assert "page 1 says that its newest version is 7, but it is 1" in found[0].detail


# -- lock, lease, clock ------------------------------------------------------------------------------------------------------------


def test_held_lock_names_its_process(world):
    """The process that polls has the lock."""
    lock = PollerLock(world.settings.data)
    assert lock.acquire()
    line = only(examine(world), "lock")
    lock.release()

    assert ("ok", f"process {os.getpid()} checks pages and sends messages") == (line.status, line.detail)


def test_lock_of_an_unknown_process_is_a_warning(world):
    """The process is gone, but the lock is held. The fix finds its holder."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    lock = PollerLock(world.settings.data)
    assert lock.acquire()
    (world.settings.data / "lock").write_text(f"{gone.pid}\n")
    line = only(examine(world), "lock")
    lock.release()

    assert ("warn", True, True) == (line.status, f"process {gone.pid}" in line.detail, line.mend.startswith("fuser"))


def test_running_lease_names_its_holder(world):
    """The line has the epoch too."""
    lock = PollerLock(world.settings.data)
    assert lock.acquire()
    line = only(examine(world), "lease")
    lock.release()

    assert ("ok", True) == (line.status, line.detail.startswith("test, epoch 1"))


@pytest.mark.parametrize("left", [DAY, -DAY])
def test_dead_poller_is_a_warning(world, left):
    """The process ended without releasing its lease, before or after the end of the lease."""
    world.write(renew_lease, "poller", "test", 1, until=world.at + left)
    line = only(examine(world), "lease")

    assert ("warn", True) == (line.status, "ended without releasing its lease" in line.detail)


def test_hanging_poller_is_a_warning(world):
    """The poller has the lock, but its lease has expired."""
    world.write(renew_lease, "poller", "test", 1, until=world.at)
    lock = PollerLock(world.settings.data)
    assert lock.acquire()
    line = only(examine(world, later=HOUR), "lease")
    lock.release()

    assert ("warn", True) == (line.status, "hangs" in line.detail)


def test_released_lease_is_free(world):
    """The service was stopped properly."""
    world.write(release_lease, "poller", "test", 1)

    assert "free; epoch 1" == only(examine(world), "lease").detail


def test_clock_that_went_back_is_a_warning(world):
    """Some records are from the future. A minute is tolerated."""
    world.watch()
    world.commit(world.make_unchanged())

    assert "ok" == only(examine(world, later=-MINUTE), "clock").status
    assert "warn" == only(examine(world, later=-HOUR), "clock").status


def test_unset_clock_is_a_failure_with_its_fix(world):
    """The machine's clock is in 1970."""
    line = only(examine(world, later=-world.at), "clock")

    assert ("fail", "date -u; timedatectl set-ntp true") == (line.status, line.mend)
    assert "1970-01-01 00:00:00 UTC" in line.detail


def test_past_wrong_clock_is_reported_for_a_week(world):
    """The line is a warning for a day."""
    data = {"summary": "the machine's clock was ahead by up to 1 d 1 h"}
    world.write(events.append, [Event(type=EventType.CLOCK_WRONG, at=world.at, data=data)])
    found = [only(examine(world, later=later), "clock") for later in (MINUTE, 25 * HOUR, 8 * DAY)]

    assert ["warn", "ok", "ok"] == [line.status for line in found]
    assert [True, True, False] == ["1 d 1 h" in line.detail for line in found]


# -- polls and messages ---------------------------------------------------------------------------------------------------------


def test_check_that_cannot_read_is_a_failure(world):
    """The other checks still run."""
    world.write(lambda c: c.execute("DROP TABLE comparison"))
    found = examine(world)

    assert "fail" == only(found, "comparisons").status
    assert "ok" == only(found, "problems").status


def test_dead_letter_is_a_warning_with_its_fix(world):
    """The fix replays it."""
    world.report_change()
    (delivery,) = world.read(lambda c: c.rows("SELECT id FROM delivery"))
    result = DeliveryResult(delivery_id=delivery[0], status="dead", attempt=9, at=world.at, error="410 Gone")
    world.commit(world.unit(results=(result,)))
    line = only(examine(world), "deliveries")

    assert ("warn", True) == (
        line.status,
        "1 undelivered message of news; the newest given up" in line.detail and "410 Gone" in line.detail,
    )
    assert line.mend.endswith(f"tidings deliveries replay {delivery[0]}")


def test_pending_and_failed_comparisons_are_reported(world):
    """A comparison that killed its worker too often is named with its versions; the fix shows them."""
    world.report_change()
    row = ComparisonRow(
        subscription_id=1, page_id=1, from_seq=1, to_seq=2, revision=1, status="could_not_compare", reason="too slow"
    )
    world.commit(world.unit(comparisons=(row, replace(row, revision=2, status="pending", attempt=2))))
    owed, given_up = [line for line in examine(world) if line.what == "comparisons"]

    assert "1 comparison of news not done yet, tried 2 times so far" == owed.detail
    assert ("tidings diff news 1 2", True) == (given_up.mend, "too slow" in given_up.detail)


def test_on_postgresql_the_lease_shows_who_polls(products, tmp_path):
    """Another machine may poll, so the lock of this directory does not count."""
    with products.fresh("postgresql", tmp_path) as settings:
        world = World(settings)
        world.watch()
        found = examine(world, later=30 * DAY)
        world.write(release_lease, "poller", "test", 1)
        alone = examine(world, later=30 * DAY)
        world.database.close()

    assert only(found, "database").detail.startswith(f"PostgreSQL, schema {REVISIONS[-1]}")
    assert "no process is checking pages" not in only(found, "checks").detail
    assert "no process is checking pages" in only(alone, "checks").detail


def test_postgresql_is_restored_by_its_own_tools():
    """Copying a file is never proposed."""
    settings = Settings(store=StoreSettings(url="postgresql://127.0.0.1/x"))

    assert "pg_restore" in doctor.put_back(settings)


def test_every_proposed_command_exists():
    """The fixes name only commands of the table."""
    text = "".join(
        inspect.getsource(module)
        for module in (doctor, sources, machine, service_troubles, page_troubles, page_troubles)
    )
    verbs = set(re.findall(r"\btidings ([a-z]+)\b", text)) - {"stopped"}

    assert {"add", "check", "serve"} <= verbs
    assert set() == verbs - set(VERBS)
