"""Who may name which sentinels, secrets and receivers (0094)."""

import pytest

from tidings.clock import SECOND
from tidings.errors import UnknownNameError, UsageError
from tidings.fetching import address
from tidings.language.parser import parse
from tidings.model.secret import Secret
from tidings.model.watch.sentinel import Command, Sentinel
from tidings.service.secrets import secrets
from tidings.service.sentinels import register
from tidings.service.sentinels.author import (
    INSTALLATION,
    Author,
    RequestRights,
    check_rights,
    check_sentinel,
)
from tidings.storage.people import accounts
from tidings.storage.secrets import Vault
from tidings.storage.watches import sentinels

NOW = 1_700_000_000 * SECOND
ONE = "Create Sentinel {} Using https://{}.example/ Monitor any change"
URL = "https://shop.example/"


class House:
    """An installation with two editors: each, and the installation, has a sentinel; Bob shares his with Anna."""

    def __init__(self, world):
        self.world = world
        self.vault = Vault(world.settings.data)
        anna, bob = (world.write(accounts.add, name, "editor", "x", at=NOW).id for name in ("anna", "bob"))
        self.anna, self.bob = (Author(id_, sees_all=False) for id_ in (anna, bob))
        self.add(ONE.format("ours", "a"), INSTALLATION)
        self.add(ONE.format("annas", "b"), self.anna)
        self.add(f"{ONE.format('bobs', 'c')} Tags t", self.bob)
        self.add(ONE.format("hidden", "d"), self.bob)
        world.write(accounts.share, bob, "t")

    def add(self, text, author):
        return self.world.write(register.carry_out, text, self.world.settings, NOW, "", author)

    def keep(self, name, author, value="value"):
        self.world.write(secrets.set_, self.vault, name, Secret(value), owner_id=author.owner_id, at=NOW)

    def may(self, check, *given):
        """Return the error of a check."""
        try:
            self.world.read(check, *given)
        except (UsageError, UnknownNameError) as error:
            return type(error)
        return None


@pytest.fixture
def house(world):
    return House(world)


@pytest.mark.parametrize(
    ("author", "viewer", "keeper", "may_alter"),
    [
        (INSTALLATION, None, 1, [True, True, True]),
        (Author(5, sees_all=True), None, 1, [True, True, True]),
        (Author(5, sees_all=False), 5, 5, [True, True, False]),
    ],
)
def test_author_sees_and_alters_their_own(author, viewer, keeper, may_alter):
    """And those of the installation; one who sees all writes for the installation."""
    assert (viewer, keeper) == (author.viewer, author.keeper_id)
    assert may_alter == [author.may_alter(owner_id) for owner_id in (1, 5, 6)]


@pytest.mark.parametrize(
    ("name", "error"),
    [("ours", None), ("annas", None), ("bobs", UsageError), ("hidden", UnknownNameError), ("nobody", None)],
)
def test_sentinel_of_another_is_read_or_unknown(house, name, error):
    """One that is shared may be read; what one may not see is like one that is not there."""
    assert error is house.may(check_sentinel, house.anna, name)
    for statement in (
        Command("drop", name),
        *parse(ONE.format("new", "e")).statements,
    ):
        derived = statement
        if isinstance(statement, Sentinel):
            from dataclasses import replace

            derived = replace(statement, base=name)
        assert error is house.may(check_rights, house.anna, [derived])
        assert house.may(check_rights, INSTALLATION, [derived]) is None


def test_receiver_by_its_secret_is_one_of_ones_own(house):
    """Or of the installation's sentinels and defaults; a written address is anybody's."""
    for name in ("ours-hook", "bobs-hook", "default-hook"):
        house.keep(name, INSTALLATION, "https://hook.example/x")
    house.add('Alter ours Notify by webhook secret "ours-hook" immediate', INSTALLATION)
    house.add('Alter hidden Notify by webhook secret "bobs-hook" immediate', INSTALLATION)
    house.add('Defaults For Tags x Notify by webhook secret "default-hook" immediate', INSTALLATION)

    def may(author, channel):
        statements = parse(f"{ONE.format('new', 'e')} Notify by webhook {channel} immediate").statements
        return house.may(check_rights, author, statements) is None

    hooks = [f'secret "{name}"' for name in ("ours-hook", "bobs-hook", "default-hook")] + ["https://hook.example/y"]
    assert [True, False, True, True] == [may(house.anna, hook) for hook in hooks]
    assert [True, True, True, True] == [may(house.bob, hook) for hook in hooks]
    assert [True, True, True, True] == [may(INSTALLATION, hook) for hook in hooks]


def asking_with(name):
    (statement,) = parse(f'Create Sentinel x Using {URL} Monitor any change Header "X" secret "{name}"').statements
    assert isinstance(statement, Sentinel)
    return statement.asking


def test_request_with_a_secret_is_of_the_owner_of_the_secret(house):
    """Only who sees all may use one of the installation."""
    house.keep("annas-key", house.anna)
    house.keep("key", INSTALLATION)

    def identify(author, name):
        rights = house.world.read(lambda c: RequestRights.of_name(c, "annas", author))
        return house.world.read(
            lambda c: RequestRights(c, rights.author, rights.owner_id, rights.held).identify(URL, asking_with(name))
        )

    anna = house.anna.owner_id
    assert anna == identify(house.anna, "annas-key").owner_id
    assert anna == identify(INSTALLATION, "annas-key").owner_id
    assert address.identify(URL, asking_with("key")) == identify(INSTALLATION, "key")
    for name in ("key", "no-key"):
        with pytest.raises(UsageError, match="you have no secret"):
            identify(house.anna, name)


def test_request_of_the_installation_is_altered_by_those_who_see_all(house):
    """Its owner is the installation, whatever secrets an editor has of that name."""
    house.keep("key", house.anna)
    house.keep("key", INSTALLATION)

    def identify(author):
        return house.world.read(lambda c: RequestRights.of_name(c, "ours", author).identify(URL, asking_with("key")))

    with pytest.raises(UsageError, match="ask an admin"):
        identify(house.anna)
    assert address.identify(URL, asking_with("key")) == identify(INSTALLATION)


def test_request_that_a_sentinel_makes_already_is_kept(house):
    """With the secret of the installation too."""
    house.keep("key", INSTALLATION)
    house.add('Alter annas Header "X" secret "key"', INSTALLATION)
    row = house.world.read(sentinels.find, "annas")

    def identify(url):
        return house.world.read(lambda c: RequestRights.of(c, row, house.anna).identify(url, asking_with("key")))

    assert address.identify("https://b.example/", asking_with("key")) == identify("https://b.example/")
    with pytest.raises(UsageError):
        identify(URL)


@pytest.mark.parametrize(
    ("name", "who", "owner"),
    [("annas", "anna", "anna"), ("annas", "bob", "bob"), ("nobody", "anna", "anna"), ("ours", "anna", None)],
)
def test_rights_of_a_name_are_those_of_its_sentinel(house, name, who, owner):
    """Of one that the author may not alter, as of one that has ended, they are those of a new one."""
    rights = house.world.read(lambda c: RequestRights.of_name(c, name, getattr(house, who)))

    assert (1 if owner is None else getattr(house, owner).owner_id) == rights.owner_id
    house.add("Drop ours", INSTALLATION)
    ended = house.world.read(lambda c: RequestRights.of_name(c, "ours", house.anna))
    assert house.anna.owner_id == ended.owner_id
