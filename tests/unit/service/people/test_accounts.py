import contextlib

import pytest

from tests.fakes import WebServer
from tests.people import hash_password
from tests.world import World, serve
from tidings.clock import DAY, HOUR
from tidings.errors import UsageError
from tidings.service.people import accounts as accounts_of
from tidings.storage import secrets
from tidings.storage.people import accounts
from tidings.storage.people import tokens as rows
from tidings.storage.search.log import SearchLog
from tidings.storage.watches import endpoints, sentinels
from tidings.storage.write import invariants, retention


@pytest.fixture
def world(tmp_path):
    with WebServer() as server:
        yield World(tmp_path / "data", server)


def test_password_opens_only_its_account():
    """A missing account and one without a password are never opened."""
    row = accounts.AccountRow(2, "anna", "editor", hash_password(), 0)
    closed = accounts.AccountRow(3, "bob", "editor", "", 0)

    opened = [accounts_of.opens(one, "correct horse battery") for one in (row, closed, None)]

    assert [True, False, False] == opened
    assert not accounts_of.opens(row, "correct horse batterY")
    assert accounts_of.renew_hash(row, "correct horse battery") is None
    with pytest.raises(UsageError, match="10 characters"):
        accounts_of.hash_of("short")


@pytest.mark.parametrize("other", ["ÄNNE", "änne", "A\u0308nne"])
def test_account_name_ignores_case(world, other):
    """This holds outside ASCII, and with combining marks."""
    world.write(accounts_of.add, "Änne", "admin", hash_password(), at=0)

    found = world.read(accounts.find, other)

    assert found is not None
    assert "Änne" == found.name
    with pytest.raises(UsageError, match="already"):
        world.write(accounts.add, other, "reader", "", at=0)


@pytest.mark.parametrize("role", ["reader", "editor"])
def test_first_account_is_admin(world, role):
    """Without an admin nobody could add users, and everybody had to sign in: a stated lower role is
    refused. An account alone stays admin, but can be removed.
    """
    with pytest.raises(UsageError, match="first account must be an admin"):
        world.write(accounts_of.add, "ada", role, hash_password(), at=0)
    assert [] == world.read(accounts.listing)
    made = [world.write(accounts_of.add, name, "", hash_password(), at=0) for name in ("ada", "bob")]

    assert ["admin", "reader"] == [row.role for row in made]
    world.write(accounts_of.remove, "bob", 0, data=world.directory)
    with pytest.raises(UsageError, match="only admin"):
        world.write(accounts_of.set_role, "ada", role)
    world.write(accounts_of.remove, "ada", 0, data=world.directory)
    assert [] == world.read(accounts.listing)


def test_last_admin_cannot_be_removed_or_demoted(world):
    """Other accounts exist."""
    now = world.clock.wall()
    for name, role in (("ada", "admin"), ("bob", "reader")):
        world.write(accounts_of.add, name, role, hash_password(), at=now)
    for verb in (
        lambda c: accounts_of.set_role(c, "ada", "reader"),
        lambda c: accounts_of.remove(c, "ada", now, data=world.directory),
    ):
        with pytest.raises(UsageError, match="only admin"):
            world.write(verb)
    world.write(accounts_of.set_role, "bob", "admin")
    world.write(accounts_of.remove, "ada", now, data=world.directory)

    assert ["bob"] == [row.name for row in world.read(accounts.listing)]


TABLES = "sentinel sentinel_revision page version change event digest owner poll subscription tag"


def test_removed_account_is_exported_and_leaves_no_rows(world):
    """Nothing refers to the bodies of pages that only this account watched. The invariants hold."""
    secret = "zanzibar-7f3a"
    page = "<title>{0}</title><p>{0} {1}</p>" + "".join(f"<p>{n} {secret}</p>" for n in range(99))
    world.page("/hers", page.format(secret, "one"))
    world.page("/both", "<title>Both</title><p>both one</p>")
    world.add(f"Create Sentinel {secret} Using {{/hers}} Monitor all words Fetch every 1 hour")
    world.add("Create Sentinel both Using {/both} Monitor all words Fetch every 1 hour")
    world.write(accounts.add, "ada", "admin", hash_password(), at=world.clock.wall())
    row = world.write(accounts_of.add, "anna", "editor", hash_password(), at=world.clock.wall())
    world.write(lambda c: sentinels.give(c, sentinels.find(c, secret).id, row.id))

    with serve(world) as service:
        service.settle()
        world.page("/hers", page.format(secret, "two"))
        service.pass_time(HOUR)
        exported = world.read(accounts_of.export, "anna", data=world.settings.data, now=world.clock.wall())
        assert [secret] == [one["name"] for one in exported["sentinels"]]
        assert 1 == len(exported["changes"])
        assert 1 == world.write(accounts_of.remove, "anna", world.clock.wall(), data=world.directory)
        assert world.read(retention.orphans, 100)
        service.pass_time(HOUR)

    assert ["both"] == world.read(sentinels.names)
    for table in TABLES.split():
        rows_of = world.read(lambda c, table=table: c.rows(f"SELECT * FROM {table}"))
        assert secret not in str(rows_of), table
    assert [] == world.read(invariants.check)


def test_receivers_of_a_removed_account_are_forgotten(world):
    """Their addresses, failures, secrets and events; those that others name stay."""
    world.page("/hers", "<p>one</p>")
    hook, shared = world.receiver("/hers-7f3a", lambda n: 500), world.receiver("/both", lambda n: 500)
    to = f"Notify by webhook {hook} Notify by email hers-7f3a@e.example Notify by webhook {shared}"
    world.add(f"Create Sentinel hers Using {{/hers}} Monitor all words Fetch every 1 day {to}")
    world.add(f"Create Sentinel both Using {{/hers}} Monitor links Fetch every 1 day Notify by webhook {shared}")
    row = world.write(accounts_of.add, "anna", "admin", hash_password(), at=world.clock.wall())
    world.write(lambda c: sentinels.give(c, sentinels.find(c, "hers").id, row.id))
    with serve(world) as service:
        service.settle()
        world.page("/hers", "<p>two</p>")
        service.pass_time(6 * DAY)
    before = {one.address for one in world.read(endpoints.listing)}
    assert 3 == len(before)
    assert 1 == world.write(accounts_of.remove, "anna", world.clock.wall(), data=world.directory)

    (kept,) = [one.address for one in world.read(endpoints.listing)]
    gone = [address.removeprefix("secret:") for address in before - {kept}]
    named = [one.name for one in world.read(secrets.listing) if one.kind == "address"]
    stored = str([world.read(lambda c, t=t: c.rows(f"SELECT * FROM {t}")) for t in ("event", "endpoint", "delivery")])
    assert ([kept.removeprefix("secret:")], []) == (named, [one for one in gone if one in stored])
    assert "hers-7f3a" not in stored
    assert [] == world.read(invariants.check)


def test_searches_are_erased_before_the_account(world, monkeypatch):
    """A crash between the two leaves an account without searches, never searches without one."""
    world.write(accounts.add, "ada", "admin", hash_password(), at=0)
    row = world.write(accounts_of.add, "anna", "editor", hash_password(), at=0)
    with contextlib.closing(SearchLog(world.directory)) as log:
        log.note_search("vuvuzelas", owner_id=row.id, at=1)
        monkeypatch.setattr(accounts, "empty_account", lambda c, id: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            world.write(accounts_of.remove, "anna", 1, data=world.directory)

        assert [] == log.queries(at=2, owner_id=row.id)
    assert "anna" == world.read(accounts.get_by_name, "anna").name


def test_session_expires(world):
    """A session ends two weeks after its last use, and after three months in any case."""
    now = world.clock.wall()
    row = world.write(accounts_of.add, "anna", "admin", hash_password(), at=now)
    world.write(rows.begin_session, "d", row.id, now)

    assert row == world.read(rows.find_session, "d", now + rows.IDLE)[0]
    assert world.read(rows.find_session, "d", now + rows.IDLE + 1) is None
    world.write(rows.use_session, "d", now + rows.LONGEST)
    assert world.read(rows.find_session, "d", now + rows.LONGEST + 1) is None
    world.write(rows.end_sessions, row.id)
    assert world.read(rows.find_session, "d", now) is None
